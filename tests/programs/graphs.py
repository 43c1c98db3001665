"""Random free-form graphs as plain data, and how one becomes a flow.

A graph is a list of steps (nodes) and a list of ways (edges): plain ones, and routing dicts with several targets for one
route. What a step does is a pure function of its name, its iterations and what it sees, so a reader who contracts the loops
by hand (see `contracting.py`) and the scheduler must come to the same state::

    graph = random_graph(Random(7))
    flow = GraphProgram(graph, seed=1).flow()
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, Literal
from zlib import crc32

from anyio import lowlevel

from graphflow import DEFAULT_ROUTE, END, START, Context, Flow, FunctionAgent, Overwrite, Workflow
from tests.programs.trees import KEYS, MERGED, PLAIN

ENTRY, FINISH = "START", "END"
DEFAULT = "DEFAULT"
Route = str | int
Mood = Literal["plain", "fails", "halts", "escalates", "strays", "forgets"]
Chooses = Literal["nothing", "sets", "returns", "several", "key"]
PATIENCE = 3
"""The iteration from which on a step takes its calm route."""


@dataclass(frozen=True)
class Step:
    """One node.

    Attributes:
        name: name of its agent.
        reads: keys, `k?` for an optional read.
        writes: keys that it surely writes.
        may: keys that it may write.
        mood: what it does at times besides writing; "strays" writes outside its contract, "forgets" leaves a write out.
        overwrites: it replaces what merge keys have.
        chooses: how it gives its route: not at all, by `ctx.route`, by what it returns, several at once by a list that it
            returns, by the value of the one key it writes.
        routes: what it chooses from.
        calm: what it chooses in late iterations, None for as ever.
    """

    name: str
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    may: tuple[str, ...] = ()
    mood: Mood = "plain"
    overwrites: bool = False
    chooses: Chooses = "nothing"
    routes: tuple[Route, ...] = ()
    calm: Route | None = None


@dataclass(frozen=True)
class Plain:
    """An edge that always fires."""

    source: str
    target: str


@dataclass(frozen=True)
class Routes:
    """A routing dict: route -> targets, in order; DEFAULT is what is left."""

    source: str
    arms: tuple[tuple[Route, tuple[str, ...]], ...]


Way = Plain | Routes


@dataclass(frozen=True)
class Graph:
    """A free-form graph. Steps stand in the order in which the ways first name them."""

    steps: tuple[Step, ...]
    ways: tuple[Way, ...]


@dataclass(frozen=True)
class Done:
    """What a step does: its writes, the routes it chose, and whether it acts on its mood."""

    delta: dict[str, object]
    routes: tuple[Route, ...]
    moody: bool


def behaviour(step: Step, turns: tuple[int, ...], view: Mapping[str, object]) -> Done:
    """What a step does when it sees this."""
    digest = crc32(repr((step.name, turns, sorted(view.items()))).encode())
    written = [*step.writes, *(name for name in step.may if digest >> 3 & 1)]
    delta: dict[str, object] = {}
    for place, name in enumerate(written):
        number = (digest >> place) % 97
        value: object = number % 4 if name in PLAIN else [number] if name == "bag" else number
        if step.overwrites:
            value = Overwrite([number] if name == "log" else value)
        delta[name] = value
    late = step.calm is not None and bool(turns) and turns[-1] >= PATIENCE
    routes: tuple[Route, ...] = ()
    if step.chooses != "nothing":
        routes = (step.calm,) if late and step.calm is not None else (step.routes[digest // 7 % len(step.routes)],)
    if step.chooses == "several" and not late:
        routes = tuple(route for place, route in enumerate(step.routes) if digest >> (4 + place) & 1)
    if step.chooses == "key":
        delta[step.writes[0]] = routes[0]
    return Done(delta, routes, (digest >> 5) % 3 == 0)


@dataclass
class GraphProgram:
    """A graph with an order of completion.

    Attributes:
        seed: how often each body gives way before it acts; None for never, outside of an event loop.
        ran: what its bodies did, as (name, iterations).
    """

    graph: Graph
    seed: int | None = 0
    ran: list[tuple[str, tuple[int, ...]]] = field(default_factory=list)

    def flow(self) -> Flow:
        return Flow(self.workflow(), inputs={"a": int, "d?": int}, keys=KEYS)

    def workflow(self, name: str = "flow") -> Workflow:
        agents: dict[str, Any] = {step.name: self._agent(step) for step in self.graph.steps}
        agents |= {ENTRY: START, FINISH: END}
        edges: list[Any] = []
        for way in self.graph.ways:
            if isinstance(way, Plain):
                edges.append((agents[way.source], agents.get(way.target, way.target)))
                continue
            arms: dict[Any, Any] = {}
            for route, targets in way.arms:
                found = tuple(agents.get(target, target) for target in targets)
                arms[DEFAULT_ROUTE if route == DEFAULT else route] = found[0] if len(found) == 1 else found
            edges.append((agents[way.source], arms))
        return Workflow(name, edges=edges)

    async def _pause(self, step: Step, ctx: Context) -> None:
        if self.seed is not None:
            for _ in range(crc32(f"{self.seed}{step.name}{ctx.iterations}".encode()) % 4):
                await lowlevel.checkpoint()

    def _act(self, step: Step, ctx: Context) -> Done:
        self.ran.append((step.name, ctx.iterations))
        keys = [name.rstrip("?") for name in step.reads]
        done = behaviour(step, ctx.iterations, {name: ctx.state[name] for name in keys if name in ctx.state})
        if done.moody and step.mood == "fails":
            raise ValueError(step.name)
        if done.moody and step.mood == "halts":
            ctx.actions.halt = step.name
        if done.moody and step.mood == "escalates":
            ctx.actions.escalate = True
        if done.moody and step.mood == "strays":
            ctx.state.delta["elsewhere"] = 1
        if done.moody and step.mood == "forgets" and done.delta:
            done.delta.popitem()
        return done

    def _agent(self, step: Step) -> FunctionAgent:
        async def plain(ctx: Context) -> dict[str, object]:
            await self._pause(step, ctx)
            return self._act(step, ctx).delta

        async def setting(ctx: Context) -> dict[str, object]:
            await self._pause(step, ctx)
            done = self._act(step, ctx)
            ctx.route = done.routes[0]
            return done.delta

        async def returning(ctx: Context) -> str:
            await self._pause(step, ctx)
            return str(self._act(step, ctx).routes[0])

        async def several(ctx: Context) -> list[str]:
            await self._pause(step, ctx)
            return [str(route) for route in self._act(step, ctx).routes]

        bodies: dict[str, Any] = {"nothing": plain, "key": plain, "sets": setting}
        bodies |= {"returns": returning, "several": several}
        return FunctionAgent(
            name=step.name,
            func=bodies[step.chooses],
            reads=list(step.reads),
            writes=list(step.writes),
            may_write=list(step.may),
            blocking=False,
        )


# --- drawing --------------------------------------------------------------------------------------------------


def random_graph(random: Random, *, tame: bool = False, most: int = 8) -> Graph:
    """Draw a graph that mostly makes sense; ask `loops.sound` whether it does.

    Args:
        random: the source of chance.
        tame: no step fails or halts on purpose, and no route is unknown.
        most: about the most steps.
    """
    drawing = _Drawing(random, tame)
    return drawing.blocks(most) if random.randrange(4) else drawing.natural(random.randint(1, most))


def odd_graph(random: Random, *, most: int = 6) -> Graph:
    """Draw a graph that need not make sense: cycles with two entries, steps that nothing reaches, unknown targets."""
    return _Drawing(random, tame=False, odd=True).any(random.randint(1, most))


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

    def any(self, count: int) -> Graph:
        for _ in range(count):
            self.name()
        sources = [ENTRY, *self.names]
        for name in self.names:
            if not self.chance(8):
                self.targets[self.random.choice(sources)].append((name, "any"))
        self.targets[ENTRY] = self.targets[ENTRY] or [(self.names[0], "any")]
        for _ in range(self.random.randint(0, count + 1)):
            target = "nobody" if self.chance(15) else self.random.choice([*self.names, FINISH])
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
