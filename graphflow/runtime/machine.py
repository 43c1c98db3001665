"""The execution of a plan as a pure state machine: an event comes in, records and commands go out.

No clock, no randomness, no I/O, no await: a crash, a replay and a journey in time are ordinary function calls::

    machine = Machine(plan, "run-1")
    step = machine.step(Start({"topic": "tides"}))
    step.records        # to be appended before any command is carried out
    step.commands       # (StartTask(ticket=1, ...),)

Local rules, the same for every graph: a node is *ready* when each of its forward in-edges is settled; it runs if one of them
fired and is dead if none did; a dead node settles its out-edges as dead and passes the state on. A loop is a frame with
counters of its own for each iteration; when everything in an iteration is settled, the loop goes round if its back edge fired
and ends if it did not, and then the edges that leave it are settled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import assert_never

from graphflow.errors import AbsentKeyError, GraphflowError, InternalError, LimitExceeded, LoopExhausted, RouteError
from graphflow.ir.nodes import (
    ESCALATE,
    EXHAUSTED,
    EXIT,
    NEXT,
    POSSIBLE_ESCALATE,
    Branch,
    Exit,
    Fork,
    Join,
    LoopHeader,
    Task,
    agent_path,
)
from graphflow.runtime import decisions
from graphflow.runtime.commits import checked_delta, missing_output
from graphflow.runtime.frames import Arrival, Frame
from graphflow.runtime.journal import (
    BranchTaken,
    Cancelled,
    Halted,
    LoopTurned,
    RunEnded,
    RunStarted,
    Status,
    Step,
    TaskFailed,
    TaskStarted,
)
from graphflow.runtime.ledger import Ledger
from graphflow.runtime.messages import (
    Abort,
    Event,
    Failed,
    Outcome,
    Start,
    StartTask,
    Stopped,
    StopTask,
    Succeeded,
)
from graphflow.runtime.plan import ROOT, Plan, PlanNode
from graphflow.runtime.propagation import Propagation
from graphflow.runtime.versions import State


@dataclass(slots=True)
class _Running:
    node: PlanNode
    frame: Frame
    state: State
    stopped: bool = False


class Machine:
    """One run of one plan.

    Args:
        plan: the compiled program.
        run_id: the run.
        max_steps: the most task starts, None for no limit.

    Attributes:
        status: how the run ended, None while it goes on.
        error: the first failure, if there was one.
        halt: the record of the halt, if there was one.
    """

    def __init__(self, plan: Plan, run_id: str, max_steps: int | None = None) -> None:
        self.plan = plan
        self.run_id = run_id
        self.status: Status | None = None
        self.error: BaseException | None = None
        self.halt: Halted | None = None
        self._ledger = Ledger(plan)
        self._max_steps = max_steps
        self._steps = 0
        self._tickets = 0
        self._running: dict[int, _Running] = {}
        self._edges = Propagation(plan)
        self._ending: tuple[Status, str] | None = None
        self._out = Outcome()
        self._at: Mapping[type, Callable[[Frame, PlanNode, list[Arrival], State], None]] = {
            Task: self._at_task,
            Branch: self._at_branch,
            Fork: self._at_fork,
            Join: self._at_join,
            LoopHeader: self._at_header,
            Exit: self._at_exit,
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
        if self.status is not None:
            raise InternalError(f"{type(event).__name__} after the run's end")
        if isinstance(event, Start) == self._ledger.started:
            raise InternalError(
                f"{type(event).__name__} " + ("in a run that goes on" if self._ledger.started else "before Start")
            )
        if isinstance(event, (Succeeded, Failed, Stopped)) and event.ticket not in self._running:
            raise InternalError(f"{type(event).__name__} for task {event.ticket}, which is not running")
        self._out = Outcome()
        match event:
            case Start():
                self._start(event)
            case Succeeded():
                self._succeeded(event)
            case Failed():
                self._failed(event)
            case Stopped():
                running = self._running.pop(event.ticket)
                self._ledger.record(Cancelled(running.node.id, running.frame.turns))
            case Abort():
                self._abort(event)
            case _:
                assert_never(event)
        self._propagate()
        self._finish()
        self._out.records = self._ledger.take()
        return self._out

    @property
    def reason(self) -> str:
        """Why the run was halted, failed or cancelled; "" if it goes on or is completed."""
        return self._ending[1] if self._ending is not None else ""

    @property
    def running(self) -> int:
        """How many tasks are running."""
        return len(self._running)

    def tickets(self) -> list[int]:
        """The tickets of running tasks."""
        return list(self._running)

    @property
    def root(self) -> State:
        """The state committed at the root."""
        return self._ledger.root

    def noted(self, step: Step) -> Step:
        """Number a record that the driver makes: a step inside a running task."""
        self._ledger.counted()
        return step

    # --- events -------------------------------------------------------------------------------------------------

    def _start(self, event: Start) -> None:
        graph = self.plan.graph
        entry = self._ledger.start(
            RunStarted(self.run_id, graph.name, self.plan.fingerprint, event.inputs, event.message)
        )
        self._edges.fire(Frame(ROOT, None, 0, ()), self.plan.nodes[self.plan.entry], {NEXT}, entry)

    def _succeeded(self, event: Succeeded) -> None:
        running = self._running.pop(event.ticket)
        node, frame = running.node, running.frame
        if self._ending is not None and running.stopped:
            self._ledger.record(Cancelled(node.id, frame.turns))
            return
        escalated = event.escalate and any(o.label in (ESCALATE, POSSIBLE_ESCALATE) for o in node.outs)
        try:
            delta = checked_delta(node, event.delta, quiet=escalated and not node.node.contract.answers_when_escalating)
            state = self._commit(node, frame, running.state, delta, escalate=event.escalate)
        except GraphflowError as error:
            self._fail(node, frame, error)
            return
        if event.halt is not None:
            self._halt(Halted(node.id, frame.turns, event.halt))
        if self._ending is None:
            self._edges.fire(frame, node, {ESCALATE, POSSIBLE_ESCALATE} if escalated else {NEXT}, state)

    def _commit(
        self, node: PlanNode, frame: Frame, state: State, delta: Mapping[str, object], *, escalate: bool = False
    ) -> State:
        position = (*frame.position, node.index)
        return self._ledger.commit(node, frame.turns, position, state, delta, escalate=escalate)

    def _failed(self, event: Failed) -> None:
        running = self._running.pop(event.ticket)
        self._fail(running.node, running.frame, event.error)

    def _fail(self, node: PlanNode, frame: Frame, error: BaseException) -> None:
        self._ledger.record(TaskFailed(node.id, frame.turns, 1, type(error).__name__, str(error)))
        if self._ending is None:
            self.error = error
            self._end("failed", _reason(agent_path(node.id), error))

    def _abort(self, event: Abort) -> None:
        if self._ending is not None and event.error is not None:
            return
        if event.error is None:
            self._ledger.record(Cancelled("", (), event.reason))
            self._ending = None
        self.error = event.error
        self._end("cancelled" if event.error is None else "failed", event.reason)

    def _halt(self, record: Halted) -> None:
        if self._ending is None:
            self._ledger.record(record)
            self.halt = record
            self._end("halted", record.reason)

    def _end(self, status: Status, reason: str) -> None:
        """Nothing starts any more; what runs is stopped, except a task whose effect cannot be taken back."""
        self._ending = (status, reason)
        self._edges.clear()
        for ticket, running in self._running.items():
            if running.node.node.contract.effect != "irreversible" and not running.stopped:
                running.stopped = True
                self._out.commands.append(StopTask(ticket))
        self._out.commands = [c for c in self._out.commands if not (isinstance(c, StartTask) and self._withdraw(c))]

    def _withdraw(self, command: StartTask) -> bool:
        """A task that was to start in this very step never starts."""
        running = self._running.pop(command.ticket, None)
        if running is not None:
            self._out.commands = [c for c in self._out.commands if c != StopTask(command.ticket)]
            self._ledger.record(Cancelled(command.node.id, command.turns))
        return True

    def _finish(self) -> None:
        if self._ending is not None and not self._running:
            self.status, reason = self._ending
            self._ledger.record(RunEnded(self.status, reason))

    # --- propagation --------------------------------------------------------------------------------------------

    def _propagate(self) -> None:
        while self._ending is None:
            ready = self._edges.next_ready()
            if ready is not None:
                self._ready(*ready)
                continue
            frame = self._edges.next_settled()
            if frame is None:
                return
            self._turn(frame)

    def _ready(self, frame: Frame, node: PlanNode, arrivals: list[Arrival]) -> None:
        fired = [arrival for arrival in arrivals if arrival.fired]
        try:
            state = self._united(frame, node, arrivals)
            if fired:
                self._at[type(node.node)](frame, node, fired, state)
            else:
                self._edges.kill(frame, node, state)
        except InternalError:
            raise
        except GraphflowError as error:
            self._fail(node, frame, error)

    def _united(self, frame: Frame, node: PlanNode, arrivals: list[Arrival]) -> State:
        """What a node starts from: of exclusive paths that of the one taken, of concurrent ones their union."""
        if len(arrivals) == 1 and not isinstance(node.node, Join):
            return arrivals[0].state
        fired = [arrival for arrival in arrivals if arrival.fired]
        concurrent = bool(fired) and isinstance(node.node, Join) and not node.node.exclusive
        used = arrivals if concurrent else fired or arrivals
        states = [arrival.state for arrival in used]
        if not concurrent and all(state is states[0] for state in states):
            return states[0]
        return self._ledger.unite(node, frame.turns, states)

    # --- nodes --------------------------------------------------------------------------------------------------

    def _at_task(self, frame: Frame, node: PlanNode, _: list[Arrival], state: State) -> None:
        for key in node.required:
            if key not in state.versions:
                raise AbsentKeyError(key, node.id)
        if self._max_steps is not None and self._steps >= self._max_steps:
            raise LimitExceeded(
                f"the limit of {self._max_steps} steps was reached before `{node.id}`", limit="max_steps"
            )
        self._steps += 1
        self._tickets += 1
        self._ledger.record(TaskStarted(node.id, frame.turns, 1, state.number))
        self._running[self._tickets] = _Running(node, frame, state)
        self._out.commands.append(StartTask(self._tickets, node, state, frame.turns))

    def _at_branch(self, frame: Frame, node: PlanNode, _: list[Arrival], state: State) -> None:
        branch = node.node
        assert isinstance(branch, Branch)
        case = decisions.chosen_arm(branch, node.tests, state.read)
        if case is not None:
            self._ledger.record(BranchTaken(node.id, frame.turns, case))
            self._edges.fire(frame, node, {case}, state)
            return
        if branch.halt is None:
            value = decisions.subject_value(branch, state.read)
            raise RouteError(
                f"`{agent_path(node.id)}`: no case matches {branch.subject} = {value!r}, and there is no default; "
                f"add the case or default=PASS",
                node=node.id,
                value=value,
            )
        reason, values = decisions.halt_reason(branch, state.read)
        self._halt(Halted(node.id, frame.turns, reason, branch.subject, values))

    def _at_fork(self, frame: Frame, node: PlanNode, _: list[Arrival], state: State) -> None:
        self._edges.fire(frame, node, {NEXT}, state)

    def _at_join(self, frame: Frame, node: PlanNode, fired: list[Arrival], state: State) -> None:
        join = node.node
        assert isinstance(join, Join)
        if join.exit_key is not None:
            header = self.plan.headers[join.region]
            state = self._commit(node, frame, state, {join.exit_key: frame.reasons[header]})
        escalated = any(arrival.label in (ESCALATE, POSSIBLE_ESCALATE) for arrival in fired)
        onward = {out.label for out in node.outs} & {ESCALATE, POSSIBLE_ESCALATE}
        self._edges.fire(frame, node, onward if escalated and onward else {NEXT}, state)

    def _at_exit(self, _frame: Frame, node: PlanNode, _: list[Arrival], state: State) -> None:
        fault = missing_output(node, state)
        if fault is not None:
            raise fault
        self._end("completed", "")

    # --- loops --------------------------------------------------------------------------------------------------

    def _at_header(self, frame: Frame, node: PlanNode, _: list[Arrival], state: State) -> None:
        self._edges.iterate(Frame(node.index, frame, 0, frame.turns), node, state)

    def _turn(self, frame: Frame) -> None:
        """An iteration is settled: go round, or leave."""
        node = self.plan.nodes[frame.loop]
        header = node.node
        assert isinstance(header, LoopHeader)
        try:
            if not any(arrival.fired for arrival in frame.backs):
                self._leave(frame, node, "escalate", None, None)
                return
            state = self._united(frame, node, frame.backs)
            reason = decisions.exit_reason(header, node.tests[0], frame.turns[-1], state.read)
        except GraphflowError as error:
            self._fail(node, frame, error)
            return
        labels = {out.label for out in node.outs}
        if reason is None:
            self._ledger.record(LoopTurned(node.id, frame.turns, None))
            self._edges.iterate(frame, node, state)
        elif reason == "max_iterations" and header.exhausted == "fail":
            exhausted = LoopExhausted(
                f"`{header.region}` ran {header.bound} times and its exit test never held; "
                f"raise max_iterations, or say what to do then with on_exhausted="
            )
            self._fail(node, frame, exhausted)
        else:
            label = EXHAUSTED if reason == "max_iterations" and EXHAUSTED in labels else EXIT
            self._leave(frame, node, reason, label, state)

    def _leave(self, frame: Frame, node: PlanNode, reason: str, label: str | None, state: State | None) -> None:
        assert frame.parent is not None
        self._ledger.record(LoopTurned(node.id, frame.turns, reason))
        frame.parent.reasons[node.index] = reason
        self._edges.leave(frame, node, label, state)


def _reason(agent: str, error: BaseException) -> str:
    """Say why a run failed; most messages name the agent already."""
    where = "" if f"`{agent}`" in str(error) else f" at `{agent}`"
    return f"{type(error).__name__}{where}: {error}"
