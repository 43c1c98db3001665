"""A custom agent whose code is data: one thing after another, as its script says.

::

    Scripted(name="own1", sub_agents=[child], script=(Call(0, caught="c"), Put("e", 3)), steps=[])
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any
from zlib import crc32

import anyio

from graphflow import BaseAgent, Context, Event, EventActions
from tests.programs.kinds import Call, Leave, Once, Op, Put, Query, Together, number_for, written


def putting(put: Put, old: object) -> object:
    """What a `Put` writes where `put.of` has this value, None where it has none."""
    return written(put.key, put.number + (old if isinstance(old, int) else 0))


def catching(key: str, error: str) -> object:
    """What is written when a failure of this kind was caught."""
    return written(key, crc32(error.encode()) % 97)


class Scripted(BaseAgent):
    """Does what its script says. `steps` is told each step that is really done."""

    script: tuple[Any, ...] = ()
    steps: Any = None

    async def run(self, ctx: Context) -> AsyncIterator[Event]:
        for place, op in enumerate(self.script):
            async for event in self._do(ctx, place, op):
                yield event

    async def _do(self, ctx: Context, place: int, op: Op) -> AsyncIterator[Event]:
        match op:
            case Call():
                async for event in self._call(ctx, op):
                    yield event
            case Together(children=children):
                await self._both(ctx, children)
            case Put(key=key, direct=True):
                ctx.state[key] = putting(op, ctx.state.get(op.of) if op.of else None)
            case Put(key=key):
                yield _wrote(key, putting(op, ctx.state.get(op.of) if op.of else None))
            case Once(key=key):
                yield _wrote(key, written(key, await ctx.step(f"step {place}", self._step, ctx, place)))
            case Query(key=key):
                yield _wrote(key, written(key, await ctx.ask(f"what {place}", int)))
            case Leave():
                yield Event(actions=EventActions(escalate=True))

    async def _call(self, ctx: Context, op: Call) -> AsyncIterator[Event]:
        child = self.sub_agents[op.child]
        try:
            if op.forward:
                async for event in ctx.run(child):
                    yield event
            else:
                await ctx.run(child)
        except Exception as error:
            if op.caught is None:
                raise
            yield _wrote(op.caught, catching(op.caught, type(error).__name__))

    async def _both(self, ctx: Context, children: tuple[int, int]) -> None:
        failures: dict[int, Exception] = {}
        running = [aiter(ctx.run(self.sub_agents[child])) for child in children]

        async def one(place: int) -> None:
            try:
                async for _ in running[place]:
                    pass
            except Exception as error:  # noqa: BLE001 - raised below
                failures[place] = error

        async with anyio.create_task_group() as group:
            group.start_soon(one, 0)
            group.start_soon(one, 1)
        if failures:
            raise failures[min(failures)]

    async def _step(self, ctx: Context, place: int) -> int:
        await anyio.lowlevel.checkpoint()
        self.steps.append((self.name, ctx.turns, ctx.attempt, place))
        return number_for(self.name, ctx.turns, place)


def _wrote(key: str, value: object) -> Event:
    return Event(actions=EventActions(state_delta={key: value}))


def keys_of(script: tuple[Op, ...]) -> tuple[list[str], list[str]]:
    """The keys that a script reads and those that it may write."""
    reads = {op.of for op in script if isinstance(op, Put) and op.of}
    puts = {op.key for op in script if isinstance(op, (Put, Once, Query))}
    return sorted(reads), sorted(puts | {op.caught for op in script if isinstance(op, Call) and op.caught})
