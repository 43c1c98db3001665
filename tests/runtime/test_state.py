"""What a task sees and what becomes of its writes."""

from __future__ import annotations

import pytest
from anyio import Event
from anyio.lowlevel import checkpoint

from graphflow import (
    Context,
    Flow,
    FunctionAgent,
    Key,
    Merge,
    Overwrite,
    ParallelAgent,
    RunFailed,
    SequentialAgent,
    agent,
)
from graphflow.errors import AbsentKeyError, ContractViolation, StateConflictError

pytestmark = pytest.mark.anyio


def writes(name: str, key: str, value: object) -> FunctionAgent:
    """A stage that writes one value."""

    async def write() -> object:
        return value

    return FunctionAgent(name=name, func=write, writes=key)


def updates(name: str, delta: dict[str, object], **options: object) -> FunctionAgent:
    """A stage that returns a mapping, whatever its contract says."""

    async def write(ctx: Context) -> dict[str, object]:
        return delta

    return FunctionAgent(name=name, func=write, **options)


async def failure(flow: Flow, inputs: dict[str, object] | None = None) -> RunFailed:
    with pytest.raises(RunFailed) as caught:
        await flow.run(inputs, check="off")
    return caught.value


async def test_a_change_in_place_writes_nothing() -> None:
    seen = []

    @agent(writes="size")
    async def count(items: list[int]) -> int:
        items.append(99)
        return len(items)

    @agent
    async def look(items: list[int]) -> None:
        seen.append(items)

    result = await Flow(SequentialAgent("s", [count, look]), inputs={"items": list[int]}).run({"items": [1]})

    assert result.state == {"items": [1], "size": 2}
    assert seen == [[1]]


async def test_what_a_body_returned_is_copied() -> None:
    shared = [1]

    @agent(writes="items")
    async def produce() -> list[int]:
        return shared

    @agent(writes="more")
    async def change(items: list[int]) -> int:
        shared.append(2)
        return len(items)

    result = await Flow(SequentialAgent("s", [produce, change])).run()

    assert result.state == {"items": [1], "more": 1}


async def test_a_sibling_never_sees_a_write() -> None:
    """The second branch starts after the first has ended, and still sees the state at the fork."""
    done = Event()

    @agent(writes="x")
    async def first() -> int:
        return 2

    @agent
    async def after() -> None:
        done.set()

    @agent(writes="seen")
    async def second() -> int:
        await done.wait()
        return 0

    @agent(writes="copy")
    async def third(x: int) -> int:
        return x

    tree = ParallelAgent("p", [SequentialAgent("l", [first, after]), SequentialAgent("r", [second, third])])
    result = await Flow(tree, inputs={"x": int}).run({"x": 1}, check="off")

    assert result.state == {"x": 2, "seen": 0, "copy": 1}


@pytest.mark.parametrize("order", [(0, 3), (3, 0)])
async def test_updates_meet_in_declaration_order(order: tuple[int, int]) -> None:
    def slow(name: str, rounds: int) -> FunctionAgent:
        async def write() -> str:
            for _ in range(rounds):
                await checkpoint()
            return name

        return FunctionAgent(name=name, func=write, writes="notes")

    notes = Key("notes", list[str], default=["fork"], merge=Merge.append)
    tree = ParallelAgent("p", [slow("left", order[0]), slow("right", order[1])])

    assert (await Flow(tree, keys=[notes]).run()).state == {"notes": ["fork", "left", "right"]}


async def test_an_overwrite_replaces_what_is_before_it_in_the_order() -> None:
    notes = Key("notes", list[str], merge=Merge.append)
    tree = ParallelAgent(
        "p",
        [writes("a", "notes", "a"), writes("b", "notes", Overwrite(["b"])), writes("c", "notes", "c")],
    )

    assert (await Flow(tree, keys=[notes]).run(check="off")).state == {"notes": ["b", "c"]}


async def test_two_writes_without_a_merge_conflict() -> None:
    failed = await failure(Flow(ParallelAgent("p", [writes("a", "x", 1), writes("b", "x", 1)])))

    error = failed.__cause__
    assert isinstance(error, StateConflictError)
    assert (error.key, error.nodes, error.where) == ("x", ("p/a", "p/b"), "p#join")
    assert failed.result.state == {}


