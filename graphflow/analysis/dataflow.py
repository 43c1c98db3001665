"""One solver for every dataflow question.

Facts live on control edges, because what holds after a node depends on the way it was left (a case, an escalation, the end
of a loop). A problem says what holds on an edge in terms of what holds on others, most often those into its source; the
solver applies it in canonical order until nothing changes. With a finite lattice and monotone problems this is the greatest
(or least) fixed point of the equations [Kildall 1973; Nielson, Nielson and Hankin, Principles of Program Analysis, ch. 2]::

    solve(graph, problem)[edge]     # what holds when `edge` is taken

Nothing here knows what the facts mean.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from typing import Protocol, TypeVar

from graphflow.ir.graph import Graph
from graphflow.ir.nodes import Edge

Value = TypeVar("Value")


class Problem(Protocol[Value]):
    """A forward analysis.

    Attributes:
        top: what is assumed of an edge before it was looked at.
        also: node id -> nodes that look at the edges out of it, besides those that the edges lead to.
    """

    @property
    def top(self) -> Value:
        """What is assumed of an edge before it was looked at."""

    @property
    def also(self) -> Mapping[str, Sequence[str]]:
        """Which nodes look at edges that do not lead to them."""

    def flow(self, edge: Edge, facts: Mapping[Edge, Value]) -> Value:
        """Say what holds on `edge`, given what holds on the others."""


def solve(graph: Graph, problem: Problem[Value]) -> Mapping[Edge, Value]:
    """Find what holds on each control edge.

    Args:
        graph: the program.
        problem: the analysis; its lattice must have no infinite chains.

    Returns:
        Edge -> fact. Cost: O(edges x height of the lattice), one pass where there is no loop.
    """
    facts: dict[Edge, Value] = dict.fromkeys(graph.edges, problem.top)
    position = graph.position
    pending = list(range(len(graph.nodes)))
    queued = set(pending)
    names = list(graph.nodes)
    also = problem.also
    while pending:
        index = heapq.heappop(pending)
        queued.discard(index)
        changed = []
        for edge in graph.out(names[index]):
            value = problem.flow(edge, facts)
            if value != facts[edge]:
                facts[edge] = value
                changed.append(edge.target)
        if changed:
            changed.extend(also.get(names[index], ()))
        for target in changed:
            if position[target] not in queued:
                queued.add(position[target])
                heapq.heappush(pending, position[target])
    return facts
