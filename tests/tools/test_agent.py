"""Tools of a model agent, as the check sees them: reads that may happen, writes that may happen, ways out of a loop."""

from __future__ import annotations

from typing import Any

import pytest

from graphflow import (
    Flow,
    LlmAgent,
    LoopAgent,
    ParallelAgent,
    Report,
    RunFailed,
    ScriptedModel,
    SequentialAgent,
    UsageError,
    agent,
)
from graphflow.contracts.contract import Contract, Read, Write
from graphflow.schema import type_of
from graphflow.tools import FunctionTool, ToolContext, exit_loop

STR = type_of(str)


def remember(fact: str, tool_context: ToolContext) -> str:
    """Remember a fact."""
    tool_context.state["facts"] = fact
    return "noted"


def recall(tool_context: ToolContext) -> Any:
    """Say what is known."""
    return tool_context.state["facts"]


def hand_on(key: str, tool_context: ToolContext) -> None:
    """Write any key."""
    tool_context.state[key] = 1


def stop(tool_context: ToolContext) -> None:
    """Stop everything."""
    tool_context.actions.halt = "enough"


def codes(report: Report) -> list[tuple[str, str, str | None]]:
    return [(each.code, each.node, each.key) for each in report.diagnostics if each.severity != "info"]


def model(name: str, **fields: Any) -> LlmAgent:
    return LlmAgent(name, **{"instruction": "x", "model": "gemini-2.5-flash", **fields})


def test_a_contract_holds_what_the_tools_may_do() -> None:
    """The agent's own reads and writes stay as they are; what tools read is optional, what they write is not sure."""
    researcher = model(
        "researcher",
        instruction="About {topic}",
        prompt="{facts}",
        output_key="draft",
        tools=[
            remember,
            recall,
            FunctionTool(exit_loop, effect="idempotent"),
            FunctionTool(hand_on, name="any", effect="irreversible"),
            stop,
        ],
    )

    assert researcher.contract == Contract(
        reads=(Read("topic"), Read("facts")),
        writes=(Write("draft", STR), Write("facts", sure=False)),
        open=(f"tool `any`: it uses `tool_context.state[key]` in line {hand_on.__code__.co_firstlineno + 2}",),
        escalates=True,
        answers_when_escalating=False,
        halts=True,
        effect="irreversible",
    )
    assert model("a", prompt="y", tools=[recall]).contract.reads == (Read("facts", optional=True),)


def test_a_tool_that_writes_the_answers_key_leaves_the_answer_sure() -> None:
    """The agent answers whether the tool was called or not."""
    assert model("a", output_key="facts", tools=[remember]).contract.writes == (Write("facts", STR),)


def test_without_tools_nothing_changes() -> None:
    """The contract of an agent with no tools is that of an agent with an empty list of them."""
    assert model("a", instruction="{t}", tools=[]).contract == model("a", instruction="{t}").contract


def test_a_key_that_only_a_tool_writes_is_not_sure_to_be_there() -> None:
    """A later stage that needs it is told: the model may not have called the tool. Asking for it optionally is enough."""
    gather = model("gather", output_key="draft", tools=[remember])
    inputs: dict[str, Any] = {}
    needs = Flow(
        SequentialAgent("s", [gather, model("tell", instruction="{draft} {facts}", output_key="o")]), inputs=inputs
    )
    asks = Flow(
        SequentialAgent("s", [gather, model("tell", instruction="{draft} {facts?}", output_key="o")]), inputs=inputs
    )

    assert codes(needs.check()) == [("GF202", "s/tell", "facts")]
    assert codes(asks.check()) == []


def test_what_a_tool_reads_is_read_and_needs_no_writer() -> None:
    """A key that only a tool reads is not left unread, an input that only a tool reads is not unused; one that nothing
    gives is no error, since the tool may never be called, but a warning."""
    seed = model("seed", output_key="facts")
    written = Flow(
        SequentialAgent("s", [seed, model("tell", output_key="o", tools=[recall])]), inputs={}, outputs=["o"]
    )
    given = Flow(model("tell", output_key="o", tools=[recall]), inputs={"facts": str}, outputs=["o"])
    neither = Flow(model("tell", output_key="o", tools=[recall]), inputs={}, outputs=["o"])

    assert codes(written.check()) == []
    assert codes(given.check()) == []
    assert codes(neither.check()) == [("GF213", "tell", "facts")]


def test_a_tool_that_writes_any_key_proves_and_refutes_nothing() -> None:
    """After an open contract no later read is an error."""
    flow = Flow(
        SequentialAgent("s", [model("w", tools=[hand_on]), model("r", instruction="{anything}", output_key="o")]),
        inputs={},
        outputs=["o"],
    )

    assert codes(flow.check()) == []


