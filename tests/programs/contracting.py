"""The meaning of a free-form graph, told by contracting its loops: no scheduler, no counters, no versions.

The acyclic rest is evaluated step by step in topological order, with full knowledge. A state is the set of all writes
upstream: of several writes of one key the one counts that has seen all the others; updates of a merge key are applied once
each in canonical order. An edge carries whether it fired, the writes, and what is sure to have happened before it; an edge
that never settles, because something before it stopped, carries nothing.

Where concurrent paths stop, time decides which stop comes first: then `endings` holds every stop there may be, and only what
lies before all of them has surely run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

from graphflow import Overwrite
from tests.programs.graphs import DEFAULT, ENTRY, Graph, behaviour
from tests.programs.interpreter import write
from tests.programs.loops import Edge, Item, Loop, Shape, shape_of
from tests.programs.trees import KEYS, PLAIN

Turns = tuple[int, ...]
Ran = tuple[str, Turns]


class Endless(Exception):
    """More steps were run than the reader has patience for."""


class Misbehaved(Exception):
    """A loop went round and was left in one iteration: nothing says what that means."""


@dataclass(frozen=True, eq=False)
class Written:
    """One write: where it stands in the canonical order, and the writes of its key that it has seen."""

    key: str
    value: object
    position: tuple[int, ...]
    seen: frozenset[Written] = frozenset()


Writes = frozenset[Written]


@dataclass(frozen=True)
class Settled:
    """A settled edge: what it carries, and what must have run before it settles."""

    fired: bool
    writes: Writes
    past: frozenset[Ran]


@dataclass(frozen=True)
class Stop:
    """A place where the run may end: how, and what must have run before."""

    ending: str
    past: frozenset[Ran]


@dataclass(frozen=True)
class Point:
    """What holds before or after an execution: the writes, and what must have run."""

    at: Ran | None
    writes: Writes
    past: frozenset[Ran]


@dataclass(frozen=True)
class Account:
    """What a run comes to.

    Attributes:
        endings: every way in which it may end; "completed" stands alone.
        states: what it may leave: the state at END, else a state that all of what ran came through, or comes from.
        ran: what may have run.
        surely: what has run in any case.
    """

    endings: frozenset[str]
    states: tuple[dict[str, object], ...]
    ran: Counter[Ran]
    surely: Counter[Ran]


class _Stopped(Exception):
    def __init__(self, ending: str) -> None:
        super().__init__(ending)
        self.ending = ending


def plain_state(writes: Writes) -> dict[str, object]:
    """Read a set of writes as a state.

    Raises:
        _Stopped: two writes of a key without a merge have not seen each other.
    """
    state: dict[str, object] = {}
    groups: dict[str, list[Written]] = {}
    for one in sorted(writes, key=lambda each: each.position):
        groups.setdefault(one.key, []).append(one)
    for key, group in groups.items():
        if key in PLAIN:
            last = max(group, key=lambda one: len(one.seen))
            if not last.seen.issuperset(one for one in group if one is not last):
                raise _Stopped("StateConflictError")
            state[key] = last.value
            continue
        for one in group:
            if one.position:
                write(state, key, one.value)
            else:
                state[key] = one.value
    return state


def contracted(graph: Graph, inputs: Mapping[str, object], *, salt: int = 0, patience: int = 150) -> Account:
    """Run a graph.

    Args:
        graph: a graph whose cycles are natural loops and whose steps can all be reached.
        inputs: key -> value.
        salt: another one makes its steps behave otherwise.
        patience: how many steps may run.

    Returns:
        What a run comes to.

    Raises:
        Endless: more steps ran than `patience`.
        Misbehaved: a loop went round and was left in one iteration.
    """
    return _Run(graph, shape_of(graph), salt, patience).run(inputs)


@dataclass
class _Run:
    graph: Graph
    shape: Shape
    salt: int
    patience: int
    settled: dict[Edge, Settled] = field(default_factory=dict)
    stops: list[Stop] = field(default_factory=list)
    points: list[Point] = field(default_factory=list)
    pasts: dict[Ran, frozenset[Ran]] = field(default_factory=dict)

    def run(self, inputs: Mapping[str, object]) -> Account:
        self.steps = {step.name: step for step in self.graph.steps}
        given = {key.name: key.default for key in KEYS if key.name in ("b", "bag")} | dict(inputs)
        start = Settled(True, frozenset(Written(key, value, ()) for key, value in given.items()), frozenset())
        self.settled = {edge: start for edge in self.shape.edges if edge.source == ENTRY}
        self.items(self.shape.items[:-1], (), ())
        end = self.arrival([edge for edge in self.shape.edges if edge.target == self.shape.items[-1]])
        ran = Counter(self.pasts.keys())
        if end is not None:
            return Account(frozenset({"completed"}), (plain_state(end.writes),), ran, ran)
        surely = frozenset.intersection(*(stop.past for stop in self.stops))
        states = [given, *(plain_state(point.writes) for point in self.points if self.is_root(point, surely))]
        return Account(frozenset(stop.ending for stop in self.stops), tuple(states), ran, Counter(surely))

    def is_root(self, point: Point, surely: frozenset[Ran]) -> bool:
        """Whether a run surely comes to this point, and nothing that may run is beside it."""
        return point.past <= surely and all(
            ran in point.past or ran == point.at or point.at in past for ran, past in self.pasts.items()
        )

    def items(self, items: Sequence[Item], turns: Turns, prefix: tuple[int, ...], *, first: int = 0) -> None:
        for place, item in enumerate(items, first):
            inside = item.members if isinstance(item, Loop) else ()
            name = item.header if isinstance(item, Loop) else item
            arrival = self.arrival([e for e in self.shape.edges if e.target == name and e.source not in inside])
            if arrival is None:
                continue
            if isinstance(item, Loop):
                self.loop(item, arrival, turns, (*prefix, place))
            else:
                self.step(name, arrival, turns, (*prefix, place))

    def arrival(self, edges: Collection[Edge]) -> Settled | None:
        """What edges bring to where they meet, None if one of them never settles or what they bring is in conflict."""
        into = [self.settled[edge] for edge in edges if edge in self.settled]
        if len(into) < len(edges):
            return None
        writes = frozenset().union(*(one.writes for one in into))
        past = frozenset().union(*(one.past for one in into))
        try:
            plain_state(writes)
        except _Stopped as stopped:
            self.stops.append(Stop(stopped.ending, past))
            return None
        return Settled(any(one.fired for one in into), writes, past)

    def step(self, name: str, arrival: Settled, turns: Turns, position: tuple[int, ...]) -> None:
        outs = [edge for edge in self.shape.edges if edge.source == name]
        if not arrival.fired:
            self.settled |= dict.fromkeys(outs, arrival)
            return
        step = self.steps[name]
        state = plain_state(arrival.writes)
        self.points.append(Point((name, turns), arrival.writes, arrival.past))
        if any(key not in state for key in step.reads if not key.endswith("?")):
            self.stops.append(Stop("AbsentKeyError", arrival.past))
            return
        self.pasts[name, turns] = arrival.past
        if len(self.pasts) > self.patience:
            raise Endless
        past = arrival.past | {(name, turns)}
        view = {key: state[key] for key in (read.rstrip("?") for read in step.reads) if key in state}
        done = behaviour(step, turns, view, self.salt)
        if done.moody and step.mood == "fails":
            self.stops.append(Stop("ValueError", past))
            return
        seen = {key: frozenset(one for one in arrival.writes if one.key == key) for key in done.delta}
        plain = {k: v.value if k in PLAIN and isinstance(v, Overwrite) else v for k, v in done.delta.items()}
        writes = arrival.writes | {Written(key, value, position, seen[key]) for key, value in plain.items()}
        self.points.append(Point((name, turns), writes, past))
        if done.moody and step.mood == "halts":
            self.stops.append(Stop("halted", past))
            return
        labels = {edge.route for edge in outs if edge.route is not None}
        taken = {route if route in labels else DEFAULT for route in done.routes or (DEFAULT,)}
        if labels and not taken <= labels:
            self.stops.append(Stop("RouteError", past))
            outs = [edge for edge in outs if edge.route is None]
        for edge in outs:
            self.settled[edge] = Settled(edge.route is None or edge.route in taken, writes, past)

    def loop(self, loop: Loop, arrival: Settled, turns: Turns, position: tuple[int, ...]) -> None:
        inner = [edge for edge in self.shape.edges if edge.source in loop.members]
        if not arrival.fired:
            self.settled |= dict.fromkeys(inner, arrival)
            return
        for turn in count(1):
            for edge in inner:
                self.settled.pop(edge, None)
            self.step(loop.header, arrival, (*turns, turn), (*position, turn, 0))
            self.items(loop.body[1:], (*turns, turn), (*position, turn), first=1)
            settled = all(edge in self.settled for edge in inner)
            round_ = any(self.settled[edge].fired for edge in loop.back if edge in self.settled)
            left = [edge for edge in loop.leaving if edge in self.settled and self.settled[edge].fired]
            if round_ and left:
                raise Misbehaved(loop.header)
            if not settled:
                self.leave(loop, left, None)
                return
            everything = frozenset().union(*(self.settled[edge].past for edge in inner))
            if not round_:
                self.leave(loop, left, everything)
                return
            again = self.arrival(loop.back)
            if again is None:
                self.leave(loop, left, None)
                return
            arrival = Settled(True, again.writes, everything)

    def leave(self, loop: Loop, left: Sequence[Edge], past: frozenset[Ran] | None) -> None:
        """Edges that were not taken settle when the loop ends, or never."""
        for edge in loop.leaving:
            if edge in left:
                continue
            one = self.settled.pop(edge, None)
            if past is not None:
                assert one is not None
                self.settled[edge] = Settled(False, one.writes, past)
