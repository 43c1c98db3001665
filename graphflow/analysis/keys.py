"""Which writes reach which reads: definite assignment and reaching definitions, solved together.

On each control edge three sets of bits are kept in one pass:

- `sure`: keys that have a value on every path (must; a required read proves its key from there on),
- `reach`: writes whose value may be the one that is read (may),
- `over`: writes that are surely overwritten (must): they do not come back through another branch of a fork.

At a join of exclusive paths `sure` and `over` are intersected, at a join of concurrent ones united, and a write from before
the fork passes only if no branch surely overwrites it::

    a(writes x) -> fork -> [b(writes x), c] -> join -> d(reads x)      # only b's write reaches d

Writes of an open contract are unknown: one bit for each key stands for "somebody else may have written it".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import and_, or_
from typing import NamedTuple

from graphflow.analysis.dataflow import Inflow, solve
from graphflow.analysis.regions import Strands
from graphflow.conditions import And, Condition, Not, Or
from graphflow.contracts.template import condition_reads
from graphflow.ir.graph import Graph
from graphflow.ir.nodes import (
    BODY,
    ESCALATE,
    POSSIBLE_ESCALATE,
    Branch,
    Edge,
    Join,
    LoopHeader,
    Node,
)
from graphflow.schema import Type


@dataclass(frozen=True, slots=True)
class Definition:
    """One write of one key by one node. `index` is its bit."""

    index: int
    node: str
    key: str
    type: Type
    sure: bool


class Bits(NamedTuple):
    """What holds on an edge; see the module's text."""

    sure: int
    reach: int
    over: int


