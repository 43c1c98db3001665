"""What a run, or a part of it, came to, as its caller sees it."""

from __future__ import annotations

from graphflow.flow.pausing import pending_of
from graphflow.ir.names import is_reserved
from graphflow.ir.nodes import Interface
from graphflow.runtime import pauses
from graphflow.runtime.journal import Journal
from graphflow.runtime.result import Halt, Result, usage_of
from graphflow.runtime.scheduler import Driver


def result_of(driver: Driver, interface: Interface) -> Result:
    """Sum up a run that has ended or paused.

    Args:
        driver: the run.
        interface: what the flow declares.
    """
    machine = driver.machine
    state = machine.root.plain()
    declared = interface.outputs
    own = {key: value for key, value in state.items() if not is_reserved(key)}
    outputs = own if declared is None else {name: state[name] for name, *_ in declared if name in state}
    halt = machine.halt
    status = machine.status or "cancelled"
    return Result(
        machine.run_id,
        status,
        state,
        dict(outputs),
        pauses.reason(machine) if status == "paused" else machine.reason,
        Halt(halt.node, halt.condition, halt.values, halt.reason) if halt is not None and status == "halted" else None,
        machine.error,
        pending_of(driver) if status == "paused" else (),
        usage_of(driver.journal),
        Journal(list(driver.journal.records), list(driver.journal.times)) if status == "paused" else driver.journal,
    )
