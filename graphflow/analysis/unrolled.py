"""One iteration of everything: the graph without its cycles, which orders nodes and says where paths part.

Forward edges only. A header that can end its loop by itself is split in two: the node, where an iteration begins, and its
end, fed by the back edges, where the loop is left; so the body runs at least once. The code of a custom agent is split in
the same way around its children. Other back edges are dropped. What surely goes round is before all that runs after the loop
all the same; a node that may also be the last of its iteration is not: `follows` holds the former besides::

    unrolled.steps["l#header"]       # ["l/writer"]
    unrolled.steps["~l#header"]      # ["l#exit"]

Nothing here knows keys.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from graphflow.analysis.dominators import ROOT, Dominators
from graphflow.analysis.loops import Loop, ends_itself, loops_of
from graphflow.analysis.routes import default_beside
from graphflow.ir.graph import Graph
from graphflow.ir.nodes import ESCALATIONS, Branch, Edge, Fork, Task, called

END = "~"
"""Prefix of the vertex that stands for the end of a header or of a custom agent's code."""


def alternatives(graph: Graph, id_: str) -> Sequence[Sequence[Edge]]:
    """Give the ways in which a node may be left: of these exactly one, and of it all edges, fire.

    Several arms of a branch with `multiple` are not among them: taking one alone is possible, and more may follow.

    Args:
        graph: the program.
        id_: a node.

    Returns:
        The edges of each way; none for the exit.
    """
    edges = graph.out(id_)
    node = graph.nodes[id_]
    if isinstance(node, Branch):
        return [[edge] for edge in edges]
    ways: dict[str, list[Edge]] = {}
    for edge in edges:
        ways.setdefault("escalate" if edge.label in ESCALATIONS else edge.label, []).append(edge)
    return list(ways.values())


