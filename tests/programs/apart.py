"""What runs beside something else or apart from it: branches, instances of maps, the code of custom agents.

The other half of the reader in `interpreter.py`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from tests.programs.clock import NEVER, Clock, Moment
from tests.programs.kinds import (
    LISTS,
    MERGED,
    PLAIN,
    Call,
    Leave,
    Map,
    Once,
    Own,
    Par,
    Put,
    Query,
    Together,
    Tree,
    number_for,
)
from tests.programs.scripts import catching, putting
from tests.programs.strands import Book, Run, State, Stop, Strand, Trail

ALONE = (*PLAIN, *LISTS, "how")
"""The keys that have no merge."""


@dataclass
class Branch:
    """How one of several side by side has ended.

    Attributes:
        place: which one.
        state: what it has come to.
        trail: its writes.
        moment: when it had ended, and nothing of it ran any more.
        runs: its runs, as a part of the book.
        escalated: it ends the loop around.
        stop: why it failed, or halts the run.
    """

    place: int
    state: State
    trail: Trail
    moment: Moment
    runs: tuple[int, int]
    escalated: bool = False
    stop: Stop | None = None


class Apart(ABC):
    def __init__(self, book: Book) -> None:
        self.book = book

    @property
    def clock(self) -> Clock:
        return self.book.clock

    @abstractmethod
    def tree(self, tree: Tree, state: State, trail: Trail, strand: Strand) -> bool: ...

    @abstractmethod
    def write(self, state: State, trail: Trail, key: str, value: object) -> None: ...

    @abstractmethod
    def fails(self, name: str, error: str, strand: Strand, *, early: bool = False) -> Stop: ...

    def replay(self, state: State, trail: Trail, left: Trail) -> None:
        """Apply the writes that something apart has left."""
        for key, value in left:
            self.write(state, trail, key, value)

    def wrote(self, name: str, strand: Strand) -> None:
        """A join writes here, which is in the journal."""
        moments = self.clock.writes.get((name, strand.turns), ())
        moment = self.clock.first(moments, strand.moment[0], exact=strand.exact)
        strand.go((strand.moment[0], moment[1]), exact=strand.exact)

    # --- side by side -------------------------------------------------------------------------------------------

    def branch(self, place: int, tree: Tree, state: State, strand: Strand) -> Branch:
        """Run one of several to whatever end it would come to if it were left alone."""
        since = len(self.book.runs)
        mine, trail = dict(state), Trail()
        try:
            escalated = self.tree(tree, mine, trail, strand)
        except Stop as stop:
            return Branch(place, mine, trail, stop.moment, (since, len(self.book.runs)), stop=stop)
        return Branch(place, mine, trail, strand.moment, (since, len(self.book.runs)), escalated)

    def parallel(self, par: Par, state: State, trail: Trail, strand: Strand) -> bool:
        capped = par.cap is not None
        branches = [
            self.branch(place, item, state, strand.apart(capped=capped).unseen())
            for place, item in enumerate(par.items)
        ]
        taken = self.together(branches, strand, par.need, catches=par.need is not None or par.collects)
        wrote = Counter(key for branch in taken for key in {key for key, _ in branch.trail if key in ALONE})
        if any(number > 1 for number in wrote.values()):
            raise self.fails(par.name, "StateConflictError", strand)
        for branch in taken:
            self.replay(state, trail, branch.trail)
        return any(branch.escalated for branch in taken)

    def map(self, map_: Map, state: State, trail: Trail, strand: Strand) -> bool:
        over, _, path = map_.over.partition(".")
        if over not in state or (path and path not in state[over]):
            raise self.fails(map_.name, "AbsentKeyError", strand)
        items = list(state[over][path] if path else state[over])
        branches = []
        for place, item in enumerate(items):
            given = {**state, "item": item, **({"index": place} if map_.index else {})}
            apart = strand.apart(place, capped=map_.cap is not None)
            branch = self.branch(place, map_.body, given, apart)
            absent = [inner for inner, _, _ in map_.lists if inner not in branch.state]
            if branch.stop is None and not branch.escalated and absent:
                branch.stop = self.fails(map_.name, "AbsentKeyError", apart)
                branch.moment = branch.stop.moment
            branches.append(branch)
        taken = self.together(branches, strand, None, catches=map_.collects) if branches else []
        for branch in taken:
            self.replay(state, trail, [(key, value) for key, value in branch.trail if key in MERGED])
        for inner, outer, joined in map_.lists:
            values = self.values(branches, inner, joined=joined)
            if values is not None:
                self.write(state, trail, outer, values)
                self.wrote(map_.name, strand)
        return any(branch.escalated for branch in taken)

    @staticmethod
    def values(branches: Sequence[Branch], inner: str, *, joined: bool) -> list[object] | None:
        """What is collected of each instance; None if one that escalated has no value."""
        found: list[object] = []
        for branch in branches:
            if branch.stop is not None:
                found.append(("failure", branch.place, branch.stop.error))
            elif inner not in branch.state:
                return None
            else:
                value = branch.state[inner]
                found.extend(value if joined else [value])
        return found

    def together(self, branches: list[Branch], strand: Strand, need: int | None, *, catches: bool) -> list[Branch]:
        """Wait for what the branches come to; give those that count, in their order.

        Raises:
            Stop: a halt, or a failure that is not put up with.
        """
        stops = [branch.stop for branch in branches if branch.stop is not None]
        if not catches and stops:
            raise min(stops, key=lambda stop: stop.moment)
        for branch in branches:
            if branch.stop is not None and not branch.stop.halts:
                over = self.book.give_up(*branch.runs, branch.stop.moment[0])
                branch.moment = (over, branch.moment[1])
        wins: list[Branch] = []
        failed: list[Branch] = []
        decided: Moment | None = None
        for branch in sorted(branches, key=partial(_order, strand)):
            if branch.stop is not None and branch.stop.halts:
                raise branch.stop
            (wins if branch.stop is None else failed).append(branch)
            if need is not None and (len(wins) >= need or len(branches) - len(failed) < need):
                decided = branch.moment
                break
        last = max(branch.moment for branch in (*wins, *failed))
        if decided is not None:
            for branch in branches:
                if branch not in wins and branch not in failed:
                    last = max(last, (self.book.give_up(*branch.runs, decided[0]), decided[1]))
        exact = last[0] > strand.moment[0] or strand.exact
        strand.go(last, exact=exact)
        if failed and len(wins) < (need or 1):
            first = min((branch.stop for branch in failed if branch.stop), key=lambda stop: stop.moment)
            raise Stop(first.error, last)
        return sorted(wins, key=lambda branch: branch.place)

    # --- custom agents ------------------------------------------------------------------------------------------

    def own(self, own: Own, state: State, trail: Trail, strand: Strand) -> bool:
        run = self.book.begin(own.name, strand, waits=not own.children)
        overlay, left = dict(state), Trail()
        code = strand.apart(inside=True)
        code.go((run.what.began, 0), exact=False)
        escalated = False
        calls = 0
        for place, op in enumerate(own.script):
            try:
                match op:
                    case Call():
                        calls += 1
                        escalated |= self.call(own, op, calls, overlay, left, code)
                    case Together():
                        self.both(own, op, calls, overlay, left, code, run)
                        calls += 2
                    case Put():
                        self.write(overlay, left, op.key, putting(op, overlay.get(op.of) if op.of else None))
                    case Once():
                        self.write(overlay, left, op.key, number_for(own.name, strand.turns, place))
                    case Query():
                        answer = number_for(own.name, strand.turns, f"what {place}")
                        self.write(overlay, left, op.key, answer)
                    case Leave():
                        escalated = True
            except Stop as stop:
                if stop.halts:
                    raise
                run.expected = "failed"
                raise Stop(stop.error, run.done) from None
        self.replay(state, trail, left)
        strand.go(run.done)
        return escalated and strand.inside

    def call(self, own: Own, op: Call, number: int, overlay: State, left: Trail, code: Strand) -> bool:
        """Run a child; True if the code lets its escalation out."""
        child = self.branch(0, own.children[op.child], overlay, code.apart(number, inside=True))
        if child.stop is None:
            self.replay(overlay, left, child.trail)
            code.go(max(code.moment, child.moment), exact=False)
            return child.escalated and op.forward
        if child.stop.halts:
            raise child.stop
        code.go((self.book.give_up(*child.runs, child.stop.moment[0]), 0), exact=False)
        if op.caught is None:
            raise child.stop
        self.write(overlay, left, op.caught, catching(op.caught, child.stop.error))
        return False

    def both(self, own: Own, op: Together, calls: int, overlay: State, left: Trail, code: Strand, run: Run) -> None:
        """Run two children side by side; the second begins when the first has, and sees it if it has ended at once."""
        first, second = (own.children[place] for place in op.children)
        children = [self.branch(0, first, overlay, code.apart(calls + 1, inside=True))]
        at_once = children[0].stop is None and not any(one.lasted for one in self.book.runs[slice(*children[0].runs)])
        visible = dict(overlay)
        self.replay(visible, [], children[0].trail if at_once else [])
        children.append(self.branch(1, second, visible, code.apart(calls + 2, inside=True)))
        halts = [child.stop for child in children if child.stop is not None and child.stop.halts]
        if halts:
            raise min(halts, key=lambda stop: stop.moment)
        for child in children:
            if child.stop is None:
                key = (own.name, run.turns, calls + 1 + child.place)
                child.moment = self.clock.first(self.clock.returns.get(key, ()), run.what.began)
            else:
                child.moment = (self.book.give_up(*child.runs, child.stop.moment[0]), 0)
        done = [child for child in sorted(children, key=lambda each: each.moment) if child.stop is None]
        if len(done) == 2 and not at_once:
            one, other = ({key for key, _ in child.trail if key in ALONE} for child in done)
            if one & other:
                done[1].stop = Stop("StateConflictError", (NEVER, NEVER))
        for child in children:
            if child.stop is None:
                self.replay(overlay, left, child.trail)
        known = [child.moment for child in children if child.moment[0] < NEVER]
        code.go(max([code.moment, *known]), exact=False)
        stop = next((child.stop for child in children if child.stop is not None), None)
        if stop is not None:
            raise stop


def _order(strand: Strand, branch: Branch) -> Moment:
    """When a branch ended; of what a step did, a halt that happened came first, else it would not have happened."""
    time, number = branch.moment
    if branch.stop is None or not branch.stop.halts:
        return time, number
    return time if strand.exact or time == NEVER else strand.moment[0], -1
