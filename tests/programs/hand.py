"""A driver that is a loop: it completes the running tasks of a machine in the order of a random source.

::

    machine = by_hand(flow, {"a": 2}, Random(7), check=lambda machine, outcome: None)

Questions are answered as `number_for` says. There is no event loop: custom agents cannot be run.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from random import Random
from typing import Any

from graphflow import Flow
from graphflow.ir.nodes import Task
from graphflow.runtime.execution import context_of, succeeded
from graphflow.runtime.machine import Machine
from graphflow.runtime.messages import (
    AskedFor,
    ClearTimer,
    Event,
    Failed,
    Outcome,
    Resume,
    SetTimer,
    Start,
    StartTask,
    Stopped,
    StopTask,
    TimerRang,
)
from graphflow.schema import type_of
from tests.programs.running import answers_to

Check = Callable[[Machine, Outcome], None]


class PutAside(BaseException):
    """A body has to wait for an answer."""


@dataclass
class Person:
    """What a body may ask for here: the answer to one question."""

    command: StartTask
    asked: AskedFor | None = None

    async def ask(self, _: object, prompt: str, schema: object, timeout: float | None, default: object) -> object:  # noqa: ASYNC109
        answered = next((done for done in self.command.history if done.kind == "ask"), None)
        if answered is not None:
            return answered.result
        self.asked = AskedFor(self.command.ticket, 1, prompt, type_of(schema), timeout, default)
        raise PutAside


@dataclass
class _Hand:
    machine: Machine
    random: Random
    check: Check

    def __post_init__(self) -> None:
        self.running: dict[int, StartTask] = {}
        self.timers: list[int] = []
        self.stopped: set[int] = set()

    def step(self, event: Event) -> None:
        outcome = self.machine.step(event)
        self.check(self.machine, outcome)
        for command in outcome.commands:
            match command:
                case StopTask(ticket=ticket):
                    self.stopped.add(ticket)
                case StartTask(ticket=ticket):
                    self.running[ticket] = command
                case SetTimer(timer=timer):
                    self.timers.append(timer)
                case ClearTimer(timer=timer):
                    self.timers.remove(timer)
                case _:
                    raise AssertionError(f"no body of a drawn program does this: {command}")

    def next(self) -> Event:
        if self.machine.status == "paused":
            return Resume(answers_to(self.machine, self.random))
        chosen = self.random.choice([*sorted(self.running), *(-timer for timer in self.timers)])
        if chosen < 0:
            self.timers.remove(-chosen)
            return TimerRang(-chosen)
        command = self.running.pop(chosen)
        return Stopped(chosen) if chosen in self.stopped and self.random.randrange(2) else executed(command)


def by_hand(flow: Flow, inputs: dict[str, object], random: Random, *, check: Check) -> Machine:
    """Run a flow without an event loop; `check` sees the machine after every step."""
    hand = _Hand(Machine(flow.plan, "by-hand"), random, check)
    hand.step(Start(inputs))
    while hand.machine.status in (None, "paused"):
        hand.step(hand.next())
    return hand.machine


def executed(command: StartTask) -> Event:
    """Run a body to its end, or to a question, at once."""
    task = command.node.node
    assert isinstance(task, Task)
    context = context_of("by-hand", command, task)
    context.services = person = Person(command)
    try:
        delta = task.body.call(context)
        delta = finished(delta) if isinstance(delta, Coroutine) else delta
    except PutAside:
        assert person.asked is not None
        return person.asked
    except Exception as error:  # noqa: BLE001 - what a body raises is an event
        return Failed(command.ticket, error)
    return succeeded(command, task, context, delta)


def finished(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine that never waits for anything."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value
    raise AssertionError("a body of a random tree waits for nothing here")
