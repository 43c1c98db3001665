"""The tasks of a run that are at work, wait for a slot, for a person or for another attempt.

::

    tasks.start(activation)       # a `StartTask` command, or a place in the queue if a cap is reached
    tasks.take(ticket)            # it has ended: its slots are free

A task holds one slot of every capped region around it, or none. Pure: it says what is to be done, the driver does it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from graphflow.ir.nodes import Fork, Task
from graphflow.runtime.frames import Call, Frame, Group
from graphflow.runtime.journal import Cancelled, TaskStarted
from graphflow.runtime.ledger import Ledger
from graphflow.runtime.messages import ClearTimer, Command, Done, StartTask, StopTask
from graphflow.runtime.plan import PlanNode
from graphflow.runtime.versions import State
from graphflow.schema import Type


@dataclass(eq=False, slots=True)
class Activation:
    """One execution of one task.

    Attributes:
        node: the task.
        frame: the frame it runs in.
        state: what it sees; for the code of a custom agent what it has come to see.
        start: the state it began with.
        attempt: 1-based attempt of this execution in the run.
        tries: attempts since its region began, for its retry policy.
        ticket: its number while it runs, 0 before.
        stopped: it was told to stop.
        suspended: it was told to stop because the run pauses; it runs anew afterwards.
        slots: the groups whose slot it holds.
        history: what it has done already.
        calls: number -> child that runs.
        written: keys that the code of a custom agent has handed over.
        marks: how often its code has handed writes over or begun to run a child; the order of what comes of it.
    """

    node: PlanNode
    frame: Frame
    state: State
    start: State
    attempt: int = 1
    tries: int = 1
    ticket: int = 0
    stopped: bool = False
    suspended: bool = False
    slots: list[Group] = field(default_factory=list)
    history: list[Done] = field(default_factory=list)
    calls: dict[int, Call] = field(default_factory=dict)
    written: set[str] = field(default_factory=set)
    marks: int = 0

    def inside(self, frame: Frame) -> bool:
        """Whether it runs in a frame or in one inside it."""
        return any(around is frame for around in self.frame.around())


@dataclass(frozen=True, slots=True)
class Question:
    """What a task waits to be told."""

    task: Activation
    number: int
    prompt: str
    schema: Type
    deadline: float | None
    default: object


Wake = tuple[str, Any, Any]
"""What a timer is for: ("attempt", activation, None), ("again", group, None) or ("limit", group, instance)."""


class Tasks:
    """Tickets, slots, questions and timers of one run.

    Args:
        ledger: where starts are recorded.
    """

    def __init__(self, ledger: Ledger) -> None:
        self.running: dict[int, Activation] = {}
        self.queue: deque[Activation] = deque()
        self.questions: dict[str, Question] = {}
        self.suspended: list[Activation] = []
        self.timers: dict[int, Wake] = {}
        self.commands: list[Command] = []
        self.steps = 0
        self._ledger = ledger
        self._attempts: dict[tuple[int, tuple[int, ...]], int] = {}
        self._freed = False
        self._tickets = 0
        self._timers = 0

    def start(self, task: Activation) -> None:
        """Start a task, or let it wait for a slot."""
        groups = list(_capped(task))
        if any(group.busy >= limit for group, limit in groups):
            self.queue.append(task)
            return
        for group, _ in groups:
            group.busy += 1
            task.slots.append(group)
        if not task.ticket and _may_run_again(task):
            place = (task.node.index, task.frame.turns)
            task.attempt = self._attempts[place] = self._attempts.get(place, 0) + 1
        self.steps += 1
        self._tickets += 1
        task.ticket = self._tickets
        task.stopped = task.suspended = False
        self.running[task.ticket] = task
        self._ledger.record(TaskStarted(task.node.id, task.frame.turns, task.attempt, task.start.number))
        told = (tuple(task.history), frozenset(task.calls))
        self.commands.append(StartTask(task.ticket, task.node, task.start, task.frame.turns, task.attempt, *told))

    def take(self, ticket: int) -> Activation:
        """Take a task out of those that run, and free its slots; nobody starts in them before it is clear what follows."""
        task = self.running.pop(ticket)
        self.release(task)
        return task

    def release(self, task: Activation) -> None:
        """Free a task's slots; see `fill`."""
        for group in task.slots:
            group.busy -= 1
            self._freed = True
        task.slots = []

    def fill(self) -> None:
        """Give slots that were freed to those who wait for one, the first one first."""
        if self._freed:
            self._freed = False
            waiting, self.queue = self.queue, deque()
            for task in waiting:
                self.start(task)

    def stop(self, task: Activation) -> None:
        """Tell a task to stop, unless its effect cannot be taken back."""
        if task.node.node.contract.effect != "irreversible" and not task.stopped:
            task.stopped = True
            self.commands.append(StopTask(task.ticket))

    def set_timer(self, wake: Wake) -> int:
        """Number a timer."""
        self._timers += 1
        self.timers[self._timers] = wake
        return self._timers

    def clear_timer(self, timer: int) -> None:
        """Forget a timer."""
        if self.timers.pop(timer, None) is not None:
            self.commands.append(ClearTimer(timer))

    def drop(self, frame: Frame | None) -> None:
        """Stop or forget all that is inside a frame, or everything; what was to start in this very step never starts."""
        self.queue = deque(task for task in self.queue if frame is not None and not task.inside(frame))
        unsent = {command.ticket for command in self.commands if isinstance(command, StartTask)}
        for task in list(self.running.values()):
            if frame is not None and not task.inside(frame):
                continue
            if task.ticket in unsent:
                self.commands = [c for c in self.commands if not (isinstance(c, StartTask) and c.ticket == task.ticket)]
                self.take(task.ticket)
                self._ledger.record(Cancelled(task.node.id, task.frame.turns))
            else:
                self.stop(task)
        self.suspended = [task for task in self.suspended if frame is not None and not task.inside(frame)]
        self.questions = {
            request: question
            for request, question in self.questions.items()
            if frame is not None and not question.task.inside(frame)
        }
        for timer, (_, owner, _) in list(self.timers.items()):
            if frame is None or any(around is frame for around in owner.frame.around()):
                self.clear_timer(timer)

    def busy(self, frame: Frame) -> bool:
        """Whether a task runs inside a frame."""
        return any(task.inside(frame) for task in self.running.values())

    @property
    def owners(self) -> Mapping[int, Activation]:
        """Tickets of the tasks whose bodies may run anew, and of those that run -> task."""
        waiting = [question.task for question in self.questions.values()]
        return {task.ticket: task for task in (*self.running.values(), *self.suspended, *waiting)}


def _capped(task: Activation) -> Iterator[tuple[Group, int]]:
    """The groups whose slots a task needs. The code of a custom agent with children needs none: it mostly waits."""
    if task.node.calls:
        return
    for frame in task.frame.around():
        owner = frame.owner
        if isinstance(owner, Group):
            fork = owner.fork.node
            if isinstance(fork, Fork) and fork.group is not None and fork.group.limit is not None:
                yield owner, fork.group.limit


def _may_run_again(task: Activation) -> bool:
    """Whether the task may be run several times at the same turns, so that its attempts are counted."""
    return _is_tried(task.node) or any(_is_attempt(frame) for frame in task.frame.around())


def _is_tried(node: PlanNode) -> bool:
    return isinstance(node.node, Task) and node.node.retry is not None


def _is_attempt(frame: Frame) -> bool:
    owner = frame.owner
    return owner.guard if isinstance(owner, Group) else isinstance(owner, Call) and _is_tried(owner.task.node)
