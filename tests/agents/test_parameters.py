"""Constructors of agents raise `TypeError` with a text that helps, and nothing else; copies keep what is shared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphflow import (
    AskAgent,
    BaseAgent,
    ConditionalAgent,
    Flatten,
    Flow,
    Gate,
    LlmAgent,
    LoopAgent,
    MapAgent,
    ParallelAgent,
    RetryPolicy,
    SequentialAgent,
    SubFlow,
    key,
)
from graphflow.agents.base import Agent
from graphflow.ir.builder import build
from graphflow.ir.graph import verify
from graphflow.ir.nodes import Interface
from graphflow.ir.text import print_graph


def model(name: str = "a") -> LlmAgent:
    return LlmAgent(name=name, instruction="x", output_key="k")


class Plain(BaseAgent):
    child: LlmAgent


WRONG: dict[str, tuple[Callable[[], Agent], str]] = {
    "over": (lambda: MapAgent("m", over=3, agent=model()), '`over`: takes a key, such as "category"'),
    "a function to map": (lambda: MapAgent("m", over="x", agent=print), "make one with @agent"),
    "collect": (lambda: MapAgent("m", over="x", agent=model(), collect=["k"]), '{"result": "results"}'),
    "collected into nothing": (lambda: MapAgent("m", over="x", agent=model(), collect={"k": 3}), "Flatten(key)"),
    "flatten": (lambda: MapAgent("m", over="x", agent=model(), collect={"k": Flatten("")}), "joined list"),
    "cap": (lambda: ParallelAgent("p", [model()], max_concurrency=0), "at least 1"),
    "a cap that is a flag": (lambda: MapAgent("m", over="x", agent=model(), max_concurrency=True), "at least 1"),
    "join": (lambda: ParallelAgent("p", [model()], join="all"), '"any", or the number'),
    "a join out of reach": (lambda: ParallelAgent("p", [model()], join=2), "waits for 2 successes of 1"),
    "failures": (lambda: ParallelAgent("p", [model()], on_error="ignore"), '"fail", "collect"'),
    "failures of a sequence": (lambda: SequentialAgent("s", [model()], on_error="collect"), "an agent to run instead"),
    "a flow": (lambda: SubFlow("s", model()), "wrap it: Flow(agent)"),
    "inputs": (lambda: SubFlow("s", Flow(model()), inputs={"a": 1}), "key of the inner flow -> key outside"),
    "a schema": (lambda: AskAgent("a", "?", "k", output_schema=3), "a value where a type is expected"),
    "a default": (lambda: AskAgent("a", "?", "k", output_schema=int, default="x"), "`default` is no int"),
    "a missing child": (lambda: Plain("p"), "`child` is missing"),
    "declared reads": (lambda: BaseAgent("b", reads=3), "`reads` takes a key"),
    "an unknown parameter": (lambda: BaseAgent("b", sub_agent=[]), "did you mean `sub_agents`"),
    "seconds": (lambda: Gate("g", key("x"), timeout=0), "seconds above 0"),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_arguments(what: str) -> None:
    make, expected = WRONG[what]

    with pytest.raises(TypeError) as caught:
        make()

    assert expected in str(caught.value)


def test_a_body_is_async() -> None:
    class Late(BaseAgent):
        def run(self, ctx: Any) -> None:
            return None

    with pytest.raises(TypeError, match="write `async def run`"):
        Late("late")


OPTIONS: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {},
    optional={
        "description": st.text(max_size=5),
        "retry": st.sampled_from([2, RetryPolicy(attempts=1)]),
        "timeout": st.floats(0.5, 9),
        "on_error": st.just({"k": 1}),
        "estimate": st.floats(0.5, 9),
        "ignore": st.just(["GF203"]),
    },
)
BRANCHES: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {},
    optional={"max_concurrency": st.integers(1, 4), "on_error": st.sampled_from(["fail", "collect", {"k": 1}])},
)
KINDS: dict[str, Callable[[dict[str, Any], dict[str, Any]], Agent]] = {
    "ask": lambda options, _: AskAgent("a", "{x}?", "k", **options),
    "conditional": lambda options, _: ConditionalAgent("c", when=key("x"), then=model(), **options),
    "custom": lambda options, _: Plain("p", child=model(), **options),
    "gate": lambda options, _: Gate("g", key("x"), **options),
    "loop": lambda options, _: LoopAgent("l", [model()], max_iterations=2, **options),
    "map": lambda options, more: MapAgent("m", over="x", agent=model(), collect={"k": "ks"}, **{**options, **more}),
    "parallel": lambda options, more: ParallelAgent("p", [model(), model("b")], join="any", **{**options, **more}),
    "sequence": lambda options, _: SequentialAgent("s", [model()], **options),
    "sub-flow": lambda options, _: SubFlow("f", Flow(model()), outputs=["k"], **options),
}


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=20)
@given(data=st.data())
def test_every_agent_takes_the_options_and_lowers(kind: str, data: st.DataObject) -> None:
    """Any of them around any agent gives a well-formed graph, and a copy gives the same."""
    agent = KINDS[kind](data.draw(OPTIONS), data.draw(BRANCHES))
    around = LoopAgent("around", [agent], max_iterations=2)
    graph = build(around, Interface())
    copy = build(around.clone(), Interface())

    verify(graph)
    assert print_graph(graph) == print_graph(copy)


def test_a_copy_keeps_what_is_shared() -> None:
    """An agent that stands in two fields is one agent in the copy too, and none of the original's."""
    shared = model()
    tree = SequentialAgent("s", [shared, ConditionalAgent("c", on="x", cases={1: shared})], on_error=shared)
    copy = tree.clone({"name": "t"})
    first, second = copy.sub_agents

    assert isinstance(second, ConditionalAgent)
    assert copy.name == "t"
    assert first is second.cases[1] is copy.on_error
    assert first is not shared
    assert first.parent_agent is copy.sub_agents[1] or first.parent_agent is copy
