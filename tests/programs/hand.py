"""A driver that is a loop: it completes the running tasks of a machine in the order of a random source."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from random import Random
from typing import Any

from graphflow import Context, Flow
from graphflow.context import State
from graphflow.runtime.machine import Machine
from graphflow.runtime.messages import Failed, Outcome, Start, StartTask, Stopped, StopTask, Succeeded
from graphflow.runtime.versions import Snapshot


def by_hand(
    flow: Flow, inputs: dict[str, object], random: Random, *, check: Callable[[Machine, Outcome], None]
) -> Machine:
    """Run a flow without an event loop; `check` sees the machine after every step."""
    machine = Machine(flow.plan, "by-hand")
    running: dict[int, StartTask] = {}
    stopped: set[int] = set()
    outcome = machine.step(Start(inputs))
    while True:
        check(machine, outcome)
        if machine.status is not None:
            return machine
        stopped |= {command.ticket for command in outcome.commands if isinstance(command, StopTask)}
        running |= {command.ticket: command for command in outcome.commands if isinstance(command, StartTask)}
        ticket = random.choice(sorted(running))
        command = running.pop(ticket)
        outcome = machine.step(Stopped(ticket) if ticket in stopped and random.randrange(2) else executed(command))


def executed(command: StartTask) -> Succeeded | Failed:
    """Run a body to its end at once."""
    node = command.node
    state = State(Snapshot(command.state), reads=node.readable, writes=node.allowed, node=node.id)
    context = Context(state, node.id, "by-hand", iterations=command.turns)
    try:
        delta = node.node.body.call(context)
        delta = finished(delta) if isinstance(delta, Coroutine) else delta
    except Exception as error:  # noqa: BLE001 - what a body raises is an event
        return Failed(command.ticket, error)
    return Succeeded(command.ticket, delta, context.actions.escalate, context.actions.halt)


def finished(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine that never waits for anything."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value
    raise AssertionError("a body of a random tree waits for nothing here")