def test_two_branches_whose_tools_write_one_key_may_collide() -> None:
    """Tools of agents that run side by side write side by side."""
    flow = Flow(ParallelAgent("p", [model("a", tools=[remember]), model("b", tools=[remember])]), outputs=["facts?"])

    assert codes(flow.check()) == [("GF301", "p/b", "facts")]


@pytest.mark.parametrize("nested", [False, True])
def test_exit_loop_ends_the_loop_around_it(nested: bool) -> None:
    """A loop without a bound is no endless loop if a model in it may leave; the same loop without the tool is."""

    def flow(tools: list[Any]) -> Flow:
        critic = model("critic", instruction="{draft}", tools=tools)
        body = SequentialAgent("body", [critic]) if nested else critic
        writer = model("writer", output_key="draft")
        return Flow(SequentialAgent("s", [writer, LoopAgent("refine", [body])]), inputs={}, outputs=["draft"])

    assert codes(flow([exit_loop]).check()) == []
    assert [code for code, *_ in codes(flow([]).check())] == ["GF501"]


def test_exit_loop_outside_of_a_loop_is_an_error() -> None:
    """There is nothing to leave."""
    flow = Flow(SequentialAgent("s", [model("critic", tools=[exit_loop])]))

    assert codes(flow.check()) == [("GF503", "s/critic", None)]


def test_what_a_tool_wrote_before_it_left_the_loop_reaches_the_stages_after() -> None:
    """A verdict that comes with the call that ends the loop is no undefined read."""

    def decide(verdict: str, tool_context: ToolContext) -> None:
        """Decide, and end."""
        tool_context.state["verdict"] = verdict
        tool_context.actions.escalate = True

    flow = Flow(
        SequentialAgent(
            "s",
            [LoopAgent("l", [model("judge", tools=[decide])]), model("r", instruction="{verdict?}", output_key="o")],
        ),
        inputs={},
        outputs=["o"],
    )

    assert codes(flow.check()) == []


@pytest.mark.parametrize(
    ("tools", "message"),
    [
        ([3], "LlmAgent: parameter `tools`: a tool is a function or a FunctionTool, got 3"),
        (recall, "LlmAgent: parameter `tools`: takes a list of functions, got <function recall"),
        ("recall", "LlmAgent: parameter `tools`: takes a list of functions, got 'recall'"),
        ([model("inner")], "LlmAgent: parameter `tools`: `inner` is an agent; a tool is a function"),
        ([agent(recall)], "LlmAgent: parameter `tools`: `recall` is an agent; a tool is a function"),
        ([str], "LlmAgent: parameter `tools`: a tool is a function or a FunctionTool, got <class 'str'>"),
    ],
)
def test_only_functions_are_tools(tools: Any, message: str) -> None:
    """The message says which parameter, what it takes and what it was given."""
    with pytest.raises(TypeError) as raised:
        model("a", tools=tools)

    assert str(raised.value).startswith(message)


def test_a_copy_has_the_same_tools() -> None:
    """Cloning an agent keeps its tools and may replace them."""
    first = model("a", tools=[remember, FunctionTool(recall, name="facts")])

    assert [tool.name for tool in first.clone().tools] == ["remember", "facts"]
    assert first.clone({"tools": []}).tools == ()
    assert first.clone().contract == first.contract


def flow_with_a_tool() -> tuple[Flow, list[str]]:
    calls: list[str] = []

    @agent(writes="topic", blocking=False)
    def first() -> str:
        calls.append("first")
        return "tides"

    writer = LlmAgent("writer", instruction="{topic}", output_key="facts", tools=[recall])
    return Flow(SequentialAgent("s", [first, writer]), model=ScriptedModel("answer")), calls


@pytest.mark.anyio
async def test_a_flow_with_tools_is_refused_before_anything_starts() -> None:
    """Nothing calls tools yet, so a run would give an answer that never saw them."""
    flow, calls = flow_with_a_tool()

    with pytest.raises(UsageError, match=r"`s/writer`: its tools \(`recall`\) can be checked, but not called yet"):
        await flow.run()

    assert calls == []


def test_a_flow_with_tools_never_completes() -> None:
    """Whatever the run does before, no model is asked without the tools it was promised."""
    flow, _ = flow_with_a_tool()

    with pytest.raises((UsageError, RunFailed), match=r"`recall`\) can be checked, but not called yet"):
        flow.run_sync()
