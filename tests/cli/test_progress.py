"""`graphflow.cli.progress`: what is said about a run while it runs."""

from __future__ import annotations

import io
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphflow import Flow, Gate, LoopAgent, SequentialAgent, agent, key
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


KINDS = st.sampled_from(
    ["task_started", "task_committed", "task_failed", "branch", "loop", "progress", "run_started", "failed"]
)
DATA = st.dictionaries(st.sampled_from(["error", "message", "case", "exit", "halt", "note"]), st.text(), max_size=3)
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
    st.lists(st.sampled_from(["waiting", "running", "done", "failed", "cancelled", "halted"]), max_size=40),
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
