"""The graph as choices: how each vertex may be left, what is written on the way, and what then surely or possibly happens.

A vertex is a node as it is reached: a join that relays escalations has a second one, `!id`, for arrivals that escalated, a
header that ends its loop and the code of a custom agent have one for their end, `~id`. Of the *ways* of a vertex one is
taken; all its targets then run. Keys are bits, in two halves of one integer: keys that surely have a value (the low half)
and keys that are surely overwritten (the high half)::

    ways["c#branch"]    # (Way(targets=("c/then",)), Way(targets=("c#join",)))

`values` solves two questions over such a graph, for all keys at once. From a vertex on, may it be that no node that runs
writes the key (*spare*), and that besides some path arrives at the goal (*arrive*)? Both are least fixed points: a run ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from operator import and_, or_
from typing import NamedTuple

from graphflow.analysis.effects import Effect, Effects
from graphflow.analysis.spans import Span
from graphflow.analysis.unrolled import END, Unrolled, alternatives
from graphflow.ir.graph import Graph
from graphflow.ir.nodes import BODY, ERROR, ESCALATIONS, Edge, Join, LoopHeader, Node, Task, called

ESCALATED = "!"
"""Prefix of the vertex of a join that an escalation has reached."""

Value = tuple[int, int]
"""Spare and arrive: keys that may stay unwritten from here on, and those that may while the goal is reached."""


class Way(NamedTuple):
    """One way to leave a vertex.

    `edges` hold the facts of it, `targets` run then, `passes` are the keys not written on it, `made` the definitions made.
    """

    edges: tuple[Edge, ...]
    targets: tuple[str, ...]
    passes: int
    made: int = 0


class Ways:
    """The choices of a graph; those over a whole span are added by whoever has solved it.

    Args:
        graph: the program.
        unrolled: the same, unrolled.
        effects: what its nodes do to the keys.
        spans: its spans by fork.
    """

    def __init__(self, graph: Graph, unrolled: Unrolled, effects: Effects, spans: Mapping[str, Span]) -> None:
        self._graph = graph
        self._unrolled = unrolled
        self._effects = effects
        self._width = effects.all_keys.bit_length() + 1
        self.relaying = {
            id_
            for id_, node in graph.nodes.items()
            if isinstance(node, Join) and any(edge.label in ESCALATIONS for edge in graph.out(id_))
        }
        closed = {span.join for span in spans.values()}
        self.ways: dict[str, Sequence[Way]] = {}
        for id_, node in graph.nodes.items():
            if id_ not in spans and id_ not in closed:
                self.ways.update(self._of_node(node))

    @property
    def everything(self) -> int:
        """All keys in both halves, with one in each that nothing writes: it says whether a place can be reached at all."""
        return (1 << 2 * self._width) - 1

    def halves(self, value: int) -> tuple[int, int]:
        """Give the keys of the low and of the high half, and of each whether the goal is reached."""
        return value & ((1 << self._width) - 1), value >> self._width

    def passed(self, effect: Effect, *, kept: int = 0) -> int:
        """Give the keys that an effect leaves alone; `kept` are not overwritten after all."""
        sure, killed = effect.proved | effect.sure, effect.killed & ~kept
        return self.everything & ~(sure | killed << self._width)

    def vertex(self, edge: Edge) -> str:
        """Give the vertex that an edge leads to."""
        target = edge.target
        if edge.label in ESCALATIONS and target in self.relaying:
            return ESCALATED + target
        if edge.back and target in self._unrolled.split and isinstance(self._graph.nodes[target], LoopHeader):
            return END + target
        return target

    def way(self, edges: Sequence[Edge]) -> Way:
        """Make the way of edges that fire together, by what their source does."""
        effect = self._effects.of(edges[0].source, edges[0].label)
        targets = tuple(dict.fromkeys(self.vertex(edge) for edge in edges))
        return Way(tuple(edges), targets, self.passed(effect), effect.made)

    def _of_node(self, node: Node) -> Mapping[str, Sequence[Way]]:
        found = [self.way(edges) for edges in alternatives(self._graph, node.id)]
        if isinstance(node, LoopHeader):
            return self._of_header(node, found)
        if isinstance(node, Task) and node.id in self._unrolled.split:
            return self._of_custom(node, found)
        if node.id in self.relaying:
            escalated = [way for way in found if way.edges[0].label in ESCALATIONS]
            plain = [way for way in found if way.edges[0].label not in ESCALATIONS]
            return {node.id: plain, ESCALATED + node.id: escalated}
        return {node.id: found}

    def _of_header(self, node: LoopHeader, found: list[Way]) -> Mapping[str, Sequence[Way]]:
        bodies = [way for way in found if way.edges[0].label == BODY]
        ends = [way for way in found if way.edges[0].label != BODY]
        again = [] if node.bound == 1 else [Way((), (node.id,), self.everything)]
        tested = self.passed(Effect(proved=self._effects.tested(node)))
        return {node.id: bodies, END + node.id: [way._replace(passes=tested) for way in (*ends, *again)]}

    def _of_custom(self, node: Task, found: list[Way]) -> Mapping[str, Sequence[Way]]:
        """The code runs children or ends; a key that a child may write is neither sure nor overwritten."""
        calls = [way for way in found if called(way.edges[0].label) is not None or way.edges[0].label == ERROR]
        start = Effect(proved=self._effects.of(node.id, ERROR).proved)
        ends = []
        written = self.written_inside(node.id)
        for way in found:
            if way in calls:
                continue
            effect = self._effects.of(node.id, way.edges[0].label)
            passes = self.passed(effect._replace(sure=effect.sure | written), kept=written)
            ends.append(way._replace(passes=passes))
        through = [way._replace(passes=self.passed(start), made=0) for way in calls]
        return {node.id: [*through, Way((), (END + node.id,), self.passed(start))], END + node.id: ends}

    def written_inside(self, custom: str) -> int:
        """Give the keys that the children of a custom agent may write."""
        members = self._unrolled.loops[custom].members
        return self._effects.bits(d.key for id_ in members for d in self._effects.made_by(id_))

    def after(self, way: Way, values: Mapping[str, Value]) -> Value:
        """Give the values where a way has been taken; what is not upstream of the goal neither writes nor arrives."""
        outside = (self.everything, 0)
        if len(way.targets) == 1:
            return values.get(way.targets[0], outside)
        reached = [values.get(target, outside) for target in way.targets]
        spare = reduce(and_, (value[0] for value in reached), self.everything)
        return spare, spare & reduce(or_, (value[1] for value in reached), 0)

    def values(self, vertices: Iterable[str], goals: Mapping[str, Value]) -> Mapping[str, Value]:
        """Solve both questions.

        Args:
            vertices: those upstream of the goal, from which paths are followed.
            goals: what holds at the places where paths end.

        Returns:
            Vertex -> value, those of the goals included.
        """
        ordered = sorted(vertices, key=self._place, reverse=True)
        values: dict[str, Value] = dict.fromkeys(ordered, (0, 0)) | dict(goals)
        again = True
        while again:
            again = False
            for vertex in ordered:
                value = self._value(vertex, values)
                if value != values[vertex]:
                    values[vertex] = value
                    again = again or vertex in self._unrolled.loops
        return values

    def _value(self, vertex: str, values: Mapping[str, Value]) -> Value:
        spare = arrive = 0
        ways = self.ways.get(vertex)
        if not ways:
            return self.everything, 0
        for way in ways:
            after = self.after(way, values)
            spare |= after[0] & way.passes
            arrive |= after[1] & way.passes
        return spare, arrive

    def _place(self, vertex: str) -> int:
        return self._unrolled.position[vertex.removeprefix(ESCALATED)]
