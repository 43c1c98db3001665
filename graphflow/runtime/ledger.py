"""The written side of a run: records get their numbers, and the states that they make.

A state is computed before its record is written, so that a journal never holds a record which cannot be folded::

    ledger.commit(node, frame.turns, position, state, {"draft": "..."})      # appends a `task_committed`

Pure: nothing here decides what runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from graphflow.errors import ContractViolation
from graphflow.runtime.journal import Choice, Record, RunStarted, TaskCommitted, Turns
from graphflow.runtime.plan import Plan, PlanNode
from graphflow.runtime.versions import Position, State, commit, initial_state, unite
from graphflow.schema import Merge, TypeMismatch

_TYPED = (Merge.append, Merge.extend, Merge.union, Merge.sum, Merge.max, Merge.min, Merge.last)
"""Merges that give a value of the key's type if the updates have theirs."""


class Ledger:
    """Numbers the records of one run and makes its states.

    Args:
        plan: the compiled program, for its merges.

    Attributes:
        root: the state committed at the root: branches that have not joined leave nothing here.
        records: where new records go; the machine takes them out after each step.
    """

    def __init__(self, plan: Plan) -> None:
        self.root = State({}, 0)
        self.records: list[Record] = []
        self._merges = {name: spec.merge for name, spec in plan.keys.items() if spec.merge is not None}
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

    def commit(
        self,
        node: PlanNode,
        turns: Turns,
        position: Position,
        base: State,
        delta: Mapping[str, object],
        *,
        escalate: bool = False,
    ) -> State:
        """Apply a node's writes and append the record of it.

        Raises:
            ContractViolation: a merge cannot combine what was written; nothing was appended.
        """
        after = commit(base, delta, position, node.id, self._merges, self._count)
        self._check(after, base, node)
        self.record(TaskCommitted(node.id, turns, 1, delta, base.number, node.strand, position, escalate=escalate))
        if not node.strand:
            self.root = after
        return after

    def unite(self, node: PlanNode, turns: Turns, states: Sequence[State]) -> State:
        """Unite the states of concurrent branches and append the record of it.

        Raises:
            StateConflictError: two branches wrote a key that has no merge; nothing was appended.
            ContractViolation: a merge cannot combine what was written; nothing was appended.
        """
        taken = list({state.number: state for state in states}.values())
        after = unite(taken, self._merges, node.id, self._count)
        self._check(after, taken[0], node)
        self.record(Choice(node.id, turns, tuple(state.number for state in taken), node.strand))
        if not node.strand:
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
