"""Stages for programs that are written by hand: one that works, one that fails, one that never ends.

::

    flow = Flow(SequentialAgent("s", [step("one"), failing("two", until=2, retry=TWICE)]), inputs={})
    (await outcome(flow)).state        # {"one": "one", "two": 2}
"""

from __future__ import annotations

from typing import Any

import anyio

from graphflow import Context, Flow, FunctionAgent, Key, Merge, Result, RetryPolicy, RunFailed

LOG = Key("log", list[str], default=[], merge=Merge.append)
TWICE = RetryPolicy(attempts=2, backoff=0, jitter=0)


def step(name: str, **options: Any) -> FunctionAgent:
    """A stage that writes its name to the key of that name."""
    return FunctionAgent(name=name, func=lambda ctx: {name: name}, reads=[], writes=[name], blocking=False, **options)


def failing(name: str, *, until: int = 99, **options: Any) -> FunctionAgent:
    """A stage that fails in the attempts before this one."""

    def run(ctx: Context) -> dict[str, object]:
        if ctx.attempt < until:
            raise OSError(f"{name} {ctx.attempt}")
        return {name: ctx.attempt}

    return FunctionAgent(name=name, func=run, reads=[], writes=[name], blocking=False, **options)


def stuck(name: str, **options: Any) -> FunctionAgent:
    """A stage that never ends by itself."""

    async def run(ctx: Context) -> dict[str, object]:
        await anyio.sleep_forever()
        return {}

    return FunctionAgent(name=name, func=run, reads=[], writes=[name], **options)


async def outcome(flow: Flow, inputs: dict[str, object] | None = None, **options: Any) -> Result:
    """Run a flow whatever the check says; a failed run gives its result too."""
    try:
        with anyio.fail_after(20):
            return await flow.run(inputs or {}, check="off", **options)
    except RunFailed as failure:
        return failure.result


def told(result: Result, *kinds: str) -> list[tuple[str, str, int]]:
    """Kind, agent and attempt of the events of these kinds."""
    return [(e.kind, e.author, e.attempt) for e in result.events if e.kind in kinds]
