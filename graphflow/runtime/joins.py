"""Where paths meet: what a node starts from, and how a join is left. Functions of the machine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from graphflow.ir.nodes import ESCALATIONS, NEXT, Join
from graphflow.runtime.commits import checked_delta
from graphflow.runtime.frames import Arrival, Frame
from graphflow.runtime.plan import PlanNode
from graphflow.runtime.versions import State

if TYPE_CHECKING:
    from graphflow.runtime.machine import Machine


def united(machine: Machine, frame: Frame, node: PlanNode, arrivals: list[Arrival]) -> State:
    """What a node starts from: of exclusive paths that of the one taken, of concurrent ones their union."""
    if len(arrivals) == 1 and not isinstance(node.node, Join):
        return arrivals[0].state
    fired = [arrival for arrival in arrivals if arrival.fired]
    concurrent = isinstance(node.node, Join) and not node.node.exclusive
    states = [arrival.state for arrival in (arrivals if concurrent else fired or arrivals)]
    if not concurrent and all(state is states[0] for state in states):
        return states[0]
    return machine.ledger.unite(machine.place(node, frame), states)


def leave(
    machine: Machine, frame: Frame, node: PlanNode, state: State, delta: Mapping[str, object], *, escalated: bool
) -> None:
    """Leave a join: write what it writes, and go on, or pass an escalation on."""
    if delta:
        checked = checked_delta(node, delta, quiet=escalated)
        state = machine.ledger.commit(machine.place(node, frame), state, checked)
    onward = {out.label for out in node.outs} & ESCALATIONS
    machine.edges.fire(frame, node, onward if escalated and onward else {NEXT}, state)
