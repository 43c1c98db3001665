"""Random programs: trees of function agents as plain data, and how one becomes a flow.

What a leaf does is a pure function of its name, its iterations and what it sees, so that a reader who runs the tree by
hand (see `interpreter.py`) and the scheduler must come to the same state::

    tree = random_tree(Random(7), depth=3)
    flow = Program(tree, seed=1).flow()
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count
from random import Random
from typing import Any, Literal
from zlib import crc32

from anyio import lowlevel

from graphflow import (
    PASS,
    ConditionalAgent,
    Context,
    Flow,
    FunctionAgent,
    Gate,
    Key,
    LoopAgent,
    Merge,
    Overwrite,
    ParallelAgent,
    SequentialAgent,
    key,
)

Mood = Literal["plain", "escalates", "fails", "halts"]
PLAIN = ("a", "b", "c", "d", "e")
MERGED = ("log", "bag", "total", "chain")
INPUTS = {"a": 2, "d": 1}


def chained(old: int, new: int) -> int:
    """A merge that depends on the order of updates."""
    return (old * 3 + new) % 1009


KEYS = [
    Key("b", int, default=1),
    Key("log", list[int], merge=Merge.append),
    Key("bag", list[int], default=[0], merge=Merge.extend),
    Key("total", int, merge=Merge.sum),
    Key("chain", int, merge=Merge.of(chained)),
]


@dataclass(frozen=True)
class Test:
    """`key op value`, over a plain key."""

    key: str
    op: Literal["eq", "lt", "exists"]
    value: int = 0

    def condition(self) -> Any:
        subject = key(self.key)
        return {"eq": subject == self.value, "lt": subject < self.value, "exists": subject.exists()}[self.op]


@dataclass(frozen=True)
class Leaf:
    name: str
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    may: tuple[str, ...] = ()
    mood: Mood = "plain"
    overwrites: bool = False
    mode: Literal["async", "inline"] = "async"
    irreversible: bool = False


@dataclass(frozen=True)
class Seq:
    name: str
    items: tuple[Tree, ...]


@dataclass(frozen=True)
class Par:
    name: str
    items: tuple[Tree, ...]


@dataclass(frozen=True)
class Loop:
    name: str
    items: tuple[Tree, ...]
    bound: int
    until: Test | None = None
    exit_key: str | None = None
    exhausted: Leaf | Literal["continue", "fail"] = "continue"


@dataclass(frozen=True)
class Cases:
    """`default`: a tree, None for PASS, "missing" for none at all."""

    name: str
    on: str
    arms: tuple[tuple[int, Tree | None], ...]
    default: Tree | Literal["missing"] | None = None


@dataclass(frozen=True)
class When:
    name: str
    test: Test
    then: Tree
    otherwise: Tree | None = None


@dataclass(frozen=True)
class Guard:
    name: str
    test: Test


Tree = Leaf | Seq | Par | Loop | Cases | When | Guard


def behaviour(leaf: Leaf, turns: tuple[int, ...], view: Mapping[str, object]) -> tuple[dict[str, object], bool]:
    """What a leaf writes when it sees this, and whether it does what its mood says."""
    digest = crc32(repr((leaf.name, turns, sorted(view.items()))).encode())
    written = [*leaf.writes, *(name for name in leaf.may if digest >> 3 & 1)]
    delta: dict[str, object] = {}
    for place, name in enumerate(written):
        number = (digest >> place) % 97
        value: object = number % 4 if name in PLAIN else [number] if name == "bag" else number
        if leaf.overwrites:
            value = Overwrite([number] if name == "log" else value)
        delta[name] = value
    return delta, (digest >> 5) % 3 == 0


@dataclass
class Program:
    """A tree with an order of completion.

    Attributes:
        seed: how often each body gives way before it acts; None for never, outside of an event loop.
        ran: what its bodies did, as (name, iterations).
    """

    tree: Tree
    seed: int | None = 0
    ran: list[tuple[str, tuple[int, ...]]] = field(default_factory=list)

    def flow(self) -> Flow:
        return Flow(self._agent(self.tree), inputs={"a": int, "d?": int}, keys=KEYS)

    def _agent(self, tree: Tree) -> Any:
        match tree:
            case Leaf():
                return self._leaf(tree)
            case Seq(name, items):
                return SequentialAgent(name, [self._agent(item) for item in items])
            case Par(name, items):
                return ParallelAgent(name, [self._agent(item) for item in items])
            case Loop():
                handler = self._leaf(tree.exhausted) if isinstance(tree.exhausted, Leaf) else tree.exhausted
                until = tree.until.condition() if tree.until else None
                return LoopAgent(
                    tree.name,
                    [self._agent(item) for item in tree.items],
                    max_iterations=tree.bound,
                    until=until,
                    exit_key=tree.exit_key,
                    on_exhausted=handler,
                )
            case Cases():
                return ConditionalAgent(
                    tree.name,
                    on=tree.on,
                    cases={value: self._agent(arm) if arm else PASS for value, arm in tree.arms},
                    default=None if tree.default == "missing" else self._agent(tree.default) if tree.default else PASS,
                )
            case When():
                otherwise = self._agent(tree.otherwise) if tree.otherwise else None
                then = self._agent(tree.then)
                return ConditionalAgent(tree.name, when=tree.test.condition(), then=then, otherwise=otherwise)
            case Guard():
                return Gate(tree.name, tree.test.condition())

    async def _pause(self, leaf: Leaf, ctx: Context) -> None:
        if self.seed is not None:
            for _ in range(crc32(f"{self.seed}{leaf.name}{ctx.iterations}".encode()) % 4):
                await lowlevel.checkpoint()

    def _leaf(self, leaf: Leaf) -> FunctionAgent:
        keys = [name.rstrip("?") for name in leaf.reads]

        def act(ctx: Context) -> tuple[dict[str, object], bool]:
            self.ran.append((leaf.name, ctx.iterations))
            view = {name: ctx.state[name] for name in keys if name in ctx.state}
            delta, moody = behaviour(leaf, ctx.iterations, view)
            for value in view.values():
                if isinstance(value, list):
                    value.append("changed in place")
            return delta, moody

        async def plain(ctx: Context) -> dict[str, object]:
            await self._pause(leaf, ctx)
            delta, moody = act(ctx)
            if moody and leaf.mood == "fails":
                raise ValueError(leaf.name)
            return delta

        def inline(ctx: Context) -> dict[str, object]:
            return act(ctx)[0]

        async def escalating(ctx: Context) -> dict[str, object]:
            await self._pause(leaf, ctx)
            delta, ctx.actions.escalate = act(ctx)
            return delta

        async def halting(ctx: Context) -> dict[str, object]:
            await self._pause(leaf, ctx)
            delta, moody = act(ctx)
            if moody:
                ctx.actions.halt = leaf.name
            return delta

        bodies = {"escalates": escalating, "halts": halting, "fails": plain}
        return FunctionAgent(
            name=leaf.name,
            func=bodies.get(leaf.mood, inline if leaf.mode == "inline" else plain),
            reads=list(leaf.reads),
            writes=list(leaf.writes),
            may_write=list(leaf.may),
            effect="irreversible" if leaf.irreversible else "none",
            blocking=False,
        )


def random_tree(random: Random, depth: int, *, tame: bool = False) -> Tree:
    """Draw a tree. A tame one neither fails nor halts on purpose."""
    return _Drawing(random, tame).tree(depth)


class _Drawing:
    def __init__(self, random: Random, tame: bool) -> None:
        self.random = random
        self.tame = tame
        self.numbers = count(1)

    def tree(self, depth: int) -> Tree:
        kinds = [self.leaf] if depth <= 0 or (depth <= 2 and self.chance(3)) else [self.seq, self.par, self.loop] * 2
        if depth > 0:
            kinds += [self.cases, self.when]
        if not self.tame and self.chance(4):
            kinds = [self.guard]
        return self.random.choice(kinds)(depth - 1)

    def name(self, kind: str) -> str:
        return f"{kind}{next(self.numbers)}"

    def chance(self, one_in: int) -> bool:
        return self.random.randrange(one_in) == 0

    def items(self, depth: int) -> tuple[Tree, ...]:
        return tuple(self.tree(depth) for _ in range(self.random.randint(1, 3)))

    def test(self) -> Test:
        op = self.random.choice(["eq", "lt", "lt", "exists"])
        keys = PLAIN if not self.tame and self.chance(4) else ("a", "b")
        return Test(self.random.choice(keys), op, self.random.randint(1, 3))

    def keys(self, most: int) -> tuple[str, ...]:
        return tuple(sorted(self.random.sample([*PLAIN, *MERGED * 3], self.random.randint(0, most))))

    def leaf(self, _: int) -> Leaf:
        reads = dict.fromkeys(self.keys(3))
        hard = ("a", "b", "bag") if self.tame or not self.chance(3) else (*PLAIN, *MERGED)
        writes = dict.fromkeys(self.keys(2))
        moods: list[Mood] = ["plain"] * 6 + ["escalates"] * 2 + ([] if self.tame else ["fails", "halts"])
        return Leaf(
            self.name("leaf"),
            tuple(name if name in hard else f"{name}?" for name in reads),
            tuple(writes),
            tuple(name for name in dict.fromkeys(self.keys(1)) if name not in writes),
            self.random.choice(moods),
            self.chance(6),
            self.random.choice(["async", "inline"]),
            self.chance(8),
        )

    def seq(self, depth: int) -> Seq:
        return Seq(self.name("seq"), self.items(depth))

    def par(self, depth: int) -> Par:
        return Par(self.name("par"), self.items(depth))

    def loop(self, depth: int) -> Loop:
        exhausted: Any = "continue" if self.tame or not self.chance(4) else "fail"
        return Loop(
            self.name("loop"),
            self.items(depth),
            self.random.randint(1, 3),
            self.test() if self.chance(2) else None,
            "how" if self.chance(4) else None,
            self.leaf(0) if self.chance(4) else exhausted,
        )

    def cases(self, depth: int) -> Cases:
        values = sorted(self.random.sample(range(4), self.random.randint(1, 2)))
        arms = tuple((value, None if self.chance(4) else self.tree(depth)) for value in values)
        default: Any = None if self.chance(2) else self.tree(depth)
        if not self.tame and self.chance(5):
            default = "missing"
        return Cases(self.name("cases"), self.test().key, arms, default)

    def when(self, depth: int) -> When:
        return When(self.name("when"), self.test(), self.tree(depth), self.tree(depth) if self.chance(2) else None)

    def guard(self, _: int) -> Guard:
        return Guard(self.name("guard"), self.test())
