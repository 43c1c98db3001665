"""What is done about failures, time and crowds: attempts, handlers, time limits, some of several, caps."""

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
    Gate,
    Key,
    MapAgent,
    Merge,
    ParallelAgent,
    Result,
    RetryPolicy,
    RunFailed,
    SequentialAgent,
    agent,
    key,
)
from graphflow.schema import Failure

pytestmark = pytest.mark.anyio
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
    try:
        with anyio.fail_after(20):
            return await flow.run(inputs or {}, check="off", **options)
    except RunFailed as failure:
        return failure.result


def told(result: Result, *kinds: str) -> list[tuple[str, str, int]]:
    return [(e.kind, e.author, e.attempt) for e in result.events if e.kind in kinds]


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


# --- some of several ------------------------------------------------------------------------------------------


async def test_the_first_successes_are_merged_in_order_of_declaration() -> None:
    """The third comes first, then the first; the second fails, which is put up with; the fourth is overtaken."""
    order = [anyio.Event() for _ in range(3)]

    def branch(number: int) -> FunctionAgent:
        async def run(ctx: Context) -> dict[str, object]:
            if number == 1:
                await order[2].wait()
            elif number == 2:
                await order[2].wait()
                order[1].set()
                raise OSError("no")
            elif number == 4:
                await anyio.sleep_forever()
            order[2].set()
            return {"log": f"branch {number}", "same": number} if number != 1 else {"log": "branch 1"}

        return FunctionAgent(name=f"branch{number}", func=run, reads=[], may_write=["log", "same"])

    flow = Flow(ParallelAgent("p", [branch(number) for number in (1, 2, 3, 4)], join=2), inputs={}, keys=[LOG])

    result = await outcome(flow)

    assert result.state == {"log": ["branch 1", "branch 3"], "same": 3}


async def test_an_any_join_lets_branches_write_one_key() -> None:
    def writer(number: int) -> FunctionAgent:
        return FunctionAgent(
            name=f"w{number}", func=lambda ctx: {"same": number}, reads=[], writes=["same"], blocking=False
        )

    flow = Flow(ParallelAgent("p", [writer(1), writer(2)], join="any"), inputs={})

    assert "GF301" not in flow.check().codes
    assert (await outcome(flow)).state["same"] in (1, 2)


async def test_a_region_fails_when_too_many_have_failed() -> None:
    """Two are needed; when the second of three fails, the third is stopped, and the first failure is the region's."""
    branches = [failing("a"), failing("b"), stuck("c")]

    needy = await outcome(Flow(ParallelAgent("p", branches, join=2), inputs={}))
    patient = await outcome(Flow(ParallelAgent("p", branches[:2], on_error="collect"), inputs={}))

    for result in (needy, patient):
        assert result.status == "failed"
        first = next(event for event in result.events if event.kind == "task_failed")
        assert str(result.error) == first.data["message"]
        assert result.state == {}


async def test_collected_failures_leave_nothing_of_their_branch() -> None:
    bad = SequentialAgent("bad", [step("one"), failing("two")])
    flow = Flow(ParallelAgent("p", [bad, step("good")], on_error="collect"), inputs={})

    result = await outcome(flow)

    assert (result.status, result.state) == ("completed", {"good": "good"})


async def test_a_collected_failure_of_a_map_stands_in_its_place() -> None:
    """Of `T | Failure`: place, class and message; what the other instances merge is there."""

    @agent(writes={"half": int, "log": str}, blocking=False)
    def halve(item: int) -> dict[str, object]:
        if item % 2:
            raise ValueError(f"{item} is odd")
        return {"half": item // 2, "log": f"halved {item}"}

    each = MapAgent("each", over="items", agent=halve, collect={"half": "halves"}, on_error="collect")
    flow = Flow(each, inputs={"items": list[int]}, keys=[LOG])

    result = await outcome(flow, {"items": [4, 5, 6]})

    assert result.state["halves"] == [2, Failure(1, "ValueError: 5 is odd"), 3]
    assert result.state["log"] == ["halved 4", "halved 6"]


async def test_a_gate_in_an_instance_halts_the_run_whatever_is_collected() -> None:
    """A halt is no failure: no policy catches it."""
    gate = Gate("gate", key("item") < 3, reason="{item}")
    each = MapAgent("each", over="items", agent=gate, on_error="collect")
    tried = SequentialAgent("tried", [each], retry=TWICE, on_error={"handled": 1})
    flow = Flow(ParallelAgent("p", [tried, step("one")], on_error="collect"), inputs={"items": list[int]})

    result = await outcome(flow, {"items": [1, 5]})

    assert (result.status, result.reason) == ("halted", "5")
    assert result.state == {"items": [1, 5]}


# --- crowds ---------------------------------------------------------------------------------------------------


async def test_no_more_bodies_run_at_once_than_a_cap_allows() -> None:
    """Two caps, one in the other: both are kept, nobody waits for nothing, and waiting takes no slot."""
    now: dict[str, int] = {}
    most: dict[str, int] = {}

    async def run(ctx: Context) -> dict[str, object]:
        region = ctx.node.split("/")[1]
        for name in ("all", region):
            now[name] = now.get(name, 0) + 1
            most[name] = max(most.get(name, 0), now[name])
        for _ in range(4):
            await checkpoint()
        for name in ("all", region):
            now[name] -= 1
        return {}

    worker = FunctionAgent(name="worker", func=run, reads=["item"])
    other = FunctionAgent(name="other", func=run, reads=["item"])
    narrow = MapAgent("narrow", over="items", agent=worker, max_concurrency=2)
    wide = MapAgent("wide", over="items", agent=other)
    flow = Flow(ParallelAgent("p", [narrow, wide], max_concurrency=5), inputs={"items": list[int]})

    result = await outcome(flow, {"items": [0] * 8})

    assert result.status == "completed"
    assert most == {"narrow": 2, "wide": 5, "all": 5} or most == {"narrow": 2, "wide": 3, "all": 5}
    assert now == dict.fromkeys(now, 0)


async def test_the_events_of_a_run_say_which_attempt_they_are_about() -> None:
    seen: list[Event] = []

    async def watch(event: Event) -> None:
        seen.append(event)

    await outcome(Flow(failing("a", until=2, retry=TWICE), inputs={}), on_event=watch)

    starts = [(event.kind, event.attempt) for event in seen if event.author == "a"]
    assert starts == [("task_started", 1), ("task_failed", 1), ("task_started", 2), ("task_committed", 2)]
