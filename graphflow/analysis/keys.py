"""Which writes reach which reads: definite assignment and reaching definitions, solved together.

On each control edge two sets of bits are kept in one pass:

- `sure`: keys that have a value on every path (must; a required read proves its key from there on),
- `reach`: writes whose value may be the one that is read (may).

Where exclusive paths meet `sure` is intersected and `reach` united; where concurrent ones meet, see `meetings`::

    a(writes x) -> fork -> [b(writes x), c] -> join -> d(reads x)      # only b's write reaches d

Writes of an open contract are unknown: one bit for each key stands for "somebody else may have written it".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, reduce
from operator import and_, or_
from typing import NamedTuple

from graphflow.analysis.concurrency import Concurrency
from graphflow.analysis.dataflow import solve
from graphflow.analysis.effects import Definition, Effects
from graphflow.analysis.meetings import Meeting, Meetings
from graphflow.analysis.spans import Span, spans_of
from graphflow.analysis.unrolled import Unrolled
from graphflow.ir.graph import Graph
from graphflow.ir.nodes import BODY, EMPTY, ERROR, ESCALATIONS, Edge, Join, LoopHeader, Node, Task, called

__all__ = ["Bits", "Definition", "KeyFlow"]


class Bits(NamedTuple):
    """What holds on an edge; see the module's text."""

    sure: int
    reach: int


_DEAD = Bits(-1, 0)


