"""`SubFlow`: what crosses its border, and that nothing else does."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from graphflow import Flow, Key, LlmAgent, LoopAgent, Merge, Result, ScriptedModel, SequentialAgent, SubFlow, agent
from graphflow.ir.graph import Graph
from graphflow.ir.nodes import Task


class Note(BaseModel):
    text: str


@agent(writes="log", blocking=False)
def note(text: str, size: int) -> str:
    return text[:size]


@agent(writes="summary", blocking=False)
def sum_up(log: list[str]) -> str:
    return "+".join(log)


@agent(writes="wrapped", blocking=False)
def wrap(text: str) -> Note:
    return Note(text=text)


def shorten(**more: Any) -> Flow:
    return Flow(
        SequentialAgent("steps", [note, sum_up]),
        inputs={"text": str, "size": (int, 2), "tone?": str},
        outputs={"summary": str, "extra?": int},
        keys=[Key("log", list[str], default=["start"], merge=Merge.append)],
        **more,
    )


def contract(graph: Graph, node: str) -> tuple[list[str], list[str]]:
    """Reads and writes as text: `?` for optional, `~` for what graphflow reads of its own accord."""
    task = graph.nodes[node]
    assert isinstance(task, Task)
    assert task.fresh == node.partition("#")[0] + "/"
    return (
        [read.key + "?" * read.optional + "~" * read.implicit for read in task.contract.reads],
        [write.key + "?" * (not write.sure) for write in task.contract.writes],
    )


def test_inputs_that_are_not_mapped_keep_their_names() -> None:
    """A required one is required outside; an optional one is taken if it is there, and its default holds otherwise."""
    graph = Flow(SubFlow("s", shorten())).graph

    assert contract(graph, "s#inputs") == (["text", "size?~", "tone?~"], ["s/log", "s/size", "s/text", "s/tone?"])
    assert contract(graph, "s#outputs") == (["s/summary", "s/extra?"], [])


def test_mapped_keys() -> None:
    """`?` on either side makes the crossing optional; lists name keys that are called the same."""
    made = SubFlow(
        "s",
        shorten(),
        inputs={"text": "draft", "size": "limit?", "other": "more"},
        outputs={"summary": "short", "extra": "count"},
    )
    graph = Flow(made).graph

    assert contract(graph, "s#inputs") == (
        ["draft", "limit?", "more", "tone?~"],
        ["s/log", "s/size", "s/text", "s/other", "s/tone?"],
    )
    assert contract(graph, "s#outputs") == (["s/summary", "s/extra?"], ["short", "count?"])
    assert SubFlow("s", shorten(), inputs=["text"], outputs=["summary"]).outputs == {"summary": "summary"}


def test_declarations_of_the_inner_flow_hold_inside() -> None:
    """Types and merges do, under the sub-flow's prefix; what is shared by all flows keeps its name."""
    inner = Flow(note, keys=[Key("log", list[str], merge=Merge.append, persist=True), Key("user:tier", str)])
    keys = {each.name: each for each in Flow(SubFlow("s", inner), keys=[Key("user:tier", int)]).graph.interface.keys}

    assert list(keys) == ["user:tier", "s/log"]
    assert keys["user:tier"].type is int
    assert (keys["s/log"].merge, keys["s/log"].persist) == (Merge.append, False)


def test_scopes_nest() -> None:
    """A sub-flow in a sub-flow has a prefix of its own; its border names the keys of the one around it."""
    middle = Flow(SubFlow("inner", shorten(), outputs={"summary": "brief"}), inputs={"text": str}, outputs=["brief"])
    graph = Flow(SubFlow("outer", middle, outputs=["brief"])).graph

    assert contract(graph, "outer/inner#inputs")[0] == ["outer/text", "outer/size?~", "outer/tone?~"]
    assert contract(graph, "outer/inner#outputs")[1] == ["outer/brief"]
    assert contract(graph, "outer#outputs") == (["outer/brief"], ["brief"])


