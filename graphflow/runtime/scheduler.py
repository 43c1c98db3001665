"""The driver: it runs bodies, feeds the machine, and appends records before it acts on commands.

One task group per run owns every task. A node that is ready alone runs inline, in the driver's own task; side by side means a
task each. The driver knows the clock; the machine does not::

    await Driver(machine, journal).run(inputs)

Runs on asyncio and trio alike.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

import anyio
from anyio.abc import TaskGroup

from graphflow.context import Context
from graphflow.errors import LimitExceeded
from graphflow.events import Event
from graphflow.models.base import Model
from graphflow.runtime.backoff import wait_before
from graphflow.runtime.execution import execute
from graphflow.runtime.journal import Journal, Record, Step, TimerSet
from graphflow.runtime.limits import Limits, Used
from graphflow.runtime.machine import Machine
from graphflow.runtime.mailbox import Mailbox
from graphflow.runtime.messages import (
    Abort,
    ClearTimer,
    Done,
    Failed,
    Outcome,
    Resume,
    Return,
    SetTimer,
    Start,
    StartTask,
    Stopped,
    StopTask,
    Succeeded,
    TimerRang,
)
from graphflow.runtime.messages import Event as MachineEvent
from graphflow.runtime.result import events_of, progress_event
from graphflow.runtime.services import ChildRun

INLINE_BURST = 32
"""After so many nodes in a row without a pause, other tasks of the event loop and cancellation get their turn."""


@dataclass(slots=True)
class Driver:
    """Runs one machine to its end, or until it pauses.

    Attributes:
        machine: the run.
        journal: where its records go.
        models: node path -> the model it uses.
        limits: what the run may use.
        deps: handed to bodies.
        send: where events go, None if nobody watches; awaited, so that a slow subscriber slows the run.
        message: the run's message.
        used: what it has used of its limits.
        calls: (ticket, number) -> child that the code of a custom agent waits for.
    """

    machine: Machine
    journal: Journal
    models: Mapping[str, Model] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    deps: Any = None
    send: Callable[[Event], Awaitable[None]] | None = None
    message: str | None = None
    used: Used = field(default_factory=Used)
    calls: dict[tuple[int, int], ChildRun] = field(default_factory=dict)
    _started: float = 0.0
    _group: TaskGroup | None = None
    _scopes: dict[int | str, anyio.CancelScope] = field(default_factory=dict)
    _mail: Mailbox = field(default_factory=Mailbox)

    async def run(self, inputs: Mapping[str, object]) -> None:
        """Run to the terminal record.

        Args:
            inputs: key -> value at the entry.

        Raises:
            BaseException: cancellation from outside, after it was journaled. Failures are in `machine.error`.
        """
        self._started = monotonic()
        await self._drive(self.machine.step(Start(inputs, self.message)))

    async def resume(self, resume: Resume) -> None:
        """Go on with a paused run; time goes on where it stopped. See `run`."""
        self._started = monotonic() - (self.journal.times[-1] if self.journal.times else 0.0)
        self._mail, self._scopes, self.calls = Mailbox(), {}, {}
        await self._drive(self.machine.step(resume))

    @property
    def elapsed(self) -> float:
        """Seconds since the start of the run."""
        return monotonic() - self._started

    async def _drive(self, outcome: Outcome) -> None:
        fault: Exception | None = None
        try:
            async with anyio.create_task_group() as group:
                self._group = group
                if self.limits.deadline is not None:
                    group.start_soon(self._watch_deadline, self.limits.deadline)
                try:
                    await self._loop(outcome)
                except Exception as error:  # noqa: BLE001 - raised below, so that the group does not wrap it
                    fault = error
                group.cancel_scope.cancel()
        finally:
            if self.machine.status is None:
                self._cancelled()
        if fault is not None:
            raise fault

    def _cancelled(self) -> None:
        """Journal a cancellation from outside. Bodies have ended already; one that could not be taken back succeeded."""
        self._append(self.machine.step(Abort("cancelled from outside")).records)
        ended = [event for event in self._mail.events if isinstance(event, (Succeeded, Failed))]
        for event in [*ended, *(Stopped(ticket) for ticket in self.machine.tickets())]:
            if event.ticket in self.machine.tickets():
                self._append(self.machine.step(event).records)

    async def _loop(self, outcome: Outcome) -> None:
        burst = 0
        while True:
            starts = self._carry_out(outcome)
            if self.send is not None:
                await self._flush()
            if self.machine.status is not None:
                return
            alone = self._begin(starts, inline=True)
            if alone is not None:
                burst += 1
                if burst % INLINE_BURST == 0:
                    await anyio.lowlevel.checkpoint()
                event = await execute(self, alone, self.deps, self.message)
                if event is not None and not self._mail.events:
                    outcome = self.machine.step(event)
                    continue
                if event is not None:
                    self._mail.events.append(event)
            following = await self._next()
            if following is None:
                return
            outcome = self.machine.step(following)

    def feed(self, event: MachineEvent) -> None:
        """Tell the machine, from a running body, and carry out what follows."""
        self._begin(self._carry_out(self.machine.step(event)), inline=False)
        self._mail.ring()

    def note(self, ticket: int, step: Step, done: Done) -> None:
        """Journal something that a body has done."""
        self._append([self.machine.noted(ticket, step, done)])

    def _carry_out(self, outcome: Outcome) -> list[StartTask]:
        """Append records, then do what is commanded; the tasks to start are given back."""
        self._append(outcome.records)
        starts: list[StartTask] = []
        for command in outcome.commands:
            match command:
                case StartTask():
                    starts.append(command)
                case StopTask(ticket=ticket):
                    self._cancel(ticket)
                case SetTimer():
                    self._set_timer(command)
                case ClearTimer(timer=timer):
                    self._cancel(f"timer {timer}")
                case Return(ticket=ticket, number=number, done=done):
                    child = self.calls.pop((ticket, number), None)
                    if child is not None:
                        child.end(done)
        return starts

    def _begin(self, starts: list[StartTask], *, inline: bool) -> StartTask | None:
        """Start tasks. One with nothing beside it is given back, to be run inline."""
        if inline and len(starts) == 1 and self._is_alone(starts[0]):
            return starts[0]
        assert self._group is not None
        for start in starts:
            self._scopes[start.ticket] = scope = anyio.CancelScope()
            self._group.start_soon(self._spawned, start, scope)
        return None

    def _is_alone(self, start: StartTask) -> bool:
        """Whether a task may keep the driver waiting: nothing else runs, and nothing has to be watched meanwhile."""
        quiet = self.limits.deadline is None and self.send is None and not self.machine.tasks.timers
        return quiet and self.machine.running == 1 and not start.node.calls

    def _cancel(self, name: int | str) -> None:
        scope = self._scopes.get(name)
        if scope is not None:
            scope.cancel()

    def _append(self, records: list[Record]) -> None:
        if not records:
            return
        now = self.elapsed
        self.journal.append(records, now)
        if self.send is None and not self.calls:
            return
        run_id = self.machine.run_id
        for record in records:
            events = list(events_of(run_id, record, now))
            if self.send is not None:
                self._mail.unsent.extend(events)
            for child in self.calls.values():
                child.tell([event for event in events if child.concerns(event.node, event.iterations)])

    async def _flush(self) -> None:
        assert self.send is not None
        while self._mail.unsent:
            await self.send(self._mail.unsent.popleft())

    async def _next(self) -> MachineEvent | None:
        while not self._mail.events:
            if self.machine.status is not None:
                return None
            await self._mail.wait()
            if self.send is not None:
                await self._flush()
        return self._mail.events.popleft()

    # --- time ---------------------------------------------------------------------------------------------------

    async def _watch_deadline(self, seconds: float) -> None:
        await anyio.sleep(max(0.0, seconds - self.elapsed))
        error = LimitExceeded(f"the deadline of {seconds:g} s was reached", limit="deadline")
        self._mail.post(Abort(f"LimitExceeded: {error}", error))

    def _set_timer(self, command: SetTimer) -> None:
        seconds = command.seconds
        if seconds is None:
            assert command.policy is not None
            seconds = wait_before(command.policy, command.attempt)
            record = TimerSet(command.node.id, command.turns, command.timer, seconds)
            self.machine.ledger.counted()
            self._append([record])
        if not seconds:
            self._mail.post(TimerRang(command.timer))
            return
        assert self._group is not None
        self._scopes[f"timer {command.timer}"] = scope = anyio.CancelScope()
        self._group.start_soon(self._wait, command.timer, seconds, scope)

    async def _wait(self, timer: int, seconds: float, scope: anyio.CancelScope) -> None:
        with scope:
            await anyio.sleep(seconds)
            self._mail.post(TimerRang(timer))
        self._scopes.pop(f"timer {timer}", None)

    # --- bodies -------------------------------------------------------------------------------------------------

    async def _spawned(self, command: StartTask, scope: anyio.CancelScope) -> None:
        event: MachineEvent | None = Stopped(command.ticket)
        try:
            with scope:
                event = await execute(self, command, self.deps, self.message)
        except anyio.get_cancelled_exc_class() as error:
            if anyio.current_effective_deadline() == -math.inf:
                raise
            event = Failed(command.ticket, error)
        finally:
            self._scopes.pop(command.ticket, None)
            if event is not None:
                self._mail.post(event)

    def emit(self, context: Context, data: Mapping[str, Any]) -> None:
        """Send progress to subscribers, soon; a body may be in a worker thread."""
        if self.send is not None:
            self._mail.tell(progress_event(context, data, self.elapsed))


__all__ = ["INLINE_BURST", "Driver", "Limits"]
