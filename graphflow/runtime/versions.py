"""The state of a run along its edges: immutable maps from key to *version*, and how they are united at joins.

A version is one write: its value, and the version it superseded. Of several versions of one key the one counts that all
the others are upstream of. If there is none they are concurrent: with a merge, every update since their last common version
is applied once, in canonical order; without one that is a `StateConflictError`::

    fork x=1 -> [x=2] and [nothing] -> join        x is 2: the write of 1 is upstream of it
    fork n=[] -> [n+=a] and [n+=b]  -> join        n is [a, b] with Merge.extend

Pure. This is the only place that combines values.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import final

from graphflow.errors import ContractViolation, StateConflictError
from graphflow.ir.scoping import SHARED, local_key, scoped_key
from graphflow.schema import MISSING, Merge, Overwrite

Position = tuple[int, ...]
"""A place in the canonical order: node index, then for each loop inside it iteration and node index."""


@final
class Version:
    """One write of one key.

    Attributes:
        value: the value from here on.
        node: path of the writer.
        parents: the versions superseded or united; none for the first.
        depth: the longest chain of versions below.
        update: for merge keys, what was contributed (MISSING where versions were only united).
        position: the writer's place in the canonical order.
        since: every version of the key up to this number is upstream; -1 if only `parents` say what is.
        number: the number of the record that made it.
    """

    __slots__ = ("depth", "node", "number", "parents", "position", "since", "update", "value")

    def __init__(
        self,
        value: object,
        node: str,
        parents: tuple[Version, ...] = (),
        update: object = MISSING,
        position: Position = (),
        number: int = 0,
        since: int = -1,
    ) -> None:
        self.value = value
        self.node = node
        self.parents = parents
        self.depth: int = 1 + max(parent.depth for parent in parents) if parents else 0
        self.update = update
        self.position = position
        self.number = number
        self.since = since


@dataclass(frozen=True, slots=True)
class State:
    """The state on an edge. `number` is that of the record that made it.

    Attributes:
        versions: key -> version; never changed once the state exists.
        number: the state's number in the journal.
    """

    versions: Mapping[str, Version]
    number: int

    def plain(self) -> dict[str, object]:
        """Give key -> value."""
        return {key: version.value for key, version in self.versions.items()}

    def read(self, key: str) -> object:
        """Give a key's value, MISSING if it has none."""
        version = self.versions.get(key)
        return MISSING if version is None else version.value


@dataclass(frozen=True, slots=True)
class Snapshot(Mapping[str, object]):
    """A state as a mapping key -> value, without copying it."""

    state: State

    def __getitem__(self, key: str) -> object:
        return self.state.versions[key].value

    def __iter__(self) -> Iterator[str]:
        return iter(self.state.versions)

    def __len__(self) -> int:
        return len(self.state.versions)


@dataclass(frozen=True, slots=True)
class ScopedSnapshot(Mapping[str, object]):
    """A state as a body inside a key scope sees it: the keys of its scope without their prefix, and the shared ones."""

    state: State
    prefix: str

    def __getitem__(self, key: str) -> object:
        return self.state.versions[scoped_key(key, self.prefix)].value

    def __iter__(self) -> Iterator[str]:
        for key in self.state.versions:
            if key.startswith((self.prefix, *SHARED)):
                yield local_key(key, self.prefix)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def view(state: State, prefix: str) -> Mapping[str, object]:
    """Show a state to a body; `prefix` is the key scope it is in, "" for none."""
    return ScopedSnapshot(state, prefix) if prefix else Snapshot(state)


def initial_state(values: Mapping[str, object], number: int) -> State:
    """Make the state at the entry."""
    return State({key: Version(value, "@entry") for key, value in values.items()}, number)


def commit(
    state: State,
    delta: Mapping[str, object],
    position: Position,
    node: str,
    merges: Mapping[str, Merge],
    number: int,
    fresh: str | None = None,
    *,
    alone: bool = False,
) -> State:
    """Apply one task's writes.

    A task that is alone has every write of the run upstream, so that its versions need not remember what they supersede:
    a loop of any length keeps one version of each key.

    Args:
        state: what the task saw.
        delta: key -> value, for merge keys the update (or `Overwrite`).
        position: the task's place in the canonical order.
        node: path of the task.
        merges: key -> merge.
        number: number of the record.
        fresh: prefix of keys that end here.
        alone: nothing else of the run is under way.

    Returns:
        The state after it.
    """
    versions = dict(state.versions)
    since = number if alone else -1
    if fresh is not None:
        versions = {key: version for key, version in versions.items() if not key.startswith(fresh)}
    for key, value in delta.items():
        old = versions.get(key)
        parents = (old,) if old is not None and not alone else ()
        merge = merges.get(key)
        if merge is None:
            new = value.value if isinstance(value, Overwrite) else value
        else:
            new = combine(merge, key, node, old.value if old is not None else MISSING, value)
        update = MISSING if merge is None or alone else value
        versions[key] = Version(new, node, parents, update, position, number, since)
    return State(versions, number)


