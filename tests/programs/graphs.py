"""Random free-form graphs as plain data, and how one becomes a flow.

A graph is a list of steps (nodes) and a list of ways (edges): plain ones, and routing dicts with several targets for one
route. What a step does is a pure function of its name, its iterations and what it sees, so a reader who contracts the loops
by hand (see `contracting.py`) and the scheduler must come to the same state::

    graph = random_graph(Random(7))      # of drawing.py
    flow = GraphProgram(graph, seed=1).flow()
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal
from zlib import crc32

from anyio import lowlevel

from graphflow import DEFAULT_ROUTE, END, START, Context, EventActions, Flow, FunctionAgent, Overwrite, Workflow
from tests.programs.trees import KEYS, PLAIN

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


def behaviour(step: Step, turns: tuple[int, ...], view: Mapping[str, object], salt: int = 0) -> Done:
    """What a step does when it sees this."""
    digest = crc32(repr((salt, step.name, turns, sorted(view.items()))).encode())
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
        salt: another one makes its steps behave otherwise.
        seed: how often each body gives way before it acts; None for never, outside of an event loop.
        ran: what its bodies did, as (name, iterations).
    """

    graph: Graph
    seed: int | None = 0
    salt: int = 0
    ran: list[tuple[str, tuple[int, ...]]] = field(default_factory=list)

    def flow(self) -> Flow:
        return Flow(self.workflow(), inputs={"a": int, "d?": int}, keys=KEYS)

    def workflow(
        self, name: str = "flow", *, names: Mapping[str, str] | None = None, inside: Mapping[str, Any] | None = None
    ) -> Workflow:
        """Make the agent: `names` are other names for steps, `inside` has agents that take the place of steps."""
        names, inside = names or {}, inside or {}
        steps = {step.name: replace(step, name=names.get(step.name, step.name)) for step in self.graph.steps}
        agents: dict[str, Any] = {key: inside.get(key) or self._agent(step) for key, step in steps.items()}
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

    async def _pause(self, step: Step, turns: tuple[int, ...]) -> None:
        if self.seed is not None:
            for _ in range(crc32(f"{self.seed}{step.name}{turns}".encode()) % 4):
                await lowlevel.checkpoint()

    async def _act(self, step: Step, turns: tuple[int, ...], state: Any, actions: EventActions) -> Done:
        """Do what the step does. It is not given the context: that would say that any route may be set."""
        await self._pause(step, turns)
        self.ran.append((step.name, turns))
        keys = [name.rstrip("?") for name in step.reads]
        done = behaviour(step, turns, {name: state[name] for name in keys if name in state}, self.salt)
        if done.moody and step.mood == "fails":
            raise ValueError(step.name)
        if done.moody and step.mood == "halts":
            actions.halt = step.name
        if done.moody and step.mood == "escalates":
            actions.escalate = True
        if done.moody and step.mood == "strays":
            state.delta["elsewhere"] = 1
        if done.moody and step.mood == "forgets" and done.delta and step.chooses != "key":
            done.delta.popitem()
        return done

    def _agent(self, step: Step) -> FunctionAgent:
        async def plain(ctx: Context) -> dict[str, object]:
            return (await self._act(step, ctx.iterations, ctx.state, ctx.actions)).delta

        async def setting(ctx: Context) -> dict[str, object]:
            done = await self._act(step, ctx.iterations, ctx.state, ctx.actions)
            ctx.route = done.routes[0]
            return done.delta

        async def returning(ctx: Context) -> str:
            return str((await self._act(step, ctx.iterations, ctx.state, ctx.actions)).routes[0])

        async def several(ctx: Context) -> list[str]:
            """Its use of the context is spelled out, so that its source says that it sets no route but by returning."""
            get = dict[str, object]()
            get |= {"a": ctx.state.get("a"), "b": ctx.state.get("b"), "c": ctx.state.get("c"), "d": ctx.state.get("d")}
            get |= {"e": ctx.state.get("e"), "log": ctx.state.get("log"), "bag": ctx.state.get("bag")}
            get |= {"total": ctx.state.get("total"), "chain": ctx.state.get("chain")}
            state = {key: value for key, value in get.items() if value is not None}
            return [str(route) for route in (await self._act(step, ctx.iterations, state, EventActions())).routes]

        async def keyed(ctx: Context) -> object:
            return (await self._act(step, ctx.iterations, ctx.state, ctx.actions)).delta[step.writes[0]]

        bodies: dict[str, Any] = {"nothing": plain, "key": keyed, "sets": setting}
        bodies |= {"returns": returning, "several": several}
        return FunctionAgent(
            name=step.name,
            func=bodies[step.chooses],
            reads=list(step.reads),
            writes=step.writes[0] if step.chooses == "key" else list(step.writes),
            may_write=list(step.may),
            blocking=False,
        )