def test_types_cross_the_border() -> None:
    """What is not declared has the type of what wrote it, so that it can be stored outside too."""
    inner = Flow(wrap, inputs={"text": str}, outputs=["wrapped"])
    graph = Flow(SubFlow("s", inner, outputs=["wrapped"])).graph

    assert graph.nodes["s#outputs"].contract.writes[0].type.text == "Note"


def test_escalations_stay_inside() -> None:
    """No edge leads from inside a sub-flow to the loop around it."""

    @agent
    def stop(ctx: Any) -> None:
        ctx.actions.escalate = True

    graph = Flow(LoopAgent("l", [SubFlow("s", Flow(stop))], max_iterations=2)).graph

    assert not [edge for edge in graph.edges if edge.label.startswith("escalate")]


def test_the_inner_flows_model_is_that_of_its_agents() -> None:
    """Where they name none; around it the outer flow's holds."""
    inner = Flow(LlmAgent(name="in", instruction="x", output_key="a"), model="inner-model")
    own = LlmAgent(name="own", instruction="x", model="own-model")
    graph = Flow(SequentialAgent("s", [SubFlow("f", inner), own])).graph
    models = {id_: node.model for id_, node in graph.nodes.items() if isinstance(node, Task) and node.kind == "model"}

    assert models == {"s/f/in": "inner-model", "s/own": "own-model"}


async def run(root: Any, given: dict[str, Any], **more: Any) -> Result:
    return await Flow(root, **more).run(given, check="off")


@pytest.mark.anyio
async def test_only_what_is_mapped_comes_out() -> None:
    """Nothing of the inner keys is left, and a merge of the inner flow starts at its default each time."""
    inner = shorten()
    twice = SequentialAgent(
        "twice",
        [
            SubFlow("first", inner, inputs={"text": "draft"}, outputs={"summary": "short"}),
            SubFlow("second", inner, inputs={"text": "short", "size": "limit"}, outputs={"summary": "shorter"}),
        ],
    )
    result = await run(twice, {"draft": "abcdef", "limit": 4})

    assert result.state == {"draft": "abcdef", "limit": 4, "short": "start+ab", "shorter": "start+star"}


@pytest.mark.anyio
async def test_each_round_of_a_loop_starts_anew() -> None:
    """What the sub-flow wrote in the round before is gone."""

    @agent(writes="n", blocking=False)
    def once(n: int = 0) -> int:
        return n + 1

    inner = Flow(once.clone({"name": "count"}), inputs={}, outputs=["n"])
    result = await run(LoopAgent("l", [SubFlow("s", inner, outputs={"n": "last"})], max_iterations=3), {})

    assert result.state == {"last": 1}


@pytest.mark.anyio
async def test_a_value_handed_in_replaces_what_a_merge_starts_from() -> None:
    """An input with a merge is a value, not an update of one."""
    inner = Flow(
        note,
        inputs={"log": list[str], "text": str, "size": int},
        outputs=["log"],
        keys=[Key("log", list[str], default=["start"], merge=Merge.append)],
    )
    made = SubFlow("s", inner, inputs={"log": "history"}, outputs={"log": "history"})
    inputs = {"history": list[str], "text": str, "size": int}
    result = await run(made, {"history": ["a"], "text": "bc", "size": 1}, inputs=inputs)

    assert result.state["history"] == ["a", "b"]


@pytest.mark.anyio
async def test_a_model_inside_is_asked() -> None:
    """With the keys of the sub-flow as its author named them."""
    model = ScriptedModel({"writer": "done"})
    inner = Flow(
        LlmAgent(name="writer", instruction="x", prompt="About {text}", output_key="out"),
        inputs={"text": str},
        outputs=["out"],
        model=model,
    )
    result = await run(SubFlow("s", inner, outputs=["out"]), {"text": "tides"})

    assert result.state["out"] == "done"


def test_one_flow_may_stand_many_times() -> None:
    """Names are unique in a flow, and a sub-flow is another one."""
    inner = shorten()
    twice = SequentialAgent("t", [SubFlow("a", inner), SubFlow("b", inner)])

    assert not Flow(twice, inputs={"text": str}).check().errors
