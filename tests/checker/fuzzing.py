r"""Malformed programs of chance: odd names, templates, types, conditions, functions, edges and parameters, and odd graph texts.

A program here need not make any sense; `malformed_flow` gives whatever constructors let pass. What they refuse, they refuse
with a `TypeError`, and something else is drawn::

    malformed_flow(Random("0/17")).check()          # a Report, whatever was drawn
    malformed_text(Random("0/17"), print_graph(g))  # a text of a graph in which something was changed
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import math
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Annotated, Any, Generic, Literal, TypedDict, TypeVar

from pydantic import BaseModel

from graphflow import (
    DEFAULT_ROUTE,
    END,
    PASS,
    START,
    AskAgent,
    BaseAgent,
    ConditionalAgent,
    Context,
    Event,
    EventActions,
    Flatten,
    Flow,
    FunctionAgent,
    Gate,
    Key,
    LlmAgent,
    LoopAgent,
    MapAgent,
    Merge,
    ParallelAgent,
    RetryPolicy,
    SequentialAgent,
    SubFlow,
    UsageError,
    Workflow,
    key,
)
from graphflow.ir.graph import Graph

T = TypeVar("T")
LONG = "x" * 10_000
# fmt: off
NAMES = [
    *("a", "b", "c", "d", "e", "writer", "loop", "item", "a", "b"),
    *("", " ", "a b", "START", "END", "user", "a/b", "a#header", "#", "/", "@entry", "@exit", "out:a", "route:a"),
    *("in:a",),
    *("é", "名前", "\x00", "\n", "{a}", "1", "a.b", "a?", "user:x", "call:a", "__class__", "None", "\u202e", "-", LONG),
]
KEYS = [
    *("a", "b", "c", "k", "m", "item", "draft", "draaft", "user:tier", "app:limit", "temp:x", "message"),
    *("", "a?", "a.b", "user:", ":", "out:a", "route:b", "in:c", "a/b", "x/y/z", "\x00", "é", "{k}", "#", "1", LONG),
]
PIECES = [
    *("{a}", "{b?}", "{k}", "{m.x.y?}", "{user:tier}", "{item}", "Say {draft}.", "words of a prompt ", "\n", " "),
    *("12 EUR",),
    *("{", "}", "{{", "}}", "{{a}}", "${a}", "{ a }", "{a[0]}", "{a!r}", "{a:>10}", "{}", "{?}", "{.}", "{a.}"),
    *("{a b}", "{é}"),
    *('{"a": 1}', '{"a": {"b": [1, 2]}}', "p { color: red }", "{artifact.file}", "{temp:x?}", "state['a']"),
    *("the a key", "\\{a}"),
    *("\x00", "\ud800", "🙂", "\u202e", "{" * 40, "}" * 40, "{a}" * 200, LONG, "%s", "{a\n}", "{a?.b}", "{?a}"),
    *("{a??}", "{__x__}"),
]
VALUES: list[Any] = [
    *(None, True, False, 0, 1, -1, 2**70, 1.5, math.nan, math.inf, "", "a", "x", b"x", (), [], {}, set(), "\x00", LONG),
    *([1, "a", None], {"a": 1}, (1, 2), {1, "b"}, object, int, Ellipsis, NotImplemented, 1j, range(3), Path("x")),
]

# fmt: on


class Odd(enum.Enum):
    A = "a"
    B = 1


class Model(BaseModel):
    a: int = 0
    b: "Model | None" = None  # noqa: UP037 - a reference forward
    k: Annotated[list[str], Merge.extend] = []


class Typed(TypedDict, total=False):
    a: int
    b: Nowhere  # type: ignore[name-defined]  # noqa: F821


@dataclasses.dataclass
class Data:
    a: int = 1
    b: list[Data] = dataclasses.field(default_factory=list)


class Box(Generic[T]):
    content: T


# fmt: off
TYPES: list[Any] = [
    *(str, int, bool, float, Any, None, list[str], dict[str, int], Literal["a", "b"], Literal[1, True], int | None),
    *(Odd, Model),
    *(Typed, Data, Box[int], T, tuple[int, ...], set[str], Callable[[int], str], type[int], Annotated[int, "x"]),
    *(object, bytes),
    *("str", "Nowhere", "list[Nowhere]", 3, (), [], Literal[()], list, dict, frozenset[Data], complex),
    *(list["Model"], Exception),
]
# fmt: on


def _unread(ctx: Any) -> Any:
    return ctx.state[input()]


def _wide(*args: Any, **kwargs: Any) -> None:
    raise OSError


def _broken(a: Nowhere, b: list[Nope] = [], /, *, c: 3 = 4) -> Gone:  # noqa: B006, F821
    return a


def _generator(ctx: Any) -> Any:
    yield ctx


async def _waits(ctx: Context, k: list[str] | None = None) -> str:
    answer = await ctx.ask(f"{k}?")
    ctx.actions.escalate = answer == "x"
    return str(await ctx.step("s", len, answer))


def _recursive(ctx: Any) -> Any:
    ctx.route = ctx.state.get("a")
    ctx.state["b"] = _recursive(ctx)
    return {"a": 1, **ctx.state}


def _routes(a: str) -> list[Literal["a", "b"]]:
    return ["a"]


def _stops(ctx: Context) -> None:
    ctx.actions.halt = "no"
    for name in ("a", "b"):
        del ctx.state[name]


class _Callable:
    def __call__(self, a: int, ctx: Context) -> Odd:
        return Odd.A


class Own(BaseAgent):
    """Runs its children in some order."""

    child: Any = None

    async def run(self, ctx: Context) -> Any:
        self._seen = 1  # type: ignore[assignment]
        for each in self.sub_agents:
            await ctx.run(each)
        yield Event(actions=EventActions(state_delta={"a": 1, **ctx.state}, escalate=True))


# fmt: off
FUNCTIONS: list[Any] = [
    *(_unread, _wide, _broken, _generator, _waits, _recursive, _routes, _stops, _Callable(), _Callable, Own, Odd),
    *(Model,),
    *(len, print, dict, str.upper, "".join, math.sqrt, functools.partial(_routes, "a")),
    *(functools.partial(_wide, 1, x=2),),
    *(lambda: 1, lambda a, b=2: a, lambda ctx: {}, lambda *a: a, eval("lambda k, m: k")),
    *(lambda node_input, a: [a, node_input],),
]
# fmt: on
OPTIONS = ("description", "ignore", "retry", "timeout", "on_error", "estimate")
LEAVES = ("llm", "function", "gate", "ask", "base")


class Drawing:
    """Draws programs; agents may come out more than once.

    Args:
        random: where chance comes from.
    """

    def __init__(self, random: Random) -> None:
        self.random = random
        self.made: list[Any] = []

    def pick(self, options: Any) -> Any:
        return self.random.choice(options)

    def chance(self, one_in: int) -> bool:
        return self.random.randrange(one_in) == 0

    def some(self, draw: Callable[[], Any], most: int) -> list[Any]:
        return [draw() for _ in range(self.random.randint(0, most))]

    def name(self) -> str:
        return f"n{self.random.randrange(30)}" if self.random.randrange(4) else self.pick(NAMES)

    def key(self) -> str:
        return self.pick(KEYS[:6]) if self.random.randrange(4) else self.pick(KEYS)

    def template(self) -> str:
        return "".join(self.some(lambda: self.pick(PIECES), 6))

    def value(self) -> Any:
        return (
            self.pick(VALUES)
            if self.random.randrange(5)
            else self.pick([object(), lambda: 0, Model(), Odd.A, key("a")])
        )

    def condition(self, depth: int = 2) -> Any:
        while True:
            try:
                return self.test(depth)
            except (TypeError, UsageError):
                continue

    def test(self, depth: int) -> Any:
        if self.chance(6):
            return self.pick([*FUNCTIONS, *VALUES])
        if depth and self.chance(3):
            left, right = self.test(depth - 1), self.test(depth - 1)
            return self.pick([lambda: left & right, lambda: left | right, lambda: ~left])()
        ref: Any = key(self.key())
        for _ in range(self.pick([0, 0, 1, 2])):
            ref = ref.field(self.key())
        value = self.pick([self.value(), "a", key(self.key())])
        return self.pick(
            [
                *(
                    lambda: ref == value,
                    lambda: ref != value,
                    lambda: ref < value,
                    lambda: ref >= value,
                    lambda: ref.exists(),
                ),
                *(lambda: ref.in_(value), lambda: ref.not_in([value, 1]), lambda: ref.contains(value), lambda: ref),
                *(lambda: ref.matches(value), lambda: ref.len() > value, lambda: ref.matches("(a+)+$"), lambda: ~ref),
            ]
        )()

    def keys(self) -> Any:
        names = self.some(self.key, 3)
        return self.pick(
            [names, tuple(names), {name: self.pick(TYPES) for name in names}, self.key(), Typed, None, self.value()]
        )

    def parameters(self, fields: dict[str, Any]) -> dict[str, Any]:
        """Add options, and put odd values in the place of some."""
        for name in OPTIONS:
            if self.chance(8):
                fields[name] = self.option(name)
        for name in list(fields):
            if self.chance(25):
                fields[name] = self.pick([self.value, self.template, self.condition])()
        return fields

    def option(self, name: str) -> Any:
        match name:
            case "retry":
                return self.pick([1, 2, RetryPolicy(attempts=2), RetryPolicy(exceptions=(KeyError,)), 0])
            case "timeout" | "estimate":
                return self.pick([1, 0.5, 1e9, -1, math.nan])
            case "on_error":
                return self.pick([{}, {"a": 1}, {self.key(): self.value()}, self.agent(0), PASS])
            case "ignore":
                return self.pick([["GF203"], ["GF999"], ["x"], (), [LONG]])
        return self.template()

    def agent(self, depth: int) -> Any:
        """Draw an agent, at times one that stands elsewhere too."""
        if self.made and self.chance(12):
            return self.pick(self.made)
        kinds = [
            *LEAVES,
            "sequence",
            "parallel",
            "loop",
            "conditional",
            "map",
            "subflow",
            "custom",
            "workflow",
            "workflow",
        ]
        for _ in range(20):
            kind = self.pick(kinds if depth > 0 else LEAVES)
            try:
                made = getattr(self, f"_{kind}")(depth - 1)
            except TypeError:
                continue
            self.made.append(made)
            return made
        return FunctionAgent("plain", dict)

    def agents(self, depth: int) -> list[Any]:
        return self.some(lambda: self.agent(depth), 4)

    def _llm(self, _: int) -> Any:
        fields = {"name": self.name(), "instruction": self.template(), "prompt": self.pick([None, self.template()])}
        if self.random.randrange(3):
            fields |= {"output_key": self.key()}
        if self.chance(3):
            fields |= {"output_schema": self.pick(TYPES)}
        if self.chance(3):
            fields |= {
                "tools": self.some(lambda: self.pick(FUNCTIONS), 3),
                "model": self.pick(["gemini", "gpt-4", "", LONG]),
            }
        return LlmAgent(**self.parameters(fields))

    def _function(self, _: int) -> Any:
        fields = {"name": self.name(), "func": self.pick(FUNCTIONS), "reads": self.keys(), "writes": self.keys()}
        fields |= {"may_write": self.keys(), "effect": self.pick(["none", "idempotent", "irreversible"])}
        kept = {name: value for name, value in fields.items() if name == "func" or self.random.randrange(4)}
        return FunctionAgent(**self.parameters(kept))

    def _gate(self, _: int) -> Any:
        return Gate(**self.parameters({"name": self.name(), "require": self.condition(), "reason": self.template()}))

    def _ask(self, _: int) -> Any:
        fields = {
            "name": self.name(),
            "prompt": self.template(),
            "output_key": self.key(),
            "output_schema": self.pick(TYPES),
        }
        return AskAgent(**self.parameters(fields))

    def _base(self, _: int) -> Any:
        fields = {"name": self.name(), "reads": self.keys(), "writes": self.keys(), "halts": self.pick([None, True])}
        return self.pick([BaseAgent, Own])(**self.parameters(fields))

    def _sequence(self, depth: int) -> Any:
        return SequentialAgent(**self.parameters({"name": self.name(), "sub_agents": self.agents(depth)}))

    def _parallel(self, depth: int) -> Any:
        fields = {
            "name": self.name(),
            "sub_agents": self.agents(depth),
            "join": self.pick([None, None, "any", 1, 2, 99]),
        }
        fields |= {"max_concurrency": self.pick([None, 1, 2])} | ({"on_error": "collect"} if self.chance(3) else {})
        return ParallelAgent(**self.parameters(fields))

    def _loop(self, depth: int) -> Any:
        fields = {
            "name": self.name(),
            "sub_agents": self.agents(depth),
            "max_iterations": self.pick([None, 0, 1, 3, -5, 2**70]),
        }
        fields |= {"until": self.condition(), "exit_key": self.key()} if self.chance(2) else {}
        fields |= {"on_exhausted": self.pick(["fail", "continue", self.agent(0)])} if self.chance(3) else {}
        return LoopAgent(**self.parameters(fields))

    def _conditional(self, depth: int) -> Any:
        if self.chance(2):
            fields = {
                "when": self.condition(),
                "then": self.agent(depth),
                "otherwise": self.pick([None, PASS, self.agent(depth)]),
            }
        else:
            cases = {case: self.agent(depth) for case in self.some(self.hashable, 4)}
            fields = {
                "on": self.pick([self.key(), self.condition(0)]),
                "cases": cases,
                "default": self.pick([None, PASS]),
            }
        return ConditionalAgent(**self.parameters({"name": self.name(), **fields}))

    def hashable(self) -> Any:
        value = self.pick([*VALUES, Odd.A, Odd.B, "a", "b", "default", "next", "error"])
        try:
            hash(value)
        except TypeError:
            return "unhashable"
        return value

    def _map(self, depth: int) -> Any:
        over = self.pick([self.key(), key("a").field("b"), self.condition(0)])
        collect = {self.key(): self.pick([self.key(), Flatten("a")]) for _ in range(self.random.randint(0, 2))}
        fields = {"name": self.name(), "over": over, "agent": self.agent(depth), "collect": collect}
        fields |= {"item": self.key()} if self.chance(2) else {}
        fields |= {"index": self.key(), "on_error": self.pick(["collect", "fail", {"a": 1}])} if self.chance(2) else {}
        return MapAgent(**self.parameters(fields))

    def _subflow(self, depth: int) -> Any:
        names = {self.key(): self.key() for _ in range(2)}
        fields = {
            "name": self.name(),
            "flow": self.flow(depth),
            "inputs": self.pick([names, list(names), {}]),
            "outputs": names,
        }
        return SubFlow(**self.parameters(fields))

    def _custom(self, depth: int) -> Any:
        fields = {
            "name": self.name(),
            "sub_agents": self.agents(depth),
            "child": self.agent(depth),
            "writes": self.keys(),
        }
        return Own(**self.parameters(fields))

    def _workflow(self, depth: int) -> Any:
        nodes = [*self.some(lambda: self.agent(depth), 5), *self.some(lambda: self.pick(FUNCTIONS), 2), self.agent(0)]
        points = [*nodes, *nodes, START, END, *self.some(self.name, 1)]

        def point() -> Any:
            if self.chance(4):
                routes = self.some(self.hashable, 3)
                return {route: self.pick(points) for route in [*routes, self.pick([DEFAULT_ROUTE, "a"])]}
            if self.chance(5):
                return tuple(self.some(lambda: self.pick(points), 3))
            return self.pick(points)

        chains = [(START, self.pick(nodes))] if self.random.randrange(8) else []
        chains += [tuple(self.some(point, 4)) for _ in range(self.random.randint(0, 6))]
        chains += [(self.pick(nodes), point()) for _ in range(self.random.randint(0, 6))]
        return Workflow(**self.parameters({"name": self.name(), "edges": chains}))

    def flow(self, depth: int) -> Flow:
        """Draw a flow."""
        for _ in range(50):
            fields: dict[str, Any] = {"inputs": self.interface(), "outputs": self.interface()}
            fields |= {"keys": self.some(self.declaration, 3), "persist": self.some(self.key, 1)}
            fields |= {"state": self.pick([Model, Model, None, Typed, int])} if self.chance(4) else {}
            try:
                return Flow(
                    self.agent(depth), **{name: value for name, value in fields.items() if self.random.randrange(3)}
                )
            except TypeError:
                continue
        return Flow(self.agent(depth))

    def interface(self) -> Any:
        names = [f"{name}?" if self.chance(4) else name for name in self.some(self.key, 4)]
        types = [self.pick([*TYPES, (self.pick(TYPES), self.value())]) for _ in names]
        return self.pick([names, dict(zip(names, types, strict=True)), {}, [], None, self.value()])

    def declaration(self) -> Any:
        merges = [Merge.append, Merge.extend, Merge.sum, Merge.max, Merge.union, Merge.last, lambda a, b: a, None, None]
        try:
            return Key(
                self.key(), self.pick(TYPES), default=self.value(), merge=self.pick(merges), persist=self.chance(3)
            )
        except TypeError:
            return Key("k", str)


def malformed_flow(random: Random) -> Flow:
    """Draw a program that constructors let pass."""
    return Drawing(random).flow(3)


WORDS = [
    "edge",
    "region",
    "reads",
    "writes",
    "->",
    "back",
    "next",
    "escalate",
    "#",
    "@entry",
    "@exit",
    "topic",
    "1",
    "None",
    '"',
]


def malformed_graph(random: Random, graph: Graph) -> Graph:
    """Change some edges, contracts and fields of a graph; what comes of it need not keep the invariants."""
    for _ in range(random.randint(1, 3)):
        edges, nodes = list(graph.edges), dict(graph.nodes)
        name, other = random.choice(list(nodes)), random.choice(list(nodes))
        node = nodes[name]
        if not edges:
            return graph
        place = random.randrange(len(edges))
        edge = edges[place]
        match random.randrange(9):
            case 0:
                edges[place] = dataclasses.replace(edge, target=other)
            case 1:
                edges[place] = dataclasses.replace(edge, source=other)
            case 2:
                labels = [
                    "next",
                    "body",
                    "exit",
                    "error",
                    "escalate",
                    "default",
                    "empty",
                    "x",
                    random.choice(edges).label,
                ]
                edges[place] = dataclasses.replace(edge, label=random.choice(labels))
            case 3:
                edges[place] = dataclasses.replace(edge, back=not edge.back)
            case 4:
                edges.append(dataclasses.replace(edge, target=other, back=random.random() < 0.3))
            case 5:
                del edges[place]
            case 6:
                nodes[name] = dataclasses.replace(node, contract=nodes[other].contract)
            case 7:
                reads, writes = node.contract.reads[1:], nodes[other].contract.writes[:1]
                nodes[name] = dataclasses.replace(
                    node, contract=dataclasses.replace(node.contract, reads=reads, writes=writes)
                )
            case _:
                fields = [field.name for field in dataclasses.fields(node) if field.name not in ("id", "region")]
                taken = random.choice(fields)
                like = [each for each in nodes.values() if type(each) is type(node)]
                nodes[name] = dataclasses.replace(node, **{taken: getattr(random.choice(like), taken)})
        graph = dataclasses.replace(graph, nodes=nodes, edges=tuple(edges), state=())
    return graph


def malformed_text(random: Random, text: str) -> str:
    """Change something in the text of a graph: lines, words or characters go, come twice or change places."""
    lines = text.splitlines()
    for _ in range(random.randint(1, 4)):
        place = random.randrange(len(lines))
        words = lines[place].split(" ")
        match random.randrange(7):
            case 0 if len(lines) > 2:
                del lines[place]
            case 1:
                lines.insert(random.randrange(len(lines) + 1), lines[place])
            case 2:
                other = random.randrange(len(lines))
                lines[place], lines[other] = lines[other], lines[place]
            case 3:
                words[random.randrange(len(words))] = random.choice([*WORDS, *random.choice(lines).split(" ")])
                lines[place] = " ".join(words)
            case 4:
                del words[random.randrange(len(words))]
                lines[place] = " ".join(words)
            case 5:
                words.insert(random.randrange(len(words) + 1), random.choice(WORDS))
                lines[place] = " ".join(words)
            case _ if lines[place]:
                at = random.randrange(len(lines[place]))
                lines[place] = lines[place][:at] + random.choice("x{}#/:?.\x00\"'é ") + lines[place][at + 1 :]
    return "\n".join(lines) + "\n"
