"""What goes into the machine and what comes out of it: events, and commands with the records that cause them.

Events are what happened, commands what is to be done; both are plain data, so that any driver can stand between them::

    outcome = machine.step(Succeeded(ticket=1, delta={"draft": "..."}))
    outcome.commands         # [StartTask(ticket=2, ...)]

Nothing here knows how a command is carried out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from graphflow.runtime.journal import Record
from graphflow.runtime.plan import PlanNode
from graphflow.runtime.versions import State


@dataclass(frozen=True, slots=True)
class Start:
    """The run begins. Inputs hold the defaults of declared keys too, key -> value."""

    inputs: Mapping[str, object]
    message: str | None = None


@dataclass(frozen=True, slots=True)
class Succeeded:
    """A task's body returned these writes."""

    ticket: int
    delta: Mapping[str, object]
    escalate: bool = False
    halt: str | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """A task's body raised."""

    ticket: int
    error: BaseException


@dataclass(frozen=True, slots=True)
class Stopped:
    """A task that was told to stop has stopped."""

    ticket: int


@dataclass(frozen=True, slots=True)
class Abort:
    """The run is ended from outside: cancelled (no error), or failed by a limit (an error)."""

    reason: str
    error: BaseException | None = None


Event = Start | Succeeded | Failed | Stopped | Abort


@dataclass(frozen=True, slots=True)
class StartTask:
    """Run the body of a task on a state."""

    ticket: int
    node: PlanNode
    state: State
    turns: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class StopTask:
    """Cancel a running task; a `Stopped` event answers, unless it succeeds or fails first."""

    ticket: int


Command = StartTask | StopTask


@dataclass(slots=True)
class Outcome:
    """What one event led to. Records must be appended before commands are carried out."""

    records: list[Record] = field(default_factory=list)
    commands: list[Command] = field(default_factory=list)
