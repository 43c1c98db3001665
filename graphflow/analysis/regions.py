"""Which nodes may run side by side, and which loops a node is in, read off the tree of regions.

Two nodes are concurrent if the innermost region that holds both is a parallel one and they are in different branches of
it: arms of one branch exclude each other, and iterations of one loop follow each other::

    strands.of("root/par/b/task")      # (("root/par", "root/par/b"),)
"""

from __future__ import annotations

from collections.abc import Sequence

from graphflow.ir.graph import Graph
from graphflow.ir.nodes import EXHAUSTED, Region

Strand = tuple[tuple[str, str], ...]


class Strands:
    """Answers about the place of nodes among parallel branches and loops.

    Args:
        graph: the program.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._of_region: dict[str, Strand] = {}
        self._loops_of_region: dict[str, tuple[str, ...]] = {}
        self._handlers = {self._item(edge.source, edge.target) for edge in graph.edges if edge.label == EXHAUSTED}
        for region in graph.regions.values():
            self._enter(region)

    def _enter(self, region: Region) -> None:
        around = region.parent
        outer: Strand = self._of_region[around] if around is not None else ()
        loops = self._loops_around(region.id, around) if around is not None else ()
        if around is not None and self._graph.regions[around].kind == "parallel":
            outer = (*outer, (around, region.id))
        self._of_region[region.id] = outer
        self._loops_of_region[region.id] = (*loops, region.id) if region.kind == "loop" else loops

    def of(self, node_id: str) -> Strand:
        """Give the parallel regions around a node and its branch in each, outermost first."""
        node = self._graph.nodes[node_id]
        strand = self._of_region[node.region]
        own = node_id.startswith(f"{node.region}#")
        return (
            strand if own or self._graph.regions[node.region].kind != "parallel" else (*strand, (node.region, node_id))
        )

    def branch(self, parallel: str, node_id: str) -> str:
        """Name the branch of a parallel region that a node is in ("" for its fork and join)."""
        return next((branch for region, branch in self.of(node_id) if region == parallel), "")

    def concurrent(self, left: str, right: str) -> bool:
        """Say whether two nodes may run at the same time."""
        return self.meeting(left, right) is not None

    def meeting(self, left: str, right: str) -> str | None:
        """Name the parallel region in whose different branches two nodes are, None if there is none."""
        for (region, mine), (other, theirs) in zip(self.of(left), self.of(right), strict=False):
            if region != other:
                return None
            if mine != theirs:
                return region
        return None

    def loops(self, node_id: str) -> Sequence[str]:
        """Give the ids of the loop regions around a node, outermost first; what runs when a loop is exhausted is outside."""
        return self._loops_around(node_id, self._graph.nodes[node_id].region)

    def _loops_around(self, item: str, region: str) -> tuple[str, ...]:
        loops = self._loops_of_region[region]
        return loops[:-1] if item in self._handlers else loops

    def _item(self, header: str, inside: str) -> str:
        """Name the item of a loop's region that holds a node."""
        loop, item = self._graph.nodes[header].region, inside
        around: str | None = self._graph.nodes[inside].region
        while around is not None and around != loop:
            item, around = around, self._graph.regions[around].parent
        return item
