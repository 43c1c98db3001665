"""The children of custom agents: what their code runs, and what it sees of it.

The code works on the state at its start plus an overlay: what it hands over, and what its children have done. A child sees
state and overlay, and adds to the overlay when it succeeds; two that overlap in time and write one key are a conflict. All
of it commits when the code succeeds.

Functions of the machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphflow.errors import GraphflowError
from graphflow.ir.nodes import ESCALATIONS
from graphflow.runtime.commits import checked_delta
from graphflow.runtime.frames import Call, Counters, Frame
from graphflow.runtime.journal import Step
from graphflow.runtime.ledger import Place
from graphflow.runtime.messages import Called, Done, Overlaid, Return
from graphflow.runtime.tasks import Activation

if TYPE_CHECKING:
    from graphflow.runtime.machine import Machine

HANDED_OVER = 0
"""The number by which a `Return` answers an `Overlaid`."""


def _place(task: Activation) -> Place:
    """Where the overlay of a custom agent is, after what its code has done so far."""
    frame, node = task.frame, task.node
    label = f"{frame.label}/{node.id}()".lstrip("/")
    return Place(node, frame.turns, (*frame.position, node.index, task.marks), label)


def overlay(machine: Machine, event: Overlaid) -> None:
    """The code hands over writes and goes on."""
    task = machine.tasks.running[event.ticket]
    task.marks += 1
    try:
        delta = checked_delta(task.node, event.delta, quiet=True)
        task.state = machine.ledger.commit(_place(task), task.state, delta, attempt=task.attempt, partial=True)
    except GraphflowError as error:
        done = Done("overlay", "", error=error)
    else:
        task.written |= set(delta)
        done = Done("overlay", "", state=task.state)
    task.history.append(done)
    machine.tasks.commands.append(Return(event.ticket, HANDED_OVER, done))


def begin(machine: Machine, event: Called) -> None:
    """The code runs a child: let control into it."""
    task = machine.tasks.running[event.ticket]
    node, outer = task.node, task.frame
    task.marks += 1
    frame = Frame(
        node.index,
        outer,
        (*outer.turns, event.number),
        (*outer.position, node.index, task.marks),
        f"{_place(task).scope}{event.number}",
        Counters(machine.plan.scopes[node.index].members[event.label]),
    )
    frame.owner = task.calls[event.number] = Call(task, event.number, event.label, frame)
    machine.edges.begin(frame, machine.plan.ways[node.index][event.label], task.state)


def settled(machine: Machine, frame: Frame) -> None:
    """A child has ended: its writes join the overlay, its value goes to the code."""
    call = frame.owner
    assert isinstance(call, Call)
    fired = [arrival for arrival in frame.counters.backs if arrival.fired] or frame.counters.backs
    frame.gone = True
    task = call.task
    try:
        states = [task.state, *(arrival.state for arrival in fired)]
        task.state = machine.ledger.unite(_place(task), states)
    except GraphflowError as error:
        returned(machine, call, error)
        return
    returned(machine, call, None, escalated=any(arrival.label in ESCALATIONS for arrival in fired))


def returned(machine: Machine, call: Call, error: BaseException | None, *, escalated: bool = False) -> None:
    """A child has ended, or nothing of one that failed runs any more: tell the code that waits for it."""
    task = call.task
    if task.calls.pop(call.number, None) is None:
        return
    done = Done("call", call.label, call.output, error, task.state, escalated, call.number)
    task.history.append(done)
    node, turns = task.node.id, task.frame.turns
    if error is None:
        machine.ledger.record(Step(node, turns, task.attempt, call.number, "call", call.label, call.output))
    if task.ticket in machine.tasks.running:
        machine.tasks.commands.append(Return(task.ticket, call.number, done))


def end(machine: Machine, task: Activation) -> None:
    """A body has ended: children of it that still run are given up."""
    for call in list(task.calls.values()):
        task.calls.pop(call.number, None)
        call.frame.gone = True
        machine.tasks.drop(call.frame)


def give(task: Activation, output: object) -> None:
    """A body has succeeded: the value of the last one, in canonical order, is that of the call around it."""
    for frame in task.frame.around():
        call = frame.owner
        if isinstance(call, Call):
            place = (*task.frame.position, task.node.index)
            if place >= call.last:
                call.output, call.last = output, place
            return
