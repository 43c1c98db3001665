"""What goes into the machine and what comes out of it: events, and commands with the records that cause them.

Events are what happened, commands what is to be done; both are plain data, so that any driver can stand between them::

    outcome = machine.step(Succeeded(ticket=1, delta={"draft": "..."}))
    outcome.commands         # [StartTask(ticket=2, ...)]

Nothing here knows how a command is carried out.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from graphflow.contracts.retry import RetryPolicy
from graphflow.runtime.journal import Record
from graphflow.runtime.plan import PlanNode
from graphflow.runtime.versions import State
from graphflow.schema import Type


@dataclass(frozen=True, slots=True)
class Start:
    """The run begins. Inputs hold the defaults of declared keys too, key -> value."""

    inputs: Mapping[str, object]
    message: str | None = None


@dataclass(frozen=True, slots=True)
class Succeeded:
    """A task's body returned these writes, and gave this value to whoever ran it."""

    ticket: int
    delta: Mapping[str, object]
    escalate: bool = False
    halt: str | None = None
    output: object = None


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
class Overlaid:
    """The code of a custom agent wrote, and goes on: its children see it from here on."""

    ticket: int
    delta: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Called:
    """The code of a custom agent runs a child: its call of this number, by this way in."""

    ticket: int
    number: int
    label: str


@dataclass(frozen=True, slots=True)
class AskedFor:
    """A task asks a person, its question of this number; its body has been put aside and runs again when answered."""

    ticket: int
    number: int
    prompt: str
    schema: Type
    deadline: float | None = None
    default: object = None


@dataclass(frozen=True, slots=True)
class TimerRang:
    """A timer that was set has run out."""

    timer: int


@dataclass(frozen=True, slots=True)
class Resume:
    """A paused run goes on.

    Attributes:
        answers: request -> value.
        by_default: the requests among them that are answered by their default.
        expired: requests whose time has passed without an answer; their tasks fail.
    """

    answers: Mapping[str, object]
    by_default: frozenset[str] = frozenset()
    expired: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Abort:
    """The run is ended from outside: cancelled (no error), or failed by a limit (an error)."""

    reason: str
    error: BaseException | None = None


Event = Start | Succeeded | Failed | Stopped | Overlaid | Called | AskedFor | TimerRang | Resume | Abort


@dataclass(frozen=True, slots=True)
class Done:
    """Something inside a task that is done and is not done again when the task's body runs anew.

    Attributes:
        kind: "model", "step", "ask", "call" or "overlay".
        name: what it was asked for.
        result: what it gave.
        error: what it raised instead.
        state: what the task saw from then on, None if that did not change.
        escalated: a child that was run asked its loop to end.
        number: which call of the code it was.
    """

    kind: str
    name: str
    result: object = None
    error: BaseException | None = None
    state: State | None = None
    escalated: bool = False
    number: int = 0


@dataclass(frozen=True, slots=True)
class StartTask:
    """Run the body of a task on a state.

    Attributes:
        history: what an earlier run of the same attempt has done already.
        under_way: the calls of children that it has begun and that go on.
    """

    ticket: int
    node: PlanNode
    state: State
    turns: tuple[int, ...]
    attempt: int = 1
    history: Sequence[Done] = ()
    under_way: Collection[int] = ()


@dataclass(frozen=True, slots=True)
class StopTask:
    """Cancel a running task; a `Stopped` event answers, unless it succeeds or fails first."""

    ticket: int


@dataclass(frozen=True, slots=True)
class Return:
    """A child has ended (or a write was taken over): the code that waits for it goes on."""

    ticket: int
    number: int
    done: Done


@dataclass(frozen=True, slots=True)
class SetTimer:
    """Answer with `TimerRang` after `seconds`, or, if they are None, after what the policy says for this attempt."""

    timer: int
    node: PlanNode
    turns: tuple[int, ...]
    seconds: float | None = None
    policy: RetryPolicy | None = None
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class ClearTimer:
    """A timer is not needed any more."""

    timer: int


Command = StartTask | StopTask | Return | SetTimer | ClearTimer


@dataclass(slots=True)
class Outcome:
    """What one event led to. Records must be appended before commands are carried out."""

    records: list[Record] = field(default_factory=list)
    commands: list[Command] = field(default_factory=list)