class KeyFlow:
    """The analysis over one graph, as a `Problem` for the solver and as answers.

    Args:
        graph: the program.
        unrolled: the same, unrolled.
        concurrency: which nodes run side by side.
    """

    def __init__(self, graph: Graph, unrolled: Unrolled, concurrency: Concurrency) -> None:
        self.graph = graph
        self.effects = Effects(graph)
        self.spans = spans_of(graph)
        self._loops = unrolled.loops
        self._meetings = Meetings(graph, unrolled, self.effects, self.spans, concurrency)
        self._span_of: dict[str, Span] = {span.join: span for span in self.spans.values()}
        self._at: dict[str, Bits] = {}

    @property
    def top(self) -> Bits:
        """Nothing is known to be missing, nothing reaches: the value of a dead edge."""
        return _DEAD

    @cached_property
    def also(self) -> Mapping[str, Sequence[str]]:
        """Node id -> joins that look at the edges out of it."""
        found: dict[str, dict[str, None]] = {}
        for (join, _), meeting in self._meetings.found.items():
            for source in meeting.sources:
                found.setdefault(source.edge.source, {})[join] = None
        for span in self.spans.values():
            for edge in self.graph.into(span.fork):
                found.setdefault(edge.source, {})[span.join] = None
        return {node: list(joins) for node, joins in found.items()}

    @cached_property
    def edges(self) -> Mapping[Edge, Bits]:
        """What holds on each control edge."""
        return solve(self.graph, self)

    def flow(self, edge: Edge, facts: Mapping[Edge, Bits]) -> Bits:
        """See `Problem.flow`."""
        node = self.graph.nodes[edge.source]
        span = self._span_of.get(node.id)
        if edge.label == ERROR and span is not None:
            entered = self._enter(self.graph.nodes[span.fork], EMPTY, facts)
            return self._leave(span.fork, EMPTY, entered)
        bits = self._enter(node, edge.label, facts)
        if isinstance(node, Task) and node.id in self._loops:
            return self._custom(node, edge.label, bits, facts)
        return self._leave(node.id, edge.label, bits)

    def at(self, node_id: str) -> Bits:
        """Say what holds where a node reads: before it, for an exit test after the body, for a map at an instance's end."""
        found = self._at.get(node_id)
        if found is None:
            found = self._at[node_id] = self._reading(self.graph.nodes[node_id])
        return found

    def _reading(self, node: Node) -> Bits:
        if isinstance(node, Join) and node.collect:
            ends = [edge for edge in self.graph.into(node.id) if edge.label not in (EMPTY, *ESCALATIONS)]
            return _exclusive([self.edges[edge] for edge in ends])
        bits = self._enter(node, "", self.edges)
        if isinstance(node, Task) and node.id in self._loops:
            sure = bits.sure | self._meetings.written_inside(node.id)
            return Bits(sure, bits.reach | self._returned(node.id, self.edges))
        return bits

    def _enter(self, node: Node, label: str, facts: Mapping[Edge, Bits]) -> Bits:
        into = self.graph.into(node.id)
        if isinstance(node, LoopHeader):
            return self._at_header(node, label, into, facts)
        meeting = self._meetings.at(node.id, label)
        if meeting is not None:
            return _met(meeting, facts)
        if isinstance(node, Join) and any(edge.label in ESCALATIONS for edge in self.graph.out(node.id)) and label:
            into = [edge for edge in into if (edge.label in ESCALATIONS) == (label in ESCALATIONS)]
        if isinstance(node, Task):
            into = [edge for edge in into if not edge.back]
        if not into:
            return Bits(0, 0) if node.id == self.graph.entry else _DEAD
        return _exclusive([facts[edge] for edge in into])

    def _at_header(self, node: LoopHeader, label: str, into: Sequence[Edge], facts: Mapping[Edge, Bits]) -> Bits:
        """What holds where an iteration begins (label `body`), where the test reads (""), and where the loop ends."""
        backs = [facts[edge] for edge in into if edge.back]
        if label:
            proved = self.effects.tested(node)
            backs = [bits._replace(sure=bits.sure | proved) for bits in backs]
        if label != BODY:
            return _exclusive(backs)
        first = [facts[edge] for edge in into if not edge.back]
        return _exclusive(first if node.bound == 1 else [*first, *backs])

    def _custom(self, node: Task, label: str, bits: Bits, facts: Mapping[Edge, Bits]) -> Bits:
        """Children run in any order, any number of times: what one may write is neither sure nor missing afterwards."""
        effect = self.effects.of(node.id, label)
        if label == ERROR:
            return Bits(bits.sure | effect.proved, bits.reach)
        returned = self._returned(node.id, facts)
        child = called(label)
        if child is None:
            after = self._leave(node.id, label, bits)
            return Bits(after.sure | self._meetings.written_inside(node.id), after.reach | returned)
        own = self.effects.bits(definition.key for definition in self.effects.made_by(node.id))
        sure = bits.sure | effect.proved | own | self._beside_child(node.id, label)
        return Bits(sure, bits.reach | returned | effect.made)

    def _returned(self, custom: str, facts: Mapping[Edge, Bits]) -> int:
        """The definitions made by children of a custom agent that may be there when they have returned."""
        reach = reduce(or_, (facts[edge].reach for edge in self._loops[custom].backs), 0)
        return reach & self._inside[custom]

    @cached_property
    def _inside(self) -> Mapping[str, int]:
        """Custom agent -> definitions of its children, and what they may have written unknown to anybody."""
        unknown = reduce(or_, self.effects.unknown.values(), 0)
        found = {}
        for header, loop in self._loops.items():
            if isinstance(self.graph.nodes[header], Task):
                made = (d for id_ in loop.members for d in self.effects.made_by(id_))
                found[header] = reduce(or_, (1 << definition.index for definition in made), unknown)
        return found

    def _beside_child(self, custom: str, label: str) -> int:
        """The keys that children other than the one called by this label may write."""
        found = 0
        for edge in self.graph.out(custom):
            if called(edge.label) is not None and edge.label != label:
                found |= self._child_keys[edge]
        return found

    @cached_property
    def _child_keys(self) -> Mapping[Edge, int]:
        calls = [edge for id_ in self._inside for edge in self.graph.out(id_) if called(edge.label) is not None]
        return {edge: self._keys_from(edge) for edge in calls}

    def _keys_from(self, call: Edge) -> int:
        pending, seen, found = [call.target], {call.source}, 0
        while pending:
            id_ = pending.pop()
            if id_ not in seen:
                seen.add(id_)
                found |= self.effects.bits(definition.key for definition in self.effects.made_by(id_))
                pending.extend(edge.target for edge in self.graph.out(id_))
        return found

    def _leave(self, node_id: str, label: str, bits: Bits) -> Bits:
        effect = self.effects.of(node_id, label)
        gone = self.effects.definitions_of(effect.killed | effect.ended)
        sure = (bits.sure | effect.proved) & ~effect.ended | effect.sure
        return Bits(sure, bits.reach & ~gone | effect.made)


def _met(meeting: Meeting, facts: Mapping[Edge, Bits]) -> Bits:
    ways = [
        Bits(facts[source.edge].sure | source.written, facts[source.edge].reach & ~source.hidden)
        for source in meeting.sources
    ]
    bits = _exclusive(ways)
    return bits if bits.sure < 0 else Bits(bits.sure, bits.reach | meeting.fresh)


def _exclusive(ways: Iterable[Bits]) -> Bits:
    ways = list(ways)
    if len(ways) == 1:
        return ways[0]
    return Bits(reduce(and_, (bits.sure for bits in ways), -1), reduce(or_, (bits.reach for bits in ways), 0))
