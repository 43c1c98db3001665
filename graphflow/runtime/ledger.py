"""The written side of a run: records get their numbers, and the states that they make.

A state is computed before its record is written, so that a journal never holds a record which cannot be folded::

    ledger.commit(place, state, {"draft": "..."})      # appends a `task_committed`

Pure: nothing here decides what runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graphflow.errors import ContractViolation
from graphflow.runtime.journal import Choice, Record, RunStarted, TaskCommitted, Turns
from graphflow.runtime.plan import Plan, PlanNode
from graphflow.runtime.versions import Position, State, commit, initial_state, only, unite
from graphflow.schema import Merge, TypeMismatch


@dataclass(frozen=True, slots=True)
class Place:
    """Where a state is made.

    Attributes:
        node: the node that makes it.
        turns: the iterations and indexes around it.
        position: its place in the canonical order.
        scope: what it is in that has not joined yet, "" for the root.
    """

    node: PlanNode
    turns: Turns
    position: Position
    scope: str


_TYPED = (Merge.append, Merge.extend, Merge.union, Merge.sum, Merge.max, Merge.min, Merge.last)
"""Merges that give a value of the key's type if the updates have theirs."""


def _same(left: State, right: State) -> bool:
    return len(left.versions) == len(right.versions) and all(
        right.versions.get(key) is version for key, version in left.versions.items()
    )


class Ledger:
    """Numbers the records of one run and makes its states.

    Args:
        plan: the compiled program, for its merges.

    Attributes:
        root: the state committed at the root: branches that have not joined leave nothing here.
        records: where new records go; the machine takes them out after each step.
        merged: key -> merge, for keys that have one.
    """

    def __init__(self, plan: Plan) -> None:
        self.root = State({}, 0)
        self.records: list[Record] = []
        self.merged = {name: spec.merge for name, spec in plan.keys.items() if spec.merge is not None}
        self._computed = [spec for spec in plan.keys.values() if spec.merge is not None and spec.merge not in _TYPED]
        self._count = 0

    @property
    def started(self) -> bool:
        """Whether there is a first record."""
        return self._count > 0

    def take(self) -> list[Record]:
        """Give the records made since the last call."""
        records, self.records = self.records, []
        return records

    def record(self, record: Record) -> None:
        """Append a record."""
        self.records.append(record)
        self._count += 1

    def counted(self) -> None:
        """Count a record that the driver has appended itself."""
        self._count += 1

    def start(self, record: RunStarted) -> State:
        """Append the first record and make the state at the entry."""
        self.root = initial_state(record.inputs, self._count)
        self.record(record)
        return self.root

    def commit(self, place: Place, base: State, delta: Mapping[str, object], **more: Any) -> State:
        """Apply a node's writes and append the record of it.

        Args:
            place: what writes, and where.
            base: the state it builds on.
            delta: key -> value, for merge keys the update.
            **more: further fields of the record.

        Raises:
            ContractViolation: a merge cannot combine what was written; nothing was appended.
        """
        node, fresh = place.node, more.get("fresh")
        after = commit(base, delta, place.position, node.id, self.merged, self._count, fresh, alone=not place.scope)
        self._check(after, base, node)
        attempt = more.pop("attempt", 1)
        self.record(
            TaskCommitted(node.id, place.turns, attempt, delta, base.number, place.scope, place.position, **more)
        )
        if not place.scope:
            self.root = after
        return after

    def unite(self, place: Place, states: Sequence[State], base: State | None = None) -> State:
        """Unite states and append the record of it; where one of them holds all the others it is the result.

        Args:
            place: where they meet.
            states: in declaration order of their branches.
            base: the state at the fork of a map: of `states` only merged keys go on.

        Raises:
            StateConflictError: two branches wrote a key that has no merge; nothing was appended.
            ContractViolation: a merge cannot combine what was written; nothing was appended.
        """
        taken = list({state.number: state for state in states}.values())
        keep = None if base is None else tuple(self.merged)
        given = taken if base is None else [base, *(only(state, self.merged, base) for state in taken)]
        after = unite(given, self.merged, place.node.id, self._count)
        same = next((state for state in taken if base is None and _same(state, after)), None)
        if same is not None and (place.scope or same is self.root):
            return same
        self._check(after, given[0], place.node)
        numbers = tuple(state.number for state in taken)
        self.record(
            Choice(place.node.id, place.turns, numbers, place.scope, base.number if base is not None else -1, keep)
        )
        if not place.scope:
            self.root = after
        return after

    def _check(self, after: State, before: State, node: PlanNode) -> None:
        """A merge that is the user's function may give anything: hold it to the key's type before it is recorded."""
        for spec in self._computed:
            version = after.versions.get(spec.name)
            if version is None or version is before.versions.get(spec.name):
                continue
            try:
                spec.validate(version.value)
            except TypeMismatch as error:
                raise ContractViolation(
                    f"`{node.id}`: the merge of `{spec.name}` gave no {spec.type.text}: {error}; nothing was stored",
                    node=node.id,
                    key=spec.name,
                ) from error
