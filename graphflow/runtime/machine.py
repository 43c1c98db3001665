"""The execution of a plan as a pure state machine: an event comes in, records and commands go out.

No clock, no randomness, no I/O, no await: a crash, a replay and a journey in time are ordinary function calls::

    machine = Machine(plan, "run-1")
    step = machine.step(Start({"topic": "tides"}))
    step.records        # to be appended before any command is carried out
    step.commands       # [StartTask(ticket=1, ...)]

Local rules, the same for every graph: a node is *ready* when each of its forward in-edges is settled; it runs if one of them
fired and is dead if none did; a dead node settles its out-edges as dead and passes the state on. What happens at a node is in
`visits`; loops, maps and attempts are frames with counters of their own, see `frames`, `groups` and `calls`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from graphflow.errors import GraphflowError, InternalError, LimitExceeded
from graphflow.ir.nodes import ERROR, ESCALATIONS, NEXT, Task, agent_path
from graphflow.runtime import calls, groups, joins, pauses, visits
from graphflow.runtime.commits import checked_delta
from graphflow.runtime.frames import Arrival, Call, Frame, Group
from graphflow.runtime.journal import Cancelled, Halted, RunEnded, RunStarted, Status, Step, TaskFailed, TimerFired
from graphflow.runtime.ledger import Ledger, Place
from graphflow.runtime.messages import (
    Abort,
    AskedFor,
    Called,
    Done,
    Event,
    Failed,
    Outcome,
    Overlaid,
    Resume,
    SetTimer,
    Start,
    Stopped,
    Succeeded,
    TimerRang,
)
from graphflow.runtime.plan import Plan, PlanNode
from graphflow.runtime.propagation import Propagation
from graphflow.runtime.scopes import ROOT
from graphflow.runtime.tasks import Activation, Tasks
from graphflow.runtime.versions import State

_OF_TASKS = (Succeeded, Failed, Stopped, Overlaid, Called, AskedFor)


class Machine:
    """One run of one plan.

    Args:
        plan: the compiled program.
        run_id: the run.
        max_steps: the most task starts, None for no limit.

    Attributes:
        status: how the run ended, or that it is paused; None while it goes on.
        error: the first failure, if there was one.
        halt: the record of the halt, if there was one.
        tasks: what runs and what waits.
    """

    def __init__(self, plan: Plan, run_id: str, max_steps: int | None = None) -> None:
        self.plan = plan
        self.run_id = run_id
        self.max_steps = max_steps
        self.status: Status | None = None
        self.error: BaseException | None = None
        self.halt: Halted | None = None
        self.ledger = Ledger(plan)
        self.tasks = Tasks(self.ledger)
        self.edges = Propagation(plan)
        self._blamed: dict[int, tuple[BaseException, str]] = {}
        self._ending: tuple[Status, str] | None = None
        self._handlers: Mapping[type, Callable[[Any], None]] = {
            Start: self._start,
            Succeeded: self._succeeded,
            Failed: self._failed,
            Stopped: self._stopped,
            Overlaid: lambda event: calls.overlay(self, event),
            Called: lambda event: calls.begin(self, event),
            AskedFor: lambda event: pauses.ask(self, event),
            Resume: lambda event: pauses.resume(self, event),
            TimerRang: self._rang,
            Abort: self._abort,
        }

    def step(self, event: Event) -> Outcome:
        """Advance by one event.

        Args:
            event: what happened.

        Returns:
            Records to append and commands to carry out, in this order.

        Raises:
            InternalError: the event does not fit the machine's state; nothing was changed.
        """
        self._refuse(event)
        self._handlers[type(event)](event)
        self.tasks.fill()
        self._propagate()
        self.tasks.fill()
        self._finish()
        commands, self.tasks.commands = self.tasks.commands, []
        return Outcome(self.ledger.take(), commands)

    def _refuse(self, event: Event) -> None:
        name = type(event).__name__
        if self.status is not None and not (self.status == "paused" and isinstance(event, Resume)):
            raise InternalError(f"{name} after the run's end")
        if isinstance(event, Resume) and self.status != "paused":
            raise InternalError("Resume of a run that is not paused")
        if isinstance(event, Start) == self.ledger.started:
            raise InternalError(f"{name} " + ("in a run that goes on" if self.ledger.started else "before Start"))
        if isinstance(event, _OF_TASKS) and event.ticket not in self.tasks.running:
            raise InternalError(f"{name} for task {event.ticket}, which is not running")

    @property
    def reason(self) -> str:
        """Why the run was halted, failed or cancelled; "" if it goes on or is completed."""
        return self._ending[1] if self._ending is not None else ""

    @property
    def ending(self) -> bool:
        """Whether it is known how the run ends."""
        return self._ending is not None

    @property
    def running(self) -> int:
        """How many tasks are running."""
        return len(self.tasks.running)

    def tickets(self) -> list[int]:
        """The tickets of running tasks."""
        return list(self.tasks.running)

    @property
    def root(self) -> State:
        """The state committed at the root."""
        return self.ledger.root

    def noted(self, ticket: int, step: Step, done: Done) -> Step:
        """Number a record that the driver makes, a step inside a running task, and keep it for a later run of its body."""
        self.ledger.counted()
        task = self.tasks.running.get(ticket)
        if task is not None:
            task.history.append(done)
        return step

    def place(self, node: PlanNode, frame: Frame) -> Place:
        """Say where a node makes a state; at the root nothing else of the run is under way."""
        scope = f"{frame.label}/{node.strand}" if frame.label and node.strand else frame.label or node.strand
        if not scope and not frame.alone:
            scope = node.id
        return Place(node, frame.turns, (*frame.position, node.index), scope)

    # --- events of tasks ----------------------------------------------------------------------------------------

    def _start(self, event: Start) -> None:
        name, fingerprint = self.plan.graph.name, self.plan.fingerprint
        entry = self.ledger.start(RunStarted(self.run_id, name, fingerprint, event.inputs, event.message))
        frame = Frame(ROOT, None)
        frame.tokens = 1
        self.edges.fire(frame, self.plan.nodes[self.plan.entry], {NEXT}, entry)

    def _succeeded(self, event: Succeeded) -> None:
        task = self.tasks.take(event.ticket)
        node, frame = task.node, task.frame
        if task.suspended:
            task.suspended = False
        if task.stopped and (self.ending or not frame.alive):
            self.ledger.record(Cancelled(node.id, frame.turns))
            groups.check_gone(self, frame)
            return
        escalated = event.escalate and any(out.label in ESCALATIONS for out in node.outs)
        quiet = event.halt is not None or (escalated and not node.node.contract.answers_when_escalating)
        try:
            delta = checked_delta(node, event.delta, quiet=quiet, written=task.written)
            fresh = node.node.fresh if isinstance(node.node, Task) else None
            place = self.place(node, frame)
            if task.marks:
                place = replace(place, position=(*place.position, task.marks + 1))
            state = self.ledger.commit(
                place,
                task.state,
                delta,
                attempt=task.attempt,
                escalate=event.escalate,
                fresh=fresh,
            )
        except GraphflowError as error:
            self.fail_task(task, error)
            return
        calls.end(self, task)
        calls.give(task, event.output)
        if not frame.alive:
            groups.check_gone(self, frame)
        if event.halt is not None:
            self.halted(Halted(node.id, frame.turns, event.halt))
        if not self.ending and frame.alive:
            self.edges.fire(frame, node, ESCALATIONS if escalated else {NEXT}, state)

    def _failed(self, event: Failed) -> None:
        self.fail_task(self.tasks.take(event.ticket), event.error)

    def _stopped(self, event: Stopped) -> None:
        task = self.tasks.take(event.ticket)
        if task.suspended and task.frame.alive and not self.ending:
            self.tasks.suspended.append(task)
            return
        self.ledger.record(Cancelled(task.node.id, task.frame.turns))
        groups.check_gone(self, task.frame)

    # --- failures -----------------------------------------------------------------------------------------------

    def fail_task(self, task: Activation, error: BaseException) -> None:
        """A task's attempt has failed: try again, do what is to be done instead, or fail what is around it."""
        calls.end(self, task)
        node, frame = task.node, task.frame
        again = frame.alive and not self.ending and _is_retried(task, error)
        self.ledger.record(
            TaskFailed(node.id, frame.turns, task.attempt, type(error).__name__, str(error), will_retry=again)
        )
        if again:
            policy = node.node.retry if isinstance(node.node, Task) else None
            timer = self.tasks.set_timer(("attempt", task, None))
            self.tasks.commands.append(SetTimer(timer, node, frame.turns, None, policy, task.tries))
        elif not frame.alive or self.ending:
            groups.check_gone(self, frame)
        else:
            self.settle_failure(node, frame, error, task.start)

    def fail(self, node: PlanNode, frame: Frame, error: BaseException, state: State | None = None) -> None:
        """Something has failed at a node for good; `state` is what it would have gone on from."""
        self.ledger.record(TaskFailed(node.id, frame.turns, 1, type(error).__name__, str(error)))
        self.settle_failure(node, frame, error, state)

    def settle_failure(self, node: PlanNode, frame: Frame, error: BaseException, state: State | None) -> None:
        """Find who deals with a failure: the node's own handler, a region around it, code that runs it, else the run fails."""
        if self.ending:
            return
        first = self._blamed.setdefault(id(error), (error, agent_path(node.id)))[1]
        if not isinstance(error, (LimitExceeded, InternalError)):
            if state is not None and any(out.label == ERROR for out in node.outs):
                self.edges.fire(frame, node, {ERROR}, state)
                return
            for around in frame.around():
                if isinstance(around.owner, Call) or (isinstance(around.owner, Group) and groups.catches(around.owner)):
                    groups.give_up(self, around, error)
                    return
        self.error = error
        self.end("failed", _reason(first, error))

    def _rang(self, event: TimerRang) -> None:
        wake = self.tasks.timers.pop(event.timer, None)
        if wake is None:
            return
        kind, owner, instance = wake
        if kind == "limit":
            groups.time_out(self, owner, instance)
            return
        node, frame = (owner.node, owner.frame) if kind == "attempt" else (owner.fork, owner.frame)
        self.ledger.record(TimerFired(node.id, frame.turns, event.timer))
        try:
            if kind == "attempt":
                visits.start(self, node, frame, owner.start, tries=owner.tries + 1)
            else:
                groups.start(self, owner, 0)
        except GraphflowError as error:
            self.fail(node, frame, error)

    # --- the end ------------------------------------------------------------------------------------------------

    def _abort(self, event: Abort) -> None:
        if self.ending and event.error is not None:
            return
        if event.error is None:
            self.ledger.record(Cancelled("", (), event.reason))
        self.error = event.error
        self.end("cancelled" if event.error is None else "failed", event.reason)

    def halted(self, record: Halted) -> None:
        """Halt the run, unless it ends already."""
        if not self.ending:
            self.ledger.record(record)
            self.halt = record
            self.end("halted", record.reason)

    def end(self, status: Status, reason: str) -> None:
        """Nothing starts any more; what runs is stopped, except a task whose effect cannot be taken back."""
        self._ending = (status, reason)
        self.edges.clear()
        self.tasks.drop(None)

    def _finish(self) -> None:
        if self._ending is not None and not self.tasks.running:
            self.status, reason = self._ending
            self.ledger.record(RunEnded(self.status, reason))
        elif self._ending is None and pauses.is_due(self):
            self.status = "paused"
            self.ledger.record(RunEnded("paused", pauses.reason(self)))

    # --- propagation --------------------------------------------------------------------------------------------

    def _propagate(self) -> None:
        while self._ending is None:
            ready = self.edges.next_ready()
            if ready is not None:
                self._visit(*ready)
                continue
            frame = self.edges.next_settled()
            if frame is None:
                return
            self._settled(frame)

    def _visit(self, frame: Frame, node: PlanNode, arrivals: list[Arrival]) -> None:
        fired = [arrival for arrival in arrivals if arrival.fired]
        state: State | None = None
        frame.tokens += not fired  # while it is looked at, a dead node is not nobody
        try:
            state = joins.united(self, frame, node, arrivals)
            if fired:
                visits.AT[type(node.node)](self, frame, node, fired, state)
            else:
                frame.tokens -= 1
                self.edges.kill(frame, node, state)
        except InternalError:
            raise
        except GraphflowError as error:
            self.fail(node, frame, error, state if fired else None)

    def _settled(self, frame: Frame) -> None:
        """An iteration, an instance or a call is settled."""
        match frame.owner:
            case Group():
                groups.settled(self, frame)
            case Call():
                calls.settled(self, frame)
            case _:
                visits.turn(self, frame)


def _is_retried(task: Activation, error: BaseException) -> bool:
    node = task.node.node
    if not isinstance(node, Task) or node.retry is None or isinstance(error, (LimitExceeded, InternalError)):
        return False
    named = not {"Exception", "BaseException"} & set(node.retry.catches)
    if node.contract.effect == "irreversible" and not named:
        return False
    return task.tries < node.retry.attempts and node.retry.covers(error)


def _reason(agent: str, error: BaseException) -> str:
    """Say why a run failed; most messages name the agent already."""
    where = "" if f"`{agent}`" in str(error) else f" at `{agent}`"
    return f"{type(error).__name__}{where}: {error}"
