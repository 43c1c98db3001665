"""A driver that is a loop: it completes the running tasks of a machine in the order of a random source."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from random import Random
from typing import Any

from graphflow import Flow
from graphflow.ir.nodes import Task
from graphflow.runtime.execution import context_of, succeeded
from graphflow.runtime.machine import Machine
from graphflow.runtime.messages import (
    ClearTimer,
    Failed,
    Outcome,
    SetTimer,
    Start,
    StartTask,
    Stopped,
    StopTask,
    Succeeded,
    TimerRang,
)


def by_hand(
    flow: Flow, inputs: dict[str, object], random: Random, *, check: Callable[[Machine, Outcome], None]
) -> Machine:
    """Run a flow without an event loop; `check` sees the machine after every step."""
    machine = Machine(flow.plan, "by-hand")
    running: dict[int, StartTask] = {}
    timers: list[int] = []
    stopped: set[int] = set()
    outcome = machine.step(Start(inputs))
    while True:
        check(machine, outcome)
        if machine.status is not None:
            return machine
        for command in outcome.commands:
            match command:
                case StopTask(ticket=ticket):
                    stopped.add(ticket)
                case StartTask(ticket=ticket):
                    running[ticket] = command
                case SetTimer(timer=timer):
                    timers.append(timer)
                case ClearTimer(timer=timer):
                    timers.remove(timer)
                case _:
                    raise AssertionError(f"no body of a drawn program does this: {command}")
        chosen = random.choice([*sorted(running), *(-timer for timer in timers)])
        if chosen < 0:
            timers.remove(-chosen)
            outcome = machine.step(TimerRang(-chosen))
            continue
        command = running.pop(chosen)
        outcome = machine.step(Stopped(chosen) if chosen in stopped and random.randrange(2) else executed(command))


def executed(command: StartTask) -> Succeeded | Failed:
    """Run a body to its end at once."""
    task = command.node.node
    assert isinstance(task, Task)
    context = context_of("by-hand", command, task)
    try:
        delta = task.body.call(context)
        delta = finished(delta) if isinstance(delta, Coroutine) else delta
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
