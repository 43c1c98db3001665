"""What a run is doing, while it does it: a live table on a terminal, one line for each event elsewhere.

::

    progress = Progress.of(flow)
    with watching(progress, sys.stderr) as on_event:
        flow.run_sync(inputs, on_event=on_event)

`Progress` holds what is known and follows events; drawing it is a separate matter. A stage is one row, however often it
runs: in each iteration, once for each element of a map, at each call of a custom agent. This module reads events, the
graph's node paths and what the plan says of their turns; it knows nothing of how a run is made.
"""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import groupby
from time import monotonic
from typing import IO, TYPE_CHECKING

import click

from graphflow.checker.formats import printable
from graphflow.cli.options import is_terminal, wants_colour, width_of
from graphflow.events import Event
from graphflow.flow import Flow
from graphflow.ir.nodes import Branch, Task, agent_path
from graphflow.schema import render_text

if TYPE_CHECKING:
    from rich.console import RenderableType

OnEvent = Callable[[Event], Awaitable[None]]
_REFRESH = 12
_STYLES = {
    "waiting": "dim",
    "running": "cyan",
    "asking": "magenta",
    "done": "green",
    "failed": "red",
    "cancelled": "yellow",
    "halted": "yellow",
}
_MARKS = {"waiting": ".", "asking": "?", "done": "+", "failed": "x", "cancelled": "-", "halted": "!"}


_KINDS = {"loop": "iteration", "group": "element", "call": "call"}
Turns = tuple[int, ...]


@dataclass(slots=True)
class Row:
    """One stage.

    Attributes:
        name: what it is called.
        state: what it is doing.
        starts: how often it has begun.
        running: turns of an execution -> when it began.
        answered: turns of those that begin again, as a person has answered them.
        since: when the last one began.
        seconds: how long those took that have ended.
        tokens: what its models took.
        remark: what else there is to say.
    """

    name: str
    state: str = "waiting"
    starts: int = 0
    running: dict[Turns, float] = field(default_factory=dict)
    answered: set[Turns] = field(default_factory=set)
    since: float = 0.0
    seconds: float = 0.0
    tokens: int = 0
    remark: str = ""

    def begin(self, turns: Turns, time: float, *, again: bool = False) -> None:
        """An execution has begun, or begins again."""
        self.running[turns], self.since = time, time
        self.starts += 0 if again else 1
        self.state, self.remark = "running", ""

    def end(self, turns: Turns, time: float, state: str) -> float | None:
        """An execution has ended; the row says so unless others still run. Gives its seconds, None if it did not run."""
        began = self.running.pop(turns, None)
        took = max(time - began, 0.0) if began is not None else None
        self.seconds += took or 0.0
        if not self.running:
            self.state = state
        return took

    def seconds_at(self, now: float) -> float:
        """How long it has taken in all, what still runs included."""
        return self.seconds + sum(max(now - began, 0.0) for began in self.running.values())


