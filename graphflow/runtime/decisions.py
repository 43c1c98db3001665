"""What is decided at a node: which arm, whether a loop goes round, why a run halts. Pure functions of the state."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from graphflow import conditions
from graphflow.conditions import Is, is_case
from graphflow.errors import AbsentKeyError, GraphflowError, RouteError
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


def chosen_arms(branch: Branch, tests: Sequence[Test | None], read: Reader) -> list[str]:
    """Give the labels of the arms to take: the first whose condition holds, or all if several may be taken.

    An arm without a condition is taken if no other is. Empty if no arm can be taken.
    """
    if branch.multiple:
        return _routes(branch, read)
    for arm, test in zip(branch.arms, tests, strict=True):
        if test is None or _holds(test, branch.id, read):
            return [arm.label]
    return []


def _routes(branch: Branch, read: Reader) -> list[str]:
    """The arms of a router whose routes are in the list that was chosen."""
    chosen = subject_value(branch, read)
    values = list(chosen) if isinstance(chosen, (list, tuple, set, frozenset)) else [chosen]
    default = [arm.label for arm in branch.arms if arm.condition is None]
    taken: dict[str, None] = {}
    for value in values:
        fitting = [a.label for a in branch.arms if isinstance(a.condition, Is) and is_case(value, a.condition.value)]
        if not fitting and not default:
            raise RouteError(
                f"`{agent_path(branch.id)}`: no edge is for the route {value!r}, and there is no DEFAULT_ROUTE",
                node=branch.id,
                value=value,
            )
        taken |= dict.fromkeys(fitting or default)
    return list(taken) if values else default


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
