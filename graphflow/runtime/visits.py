"""What happens at a node when control reaches it, one function for each kind of node; and at the end of an iteration.

Functions of the machine: they decide, record and settle edges. Loops that a condition ends, and cycles of a free-form graph
that a route leaves, are the same here: an iteration is settled, and a back edge has fired or none has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from graphflow.errors import AbsentKeyError, LimitExceeded, LoopExhausted, RouteError
from graphflow.ir.nodes import (
    BODY,
    ESCALATIONS,
    EXHAUSTED,
    EXIT,
    NEXT,
    Branch,
    Exit,
    Fork,
    Join,
    LoopHeader,
    Task,
    agent_path,
)
from graphflow.runtime import decisions, groups, joins
from graphflow.runtime.commits import missing_output
from graphflow.runtime.frames import Arrival, Frame
from graphflow.runtime.journal import BranchTaken, Halted, LoopTurned
from graphflow.runtime.plan import PlanNode
from graphflow.runtime.tasks import Activation
from graphflow.runtime.versions import State
from graphflow.schema import MISSING

if TYPE_CHECKING:
    from graphflow.runtime.machine import Machine


def start(machine: Machine, node: PlanNode, frame: Frame, state: State, tries: int = 1) -> None:
    """Start a task's body, or let it wait for a slot."""
    for key in node.keys.required:
        if key not in state.versions:
            raise AbsentKeyError(key, node.id)
    limit = machine.max_steps
    if limit is not None and machine.tasks.steps >= limit:
        raise LimitExceeded(f"the limit of {limit} steps was reached before `{node.id}`", limit="max_steps")
    machine.tasks.start(Activation(node, frame, state, state, tries=tries))


def _at_task(machine: Machine, frame: Frame, node: PlanNode, _: list[Arrival], state: State) -> None:
    start(machine, node, frame, state)


def _at_branch(machine: Machine, frame: Frame, node: PlanNode, _: list[Arrival], state: State) -> None:
    branch = node.node
    assert isinstance(branch, Branch)
    taken = decisions.chosen_arms(branch, node.tests, state.read)
    if taken:
        for case in taken:
            machine.ledger.record(BranchTaken(node.id, frame.turns, case))
        machine.edges.fire(frame, node, set(taken), state)
        return
    if branch.halt is None:
        value = decisions.subject_value(branch, state.read)
        agent = agent_path(node.id)
        what = (
            f"no case matches {branch.subject} = {value!r}, and there is no default; add the case or default=PASS"
            if not node.id.endswith("#route")
            else f"no edge is for the route {value!r}, and there is no DEFAULT_ROUTE; add one of them"
        )
        raise RouteError(f"`{agent}`: {what}", node=node.id, value=value)
    reason, values = decisions.halt_reason(branch, state.read)
    machine.halted(Halted(node.id, frame.turns, reason, branch.subject, values))


def _at_fork(machine: Machine, frame: Frame, node: PlanNode, _: list[Arrival], state: State) -> None:
    fork = node.node
    assert isinstance(fork, Fork)
    if fork.group is None:
        machine.edges.fire(frame, node, {NEXT}, state)
    else:
        groups.begin(machine, frame, node, state)


def _at_join(machine: Machine, frame: Frame, node: PlanNode, fired: list[Arrival], state: State) -> None:
    join = node.node
    assert isinstance(join, Join)
    delta: dict[str, object] = {}
    if join.exit_key is not None:
        delta[join.exit_key] = frame.reasons[machine.plan.headers[join.region]]
    if node.parts:
        found = {node.parts[a.slot][0]: a.state.read(node.parts[a.slot][1]) for a in fired if a.slot in node.parts}
        gathered = {name: value for name, value in found.items() if value is not MISSING}
        delta |= {write.key: gathered for write in join.contract.writes if write.key != join.exit_key}
    joins.leave(machine, frame, node, state, delta, escalated=any(arrival.label in ESCALATIONS for arrival in fired))


def _at_exit(machine: Machine, _frame: Frame, node: PlanNode, _: list[Arrival], state: State) -> None:
    fault = missing_output(node, state)
    if fault is not None:
        raise fault
    machine.end("completed", "")


def _at_header(machine: Machine, frame: Frame, node: PlanNode, _: list[Arrival], state: State) -> None:
    _iterate(machine, Frame(node.index, frame, frame.turns, label=frame.label), node, state)


def _iterate(machine: Machine, frame: Frame, node: PlanNode, state: State) -> None:
    frame.iterate(machine.plan.scopes[node.index].members[BODY])
    machine.edges.begin(frame, machine.plan.ways[node.index][BODY], state)


def turn(machine: Machine, frame: Frame) -> None:
    """An iteration is settled: go round if a back edge has fired, leave if none has."""
    node = machine.plan.nodes[frame.scope]
    header = node.node
    assert isinstance(header, LoopHeader)
    backs = [arrival for arrival in frame.counters.backs if arrival.fired]
    frame.tokens -= len(backs)
    left = set(frame.counters.fired.values())
    if not backs or left & ESCALATIONS:
        reason = "escalate" if left & ESCALATIONS else "route"
        states = [arrival.state for arrival in frame.counters.backs]
        _leave(machine, frame, node, reason, None, states[0])
        return
    outer = frame.parent
    assert outer is not None
    try:
        if left:
            raise RouteError(
                f"`{agent_path(node.id)}`: one iteration both went round and left the loop; let one route do either",
                node=node.id,
            )
        state = joins.united(machine, frame, node, frame.counters.backs)
        reason_ = decisions.exit_reason(header, node.tests[0], frame.turns[-1], state.read)
        if reason_ == "max_iterations" and header.exhausted == "fail":
            raise LoopExhausted(
                f"`{header.region}` ran {header.bound} times and its exit test never held; "
                f"raise max_iterations, or say what to do then with on_exhausted="
            )
    except (AbsentKeyError, RouteError, LoopExhausted) as error:
        machine.fail(node, frame, error)
        return
    if reason_ is None:
        machine.ledger.record(LoopTurned(node.id, frame.turns, None))
        _iterate(machine, frame, node, state)
    else:
        onward = {out.label for out in node.outs}
        label = EXHAUSTED if reason_ == "max_iterations" and EXHAUSTED in onward else EXIT
        _leave(machine, frame, node, reason_, label, state)


def _leave(machine: Machine, frame: Frame, node: PlanNode, reason: str, label: str | None, state: State) -> None:
    assert frame.parent is not None
    machine.ledger.record(LoopTurned(node.id, frame.turns, reason))
    frame.parent.reasons[node.index] = reason
    machine.edges.leave(frame, node, label, state)


AT: Mapping[type, Callable[[Machine, Frame, PlanNode, list[Arrival], State], None]] = {
    Task: _at_task,
    Branch: _at_branch,
    Fork: _at_fork,
    Join: _at_join,
    LoopHeader: _at_header,
    Exit: _at_exit,
}
"""Kind of node -> what happens there."""
