"""The driver: it runs bodies, feeds the machine, and appends records before it acts on commands.

One task group per run owns every task. A node that is ready alone runs inline, in the driver's own task; side by side means a
task each. The driver knows the clock; the machine does not::

    await Driver(machine, bodies, journal).run(inputs)

Runs on asyncio and trio alike.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, cast

import anyio
from anyio import to_thread
from anyio.abc import TaskGroup

from graphflow.context import Body, Context, State
from graphflow.errors import LimitExceeded, ModelError, UsageError
from graphflow.events import Event
from graphflow.ir.nodes import Task
from graphflow.models.base import Model, ModelReply, ModelRequest
from graphflow.runtime.journal import Journal, Record, Step
from graphflow.runtime.machine import Machine
from graphflow.runtime.mailbox import Mailbox
from graphflow.runtime.messages import Abort, Failed, Outcome, Start, StartTask, Stopped, StopTask, Succeeded
from graphflow.runtime.messages import Event as MachineEvent
from graphflow.runtime.result import events_of, progress_event
from graphflow.runtime.versions import Snapshot

INLINE_BURST = 32
"""After so many nodes in a row without a pause, other tasks of the event loop and cancellation get their turn."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one run may use. A limit that is reached fails the run with `LimitExceeded`.

    Attributes:
        max_model_calls: model calls of all nodes together.
        max_steps: task starts, None for no limit.
        max_tokens: tokens in and out of all model calls together, None for no limit.
        deadline: seconds from the start of the run, None for no limit.
    """

    max_model_calls: int | None = 500
    max_steps: int | None = None
    max_tokens: int | None = None
    deadline: float | None = None

    def __post_init__(self) -> None:
        for name in ("max_model_calls", "max_steps", "max_tokens", "deadline"):
            value = getattr(self, name)
            kinds = (int, float) if name == "deadline" else (int,)
            if value is None:
                continue
            if not isinstance(value, kinds) or isinstance(value, bool):
                raise TypeError(f"Limits: `{name}` takes a number or None, got {value!r}")
            if value < 0 or math.isnan(value):
                raise UsageError(f"Limits: `{name}` must not be negative, got {value!r}")


@dataclass(slots=True)
class _Used:
    """What a run has used of its limits; `turns`: ticket -> model turns of that task."""

    calls: int = 0
    tokens: int = 0
    turns: dict[int, int] = field(default_factory=dict)


@dataclass(slots=True)
class Driver:
    """Runs one machine to its end.

    Attributes:
        machine: the run.
        journal: where its records go.
        models: node path -> the model it uses.
        limits: what the run may use.
        deps: handed to bodies.
        send: where events go, None if nobody watches; awaited, so that a slow subscriber slows the run.
    """

    machine: Machine
    journal: Journal
    models: Mapping[str, Model] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    deps: Any = None
    send: Callable[[Event], Awaitable[None]] | None = None
    message: str | None = None
    _started: float = 0.0
    _group: TaskGroup | None = None
    _scopes: dict[int, anyio.CancelScope] = field(default_factory=dict)
    _mail: Mailbox = field(default_factory=Mailbox)
    _used: _Used = field(default_factory=_Used)

    async def run(self, inputs: Mapping[str, object]) -> None:
        """Run to the terminal record.

        Args:
            inputs: key -> value at the entry.

        Raises:
            BaseException: cancellation from outside, after it was journaled. Failures are in `machine.error`.
        """
        self._started = monotonic()
        outcome = self.machine.step(Start(inputs, self.message))
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
            self._append(outcome.records)
            self._stop(outcome)
            if self.send is not None:
                await self._flush()
            if self.machine.status is not None:
                return
            alone = self._begin(outcome)
            if alone is not None:
                burst += 1
                if burst % INLINE_BURST == 0:
                    await anyio.lowlevel.checkpoint()
                event = await self._execute(alone)
                if not self._mail.events:
                    outcome = self.machine.step(event)
                    continue
                self._mail.events.append(event)
            outcome = self.machine.step(await self._next())

    def _stop(self, outcome: Outcome) -> None:
        for command in outcome.commands:
            if isinstance(command, StopTask) and command.ticket in self._scopes:
                self._scopes[command.ticket].cancel()

    def _begin(self, outcome: Outcome) -> StartTask | None:
        """Start tasks. A single one with nothing beside it is given back, to be run inline."""
        starts = [command for command in outcome.commands if isinstance(command, StartTask)]
        if len(starts) == 1 and self.machine.running == 1 and self.limits.deadline is None and self.send is None:
            return starts[0]
        assert self._group is not None
        for command in starts:
            self._scopes[command.ticket] = scope = anyio.CancelScope()
            self._group.start_soon(self._spawned, command, scope)
        return None

    def _append(self, records: list[Record]) -> None:
        if not records:
            return
        now = monotonic() - self._started
        self.journal.append(records, now)
        if self.send is not None:
            self._mail.unsent.extend(
                event for record in records for event in events_of(self.machine.run_id, record, now)
            )

    async def _flush(self) -> None:
        assert self.send is not None
        while self._mail.unsent:
            await self.send(self._mail.unsent.popleft())

    async def _next(self) -> MachineEvent:
        while not self._mail.events:
            await self._mail.wait()
            if self.send is not None:
                await self._flush()
        return self._mail.events.popleft()

    async def _watch_deadline(self, seconds: float) -> None:
        await anyio.sleep(seconds)
        error = LimitExceeded(f"the deadline of {seconds:g} s was reached", limit="deadline")
        self._mail.post(Abort(f"LimitExceeded: {error}", error))

    async def _spawned(self, command: StartTask, scope: anyio.CancelScope) -> None:
        event: MachineEvent = Stopped(command.ticket)
        try:
            with scope:
                event = await self._execute(command)
        except anyio.get_cancelled_exc_class() as error:
            if anyio.current_effective_deadline() == -math.inf:
                raise
            event = Failed(command.ticket, error)
        finally:
            self._scopes.pop(command.ticket, None)
            self._mail.post(event)

    async def _execute(self, command: StartTask) -> MachineEvent:
        node = command.node
        task = node.node
        assert isinstance(task, Task)
        body = cast("Body", task.body)
        state = State(Snapshot(command.state), reads=node.readable, writes=node.allowed, node=node.id)
        context = Context(
            state, node.id, self.machine.run_id, node.strand, command.turns, 1, self.deps, self.message, services=None
        )
        context.services = services = _TaskServices(self, command)
        irreversible = node.node.contract.effect == "irreversible"
        try:
            delta = await (self._shielded(body, context) if irreversible else self._call(body, context))
        except Exception as error:  # noqa: BLE001 - the task boundary: whatever the body raised becomes an event
            return Failed(command.ticket, error)
        except SystemExit as error:
            return Failed(command.ticket, UsageError(f"the body called sys.exit({error.code!r}); raise an exception"))
        except BaseException as error:
            if isinstance(error, (anyio.get_cancelled_exc_class(), KeyboardInterrupt, GeneratorExit)):
                raise
            return Failed(command.ticket, error)
        finally:
            services.open = False
        return Succeeded(command.ticket, delta, context.actions.escalate, context.actions.halt)

    async def _shielded(self, body: Body, context: Context) -> Mapping[str, object]:
        await anyio.lowlevel.checkpoint()  # a run that is cancelled already does not begin it
        with anyio.CancelScope(shield=True):
            written = await self._call(body, context)
        return written  # noqa: RET504 - a scope may end its block early, so the return cannot be inside

    async def _call(self, body: Body, context: Context) -> Mapping[str, object]:
        if body.mode == "inline":
            return cast("Mapping[str, object]", body.call(context))
        if body.mode == "thread":
            return cast("Mapping[str, object]", await to_thread.run_sync(body.call, context, abandon_on_cancel=True))
        return await cast("Awaitable[Mapping[str, object]]", body.call(context))

    async def generate(self, command: StartTask, request: ModelRequest) -> ModelReply:
        """Ask the model that the run uses for a task, within the limits, and journal the turn."""
        limit = self.limits.max_model_calls
        if limit is not None and self._used.calls >= limit:
            raise LimitExceeded(
                f"the limit of {limit} model calls was reached at `{request.node}`", limit="max_model_calls"
            )
        self._used.calls += 1
        model = self.models.get(request.node)
        if model is None:
            raise ModelError(f"`{request.node}` has no model; give one with model=, Flow(model=) or run(models=)")
        reply = await model.generate(request)
        if not isinstance(reply, ModelReply):
            raise ModelError(f"`{request.node}`: model `{model.name}` gave {type(reply).__name__}, not a ModelReply")
        turn = self._used.turns[command.ticket] = self._used.turns.get(command.ticket, 0) + 1
        self._append([self.machine.noted(Step(request.node, command.turns, 1, turn, "model", model.name, reply))])
        self._used.tokens += reply.usage.total_tokens
        if self.limits.max_tokens is not None and self._used.tokens > self.limits.max_tokens:
            raise LimitExceeded(
                f"the limit of {self.limits.max_tokens} tokens was passed at `{request.node}`", limit="max_tokens"
            )
        return reply

    def emit(self, context: Context, data: Mapping[str, Any]) -> None:
        """Send progress to subscribers, soon; a body may be in a worker thread."""
        if self.send is not None:
            self._mail.tell(progress_event(context, data, monotonic() - self._started))


@dataclass(slots=True)
class _TaskServices:
    """The runtime's side of one task; `open` until its body has ended or was given up."""

    driver: Driver
    command: StartTask
    open: bool = True

    async def generate(self, request: ModelRequest) -> ModelReply:
        return await self.driver.generate(self.command, request)

    def emit(self, context: Context, data: Mapping[str, Any]) -> None:
        if self.open:
            self.driver.emit(context, data)
