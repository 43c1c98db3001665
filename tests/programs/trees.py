"""Random programs: trees of agents as plain data, and how one becomes a flow.

What a leaf does is a pure function of its name, its turns and what it sees, so that a reader who runs the tree by
hand (see `interpreter.py`) and the scheduler must come to the same state::

    tree = random_tree(Random(7), depth=3)
    flow = Program(tree, seed=1).flow()
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from zlib import crc32

from anyio import lowlevel

from graphflow import (
    PASS,
    AskAgent,
    ConditionalAgent,
    Context,
    Flatten,
    Flow,
    FunctionAgent,
    Gate,
    LoopAgent,
    MapAgent,
    ParallelAgent,
    RetryPolicy,
    SequentialAgent,
    SubFlow,
    key,
)
from tests.programs.growing import random_tree
from tests.programs.kinds import (
    INPUTS,
    KEYS,
    MERGED,
    PLAIN,
    Ask,
    Call,
    Cases,
    Guard,
    Leaf,
    Leave,
    Loop,
    Map,
    Own,
    Par,
    Seq,
    Sub,
    Test,
    Tree,
    Tried,
    When,
    behaviour,
    chained,
    seen,
)
from tests.programs.scripts import Scripted, keys_of

__all__ = [
    "INPUTS",
    "KEYS",
    "MERGED",
    "PLAIN",
    "Cases",
    "Guard",
    "Leaf",
    "Loop",
    "Par",
    "Program",
    "Seq",
    "Test",
    "Tree",
    "When",
    "behaviour",
    "chained",
    "random_tree",
]
GIVEN = {"a": int, "d?": int, "few?": list[int], "box?": dict}


@dataclass
class Program:
    """A tree with an order of completion.

    Attributes:
        seed: how often each body gives way before it acts; None for never, outside of an event loop.
        ran: what its bodies did, as (name, turns, attempt).
        steps: the steps that its custom agents did, as (name, turns, attempt, place in the script).
    """

    tree: Tree
    seed: int | None = 0
    ran: list[tuple[str, tuple[int, ...], int]] = field(default_factory=list)
    steps: list[tuple[str, tuple[int, ...], int, int]] = field(default_factory=list)

    def flow(self) -> Flow:
        return self._flow(self.tree)

    @cached_property
    def whole(self) -> Flow:
        """The flow, made once."""
        return self.flow()

    def _flow(self, tree: Tree) -> Flow:
        return Flow(self._agent(tree), inputs=GIVEN, keys=KEYS)

    def _agent(self, tree: Tree, **guard: Any) -> Any:
        match tree:
            case Tried():
                return self._agent(tree.inner, **self._guard(tree))
            case Leaf():
                return self._leaf(tree, **guard)
            case Ask(name, about, to):
                return AskAgent(name, f"how about {{{about}}}?", to, output_schema=int, **guard)
            case Par() | Map():
                return self._side_by_side(tree, **guard)
            case Own():
                return self._own(tree, **guard)
            case Sub():
                return SubFlow(
                    tree.name, self._flow(tree.body), inputs=dict(tree.inputs), outputs=dict(tree.outputs), **guard
                )
            case _:
                return self._in_order(tree, **guard)

    def _guard(self, tried: Tried) -> dict[str, Any]:
        policy = RetryPolicy(attempts=tried.attempts, backoff=0, jitter=0) if tried.attempts > 1 else None
        handler: Any = tried.handler
        if handler is not None:
            handler = dict(handler) if isinstance(handler, tuple) else self._agent(handler)
        return {name: value for name, value in {"retry": policy, "on_error": handler}.items() if value is not None}

    def _in_order(self, tree: Seq | Loop | Cases | When | Guard, **guard: Any) -> Any:
        match tree:
            case Seq(name, items):
                return SequentialAgent(name, [self._agent(item) for item in items], **guard)
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
                    **guard,
                )
            case Cases():
                return ConditionalAgent(
                    tree.name,
                    on=tree.on,
                    cases={value: self._agent(arm) if arm else PASS for value, arm in tree.arms},
                    default=None if tree.default == "missing" else self._agent(tree.default) if tree.default else PASS,
                    **guard,
                )
            case When():
                otherwise = self._agent(tree.otherwise) if tree.otherwise else None
                then = self._agent(tree.then)
                return ConditionalAgent(tree.name, when=tree.test.condition(), then=then, otherwise=otherwise, **guard)
            case Guard():
                return Gate(tree.name, tree.test.condition(), **guard)

    def _side_by_side(self, tree: Par | Map, **guard: Any) -> Any:
        if tree.collects:
            guard["on_error"] = "collect"
        if isinstance(tree, Par):
            branches = [self._agent(item) for item in tree.items]
            return ParallelAgent(tree.name, branches, join=tree.need, max_concurrency=tree.cap, **guard)
        over, _, path = tree.over.partition(".")
        return MapAgent(
            tree.name,
            over=key(over).field(path) if path else over,
            agent=self._agent(tree.body),
            collect={inner: Flatten(outer) if joined else outer for inner, outer, joined in tree.lists},
            index="index" if tree.index else None,
            max_concurrency=tree.cap,
            **guard,
        )

    def _own(self, own: Own, **guard: Any) -> Scripted:
        reads, writes = keys_of(own.script)
        leaves = any(isinstance(op, Leave) or (isinstance(op, Call) and op.forward) for op in own.script)
        return Scripted(
            name=own.name,
            sub_agents=[self._agent(child) for child in own.children],
            script=own.script,
            steps=self.steps,
            reads=[f"{name}?" for name in reads],
            writes=[],
            may_write=writes,
            escalates=leaves,
            **guard,
        )

    async def _pause(self, leaf: Leaf, ctx: Context) -> None:
        if self.seed is not None:
            for _ in range(crc32(f"{self.seed}{leaf.name}{ctx.turns}".encode()) % 4):
                await lowlevel.checkpoint()

    def _leaf(self, leaf: Leaf, **guard: Any) -> FunctionAgent:
        keys = [name.rstrip("?") for name in leaf.reads]

        def act(ctx: Context) -> tuple[dict[str, object], bool]:
            self.ran.append((leaf.name, ctx.turns, ctx.attempt))
            view = {name: ctx.state[name] for name in keys if name in ctx.state}
            delta, moody = behaviour(leaf, ctx.turns, {name: seen(view[name]) for name in view}, ctx.attempt)
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
            **guard,
        )
