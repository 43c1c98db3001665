"""Waiting for people: a question puts its task aside, and a run in which nothing else can happen pauses.

When the answers are there the bodies run anew from the top, over the same state; what they had done already is answered from
their history.

Functions of the machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphflow.errors import InternalError, StageTimeout
from graphflow.runtime import groups
from graphflow.runtime.journal import Answered, Asked, Cancelled
from graphflow.runtime.messages import AskedFor, Done, Resume, SetTimer
from graphflow.runtime.tasks import Question

if TYPE_CHECKING:
    from graphflow.runtime.machine import Machine


def ask(machine: Machine, event: AskedFor) -> None:
    """A task asks: it waits outside of its slots, and its body runs anew when there is an answer."""
    task = machine.tasks.take(event.ticket)
    node, turns = task.node.id, task.frame.turns
    if machine.ending or not task.frame.alive:
        machine.ledger.record(Cancelled(node, turns))
        groups.check_gone(machine, task.frame)
        return
    request = f"{node}{''.join(f'[{turn}]' for turn in turns)}#{event.number}"
    machine.ledger.record(
        Asked(node, turns, request, event.prompt, event.schema.text, task.attempt, event.deadline, event.default)
    )
    machine.tasks.questions[request] = Question(
        task, event.number, event.prompt, event.schema, event.deadline, event.default
    )


def is_due(machine: Machine) -> bool:
    """Say whether the run pauses now; code that only waits for its children is put aside first."""
    tasks = machine.tasks
    if not tasks.questions or tasks.queue or not machine.edges.idle:
        return False
    if any(kind != "limit" for kind, _, _ in tasks.timers.values()):
        return False
    if any(not task.calls for task in tasks.running.values()):
        return False
    for task in tasks.running.values():
        task.suspended = True
        tasks.stop(task)
    return not tasks.running


def reason(machine: Machine) -> str:
    """Say what a paused run waits for."""
    asked = machine.tasks.questions
    return "waits for " + ", ".join(asked)


def resume(machine: Machine, event: Resume) -> None:
    """Take the answers and let go on what waited for them, and the code around it.

    Raises:
        InternalError: an answer to what was not asked.
    """
    tasks = machine.tasks
    unknown = [request for request in (*event.answers, *event.expired) if request not in tasks.questions]
    if unknown:
        raise InternalError(f"nobody asked `{unknown[0]}`")
    machine.status = None
    suspended, tasks.suspended = tasks.suspended, []
    for request, answer in event.answers.items():
        question = tasks.questions.pop(request)
        task = question.task
        machine.ledger.record(
            Answered(task.node.id, task.frame.turns, request, answer, by_default=request in event.by_default)
        )
        task.history.append(Done("ask", question.prompt, answer))
        tasks.start(task)
    for task in suspended:
        tasks.start(task)
    for timer, (_, group, _) in tasks.timers.items():  # limits of attempts: the pause does not count
        limit = groups.spec_of(group).timeout
        tasks.commands.append(SetTimer(timer, group.fork, group.frame.turns, limit))
    for request in sorted(event.expired):
        task = tasks.questions.pop(request).task
        machine.fail_task(task, StageTimeout(f"nobody answered `{request}` in time", node=task.node.id))
