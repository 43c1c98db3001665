"""What is true of a graph: the questions that rules ask, computed when first asked and kept.

A rule never walks the graph for itself; it asks `Facts`::

    facts.reaching("story/critic", "draft")     # the writes whose value the critic may see
    facts.surely("story/critic", "draft")       # whether there is one on every path
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from graphflow.analysis.keys import Definition, KeyFlow
from graphflow.analysis.regions import Strands
from graphflow.contracts.contract import Read, Write
from graphflow.ir.graph import Graph
from graphflow.ir.nodes import BODY, ESCALATE, POSSIBLE_ESCALATE, Edge, Join, LoopHeader, Node
from graphflow.schema import ANY, Key, Type, fields_of, type_of


@dataclass(frozen=True, slots=True)
class Use:
    """One read by one node."""

    node: Node
    read: Read


class Facts:
    """Lazy facts about one graph.

    Args:
        graph: the program; its own state edges are not used.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    @cached_property
    def strands(self) -> Strands:
        """Which nodes may run side by side."""
        return Strands(self.graph)

    @cached_property
    def flow(self) -> KeyFlow:
        """Which writes reach which reads."""
        return KeyFlow(self.graph, self.strands)

    @cached_property
    def keys(self) -> dict[str, Key]:
        """The declared keys by name."""
        return {key.name: key for key in self.graph.interface.keys}

    @cached_property
    def uses(self) -> Sequence[Use]:
        """Every read of the flow, in canonical order; what graphflow reads for itself is left out."""
        return [
            Use(node, read) for node in self.graph.nodes.values() for read in node.contract.reads if not read.implicit
        ]

    @cached_property
    def writes(self) -> Sequence[tuple[Node, Write]]:
        """Every write of the flow, in canonical order, the entry's included."""
        return [(node, write) for node in self.graph.nodes.values() for write in node.contract.writes]

    @cached_property
    def key_names(self) -> Sequence[str]:
        """Every key that something may write or the flow declares, in order of appearance."""
        names = [write.key for _, write in self.writes] + [name for name, *_ in self.graph.interface.inputs or ()]
        return list(dict.fromkeys([*names, *self.keys]))

    def writers(self, key: str) -> Sequence[Definition]:
        """Give all writes of a key, the entry's included, in canonical order."""
        return self._writers.get(key, [])

    @cached_property
    def _writers(self) -> dict[str, list[Definition]]:
        found: dict[str, list[Definition]] = {}
        for definition in self.flow.definitions:
            found.setdefault(definition.key, []).append(definition)
        return found

    def reaching(self, node_id: str, key: str) -> Sequence[Definition]:
        """Give the writes of `key` whose value a read at the node may see, in canonical order."""
        if key not in self.flow.of_key:
            return []
        return self._listed(self.flow.at(node_id).reach & self.flow.of_key[key])

    def _listed(self, mask: int) -> list[Definition]:
        known = mask & ((1 << len(self.flow.definitions)) - 1)
        found = []
        while known:
            lowest = known & -known
            found.append(self.flow.definitions[lowest.bit_length() - 1])
            known ^= lowest
        return found

    def unreachable(self, node_id: str) -> bool:
        """Say whether no path leads to the node: what is before it never ends."""
        return self.flow.at(node_id).sure == self.flow.top.sure

    def surely(self, node_id: str, key: str) -> bool:
        """Say whether `key` has a value on every path to the node."""
        return key in self.flow.key_bit and bool(self.flow.at(node_id).sure & self.flow.key_bit[key])

    def unknown(self, node_id: str, key: str) -> bool:
        """Say whether a node with an open contract may have written `key` before the node."""
        return key in self.flow.unknown and bool(self.flow.at(node_id).reach & self.flow.unknown[key])

    def beside(self, node_id: str, key: str) -> Sequence[Definition]:
        """Give the writes of `key` that may happen while the node runs."""
        return [d for d in self.writers(key) if self.strands.concurrent(node_id, d.node)]

    @cached_property
    def read_definitions(self) -> int:
        """The writes (as bits) whose value some read or declared output may see."""
        mask = 0
        for node in self.graph.nodes.values():
            if node.contract.open:
                mask |= self.flow.at(node.id).reach
            for read in node.contract.reads:
                mask |= self.flow.at(node.id).reach & self.flow.of_key.get(read.key, 0)
        return mask

    def is_read(self, definition: Definition) -> bool:
        """Say whether some read, condition or declared output may see this write."""
        return bool(self.read_definitions >> definition.index & 1)

    def key_type(self, node_id: str, key: str) -> Sequence[Type]:
        """Give the types that `key` may have at a node: its declaration, else that of each write that reaches it."""
        declared = self.keys.get(key)
        if declared is not None and type_of(declared.type) != ANY:
            return [type_of(declared.type)]
        if self.unknown(node_id, key):
            return [ANY]
        return list(dict.fromkeys(d.type for d in self.reaching(node_id, key)))

    def field_type(self, types: Iterable[Type], path: Sequence[str]) -> Sequence[Type]:
        """Follow fields below types; what is not known becomes ANY."""
        current = list(types)
        for name in path:
            found = [fields_of(type_) for type_ in current]
            current = [fields[name] if fields is not None and name in fields else ANY for fields in found]
        return list(dict.fromkeys(current))

    def escalations_of(self, loop_exit: str) -> Sequence[Edge]:
        """Give the edges by which something inside may end a loop."""
        return [edge for edge in self.graph.into(loop_exit) if edge.label in (ESCALATE, POSSIBLE_ESCALATE)]

    def comes_round(self, node_id: str, definitions: Sequence[Definition]) -> bool:
        """Say whether every one of these writes reaches the node only by going round a loop that both are in."""
        return all(self._only_round(definition.node, node_id) for definition in definitions)

    def _only_round(self, writer: str, reader: str) -> bool:
        shared = set(self.strands.loops(writer)) & set(self.strands.loops(reader))
        if isinstance(self.graph.nodes[reader], LoopHeader):
            shared.discard(self.graph.nodes[reader].region)
        return bool(shared) and not self._forward(writer, reader)

    def _forward(self, start: str, goal: str) -> bool:
        """Whether a path on which no loop goes round leads from one node to another; a loop may end on it."""
        pending, seen = [*self.graph.out(start)], {start}
        while pending:
            edge = pending.pop()
            if edge.target == goal:
                return True
            if edge.back:
                pending.extend(way for way in self.graph.out(edge.target) if way.label != BODY)
            elif edge.target not in seen:
                seen.add(edge.target)
                pending.extend(self.graph.out(edge.target))
        return False

    def own_write(self, node_id: str, key: str) -> bool:
        """Say whether, before the node, its own parallel branch surely wrote `key` itself."""
        reaching = self.reaching(node_id, key)
        return (
            bool(reaching) and self.surely(node_id, key) and all(self._same_branch(node_id, d, key) for d in reaching)
        )

    def _same_branch(self, node_id: str, definition: Definition, key: str) -> bool:
        regions = {self.strands.meeting(node_id, other.node) for other in self.beside(node_id, key)}
        return all(
            region is None or self.strands.branch(region, definition.node) == self.strands.branch(region, node_id) != ""
            for region in regions
        )

    @cached_property
    def races(self) -> dict[tuple[str, str], list[Definition]]:
        """(parallel region, key) -> the writes of a key without merge that may happen at the same time there."""
        found: dict[tuple[str, str], dict[str, list[Definition]]] = {}
        for definition in self.flow.definitions:
            if definition.key in self.flow.merged:
                continue
            for region, branch in self.strands.of(definition.node):
                found.setdefault((region, definition.key), {}).setdefault(branch, []).append(definition)
        return {
            place: [definition for writes in branches.values() for definition in writes[:1]]
            for place, branches in found.items()
            if len(branches) > 1
        }

    @cached_property
    def raced(self) -> set[str]:
        """The keys that some race is about."""
        return {key for _, key in self.races}

    def reaches_exit(self, definition: Definition) -> bool:
        """Say whether the value may still be there at the normal end."""
        return bool(self.flow.at(self.graph.exit).reach >> definition.index & 1)

    def path_without(self, node_id: str, key: str) -> tuple[str, ...]:
        """Find one path from the entry to a node on which nothing surely writes `key`.

        Returns:
            Node ids, the entry first and the node last; empty if the key is written on every path.
        """
        if self.surely(node_id, key) or key not in self.flow.key_bit:
            return ()
        bit = self.flow.key_bit[key]
        path, seen = [node_id], {node_id}
        while path[-1] != self.graph.entry:
            node = self.graph.nodes[path[-1]]
            into = [edge for edge in self.graph.into(node.id) if not self.flow.edges[edge].sure & bit]
            ordered = sorted(into, key=lambda edge: edge.back is not (isinstance(node, LoopHeader) and len(path) == 1))
            step = next((edge.source for edge in ordered if edge.source not in seen), None)
            if step is None:
                break
            seen.add(step)
            path.append(step)
        return tuple(reversed(path))

    def is_loop_end(self, node: Node) -> bool:
        """Say whether a node is where a loop ends."""
        return isinstance(node, Join) and self.graph.regions[node.region].kind == "loop"
