"""`graphflow.cli.progress`: what is said about a run while it runs."""

from __future__ import annotations

import io
import re
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphflow import (
    AskAgent,
    BaseAgent,
    Context,
    Flow,
    Gate,
    LoopAgent,
    MapAgent,
    RetryPolicy,
    SequentialAgent,
    SubFlow,
    agent,
    key,
)
from graphflow.checker.formats import printable
from graphflow.cli.progress import Progress, Row, _visible, watching
from graphflow.events import Event
from graphflow.runtime.result import Result


@agent(writes="count", blocking=False)
def step(count: int) -> int:
    """Count."""
    return count + 1


def counting() -> Flow:
    """Three rounds, then a gate that holds."""
    loop = LoopAgent("rounds", [step], max_iterations=5, until=key("count") >= 3)
    return Flow(
        SequentialAgent("all", [loop, Gate("enough", key("count") > 2)]), inputs={"count": (int, 0)}, outputs=["count"]
    )


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        """It is."""
        return True


def watch(stream: io.StringIO) -> Result:
    """Run the counting flow and show its progress."""
    flow = counting()
    with watching(Progress.of(flow), stream) as on_event:
        return flow.run_sync({}, on_event=on_event)


def test_plain_lines() -> None:
    """Without a terminal: one plain line for each event, in order, with iterations."""
    stream = io.StringIO()
    watch(stream)
    lines = [line.partition("] ")[2] for line in stream.getvalue().splitlines()]
    assert [line for line in lines if "started" in line] == [f"rounds/step (iteration {n}): started" for n in (1, 2, 3)]
    assert any("until" in line for line in lines if line.startswith("rounds"))
    assert any(line.startswith("enough") for line in lines)
    assert "\x1b" not in stream.getvalue()


def test_a_live_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal: a table that is drawn over itself and stays as the summary; no colours under NO_COLOR."""
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    stream = Terminal()
    watch(stream)
    assert "rounds/step" in stream.getvalue()
    assert "3 times" in stream.getvalue()
    assert "\x1b[32m" in stream.getvalue()
    monkeypatch.setenv("NO_COLOR", "1")
    plain = Terminal()
    watch(plain)
    assert "rounds/step" in plain.getvalue()
    assert "\x1b[32m" not in plain.getvalue()


def test_a_dumb_terminal_gets_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal that cannot move its cursor gets plain lines."""
    monkeypatch.setenv("TERM", "dumb")
    stream = Terminal()
    watch(stream)
    assert "\x1b" not in stream.getvalue()


def lines_of(flow: Flow, inputs: dict[str, object]) -> list[str]:
    """What is said about a run without a terminal, without the times."""
    stream = io.StringIO()
    with watching(Progress.of(flow), stream) as on_event:
        flow.run_sync(inputs, on_event=on_event)
    return [re.sub(r"\d+\.\d\d s", "T", line.partition("] ")[2]) for line in stream.getvalue().splitlines()]


def test_elements_of_a_map() -> None:
    """Each instance has its start and its end, however they overlap; a collected failure is one of them."""

    @agent(writes="half", blocking=False)
    def halve(item: int) -> int:
        if item % 2:
            raise ValueError(f"{item} is odd")
        return item // 2

    each = MapAgent("each", over="items", agent=halve, collect={"half": "halves"}, on_error="collect")
    lines = lines_of(Flow(each, inputs={"items": list[int]}, outputs=["halves"]), {"items": [4, 3, 2]})
    assert sorted(lines) == [
        "halve (element 0): done in T",
        "halve (element 0): started",
        "halve (element 1): failed: 3 is odd",
        "halve (element 1): started",
        "halve (element 2): done in T",
        "halve (element 2): started",
    ]


class Twice(BaseAgent):
    """Runs its child twice."""

    child: Any

    async def run(self, ctx: Context) -> None:
        """Twice."""
        await ctx.run(self.child)
        await ctx.run(self.child)


def test_calls_of_a_custom_agent() -> None:
    """Its children say in which call they ran, and in which iteration of it; the code runs around them."""
    loop = LoopAgent("rounds", [step.clone()], max_iterations=2)
    lines = lines_of(Flow(Twice(name="twice", child=loop), inputs={"count": (int, 0)}, outputs=["count"]), {})
    assert (lines[0], lines[-1]) == ("twice: started", "twice: done in T")
    assert [line for line in lines if "started" in line][1:] == [
        f"rounds/step (call {call}, iteration {turn}): started" for call in (1, 2) for turn in (1, 2)
    ]


