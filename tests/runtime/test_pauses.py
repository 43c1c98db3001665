"""Waiting for people: when a run pauses, what runs again, what is withdrawn."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from graphflow import (
    AskAgent,
    BaseAgent,
    Context,
    Event,
    EventActions,
    Flow,
    FunctionAgent,
    Gate,
    Key,
    Merge,
    ParallelAgent,
    Result,
    RunFailed,
    SequentialAgent,
    agent,
    key,
)

pytestmark = pytest.mark.anyio


def step(name: str, **options: Any) -> FunctionAgent:
    """A stage that writes its own name to the key of that name."""
    return FunctionAgent(name=name, func=lambda ctx: {name: name}, reads=[], writes=[name], blocking=False, **options)


def kinds(result: Result, *wanted: str) -> list[str]:
    return [f"{event.kind} {event.author}" for event in result.events if event.kind in wanted]


async def resumed(flow: Flow, result: Result, **answers: object) -> Result:
    """Answer the questions of these agents."""
    told = {question.id: answers[question.node.rpartition("/")[2]] for question in result.pending}
    return await flow.resume(result.run_id, told)


async def test_the_run_pauses_only_when_nothing_else_can_run() -> None:
    """The other branch and all behind it are done first; what follows the join is not."""
    ask = AskAgent("ask", "Well?", "answer")
    beside = SequentialAgent("beside", [step("one"), step("two"), step("three")])
    flow = Flow(SequentialAgent("s", [ParallelAgent("p", [ask, beside]), step("last")]), inputs={})

    paused = await flow.run({})

    assert (paused.status, paused.state) == ("paused", {})
    assert kinds(paused, "task_committed") == ["task_committed one", "task_committed two", "task_committed three"]
    assert kinds(paused, "paused", "completed") == ["paused "]

    ended = await resumed(flow, paused, ask="yes")

    assert ended.status == "completed"
    assert ended.state == {"answer": "yes", "one": "one", "two": "two", "three": "three", "last": "last"}
    assert kinds(ended, "task_started").count("task_started one") == 1


async def test_a_body_that_asks_runs_again_from_its_top_and_its_steps_do_not() -> None:
    """Two questions: the body is run three times, the step once, and sees the same number each time."""
    tops: list[int] = []
    steps: list[int] = []

    def draw() -> int:
        steps.append(1)
        return len(steps) * 10

    @agent(writes="decision")
    async def decide(ctx: Context, amount: int) -> str:
        tops.append(amount)
        number = await ctx.step("draw", draw)
        first = await ctx.ask(f"pay {amount + number}?", str)
        second = await ctx.ask("sure?", bool)
        return f"{number} {first} {second} {ctx.attempt}"

    flow = Flow(decide, inputs={"amount": int})
    once = await flow.run({"amount": 5})
    twice = await resumed(flow, once, decide="yes")
    ended = await resumed(flow, twice, decide=True)

    assert [question.prompt for question in (*once.pending, *twice.pending)] == ["pay 15?", "sure?"]
    assert ended.state["decision"] == "10 yes True 1"
    assert tops == [5, 5, 5]
    assert steps == [1]


async def test_an_overtaken_question_is_withdrawn() -> None:
    """The other branch suffices: nobody is asked any more, and the run goes on without a pause."""

    @agent(writes="quick")
    async def quick() -> str:
        await anyio.lowlevel.checkpoint()
        return "quick"

    ask = AskAgent("ask", "Well?", "answer")
    first = ParallelAgent("first", [ask, quick], join="any")
    flow = Flow(SequentialAgent("s", [first, step("last")]), inputs={})

    result = await flow.run({}, check="off")

    assert (result.status, result.pending) == ("completed", ())
    assert result.state == {"quick": "quick", "last": "last"}


async def test_a_branch_that_asks_when_it_was_told_to_stop_holds_nobody_up() -> None:
    """It was overtaken before it came to its question: the question is never put, and the region ends."""
    overtaken = anyio.Event()

    @agent(writes="slow")
    async def slow(ctx: Context) -> str:
        with anyio.CancelScope(shield=True):
            await overtaken.wait()
        return await ctx.ask("Well?", str)

    @agent(writes="quick")
    async def quick(ctx: Context) -> str:
        ctx.emit({"done": True})
        return "quick"

    async def watch(event: Event) -> None:
        if event.kind == "task_committed":
            overtaken.set()

    flow = Flow(ParallelAgent("first", [slow, quick], join="any"), inputs={})
    with anyio.fail_after(10):
        result = await flow.run({}, check="off", on_event=watch)

    assert (result.status, result.pending) == ("completed", ())
    assert result.state == {"quick": "quick"}
    assert kinds(result, "asked") == []


async def test_a_gate_halts_a_run_that_waits_for_an_answer() -> None:
    """Nothing is asked any more: the halt withdraws the question."""
    ask = AskAgent("ask", "Well?", "answer")
    stop = SequentialAgent("stop", [step("one"), Gate("gate", key("one") == "two", reason="no")])
    flow = Flow(ParallelAgent("p", [ask, stop]), inputs={})

    result = await flow.run({}, check="off")

    assert (result.status, result.reason, result.pending) == ("halted", "no", ())
    assert result.state == {}


async def test_an_answer_that_came_too_late_is_the_default() -> None:
    """Time has passed: the default is taken, and a question without one fails its stage."""
    ask = AskAgent("ask", "Well?", "answer", output_schema=int, timeout=1e-9, default=7)
    flow = Flow(SequentialAgent("s", [ask, step("last")]), inputs={})
    paused = await flow.run({})
    result = await flow.resume(paused.run_id)

    assert paused.pending[0].default == 7
    assert paused.pending[0].deadline is not None
    assert result.state == {"answer": 7, "last": "last"}

    flow = Flow(AskAgent("ask", "Well?", "answer", timeout=1e-9), inputs={})
    paused = await flow.run({})
    with pytest.raises(RunFailed, match="nobody answered"):
        await flow.resume(paused.run_id)


async def test_a_question_whose_time_has_passed_goes_to_its_handler() -> None:
    """`on_error` stands behind a person too."""
    ask = AskAgent("ask", "Well?", "answer", timeout=1e-9, on_error={"answer": "nobody"})
    flow = Flow(ask, inputs={})
    paused = await flow.run({})

    assert (await flow.resume(paused.run_id)).state == {"answer": "nobody"}


class Forgetful(BaseAgent):
    """Asks something else each time it runs."""

    prompts: Any = None

    async def run(self, ctx: Context) -> str:
        return await ctx.ask(self.prompts.pop(0))


async def test_code_that_does_something_else_the_second_time_fails() -> None:
    flow = Flow(Forgetful(name="forgetful", prompts=["first?", "other?"], reads=[], writes=[]), inputs={})
    paused = await flow.run({})

    with pytest.raises(RunFailed, match="ReplayError") as failure:
        await flow.resume(paused.run_id, {paused.pending[0].id: "yes"})

    assert type(failure.value.result.error).__name__ == "ReplayError"
    assert "other?" in failure.value.result.reason
    assert "first?" in failure.value.result.reason


class Clerk(BaseAgent):
    """Writes into its state, asks, and runs its children before and after."""

    async def run(self, ctx: Context) -> Any:
        ctx.state["form"] = "blank"
        await ctx.run(self.sub_agents[0])
        ctx.state["form"] = "filled"
        answer = await ctx.ask("Sign?", str)
        yield Event(actions=EventActions(state_delta={"signed": f"{ctx.state['form']} {answer}"}))
        await ctx.run(self.sub_agents[1])


async def test_code_that_asks_runs_its_children_once() -> None:
    """What was done before the question is answered from the journal, what was written directly too."""
    ran: list[str] = []

    @agent(writes="log", blocking=False)
    def before(form: str) -> str:
        ran.append("before")
        return f"before {form}"

    @agent(writes="log", blocking=False)
    def after(form: str, signed: str) -> str:
        ran.append("after")
        return f"after {form}, {signed}"

    clerk = Clerk(name="clerk", sub_agents=[before, after], reads=["form?"], writes=["form", "signed"])
    flow = Flow(clerk, inputs={}, keys=[Key("log", list[str], default=[], merge=Merge.append)])

    paused = await flow.run({}, check="off")
    ended = await resumed(flow, paused, **{"clerk#code": "yes", "clerk": "yes"})

    assert paused.state == {"log": []}
    assert ended.state["log"] == ["before blank", "after filled, filled yes"]
    assert ran == ["before", "after"]


async def test_a_child_that_ends_while_the_code_runs_again_is_not_run_twice() -> None:
    """The code is on its way to the call when the child's answer is already there."""
    ran: list[str] = []

    @agent(writes="told", blocking=False)
    def tell(answer: str) -> str:
        ran.append(answer)
        return answer

    asking = SequentialAgent("asking", [AskAgent("ask", "Well?", "answer"), tell])

    class Slow(BaseAgent):
        async def run(self, ctx: Context) -> Any:
            for _ in range(50):
                await anyio.lowlevel.checkpoint()
            await ctx.run(self.sub_agents[0])

    flow = Flow(Slow(name="slow", sub_agents=[asking], reads=[], writes=[]), inputs={})
    paused = await flow.run({}, check="off")
    ended = await resumed(flow, paused, ask="yes")

    assert ended.status == "completed"
    assert ended.state == {"answer": "yes", "told": "yes"}
    assert ran == ["yes"]
