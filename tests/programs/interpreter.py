"""The meaning of a tree, told by plain recursion over plain dictionaries: no graph, no scheduler, no versions.

What only time decides (who came first, who was stopped when) is asked of a clock, see `clock.py`; all else follows from the
tree. What is committed at the root is the state that is handed in at the top; branches, instances, attempts and custom
agents work on copies of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from graphflow import Overwrite
from tests.programs.apart import Apart
from tests.programs.clock import Clock
from tests.programs.kinds import (
    KEYS,
    Ask,
    Cases,
    Guard,
    Leaf,
    Loop,
    Map,
    Own,
    Par,
    Seq,
    Sub,
    Test,
    Tree,
    Tried,
    When,
    behaviour,
    chained,
    is_task,
    name_of,
    number_for,
)
from tests.programs.strands import Book, Run, State, Stop, Strand, Trail

INPUTS = ("a", "d", "few", "box")
DEFAULTS = {key.name: key.default for key in KEYS if key.name in ("b", "bag")}


@dataclass
class Meaning:
    """What a run comes to.

    Attributes:
        state: what is committed at the root.
        ending: the status, or the class of the failure.
        runs: the tasks that have begun.
        faults: what is wrong with when and how they did.
    """

    state: State
    ending: str = "completed"
    runs: list[Run] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


def meaning(tree: Tree, inputs: Mapping[str, object], clock: Clock) -> Meaning:
    """Run a tree.

    Args:
        tree: the program.
        inputs: key -> value.
        clock: what time has decided.

    Raises:
        TooLong: more tasks are run than the reader has patience for.
    """
    found = Meaning({**DEFAULTS, **inputs})
    book = Book(clock)
    try:
        Reader(book).tree(tree, found.state, [], Strand())
    except Stop as stop:
        found.ending = stop.error
        book.give_up(0, len(book.runs), stop.moment[0])
    found.runs = [run for run in book.runs if run.happened]
    found.faults = [fault for run in book.runs for fault in run.faults()]
    return found


def write(state: State, key: str, value: object) -> None:
    """Apply one write: a plain key takes the value, a merge key is updated by it."""
    if isinstance(value, Overwrite):
        state[key] = value.value
    elif key == "log":
        state[key] = [*state.get(key, []), value]
    elif key == "bag":
        state[key] = [*state.get(key, []), *value]
    elif key == "total":
        state[key] = state.get(key, 0) + value
    elif key == "chain":
        state[key] = chained(state[key], value) if key in state else value
    else:
        state[key] = value


class Reader(Apart):
    """Runs trees; what runs beside or apart from the rest is in `Apart`."""

    def tree(self, tree: Tree, state: State, trail: Trail, strand: Strand) -> bool:
        """Run one agent on `state`, in place; `trail` gets its writes. True if it escalated out of itself.

        Raises:
            Stop: it does not go on after it.
        """
        match tree:
            case Leaf():
                return self.leaf(tree, state, trail, strand) and strand.inside
            case Ask():
                return self.ask(tree, state, trail, strand)
            case Seq(_, items):
                return any(self.tree(item, state, trail, strand) for item in items)
            case Par():
                return self.parallel(tree, state, trail, strand)
            case Map():
                return self.map(tree, state, trail, strand)
            case Loop():
                return self.loop(tree, state, trail, strand)
            case Cases():
                arm = self.case(tree, state, strand)
                return arm is not None and self.tree(arm, state, trail, strand)
            case When():
                arm = tree.then if self.holds(tree.name, tree.test, state, strand) else tree.otherwise
                return arm is not None and self.tree(arm, state, trail, strand)
            case Guard():
                if not self.holds(tree.name, tree.test, state, strand):
                    halts = self.clock.halts.get((tree.name, strand.turns), ())
                    raise Stop("halted", self.clock.first(halts, strand.moment[0], exact=strand.exact))
                return False
            case Sub():
                return self.sub(tree, state, trail, strand)
            case Own():
                return self.own(tree, state, trail, strand)
            case Tried():
                return self.tried(tree, state, trail, strand)

    def write(self, state: State, trail: Trail, key: str, value: object) -> None:
        write(state, key, value)
        trail.append((key, value))

    def fails(self, name: str, error: str, strand: Strand, *, early: bool = False) -> Stop:
        """A decision fails here."""
        failures = self.clock.failures.get((name, strand.turns), ())
        return Stop(error, self.clock.first(failures, strand.moment[0], exact=strand.exact), early=early)

    def holds(self, name: str, test: Test, state: State, strand: Strand) -> bool:
        """Evaluate a condition; absence is never false."""
        if test.op == "exists":
            return test.key in state
        if test.key not in state:
            raise self.fails(name, "AbsentKeyError", strand)
        return state[test.key] == test.value if test.op == "eq" else state[test.key] < test.value

    def leaf(self, leaf: Leaf, state: State, trail: Trail, strand: Strand) -> bool:
        names = [(name.rstrip("?"), name.endswith("?")) for name in leaf.reads]
        if any(name not in state and not optional for name, optional in names):
            raise self.fails(leaf.name, "AbsentKeyError", strand, early=True)
        run = self.book.begin(leaf.name, strand)
        view = {name: state[name] for name, _ in names if name in state}
        delta, moody = behaviour(leaf, strand.turns, view, run.attempt)
        if moody and leaf.mood == "fails":
            run.expected = "failed"
            raise Stop("ValueError", run.done)
        for key, value in delta.items():
            self.write(state, trail, key, value)
        strand.go(run.done)
        if moody and leaf.mood == "halts":
            halts = self.clock.halts.get((leaf.name, strand.turns), ())
            raise Stop("halted", self.clock.first(halts, strand.moment[0], exact=True))
        return moody and leaf.mood == "escalates"

    def ask(self, ask: Ask, state: State, trail: Trail, strand: Strand) -> bool:
        if ask.about not in state:
            raise self.fails(ask.name, "AbsentKeyError", strand, early=True)
        run = self.book.begin(ask.name, strand)
        prompt = f"how about {state[ask.about]}?"
        self.write(state, trail, ask.to, number_for(ask.name, strand.turns, prompt))
        strand.go(run.done)
        return False

    def case(self, cases: Cases, state: State, strand: Strand) -> Tree | None:
        if cases.on not in state:
            raise self.fails(cases.name, "AbsentKeyError", strand)
        if state[cases.on] in dict(cases.arms):
            return dict(cases.arms)[state[cases.on]]
        if cases.default == "missing":
            raise self.fails(cases.name, "RouteError", strand)
        return cases.default

    def loop(self, loop: Loop, state: State, trail: Trail, strand: Strand) -> bool:
        why = "max_iterations"
        for turn in range(1, loop.bound + 1):
            inner = strand.apart(turn, inside=True)
            escalated = any(self.tree(item, state, trail, inner) for item in loop.items)
            strand.go(inner.moment, exact=inner.exact)
            if escalated:
                why = "escalate"
                break
            if loop.until is not None and self.holds(loop.name, loop.until, state, inner):
                why = "until"
                break
        if why == "max_iterations" and loop.exhausted == "fail":
            raise self.fails(loop.name, "LoopExhausted", inner)
        handler = loop.exhausted if why == "max_iterations" and isinstance(loop.exhausted, Leaf) else None
        if handler is not None and self.tree(handler, state, trail, strand):
            return True
        if loop.exit_key is not None:
            self.write(state, trail, loop.exit_key, why)
            self.wrote(loop.name, strand)
        return False

    def tried(self, tried: Tried, state: State, trail: Trail, strand: Strand) -> bool:
        inner, name = tried.inner, name_of(tried.inner)
        if tried.attempts == 1 and tried.handler is None:
            return self.tree(inner, state, trail, strand)
        once = isinstance(inner, Leaf) and inner.irreversible
        for attempt in range(1, tried.attempts + 1):
            since = len(self.book.runs)
            mine, left = (state, trail) if is_task(inner) else (dict(state), [])
            try:
                escalated = self.tree(inner, mine, left, strand)
            except Stop as stop:
                if stop.halts:
                    raise
                over = self.book.give_up(since, len(self.book.runs), stop.moment[0])
                strand.go((over, stop.moment[1]))
                failure = stop
                if attempt < tried.attempts and not (is_task(inner) and (stop.early or once)):
                    strand.go(self.clock.first(self.clock.timers.get((name, strand.turns), ()), over + 1))
                    continue
                break
            if left is not trail:
                self.replay(state, trail, left)
            return escalated
        match tried.handler:
            case None:
                raise Stop(failure.error, strand.moment, early=failure.early)
            case tuple():
                run = self.book.begin(f"{name}#fallback", strand)
                for key, value in tried.handler:
                    self.write(state, trail, key, value)
                strand.go(run.done)
                return False
            case handler:
                return self.tree(handler, state, trail, strand)

    def sub(self, sub: Sub, state: State, trail: Trail, strand: Strand) -> bool:
        inputs = dict(sub.inputs)
        inputs |= {name: name if name == "a" else f"{name}?" for name in INPUTS if name not in inputs}
        if any(outer not in state for outer in inputs.values() if not outer.endswith("?")):
            raise self.fails(f"{sub.name}#inputs", "AbsentKeyError", strand)
        strand.go(self.book.begin(f"{sub.name}#inputs", strand).done)
        carried = {inner: state[outer.rstrip("?")] for inner, outer in inputs.items() if outer.rstrip("?") in state}
        own: State = {**DEFAULTS, **carried}
        inner = strand.apart(inside=False)
        self.tree(sub.body, own, [], inner)
        strand.go(inner.moment, exact=inner.exact)
        if any(name not in own for name, _ in sub.outputs if not name.endswith("?")):
            raise self.fails(f"{sub.name}#outputs", "AbsentKeyError", strand)
        strand.go(self.book.begin(f"{sub.name}#outputs", strand).done)
        for name, outer in sub.outputs:
            if name.rstrip("?") in own:
                self.write(state, trail, outer, own[name.rstrip("?")])
        return False
