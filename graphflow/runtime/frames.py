"""The counters of one iteration of one loop (or of the whole graph): which edges have arrived where."""

from __future__ import annotations

from dataclasses import dataclass, field

from graphflow.runtime.plan import ROOT
from graphflow.runtime.versions import Position, State


@dataclass(frozen=True, slots=True)
class Arrival:
    """A settled edge at its target: whether it fired, and the state it carries either way."""

    slot: int
    fired: bool
    label: str
    state: State


@dataclass(slots=True)
class Frame:
    """One activation of a loop. `begin` starts its next iteration with fresh counters.

    Attributes:
        loop: index of the header, ROOT for the whole graph.
        parent: the frame around it.
        unsettled: nodes of the iteration that are neither done nor dead.
        turns: iterations of the loops around and of this one, outermost first.
        position: prefix of the canonical place of what runs in it.
        arrivals: node index -> what has arrived at it, for nodes with several in-edges.
        backs: what has arrived at the header along back edges in this iteration.
        dead: leaving edge -> its last arrival, for edges that did not fire.
        fired: leaving edges that fired.
        reasons: header index -> why that inner loop ended.
    """

    loop: int
    parent: Frame | None
    unsettled: int
    turns: tuple[int, ...]
    position: Position = ()
    arrivals: dict[int, list[Arrival]] = field(default_factory=dict)
    backs: list[Arrival] = field(default_factory=list)
    dead: dict[int, Arrival] = field(default_factory=dict)
    fired: set[int] = field(default_factory=set)
    reasons: dict[int, str] = field(default_factory=dict)

    def begin(self, members: int, header: int) -> None:
        """Start the next iteration."""
        outer = self.parent
        assert outer is not None
        assert self.loop != ROOT
        iteration = self.turns[-1] + 1 if len(self.turns) > len(outer.turns) else 1
        self.turns = (*outer.turns, iteration)
        self.position = (*outer.position, header, iteration)
        self.unsettled = members
        self.arrivals = {}
        self.backs = []
        self.dead = {}
