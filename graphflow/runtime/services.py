"""What the runtime does for one running body: models, progress, steps, questions, children.

A body that runs anew (after a question was answered) is given what it has done already, in the same order::

    await ctx.step("fetch", fetch, url)     # the first time it is done and journaled, then it is what the journal has

`Hub` is the driver's side; bodies see `Services` of `graphflow.context` only.
"""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from random import random
from typing import Any, Protocol
from uuid import uuid4

import anyio
from anyio import to_thread

from graphflow.context import Context
from graphflow.errors import ModelError, ReplayError, UsageError
from graphflow.events import Event
from graphflow.ir.nodes import agent_path, called
from graphflow.ir.scoping import scoped_key
from graphflow.models.base import Model, ModelReply, ModelRequest
from graphflow.runtime.journal import Step
from graphflow.runtime.limits import Limits, Used
from graphflow.runtime.machine import Machine
from graphflow.runtime.messages import AskedFor, Called, Done, Overlaid, StartTask
from graphflow.runtime.messages import Event as MachineEvent
from graphflow.runtime.versions import State, view
from graphflow.schema import ANY, freeze, type_of, validator

_SOURCES: Mapping[str, Callable[[], object]] = {
    "now": lambda: datetime.now(UTC).isoformat(),
    "random": random,
    "uuid": lambda: str(uuid4()),
}
"""What differs each time it is asked for."""


class PutAside(BaseException):
    """Ends a body whose question has to be answered first."""


class Hub(Protocol):
    """What the services of a task need of the driver."""

    machine: Machine
    models: Mapping[str, Model]
    limits: Limits
    used: Used
    calls: dict[tuple[int, int], ChildRun]

    def feed(self, event: MachineEvent) -> None:
        """Tell the machine, and carry out what follows."""

    def note(self, ticket: int, step: Step, done: Done) -> None:
        """Journal something that a body has done."""

    def emit(self, context: Context, data: Mapping[str, Any]) -> None:
        """Send progress to subscribers."""

    @property
    def elapsed(self) -> float:
        """Seconds since the start of the run."""


@dataclass(eq=False, slots=True)
class ChildRun:
    """A child that the code of a custom agent runs.

    Attributes:
        path: path of the child.
        turns: iterations and calls around what happens in it.
        renew: told what the code sees after it.
        done: how it ended, None while it runs.
    """

    path: str
    turns: tuple[int, ...]
    renew: Callable[[State], None]
    done: Done | None = None
    _events: deque[Event] = field(default_factory=deque)
    _bell: anyio.Event = field(default_factory=anyio.Event)

    def concerns(self, node: str, turns: tuple[int, ...]) -> bool:
        """Say whether something happened inside of it."""
        inside = node == self.path or node.startswith((f"{self.path}/", f"{self.path}#"))
        return inside and turns[: len(self.turns)] == self.turns

    def tell(self, events: list[Event]) -> None:
        """Something happened inside of it."""
        self._events.extend(events)
        self._bell.set()

    def end(self, done: Done) -> None:
        """It has ended."""
        self.done = done
        if done.state is not None:
            self.renew(done.state)
        self._bell.set()

    async def result(self) -> Any:
        """Wait for the child's end and give its output; raises what the child failed with."""
        while self.done is None:
            await self._wait()
        if self.done.error is not None:
            raise self.done.error
        return self.done.result

    async def events(self) -> AsyncIterator[Event]:
        """Give the child's events until its end; the last one has its output, and asks the loop to end if the child did."""
        last: Event | None = None
        while self.done is None or self._events:
            while self._events:
                if last is not None:
                    yield _calm(last)
                last = self._events.popleft()
            if self.done is None:
                await self._wait()
        if self.done.error is not None:
            raise self.done.error
        last = last or Event(author=self.path.rpartition("/")[2], node=self.path, iterations=self.turns)
        actions = replace(last.actions, escalate=self.done.escalated)
        yield replace(last, actions=actions, output=self.done.result)

    async def _wait(self) -> None:
        await self._bell.wait()
        self._bell = anyio.Event()


def _calm(event: Event) -> Event:
    return replace(event, actions=replace(event.actions, escalate=False)) if event.actions.escalate else event


