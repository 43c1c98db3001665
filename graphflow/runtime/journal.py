"""The journal: one append-only list of records, from which everything else about a run follows.

Only `task_committed` and `choice` (a join) change state. Every state of a run has a number, that of
the record which made it; a commit names the state it builds on (`base`), a join the states it unites (`taken`), so the
state of a run can be folded from its journal without the graph::

    fold(journal.records, {"notes": Merge.extend}).root == result.state

The kinds are fixed; later versions add fields. Pure: times are given from outside.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from graphflow.runtime.versions import Position, State, commit, initial_state, only, unite
from graphflow.schema import Merge

VERSION = 1
Status = Literal["completed", "halted", "failed", "cancelled", "paused"]
Turns = tuple[int, ...]
"""The 1-based iterations of the loops around a node, outermost first."""


@dataclass(frozen=True, slots=True)
class RunStarted:
    """The run began with these inputs (defaults of declared keys included)."""

    run_id: str
    flow: str
    fingerprint: str
    inputs: Mapping[str, object]
    message: str | None = None
    version: int = VERSION


@dataclass(frozen=True, slots=True)
class TaskStarted:
    """A task was given to its body, on the state `base`."""

    node: str
    turns: Turns
    attempt: int
    base: int


@dataclass(frozen=True, slots=True)
class Step:
    """Something inside a task is done and is not to be done again: a model turn."""

    node: str
    turns: Turns
    attempt: int
    n: int
    kind: str
    name: str
    result: Any = None


@dataclass(frozen=True, slots=True)
class TaskCommitted:
    """A task (or a join that writes) succeeded; its writes are in the state from here on.

    `base` is the state it builds on, `scope` what it is in that has not joined yet: a branch, an instance of a map, an
    attempt, a custom agent ("" for the root). `position` is its place in the canonical order, by which updates of merge keys
    are ordered. `fresh` is the prefix of keys that end here, `partial` says that the task goes on.
    """

    node: str
    turns: Turns
    attempt: int
    delta: Mapping[str, object]
    base: int
    scope: str = ""
    position: Position = ()
    escalate: bool = False
    route: Any = None
    fresh: str | None = None
    partial: bool = False


@dataclass(frozen=True, slots=True)
class TaskFailed:
    """A task, or a decision at a node, failed."""

    node: str
    turns: Turns
    attempt: int
    error: str
    message: str
    will_retry: bool = False


@dataclass(frozen=True, slots=True)
class Choice:
    """A join united these states, in declaration order of its branches.

    With `keep` only these keys of them go on, all others are as in the state `base` (the end of a map).
    """

    node: str
    turns: Turns
    taken: tuple[int, ...]
    scope: str = ""
    base: int = -1
    keep: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """A task asks a person and waits. `deadline`: seconds since the run's start, after which `default` is the answer."""

    node: str
    turns: Turns
    request: str
    prompt: str
    schema: str
    attempt: int = 1
    deadline: float | None = None
    default: Any = None


@dataclass(frozen=True, slots=True)
class Answered:
    """A question was answered, or its default was taken."""

    node: str
    turns: Turns
    request: str
    answer: Any
    by_default: bool = False


@dataclass(frozen=True, slots=True)
class TimerSet:
    """Something is to go on after so many seconds: another attempt."""

    node: str
    turns: Turns
    timer: int
    seconds: float


@dataclass(frozen=True, slots=True)
class TimerFired:
    """A timer ran out."""

    node: str
    turns: Turns
    timer: int


@dataclass(frozen=True, slots=True)
class BranchTaken:
    """A branch chose this arm."""

    node: str
    turns: Turns
    case: str


@dataclass(frozen=True, slots=True)
class LoopTurned:
    """An iteration ended: the loop goes round again (`exit` is None) or ends for this reason."""

    node: str
    turns: Turns
    exit: str | None


