"""What only time decides, read from a journal: when tasks began and ended, which failure was first, who was heard first.

The time of a record is the number of the step that made it. An execution is found by the name of its agent, its turns and
the time from which on it may have begun; one that never happened has the time `NEVER`::

    clock = Clock(records, steps)
    clock.execution("leaf3", (2,), 7)        # began at 7, ended at 11 by "committed"
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from graphflow.runtime.journal import (
    Asked,
    Cancelled,
    Halted,
    Record,
    Step,
    TaskCommitted,
    TaskFailed,
    TaskStarted,
    TimerFired,
)

NEVER = math.inf
Turns = tuple[int, ...]
Key = tuple[str, Turns]
Moment = tuple[float, float]
"""A time, and the number of the record: which of two things of one step came first."""

GLUE = ("inputs", "outputs", "fallback")


def agent_of(node: str) -> str:
    """The name of a node's agent; tasks that are not the agent's own keep their mark."""
    base, _, mark = node.rpartition("/")[2].partition("#")
    return f"{base}#{mark}" if mark in GLUE else base


@dataclass
class Execution:
    """One attempt at a task, as the journal tells it."""

    attempt: int
    began: float = NEVER
    ended: Moment = (NEVER, NEVER)
    how: str = ""
    asked: bool = False


@dataclass
class Clock:
    """Looks things up in a journal.

    Args:
        records: the records.
        steps: the step that made each of them, never falling.
    """

    records: Sequence[Record]
    steps: Sequence[int]
    executions: dict[Key, list[Execution]] = field(default_factory=lambda: defaultdict(list))
    failures: dict[Key, list[Moment]] = field(default_factory=lambda: defaultdict(list))
    halts: dict[Key, list[Moment]] = field(default_factory=lambda: defaultdict(list))
    timers: dict[Key, list[Moment]] = field(default_factory=lambda: defaultdict(list))
    writes: dict[Key, list[Moment]] = field(default_factory=lambda: defaultdict(list))
    returns: dict[tuple[str, Turns, int], list[Moment]] = field(default_factory=lambda: defaultdict(list))

    def __post_init__(self) -> None:
        under_way: dict[Key, Execution] = {}
        for number, (record, step) in enumerate(zip(self.records, self.steps, strict=True)):
            moment = (step, number)
            key = (agent_of(getattr(record, "node", "")), getattr(record, "turns", ()))
            match record:
                case TaskStarted(attempt=attempt):
                    if key not in under_way or under_way[key].attempt != attempt:
                        under_way[key] = Execution(attempt, step)
                        self.executions[key].append(under_way[key])
                case Asked():
                    under_way[key].asked = True
                case TaskCommitted(partial=True):
                    pass
                case TaskCommitted() | TaskFailed() | Cancelled():
                    how = "committed" if isinstance(record, TaskCommitted) else "failed"
                    if key in under_way:
                        execution = under_way.pop(key)
                        execution.ended = moment
                        execution.how = "cancelled" if isinstance(record, Cancelled) else how
                    elif not isinstance(record, Cancelled):
                        (self.writes if how == "committed" else self.failures)[key].append(moment)
                case Halted():
                    self.halts[key].append(moment)
                case TimerFired():
                    self.timers[key].append(moment)
                case Step(kind="call", n=call):
                    self.returns[(*key, call)].append(moment)
                case _:
                    pass

    def execution(self, key: Key, due: float) -> Execution:
        """The first execution that began then or later."""
        found = (one for one in self.executions.get(key, ()) if one.began >= due)
        return next(found, Execution(0))

    @staticmethod
    def first(moments: Sequence[Moment], since: float, *, exact: bool = False) -> Moment:
        """The first of some moments at a time (`exact`), or then or later."""
        found = (one for one in moments if (one[0] == since if exact else one[0] >= since))
        return next(found, (NEVER, NEVER))
