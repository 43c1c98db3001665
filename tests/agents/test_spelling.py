"""The names under which users of ADK know things: code written with them runs."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import replace

import pytest

from graphflow import Context, Flow
from graphflow.agents import BaseAgent, LlmAgent, LoopAgent, ParallelAgent, SequentialAgent
from graphflow.agents.callback_context import CallbackContext
from graphflow.agents.invocation_context import InvocationContext
from graphflow.events import Event, EventActions


class Login(BaseAgent):
    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        changes = {"task_status": "active"}
        yield Event(author=self.name, invocation_id=ctx.invocation_id, actions=EventActions(state_delta=changes))


class StopChecker(BaseAgent):
    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        status = ctx.session.state.get("task_status", "pending")
        should_stop = status == "active"
        yield Event(author=self.name, actions=EventActions(escalate=should_stop))


def test_contexts_are_one() -> None:
    assert InvocationContext is CallbackContext is Context


def test_an_event_knows_its_run_by_both_names() -> None:
    event = Event(author="a", invocation_id="i")

    assert (event.run_id, event.invocation_id) == ("i", "i")
    assert Event(run_id="r").invocation_id == "r"
    assert replace(event, author="b") == Event(author="b", run_id="i")


def test_lists_of_sub_agents_and_names_by_keyword() -> None:
    leaf = LlmAgent(name="leaf", model="m", instruction="x")
    tree = SequentialAgent(name="s", sub_agents=[ParallelAgent(name="p", sub_agents=[leaf])])

    assert tree.find_agent("leaf") is leaf
    assert leaf.root_agent is tree


@pytest.mark.anyio
async def test_a_loop_of_custom_agents() -> None:
    loop = LoopAgent(name="loop", sub_agents=[Login(name="login"), StopChecker(name="stop")], max_iterations=5)
    flow = Flow(loop, inputs={})
    result = await flow.run()

    assert not flow.check().errors
    assert result.state == {"task_status": "active"}
    assert [event.kind for event in result.events].count("task_started") == 2
