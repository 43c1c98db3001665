"""What is left behind: iterators that are dropped, bodies that raise what nobody should catch."""

from __future__ import annotations

import gc

import anyio
import pytest

from graphflow import Flow, FunctionAgent, Key, LoopAgent, RunFailed, SequentialAgent


@pytest.mark.anyio
@pytest.mark.filterwarnings("ignore::ResourceWarning")  # trio speaks up about iterators that are dropped
async def test_a_dropped_stream_cancels_its_run_and_nothing_else() -> None:
    """Leaving the loop with `break` ends the run; the task that watched goes on."""
    began, cancelled = anyio.Event(), anyio.Event()

    async def waits() -> int:
        began.set()
        try:
            await anyio.sleep_forever()
        finally:
            cancelled.set()
        return 1

    flow = Flow(FunctionAgent(name="waits", func=waits, writes="x"), inputs={}, outputs=["x"])
    async for event in flow.stream({}):
        if event.kind == "task_started":
            await began.wait()
            break
    gc.collect()

    with anyio.fail_after(10):
        await cancelled.wait()
    await anyio.lowlevel.checkpoint()


class Odd(BaseException):
    """No ordinary exception."""


@pytest.mark.parametrize("blocking", [True, False])
def test_a_body_that_raises_no_exception_fails_its_task(blocking: bool) -> None:
    """Whatever a body raises is a failed run, not a group of errors."""

    def raises() -> int:
        raise Odd("out")

    flow = Flow(FunctionAgent(name="raises", func=raises, writes="x", blocking=blocking))
    with pytest.raises(RunFailed, match="Odd at `raises`: out"):
        flow.run_sync()


def test_nothing_is_said_about_what_an_endless_loop_never_reaches() -> None:
    """One cause, one finding."""
    writer = FunctionAgent(name="writer", func=lambda: 1, writes="x")
    reader = FunctionAgent(name="reader", func=lambda missing: missing, writes="y")
    flow = Flow(SequentialAgent("s", [LoopAgent("endless", [writer]), reader]), inputs={}, outputs=["y"])

    assert flow.check().codes == ["GF501"]


def test_what_a_callable_merge_gives_is_held_to_the_type_of_the_key() -> None:
    """A merge may be any function; a value of another type is never committed."""
    writers = [FunctionAgent(name=name, func=lambda: 1, writes="n") for name in ("first", "second")]
    flow = Flow(SequentialAgent("s", writers), keys=[Key("n", int, default=0, merge=lambda old, new: f"{old}{new}")])

    with pytest.raises(RunFailed, match="the merge of `n` gave no int") as failure:
        flow.run_sync()

    assert failure.value.result.state == {"n": 0}
