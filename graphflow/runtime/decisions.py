"""What is decided at a node: which arm, whether a loop goes round, why a run halts. Pure functions of the state."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from graphflow import conditions
from graphflow.errors import AbsentKeyError, GraphflowError
from graphflow.ir.nodes import Branch, ExitReason, LoopHeader, agent_path
from graphflow.runtime.plan import Test
from graphflow.schema import MISSING
from graphflow.template import render

Reader = Callable[[str], object]


class DecisionError(GraphflowError):
    """A condition's function raised."""


def _holds(test: Test, node_id: str, read: Reader) -> bool:
    try:
        return test(read)
    except AbsentKeyError as error:
        raise AbsentKeyError(error.key, agent_path(node_id)) from error
    except GraphflowError:
        raise
    except Exception as error:
        raise DecisionError(
            f"the condition of `{agent_path(node_id)}` raised {type(error).__name__}: {error}"
        ) from error


def chosen_arm(branch: Branch, tests: Sequence[Test | None], read: Reader) -> str | None:
    """Give the label of the first arm whose condition holds, None if none does."""
    for arm, test in zip(branch.arms, tests, strict=True):
        if test is None or _holds(test, branch.id, read):
            return arm.label
    return None


def subject_value(branch: Branch, read: Reader) -> object:
    """Give the value that no case matched, MISSING if it cannot be read."""
    for arm in branch.arms:
        if arm.condition is not None:
            for name, path, _ in conditions.reads(arm.condition):
                value = read(name)
                for field_ in path:
                    value = (
                        value.get(field_, MISSING) if isinstance(value, Mapping) else getattr(value, field_, MISSING)
                    )
                return value
    return MISSING


def halt_reason(branch: Branch, read: Reader) -> tuple[str, Mapping[str, object]]:
    """Render the reason of a halt, and give the values that its condition looked at, key -> value."""
    assert branch.halt is not None
    condition = branch.arms[0].condition
    names = [name for name, _, _ in conditions.reads(condition)] if condition is not None else []
    values = {name: read(name) for name in names if read(name) is not MISSING}
    try:
        return render(branch.halt, read), values
    except AbsentKeyError as error:
        raise AbsentKeyError(error.key, branch.id) from error


def exit_reason(header: LoopHeader, until: Test | None, iteration: int, read: Reader) -> ExitReason | None:
    """Say why a loop ends after this iteration, None if it goes round again: first the test, then the bound."""
    if until is not None and _holds(until, header.id, read):
        return "until"
    if header.bound is not None and iteration >= header.bound:
        return "max_iterations"
    return None
