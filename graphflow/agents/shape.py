"""What the edges of a `Workflow` make: loops, ends and an order.

::

    shape_of(parse_edges([(START, a, b), (b, {"redo": a, DEFAULT_ROUTE: c})]))      # order a b c, loop {a, b}, c leads to END

Nothing here knows the graph that it is lowered to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from graphflow.agents.base import Agent
from graphflow.agents.edges import END, START, Edges, Exits, Point
from graphflow.agents.nesting import START as BEGIN
from graphflow.agents.nesting import Loop, Nesting, nest


@dataclass(frozen=True)
class Shape:
    """Edges, and what they make: loops, order, ends.

    Attributes:
        edges: as written.
        nesting: the loops, over the numbers of `edges.nodes`.
        exits: node, or START -> where it leads, without what is left out; a node that leads nowhere leads to END.
        order: the nodes in canonical order.
    """

    edges: Edges
    nesting: Nesting
    exits: Mapping[Point, Exits]
    order: tuple[Agent, ...]

    def loop(self, point: Point) -> Loop | None:
        """Give the loop that a node begins."""
        return self.nesting.loops.get(self.edges.nodes[point]) if isinstance(point, Agent) else None

    def is_back(self, source: Point, target: Point) -> bool:
        """Whether an edge goes round a loop."""
        loop = self.loop(target)
        return loop is not None and self.is_in(source, loop)

    def is_in(self, point: Point, loop: Loop) -> bool:
        """Whether a node is inside a loop."""
        return isinstance(point, Agent) and self.edges.nodes[point] in loop.members

    def leaving(self, loop: Loop) -> Iterator[tuple[Point, Point]]:
        """Give the edges that leave a loop."""
        for source in self.order:
            if self.is_in(source, loop):
                yield from ((source, target) for target in self.exits[source].targets if not self.is_in(target, loop))

    @cached_property
    def entering(self) -> Mapping[Point, list[Point]]:
        """Node, or END -> the sources of its in-edges that do not go round, one for each edge."""
        return self._sources(back=False)

    @cached_property
    def returning(self) -> Mapping[Point, list[Point]]:
        """Header of a loop -> the sources of the edges that go round, one for each edge."""
        return self._sources(back=True)

    def _sources(self, *, back: bool) -> dict[Point, list[Point]]:
        found: dict[Point, list[Point]] = {END: []}
        found |= {agent: [] for agent in self.order}
        for source, exits in self.exits.items():
            for target in exits.targets:
                if self.is_back(source, target) == back:
                    found[target].append(source)
        return found

    @cached_property
    def closing(self) -> Mapping[Agent, list[Agent]]:
        """Last node of loops -> the headers of these, inner ones first."""
        agents = {number: agent for agent, number in self.edges.nodes.items()}
        found: dict[Agent, list[Agent]] = {}
        for header, loop in reversed(list(self.nesting.loops.items())):
            last = next(agent for agent in reversed(self.order) if self.is_in(agent, loop))
            found.setdefault(last, []).append(agents[header])
        return found


def shape_of(edges: Edges) -> Shape:
    """Find loops and order, and leave out what makes cycles irreducible."""
    numbers: dict[Point, int] = {START: BEGIN}
    numbers.update(edges.nodes.items())
    arcs = [
        (number, edges.nodes[target])
        for source, number in numbers.items()
        for target in edges.exits[source].targets
        if isinstance(target, Agent)
    ]
    nesting = nest(len(edges.nodes), arcs)
    kept: dict[Point, Exits] = {}
    for source, exits in edges.exits.items():
        left_out = [
            target
            for target in exits.targets
            if isinstance(target, Agent) and (numbers[source], edges.nodes[target]) in nesting.irreducible
        ]
        kept[source] = exits.without(left_out)
        if source is not START and not any(kept[source].targets):
            kept[source].plain[END] = None
    agents = tuple(edges.nodes)
    return Shape(edges, nesting, kept, tuple(agents[number] for number in nesting.order))
