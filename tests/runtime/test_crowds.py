"""Several side by side of which some suffice, some may fail, and not all may run at once."""

from __future__ import annotations

import anyio
import pytest
from anyio.lowlevel import checkpoint

from graphflow import (
    Context,
    Flow,
    FunctionAgent,
    Gate,
    LoopAgent,
    MapAgent,
    ParallelAgent,
    SequentialAgent,
    agent,
    key,
)
from graphflow.schema import Failure
from tests.programs.stages import LOG, TWICE, failing, outcome, step, stuck

pytestmark = pytest.mark.anyio


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


async def test_an_escalation_in_an_instance_ends_the_loop_when_all_instances_have_ended() -> None:
    """The others run on; a list is written only if every instance has its value; what follows the map does not run."""

    def look(ctx: Context) -> dict[str, object]:
        ctx.actions.escalate = ctx.state["item"] == 2
        return {"looked": ctx.state["item"], "log": f"looked at {ctx.state['item']}"}

    looking = FunctionAgent(name="look", func=look, reads=["item"], writes=["looked", "log"], blocking=False)
    body = SequentialAgent("body", [looking, step("marked")])
    each = MapAgent("each", over="items", agent=body, collect={"looked": "all_looked", "marked": "all_marked"})
    loop = LoopAgent("loop", [each, step("never")], max_iterations=3, exit_key="how")

    result = await outcome(Flow(loop, inputs={"items": list[int]}, keys=[LOG]), {"items": [1, 2, 3]})

    assert result.state == {
        "items": [1, 2, 3],
        "log": ["looked at 1", "looked at 2", "looked at 3"],
        "all_looked": [1, 2, 3],
        "how": "escalate",
    }


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
