"""What the edges of a `Workflow` make: loops, ends and an order.

::

    shape_of(parse_edges([(START, a, b), (b, {"redo": a, DEFAULT_ROUTE: c})]))      # order a b c, loop {a, b}, c leads to END

Nothing here knows the graph that it is lowered to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
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
        exits: node, or START -> where it leads, without what is left out; what leads nowhere leads to END.
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

    @cached_property
    def _position(self) -> Mapping[int, int]:
        return {self.edges.nodes[agent]: place for place, agent in enumerate(self.order)}

    def leaving(self, loop: Loop) -> Iterator[tuple[Point, Point]]:
        """Give the edges that leave a loop."""
        for place in sorted(self._position[number] for number in loop.members):
            source = self.order[place]
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
        agents = tuple(self.edges.nodes)
        found: dict[Agent, list[Agent]] = {}
        for header, loop in reversed(list(self.nesting.loops.items())):
            last = self.order[max(self._position[number] for number in loop.members)]
            found.setdefault(last, []).append(agents[header])
        return found


@dataclass(frozen=True, slots=True)
class Escapes:
    """The first joins on the ways out of a workflow, where what runs side by side meets.

    Attributes:
        onward: node -> the joins that come first after it.
        beyond: node -> those that come first after the join of its in-edges, or of the edges that go round to it.
    """

    onward: Mapping[Point, tuple[str, ...]]
    beyond: Mapping[Point, tuple[str, ...]]


def escapes_of(shape: Shape, joined: Callable[[Point], str], rejoined: Callable[[Point], str], finish: str) -> Escapes:
    """Find the first joins after each node. A loop that a way comes to is stepped over: it goes on where the loop is left.

    Args:
        shape: the workflow.
        joined: gives the join of a node's in-edges, "" if it has none.
        rejoined: gives the join of the edges that go round to a node, "" if it has none.
        finish: the join of the edges that lead to END, "" if there is none.
    """
    onward: dict[Point, tuple[str, ...]] = {}
    beyond: dict[Point, tuple[str, ...]] = {}

    def joins(edges: Iterable[tuple[Point, Point]]) -> tuple[str, ...]:
        found: dict[str, None] = {}
        for source, target in edges:
            if target is END or shape.is_back(source, target) or joined(target):
                join = (
                    finish if target is END else rejoined(target) if shape.is_back(source, target) else joined(target)
                )
                found |= {join: None} if join else {}
            else:
                found |= dict.fromkeys(beyond[target])
        return tuple(found)

    for agent in reversed(shape.order):
        loop = shape.loop(agent)
        onward[agent] = joins((agent, target) for target in shape.exits[agent].targets)
        beyond[agent] = joins(shape.leaving(loop)) if loop else onward[agent]
    return Escapes(onward, beyond)


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
        if not any(kept[source].targets):
            kept[source].plain[END] = None
    agents = tuple(edges.nodes)
    return Shape(edges, nesting, kept, tuple(agents[number] for number in nesting.order))
