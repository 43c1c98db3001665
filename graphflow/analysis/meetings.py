"""What is sure, and which writes arrive, where concurrent paths meet.

State travels along dead edges too, so what holds at a join is not told by its in-edges one by one: a key is there if some node
upstream that ran has written it. All paths to a join lead through its dominator, so it is enough to know what holds there and
what happens in between, which depends on the graph alone::

    fork -> a(writes x) -> join       at the fork: x of before. Between: in every run a writes x,
    fork -> b -----------> join       so at the join x is sure, and only a's write arrives

Each join is solved once, those of spans (branches of a parallel, bodies of maps, attempts) from the inside out: for what is
around it a span is then one choice among its outcomes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, reduce
from operator import and_, or_
from typing import NamedTuple

import networkx as nx

from graphflow.analysis.concurrency import Concurrency
from graphflow.analysis.effects import Effects, outcome
from graphflow.analysis.spans import Span
from graphflow.analysis.unrolled import END, Unrolled
from graphflow.analysis.ways import ESCALATED, Value, Way, Ways
from graphflow.ir.graph import Graph
from graphflow.ir.nodes import EMPTY, ERROR, ESCALATE, NEXT, Edge, Join, Task

_GOAL = "="


class Source(NamedTuple):
    """Where what arrives at a join comes from: `edge` holds the facts there.

    `written` are keys that between there and the join are surely written, `hidden` definitions that do not arrive.
    """

    edge: Edge
    written: int
    hidden: int


class Meeting(NamedTuple):
    """What holds at a join left by one outcome.

    Of the `sources` exactly one is on the path taken; `fresh` are the definitions made in between.
    """

    sources: tuple[Source, ...]
    fresh: int


class Meetings:
    """The joins of concurrent paths.

    Args:
        graph: the program.
        unrolled: the same, unrolled.
        effects: what its nodes do to the keys.
        spans: its spans by fork.
        concurrency: which nodes run side by side.
    """

    def __init__(
        self,
        graph: Graph,
        unrolled: Unrolled,
        effects: Effects,
        spans: Mapping[str, Span],
        concurrency: Concurrency,
    ) -> None:
        self._graph = graph
        self._effects = effects
        self._spans = spans
        self._concurrency = concurrency
        self._position = unrolled.position
        self._ways = Ways(graph, unrolled, effects, spans)
        self.found: dict[tuple[str, str], Meeting] = {}
        for span in reversed(list(spans.values())):
            self._solve_span(span)
        closed = {span.join for span in spans.values()}
        for id_, node in graph.nodes.items():
            if isinstance(node, Join) and not node.exclusive and id_ not in closed:
                self._solve_join(id_)

    def at(self, join: str, label: str) -> Meeting | None:
        """Say what holds at a join that is left by an edge with this label.

        Args:
            join: any node.
            label: the edge's label; "" for the normal outcome.

        Returns:
            The meeting; None if concurrent paths do not meet at the node.
        """
        return self.found.get((join, outcome(label or NEXT)))

    def written_inside(self, custom: str) -> int:
        """Give the keys that the children of a custom agent may write."""
        return self._ways.written_inside(custom)

    def _goals(self, join: str, way: str) -> Mapping[str, Value]:
        """What an arrival means: to be left normally a join must not be reached by an escalation."""
        everything = self._ways.everything
        if way == ESCALATE:
            return {join: (everything, 0), ESCALATED + join: (everything, everything)}
        return {join: (everything, everything), ESCALATED + join: (0, 0)}

    def _outcomes(self, join: str) -> Sequence[str]:
        found = dict.fromkeys(outcome(edge.label) for edge in self._graph.out(join))
        return [way for way in found if way != ERROR]

    # --- spans ---------------------------------------------------------------------------------------------------

    def _solve_span(self, span: Span) -> None:
        ways = [self._over_span(span, way) for way in self._outcomes(span.join)]
        failed = [edge for edge in self._graph.out(span.join) if edge.label == ERROR]
        passes = self._ways.passed(self._effects.of(span.fork, ERROR))
        if failed:
            ways.append(Way(tuple(failed), tuple(self._ways.vertex(edge) for edge in failed), passes))
        self._ways.ways[span.fork] = ways

    def _over_span(self, span: Span, way: str) -> Way:
        """Solve a span for one outcome of its join, and make of it a way past the span."""
        edges = tuple(edge for edge in self._graph.out(span.join) if outcome(edge.label) == way)
        targets = tuple(self._ways.vertex(edge) for edge in edges)
        arrive, fresh = self._mapped(span) if span.maps else self._joined(span, way)
        written, hidden = self._lost(arrive)
        inner = [edge for edge in self._graph.out(span.fork) if not span.maps or edge.label == EMPTY]
        self.found[span.join, way] = Meeting((Source(inner[0], written, hidden),), fresh)
        effect = self._effects.of(span.join, edges[0].label)
        entered = self._ways.passed(self._effects.of(span.fork, EMPTY))
        return Way(edges, targets, arrive & entered & self._ways.passed(effect), fresh | effect.made)

    def _mapped(self, span: Span) -> tuple[int, int]:
        """Of the instances of a map only updates of merged keys go on; a list may be empty, so none of them is sure."""
        fresh = 0
        for id_ in span.inside:
            for definition in self._effects.made_by(id_):
                if definition.key in self._effects.merged:
                    fresh |= 1 << definition.index
            node = self._graph.nodes[id_]
            if isinstance(node, Task) and node.contract.open:
                known = self._effects.visible(node.scope)
                fresh |= sum(self._effects.unknown[k] for k in self._effects.names(known) if k in self._effects.merged)
        return self._ways.everything, fresh

    def _joined(self, span: Span, way: str) -> tuple[int, int]:
        seeds = [self._ways.vertex(edge) for edge in self._graph.out(span.fork)]
        goals = self._goals(span.join, way)
        vertices = self._downstream(seeds, goals)
        values = self._ways.values(vertices, goals)
        branches = [values[seed] for seed in seeds]
        alone = span.group.need == 1
        fresh = reduce(or_, (self._arriving(v, span.join, values, alone=alone) for v in vertices), 0)
        return _combined(span, branches, [self._either(seed, span, values) for seed in seeds]), fresh

    def _either(self, seed: str, span: Span, values: Mapping[str, Value]) -> int:
        """The keys that a branch may leave unwritten when it ends in any way."""
        spare, arrive = values[seed]
        return spare if span.group.need is not None else arrive

    def _downstream(self, seeds: Iterable[str], goals: Mapping[str, Value]) -> Sequence[str]:
        pending, seen = list(seeds), dict.fromkeys(goals)
        found = []
        while pending:
            vertex = pending.pop()
            if vertex in seen:
                continue
            seen[vertex] = None
            found.append(vertex)
            pending.extend(target for way in self._ways.ways.get(vertex, ()) for target in way.targets)
        return found

    # --- joins of free-form graphs -------------------------------------------------------------------------------

    def _solve_join(self, join: str) -> None:
        start = self._dominators.get(_GOAL + join)
        if start is None:
            return
        for way in self._outcomes(join):
            goals = self._goals(join, way)
            vertices = self._upstream(join, start)
            values = self._ways.values(vertices, goals)
            sources = []
            for taken in self._taken(start):
                arrive = self._ways.after(taken, values)[1]
                if taken.edges and self._ways.halves(arrive)[0].bit_length() > self._effects.all_keys.bit_length():
                    sources.append(Source(taken.edges[0], *self._lost(arrive)))
            fresh = reduce(or_, (self._arriving(v, join, values) for v in vertices), 0)
            self.found[join, way] = Meeting(tuple(sources), fresh)

    def _taken(self, vertex: str) -> Sequence[Way]:
        """The ways to leave a dominator, into a span included."""
        found: list[Way] = []
        for way in self._ways.ways.get(vertex, ()):
            silent = not way.edges and way.targets[0] == END + vertex
            found.extend(self._ways.ways[way.targets[0]] if silent else [way])
        span = self._spans.get(vertex)
        return found if span is None else [*found, *self._entering(span)]

    def _entering(self, span: Span) -> Sequence[Way]:
        everything = self._ways.everything
        return [Way((edge,), (self._ways.vertex(edge),), everything) for edge in self._graph.out(span.fork)]

    def _upstream(self, join: str, start: str) -> Sequence[str]:
        pending, seen = [join, ESCALATED + join], {start, join, ESCALATED + join}
        found = []
        while pending:
            for vertex in self._into.get(pending.pop(), ()):
                if vertex not in seen and vertex in self._reached:
                    seen.add(vertex)
                    found.append(vertex)
                    pending.append(vertex)
        return found

    @cached_property
    def _into(self) -> Mapping[str, Sequence[str]]:
        found: dict[str, list[str]] = {}
        for vertex, ways in self._ways.ways.items():
            for target in dict.fromkeys(target for way in ways for target in way.targets):
                found.setdefault(target, []).append(vertex)
        return found

    @cached_property
    def _dominators(self) -> Mapping[str, str]:
        """Vertex -> the last vertex that all paths to it lead through; joins as goals, however they are reached."""
        graph: nx.DiGraph[str] = nx.DiGraph()
        graph.add_node(self._graph.entry)
        for vertex, ways in self._ways.ways.items():
            entering = self._entering(self._spans[vertex]) if vertex in self._spans else ()
            for target in (target for way in (*ways, *entering) for target in way.targets):
                graph.add_edge(vertex, target)
                graph.add_edge(vertex, _GOAL + target.removeprefix(ESCALATED))
        found = dict(nx.immediate_dominators(graph, self._graph.entry))
        return {vertex: before for vertex, before in found.items() if before != vertex}

    @cached_property
    def _reached(self) -> frozenset[str]:
        return frozenset((self._graph.entry, *self._dominators))

    # --- both ----------------------------------------------------------------------------------------------------

    def _lost(self, arrive: int) -> tuple[int, int]:
        """Give the keys surely written on the way, and the definitions surely overwritten."""
        low, high = self._ways.halves(arrive)
        everything = self._effects.all_keys
        return everything & ~low, self._effects.definitions_of(everything & ~high)

    def _arriving(self, vertex: str, join: str, values: Mapping[str, Value], *, alone: bool = False) -> int:
        """Give the definitions made at a vertex that may still be there at the join.

        They may if nothing on the path taken overwrites them, or if another path arrives and this one ends elsewhere.
        """
        node = vertex.removeprefix(END).removeprefix(ESCALATED)
        arriving = 0
        for way in self._ways.ways.get(vertex, ()):
            if not way.made:
                continue
            spare, arrive = self._ways.after(way, values)
            if not alone and self._concurrency.forked(node, join):
                arrive |= spare
            hidden = self._effects.keys_of(way.made) & ~self._ways.halves(arrive)[1]
            arriving |= way.made & ~self._effects.definitions_of(hidden)
        return arriving


def _combined(span: Span, branches: Sequence[Value], either: Sequence[int]) -> int:
    """Give the keys that a span may leave unwritten: by the successes it needs, and those that may fail."""
    arriving = reduce(or_, (arrive for _, arrive in branches), 0)
    if span.group.need is not None:
        return arriving & _at_least(span.group.need, either)
    if span.group.failures == "collect":
        return arriving
    return arriving & reduce(and_, (spare for spare, _ in branches), -1)


def _at_least(count: int, masks: Sequence[int]) -> int:
    """Give the bits that at least `count` masks have."""
    reached = [-1, *[0] * count]
    for mask in masks:
        for number in range(count, 0, -1):
            reached[number] |= reached[number - 1] & mask
    return reached[count]
