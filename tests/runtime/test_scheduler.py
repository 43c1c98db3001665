"""Bodies in tasks and threads, cancellation, limits, and those who watch."""

from __future__ import annotations

import asyncio
import threading
from contextlib import aclosing
from functools import partial
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint

from graphflow import (
    Context,
    Event,
    Flow,
    FunctionModel,
    Limits,
    LlmAgent,
    LoopAgent,
    ParallelAgent,
    RunFailed,
    SequentialAgent,
    UsageError,
    agent,
)
from graphflow.errors import LimitExceeded
from graphflow.models.base import ModelReply, ModelRequest, Usage
from graphflow.runtime.journal import Cancelled, Journal, RunEnded, TaskCommitted
from graphflow.runtime.machine import Machine
from graphflow.runtime.scheduler import Driver

pytestmark = pytest.mark.anyio
ended: list[str] = []


@pytest.fixture(autouse=True)
def _nothing_ended() -> None:
    ended.clear()


@agent
async def forever() -> None:
    try:
        await anyio.Event().wait()
    finally:
        ended.append("forever")


@agent(writes="x", blocking=False)
def quick() -> int:
    return 1


def talkative(tokens: int) -> FunctionModel:
    def answer(request: ModelRequest) -> ModelReply:
        return ModelReply("yes", Usage(input_tokens=tokens))

    return FunctionModel(answer)


async def limit_of(flow: Flow, limits: Limits, **options: Any) -> str:
    with pytest.raises(RunFailed) as caught:
        await flow.run(limits=limits, check="off", **options)
    assert isinstance(caught.value.__cause__, LimitExceeded)
    assert caught.value.result.status == "failed"
    return caught.value.__cause__.limit


# --- limits -----------------------------------------------------------------------------------------------------------


async def test_each_limit_fails_the_run() -> None:
    ask = LlmAgent("ask", model=talkative(10), instruction="?", output_key="answer")
    loop = Flow(LoopAgent("l", [ask], max_iterations=5))

    assert await limit_of(loop, Limits(max_model_calls=4)) == "max_model_calls"
    assert await limit_of(loop, Limits(max_tokens=49)) == "max_tokens"
    assert await limit_of(loop, Limits(max_steps=4)) == "max_steps"
    assert await limit_of(Flow(forever), Limits(deadline=0.001)) == "deadline"
    assert ended == ["forever"]


async def test_a_limit_that_is_just_kept_is_no_failure() -> None:
    ask = LlmAgent("ask", model=talkative(10), instruction="?", output_key="answer")
    loop = Flow(LoopAgent("l", [ask], max_iterations=5))

    result = await loop.run(limits=Limits(max_model_calls=5, max_tokens=50, max_steps=5, deadline=60), check="off")

    assert (result.status, result.usage.calls, result.usage.total.total_tokens) == ("completed", 5, 50)


@pytest.mark.parametrize("limits", [{"max_steps": -1}, {"deadline": float("nan")}, {"max_tokens": 1.5}])
async def test_limits_are_checked(limits: dict[str, Any]) -> None:
    with pytest.raises((UsageError, TypeError)):
        Limits(**limits)


# --- cancellation -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("watched", [False, True])
@pytest.mark.parametrize("tree", [forever, ParallelAgent("p", [forever, quick])], ids=["alone", "beside"])
async def test_cancellation_from_outside_ends_everything(tree: Any, watched: bool) -> None:
    seen: list[Event] = []

    async def watch(event: Event) -> None:
        seen.append(event)

    flow = Flow(tree)
    with anyio.CancelScope() as scope:
        async with anyio.create_task_group() as group:

            async def run() -> None:
                await flow.run(check="off", on_event=watch if watched else None)

            group.start_soon(run)
            await anyio.wait_all_tasks_blocked()
            scope.cancel()

    assert scope.cancelled_caught
    assert ended == ["forever"]
    assert not any(event.terminal for event in seen)


async def test_a_cancelled_run_is_journaled_as_cancelled() -> None:
    paid = []

    @agent(writes="receipt", effect="irreversible")
    async def pay() -> str:
        for _ in range(9):
            await checkpoint()
        paid.append("paid")
        return "r"

    flow = Flow(ParallelAgent("p", [forever, pay]))
    driver = Driver(Machine(flow.plan, "r"), Journal())
    with anyio.CancelScope() as scope:
        scope.cancel()
        await driver.run({})
    with anyio.CancelScope() as scope:
        async with anyio.create_task_group() as group:
            driver = Driver(Machine(flow.plan, "r"), Journal())
            group.start_soon(driver.run, {})
            await checkpoint()
            await checkpoint()
            scope.cancel()

    records = driver.journal.records
    assert isinstance(records[-1], RunEnded)
    assert records[-1].status == "cancelled"
    assert any(isinstance(record, Cancelled) and record.node == "p/forever" for record in records)
    assert [record.node for record in records if isinstance(record, TaskCommitted)] == ["p/pay"] * len(paid)
    assert driver.machine.running == 0


@pytest.mark.parametrize("tree", [forever, ParallelAgent("p", [forever, quick])], ids=["alone", "beside"])
def test_cancelling_the_task_of_an_asyncio_program_ends_everything(tree: Any) -> None:
    async def run() -> None:
        task = asyncio.create_task(Flow(tree).run(check="off"))
        await anyio.wait_all_tasks_blocked()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert ended == ["forever"]

    anyio.run(run)