async def test_branches_that_have_not_joined_leave_nothing() -> None:
    done = Event()

    @agent
    async def after() -> None:
        done.set()

    @agent
    async def fail() -> None:
        await done.wait()
        raise ValueError("no")

    tree = SequentialAgent(
        "s", [writes("w", "x", 1), ParallelAgent("p", [SequentialAgent("l", [writes("v", "y", 1), after]), fail])]
    )

    assert (await failure(Flow(tree))).result.state == {"x": 1}


@pytest.mark.parametrize("declared", [{"reads": ["x"]}, {"reads": {"x": int}}])
async def test_an_absent_key_fails_before_the_body_runs(declared: dict[str, object]) -> None:
    ran = []

    async def body(ctx: Context) -> None:
        ran.append(ctx.node)

    failed = await failure(Flow(FunctionAgent(name="f", func=body, **declared)))

    assert isinstance(failed.__cause__, AbsentKeyError)
    assert (failed.__cause__.key, failed.__cause__.node) == ("x", "f")
    assert not ran


async def test_none_is_a_value() -> None:
    @agent(writes="y")
    async def copy(x: int | None) -> int | None:
        return x

    assert (await Flow(SequentialAgent("s", [writes("w", "x", None), copy])).run(check="off")).state == {
        "x": None,
        "y": None,
    }


@pytest.mark.parametrize(
    ("stage", "key"),
    [
        (updates("f", {"x": 1}, writes=["x", "y"]), "y"),
        (updates("f", {"x": 1, "y": 1, "z": 1}, writes=["x", "y"]), "z"),
        (updates("f", {"x": "one"}, writes={"x": int}), "x"),
        (updates("f", {"x": object()}, writes=["x"], may_write=["q"]), "x"),
        (updates("f", {"q": 1}, writes={"x": int}, may_write=["q"]), "x"),
    ],
    ids=["missing", "extra", "type", "no-json", "missing-beside-may"],
)
async def test_a_broken_contract_commits_nothing(stage: FunctionAgent, key: str) -> None:
    failed = await failure(Flow(stage))

    assert isinstance(failed.__cause__, ContractViolation)
    assert (failed.__cause__.node, failed.__cause__.key) == ("f", key)
    assert failed.result.state == {}


async def test_what_the_contract_does_not_name_is_not_shown() -> None:
    seen = []

    async def body(ctx: Context) -> None:
        seen.append(dict(ctx.state))

    await Flow(FunctionAgent(name="f", func=body, reads=["x", "z?"]), inputs={"x": int, "y": int}).run({"x": 1, "y": 2})

    assert seen == [{"x": 1}]


async def test_a_merge_that_raises_fails_its_task() -> None:
    def refuse(old: int, new: int) -> int:
        raise ZeroDivisionError("no")

    key = Key("x", int, default=1, merge=Merge.of(refuse))

    failed = await failure(Flow(writes("w", "x", 2), keys=[key]))

    assert isinstance(failed.__cause__, ContractViolation)
    assert failed.result.state == {"x": 1}


async def test_a_merge_that_raises_at_a_join_fails_the_run() -> None:
    def refuse(old: int, new: int) -> int:
        raise ZeroDivisionError("no")

    tree = ParallelAgent("p", [writes("a", "x", 2), writes("b", "x", 2)])

    failed = await failure(Flow(tree, keys=[Key("x", int, merge=Merge.of(refuse))]))

    assert isinstance(failed.__cause__, ContractViolation)
    assert failed.result.state == {}


async def test_a_declared_output_that_is_missing_fails_the_run() -> None:
    async def body(ctx: Context) -> dict[str, int]:
        return {}

    failed = await failure(Flow(FunctionAgent(name="f", func=body, may_write=["x"]), outputs=["x"]))

    assert isinstance(failed.__cause__, AbsentKeyError)


async def test_what_is_written_through_actions_is_committed() -> None:
    """The spelling of callbacks elsewhere: `ctx.actions.state_delta[...] = ...`."""

    @agent(blocking=False)
    def note(ctx: Context) -> None:
        ctx.actions.state_delta["noted"] = 1

    flow = Flow(note, outputs=["noted"])

    assert not flow.check().errors
    assert (await flow.run()).outputs == {"noted": 1}
