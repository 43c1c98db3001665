"""Activations: the counters of one iteration, one instance of a grouped fork, or one call of a custom agent's child.

A frame counts which edges have arrived where; frames nest as scopes do. What has not been consumed yet (fired edges, nodes
that are at work, frames inside) are its *tokens*: with one token in each frame around, nothing else of the run is under way::

    frame = Frame(scope=header.index, parent=outer)
    frame.begin(members=3)

Pure counting; who begins and ends frames is in `propagation` and `groups`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from graphflow.errors import InternalError
from graphflow.runtime.plan import PlanNode
from graphflow.runtime.scopes import ROOT
from graphflow.runtime.versions import Position, State


@dataclass(frozen=True, slots=True)
class Arrival:
    """A settled edge at its target: whether it fired, and the state it carries either way."""

    slot: int
    fired: bool
    label: str
    state: State


@dataclass(slots=True)
class Counters:
    """What one iteration or instance has settled.

    Attributes:
        unsettled: nodes that are neither done nor dead.
        arrivals: node index -> what has arrived at it, for nodes with several in-edges.
        backs: what has come back to the header along back edges.
        ends: what has arrived at the join of a group.
        dead: leaving edge -> its last arrival, for edges that did not fire.
        fired: leaving edge -> its label, for edges that did.
    """

    unsettled: int = 0
    arrivals: dict[int, list[Arrival]] = field(default_factory=dict)
    backs: list[Arrival] = field(default_factory=list)
    ends: list[Arrival] = field(default_factory=list)
    dead: dict[int, Arrival] = field(default_factory=dict)
    fired: dict[int, str] = field(default_factory=dict)


@dataclass(eq=False, slots=True)
class Frame:
    """One activation of a scope.

    Attributes:
        scope: index of the header, ROOT for the whole graph.
        parent: the frame around it.
        turns: iterations, indexes and calls around and of this one, outermost first.
        position: prefix of the canonical place of what runs in it.
        label: what it is in that has not joined yet, "" for the root.
        counters: what the running iteration has settled.
        tokens: what is under way in it.
        reasons: header index -> why that inner loop ended.
        owner: the group or the call that it is an instance of, None for loops and the root.
        gone: it was given up or is over; whatever is still under way in it comes to nothing.
        error: why it was given up.
    """

    scope: int
    parent: Frame | None
    turns: tuple[int, ...] = ()
    position: Position = ()
    label: str = ""
    counters: Counters = field(default_factory=Counters)
    tokens: int = 0
    reasons: dict[int, str] = field(default_factory=dict)
    owner: Group | Call | None = None
    gone: bool = False
    error: BaseException | None = None

    def iterate(self, members: int) -> None:
        """Start the next iteration, with fresh counters."""
        outer = self.parent
        if outer is None:
            raise InternalError("the whole graph does not go round")
        iteration = self.turns[-1] + 1 if len(self.turns) > len(outer.turns) else 1
        self.turns = (*outer.turns, iteration)
        self.position = (*outer.position, self.scope, iteration)
        self.counters = Counters(members)

    def around(self) -> Iterator[Frame]:
        """Yield the frame and those around it, innermost first."""
        frame: Frame | None = self
        while frame is not None:
            yield frame
            frame = frame.parent

    @property
    def alive(self) -> bool:
        """Whether neither it nor a frame around it was given up."""
        return not any(frame.gone for frame in self.around())

    @property
    def alone(self) -> bool:
        """Whether what is at work in it is all that is under way in the run."""
        return all(frame.tokens <= 1 for frame in self.around())

    @property
    def is_root(self) -> bool:
        """Whether it is the whole graph."""
        return self.scope == ROOT


@dataclass(frozen=True, slots=True)
class End:
    """How an instance ended: with a state (it may have escalated), or with an error (None: it was overtaken)."""

    state: State | None = None
    escalated: bool = False
    error: BaseException | None = None

    @property
    def success(self) -> bool:
        """Whether it is a success; an escalated one is."""
        return self.state is not None


@dataclass(eq=False, slots=True)
class Group:
    """A grouped fork at work.

    Attributes:
        fork: the node.
        frame: the frame it was met in.
        base: the state at the fork.
        guard: its one instance is an attempt at a composite.
        items: the list of a map.
        frames: instance -> its frame.
        ends: instance -> how it ended.
        wins: instances that succeeded, the first one first.
        attempt: 1-based attempt of a guard.
        busy: bodies that hold a slot.
        decided: it is known how the group ends; what is left of it is being stopped.
        over: its join was left.
        error: the failure that decides it.
        timers: instance -> timer of its time limit.
    """

    fork: PlanNode
    frame: Frame
    base: State
    guard: bool = False
    items: list[object] = field(default_factory=list)
    frames: dict[int, Frame] = field(default_factory=dict)
    ends: dict[int, End] = field(default_factory=dict)
    wins: list[int] = field(default_factory=list)
    attempt: int = 1
    busy: int = 0
    decided: bool = False
    over: bool = False
    error: BaseException | None = None
    timers: dict[int, int] = field(default_factory=dict)


@dataclass(eq=False, slots=True)
class Call:
    """A child that a custom agent's code runs.

    Attributes:
        task: the code.
        number: which call of the code it is, from 1.
        label: the way in.
        frame: its frame.
        output: the value of the body that comes last in canonical order.
        last: its place in that order.
    """

    task: Any
    number: int
    label: str
    frame: Frame
    output: object = None
    last: Position = ()
