"""A brute-force explorer of small pipelines, written against the meaning of the constructs and not against the analyses.

A pipeline is a tree of plain tuples. `explore` runs every choice of arms, iterations, optional writes and escalations on
states that say which writes each key's value comes from, and so knows what each read may find::

    Task("a", writes=("k",)) ... explore(Seq("s", (a, b)), ...).findings == {("s/b", "k"): {"GF202"}}

A required read of an absent key is noted, and the execution goes on as if the key were there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, combinations, product
from typing import NamedTuple

ENTRY = "@entry"
MOST = 5_000
"""Runs of parts of a pipeline, each on another state, that are looked at."""


class TooMany(Exception):
    """The pipeline can be run in more ways than are looked at."""


class Task(NamedTuple):
    name: str
    reads: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    may_write: tuple[str, ...] = ()
    escalates: bool = False


class Seq(NamedTuple):
    name: str
    items: tuple[Tree, ...]


class Par(NamedTuple):
    """`need`: the first so many successes count; `collect`: any but all may fail."""

    name: str
    items: tuple[Tree, ...]
    need: int | None = None
    collect: bool = False


class Cond(NamedTuple):
    """Takes either arm; its condition reads `reads`."""

    name: str
    then: Tree | None
    otherwise: Tree | None
    reads: tuple[str, ...] = ()


class Loop(NamedTuple):
    """`bound` None: no bound. With `until` the loop may end after any iteration; its test reads `reads`."""

    name: str
    items: tuple[Tree, ...]
    bound: int | None
    until: bool
    reads: tuple[str, ...] = ()
    exit_key: str | None = None
    exhausted: Tree | None = None


class Gate(NamedTuple):
    name: str
    reads: tuple[str, ...] = ()


class Map(NamedTuple):
    """Runs `body` for each element of `over`; `lists` are pairs (key of an instance, key that is given the list)."""

    name: str
    over: str
    body: Tree
    lists: tuple[tuple[str, str], ...]


class Tried(NamedTuple):
    """`body` may fail: then nothing of it remains, and `handler` runs instead, or keys are written."""

    body: Task | Seq | Loop
    handler: Task | tuple[str, ...]


Tree = Map | Tried | Task | Seq | Par | Cond | Loop | Gate


class Origin(NamedTuple):
    """A write that a value comes from, and the loops that have gone round since."""

    writer: str
    round: frozenset[str] = frozenset()


Value = frozenset[Origin]
State = frozenset[tuple[str, Value]]
Outcome = tuple[State, bool]


@dataclass
class Observed:
    """What one read of one key found in all executions."""

    required: bool
    values: set[Value] = field(default_factory=set)
    absent: bool = False


class Explorer:
    """Runs a tree in all ways. `merged` are the keys with a merge."""

    def __init__(self, merged: frozenset[str]) -> None:
        self.merged = merged
        self.reads: dict[tuple[str, str], Observed] = {}
        self.races: set[tuple[str, str]] = set()
        self.writers: dict[str, set[str]] = {}
        self.parallels: set[str] = set()
        self.loops: set[str] = set()
        self.conditions: set[str] = set()
        self.maps: set[str] = set()
        self.tried: set[str] = set()
        self.known: dict[tuple[str, State], set[Outcome]] = {}

    def run(self, tree: Tree, place: str, states: Iterable[State]) -> set[Outcome]:
        done: set[Outcome] = set()
        if isinstance(tree, Tried):
            for state in states:
                done |= self._tried(tree, place, state)
            return done
        path = f"{place}/{tree.name}" if place else tree.name
        for state in states:
            outcomes = self.known.get((path, state))
            if outcomes is None:
                if len(self.known) > MOST:
                    raise TooMany
                outcomes = getattr(self, f"_{type(tree).__name__.lower()}")(tree, path, state)
                self.known[path, state] = outcomes
            done |= outcomes
        return done

    def _task(self, task: Task, path: str, state: State) -> set[Outcome]:
        state = self._read(path, task.optional, self._read(path, task.reads, state), required=False)
        done = set()
        for some in chain.from_iterable(combinations(task.may_write, n) for n in range(len(task.may_write) + 1)):
            after = self._write(path, (*task.writes, *some), state)
            done |= {(after, False)} | ({(after, True)} if task.escalates else set())
        for key in (*task.writes, *task.may_write):
            self.writers.setdefault(key, set()).add(path)
        return done

    def _gate(self, gate: Gate, path: str, state: State) -> set[Outcome]:
        self.conditions.add(path)
        return {(self._read(path, gate.reads, state), False)}

    def _seq(self, seq: Seq, path: str, state: State) -> set[Outcome]:
        return self._in_order(seq.items, path, {state})

    def _in_order(self, items: Iterable[Tree], path: str, states: set[State]) -> set[Outcome]:
        left: set[Outcome] = set()
        for item in items:
            outcomes = self.run(item, path, states)
            left |= {(state, True) for state, escalated in outcomes if escalated}
            states = {state for state, escalated in outcomes if not escalated}
        return left | {(state, False) for state in states}

    def _cond(self, cond: Cond, path: str, state: State) -> set[Outcome]:
        self.conditions.add(path)
        state = self._read(path, cond.reads, state)
        arms = [self.run(arm, path, {state}) if arm is not None else {(state, False)} for arm in cond[1:3]]  # type: ignore[arg-type]
        return arms[0] | arms[1]

    def _par(self, par: Par, path: str, state: State) -> set[Outcome]:
        self.parallels.add(path)
        branches = [self.run(item, path, {state}) for item in par.items]
        fork = dict(state)
        done = set()
        sizes = {par.need} if par.need else range(1, len(branches) + 1) if par.collect else {len(branches)}
        chosen = (some for size in sizes for some in combinations(branches, size))
        for ways in (ways for some in chosen for ways in product(*some)):
            joined = dict(fork)
            changed: set[str] = set()
            for after, _ in ways:
                delta = {key: value for key, value in after if fork.get(key) != value}
                for key, value in delta.items():
                    both = key in changed and joined[key] and value
                    if both and key not in self.merged:
                        self.races.add((path, key))
                    joined[key] = (
                        joined[key] | value if key in changed or (key in self.merged and key in joined) else value
                    )
                changed |= delta.keys()
            done.add((frozenset(joined.items()), any(escalated for _, escalated in ways)))
        return done

    def _map(self, each: Map, path: str, state: State) -> set[Outcome]:
        self.maps.add(path)
        state = self._read(path, (each.over,), state)
        outcomes = self.run(each.body, path, {self._write(path, ("item",), state)})
        for after, escalated in outcomes:
            if not escalated:
                self._read(path, [inner for inner, _ in each.lists], after)
        outer = tuple(outer for _, outer in each.lists)
        for key in outer:
            self.writers.setdefault(key, set()).add(path)
        instances = {(self._leaving(dict(state), dict(after)), escalated) for after, escalated in outcomes}
        updated = {(state, False)} | instances
        updated |= {
            (self._leaving(dict(first), dict(second)), one or other)
            for first, one in instances for second, other in instances
        }  # fmt: skip
        done = {(self._write(path, outer, after), escalated) for after, escalated in updated}
        return done | {(after, True) for after, escalated in updated if escalated}

    def _leaving(self, before: dict[str, Value], after: dict[str, Value]) -> State:
        """Of an instance only updates of merged keys go on."""
        updates = {key: before.get(key, frozenset()) | after[key] for key in self.merged if key in after}
        return frozenset((before | updates).items())

    def _tried(self, tried: Tried, place: str, state: State) -> set[Outcome]:
        self.tried |= {
            f"{place}/{each.name}" if place else each.name
            for each in (tried.body, tried.handler)
            if isinstance(each, (Task, Seq, Loop))
        }
        done = self.run(tried.body, place, {state})
        if isinstance(tried.body, Task):
            proved = dict(state)
            for key in tried.body.reads:
                proved.setdefault(key, frozenset())
            state = frozenset(proved.items())
        if isinstance(tried.handler, Task):
            return done | self.run(tried.handler, place, {state})
        path = f"{place}/{tried.body.name}" if place else tried.body.name
        for key in tried.handler:
            self.writers.setdefault(key, set()).add(path)
        return done | {(self._write(path, tried.handler, state), False)}

    def _loop(self, loop: Loop, path: str, state: State) -> set[Outcome]:
        self.loops.add(path)
        ended: set[State] = set()
        escaped: set[State] = set()  # by what runs when the bound has ended the loop: that is no part of its body
        states, iterations = {state}, loop.bound or 3
        for iteration in range(1, iterations + 1):
            outcomes = self._in_order(loop.items, path, states)
            ended |= {after for after, escalated in outcomes if escalated}
            states = {after for after, escalated in outcomes if not escalated}
            if loop.until:
                states = {self._read(path, loop.reads, after) for after in states}
                ended |= states
            if iteration == loop.bound:
                if loop.exhausted is not None:
                    outcomes = self.run(loop.exhausted, path, states)
                    escaped |= {after for after, escalated in outcomes if escalated}
                    states = {after for after, escalated in outcomes if not escalated}
                ended |= states
            states = {_map(after, lambda origin: Origin(origin.writer, origin.round | {path})) for after in states}
        keys = (loop.exit_key,) if loop.exit_key else ()
        for key in keys:
            self.writers.setdefault(key, set()).add(f"{path}/#exit")
        left, escaped = (
            {_map(after, lambda origin: Origin(origin.writer, origin.round - {path})) for after in states}
            for states in (ended, escaped)
        )
        return {(self._write(f"{path}/#exit", keys, after), False) for after in left} | {(s, True) for s in escaped}

    def _read(self, path: str, keys: Iterable[str], state: State, *, required: bool = True) -> State:
        found = dict(state)
        for key in keys:
            seen = self.reads.setdefault((path, key), Observed(required))
            if key in found:
                seen.values.add(found[key])
            else:
                seen.absent = True
                if required:
                    found[key] = frozenset()
        return frozenset(found.items())

    def _write(self, path: str, keys: Iterable[str], state: State) -> State:
        found = dict(state)
        for key in keys:
            before = found.get(key, frozenset()) if key in self.merged else frozenset()
            found[key] = before | {Origin(path)}
        return frozenset(found.items())


def _map(state: State, change: object) -> State:
    assert callable(change)
    return frozenset((key, frozenset(change(origin) for origin in value)) for key, value in state)


@dataclass(frozen=True)
class Expected:
    """What the checker has to say: (path, key) -> codes, (parallel, key) races, and outputs that may be missing.

    `dead` are writes that no read sees, (path, key) -> code; those in maps and in what may fail are left out.
    """

    findings: Mapping[tuple[str, str], frozenset[str]]
    races: frozenset[tuple[str, str]]
    missing: frozenset[str]
    dead: Mapping[tuple[str, str], str]


def starts_of(required: Iterable[str], optional: Iterable[str]) -> list[State]:
    """Give the states that a run may begin with."""
    given = {(key, frozenset({Origin(ENTRY)})) for key in required}
    maybe = [(key, frozenset({Origin(ENTRY)})) for key in optional]
    return [frozenset({*given, *some}) for n in range(len(maybe) + 1) for some in combinations(maybe, n)]


def explore(
    tree: Tree, required: Iterable[str], optional: Iterable[str], merged: frozenset[str], outputs: Iterable[str]
) -> Expected:
    """Run a tree in all ways.

    Args:
        tree: the pipeline.
        required: inputs that are given.
        optional: inputs that may be given.
        merged: keys with a merge.
        outputs: keys that a completed run owes.

    Returns:
        What has to be found.
    """
    explorer = Explorer(merged)
    ends = [dict(state) for state, _ in explorer.run(tree, "", starts_of(required, optional))]
    missing = frozenset(key for key in outputs if any(key not in end for end in ends))
    found = {place: frozenset(codes_of(explorer, place, seen)) for place, seen in explorer.reads.items()}
    dead = dict(_dead(explorer, ends, frozenset(outputs))) if ends else {}
    return Expected({k: v for k, v in found.items() if v}, frozenset(explorer.races), missing, dead)


def _dead(
    explorer: Explorer, ends: list[dict[str, Value]], outputs: frozenset[str]
) -> Iterator[tuple[tuple[str, str], str]]:
    """Writes whose value nobody reads: they are there at some end (GF203), or replaced on every way to one (GF204)."""
    raced = {key for _, key in explorer.races}
    for key, writers in explorer.writers.items():
        read = {o.writer for (_, name), seen in explorer.reads.items() if name == key for v in seen.values for o in v}
        last = {origin.writer for end in ends for origin in end.get(key, ())}
        for writer in writers - read - (last if key in outputs else set()):
            apart = any(f"{writer}/".startswith(f"{each}/") for each in (*explorer.maps, *explorer.tried))
            if apart or key in raced or (key in explorer.merged and writer not in last):
                continue
            yield (writer.removesuffix("/#exit"), key), "GF203" if writer in last else "GF204"


def codes_of(explorer: Explorer, place: tuple[str, str], seen: Observed) -> Iterator[str]:
    path, key = place
    origins = {origin for value in seen.values for origin in value}
    beside = writers_beside(explorer, path, key)
    if seen.required and not origins:
        yield "GF302" if beside else "GF201"
        return
    if seen.required and seen.absent:
        own = "GF506" if path in explorer.conditions or path in explorer.loops else ""
        yield own or ("GF205" if all(came_round(origin, path) for origin in origins) else "GF202")
    sure = not seen.absent and bool(origins)
    regions = [_meeting(explorer, path, writer) for writer in beside]
    if beside and not (sure and all(_in_branch(origin, path, region) for origin in origins for region in regions)):
        yield "GF302"


def writers_beside(explorer: Explorer, path: str, key: str) -> list[str]:
    return [
        writer for writer in explorer.writers.get(key, ())
        if _meeting(explorer, path, writer) and (key in explorer.merged or not _kept(explorer, path, writer))
    ]  # fmt: skip


def _kept(explorer: Explorer, reader: str, writer: str) -> bool:
    """Whether a write stays in the instance of a map that the reader is not in."""
    around = [each for each in explorer.maps if writer.startswith(f"{each}/")]
    return any(not f"{reader}/".startswith(f"{each}/") for each in around)


def came_round(origin: Origin, reader: str) -> bool:
    """Whether a loop that holds both the write and the reader (its own test included) has gone round in between."""
    return any(f"{reader}/".startswith(f"{loop}/") and origin.writer.startswith(f"{loop}/") for loop in origin.round)


def _meeting(explorer: Explorer, reader: str, writer: str) -> str:
    """Path of the parallel in whose different branches two places are, "" if they cannot run at the same time."""
    mine, theirs = f"{reader}/".split("/"), f"{writer}/".split("/")
    common = []
    for left, right in zip(mine, theirs, strict=False):
        if left != right:
            break
        common.append(left)
    around = "/".join(common)
    return around if around in explorer.parallels and around not in (reader, writer) else ""


def _in_branch(origin: Origin, reader: str, parallel: str) -> bool:
    depth = parallel.count("/") + 2
    return origin.writer.split("/")[:depth] == reader.split("/")[:depth]
