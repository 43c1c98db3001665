"""A brute-force explorer of small free-form graphs, written against the meaning of edges and not against the analyses.

It runs every choice of routes, of optional writes and of up to three iterations. Each run of a node is an instance that knows
the instances upstream of it: state travels along every edge, fired or dead. From that follows what each read finds, which
instances have no order, and whether a cycle goes round and is left at once::

    explore_graph(Graph(("a",), (Node("a", writes=("k",), to=("b",)), Node("b", reads=("k",)))), ...).findings == {}
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import NamedTuple

END = "END"
ROUNDS = 3


class Node(NamedTuple):
    """`routes` are sets of targets, one of which is taken (`many`: any of them but none); `to` is taken besides."""

    name: str
    reads: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    may_write: tuple[str, ...] = ()
    to: tuple[str, ...] = ()
    routes: tuple[tuple[str, ...], ...] = ()
    many: bool = False

    @property
    def targets(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys([*self.to, *(target for route in self.routes for target in route)])) or (END,)


class Graph(NamedTuple):
    """Nodes in an order that all edges follow but those that go round."""

    start: tuple[str, ...]
    nodes: tuple[Node, ...]


class Torn(Exception):
    """In one iteration an edge goes round and another leaves."""


class Pruned(Exception):
    """More iterations, or more choices, than are looked at."""


@dataclass(slots=True)
class Instance:
    """One run of one node."""

    node: str
    before: frozenset[int]
    writes: frozenset[str]
    proved: frozenset[str]
    turns: Mapping[str, int]


@dataclass
class Seen:
    """What one read of one key found in all executions."""

    required: bool
    origins: set[tuple[str, bool]] = field(default_factory=set)
    absent: bool = False


Edge = tuple[str, str]
State = tuple[bool, frozenset[int]]


@dataclass
class Explored:
    """What was observed in all executions."""

    reads: dict[tuple[str, str], Seen] = field(default_factory=dict)
    beside: set[frozenset[str]] = field(default_factory=set)
    ends: list[frozenset[str]] = field(default_factory=list)
    torn: bool = False
    runs: int = 0


class Shape:
    """The loops of a graph: header -> nodes inside, itself included."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.order = {node.name: index for index, node in enumerate(graph.nodes)}
        self.nodes = {node.name: node for node in graph.nodes}
        self.targets = {node.name: node.targets for node in graph.nodes}
        self.loops: dict[str, set[str]] = {}
        for node in graph.nodes:
            for target in node.targets:
                if target != END and self.order[target] <= self.order[node.name]:
                    self._enter(target, node.name)
        self.levels = {loop: self.level(loop) for loop in (None, *self.loops)}
        self.into: dict[tuple[str, bool], list[Edge]] = {}
        for source in ("@start", *self.nodes):
            for target in self.targets.get(source, graph.start):
                self.into.setdefault((target, self.is_back(source, target)), []).append((source, target))
        self.exits = {loop: self.leaving(loop) for loop in self.loops}

    def _enter(self, header: str, source: str) -> None:
        inside = self.loops.setdefault(header, {header})
        pending = [source]
        while pending:
            name = pending.pop()
            if name not in inside:
                inside.add(name)
                pending.extend(node.name for node in self.graph.nodes if name in node.targets)

    def is_back(self, source: str, target: str) -> bool:
        return target in self.loops and source in self.loops[target]

    def innermost(self, name: str) -> str | None:
        around = [header for header, inside in self.loops.items() if name in inside]
        return min(around, key=lambda header: len(self.loops[header]), default=None)

    def around(self, header: str) -> str | None:
        others = [h for h, inside in self.loops.items() if header in inside and h != header]
        return min(others, key=lambda h: len(self.loops[h]), default=None)

    def level(self, loop: str | None) -> list[str]:
        """Nodes and headers of loops directly inside a loop, in order."""
        inside = self.loops[loop] if loop is not None else set(self.nodes)
        found = []
        for name in sorted(inside, key=lambda one: self.order[one]):
            own = name in self.loops and name != loop
            if (own and self.around(name) == loop) or (not own and self.innermost(name) == loop):
                found.append(name)
        return found

    def leaving(self, loop: str) -> list[Edge]:
        inside = self.loops[loop]
        return [(name, t) for name in sorted(inside) for t in self.nodes[name].targets if t == END or t not in inside]


