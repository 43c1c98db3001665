"""What may be committed: a task's writes against its contract and the types of its keys. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from graphflow.errors import AbsentKeyError, ContractViolation, GraphflowError
from graphflow.runtime.plan import PlanNode
from graphflow.runtime.versions import State
from graphflow.schema import ANY, MISSING, Overwrite, TypeMismatch, freeze, validator


def checked_delta(
    node: PlanNode, delta: Mapping[str, object], *, quiet: bool = False, written: Collection[str] = ()
) -> Mapping[str, object]:
    """Check a task's writes and make the copies that the state keeps.

    Args:
        node: the task.
        delta: key -> value as the body gave it.
        quiet: the task ended in a way that owes no writes.
        written: keys that it has written before.

    Returns:
        Key -> value to commit, sharing nothing mutable with what the body holds.

    Raises:
        ContractViolation: a write outside the contract, a sure write left out, or a value of the wrong type.
    """
    if not quiet:
        for key in node.keys.sure:
            if key not in delta and key not in written:
                raise ContractViolation(
                    f"`{node.id}` did not write `{key}`, which its contract promises; return it, or declare may_write=",
                    node=node.id,
                    key=key,
                )
    return {key: _checked(node, key, value) for key, value in delta.items()}


def _checked(node: PlanNode, key: str, value: object) -> object:
    if not isinstance(key, str):
        raise ContractViolation(f"`{node.id}` writes the key {key!r}; keys are strings", node=node.id)
    if node.keys.allowed is not None and key not in node.keys.allowed:
        raise ContractViolation(
            f"`{node.id}` writes `{key}`, which its contract does not name; declare it in writes= or may_write=",
            node=node.id,
            key=key,
        )
    if key in node.keys.given:
        raise ContractViolation(
            f"`{node.id}` writes `{key}`, which the map around it gives to each instance; write another key",
            node=node.id,
            key=key,
        )
    spec = node.keys.writes.get(key)
    try:
        if spec is None:
            return freeze(value, ANY)
        if isinstance(value, Overwrite):
            return Overwrite(freeze(spec.validate(value.value), spec.type))
        return freeze(spec.validate_update(value), spec.update)
    except TypeMismatch as error:
        type_ = spec.update.text if spec is not None else "a JSON value"
        raise ContractViolation(
            f"`{node.id}` writes `{key}` as {type_}: {error}; nothing was stored", node=node.id, key=key
        ) from error


def missing_output(node: PlanNode, state: State) -> GraphflowError | None:
    """Find a declared output that was not written or has the wrong type; None if all is well."""
    for read in node.node.contract.reads:
        value = state.read(read.key)
        if value is MISSING:
            if not read.optional:
                return AbsentKeyError(read.key, "the declared outputs")
            continue
        try:
            validator(read.type)(value)
        except TypeMismatch as error:
            return ContractViolation(f"output `{read.key}` is no {read.type.text}: {error}", node=node.id, key=read.key)
    return None
