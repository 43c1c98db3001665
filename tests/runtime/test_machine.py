"""The machine refuses events that do not fit, and is then as it was."""

from __future__ import annotations

import pytest

from graphflow import Flow, ParallelAgent, agent
from graphflow.errors import InternalError
from graphflow.runtime.machine import Machine
from graphflow.runtime.messages import Abort, Event, Failed, Outcome, Start, StartTask, Stopped, StopTask, Succeeded


@agent(writes="x", blocking=False)
def left() -> int:
    return 1


@agent(writes="y", blocking=False, effect="irreversible")
def right() -> int:
    return 2


def machine() -> Machine:
    return Machine(Flow(ParallelAgent("p", [left, right])).plan, "r")


def kinds(outcome: Outcome) -> list[str]:
    return [type(record).__name__ for record in outcome.records]


@pytest.mark.parametrize(
    ("before", "illegal"),
    [
        ([], Succeeded(1, {})),
        ([], Abort("no")),
        ([Start({})], Start({})),
        ([Start({})], Succeeded(3, {})),
        ([Start({})], Failed(0, ValueError())),
        ([Start({}), Succeeded(1, {"x": 1})], Succeeded(1, {"x": 1})),
        ([Start({}), Succeeded(1, {"x": 1})], Stopped(1)),
        ([Start({}), Succeeded(1, {"x": 1}), Succeeded(2, {"y": 2})], Abort("late")),
        ([Start({}), Succeeded(1, {"x": 1}), Succeeded(2, {"y": 2})], Stopped(2)),
    ],
    ids=str,
)
def test_an_illegal_event_changes_nothing(before: list[Event], illegal: Event) -> None:
    """The same events lead to the same records, with and without the illegal one between."""
    touched, untouched = machine(), machine()
    for event in before:
        touched.step(event)
        untouched.step(event)

    with pytest.raises(InternalError):
        touched.step(illegal)

    assert (touched.status, touched.root.plain()) == (untouched.status, untouched.root.plain())
    rest: list[Event] = [Start({}), Succeeded(1, {"x": 1}), Succeeded(2, {"y": 2})][len(before) :]
    for event in rest:
        mine, theirs = touched.step(event), untouched.step(event)
        assert mine.records == theirs.records
        assert [command.ticket for command in mine.commands] == [command.ticket for command in theirs.commands]
    assert touched.status == "completed"
    assert touched.root.plain() == {"x": 1, "y": 2}


def test_a_failure_stops_what_can_be_stopped() -> None:
    one = machine()
    one.step(Start({}))

    failed = one.step(Failed(1, ValueError("no")))
    late = one.step(Succeeded(2, {"y": 2}))

    assert kinds(failed) == ["TaskFailed"]
    assert failed.commands == []
    assert kinds(late) == ["TaskCommitted", "RunEnded"]
    assert (one.status, one.root.plain()) == ("failed", {})


def test_a_stopped_task_that_succeeds_all_the_same_commits_nothing() -> None:
    one = machine()
    one.step(Start({}))

    failed = one.step(Failed(2, ValueError("no")))
    late = one.step(Succeeded(1, {"x": 1}))

    assert failed.commands == [StopTask(1)]
    assert kinds(late) == ["Cancelled", "RunEnded"]


def test_commands_name_what_is_to_run() -> None:
    outcome = machine().step(Start({}))

    started = [command for command in outcome.commands if isinstance(command, StartTask)]
    assert [(command.ticket, command.node.id) for command in started] == [(1, "p/left"), (2, "p/right")]
    assert kinds(outcome) == ["RunStarted", "TaskStarted", "TaskStarted"]