class _Run:
    def __init__(self, shape: Shape, inputs: Iterable[str], merged: frozenset[str], found: Explored, script: list[int]):
        self.shape, self.merged, self.found, self.script = shape, merged, found, script
        self.asked: list[int] = []
        self.instances = [Instance("@entry", frozenset(), frozenset(inputs), frozenset(), {})]
        self.edges: dict[Edge, State] = {("@start", target): (True, frozenset({0})) for target in shape.graph.start}
        self.turns: dict[str, int] = {}

    def choose(self, count: int) -> int:
        place = len(self.asked)
        self.asked.append(count)
        if place >= len(self.script):
            self.script.append(0)
        return self.script[place]

    def everything(self) -> None:
        for name in self.shape.levels[None]:
            self.visit(name, None)
        fired, before = self.united(END)
        assert fired
        keys = {key for index in before for key in (*self.instances[index].writes, *self.instances[index].proved)}
        self.found.ends.append(frozenset(keys))
        for left, right in combinations(range(1, len(self.instances)), 2):
            if left not in self.instances[right].before and right not in self.instances[left].before:
                self.found.beside.add(frozenset({self.instances[left].node, self.instances[right].node}))

    def united(self, target: str, backs: str | None = None) -> State:
        arrivals = [self.edges[edge] for edge in self.shape.into.get((target, bool(backs)), ()) if edge in self.edges]
        return any(fired for fired, _ in arrivals), frozenset().union(*[before for _, before in arrivals])

    def visit(self, name: str, loop: str | None) -> None:
        if name in self.shape.loops and name != loop:
            self.loop(name)
        else:
            self.node(self.shape.nodes[name], *self.united(name))

    def loop(self, header: str) -> None:
        fired, before = self.united(header)
        if not fired:
            for name in self.shape.loops[header]:
                for target in self.shape.targets[name]:
                    self.edges[name, target] = (False, before)
            return
        for turn in range(1, ROUNDS + 1):
            self.turns[header] = turn
            self.node(self.shape.nodes[header], fired, before)
            for name in self.shape.levels[header][1:]:
                self.visit(name, header)
            again, before = self.united(header, backs=header)
            left = any(self.edges[edge][0] for edge in self.shape.exits[header])
            if again and left:
                raise Torn
            if not again:
                del self.turns[header]
                return
        raise Pruned

    def node(self, node: Node, fired: bool, before: frozenset[int]) -> None:
        taken: set[str] = set()
        if fired:
            before = self.instance(node, before)
            taken = set(node.to) if node.to or node.routes else {END}
            if node.routes:
                options = [[r] for r in node.routes]
                if node.many:
                    options = [list(c) for n in range(1, len(node.routes) + 1) for c in combinations(node.routes, n)]
                taken |= {target for route in options[self.choose(len(options))] for target in route}
        for target in self.shape.targets[node.name]:
            self.edges[node.name, target] = (target in taken, before)

    def instance(self, node: Node, before: frozenset[int]) -> frozenset[int]:
        proved = {key for key in node.reads if not self.read(node, key, before, required=True)}
        for key in node.optional:
            self.read(node, key, before, required=False)
        options = [tuple(c) for n in range(len(node.may_write) + 1) for c in combinations(node.may_write, n)]
        some = options[self.choose(len(options))] if node.may_write else ()
        made = Instance(node.name, before, frozenset((*node.writes, *some)), frozenset(proved), dict(self.turns))
        self.instances.append(made)
        return before | {len(self.instances) - 1}

    def read(self, node: Node, key: str, before: frozenset[int], *, required: bool) -> bool:
        seen = self.found.reads.setdefault((node.name, key), Seen(required))
        writers = [index for index in before if key in self.instances[index].writes]
        last = [i for i in writers if key in self.merged or not any(i in self.instances[j].before for j in writers)]
        for index in last:
            seen.origins.add((self.instances[index].node, self.came_round(self.instances[index])))
        there = bool(writers) or any(key in self.instances[index].proved for index in before)
        seen.absent = seen.absent or not there
        return there

    def came_round(self, origin: Instance) -> bool:
        if not self.turns:
            return False
        return any(origin.turns.get(header, turn) != turn for header, turn in self.turns.items())


def executions(graph: Graph, inputs: Iterable[str], merged: frozenset[str], most: int) -> Explored | None:
    """Run a graph in all ways; None if there are too many."""
    found, script, shape = Explored(), list[int](), Shape(graph)
    while True:
        run = _Run(shape, inputs, merged, found, script)
        try:
            run.everything()
        except Torn:
            found.torn = True
        except Pruned:
            pass
        found.runs += 1
        if found.runs > most:
            return None
        script = script[: len(run.asked)]
        while script and script[-1] + 1 >= run.asked[len(script) - 1]:
            script.pop()
        if not script:
            return found
        script[-1] += 1


def codes(graph: Graph, found: Explored) -> Mapping[tuple[str, str], frozenset[str]]:
    """Say what has to be found at each read."""
    writers = {
        key: [node.name for node in graph.nodes if key in (*node.writes, *node.may_write)]
        for _, key in found.reads
    }  # fmt: skip
    result = {place: frozenset(_codes(place, seen, found, writers[place[1]])) for place, seen in found.reads.items()}
    return {place: some for place, some in result.items() if some}


def _codes(place: tuple[str, str], seen: Seen, found: Explored, writers: list[str]) -> Iterator[str]:
    reader, _ = place
    beside = [name for name in writers if frozenset({reader, name}) in found.beside]
    if seen.required and not seen.origins:
        yield "GF302" if beside else "GF201"
        return
    if seen.required and seen.absent:
        yield "GF205" if all(round_ for _, round_ in seen.origins) else "GF202"
    sure = not seen.absent and bool(seen.origins)
    own = all(
        frozenset({origin, reader}) not in found.beside
        and all(frozenset({origin, other}) in found.beside for other in beside)
        for origin, _ in seen.origins
    )
    if beside and not (sure and own):
        yield "GF302"


def races(graph: Graph, found: Explored, merged: frozenset[str]) -> set[str]:
    """Name the keys without merge that two nodes write which have no order."""
    by_name = {node.name: {*node.writes, *node.may_write} for node in graph.nodes}
    shared: set[str] = set()
    for pair in found.beside:
        left, *rest = pair
        if rest:
            shared |= by_name[left] & by_name[rest[0]]
    return shared - merged
