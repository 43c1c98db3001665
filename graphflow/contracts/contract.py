"""What a stage reads and writes: the data every later phase agrees on.

A contract is declared, inferred (signature, template, source) or *open*: it uses keys that cannot be known, and
`open` says why. Writers are three-valued: sure, possible (`sure=False`), unknown (an open contract)::

    Contract(reads=(Read("topic", STR),), writes=(Write("draft", STR),))

This module knows nothing of agents or graphs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from graphflow.schema import ANY, Type

Effect = Literal["none", "idempotent", "irreversible"]


@dataclass(frozen=True, slots=True)
class Origin:
    """A place in the user's source: a file, a 1-based line and a 1-based column (0: not known)."""

    file: str
    line: int
    column: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" + (f":{self.column}" if self.column else "")


@dataclass(frozen=True, slots=True)
class Read:
    """One read of a key.

    Attributes:
        key: the state key.
        type: what the reader asks for (ANY: anything).
        optional: the reader copes with an absent key.
        path: fields read below the key, outermost first.
        implicit: made by graphflow, not written by the user (a model agent is sent the run's message); such a read
            is never the subject of a finding and is not drawn.
        origin: where the read is written, if it is not where the agent is made; or a search for that place, made only
            where somebody asks, because it parses files.
    """

    key: str
    type: Type = ANY
    optional: bool = False
    path: tuple[str, ...] = ()
    implicit: bool = False
    origin: Origin | Callable[[], Origin | None] | None = field(default=None, compare=False)

    def place(self) -> Origin | None:
        """Find where the read is written; None where that is the agent's place, or cannot be found."""
        return self.origin() if callable(self.origin) else self.origin


@dataclass(frozen=True, slots=True)
class Write:
    """One write of a key: its type as written (for a key with a merge: the type of one update), and whether it is sure."""

    key: str
    type: Type = ANY
    sure: bool = True


@dataclass(frozen=True, slots=True)
class Contract:
    """All that is known about what a node does to the state.

    Attributes:
        reads: in order of appearance, one for each key and path.
        writes: in order of declaration, one for each key.
        open: why the contract cannot be known; empty means that it is complete.
        escalates: the body may end the nearest loop.
        answers_when_escalating: False for a model agent, whose output key keeps what it had then.
        halts: the body may halt the run.
        effect: what running it twice would do to the world.
    """

    reads: tuple[Read, ...] = ()
    writes: tuple[Write, ...] = ()
    open: tuple[str, ...] = ()
    escalates: bool = False
    answers_when_escalating: bool = True
    halts: bool = False
    effect: Effect = "none"


NOTHING = Contract()