def test_attempts() -> None:
    """A failure that is tried again is no failure of the stage."""
    tries: list[int] = []

    @agent(writes="a", retry=RetryPolicy(attempts=2, backoff=0, jitter=0), blocking=False)
    def unsure() -> int:
        tries.append(1)
        if len(tries) < 2:
            raise ValueError("not yet")
        return 1

    lines = lines_of(Flow(unsure, inputs={}, outputs=["a"]), {})
    assert lines == [
        "unsure: started",
        "unsure: attempt 1 failed, is tried again: not yet",
        "unsure: started (attempt 2)",
        "unsure: done in T",
    ]


def test_what_graphflow_adds_is_no_stage() -> None:
    """The values written in place of what failed, and what carries keys into a sub-flow, have no rows."""

    @agent(writes="a", blocking=False, on_error={"a": 0})
    def fails() -> int:
        raise ValueError("no")

    inner = Flow(step.clone(), inputs={"count": int}, outputs=["count"])
    sub = SubFlow("sub", flow=inner, inputs={"count": "a"}, outputs={"count": "b"})
    flow = Flow(SequentialAgent("all", [fails, sub]), inputs={}, outputs=["b"])
    assert [row.name for row in Progress.of(flow).rows.values()] == ["fails", "sub/step"]
    assert {line.partition(":")[0] for line in lines_of(flow, {})} == {"fails", "sub/step"}


def test_a_question() -> None:
    """A stage that waits for a person says what it asks; when it goes on, it is the same row."""
    ask = AskAgent("approve", prompt="Refund {amount}?", output_key="approval")
    flow = Flow(ask, inputs={"amount": int}, outputs=["approval"])
    stream, progress = io.StringIO(), Progress.of(flow)
    with watching(progress, stream) as on_event:
        paused = flow.run_sync({"amount": 3}, on_event=on_event)
    row = progress.rows["approve"]
    assert (row.state, row.remark) == ("asking", "Refund 3?")
    with watching(progress, stream) as on_event:
        flow.resume_sync(paused.run_id, {paused.pending[0].id: "yes"}, on_event=on_event)
    assert progress.rows == {"approve": row}
    assert (row.state, row.running, row.starts) == ("done", {}, 1)
    assert [line.partition("] ")[2] for line in stream.getvalue().splitlines()][1:3] == [
        "approve: asks: Refund 3?",
        "approve: answered: yes",
    ]


KINDS = st.sampled_from(
    ["task_started", "task_committed", "task_failed", "branch", "loop", "progress", "asked", "run_started", "failed"]
)
DATA = st.dictionaries(
    st.sampled_from(["error", "message", "case", "exit", "halt", "note", "prompt", "answer", "will_retry"]),
    st.text(),
    max_size=3,
)
EVENTS = st.builds(
    Event,
    kind=KINDS,
    node=st.sampled_from(["", "all/rounds/step", "all/enough", "all/rounds#header", "elsewhere"]),
    iterations=st.lists(st.integers(1, 9), max_size=2).map(tuple),
    data=DATA,
    time=st.floats(0, 100),
)


@given(st.lists(EVENTS, max_size=20))
def test_any_events_can_be_followed(events: list[Event]) -> None:
    """Whatever comes, in whatever order, gives lines that are safe to print, and times that make sense."""
    progress = Progress.of(counting())
    for event in events:
        line = progress.follow(event)
        assert line == printable(line)
    assert all(row.seconds >= 0 for row in progress.rows.values() if not _reordered(events))


def _reordered(events: list[Event]) -> bool:
    return any(a.time > b.time for a, b in pairwise(events))


@given(
    st.lists(st.sampled_from(["waiting", "running", "asking", "done", "failed", "cancelled", "halted"]), max_size=40),
    st.integers(1, 20),
)
def test_what_runs_is_in_sight(states: list[str], height: int) -> None:
    """The table never grows beyond its height, keeps the order, and hides nothing that runs while idle rows are shown."""
    rows = [Row(f"stage{index}", state) for index, state in enumerate(states)]
    shown = _visible(rows, height)
    assert len(shown) == min(len(rows), height)
    assert shown == [row for row in rows if row in shown]
    hidden = [row for row in rows if row not in shown]
    if any(row.state == "running" for row in hidden):
        assert all(row.state == "running" for row in shown)


@pytest.fixture(autouse=True)
def _size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("LINES", "40")
