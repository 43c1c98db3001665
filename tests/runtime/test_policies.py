"""What is done about failures and time: attempts, handlers, time limits, effects that cannot be taken back."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint

from graphflow import (
    Context,
    Event,
    Flow,
    FunctionAgent,
    MapAgent,
    ParallelAgent,
    RetryPolicy,
    SequentialAgent,
    SubFlow,
    agent,
)
from tests.programs.stages import LOG, TWICE, failing, outcome, step, stuck, told

pytestmark = pytest.mark.anyio


# --- attempts and handlers ------------------------------------------------------------------------------------


async def test_attempts_come_first_then_the_handler_then_what_is_around() -> None:
    """The innermost that deals with a failure does; a handler that fails is dealt with further out."""
    handled = failing("a", retry=TWICE, on_error=failing("b"))
    inner = SequentialAgent("inner", [handled, step("never")], on_error={"c": 1})
    flow = Flow(SequentialAgent("s", [inner, step("last")]), inputs={})

    result = await outcome(flow)

    assert result.status == "completed"
    assert result.state == {"c": 1, "last": "last"}
    assert told(result, "task_failed") == [("task_failed", "a", 1), ("task_failed", "a", 2), ("task_failed", "b", 1)]


async def test_a_handler_sees_the_state_its_task_saw() -> None:
    @agent(writes="log", blocking=False)
    def spoil(ctx: Context) -> str:
        ctx.state["log"] = "spoilt"
        raise OSError("no")

    @agent(writes="seen", blocking=False)
    def handle(log: list[str]) -> list[str]:
        return log

    flow = Flow(spoil.clone(update={"on_error": handle}), inputs={}, keys=[LOG])

    assert (await outcome(flow)).state == {"log": [], "seen": []}


async def test_an_attempt_at_a_composite_leaves_nothing() -> None:
    """The second attempt starts from the state at its entry, in branches too, and is told which attempt it is."""
    seen: list[tuple[list[str], int]] = []

    @agent(writes="log", blocking=False)
    def note(ctx: Context, log: list[str]) -> str:
        seen.append((log, ctx.attempt))
        return f"note {ctx.attempt}"

    both = ParallelAgent("both", [note, step("one")])
    tried = SequentialAgent("tried", [both, failing("two", until=2)], retry=TWICE)
    flow = Flow(SequentialAgent("s", [tried]), inputs={}, keys=[LOG])

    result = await outcome(flow)

    assert result.state == {"log": ["note 2"], "one": "one", "two": 2}
    assert seen == [([], 1), ([], 2)]


async def test_a_task_that_only_waited_for_a_slot_has_had_no_attempt() -> None:
    """The one slot is taken by the failing stage: the other one starts in the second attempt, which is its first."""
    attempts: list[int] = []

    @agent(writes="waited", blocking=False)
    async def waits(ctx: Context) -> int:
        attempts.append(ctx.attempt)
        return ctx.attempt

    crowd = ParallelAgent("crowd", [failing("first", until=2), waits], max_concurrency=1, retry=TWICE)

    result = await outcome(Flow(crowd, inputs={}))

    assert result.state == {"first": 2, "waited": 1}
    assert attempts == [1]


async def test_an_irreversible_task_is_not_tried_again_unless_its_failure_is_named() -> None:
    named = RetryPolicy(attempts=2, backoff=0, jitter=0, exceptions=(OSError,))

    unnamed = await outcome(Flow(failing("pay", until=2, effect="irreversible", retry=TWICE), inputs={}))
    agreed = await outcome(Flow(failing("pay", until=2, effect="irreversible", retry=named), inputs={}))

    assert type(unnamed.error) is OSError
    assert told(unnamed, "task_started") == [("task_started", "pay", 1)]
    assert agreed.state == {"pay": 2}


async def test_the_idempotency_key_is_that_of_the_execution_not_of_the_attempt() -> None:
    keys: list[str] = []

    @agent(writes="paid", blocking=False, effect="idempotent", retry=TWICE)
    def pay(ctx: Context, item: int) -> int:
        keys.append(ctx.idempotency_key)
        if ctx.attempt == 1:
            raise OSError("no")
        return item

    flow = Flow(MapAgent("each", over="items", agent=pay, collect={"paid": "all"}), inputs={"items": list[int]})

    result = await outcome(flow, {"items": [5, 6]}, run_id="r")

    assert result.state["all"] == [5, 6]
    assert sorted(keys) == ["r/each/pay[0]", "r/each/pay[0]", "r/each/pay[1]", "r/each/pay[1]"]


async def test_a_handler_inside_a_sub_flow_has_its_keys() -> None:
    @agent(writes="y", blocking=False)
    def handle(a: int) -> int:
        return a * 10

    inner = Flow(failing("bad", on_error=handle), inputs={"a": int}, outputs=["y"])
    flow = Flow(SubFlow("sub", inner, inputs={"a": "b"}, outputs={"y": "z"}), inputs={"b": int})

    assert (await outcome(flow, {"b": 2})).state == {"b": 2, "z": 20}


# --- time -----------------------------------------------------------------------------------------------------


async def test_a_time_limit_is_one_of_each_attempt() -> None:
    """The first attempt never ends, the second is quick."""

    async def run(ctx: Context) -> dict[str, object]:
        if ctx.attempt == 1:
            await anyio.sleep_forever()
        return {"x": ctx.attempt}

    slow = FunctionAgent(name="slow", func=run, reads=[], writes=["x"], timeout=0.01, retry=TWICE)

    result = await outcome(Flow(slow, inputs={}))

    assert result.state == {"x": 2}
    assert [event.data["error"] for event in result.events if event.kind == "task_failed"] == ["StageTimeout"]


async def test_what_a_sync_function_gives_after_its_time_is_discarded() -> None:
    """It runs on in its thread; the run goes on without it, and neither its writes nor its value arrive."""
    began, go, done = threading.Event(), threading.Event(), threading.Event()

    def run(ctx: Context) -> dict[str, object]:
        began.set()
        go.wait(20)
        ctx.state["late"] = "late"
        done.set()
        return {"late": "late"}

    late = FunctionAgent(name="late", func=run, reads=[], writes=["late"], timeout=0.01, on_error={"late": "in time"})
    result = await outcome(Flow(SequentialAgent("s", [late, step("last")]), inputs={}))
    assert not done.is_set()
    go.set()
    assert done.wait(20) or not began.is_set()

    assert result.status == "completed"
    assert result.state == {"late": "in time", "last": "last"}


async def test_a_function_with_an_effect_is_tried_again_only_when_it_has_ended() -> None:
    """Its time is over, but it cannot be stopped: the second attempt waits for the end of the first."""
    go = threading.Event()
    order: list[str] = []

    def send(ctx: Context) -> dict[str, object]:
        order.append(f"{ctx.attempt} began")
        if ctx.attempt == 1:
            go.wait(20)
        order.append(f"{ctx.attempt} ended")
        if ctx.attempt == 1:
            raise OSError("too late")
        return {"sent": ctx.attempt}

    def release(ctx: Context) -> dict[str, object]:
        order.append("released")
        go.set()
        return {}

    options: dict[str, Any] = {"timeout": 0.01, "retry": TWICE}
    sending = FunctionAgent(name="send", func=send, reads=[], writes=["sent"], effect="idempotent", **options)
    handler = FunctionAgent(name="release", func=release, reads=[], blocking=False)
    releasing = stuck("never", timeout=0.1, on_error=handler)

    result = await outcome(Flow(ParallelAgent("p", [sending, releasing]), inputs={}))

    assert result.state == {"sent": 2}
    assert order == ["1 began", "released", "1 ended", "2 began", "2 ended"]


async def test_a_composite_that_takes_too_long_is_stopped_as_a_whole() -> None:
    """What it had done is gone; its handler runs on the state at its entry."""
    slow = SequentialAgent("slow", [step("one"), ParallelAgent("p", [stuck("two"), stuck("three")])], timeout=0.01)
    guarded = slow.clone(update={"on_error": {"instead": True}})

    failed = await outcome(Flow(slow, inputs={}))
    handled = await outcome(Flow(guarded, inputs={}))

    assert type(failed.error).__name__ == "StageTimeout"
    assert failed.state == {}
    assert handled.state == {"instead": True}


Paying = Callable[[Context], Awaitable[dict[str, object]]]


def paying(stopped: anyio.Event, ended: list[str]) -> FunctionAgent:
    """An irreversible stage that ends only some time after everything around it was to stop."""

    async def run(ctx: Context) -> dict[str, object]:
        await stopped.wait()
        for _ in range(5):
            await checkpoint()
        ended.append("paid")
        return {"paid": True}

    return FunctionAgent(name="pay", func=run, reads=[], writes=["paid"], effect="irreversible")


@pytest.mark.parametrize("how", ["halt", "failure", "overtaken", "timeout"])
async def test_an_irreversible_task_is_waited_for(how: str) -> None:
    """Whatever stops its surroundings, it is not cancelled, and nothing goes on before it has ended."""
    stopped, ended = anyio.Event(), []

    def stops(ctx: Context) -> dict[str, object]:
        stopped.set()
        if how == "halt":
            ctx.actions.halt = "enough"
        if how == "failure":
            raise OSError("no")
        return {"stops": 1}

    def after(ctx: Context) -> dict[str, object]:
        ended.append("after")
        return {"after": 1}

    pay = paying(stopped, ended)
    beside = FunctionAgent(name="stops", func=stops, reads=[], writes=["stops"], blocking=False)
    then = FunctionAgent(name="after", func=after, reads=[], writes=["after"], blocking=False)
    options: dict[str, Any] = {"overtaken": {"join": "any"}, "timeout": {"timeout": 0.01}}.get(how, {})
    branches = [pay, SequentialAgent("slow", [beside, stuck("never")])] if how == "timeout" else [pay, beside]
    both = ParallelAgent("both", branches, on_error={"handled": 1}, **options)

    result = await outcome(Flow(SequentialAgent("s", [both, then]), inputs={}))

    if how == "halt":
        assert (result.status, result.reason, ended) == ("halted", "enough", ["paid"])
        assert result.state == {}
    else:
        assert ended == ["paid", "after"]
        assert result.state == {"after": 1, **({"stops": 1} if how == "overtaken" else {"handled": 1})}


async def test_the_events_of_a_run_say_which_attempt_they_are_about() -> None:
    seen: list[Event] = []

    async def watch(event: Event) -> None:
        seen.append(event)

    await outcome(Flow(failing("a", until=2, retry=TWICE), inputs={}), on_event=watch)

    starts = [(event.kind, event.attempt) for event in seen if event.author == "a"]
    assert starts == [("task_started", 1), ("task_failed", 1), ("task_started", 2), ("task_committed", 2)]
