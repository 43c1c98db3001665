"""What is true of a graph: the questions that rules ask, computed when first asked and kept.

A rule never walks the graph for itself; it asks `Facts`::

    facts.reaching("story/critic", "draft")     # the writes whose value the critic may see
    facts.surely("story/critic", "draft")       # whether there is one on every path
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import or_

from graphflow.analysis.concurrency import Concurrency, Crowd
from graphflow.analysis.effects import Definition, Effects, is_reserved
from graphflow.analysis.keys import KeyFlow
from graphflow.analysis.loops import Loop, loops_around
from graphflow.analysis.paths import Paths
from graphflow.analysis.profiles import Profile, profile_named
from graphflow.analysis.races import find_races
from graphflow.analysis.reachability import endless_loops, reached_nodes, unreachable_agents
from graphflow.analysis.reads import Reads
from graphflow.analysis.spans import Span
from graphflow.analysis.types import KeyTypes
from graphflow.analysis.unrolled import Unrolled
from graphflow.contracts.contract import Read, Write
from graphflow.errors import closest
from graphflow.ir.glue import Crossing
from graphflow.ir.graph import Graph
from graphflow.ir.nodes import ESCALATIONS, Branch, Edge, Fork, Node, Task, agent_path
from graphflow.schema import Key, Type


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

    def left_with(self, linked: Graph) -> None:
        """Leave the facts with a copy of the graph that differs in its state edges, for whoever asks next."""
        self.graph = linked
        linked.kept[Facts] = self

    @classmethod
    def of(cls, graph: Graph) -> Facts:
        """Take the facts that were left with a graph, or begin anew: they take much room, so they do not stay there."""
        facts = graph.kept.pop(cls, None)
        return facts if isinstance(facts, cls) else cls(graph)

    @property
    def profile(self) -> Profile:
        """The meanings that the graph is checked under."""
        return profile_named(self.graph.profile)

    @cached_property
    def unrolled(self) -> Unrolled:
        """The graph without its cycles."""
        return Unrolled(self.graph)

    @cached_property
    def concurrency(self) -> Concurrency:
        """Which nodes may run side by side."""
        return Concurrency(self.unrolled)

    @cached_property
    def flow(self) -> KeyFlow:
        """Which writes reach which reads."""
        return KeyFlow(self.graph, self.unrolled, self.concurrency)

    @cached_property
    def paths(self) -> Paths:
        """Searches for paths that findings show or rest on."""
        return Paths(self.graph, self.flow, self.loops_around)

    @cached_property
    def reads(self) -> Reads:
        """What is wrong with each read."""
        return Reads(self)

    @property
    def effects(self) -> Effects:
        """What each node does to the keys."""
        return self.flow.effects

    @property
    def loops(self) -> Mapping[str, Loop]:
        """The natural loops, by header."""
        return self.unrolled.loops

    @cached_property
    def loops_around(self) -> Mapping[str, tuple[str, ...]]:
        """Node id -> headers of the loops around it, outermost first."""
        return loops_around(self.graph, self.loops)

    @cached_property
    def maps_around(self) -> Mapping[str, tuple[Span, ...]]:
        """Node id -> the maps in whose instances it is, outermost first."""
        found: dict[str, tuple[Span, ...]] = dict.fromkeys(self.graph.nodes, ())
        for span in self.flow.spans.values():
            if span.maps:
                for id_ in span.inside:
                    found[id_] = (*found[id_], span)
        return found

    def kept_in(self, definition: Definition) -> tuple[Span, ...]:
        """Give the maps whose instances keep a write to themselves, outermost first; updates of merged keys go on."""
        if definition.key in self.effects.merged:
            return ()
        own = self.flow.spans.get(definition.node)
        around = self.maps_around[definition.node]
        return (*around, own) if own is not None and own.maps else around

    def flow_around(self, path: str) -> str:
        """Name the sub-flow that an agent belongs to, "" if it is the flow itself."""
        regions = self.graph.regions
        around = path.rpartition("/")[0]
        while around and not (around in regions and regions[around].kind == "subflow"):
            around = around.rpartition("/")[0]
        return around

    @cached_property
    def free_form(self) -> frozenset[str]:
        """Paths of the free-form graphs."""
        return frozenset(id_ for id_, region in self.graph.regions.items() if region.kind == "workflow")

    @cached_property
    def unreachable_agents(self) -> Sequence[str]:
        """Paths of the nodes of free-form graphs to which no edges lead from the start."""
        return unreachable_agents(self.graph, self.loops)

    @cached_property
    def endless_loops(self) -> Sequence[str]:
        """Headers of the cycles of free-form graphs that are reached and that no edge leaves."""
        reached = reached_nodes(self.graph)
        return [header for header in endless_loops(self.graph, self.loops) if header in reached]

    @cached_property
    def torn_forks(self) -> Mapping[str, tuple[Edge, Edge]]:
        """Forks in a cycle that let an edge round it and one out of it fire in one iteration -> these two."""
        reached = reached_nodes(self.graph)
        found: dict[str, tuple[Edge, Edge]] = {}
        for header, loop in self.loops.items():
            if header in reached and self.graph.nodes[header].region in self.free_form:
                for fork, back, leaving in self.concurrency.torn(loop):
                    found.setdefault(fork, (back, leaving))
        return found

    @cached_property
    def routers(self) -> Sequence[Branch]:
        """The branches that follow the routes which nodes of free-form graphs choose."""
        branches = [node for node in self.graph.nodes.values() if isinstance(node, Branch) and node.cases]
        return [branch for branch in branches if branch.region in self.free_form and branch.id.endswith("#route")]

    def set_routes(self, branch: Branch) -> Sequence[object]:
        """Give the constants that the source of the node before a branch sets as its route."""
        key = next((read.key for read in branch.contract.reads), "")
        declared = self.graph.declarations
        if not declared or not self.reserved(key):
            return []
        notes = [declared[agent_path(d.node)].notes for d in self.writers(key)]
        return [route for each in notes for route in each.routes]

    def agent_at(self, node_id: str) -> str:
        """Name the agent that control comes to at a node, "" if it is the end of a free-form graph or of the flow."""
        path = agent_path(node_id)
        return "" if path in self.free_form or path.startswith("@") else path

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

    def named_like(self, key: str) -> Sequence[str]:
        """Give the keys of the same scope that something may write or the flow declares, in order of appearance."""
        names = [write.key for _, write in self.writes] + [name for name, *_ in self.graph.interface.inputs or ()]
        scope = self.effects.scope_of(key)
        known = dict.fromkeys([*names, *self.keys])
        return [n for n in known if self.effects.scope_of(n) == scope and not is_reserved(self.local(n))]

    def similar(self, key: str) -> str | None:
        """Name the key of the same scope that is most like one that is not there, None if none is."""
        names = {self.local(name): name for name in self.named_like(key)}
        near = closest(self.local(key), list(names))
        return names[near] if near is not None else None

    def local(self, key: str) -> str:
        """Give the name that a key has where it is used: in a sub-flow, without the prefix of its scope."""
        return self.effects.local(key)

    def inner(self, key: str) -> bool:
        """Say whether a key belongs to a sub-flow: nobody outside can give it."""
        return bool(self.effects.scope_of(key))

    def reserved(self, key: str) -> bool:
        """Say whether graphflow keeps a key for itself."""
        return is_reserved(self.local(key))

    def writers(self, key: str) -> Sequence[Definition]:
        """Give all writes of a key, the entry's included, in canonical order."""
        return self._writers.get(key, [])

    @cached_property
    def _writers(self) -> dict[str, list[Definition]]:
        found: dict[str, list[Definition]] = {}
        for definition in self.effects.definitions:
            found.setdefault(definition.key, []).append(definition)
        return found

    def reaching(self, node_id: str, key: str) -> Sequence[Definition]:
        """Give the writes of `key` whose value a read at the node may see, in canonical order."""
        if key not in self.effects.of_key:
            return []
        return self._listed(self.flow.at(node_id).reach & self.effects.of_key[key])

    def _listed(self, mask: int) -> list[Definition]:
        known = mask & ((1 << len(self.effects.definitions)) - 1)
        found = []
        while known:
            lowest = known & -known
            found.append(self.effects.definitions[lowest.bit_length() - 1])
            known ^= lowest
        return found

    def unreachable(self, node_id: str) -> bool:
        """Say whether no path leads to the node: what is before it never ends, or nothing is."""
        return self.flow.at(node_id).sure < 0

    def surely(self, node_id: str, key: str) -> bool:
        """Say whether `key` has a value on every path to the node."""
        return key in self.effects.key_bit and bool(self.flow.at(node_id).sure & self.effects.key_bit[key])

    def unknown(self, node_id: str, key: str) -> bool:
        """Say whether a node with an open contract may have written `key` before the node."""
        return key in self.effects.unknown and bool(self.flow.at(node_id).reach & self.effects.unknown[key])

    def beside(self, node_id: str, key: str) -> Sequence[Definition]:
        """Give the writes of `key` that may happen while the node runs and are not a map instance's own."""
        writers = self.writers(key)
        if key not in self._crowds:
            self._crowds[key] = self.concurrency.crowd(definition.node for definition in writers)
        found = frozenset(self.concurrency.beside(node_id, self._crowds[key]))
        around = self.maps_around[node_id]
        return [
            definition
            for definition in (writers if found else ())
            if definition.node in found and (kept := self.kept_in(definition)) == around[: len(kept)]
        ]

    @cached_property
    def _crowds(self) -> dict[str, Crowd]:
        return {}

    @cached_property
    def read_definitions(self) -> int:
        """The writes (as bits) whose value some read or declared output may see."""
        mask = 0
        for node in self.graph.nodes.values():
            reach = self.flow.at(node.id).reach
            if node.contract.open and isinstance(node, Task):
                mask |= reach & self.effects.definitions_of(self.effects.visible(node.scope))
            for read in node.contract.reads:
                mask |= reach & self.effects.of_key[read.key]
        return mask | self._read_by_tools

    @property
    def _read_by_tools(self) -> int:
        """The writes (as bits) of tools that tools of the same agent may read, called later."""
        mask = 0
        for path, declaration in self.graph.declarations.items():
            asked = {read.key for tool in declaration.notes.tools for read in tool.contract.reads}
            for definition in self.effects.made_by(path) if asked else ():
                if not definition.sure and self.local(definition.key) in asked:
                    mask |= 1 << definition.index
        return mask

    def is_read(self, definition: Definition) -> bool:
        """Say whether some read, condition or declared output may see this write."""
        return bool(self.read_definitions >> definition.index & 1)

    @cached_property
    def types(self) -> KeyTypes:
        """The types of keys."""
        return KeyTypes(self.graph, self.keys, self.reaching, self.unknown)

    def key_type(self, node_id: str, key: str) -> Sequence[Type]:
        """Give the types that `key` may have at a node: its declaration, else that of each write that reaches it."""
        return self.types.at(node_id, key)

    def field_type(self, types: Sequence[Type], path: Sequence[str]) -> Sequence[Type]:
        """Follow fields below types; what is not known becomes ANY."""
        return self.types.fields(types, path)

    def escalations_of(self, loop_exit: str) -> Sequence[Edge]:
        """Give the edges by which something inside may end a loop; none for a cycle of a free-form graph, which has no exit."""
        edges = self.graph.into(loop_exit) if loop_exit in self.graph.nodes else ()
        return [edge for edge in edges if edge.label in ESCALATIONS]

    def own_write(self, node_id: str, key: str) -> bool:
        """Say whether, before the node, its own branch surely wrote `key` itself: beside every write that runs beside it."""
        reaching = self.reaching(node_id, key)
        if not reaching or not self.surely(node_id, key):
            return False
        beside = [definition.node for definition in self.beside(node_id, key)]
        return not any(
            self.concurrency.concurrent(own.node, node_id)
            or not all(self.concurrency.concurrent(own.node, other) for other in beside)
            for own in reaching
        )

    @cached_property
    def races(self) -> Mapping[tuple[str, str], Sequence[Definition]]:
        """(fork, key) -> the writes of a key without merge that may happen at the same time after it."""
        return find_races(self.graph, self.effects, self.concurrency, self.kept_in)

    @cached_property
    def raced(self) -> set[str]:
        """The keys that some race is about."""
        return {key for _, key in self.races}

    def lasts(self, definition: Definition) -> bool:
        """Say whether the value may still be there at the normal end, or where its scope or its map instance ends."""
        return bool(self._last >> definition.index & 1)

    @cached_property
    def _last(self) -> int:
        mask = self.flow.at(self.graph.exit).reach
        for node in self.graph.nodes.values():
            if isinstance(node, Task) and node.fresh:
                ended = (d for d in self.effects.definitions if d.key.startswith(node.fresh))
                mask |= self.flow.at(node.id).reach & reduce(or_, (1 << d.index for d in ended), 0)
        for span in self.flow.spans.values():
            if span.maps:
                own = (definition for id_ in span.inside for definition in self.effects.made_by(id_))
                inside = reduce(or_, (1 << definition.index for definition in own), 0)
                for edge in self.graph.into(span.join):
                    mask |= self.flow.edges[edge].reach & inside
        return mask

    def given(self, definition: Definition) -> bool:
        """Say whether graphflow itself makes a write: what enters a sub-flow, an item of a map, a reserved key."""
        node = self.graph.nodes[definition.node]
        crossing = isinstance(node, Task) and node.fresh is not None and definition.key.startswith(node.fresh)
        return crossing or isinstance(node, Fork) or self.reserved(definition.key)

    def carried(self, definition: Definition) -> bool:
        """Say whether a write carries a value into a sub-flow that is mapped or declared there."""
        node = self.graph.nodes[definition.node]
        return isinstance(node, Task) and isinstance(node.body, Crossing) and definition.key in node.body.keys

    def place(self, fork: str) -> str:
        """Say in words where the paths from a fork are: in a region, or after a node of a free-form graph."""
        path = agent_path(fork)
        return f"in `{path}`" if path in self.graph.regions else f"after `{path}`"

    def element_type(self, type_: Type) -> Type:
        """Give the type of the elements of a list."""
        return self.types.element(type_)

    def in_custom_agent(self, node_id: str) -> bool:
        """Say whether a node is the code of a custom agent with children, or in a child, which may run or not."""
        headers = (node_id, *self.loops_around[node_id])
        return any(header in self.loops and isinstance(self.graph.nodes[header], Task) for header in headers)

    def in_cycle(self, node_id: str) -> bool:
        """Say whether a node is in a cycle of a free-form graph."""
        return any(self.graph.nodes[header].region in self.free_form for header in self.loops_around[node_id])

    def ends_loop(self, node_id: str) -> bool:
        """Say whether an escalation at a node leads anywhere."""
        return any(edge.label in ESCALATIONS for edge in self.graph.out(node_id))
