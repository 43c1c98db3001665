"""What runs after what: branches, loops, gates, and what a stop does to the rest."""

from __future__ import annotations

from typing import Any

import pytest
from anyio import Event
from anyio.lowlevel import checkpoint

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
    ParallelAgent,
    Result,
    RunFailed,
    SequentialAgent,
    agent,
    key,
)
from graphflow.errors import AbsentKeyError, LoopExhausted, RouteError

pytestmark = pytest.mark.anyio
COUNT = Key("n", int, default=0, merge=Merge.sum)
TRACE = Key("trace", list[str], default=[], merge=Merge.append)


def step(name: str, *, escalate_at: int | None = None, halt: str | None = None) -> FunctionAgent:
    """A stage that leaves its name in `trace`."""

    async def run(ctx: Context) -> str:
        await checkpoint()
        if escalate_at == ctx.iteration:
            ctx.actions.escalate = True
        if halt is not None:
            ctx.actions.halt = halt
        return name

    return FunctionAgent(name=name, func=run, reads=[], writes="trace")


async def trace(tree: Any, inputs: dict[str, object] | None = None, **options: Any) -> tuple[list[str], Result]:
    flow = Flow(tree, keys=[TRACE, COUNT], **options)
    result = await flow.run(inputs, check="off")
    return result.state["trace"], result


def exits(result: Result) -> list[object]:
    return [event.data["exit"] for event in result.events if event.kind == "loop"]


async def test_a_skipped_path_counts_as_arrived() -> None:
    """Nothing after the conditional waits for the arm that was not taken, nested arms and forks included."""
    inner = ParallelAgent("p", [step("a"), LoopAgent("l", [step("b")], max_iterations=2)])
    tree = SequentialAgent("s", [ConditionalAgent("c", when=key("x") == 1, then=inner), step("last")])

    assert (await trace(tree, {"x": 0}))[0] == ["last"]
    assert (await trace(tree, {"x": 1}))[0] == ["a", "b", "b", "last"]


@pytest.mark.parametrize(("value", "expected"), [("A", ["a"]), ("B", []), (1, ["one"]), (True, ["other"])])
async def test_cases_compare_type_and_value(value: object, expected: list[str]) -> None:
    tree = ConditionalAgent("c", on="x", cases={"A": step("a"), "B": PASS, 1: step("one")}, default=step("other"))

    assert (await trace(tree, {"x": value}))[0] == expected


async def test_no_case_and_no_default_fails() -> None:
    with pytest.raises(RunFailed) as caught:
        await trace(ConditionalAgent("c", on="x", cases={"A": step("a")}), {"x": "C"})

    assert isinstance(caught.value.__cause__, RouteError)
    assert caught.value.__cause__.value == "C"


async def test_a_condition_over_an_absent_key_fails() -> None:
    with pytest.raises(RunFailed) as caught:
        await trace(ConditionalAgent("c", when=key("x") == 1, then=step("a")))

    assert isinstance(caught.value.__cause__, AbsentKeyError)


async def test_until_comes_before_the_bound() -> None:
    body = FunctionAgent(name="count", func=one, writes="n")
    loop = LoopAgent("l", [body], max_iterations=2, until=key("n") == 2, exit_key="how", on_exhausted="fail")

    _, result = await trace(loop)

    assert (result.state["n"], result.state["how"], exits(result)) == (2, "until", [None, "until"])


async def one() -> int:
    return 1


async def test_the_bound_ends_a_loop() -> None:
    found, result = await trace(
        LoopAgent("l", [step("a")], max_iterations=3, exit_key="how", on_exhausted=step("handler"))
    )

    assert found == ["a", "a", "a", "handler"]
    assert result.state["how"] == "max_iterations"


async def test_an_exhausted_loop_may_fail() -> None:
    with pytest.raises(RunFailed) as caught:
        await trace(LoopAgent("l", [step("a")], max_iterations=2, on_exhausted="fail"))

    assert isinstance(caught.value.__cause__, LoopExhausted)
    assert caught.value.result.state["trace"] == ["a", "a"]


async def test_escalating_ends_the_body_at_once() -> None:
    loop = LoopAgent("l", [step("a"), step("b", escalate_at=2), step("c")], max_iterations=9, exit_key="how")

    found, result = await trace(SequentialAgent("s", [loop, step("last")]))

    assert found == ["a", "b", "c", "a", "b", "last"]
    assert result.state["how"] == "escalate"


