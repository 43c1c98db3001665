"""Which nodes may run at the same time, in any graph.

Two nodes may if no path leads from one to the other within one iteration and there is a fork with paths to both that have no
node in common. For one fork there are such paths if no single node lies on all paths from it to either [Menger 1927], that
is, if the two are under different children of the fork in the dominator tree of what it reaches. In an acyclic graph the
child that dominates a vertex is that of its predecessors if they agree, else the vertex itself::

    fork -> a -> c -> join      branches of the fork: a {a, c}, b {b}, join {join}
    fork -> b ------> join      c and b may run at the same time; b and join are in order

Sets of vertices are kept as bits of an integer, one for each place in the unrolled order.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from graphflow.analysis.loops import Loop
from graphflow.analysis.unrolled import END, Unrolled
from graphflow.ir.nodes import ESCALATIONS, Edge

Branches = Mapping[str, str]
"""Vertex -> the child of a fork that dominates it."""


class Concurrency:
    """Answers about pairs of nodes.

    Args:
        unrolled: the program, unrolled.
    """

    def __init__(self, unrolled: Unrolled) -> None:
        self._unrolled = unrolled
        self._bit = {vertex: 1 << index for vertex, index in unrolled.position.items()}

    @cached_property
    def _after(self) -> Mapping[str, int]:
        """Vertex -> bits of all vertices after it."""
        found: dict[str, int] = {}
        for vertex in reversed(self._unrolled.order):
            mask = 0
            for target in self._unrolled.steps[vertex]:
                mask |= found[target] | self._bit[target]
            found[vertex] = mask
        later = dict(found)
        for vertex, targets in self._unrolled.follows.items():
            for target in targets:
                later[vertex] |= found[target] | self._bit[target]
        return later

    def _ordered(self, left: str, right: str) -> bool:
        return bool(self._after[left] & self._bit[right] or self._after[right] & self._bit[left])

    @cached_property
    def _forks(self) -> dict[str, Branches]:
        """Fork -> its branches, innermost forks last."""
        found: dict[str, Branches] = {id_: self._branches(edges) for id_, edges in self._unrolled.forks()}
        return dict(sorted(found.items(), key=lambda item: self._unrolled.position[item[0]]))

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

    @cached_property
    def _apart(self) -> Mapping[str, int]:
        """Vertex -> bits of the vertices that some fork has paths to beside one to it."""
        found = dict.fromkeys(self._unrolled.order, 0)
        for branches in self._forks.values():
            members: dict[str, int] = {}
            for vertex, child in branches.items():
                members[child] = members.get(child, 0) | self._bit[vertex]
            everything = sum(members.values())
            for vertex, child in branches.items():
                found[vertex] |= everything & ~members[child]
        return found

    def concurrent(self, left: str, right: str) -> bool:
        """Say whether two nodes may run at the same time."""
        return self.forked(left, right) and not self._ordered(left, right)

    def bits(self, node_ids: Iterable[str]) -> int:
        """Give the bits of these nodes."""
        mask = 0
        for id_ in node_ids:
            mask |= self._bit[id_]
        return mask

    def forked(self, left: str, right: str) -> bool:
        """Say whether some fork has paths to both that have no node in common, be they in order or not."""
        return bool(self._apart[left] & self._bit[right])

    def perhaps_beside(self, node_id: str) -> int:
        """Give the bits of nodes that hold all which may run beside a node, and some that run before it."""
        return self._apart[node_id] & ~self._after[node_id]

    def meeting(self, left: str, right: str) -> str | None:
        """Name the innermost fork that two concurrent nodes come from, None if they are not concurrent."""
        if not self.concurrent(left, right):
            return None
        return next(fork for fork in reversed(self._forks) if self._parted(fork, left, right))

    def _parted(self, fork: str, left: str, right: str) -> bool:
        branches = self._forks[fork]
        return left in branches and right in branches and branches[left] != branches[right]

    def branch(self, fork: str, node_id: str) -> str:
        """Name the branch of a fork that a node is in, "" if it is in none."""
        return self._forks[fork].get(node_id, "")

    def torn(self, loop: Loop) -> Iterator[tuple[str, Edge, Edge]]:
        """Find the forks in a loop that let an edge round it and an edge out of it fire in one iteration.

        Args:
            loop: a loop.

        Yields:
            The fork, an edge that goes round and one that leaves; each fork once.
        """
        inside = loop.members | {loop.header}
        leaving = [edge for edge in loop.leaving if edge.label not in ESCALATIONS]
        for fork, edges in self._unrolled.forks():
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
