"""How a run of any program, however odd, has to end: with exactly one terminal event, within a bound of steps."""

from __future__ import annotations

from contextlib import aclosing

import anyio

from graphflow import Flow, Limits
from graphflow.errors import InternalError

STEPS = 80
SECONDS = 60.0
"""A run of so few steps takes milliseconds; this is for one that hangs."""
SEGMENT_ENDS = frozenset({"completed", "halted", "failed", "cancelled", "paused"})


async def ending_of_odd(flow: Flow) -> str:
    """Run a program whatever the check says.

    Returns:
        The kind of its last event; for a failed run the name of what failed it.

    Raises:
        AssertionError: it did not end with one terminal event, or took too many steps.
        TimeoutError: it hung.
    """
    events = []
    with anyio.fail_after(SECONDS):
        async with aclosing(flow.stream({"a": 2}, check="off", limits=Limits(max_steps=STEPS))) as stream:
            events = [event async for event in stream]
    kinds = [event.kind for event in events]
    assert [kind for kind in kinds if kind in SEGMENT_ENDS] == kinds[-1:]
    assert kinds.count("task_started") <= 4 * STEPS
    error = events[-1].data.get("error")
    assert not isinstance(error, InternalError), error
    return f"failed: {type(error).__name__}" if error is not None else kinds[-1]