async def test_escalating_ends_only_the_nearest_loop() -> None:
    inner = LoopAgent("inner", [step("a", escalate_at=1)], max_iterations=5)

    assert (await trace(LoopAgent("outer", [inner, step("b")], max_iterations=2)))[0] == ["a", "b", "a", "b"]


async def test_escalating_in_a_branch_lets_siblings_finish() -> None:
    """Nothing after the join starts, and what the siblings wrote is there."""
    fork = ParallelAgent(
        "p",
        [SequentialAgent("x", [step("a", escalate_at=1), step("never")]), SequentialAgent("y", [step("b"), step("c")])],
    )

    found, result = await trace(LoopAgent("l", [step("first"), fork, step("after")], max_iterations=4))

    assert found == ["first", "a", "b", "c"]
    assert exits(result) == ["escalate"]


async def test_escalating_outside_of_loops_means_nothing() -> None:
    assert (await trace(SequentialAgent("s", [step("a", escalate_at=1), step("b")])))[0] == ["a", "b"]


async def test_iterations_are_numbered_from_the_outside_in() -> None:
    seen = []

    @agent
    async def look(ctx: Context) -> None:
        seen.append(ctx.iterations)

    await Flow(LoopAgent("o", [LoopAgent("i", [look], max_iterations=2)], max_iterations=2)).run()

    assert seen == [(1, 1), (1, 2), (2, 1), (2, 2)]


async def test_a_gate_in_a_branch_halts_the_whole_run() -> None:
    ended = []

    @agent
    async def waits() -> None:
        try:
            await Event().wait()
        finally:
            ended.append("cancelled")

    guarded = SequentialAgent("g", [step("a"), Gate("gate", key("x") == 1, reason="x is {x}"), step("b")])
    found, result = await trace(SequentialAgent("s", [step("first"), ParallelAgent("p", [waits, guarded])]), {"x": 2})

    assert (result.status, result.reason, found, ended) == ("halted", "x is 2", ["first"], ["cancelled"])
    assert result.halt is not None
    assert (result.halt.gate, dict(result.halt.values)) == ("s/p/g/gate", {"x": 2})


async def test_a_halted_run_owes_no_output() -> None:
    flow = Flow(SequentialAgent("s", [Gate("gate", key("x") == 1), step("b")]), inputs={"x": int}, outputs=["trace"])

    assert (await flow.run({"x": 2}, check="off")).status == "halted"


async def test_what_halts_is_committed_first() -> None:
    found, result = await trace(SequentialAgent("s", [step("a", halt="enough"), step("b")]))

    assert (found, result.status, result.reason) == (["a"], "halted", "enough")


@pytest.mark.parametrize("how", ["halts", "fails"])
async def test_an_irreversible_task_is_waited_for(how: str) -> None:
    began, finished = Event(), []

    @agent(effect="irreversible")
    async def pay() -> None:
        began.set()
        for _ in range(20):
            await checkpoint()
        finished.append("paid")

    @agent
    async def stop(ctx: Context) -> None:
        await began.wait()
        if how == "fails":
            raise ValueError("no")
        ctx.actions.halt = "enough"

    flow = Flow(ParallelAgent("p", [pay, stop]))
    if how == "halts":
        assert (await flow.run(check="off")).status == "halted"
    else:
        with pytest.raises(RunFailed):
            await flow.run(check="off")

    assert finished == ["paid"]


async def test_a_failing_branch_cancels_its_siblings() -> None:
    ended = []

    @agent
    async def waits() -> None:
        try:
            await Event().wait()
        finally:
            ended.append("cancelled")

    @agent
    async def fails() -> None:
        raise KeyError("no")

    with pytest.raises(RunFailed) as caught:
        await Flow(SequentialAgent("s", [ParallelAgent("p", [waits, fails]), step("after")]), keys=[TRACE]).run(
            check="off"
        )

    result = caught.value.result
    assert ended == ["cancelled"]
    assert isinstance(caught.value.__cause__, KeyError)
    assert result.reason == "KeyError at `s/p/fails`: 'no'"
    assert [event.kind for event in result.events][-1] == "failed"
    assert result.state == {"trace": []}


async def test_an_empty_composite_passes_control_on() -> None:
    tree = SequentialAgent("s", [SequentialAgent("e", []), ParallelAgent("p", []), LoopAgent("l", []), step("a")])

    assert (await trace(tree))[0] == ["a"]
    loop = LoopAgent("l", [SequentialAgent("e", [])], max_iterations=2, exit_key="how")
    assert (await trace(loop))[1].state["how"] == "max_iterations"