@dataclass(slots=True)
class Progress:
    """What is known of a run so far; one that pauses and goes on is one run.

    Attributes:
        rows: agent path -> its row, in canonical order.
        root: name of the root agent, left out of the names shown.
        kinds: node path -> what each number in its turns counts.
        silent: nodes that are no stages: what graphflow itself puts between them.
        last: seconds since the start of the run, of the last event.
    """

    rows: dict[str, Row]
    root: str
    kinds: Callable[[str], Sequence[str]]
    silent: frozenset[str] = frozenset()
    last: float = 0.0
    changed: float = field(default_factory=monotonic)

    @classmethod
    def of(cls, flow: Flow) -> Progress:
        """Begin with every stage waiting.

        Args:
            flow: what will run.
        """
        graph = flow.graph
        silent = frozenset(n.id for n in graph.nodes.values() if isinstance(n, Task) and n.kind == "glue")
        stages = [n.id for n in graph.nodes.values() if isinstance(n, (Task, Branch)) and n.id not in silent]
        root = next((region.id for region in graph.regions.values() if region.parent is not None), graph.name)
        rows = {agent_path(id_): Row(_below(agent_path(id_), root)) for id_ in stages}

        def kinds(node: str) -> Sequence[str]:
            at = graph.position.get(node)
            return flow.plan.nodes[at].kinds if at is not None else ()

        return cls(rows, root, kinds, silent)

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
        if not event.node or event.node in self.silent:
            return ""
        path = agent_path(event.node)
        row = self.rows.get(path)
        if row is None:
            row = Row(_below(path, self.root))
            if event.kind not in ("loop", "progress"):
                self.rows[path] = row
        said = self._change(row, event)
        return f"{row.name}{self._turns(event)}: {said}" if said else ""

    def _turns(self, event: Event) -> str:
        """Say which execution it was: `(iteration 2)`, `(call 1, element 0)`; loops in loops are `iteration 2.1`."""
        if not event.iterations:
            return ""
        kinds = [*self.kinds(event.node), *("loop" for _ in event.iterations)]
        said: list[str] = []
        for kind, group in groupby(zip(kinds, event.iterations, strict=False), key=lambda pair: pair[0]):
            numbers = ".".join(str(turn) for _, turn in group)
            said.append(f"{_KINDS.get(kind, kind)} {numbers}")
        return f" ({', '.join(said)})"

    def _change(self, row: Row, event: Event) -> str:
        match event.kind:
            case "task_started":
                row.begin(event.iterations, event.time, again=event.attempt > 1 or event.iterations in row.answered)
                row.answered.discard(event.iterations)
                return "started" if event.attempt == 1 else f"started (attempt {event.attempt})"
            case "task_committed" if not event.data.get("partial"):
                took = row.end(event.iterations, event.time, "done")
                tokens = f", {row.tokens} tokens" if row.tokens else ""
                return f"done in {took:.2f} s{tokens}" if took is not None else ""
            case "task_failed":
                return self._failed(row, event)
            case "asked":
                row.end(event.iterations, event.time, "asking")
                row.remark = _one_line(event.data.get("prompt", ""))
                return f"asks: {row.remark}"
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

    def _failed(self, row: Row, event: Event) -> str:
        again = bool(event.data.get("will_retry"))
        state = "cancelled" if event.data.get("error") == "cancelled" else "failed"
        row.end(event.iterations, event.time, "waiting" if again else state)
        message = _one_line(event.data.get("message", ""))
        if again:
            row.remark = f"tried again: {message}"
            return f"attempt {event.attempt} failed, is tried again: {message}"
        row.remark = message
        return f"{state}: {message}" if message else state

    def _progressed(self, row: Row, event: Event) -> str:
        data = event.data
        if "halt" in data:
            row.state, row.remark = "halted", _one_line(data["halt"])
            return f"halted: {row.remark}"
        if "tokens" in data:
            row.tokens += int(data["tokens"])
            return ""
        if data.keys() == {"request", "answer"}:
            row.remark = ""
            row.answered.add(event.iterations)
            return f"answered: {_one_line(render_text(data['answer']))}"
        row.remark = _one_line(", ".join(f"{name}: {value}" for name, value in data.items()))
        return row.remark


def _below(path: str, root: str) -> str:
    return printable(path.removeprefix(f"{root}/"))


def _one_line(value: object, longest: int = 300) -> str:
    text = " ".join(str(value).split())
    return printable(text if len(text) <= longest else text[: longest - 3] + "...")


@contextmanager
def watching(progress: Progress, stream: IO[str]) -> Iterator[OnEvent]:
    """Show a run's progress while the block runs.

    Args:
        progress: what is known so far; it follows the events.
        stream: where to show it; a live table if it is a terminal.

    Yields:
        What `Flow.run(on_event=)` takes.
    """
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
        table.add_row(
            mark,
            Text(row.name, style="bold" if row.state == "running" else ""),
            Text(state, style=style),
            Text(f"{row.seconds_at(now):.2f} s" if row.starts else ""),
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
    urgent = {"running": 0, "asking": 1, "failed": 1, "halted": 1, "cancelled": 2, "done": 3, "waiting": 4}
    order = sorted(range(len(rows)), key=lambda i: (urgent[rows[i].state], -rows[i].since, i))
    return [rows[index] for index in sorted(order[:height])]