class Unrolled:
    """The acyclic graph of one iteration.

    Args:
        graph: the program.

    Attributes:
        loops: the natural loops, by header.
        split: ids of the nodes whose end is a vertex of its own.
        steps: vertex -> the vertices after it within the iteration, each once.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.loops: Mapping[str, Loop] = loops_of(graph)
        self.split = {header for header in self.loops if self._has_end(header)}
        steps: dict[str, dict[str, None]] = {}
        for id_ in graph.nodes:
            steps[id_] = {}
            if id_ in self.split:
                steps[END + id_] = {}
            if id_ in self.split and isinstance(graph.nodes[id_], Task):
                steps[id_][END + id_] = None
        for edge in graph.edges:
            goal = self.goal(edge)
            if goal is not None:
                steps[self.start(edge)][goal] = None
        self.steps: Mapping[str, Sequence[str]] = {vertex: list(targets) for vertex, targets in steps.items()}

    def _has_end(self, header: str) -> bool:
        node = self.graph.nodes[header]
        return isinstance(node, Task) or any(ends_itself(node, edge.label) for edge in self.graph.out(header))

    def start(self, edge: Edge) -> str:
        """Give the vertex that an edge leaves."""
        if edge.source not in self.split:
            return edge.source
        node = self.graph.nodes[edge.source]
        ends = called(edge.label) is None if isinstance(node, Task) else ends_itself(node, edge.label)
        return END + edge.source if ends else edge.source

    def goal(self, edge: Edge) -> str | None:
        """Give the vertex that an edge leads to, None if it begins another iteration."""
        if not edge.back:
            return edge.target
        return END + edge.target if edge.target in self.split else None

    @cached_property
    def forks(self) -> Mapping[str, Sequence[Edge]]:
        """Where paths part that are taken side by side: a fork, or several routes at once, with these edges.

        The default of several routes is taken beside the known ones for a route that has no arm of its own.
        """
        return dict(self._forks())

    def _forks(self) -> Iterable[tuple[str, Sequence[Edge]]]:
        for id_, node in self.graph.nodes.items():
            edges = self.graph.out(id_)
            if isinstance(node, Branch) and node.multiple:
                if not default_beside(self.graph, node):
                    cases = {arm.label for arm in node.arms if arm.condition is not None}
                    edges = [edge for edge in edges if edge.label in cases]
            elif isinstance(node, Fork):
                if node.group is not None and node.group.over is not None:
                    continue
            else:
                edges = [edge for edge in edges if edge.label in ESCALATIONS]
            if len(edges) > 1:
                yield id_, edges

    @cached_property
    def order(self) -> Sequence[str]:
        """The vertices, each after those that lead to it."""
        missing = dict.fromkeys(self.steps, 0)
        for targets in self.steps.values():
            for target in targets:
                missing[target] += 1
        ready = [vertex for vertex in reversed(list(self.steps)) if not missing[vertex]]
        found = []
        while ready:
            vertex = ready.pop()
            found.append(vertex)
            for target in self.steps[vertex]:
                missing[target] -= 1
                if not missing[target]:
                    ready.append(target)
        return found

    @cached_property
    def position(self) -> Mapping[str, int]:
        """Vertex -> its 0-based place in `order`."""
        return {vertex: index for index, vertex in enumerate(self.order)}

    @cached_property
    def before(self) -> Sequence[Sequence[int]]:
        """For the vertex at each place of the order, the places of those that lead to it."""
        found: list[list[int]] = [[] for _ in self.order]
        for place, vertex in enumerate(self.order):
            for target in self.steps[vertex]:
                found[self.position[target]].append(place)
        return found

    @cached_property
    def dominators(self) -> Dominators:
        """What all ways to a vertex lead through, by places in the order."""
        return Dominators(self.before)

    @cached_property
    def _behind(self) -> Dominators:
        last = len(self.order) - 1
        return Dominators([[last - self.position[t] for t in self.steps[v]] for v in reversed(self.order)])

    def behind(self, place: int) -> int:
        """Give the place of the first vertex that all ways from one lead through, -1 if there is none."""
        last = len(self.order) - 1
        found = self._behind.above(last - place)
        return last - found if found != ROOT else ROOT

    @cached_property
    def stretch(self) -> Sequence[int]:
        """For each place of the order, the place where its stretch begins: every way through a stretch enters it there.

        What is in an earlier stretch is before all that is in a later one.
        """
        found: list[int] = []
        furthest = begin = 0
        for place, vertex in enumerate(self.order):
            if furthest <= place:
                begin = place
            found.append(begin)
            steps = self.steps[vertex]
            furthest = max(furthest, max(map(self.position.__getitem__, steps)) if steps else len(self.order))
        rooted = all(sources for place, sources in enumerate(self.before) if place)
        return found if rooted else [0] * len(found)

    @cached_property
    def follows(self) -> Mapping[str, Sequence[str]]:
        """Node that surely goes round a loop whenever it runs -> the vertices where the loop is left, some iterations later."""
        found: dict[str, list[str]] = {}
        for header, loop in self.loops.items():
            if header in self.split:
                continue
            goals = (self.goal(edge) for edge in loop.leaving)
            ends = list(dict.fromkeys(goal for goal in goals if goal is not None))
            for member in self._going_round(loop):
                found.setdefault(member, []).extend(ends)
        return found

    def _going_round(self, loop: Loop) -> Sequence[str]:
        """Members that, once they run, let a back edge fire whatever routes are chosen."""
        free: set[str] = set()
        members = sorted(loop.members, key=lambda id_: -self.graph.position[id_])
        changed = True
        while changed:
            changed = False
            for member in members:
                if member not in free and self._may_end(member, loop, free):
                    free.add(member)
                    changed = True
        return [member for member in members if member not in free]

    def _may_end(self, member: str, loop: Loop, free: set[str]) -> bool:
        def ends(edge: Edge) -> bool:
            if edge.target == loop.header:
                return False
            return edge.target not in loop.members or edge.target in free

        return any(all(ends(edge) for edge in way) for way in alternatives(self.graph, member))
