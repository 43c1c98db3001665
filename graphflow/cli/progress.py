"""What a run is doing, while it does it: a live table on a terminal, one line for each event elsewhere.

::

    with watching(flow.graph, sys.stderr) as on_event:
        flow.run_sync(inputs, on_event=on_event)

`Progress` holds what is known and follows events; drawing it is a separate matter. This module reads events and the
graph's node paths; it knows nothing of how a run is made.
"""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import monotonic
from typing import IO, TYPE_CHECKING

import click

from graphflow.checker.formats import printable
from graphflow.cli.options import is_terminal, wants_colour, width_of
from graphflow.events import Event
from graphflow.ir.graph import Graph
from graphflow.ir.nodes import Branch, Task, agent_path

if TYPE_CHECKING:
    from rich.console import RenderableType

OnEvent = Callable[[Event], Awaitable[None]]
_REFRESH = 12
_STYLES = {
    "waiting": "dim",
    "running": "cyan",
    "done": "green",
    "failed": "red",
    "cancelled": "yellow",
    "halted": "yellow",
}
_MARKS = {"waiting": ".", "done": "+", "failed": "x", "cancelled": "-", "halted": "!"}


@dataclass(slots=True)
class Row:
    """One stage: its state, how often it began, when, how long it took in all, its tokens, and a remark."""

    name: str
    state: str = "waiting"
    starts: int = 0
    since: float = 0.0
    seconds: float = 0.0
    tokens: int = 0
    remark: str = ""


@dataclass(slots=True)
class Progress:
    """What is known of a run so far.

    Attributes:
        rows: agent path -> its row, in canonical order.
        root: name of the root agent, left out of the names shown.
        last: seconds since the start of the run, of the last event.
    """

    rows: dict[str, Row]
    root: str
    last: float = 0.0
    changed: float = field(default_factory=monotonic)

    @classmethod
    def of(cls, graph: Graph) -> Progress:
        """Begin with every stage waiting.

        Args:
            graph: the flow that will run.
        """
        stages = [agent_path(n.id) for n in graph.nodes.values() if isinstance(n, (Task, Branch))]
        root = next((region.id for region in graph.regions.values() if region.parent is not None), graph.name)
        return cls({path: Row(_below(path, root)) for path in stages}, root)

    @property
    def now(self) -> float:
        """Seconds since the start of the run."""
        return self.last + monotonic() - self.changed

    def follow(self, event: Event) -> str:
        """Take an event in.

        Args:
            event: what happened.

        Returns:
            A line about it, "" if there is nothing to say.
        """
        self.last, self.changed = event.time or self.last, monotonic()
        if not event.node:
            return ""
        path = agent_path(event.node)
        row = self.rows.get(path)
        if row is None:
            row = Row(_below(path, self.root))
            if event.kind != "loop":
                self.rows[path] = row
        again = f" (iteration {'.'.join(map(str, event.iterations))})" if event.iterations else ""
        said = self._change(row, event)
        return f"{row.name}{again}: {said}" if said else ""

    def _change(self, row: Row, event: Event) -> str:
        match event.kind:
            case "task_started":
                row.state, row.since, row.starts, row.remark = "running", event.time, row.starts + 1, ""
                return "started" if event.attempt == 1 else f"started (attempt {event.attempt})"
            case "task_committed" if row.state == "running":
                took = event.time - row.since
                row.state, row.seconds = "done", row.seconds + took
                return f"done in {took:.2f} s" + (f", {row.tokens} tokens" if row.tokens else "")
            case "task_failed":
                row.state = "cancelled" if event.data.get("error") == "cancelled" else "failed"
                row.seconds += max(event.time - row.since, 0.0) if row.starts else 0.0
                row.remark = _one_line(event.data.get("message", ""))
                return f"{row.state}: {row.remark}" if row.remark else row.state
            case "branch":
                row.state, row.remark = "done", _one_line(event.data.get("case", ""))
                return row.remark
            case "loop":
                ended = event.data.get("exit")
                return f"ended: {_one_line(ended)}" if ended else "once more"
            case "progress":
                return self._progressed(row, event)
            case _:
                return ""

    def _progressed(self, row: Row, event: Event) -> str:
        if "halt" in event.data:
            row.state, row.remark = "halted", _one_line(event.data["halt"])
            return f"halted: {row.remark}"
        if "tokens" in event.data:
            row.tokens += int(event.data["tokens"])
            return ""
        row.remark = _one_line(", ".join(f"{name}: {value}" for name, value in event.data.items()))
        return row.remark


