"""`MapAgent` and the policies of `ParallelAgent`: their graphs, and what their runs leave."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from graphflow import (
    Failure,
    Flatten,
    Flow,
    FunctionAgent,
    Key,
    LoopAgent,
    MapAgent,
    Merge,
    ParallelAgent,
    Result,
    RunFailed,
    agent,
    key,
)
from graphflow.ir.builder import build
from graphflow.ir.nodes import Fork, Group, Interface, Join, Over
from graphflow.schema import type_of


class Note(BaseModel):
    text: str


@agent(writes="half", blocking=False)
def halve(n: int) -> int:
    if n % 2:
        raise ValueError(f"{n} is odd")
    return n // 2


@agent(writes="note", blocking=False)
def note(word: str) -> Note:
    return Note(text=word)


@agent(writes="seen", blocking=False)
def see(word: str) -> str:
    return word


async def run(root: Any, inputs: dict[str, Any], **more: Any) -> Result:
    return await Flow(root, **more).run(inputs, check="off")


def test_the_fork_knows_the_list() -> None:
    """A key or a field of one; the item and the index are what the fork writes."""
    graph = build(
        MapAgent("m", over=key("plan").field("a.b"), item="word", index="i", agent=see, max_concurrency=3), Interface()
    )
    fork = graph.nodes["m#fork"]

    assert isinstance(fork, Fork)
    assert fork.group == Group("m#join", over=Over("plan", ("a", "b"), "word", "i"), limit=3)
    assert [(read.key, read.path, read.optional) for read in fork.contract.reads] == [("plan", ("a", "b"), False)]
    assert [write.key for write in fork.contract.writes] == ["word", "i"]
    assert {(edge.source, edge.target, edge.label) for edge in graph.edges if edge.source == "m#fork"} == {
        ("m#fork", "m/see", "body"),
        ("m#fork", "m#join", "empty"),
    }


@pytest.mark.parametrize(
    ("collect", "on_error", "expected"),
    [
        ("notes", "fail", "list[Note]"),
        ("notes", "collect", "list[Note | Failure]"),
        (Flatten("notes"), "fail", "list"),
    ],
)
def test_the_lists_have_the_types_of_what_is_collected(collect: Any, on_error: str, expected: str) -> None:
    made = MapAgent("m", over="words", item="word", agent=note, collect={"note": collect}, on_error=on_error)
    join = build(made, Interface()).nodes["m#join"]

    assert isinstance(join, Join)
    assert [(write.key, write.type.text) for write in join.contract.writes] == [("notes", expected)]


def test_a_declared_type_of_the_collected_key_wins() -> None:
    """Also where its writes are updates of another type."""
    made = MapAgent("m", over="words", item="word", agent=see, collect={"seen": "all"})
    graph = build(made, Interface(keys=(Key("seen", list[str], merge=Merge.append),)))

    assert graph.nodes["m#join"].contract.writes[0].type == type_of(list[list[str]])


def test_an_escalation_in_a_map_leads_to_its_join() -> None:
    """And from there out of the loop around it; without a loop it leads nowhere."""
    stop = FunctionAgent(name="stop", func=lambda ctx: setattr(ctx.actions, "escalate", True))
    graph = build(LoopAgent("l", [MapAgent("m", over="words", agent=stop)], max_iterations=2), Interface())
    alone = build(MapAgent("m", over="words", agent=stop), Interface())

    found = [(edge.source, edge.target) for edge in graph.edges if edge.label.startswith("escalate")]
    assert found == [("l/m/stop", "l/m#join"), ("l/m#join", "l#exit")]
    assert not [edge for edge in alone.edges if edge.label.startswith("escalate")]


@pytest.mark.anyio
async def test_results_are_in_the_order_of_the_list() -> None:
    made = MapAgent("m", over="words", item="word", agent=note, collect={"note": "notes"})
    result = await run(made, {"words": ["b", "a"]})

    assert result.state == {"words": ["b", "a"], "notes": [Note(text="b"), Note(text="a")]}
    assert (await run(made, {"words": []})).state == {"words": [], "notes": []}


@pytest.mark.anyio
async def test_failures_are_collected_in_their_places() -> None:
    made = MapAgent("m", over="ns", item="n", agent=halve, collect={"half": "halves"}, on_error="collect")

    assert (await run(made, {"ns": [2, 3]})).state["halves"] == [1, Failure(1, "ValueError: 3 is odd")]
    with pytest.raises(RunFailed, match="3 is odd"):
        await run(made.clone({"on_error": "fail"}), {"ns": [2, 3]})


@pytest.mark.anyio
async def test_updates_leave_a_map_and_other_writes_do_not() -> None:
    made = MapAgent("m", over="words", item="word", agent=see)
    merged = await run(made, {"words": ["a", "b"]}, keys=[Key("seen", list[str], merge=Merge.append)])

    assert merged.state["seen"] == ["a", "b"]
    assert "seen" not in (await run(made.clone(), {"words": ["a", "b"]})).state


GROUPS = st.fixed_dictionaries(
    {},
    optional={
        "join": st.sampled_from([None, "any", 1, 2]),
        "on_error": st.sampled_from(["fail", "collect", {"k": 1}, None]),
        "max_concurrency": st.sampled_from([None, 1, 3]),
    },
)


@settings(max_examples=40)
@given(GROUPS)
def test_a_group_says_what_is_not_plain(more: dict[str, Any]) -> None:
    """Waiting for all branches without cap or collecting needs no group; everything else is in it."""
    graph = build(ParallelAgent("p", [halve.clone(), see.clone()], **more), Interface())
    fork = graph.nodes["p#fork"]
    need = {"any": 1}.get(more.get("join"), more.get("join"))
    limit = more.get("max_concurrency")
    failures = "collect" if more.get("on_error") == "collect" else "fail"

    assert isinstance(fork, Fork)
    if (need, limit, failures) == (None, None, "fail"):
        assert fork.group is None
    else:
        assert fork.group == Group("p#join", need=need, failures=failures, limit=limit)
    assert ("p#fallback" in graph.nodes) == isinstance(more.get("on_error"), dict)


def failing(name: str, writes: str) -> FunctionAgent:
    def fail() -> str:
        raise ValueError(name)

    return FunctionAgent(name=name, func=fail, writes=writes, blocking=False)


@pytest.mark.anyio
async def test_enough_successes_end_a_region() -> None:
    """Failures are tolerated as long as enough branches can succeed, and fail the region when they cannot."""
    fine = see.clone()
    any_of = ParallelAgent("p", [failing("first", "seen"), fine], join="any")
    both_of = ParallelAgent("p", [failing("first", "other"), see.clone()], join=2)

    assert (await run(any_of, {"word": "w"})).state["seen"] == "w"
    with pytest.raises(RunFailed, match="first"):
        await run(both_of, {"word": "w"})


@pytest.mark.anyio
async def test_a_region_in_which_none_succeeds_fails() -> None:
    """Also where failures are collected; what runs instead of the region is another matter."""
    branches = [failing("first", "a"), failing("second", "b")]
    with pytest.raises(RunFailed):
        await run(ParallelAgent("p", branches, on_error="collect"), {})

    instead = ParallelAgent("p", [branch.clone() for branch in branches], on_error={"a": "x"})
    assert (await run(instead, {})).state == {"a": "x"}
