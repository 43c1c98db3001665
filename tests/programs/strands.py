"""What a reader of a tree keeps in mind: how a run may stop, what has run, and where in time one thing after another has got.

A *strand* is one thing after another; branches, instances and children have strands of their own.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from tests.programs.clock import NEVER, Clock, Execution, Moment

Turns = tuple[int, ...]
Trail = list[tuple[str, object]]
State = dict[str, object]


class Stop(Exception):
    """It does not go on here: a failure, which may be dealt with further out, or a halt.

    Attributes:
        error: class of the failure, "halted" for a halt.
        moment: when.
        early: the body of a task had not begun.
    """

    def __init__(self, error: str, moment: Moment, *, early: bool = False) -> None:
        super().__init__(error, moment)
        self.error = error
        self.moment = moment
        self.early = early

    @property
    def halts(self) -> bool:
        return self.error == "halted"


@dataclass(eq=False)
class Run:
    """An execution of a task as the reader expects it.

    Attributes:
        name: the agent.
        turns: iterations, indexes and calls around.
        attempt: which attempt at these turns it is.
        due: when it could begin.
        exact: it begins just then, if at all.
        what: what the journal tells of it.
        limit: when what it is in was given up.
        expected: how it is to end if it is left to.
    """

    name: str
    turns: Turns
    attempt: int
    due: float
    exact: bool
    what: Execution
    limit: float = NEVER
    expected: str = "committed"

    @property
    def happened(self) -> bool:
        """Whether it began, as far as it can have; it may have been taken back in the very step that began it."""
        return self.what.began < NEVER and (self.what.began <= self.limit or (self.taken_back and not self.exact))

    @property
    def taken_back(self) -> bool:
        """Whether the very step that began it ended it too."""
        return self.what.how == "cancelled" and self.what.ended[0] == self.what.began

    @property
    def lasted(self) -> bool:
        """Whether it took any time, or would have."""
        return not self.taken_back and (self.happened or self.limit == NEVER)

    @property
    def done(self) -> Moment:
        """When it had done what it is for."""
        return self.what.ended if self.what.how != "cancelled" else (NEVER, NEVER)

    def faults(self) -> list[str]:
        """What is wrong with what the journal tells of it."""
        found = []
        where = f"{self.name}{list(self.turns)}, attempt {self.attempt}, due at {self.due}"
        if self.exact and self.due < self.limit and self.what.began != self.due:
            found.append(f"{where} began at {self.what.began}, not when it could")
        if self.happened and self.what.attempt != self.attempt:
            found.append(f"{where} was told it is attempt {self.what.attempt}")
        if self.happened and self.what.how not in (self.expected, "cancelled", ""):
            found.append(f"{where} has {self.what.how}, not {self.expected}")
        if self.happened and self.what.how == "cancelled" and self.what.ended[0] < self.limit:
            found.append(f"{where} was cancelled for nothing")
        if self.happened and not self.what.how and not self.what.asked and self.limit == NEVER:
            found.append(f"{where} never ended")
        return found


@dataclass
class Strand:
    """One thing after another.

    Attributes:
        turns: iterations, indexes and calls around.
        inside: there is a loop (or code) around that an escalation would end.
        moment: when it has got here.
        exact: that is known exactly; else it is not before.
        capped: a cap around may let tasks wait.
    """

    turns: Turns = ()
    inside: bool = False
    moment: Moment = (0, 0)
    exact: bool = True
    capped: bool = False

    def apart(self, *turns: int, inside: bool | None = None, capped: bool = False) -> Strand:
        """A strand that begins here."""
        inside = self.inside if inside is None else inside
        return replace(self, turns=(*self.turns, *turns), inside=inside, capped=self.capped or capped)

    def unseen(self) -> Strand:
        """The same before anything of it is in the journal: of what happens in one step, what is there came first."""
        return replace(self, moment=(self.moment[0], NEVER))

    def go(self, moment: Moment, *, exact: bool = True) -> None:
        """Get on."""
        self.moment, self.exact = moment, exact


@dataclass
class Book:
    """All runs of tasks, in the order in which a reader comes to them."""

    clock: Clock
    runs: list[Run] = field(default_factory=list)
    patience: int = 1500

    def begin(self, name: str, strand: Strand, *, waits: bool = True) -> Run:
        """Expect a task to be run now; `waits`: it may have to wait for a slot."""
        if len(self.runs) >= self.patience:
            raise TooLong
        before = [run for run in self.runs if run.name == name and run.turns == strand.turns and run.happened]
        exact = strand.exact and not (strand.capped and waits)
        what = self.clock.execution((name, strand.turns), strand.moment[0])
        run = Run(name, strand.turns, len(before) + 1, strand.moment[0], exact, what)
        self.runs.append(run)
        return run

    def give_up(self, since: int, end: int, time: float) -> float:
        """Some runs were stopped at a time; give the time at which none of them runs any more."""
        last = time
        for run in self.runs[since:end]:
            run.limit = min(run.limit, time)
            if run.happened and run.what.ended[0] < NEVER:
                last = max(last, run.what.ended[0])
        return last


class TooLong(Exception):
    """More tasks are run than the reader has patience for."""
