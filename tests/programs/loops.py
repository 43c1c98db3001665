"""What a free-form graph looks like with its loops contracted, by brute force and independent of graphflow.

A loop is a strongly connected part with its header, the one step through which it is entered. Contracted, it is a single
node of an acyclic graph; inside, without the edges back to its header, it is an acyclic graph again::

    START -> a -> b -> END, b -> a        [Loop(a, body=(a, b))]

Also here: which choices of routes make a loop go round and leave at once, and which cycles have two entries.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from tests.programs.graphs import ENTRY, FINISH, Graph, Plain, Route, Step


@dataclass(frozen=True)
class Edge:
    """One edge; `route` is None for a plain one. Two edges between the same steps differ in their number."""

    number: int
    source: str
    target: str
    route: Route | None = None


@dataclass(frozen=True)
class Loop:
    """A loop: header, everything inside (header first, acyclic, inner loops contracted), its edges by what they do."""

    header: str
    body: tuple[str | Loop, ...]
    members: frozenset[str]
    back: tuple[Edge, ...]
    leaving: tuple[Edge, ...]


Item = str | Loop


class Irreducible(Exception):
    """A cycle has two entries."""


@dataclass(frozen=True)
class Shape:
    """A graph, contracted: its items in canonical order (topological, ties by declaration)."""

    items: tuple[Item, ...]
    edges: tuple[Edge, ...]

    def loops(self) -> Iterator[Loop]:
        """Every loop, outer ones first."""
        pending = list(self.items)
        while pending:
            item = pending.pop(0)
            if isinstance(item, Loop):
                yield item
                pending += item.body


def edges_of(graph: Graph) -> tuple[Edge, ...]:
    """Spread the ways out into edges; a step that nothing follows leads to END."""
    pairs: dict[tuple[str, str, Route | None], None] = {}
    for way in graph.ways:
        if isinstance(way, Plain):
            pairs[way.source, way.target, None] = None
        else:
            pairs |= {(way.source, target, route): None for route, targets in way.arms for target in targets}
    followed = {source for source, _, _ in pairs}
    pairs |= {(step.name, FINISH, None): None for step in graph.steps if step.name not in followed}
    return tuple(Edge(number, *pair) for number, pair in enumerate(pairs))


def shape_of(graph: Graph) -> Shape:
    """Contract the loops of a graph.

    Raises:
        Irreducible: there is a cycle with two entries.
    """
    edges = edges_of(graph)
    names = [step.name for step in graph.steps]
    return Shape((*_items(names, edges, edges), FINISH), edges)


def _items(names: Sequence[str], edges: Sequence[Edge], everything: Sequence[Edge]) -> tuple[Item, ...]:
    parts: dict[str, Item] = {}
    reach = {name: _reachable([name], edges, names) for name in names}
    part_of: dict[str, str] = {}
    for name in names:
        if name in part_of:
            continue
        if name not in reach[name]:
            part_of[name], parts[name] = name, name
            continue
        inside = [other for other in names if other in reach[name] and name in reach[other]]
        entries = {edge.target for edge in edges if edge.target in inside and edge.source not in inside}
        if len(entries) != 1:
            raise Irreducible(sorted(entries))
        header = entries.pop()
        parts[header] = _loop(header, inside, everything)
        part_of |= dict.fromkeys(inside, header)
    return tuple(parts[key] for key in _order(list(parts), part_of, names, edges))


def _loop(header: str, inside: Sequence[str], everything: Sequence[Edge]) -> Loop:
    internal = [edge for edge in everything if edge.source in inside and edge.target in inside]
    back = tuple(edge for edge in internal if edge.target == header)
    forward = [edge for edge in internal if edge.target != header]
    enters = Edge(-1, ENTRY, header)
    body = _items(inside, [enters, *forward], everything)
    leaving = tuple(edge for edge in everything if edge.source in inside and edge.target not in inside)
    return Loop(header, body, frozenset(inside), back, leaving)


def _order(parts: Sequence[str], part_of: dict[str, str], names: Sequence[str], edges: Sequence[Edge]) -> Iterator[str]:
    """Topological, ties by declaration (of a loop: that of its header)."""
    pairs = {(part_of[e.source], part_of[e.target]) for e in edges if e.source in part_of and e.target in part_of}
    into = {part: {a for a, b in pairs if b == part and a != part} for part in parts}
    ready = [(names.index(part), part) for part in parts if not into[part]]
    heapq.heapify(ready)
    done: set[str] = set()
    while ready:
        part = heapq.heappop(ready)[1]
        done.add(part)
        yield part
        for other in parts:
            if part in into[other]:
                into[other].discard(part)
                if not into[other]:
                    heapq.heappush(ready, (names.index(other), other))


def _reachable(starts: Collection[str], edges: Sequence[Edge], within: Collection[str]) -> set[str]:
    """What can be reached in one step or more without leaving `within`."""
    found: set[str] = set()
    pending = list(starts)
    while pending:
        source = pending.pop()
        for edge in edges:
            if edge.source == source and edge.target in within and edge.target not in found:
                found.add(edge.target)
                pending.append(edge.target)
    return found


def unreachable(graph: Graph) -> set[str]:
    """The steps that no way from START leads to."""
    names = {step.name for step in graph.steps}
    return names - _reachable([ENTRY], edges_of(graph), names)


def stuck(graph: Graph) -> set[str]:
    """The steps that no way leads from to END."""
    back = [Edge(edge.number, edge.target, edge.source) for edge in edges_of(graph)]
    names = {step.name for step in graph.steps}
    return names - _reachable([FINISH], back, names)


# --- what would misbehave -------------------------------------------------------------------------------------


def selections(step: Step, edges: Sequence[Edge]) -> list[frozenset[Edge]]:
    """Every set of a step's edges that some choice of routes lets fire together."""
    outs = [edge for edge in edges if edge.source == step.name]
    plain = frozenset(edge for edge in outs if edge.route is None)
    labels = list(dict.fromkeys(edge.route for edge in outs if edge.route is not None))
    if not labels:
        return [plain]
    sets: list[tuple[Route, ...]] = [(label,) for label in labels]
    if step.chooses == "several":
        sets += [some for size in range(2, len(labels) + 1) for some in combinations(labels, size)]
    return [plain | {edge for edge in outs if edge.route in some} for some in sets]


