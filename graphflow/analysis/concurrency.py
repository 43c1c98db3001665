"""Which nodes may run at the same time, in any graph.

Two nodes may if no path leads from one to the other within one iteration and there is a fork with paths to both that have no
node in common. For one fork there are such paths if no single node lies on all paths from it to either [Menger 1927], that
is, if the two are under different children of the fork in the dominator tree of what it reaches. In an acyclic graph the
child that dominates a vertex is that of its predecessors if they agree, else the vertex itself::

    fork -> a -> c -> join      branches of the fork: a {a, c}, b {b}, join {join}
    fork -> b ------> join      c and b may run at the same time; b and join are in order

Of the tree of the whole graph the last vertex above both tells most: if it is a fork they are beside each other, and if it is
a choice only forks below it are asked. What is before what is kept as bits of an integer, one for each place in a stretch of
the order that every path enters at one vertex: most often a stretch is short.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from graphflow.analysis.dominators import ROOT
from graphflow.analysis.loops import Loop
from graphflow.analysis.unrolled import END, Unrolled
from graphflow.ir.nodes import ESCALATIONS, Edge

Branches = Mapping[str, str]
"""Vertex -> the child of a fork that dominates it."""

Crowd = Mapping[int, int]
"""Some nodes: beginning of a stretch -> bits of those in it."""


class Concurrency:
    """Answers about pairs of nodes.

    Args:
        unrolled: the program, unrolled.
    """

    def __init__(self, unrolled: Unrolled) -> None:
        self._unrolled = unrolled
        self._known: dict[str, Branches] = {}

    # --- what is before what -------------------------------------------------------------------------------------

    def _bit(self, place: int) -> int:
        return place - self._unrolled.stretch[place]

    @cached_property
    def _earlier(self) -> Sequence[int]:
        """For each place, bits of what is before it in its stretch."""
        stretch, position = self._unrolled.stretch, self._unrolled.position
        rounds: dict[int, int] = {}
        for vertex, ends in self._unrolled.follows.items():
            place = position[vertex]
            for end in map(position.__getitem__, ends):
                if stretch[end] == stretch[place]:
                    rounds[end] = rounds.get(end, 0) | 1 << self._bit(place)
        found: list[int] = []
        again: list[int] = []
        for place, sources in enumerate(self._unrolled.before):
            begin, mask, more = stretch[place], 0, rounds.get(place, 0)
            for source in sources:
                if stretch[source] == begin:
                    mask |= found[source] | 1 << (source - begin)
                    more |= again[source]
            found.append(mask)
            again.append(more)
        return [mask | more for mask, more in zip(found, again, strict=True)]

    def _ordered(self, left: int, right: int) -> bool:
        if self._unrolled.stretch[left] != self._unrolled.stretch[right]:
            return True
        earlier = self._earlier
        return bool(earlier[right] >> self._bit(left) & 1 or earlier[left] >> self._bit(right) & 1)

    # --- where paths part ----------------------------------------------------------------------------------------

    @cached_property
    def _forks(self) -> Sequence[str]:
        """The forks, innermost last."""
        return sorted(self._unrolled.forks, key=self._place)

    def _place(self, fork: str) -> int:
        return self._unrolled.position[self._unrolled.start(self._unrolled.forks[fork][0])]

    @cached_property
    def _places(self) -> Sequence[int]:
        """The places of the forks."""
        return [self._place(fork) for fork in self._forks]

    @cached_property
    def _plain(self) -> Mapping[int, int]:
        """Place of a fork that is left by all its edges together -> the place where they meet again, or past all."""
        unrolled = self._unrolled
        found = {}
        for fork, edges in unrolled.forks.items():
            goals = [unrolled.goal(edge) for edge in edges]
            if fork not in unrolled.split and set(unrolled.steps[fork]) <= set(goals):
                place = unrolled.position[fork]
                end = unrolled.behind(place)
                found[place] = len(unrolled.order) if end == ROOT or None in goals else end
        return found

    def _in_branches(self, fork: str) -> Branches:
        found = self._known.get(fork)
        if found is None:
            found = self._known[fork] = self._branches(self._unrolled.forks[fork])
        return found

    def _branches(self, edges: Sequence[Edge], within: frozenset[str] | None = None) -> Branches:
        """Follow the paths from a fork up to where all of them meet again, or as far as they go `within` a loop."""
        position, order, steps = self._unrolled.position, self._unrolled.order, self._unrolled.steps
        goals = [goal for edge in edges if (goal := self._unrolled.goal(edge)) is not None]
        open_end = within is not None or len(goals) < len(edges)
        child = {goal: goal for goal in goals if within is None or goal.removeprefix(END) in within}
        pending = [position[goal] for goal in child]
        heapq.heapify(pending)
        while pending:
            vertex = order[heapq.heappop(pending)]
            if not pending and not open_end:
                break
            open_end = open_end or not steps[vertex]
            for target in steps[vertex]:
                if within is not None and target.removeprefix(END) not in within:
                    continue
                if target not in child:
                    child[target] = child[vertex]
                    heapq.heappush(pending, position[target])
                elif child[target] != child[vertex]:
                    child[target] = target
        return child

    def _parting(self, left: int, right: int, meet: int) -> Iterator[str]:
        """Yield the forks below a vertex, innermost first, that have paths to both of two without a common node."""
        unrolled, order = self._unrolled, self._unrolled.order
        first, last = bisect_left(self._places, max(meet, 0)), bisect_left(self._places, min(left, right))
        for index in range(last - 1, first - 1, -1):
            if meet == ROOT or unrolled.dominators.over(meet, self._places[index]):
                branches = self._in_branches(self._forks[index])
                mine = branches.get(order[left])
                if mine is not None and branches.get(order[right], mine) != mine:
                    yield self._forks[index]

    def _forked(self, left: int, right: int) -> bool:
        if not self._forks or left == right:
            return False
        meet = self._unrolled.dominators.meet(left, right)
        if meet in (left, right):
            return False
        end = self._plain.get(meet)
        if end is not None:
            return left <= end and right <= end
        return next(self._parting(left, right, meet), None) is not None

    # --- answers -------------------------------------------------------------------------------------------------

    def forked(self, left: str, right: str) -> bool:
        """Say whether some fork has paths to both that have no node in common, be they in order or not."""
        return self._forked(self._unrolled.position[left], self._unrolled.position[right])

    def concurrent(self, left: str, right: str) -> bool:
        """Say whether two nodes may run at the same time."""
        first, second = self._unrolled.position[left], self._unrolled.position[right]
        return bool(self._forks) and not self._ordered(first, second) and self._forked(first, second)

    def crowd(self, node_ids: Iterable[str]) -> Crowd:
        """Prepare some nodes for `beside`."""
        found: dict[int, int] = {}
        for id_ in node_ids if self._forks else ():
            place = self._unrolled.position[id_]
            begin = self._unrolled.stretch[place]
            found[begin] = found.get(begin, 0) | 1 << (place - begin)
        return found

    def beside(self, node_id: str, crowd: Crowd, *, earlier: bool = False) -> Iterator[str]:
        """Yield those of some nodes that may run at the same time as another.

        Args:
            node_id: the other.
            crowd: the nodes.
            earlier: only those that come before it in the order of the unrolled graph.
        """
        place = self._unrolled.position[node_id]
        begin = self._unrolled.stretch[place]
        mask = crowd.get(begin, 0)
        if mask:
            mask &= ~self._earlier[place]
        if earlier:
            mask &= (1 << (place - begin)) - 1
        while mask:
            lowest = mask & -mask
            mask ^= lowest
            other = begin + lowest.bit_length() - 1
            if not self._earlier[other] >> (place - begin) & 1 and self._forked(place, other):
                yield self._unrolled.order[other]

    def meeting(self, left: str, right: str) -> str | None:
        """Name the innermost fork that two concurrent nodes come from, None if they are not concurrent."""
        if not self.concurrent(left, right):
            return None
        first, second = self._unrolled.position[left], self._unrolled.position[right]
        return next(self._parting(first, second, self._unrolled.dominators.meet(first, second)))

    def branch(self, fork: str, node_id: str) -> str:
        """Name the branch of a fork that a node is in, "" if it is in none."""
        return self._in_branches(fork).get(node_id, "")

    def torn(self, loop: Loop) -> Iterator[tuple[str, Edge, Edge]]:
        """Find the forks in a loop that let an edge round it and an edge out of it fire in one iteration.

        Args:
            loop: a loop.

        Yields:
            The fork, an edge that goes round and one that leaves; each fork once.
        """
        inside = loop.members | {loop.header}
        leaving = [edge for edge in loop.leaving if edge.label not in ESCALATIONS]
        for fork, edges in self._unrolled.forks.items():
            if fork not in inside or edges[0].label in ESCALATIONS:
                continue
            found = self._torn_at(fork, edges, loop, leaving)
            if found is not None:
                yield (fork, *found)

    def _torn_at(
        self, fork: str, edges: Sequence[Edge], loop: Loop, leaving: Sequence[Edge]
    ) -> tuple[Edge, Edge] | None:
        branches = self._branches(edges, loop.members)
        for out in leaving:
            for back in loop.backs:
                mine = self._side(fork, edges, branches, back)
                if mine is not None and self._side(fork, edges, branches, out) not in (None, mine):
                    return back, out
        return None

    def _side(self, fork: str, edges: Sequence[Edge], branches: Branches, edge: Edge) -> object:
        """Name the branch of a fork that an edge fires in: its own if it leaves the fork itself."""
        if edge.source == fork:
            return edge if edge in edges else None
        return branches.get(self._unrolled.start(edge))
