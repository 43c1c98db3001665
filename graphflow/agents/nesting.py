"""The loops of a free-form graph: which arcs go round, which enter a loop where they must not, what order the points have.

Every strongly connected component is one loop; its header is the point through which it is entered. Arcs from inside to
the header are back arcs; an arc from outside to any other point makes the cycle irreducible and is set aside. Without its
back arcs the inside of a loop is looked at in the same way::

    nest(3, [(START, 0), (0, 1), (1, 0), (1, 2)])      # one loop {0, 1} with header 0, order 0 1 2

Points are numbers in declaration order. The components are Tarjan's (Depth-first search and linear graph algorithms, 1972),
the nesting is Steensgaard's (Sequentializing program dependence graphs, 1993). Nothing here knows agents or the IR.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

START = -1
"""The point from which everything begins; it is in no loop."""

Arc = tuple[int, int]


@dataclass(frozen=True, slots=True, eq=False)
class Loop:
    """One loop: its header, the points inside (header and inner loops included) and the loop around it."""

    header: int
    members: frozenset[int]
    around: Loop | None = None


@dataclass(frozen=True, slots=True)
class Nesting:
    """What `nest` found.

    Attributes:
        order: all points, topologically without back arcs; the points of a loop stand together, ties by number.
        loops: header -> its loop, outer ones first.
        irreducible: arcs into the middle of a loop -> the loop's header; they are in no other answer.
    """

    order: tuple[int, ...]
    loops: Mapping[int, Loop]
    irreducible: Mapping[Arc, int]

    def is_back(self, source: int, target: int) -> bool:
        """Whether an arc goes round a loop."""
        return target in self.loops and source in self.loops[target].members


@dataclass(slots=True)
class _Search:
    """What is known while the loops are looked for."""

    arcs: dict[Arc, None]
    reachable: Collection[int]
    loops: dict[int, Loop] = field(default_factory=dict)
    irreducible: dict[Arc, int] = field(default_factory=dict)
    orders: dict[int, list[int]] = field(default_factory=dict)
    """Header (START: of everything) -> the points directly inside in order; an inner loop is its header."""

    def level(self, around: int, members: Sequence[int]) -> list[tuple[int, Sequence[int]]]:
        """Find the loops directly inside a loop and order what is there; give the inner loops as header and members."""
        inside = set(members)
        arcs = {arc: None for arc in self.arcs if arc[0] in inside and arc[1] in inside}
        if around != START:
            arcs = {arc: None for arc in arcs if arc[1] != around}
        found: list[tuple[int, Sequence[int]]] = []
        leader: dict[int, int] = {}
        for component in _components(members, arcs):
            if len(component) > 1 or (component[0], component[0]) in arcs:
                header = self._enter(component, around)
                found.append((header, component))
            else:
                header = component[0]
            leader.update(dict.fromkeys(component, header))
        links = {(leader[a], leader[b]) for a, b in arcs if leader[a] != leader[b] and (a, b) in self.arcs}
        self.orders[around] = _ordered(sorted(set(leader.values())), links)
        return found

    def _enter(self, component: Sequence[int], around: int) -> int:
        """Choose the header of a loop and set aside the arcs that enter it elsewhere."""
        members = frozenset(component)
        entries = [arc for arc in self.arcs if arc[1] in members and arc[0] not in members]
        entries.sort(key=lambda arc: arc[0] not in self.reachable)
        header = entries[0][1] if entries else min(component)
        for arc in entries:
            if arc[1] != header:
                self.irreducible[arc] = header
                del self.arcs[arc]
        self.loops[header] = Loop(header, members, self.loops.get(around))
        return header


def nest(count: int, arcs: Sequence[Arc]) -> Nesting:
    """Find the loops of a graph.

    Args:
        count: how many points there are; they are 0 to `count - 1`.
        arcs: in declaration order, from START or a point to a point. Cost: O(arcs) for each level of nesting.

    Returns:
        Order, loops and what makes cycles irreducible.
    """
    search = _Search(dict.fromkeys(arcs), _reachable(arcs))
    pending: list[tuple[int, Sequence[int]]] = [(START, range(count))]
    while pending:
        around, members = pending.pop(0)
        pending += search.level(around, members)
    return Nesting(tuple(_flattened(search.orders, count)), search.loops, search.irreducible)


def _flattened(orders: Mapping[int, Sequence[int]], count: int) -> Iterator[int]:
    stack = [iter(orders[START] if count else ())]
    opened: set[int] = set()
    while stack:
        point = next(stack[-1], None)
        if point is None:
            stack.pop()
        elif point in orders and point not in opened:
            opened.add(point)
            stack.append(iter(orders[point]))
        else:
            yield point


def _reachable(arcs: Sequence[Arc]) -> set[int]:
    after = _successors(arcs)
    seen, pending = {START}, [START]
    while pending:
        for target in after.get(pending.pop(), ()):
            if target not in seen:
                seen.add(target)
                pending.append(target)
    return seen


def _successors(arcs: Collection[Arc]) -> dict[int, list[int]]:
    after: dict[int, list[int]] = {}
    for source, target in arcs:
        after.setdefault(source, []).append(target)
    return after


def _ordered(points: Sequence[int], links: Collection[Arc]) -> list[int]:
    """Order points topologically, ties by number."""
    after = _successors(sorted(links))
    waiting = dict.fromkeys(points, 0)
    for _, target in links:
        waiting[target] += 1
    ready = [point for point in points if not waiting[point]]
    order = []
    while ready:
        point = heapq.heappop(ready)
        order.append(point)
        for target in after.get(point, ()):
            waiting[target] -= 1
            if not waiting[target]:
                heapq.heappush(ready, target)
    return order


def _components(points: Sequence[int], arcs: Collection[Arc]) -> Iterator[list[int]]:
    """Yield the strongly connected components, points in order; without recursion, graphs may be deep."""
    after = _successors(arcs)
    number: dict[int, int] = {}
    low: dict[int, int] = {}
    open_points: list[int] = []
    done: set[int] = set()
    for root in points:
        if root in number:
            continue
        stack: list[tuple[int, Iterator[int]]] = [(root, iter(after.get(root, ())))]
        number[root] = low[root] = len(number)
        open_points.append(root)
        while stack:
            point, targets = stack[-1]
            for target in targets:
                if target not in number:
                    number[target] = low[target] = len(number)
                    open_points.append(target)
                    stack.append((target, iter(after.get(target, ()))))
                    break
                if target not in done:
                    low[point] = min(low[point], number[target])
            else:
                stack.pop()
                if stack:
                    low[stack[-1][0]] = min(low[stack[-1][0]], low[point])
                if low[point] == number[point]:
                    component = _closed(open_points, point)
                    done.update(component)
                    yield component


def _closed(open_points: list[int], root: int) -> list[int]:
    """Take the points of a finished component off the stack, in order."""
    component: list[int] = []
    while not component or component[-1] != root:
        component.append(open_points.pop())
    return sorted(component)