def combine(merge: Merge, key: str, node: str, old: object, update: object) -> object:
    """Apply an update of a merged key.

    Raises:
        ContractViolation: the merge cannot combine what was written.
    """
    if isinstance(update, Overwrite):
        return update.value
    try:
        return merge.apply(old, update)
    except Exception as error:
        raise ContractViolation(
            f"merge `{merge.name}` of `{key}` cannot combine what `{node}` wrote: {type(error).__name__}: {error}; "
            f"nothing was stored",
            node=node,
            key=key,
        ) from error


def unite(states: Sequence[State], merges: Mapping[str, Merge], node: str, number: int) -> State:
    """Unite the states of concurrent branches.

    Args:
        states: in declaration order of the branches.
        merges: key -> merge.
        node: path of the node where they meet, for messages.
        number: number of the record.

    Returns:
        The united state.

    Raises:
        StateConflictError: two branches wrote a key that has no merge.
    """
    versions = dict(states[0].versions)
    for state in states[1:]:
        for key, version in state.versions.items():
            mine = versions.get(key)
            if mine is None:
                versions[key] = version
            elif mine is not version:
                versions[key] = _newer(key, mine, version, merges.get(key), node, number)
    return State(versions, number)


def only(state: State, keys: Collection[str], base: State) -> State:
    """Take of a branch's state only these keys, all others as they were in `base`; its number stays."""
    versions = dict(base.versions)
    for key in keys:
        if key in state.versions:
            versions[key] = state.versions[key]
    return State(versions, state.number)


def _newer(key: str, left: Version, right: Version, merge: Merge | None, node: str, number: int) -> Version:
    if _upstream(left, right):
        return right
    if _upstream(right, left):
        return left
    if merge is None:
        raise StateConflictError(key, [left.node, right.node], node)
    return _merged(key, left, right, merge, number)


def _upstream(old: Version, new: Version) -> bool:
    """Whether `new` supersedes `old`. Chains are walked only as far down as `old` can be."""
    pending, seen = [new], {id(new)}
    while pending:
        version = pending.pop()
        if version is old or old.number <= version.since:
            return True
        for parent in version.parents:
            if parent.depth >= old.depth and id(parent) not in seen:
                seen.add(id(parent))
                pending.append(parent)
    return False


def _merged(key: str, left: Version, right: Version, merge: Merge, number: int) -> Version:
    """Apply to the last common version every update since, each once, in canonical order."""
    base, updates = _since_common(left, right)
    value = base.value if base is not None else MISSING
    for version in sorted(updates, key=lambda update: update.position):
        value = combine(merge, key, version.node, value, version.update)
    return Version(value, right.node, (left, right), number=number)


def _since_common(left: Version, right: Version) -> tuple[Version | None, list[Version]]:
    """Walk down from both, deepest first, until one version is left that everything passes through."""
    tie = count()
    heap = [(-v.depth, next(tie), v) for v in (left, right)]
    heapq.heapify(heap)
    queued = {id(left), id(right)}
    roots = 0
    updates: list[Version] = []
    while heap:
        if len(heap) == 1 and not roots:
            return heap[0][2], updates
        version = heapq.heappop(heap)[2]
        if version.update is not MISSING:
            updates.append(version)
        elif not version.parents:
            return _from_roots(version, heap, updates)
        roots += not version.parents
        for parent in version.parents:
            if id(parent) not in queued:
                queued.add(id(parent))
                heapq.heappush(heap, (-parent.depth, next(tie), parent))
    return None, updates


def _from_roots(
    root: Version, heap: list[tuple[int, int, Version]], updates: list[Version]
) -> tuple[Version, list[Version]]:
    """An input or default was reached while first updates of other branches, made without it, are left."""
    updates.extend(version for _, _, version in heap if version.update is not MISSING)
    return root, updates
