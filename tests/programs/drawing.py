"""Draws free-form graphs at random: sensible ones out of blocks or with back edges to dominators, and odd ones.

::

    random_graph(Random(7))      # chains, forks, routers, loops inside each other
    odd_graph(Random(7))         # cycles with two entries, steps that nothing reaches, unknown targets
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from random import Random
from typing import Literal

from tests.programs.graphs import DEFAULT, ENTRY, FINISH, Chooses, Graph, Mood, Plain, Route, Routes, Step, Way
from tests.programs.loops import sound
from tests.programs.trees import MERGED, PLAIN


def random_graph(random: Random, *, tame: bool = False, most: int = 8) -> Graph:
    """Draw a graph that mostly makes sense; ask `loops.sound` whether it does.

    Args:
        random: the source of chance.
        tame: no step fails or halts on purpose, and no route is unknown.
        most: about the most steps.
    """
    drawing = _Drawing(random, tame)
    return drawing.blocks(most) if random.randrange(4) else drawing.natural(random.randint(1, most))


def sound_graph(random: Random, *, tame: bool = False, most: int = 8) -> Graph:
    """Draw graphs until one has a meaning."""
    while True:
        graph = random_graph(random, tame=tame, most=most)
        if sound(graph) is not None:
            return graph


def odd_graph(random: Random, *, most: int = 6, strangers: bool = False) -> Graph:
    """Draw a graph that need not make sense: cycles with two entries, steps that nothing reaches, dead ends.

    Args:
        random: the source of chance.
        most: the most steps.
        strangers: some edges lead to a name that no step has.
    """
    return _Drawing(random, tame=False, odd=True).any(random.randint(1, most), strangers=strangers)


Kind = Literal["plain", "route", "back", "any"]
"""How a step leads on: always, on a route, round a loop (on a route, mostly), or as it comes."""
Targets = list[tuple[str, Kind]]
Ends = list[tuple[str, Kind]]


class _Drawing:
    def __init__(self, random: Random, tame: bool, *, odd: bool = False) -> None:
        self.random = random
        self.tame = tame
        self.odd = odd
        self.names: list[str] = []
        self.targets: dict[str, Targets] = {ENTRY: []}

    def chance(self, one_in: int) -> bool:
        return self.random.randrange(one_in) == 0

    def name(self) -> str:
        name = f"n{len(self.names) + 1}"
        self.names.append(name)
        self.targets[name] = []
        return name

    def link(self, ends: Ends, target: str) -> None:
        for source, kind in ends:
            self.targets[source].append((target, kind))

    # --- three ways to draw ---------------------------------------------------------------------------------------

    def natural(self, count: int) -> Graph:
        """Forward edges first; then back edges to dominators of their source, which keep every cycle natural."""
        into: dict[str, set[str]] = {}
        for place in range(count):
            near = [ENTRY, *self.names][-3:]
            into[self.name()] = {self.random.choice(near)} | {s for s in near if place > 1 and self.chance(5)}
        dominators = _dominators(self.names, into)
        for name in self.names:
            for source in sorted(into[name]):
                self.targets[source].append((name, "plain" if source == ENTRY else "any"))
        for name in self.names:
            if not self.targets[name] or self.chance(6):
                self.targets[name].append((FINISH, "any"))
            if self.chance(2):
                rounds = self.random.choice([name, *sorted(dominators[name], key=self.names.index) * 2])
                self.targets[name].append((rounds, "back"))
        return self.graph()

    def blocks(self, most: int) -> Graph:
        """Chains, forks, routers and loops inside each other; then, at times, an edge that respects none of that."""
        self.most = most
        first, ends = self.block(3)
        self.link([(ENTRY, "plain")], first)
        while self.chance(3):
            beside, more = self.block(1)
            self.link([(ENTRY, "plain")], beside)
            ends += more
        self.link(ends, FINISH)
        while self.chance(4):
            source, target = sorted(self.random.choices(range(len(self.names)), k=2))
            self.targets[self.names[source]].append(([*self.names, FINISH][target + 1], "any"))
        return self.graph()

    def block(self, depth: int) -> tuple[str, Ends]:
        if depth <= 0 or len(self.names) >= self.most:
            name = self.name()
            return name, [(name, "plain")]
        return self.random.choice([self.chain, self.fan, self.fan, self.loop, self.loop])(depth - 1)

    def chain(self, depth: int) -> tuple[str, Ends]:
        first, ends = self.block(depth)
        for _ in range(self.random.randint(0, 2)):
            following, more = self.block(depth)
            self.link(ends, following)
            ends = more
        return first, ends

    def fan(self, depth: int) -> tuple[str, Ends]:
        """A fork or a router, with or without a step at which the paths meet."""
        name = self.name()
        kind: Kind = self.random.choice(["plain", "route"])
        ends: Ends = [(name, kind)] if self.chance(3) else []
        for _ in range(self.random.randint(1, 3)):
            first, more = self.block(depth)
            self.link([(name, kind)], first)
            ends += more
        if self.chance(3):
            return name, ends
        join = self.name()
        self.link(ends, join)
        return name, [(join, "plain")]

    def loop(self, depth: int) -> tuple[str, Ends]:
        """A header, a body, and at times a step in its middle at which the loop can be left; the last step goes round."""
        header, ends = self.chain(0)
        left: Ends = []
        for _ in range(self.random.randint(0, 2)):
            first, more = self.chain(depth) if self.chance(3) else self.block(depth)
            if self.chance(3):
                middle = self.name()
                self.link(ends, middle)
                ends = [(middle, "route")]
                left.append((middle, "route"))
            self.link(ends, first)
            ends = more
        if len(ends) == 1 and self.chance(2):
            last = ends[0][0]
        else:
            last = self.name()
            self.link(ends, last)
        back: Ends = [(last, "back")]
        if self.chance(4):  # on the way round too, paths may run side by side
            again = self.name()
            self.link(back, again)
            back = [(self.name(), "plain") for _ in range(2)]
            for source, _ in back:
                self.link([(again, "plain")], source)
        self.link(back, header)
        return header, [*left, (last, "route")]

    def any(self, count: int, *, strangers: bool) -> Graph:
        for _ in range(count):
            self.name()
        sources = [ENTRY, *self.names]
        for name in self.names:
            if not self.chance(8):
                self.targets[self.random.choice(sources)].append((name, "any"))
        self.targets[ENTRY] = self.targets[ENTRY] or [(self.names[0], "any")]
        for _ in range(self.random.randint(0, count + 1)):
            target = "nobody" if strangers and self.chance(15) else self.random.choice([*self.names, FINISH])
            source = self.random.choice(sources)
            if source != ENTRY or target != FINISH:
                self.targets[source].append((target, self.random.choice(["back", "any"])))
        return self.graph()

    # --- from targets to ways -------------------------------------------------------------------------------------

    def graph(self) -> Graph:
        renamed = {name: f"n{place}" for place, name in enumerate(self.random.sample(self.names, len(self.names)), 1)}
        ways: list[Way] = [Plain(ENTRY, target) for target, _ in dict.fromkeys(self.targets[ENTRY])]
        steps: dict[str, Step] = {}
        for name in self.names:
            targets: Targets = list(dict(reversed(self.targets[name])).items())[::-1]
            routes = self.routes(name, targets)
            routed = {target for _, to in routes.arms for target in to} if routes else set()
            plain = [t for t, _ in targets if t not in routed or self.chance(30)]
            plain = [] if plain == [FINISH] and not routes and self.chance(2) else plain
            mine: list[Way] = [Plain(name, target) for target in plain]
            mine += [routes] if routes else []
            self.random.shuffle(mine)
            ways += mine
            steps[name] = self.step(name, routes, {target for target, kind in targets if kind == "back"})
        if self.chance(3):
            self.random.shuffle(ways)
        order = [name for name in dict.fromkeys(_named(ways)) if name in steps]
        return _renamed(Graph(tuple(steps[name] for name in order), tuple(ways)), renamed)

    def routes(self, name: str, targets: Targets) -> Routes | None:
        """Make a routing dict of some of the targets; back edges are hardly ever plain."""
        chosen = [pair for pair in targets if pair[1] in ("route", "back") or (pair[1] == "any" and self.chance(2))]
        if name == ENTRY or not chosen or self.chance(4 if self.odd else 60):
            return None
        if any(kind == "back" for _, kind in chosen) and not self.chance(8):
            chosen = targets
        labels: list[Route] = list(range(4)) if self.chance(6) else [f"r{number}" for number in range(4)]
        rounds = {target for target, kind in targets if kind == "back"}
        arms: dict[Route, list[str]] = {}
        for target, kind in chosen:
            fits = [route for route, to in arms.items() if kind != "back" and not rounds & set(to)]
            if fits and (self.chance(4) or len(arms) == len(labels)):
                arms[self.random.choice(fits)].append(target)
            elif len(arms) < len(labels):
                arms[labels[len(arms)]] = [target]
            else:
                arms[labels[0]].append(target)
        if self.chance(3) and len(arms) > 1:
            arms[DEFAULT] = arms.pop(list(arms)[-1])
        return Routes(name, tuple((route, tuple(dict.fromkeys(to))) for route, to in arms.items()))

    def step(self, name: str, routes: Routes | None, rounds: set[str]) -> Step:
        moods: list[Mood] = ["plain"] * 10 + ([] if self.tame else ["fails", "halts"])
        moods += ["escalates", "strays", "forgets"] * 2 if self.odd else []
        mood = self.random.choice(moods)
        reads = dict.fromkeys(self.keys(3))
        hard = ("a", "b", "bag") if self.tame or not self.chance(6) else (*PLAIN, *MERGED)
        asked = tuple(key if key in hard else f"{key}?" for key in reads)
        writes = tuple(dict.fromkeys(self.keys(2)))
        may = tuple(key for key in dict.fromkeys(self.keys(1)) if key not in writes)
        overwrites = self.chance(6)
        if routes is None:
            return Step(name, asked, writes, may, mood, overwrites)
        labels = [route for route, _ in routes.arms]
        defaulted = DEFAULT in labels
        choices = [*labels, "x"] if defaulted or (not self.tame and self.chance(8)) else labels
        choices = [route for route in choices if route != DEFAULT]
        calm = [r for r, to in routes.arms if not rounds & set(to)]
        late = self.random.choice(calm) if calm else None
        late = "x" if late == DEFAULT else late
        if any(isinstance(route, int) for route in labels):
            ints = tuple(r if isinstance(r, int) else 9 for r in choices)
            late = 9 if late == "x" else late
            key = self.random.choice(PLAIN)
            return Step(name, asked, (key,), (), mood, False, "key", ints, late)
        chooses: Chooses = self.random.choice(["sets", "sets", "returns", "returns", "several"])
        if chooses == "several" and self.tame and not defaulted:
            chooses = "returns"  # an empty list of routes would match nothing
        if chooses != "sets":
            writes, may, overwrites = (), (), False
        if chooses == "several" and mood != "fails":
            mood = "plain"
        return Step(name, asked, writes, may, mood, overwrites, chooses, tuple(choices), late)

    def keys(self, most: int) -> tuple[str, ...]:
        return tuple(sorted(self.random.sample([*PLAIN, *MERGED * 4], self.random.randint(0, most))))


def _named(ways: list[Way]) -> Iterator[str]:
    for way in ways:
        yield way.source
        if isinstance(way, Plain):
            yield way.target
        else:
            yield from (target for _, targets in way.arms for target in targets)


def _renamed(graph: Graph, names: Mapping[str, str]) -> Graph:
    """Give the steps other names, so that names say nothing about places."""
    ways: list[Way] = []
    for way in graph.ways:
        source = names.get(way.source, way.source)
        if isinstance(way, Plain):
            ways.append(Plain(source, names.get(way.target, way.target)))
        else:
            arms = tuple((route, tuple(names.get(target, target) for target in to)) for route, to in way.arms)
            ways.append(Routes(source, arms))
    return Graph(tuple(replace(step, name=names[step.name]) for step in graph.steps), tuple(ways))


def _dominators(names: list[str], into: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """Of each step in an order that runs forward: the steps on every way to it, itself included."""
    found: dict[str, set[str]] = {ENTRY: set()}
    for name in names:
        found[name] = set.intersection(*(found[source] for source in into[name])) | {name}
    return found