class KeyFlow:
    """The analysis over one graph, as a `Problem` for the solver and as answers.

    Args:
        graph: the program.
        strands: which nodes run side by side.
    """

    def __init__(self, graph: Graph, strands: Strands) -> None:
        self.graph = graph
        self.strands = strands
        self.merged = {key.name for key in graph.interface.keys if key.merge is not None}
        names: dict[str, None] = {}
        definitions: list[Definition] = []
        for node in graph.nodes.values():
            names.update(
                dict.fromkeys([read.key for read in node.contract.reads] + [w.key for w in node.contract.writes])
            )
            for write in node.contract.writes:
                definitions.append(Definition(len(definitions), node.id, write.key, write.type, write.sure))
        self.key_bit: dict[str, int] = {name: 1 << index for index, name in enumerate(names)}
        self.definitions = definitions
        self.unknown: dict[str, int] = {name: 1 << (len(definitions) + index) for index, name in enumerate(names)}
        self.of_key: dict[str, int] = dict(self.unknown)
        self._of_node: dict[str, list[Definition]] = {}
        self._at: dict[str, Bits] = {}
        for definition in definitions:
            self.of_key[definition.key] |= 1 << definition.index
            self._of_node.setdefault(definition.node, []).append(definition)

    @cached_property
    def _anything(self) -> int:
        return reduce(or_, self.unknown.values(), 0)

    @property
    def top(self) -> Bits:
        """Nothing is known to be missing, nothing reaches, everything is overwritten: the value of a dead edge."""
        return Bits(-1, 0, -1)

    @cached_property
    def edges(self) -> Mapping[Edge, Bits]:
        """What holds on each control edge."""
        return solve(self.graph, self)

    @cached_property
    def _inside(self) -> Mapping[tuple[str, str], int]:
        """(parallel region, branch) -> the writes in that branch."""
        found: dict[tuple[str, str], int] = {}
        for definition in self.definitions:
            for place in self.strands.of(definition.node):
                found[place] = found.get(place, 0) | 1 << definition.index
        return found

    def flow(self, edge: Edge, into: Inflow[Bits]) -> Bits:
        """See `Problem.flow`."""
        node = self.graph.nodes[edge.source]
        bits = self._enter(node, edge.label, into)
        return self._leave(node, edge, bits)

    def at(self, node_id: str) -> Bits:
        """Say what holds where a node reads: before it, and for an exit test after the body."""
        found = self._at.get(node_id)
        if found is None:
            into = [(edge, self.edges[edge]) for edge in self.graph.into(node_id)]
            found = self._at[node_id] = self._enter(self.graph.nodes[node_id], "", into)
        return found

    def _enter(self, node: Node, label: str, into: Inflow[Bits]) -> Bits:
        if isinstance(node, LoopHeader):
            return self._at_header(node, label, into)
        if isinstance(node, Join) and not node.exclusive:
            return self._concurrent(node, label, into)
        if not into:
            return Bits(0, 0, 0) if node.id == self.graph.entry else self.top
        return _exclusive([bits for _, bits in into])

    def _at_header(self, node: LoopHeader, label: str, into: Inflow[Bits]) -> Bits:
        """What holds where an iteration begins (label `body`), where the test reads (""), and where the loop ends."""
        backs = [bits for edge, bits in into if edge.back]
        if node.until is not None and label:
            proved = reduce(or_, (self.key_bit[key] for key in _always_read(node.until)), 0)
            backs = [bits._replace(sure=bits.sure | proved) for bits in backs]
        if label != BODY:
            return _exclusive(backs)
        first = [bits for edge, bits in into if not edge.back]
        return _exclusive(first if node.bound == 1 else [*first, *backs])

    def _concurrent(self, node: Join, label: str, into: Inflow[Bits]) -> Bits:
        """Unite the branches; each may have several ways in, of which one is taken (it went on, or it escalated)."""
        branches: dict[str, list[tuple[bool, Bits]]] = {}
        for edge, bits in into:
            escalated = edge.label in (ESCALATE, POSSIBLE_ESCALATE)
            branches.setdefault(self.strands.branch(node.region, edge.source), []).append((escalated, bits))
        if label in (ESCALATE, POSSIBLE_ESCALATE):
            ways = [
                self._unite(node, self._choose(branches, name))
                for name in branches
                if any(e for e, _ in branches[name])
            ]
            return _exclusive(ways)
        normal = {name: [bits for escalated, bits in ways if not escalated] for name, ways in branches.items()}
        return self._unite(node, {name: _exclusive(ways) for name, ways in normal.items() if ways})

    @staticmethod
    def _choose(branches: Mapping[str, list[tuple[bool, Bits]]], escalating: str) -> dict[str, Bits]:
        return {
            name: _exclusive([bits for escalated, bits in ways if escalated or name != escalating])
            for name, ways in branches.items()
        }

    def _unite(self, node: Join, branches: Mapping[str, Bits]) -> Bits:
        """What a branch surely overwrites does not come back through another, unless it was written in that one."""
        over = reduce(or_, (bits.over for bits in branches.values()), 0)
        sure = reduce(or_, (bits.sure for bits in branches.values()), 0)
        reach = 0
        for name, bits in branches.items():
            reach |= bits.reach & (~over | self._inside.get((node.region, name), 0))
        return Bits(sure, reach, over & ~reach)

    def _leave(self, node: Node, edge: Edge, bits: Bits) -> Bits:
        sure, reach, over = bits
        for key in self._proved(node):
            sure |= self.key_bit[key]
        if edge.label in (ESCALATE, POSSIBLE_ESCALATE) and not node.contract.answers_when_escalating:
            return Bits(sure, reach, over)
        if node.contract.open:
            reach |= self._anything
        for definition in self._of_node.get(node.id, ()):
            own = 1 << definition.index
            if definition.sure:
                sure |= self.key_bit[definition.key]
            if definition.sure and definition.key not in self.merged:
                gone = self.of_key[definition.key]
                reach &= ~gone
                over |= gone & ~self._anything
            reach |= own
            over &= ~own
        return Bits(sure, reach, over)

    def _proved(self, node: Node) -> Iterable[str]:
        if isinstance(node, Branch):
            first = node.arms[0].condition if node.arms else None
            return _always_read(first) if first is not None else ()
        if isinstance(node, LoopHeader):
            return ()
        return [read.key for read in node.contract.reads if not read.optional]


def _exclusive(ways: list[Bits]) -> Bits:
    if len(ways) == 1:
        return ways[0]
    sure = reduce(and_, (bits.sure for bits in ways), -1)
    over = reduce(and_, (bits.over for bits in ways), -1)
    return Bits(sure, reduce(or_, (bits.reach for bits in ways), 0), over)


def _always_read(condition: Condition) -> Iterable[str]:
    """Keys that evaluating a condition reads whatever the values: the left side of `&` and `|`."""
    while isinstance(condition, (And, Or, Not)):
        condition = condition.operand if isinstance(condition, Not) else condition.left
    return [read.key for read in condition_reads([condition]) if not read.optional]