def _below(path: str, root: str) -> str:
    return printable(path.removeprefix(f"{root}/"))


def _one_line(value: object, longest: int = 300) -> str:
    text = " ".join(str(value).split())
    return printable(text if len(text) <= longest else text[: longest - 3] + "...")


@contextmanager
def watching(graph: Graph, stream: IO[str]) -> Iterator[OnEvent]:
    """Show a run's progress while the block runs.

    Args:
        graph: the flow that runs.
        stream: where to show it; a live table if it is a terminal.

    Yields:
        What `Flow.run(on_event=)` takes.
    """
    progress = Progress.of(graph)
    show = _live if is_terminal(stream) else _plain
    with show(progress, stream) as on_event:
        yield on_event


@contextmanager
def _plain(progress: Progress, stream: IO[str]) -> Iterator[OnEvent]:
    async def on_event(event: Event) -> None:
        line = progress.follow(event)
        if line:
            click.echo(f"[{progress.last:7.2f} s] {line}", file=stream)

    yield on_event


@contextmanager
def _live(progress: Progress, stream: IO[str]) -> Iterator[OnEvent]:
    from rich.console import Console
    from rich.live import Live

    console = Console(file=stream, width=width_of(stream), no_color=not wants_colour(stream), highlight=False)
    lock = threading.Lock()

    def draw() -> RenderableType:
        with lock:
            return _table(progress, max(console.height - 3, 5))

    async def on_event(event: Event) -> None:
        with lock:
            progress.follow(event)

    with Live(get_renderable=draw, console=console, refresh_per_second=_REFRESH, transient=False):
        yield on_event


def _table(progress: Progress, height: int) -> RenderableType:
    from rich.spinner import Spinner
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(width=1)
    table.add_column(overflow="ellipsis", no_wrap=True, max_width=36)
    table.add_column(overflow="ellipsis", no_wrap=True, max_width=40)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    rows = _visible(list(progress.rows.values()), height)
    now = progress.now
    for row in rows:
        style = _STYLES[row.state]
        mark = Spinner("dots", style=style) if row.state == "running" else Text(_MARKS[row.state], style=style)
        state = row.remark or (row.state if row.starts < 2 else f"{row.state}, {row.starts} times")
        seconds = row.seconds + (max(now - row.since, 0.0) if row.state == "running" else 0.0)
        table.add_row(
            mark,
            Text(row.name, style="bold" if row.state == "running" else ""),
            Text(state, style=style),
            Text(f"{seconds:.2f} s" if row.starts else ""),
            Text(f"{row.tokens} tokens" if row.tokens else "", style="dim"),
        )
    hidden = len(progress.rows) - len(rows)
    if hidden:
        table.add_row("", Text(f"and {hidden} more", style="dim"), "", "", "")
    return table


def _visible(rows: list[Row], height: int) -> list[Row]:
    """Choose the rows that fit: what runs, then what went wrong, then what ran last, then what comes next."""
    if len(rows) <= height:
        return rows
    urgent = {"running": 0, "failed": 1, "halted": 1, "cancelled": 2, "done": 3, "waiting": 4}
    order = sorted(range(len(rows)), key=lambda i: (urgent[rows[i].state], -rows[i].since, i))
    return [rows[index] for index in sorted(order[:height])]