@dataclass(slots=True)
class TaskServices:
    """The runtime's side of one task; `open` until its body has ended or was given up."""

    hub: Hub
    command: StartTask
    open: bool = True
    _history: deque[Done] = field(default_factory=deque)
    _returned: dict[int, Done] = field(default_factory=dict)
    _calls: int = 0
    _asked: int = 0
    _steps: int = 0

    def __post_init__(self) -> None:
        self._history = deque(done for done in self.command.history if done.kind != "call")
        self._returned = {done.number: done for done in self.command.history if done.kind == "call"}

    def _before(self, kind: str, name: str) -> Done | None:
        """What the body did at this point when it ran before, None if it has not got here yet."""
        if not self._history:
            return None
        done = self._history.popleft()
        if (done.kind, done.name) != (kind, name):
            node = self.command.node.id
            raise ReplayError(
                f"`{node}` runs again and asks for {kind} `{name}` where it asked for {done.kind} `{done.name}` before; "
                f"what a body does between steps must not depend on anything but the state and its steps",
                node=node,
            )
        if done.error is not None:
            raise done.error
        return done

    async def generate(self, request: ModelRequest) -> ModelReply:
        """Ask the model that the run uses for the task, within the limits, and journal the turn."""
        hub, node = self.hub, request.node
        before = self._before("model", "")
        if before is not None:
            assert isinstance(before.result, ModelReply)
            return before.result
        hub.used.call(hub.limits, node)
        model = hub.models.get(node)
        if model is None:
            raise ModelError(f"`{node}` has no model; give one with model=, Flow(model=) or run(models=)")
        reply = await model.generate(request)
        if not isinstance(reply, ModelReply):
            raise ModelError(f"`{node}`: model `{model.name}` gave {type(reply).__name__}, not a ModelReply")
        self._note("model", model.name, reply, Done("model", "", reply))
        hub.used.spend(reply.usage.total_tokens, hub.limits, node)
        return reply

    def emit(self, context: Context, data: Mapping[str, Any]) -> None:
        """Send progress to subscribers, as long as the body runs."""
        if self.open:
            self.hub.emit(context, data)

    async def step(self, _: Context, name: str, func: Callable[..., object], args: tuple[object, ...]) -> object:
        """Call a function once, whatever happens to the body afterwards."""
        before = self._before("step", name)
        if before is not None:
            return before.result
        if inspect.iscoroutinefunction(func):
            result = await func(*args)
        elif func in _SOURCES.values():
            result = func(*args)
        else:
            result = await to_thread.run_sync(func, *args)
        result = freeze(result, ANY)
        self._note("step", name, result, Done("step", name, result))
        return result

    async def once(self, context: Context, name: str) -> Any:
        """Ask for what differs each time, as a step."""
        return await self.step(context, name, _SOURCES[name], ())

    async def ask(
        self,
        context: Context,
        prompt: str,
        schema: object,
        timeout: float | None,  # noqa: ASYNC109 - how long a person has
        default: object,
    ) -> object:
        """Give the answer, or put the body aside until there is one."""
        self._hand_over(context)
        self._asked += 1
        before = self._before("ask", prompt)
        type_ = type_of(schema)
        if before is not None:
            return validator(type_)(before.result)
        deadline = None if timeout is None else self.hub.elapsed + timeout
        self.open = False
        self.hub.feed(AskedFor(self.command.ticket, self._asked, prompt, type_, deadline, default))
        raise PutAside

    async def overlay(self, context: Context, delta: Mapping[str, object]) -> None:
        """Let the children that start from now on, and the code itself, see these writes."""
        written = dict(context.state.delta)
        context.state.delta.clear()
        self._overlay(context, written)
        self._overlay(context, delta)

    def start_call(self, context: Context, label: str) -> ChildRun:
        """Start a child; in a body that runs anew give what it gave, or wait for the one that runs."""
        self._hand_over(context)
        self._calls += 1
        number, node, ticket = self._calls, self.command.node, self.command.ticket
        path = f"{agent_path(node.id)}/{called(label)}"
        run = ChildRun(path, (*self.command.turns, number), lambda state: self._renew(context, state))
        task = self.hub.machine.tasks.running.get(ticket)
        if task is None:
            raise UsageError(f"`{node.id}` runs `{called(label)}` after it has ended")
        running = task.calls.get(number)
        done = self._returned.pop(number, None)
        if done is None and running is None and number in self.command.under_way:
            done = next(done for done in task.history if (done.kind, done.number) == ("call", number))
        before = done.name if done is not None else running.label if running is not None else label
        if before != label:
            raise ReplayError(
                f"`{node.id}` runs again and runs `{called(label)}` where it ran `{called(before)}` before",
                node=node.id,
            )
        if done is not None:
            run.end(done)
            return run
        self.hub.calls[ticket, number] = run
        if running is None:
            self.hub.feed(Called(ticket, number, label))
        return run

    def _hand_over(self, context: Context) -> None:
        """What the code wrote into its state is there for its children."""
        if self.command.node.calls and context.state.delta:
            self._overlay(context, context.state.delta)
            context.state.delta.clear()

    def _overlay(self, context: Context, delta: Mapping[str, object]) -> None:
        if not delta:
            return
        before = self._before("overlay", "")
        if before is None:
            scope = getattr(self.command.node.node, "scope", "")
            ticket = self.command.ticket
            run = self.hub.calls[ticket, 0] = ChildRun("", (), lambda state: self._renew(context, state))
            self.hub.feed(Overlaid(ticket, {scoped_key(key, scope): value for key, value in delta.items()}))
            before = run.done
        if before is not None and before.error is not None:
            raise before.error
        if before is not None and before.state is not None:
            self._renew(context, before.state)

    def _renew(self, context: Context, state: State) -> None:
        context.state.renew(view(state, getattr(self.command.node.node, "scope", "")))

    def _note(self, kind: str, name: str, result: object, done: Done) -> None:
        self._steps += 1
        command = self.command
        number = len(command.history) + self._steps
        step = Step(command.node.id, command.turns, command.attempt, number, kind, name, result)
        self.hub.note(command.ticket, step, done)


__all__ = ["ChildRun", "Hub", "PutAside", "TaskServices"]