def test_a_stray_cancellation_in_a_body_fails_it() -> None:
    """A body that awaits something which someone else cancelled is a failed body, and the run does not hang.

    Only asyncio has cancellation without a scope.
    """

    @agent
    async def stray() -> None:
        raise asyncio.CancelledError

    async def run() -> None:
        with anyio.fail_after(5):
            await Flow(ParallelAgent("p", [stray, forever])).run(check="off")

    with pytest.raises(RunFailed) as caught:
        anyio.run(run)
    assert caught.value.result.status == "failed"


# --- plain functions --------------------------------------------------------------------------------------------------


async def test_plain_functions_run_in_a_thread_unless_they_are_quick() -> None:
    threads = {}

    @agent
    def slow(ctx: Context) -> None:
        threads["slow"] = threading.get_ident()

    @agent(blocking=False)
    def fast(ctx: Context) -> None:
        threads["fast"] = threading.get_ident()

    await Flow(SequentialAgent("s", [slow, fast])).run()

    assert threads["fast"] == threading.get_ident() != threads["slow"]


async def test_a_plain_function_that_is_given_up_leaves_nothing() -> None:
    """The run does not wait for it; its result and its events are discarded."""
    entered, release, left = threading.Event(), threading.Event(), threading.Event()
    seen: list[Event] = []

    async def watch(event: Event) -> None:
        seen.append(event)

    @agent(writes="x")
    def stuck(ctx: Context) -> int:
        entered.set()
        release.wait(5)
        ctx.emit({"late": True})
        left.set()
        return 1

    @agent
    async def fails() -> None:
        while not entered.is_set():
            await checkpoint()
        raise ValueError("no")

    with pytest.raises(RunFailed) as caught:
        await Flow(ParallelAgent("p", [stuck, fails])).run(on_event=watch, check="off")
    assert not left.is_set()
    release.set()
    assert await anyio.to_thread.run_sync(left.wait, 5)

    assert caught.value.result.state == {}
    assert [event.kind for event in seen if event.node == "p/stuck"] == ["task_started", "task_failed"]


async def test_run_sync_refuses_inside_a_loop() -> None:
    with pytest.raises(UsageError, match="await"):
        Flow(quick).run_sync()


def test_run_sync_runs() -> None:
    assert Flow(quick).run_sync().state == {"x": 1}


# --- those who watch --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("plain", [False, True])
async def test_progress_is_sent_while_a_body_runs(plain: bool) -> None:
    heard = threading.Event()

    async def watch(event: Event) -> None:
        if event.data == {"half": True}:
            heard.set()

    @agent(writes="heard")
    async def work(ctx: Context) -> bool:
        ctx.emit({"half": True})
        with anyio.move_on_after(5):
            while not heard.is_set():
                await checkpoint()
        return heard.is_set()

    @agent(writes="heard")
    def plain_work(ctx: Context) -> bool:
        ctx.emit({"half": True})
        return heard.wait(5)

    assert (await Flow(plain_work if plain else work).run(on_event=watch)).state == {"heard": True}


@pytest.mark.parametrize(
    ("tree", "last"), [(quick, "completed"), (agent(name="boom")(lambda: 1 / 0), "failed")], ids=["good", "bad"]
)
async def test_a_stream_ends_with_its_one_terminal_event(tree: Any, last: str) -> None:
    events = [event async for event in Flow(tree).stream(check="off")]

    assert [event.kind for event in events if event.terminal] == [last]
    assert events[-1].terminal
    assert events[0].kind == "run_started"


@pytest.mark.parametrize("refused", [{"inputs": {"nope": 1}}, {"limits": 3}, {"nonsense": 1}, {"check": "maybe"}])
async def test_a_refused_stream_is_one_failed_event(refused: dict[str, Any]) -> None:
    events = [event async for event in Flow(quick, inputs={}).stream(**refused)]

    assert [event.kind for event in events] == ["failed"]
    assert events[0].data["reason"]


async def test_leaving_a_stream_cancels_the_run() -> None:
    async with aclosing(Flow(ParallelAgent("p", [forever, quick])).stream(check="off")) as stream:
        async for event in stream:
            if event.kind == "task_committed":
                break
    assert ended == ["forever"]


async def test_a_slow_subscriber_slows_the_run() -> None:
    """An event is taken before the next task starts."""
    steps: list[str] = []

    @agent(blocking=False)
    def work(ctx: Context) -> None:
        steps.append(f"ran {ctx.iteration}")

    async def watch(event: Event) -> None:
        for _ in range(5):
            await checkpoint()
        if event.kind == "task_committed":
            steps.append(f"told {event.iteration}")

    await Flow(LoopAgent("l", [work], max_iterations=2)).run(on_event=watch)

    assert steps == ["ran 1", "told 1", "ran 2", "told 2"]


async def test_a_subscriber_that_raises_ends_the_run_with_its_error() -> None:
    async def watch(event: Event) -> None:
        if event.kind == "task_started":
            raise LookupError("no")

    with pytest.raises(LookupError):
        await Flow(ParallelAgent("p", [forever, quick])).run(on_event=watch, check="off")


async def test_events_say_the_same_as_the_result() -> None:
    seen: list[Event] = []

    async def watch(event: Event) -> None:
        seen.append(event)

    result = await Flow(SequentialAgent("s", [quick, quick.clone({"name": "again"})])).run(on_event=watch, run_id="r")

    assert seen == result.events
    assert [(span.node, span.status) for span in result.timeline] == [
        ("s/quick", "completed"),
        ("s/again", "completed"),
    ]


def test_the_machine_runs_many_nodes_without_recursion() -> None:
    """A long chain is one long run, on one stack frame."""
    chain = SequentialAgent("s", [quick.clone({"name": f"n{number}"}) for number in range(1500)])

    assert anyio.run(partial(Flow(chain).run, check="off")).status == "completed"
