"""Which vertices every way to a vertex leads through: the tree of immediate dominators of an acyclic graph.

Vertices are numbered so that edges lead from lower to higher numbers; -1 is a root before all of them. Read backwards, with the
edges turned round, the same tree says what every way from a vertex leads through::

    tree = Dominators([(), (0,), (0,), (1, 2)])     # 0 -> 1 -> 3, 0 -> 2 -> 3
    tree.above(3)                                   # 0

Each vertex has a link to one far above it [Myers, An applicative random-access stack, 1983], so that a question costs the
logarithm of the depth.
"""

from __future__ import annotations

from collections.abc import Sequence

ROOT = -1


class Dominators:
    """The dominator tree of one graph.

    Args:
        before: for each vertex, the vertices with an edge to it; none for those where ways begin.
    """

    def __init__(self, before: Sequence[Sequence[int]]) -> None:
        room = len(before) + 1  # the last place is that of the root, -1
        self._above = [ROOT] * room
        self._depth = [0] * room
        self._far = [ROOT] * room
        for vertex, sources in enumerate(before):
            above = sources[0] if sources else ROOT
            for source in sources[1:]:
                above = self.meet(above, source)
            far = self._far[above]
            even = self._depth[above] - self._depth[far] == self._depth[far] - self._depth[self._far[far]]
            self._above[vertex] = above
            self._depth[vertex] = self._depth[above] + 1
            self._far[vertex] = self._far[far] if even else above

    def above(self, vertex: int) -> int:
        """Give the last vertex that all ways to one lead through, -1 if there is none."""
        return self._above[vertex]

    def depth(self, vertex: int) -> int:
        """Count the vertices that all ways to one lead through, itself included."""
        return self._depth[vertex]

    def meet(self, left: int, right: int) -> int:
        """Give the last vertex that all ways to either of two lead through; it may be one of them."""
        if self._depth[left] < self._depth[right]:
            left, right = right, left
        left = self.climbed(left, self._depth[right])
        while left != right:
            far, other = self._far[left], self._far[right]
            left, right = (far, other) if far != other else (self._above[left], self._above[right])
        return left

    def climbed(self, vertex: int, depth: int) -> int:
        """Give the vertex of this depth that all ways to another one lead through."""
        while self._depth[vertex] > depth:
            far = self._far[vertex]
            vertex = far if self._depth[far] >= depth else self._above[vertex]
        return vertex

    def over(self, first: int, second: int) -> bool:
        """Say whether all ways to the second lead through the first, or it is the first."""
        return self.climbed(second, self._depth[first]) == first