class Choices:
    """Tries every choice of routes, independent of each other, within one iteration of a loop."""

    def __init__(self, graph: Graph, shape: Shape) -> None:
        self.shape = shape
        self.selections = {step.name: selections(step, shape.edges) for step in graph.steps}

    def left_by_fork(self) -> list[Loop]:
        """The loops that some choice lets go round and leave in one iteration (GF109)."""
        return [
            loop
            for loop in self.shape.loops()
            if any(fired & set(loop.back) and fired & set(loop.leaving) for fired in self.iterations(loop))
        ]

    def iterations(self, loop: Loop) -> set[frozenset[Edge]]:
        """Every set of edges that may fire in one iteration."""
        found: set[frozenset[Edge]] = {frozenset()}
        for item in loop.body:
            found = {fired | more for fired in found for more in self._item(item, fired, entered=item == loop.header)}
        return found

    def _item(self, item: Item, fired: frozenset[Edge], *, entered: bool) -> Collection[frozenset[Edge]]:
        name = item.header if isinstance(item, Loop) else item
        inside = item.members if isinstance(item, Loop) else ()
        if not entered and not any(edge.target == name and edge.source not in inside for edge in fired):
            return [frozenset()]
        if not isinstance(item, Loop):
            return self.selections[name]
        leaving = frozenset(item.leaving)
        return {one & leaving for one in self.iterations(item) if not one & set(item.back)}


def sound(graph: Graph) -> Shape | None:
    """Contract a graph that has a meaning; None for one that the check has to refuse."""
    try:
        shape = shape_of(graph)
    except Irreducible:
        return None
    if unreachable(graph) or stuck(graph) or Choices(graph, shape).left_by_fork():
        return None
    return shape


def two_entries(graph: Graph) -> bool:
    """Whether some simple cycle can be entered from START at two of its steps (GF106)."""
    edges = edges_of(graph)
    names = {step.name for step in graph.steps} - unreachable(graph)
    for cycle in _cycles(names, edges):
        outside = names - set(cycle)
        reached = _reachable([ENTRY], edges, outside) | {ENTRY}
        if len({edge.target for edge in edges if edge.source in reached and edge.target in cycle}) > 1:
            return True
    return False


def _cycles(names: Collection[str], edges: Sequence[Edge]) -> Iterator[tuple[str, ...]]:
    """Every simple cycle, once: from its least step."""
    follow = {name: sorted({e.target for e in edges if e.source == name and e.target in names}) for name in names}
    for start in sorted(names):
        pending: list[tuple[str, ...]] = [(start,)]
        while pending:
            path = pending.pop()
            for target in follow[path[-1]]:
                if target == start:
                    yield path
                elif target > start and target not in path:
                    pending.append((*path, target))