@dataclass(frozen=True, slots=True)
class Halted:
    """The run was halted here. `condition` and `values` say why a gate did."""

    node: str
    turns: Turns
    reason: str
    condition: str = ""
    values: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Cancelled:
    """A running task, or the whole run (node ""), was cancelled."""

    node: str
    turns: Turns = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class RunEnded:
    """The terminal record."""

    status: Status
    reason: str = ""


Record = (
    RunStarted
    | TaskStarted
    | Step
    | TaskCommitted
    | TaskFailed
    | Choice
    | Asked
    | Answered
    | TimerSet
    | TimerFired
    | BranchTaken
    | LoopTurned
    | Halted
    | Cancelled
    | RunEnded
)

KINDS: dict[str, type[Record]] = {
    "run_started": RunStarted,
    "task_started": TaskStarted,
    "step": Step,
    "task_committed": TaskCommitted,
    "task_failed": TaskFailed,
    "choice": Choice,
    "asked": Asked,
    "answered": Answered,
    "timer_set": TimerSet,
    "timer_fired": TimerFired,
    "branch": BranchTaken,
    "loop": LoopTurned,
    "halted": Halted,
    "cancelled": Cancelled,
    "run_ended": RunEnded,
}
"""Kind as written -> record. The one table of what a journal may hold."""

KIND_OF: dict[type[Record], str] = {kind: name for name, kind in KINDS.items()}


@dataclass(slots=True)
class Journal:
    """The journal of one run in memory: records with the seconds since the run's start at which they were appended."""

    records: list[Record] = field(default_factory=list)
    times: list[float] = field(default_factory=list)

    def append(self, records: Iterable[Record], time: float) -> None:
        """Add records that were made at `time` seconds after the start."""
        for record in records:
            self.records.append(record)
            self.times.append(time)


@dataclass(frozen=True, slots=True)
class Folded:
    """What a journal says about the state.

    Attributes:
        root: key -> value committed at the root: branches that have not joined leave nothing here.
        open: scope (a branch, an instance, an attempt) -> key -> value, for scopes that have not joined.
        status: how the run ended, or that it waits for people; None while it goes on.
    """

    root: Mapping[str, object]
    open: Mapping[str, Mapping[str, object]]
    status: Status | None


def fold(records: Iterable[Record], merges: Mapping[str, Merge] | None = None) -> Folded:
    """Compute the state from a journal, or from any prefix of one.

    Args:
        records: the records, the first one first.
        merges: key -> merge, for keys that have one.

    Returns:
        The state at the root and of the open branches. Merges are pure and are applied again.
    """
    states: dict[int, State] = {}
    scopes: dict[str, State] = {}
    status: Status | None = None
    for number, record in enumerate(records):
        status = record.status if isinstance(record, RunEnded) else None
        match record:
            case RunStarted(inputs=inputs):
                scopes[""] = states[number] = initial_state(inputs, number)
            case TaskCommitted(base=base, delta=delta, scope=scope):
                place = (record.position, record.node)
                states[number] = commit(
                    states[base], delta, *place, merges or {}, number, record.fresh, alone=not scope
                )
                _move(scopes, scope, states[number], {base})
            case Choice(taken=taken, scope=scope, node=node, keep=keep):
                given = [states[at] for at in taken]
                if keep is not None:
                    given = [states[record.base], *(only(state, keep, states[record.base]) for state in given)]
                states[number] = unite(given, merges or {}, node, number)
                _move(scopes, scope, states[number], set(taken))
            case _:
                pass
    root = scopes.pop("", None)
    return Folded(
        root.plain() if root is not None else {}, {name: state.plain() for name, state in scopes.items()}, status
    )


def _move(scopes: dict[str, State], scope: str, state: State, taken: set[int]) -> None:
    """A scope goes on to a new state; scopes whose last state went into it are over."""
    for name in [name for name, last in scopes.items() if name and name != scope and last.number in taken]:
        del scopes[name]
    scopes[scope] = state
