"""The meaning of a tree, told by plain recursion over plain dictionaries: no graph, no scheduler, no versions.

Where branches run side by side and one of them stops the run, time decides which stop comes first and how far the others
got: then `endings` holds every stop there may be, and only `surely` must have run. What is committed at the root does not
depend on time: branches that have not joined leave nothing there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from graphflow import Overwrite
from tests.programs.trees import KEYS, PLAIN, Cases, Guard, Leaf, Loop, Par, Seq, Test, Tree, When, behaviour, chained

State = dict[str, object]
Trail = list[tuple[str, object]]
Turns = tuple[int, ...]


class Stop(Exception):
    """The run ends here, for one of these reasons."""

    def __init__(self, *endings: str) -> None:
        super().__init__(*endings)
        self.endings = set(endings)


@dataclass
class Meaning:
    """What a run comes to: root state, possible endings, what may have run and what surely did."""

    state: State
    endings: set[str] = field(default_factory=lambda: {"completed"})
    ran: Counter[tuple[str, Turns]] = field(default_factory=Counter)
    surely: Counter[tuple[str, Turns]] = field(default_factory=Counter)


def meaning(tree: Tree, inputs: Mapping[str, object]) -> Meaning:
    """Run a tree."""
    found = Meaning({key.name: key.default for key in KEYS if key.name in ("b", "bag")} | dict(inputs))
    try:
        _Run(found).tree(tree, found.state, [], (), inside=False, at_root=True)
    except Stop as stop:
        found.endings = stop.endings
    else:
        found.surely = found.ran
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


def holds(test: Test, state: State) -> bool:
    """Evaluate a condition; absence is never false."""
    if test.op == "exists":
        return test.key in state
    if test.key not in state:
        raise Stop("AbsentKeyError")
    return state[test.key] == test.value if test.op == "eq" else state[test.key] < test.value


class _Run:
    def __init__(self, found: Meaning) -> None:
        self.found = found

    def tree(self, tree: Tree, state: State, trail: Trail, turns: Turns, *, inside: bool, at_root: bool) -> bool:
        """Run one agent on `state`, in place; `trail` gets its writes. True if it escalated out of itself."""
        scope = {"inside": inside, "at_root": at_root}
        match tree:
            case Leaf():
                return self.leaf(tree, state, trail, turns) and inside
            case Seq(_, items):
                return any(self.tree(item, state, trail, turns, **scope) for item in items)
            case Par():
                return self.parallel(tree, state, trail, turns, **scope)
            case Loop():
                return self.loop(tree, state, trail, turns, **scope)
            case Cases():
                arm = self.case(tree, state)
                return arm is not None and self.tree(arm, state, trail, turns, **scope)
            case When():
                arm = tree.then if holds(tree.test, state) else tree.otherwise
                return arm is not None and self.tree(arm, state, trail, turns, **scope)
            case Guard():
                if not holds(tree.test, state):
                    raise Stop("halted")
                return False

    def leaf(self, leaf: Leaf, state: State, trail: Trail, turns: Turns) -> bool:
        names = [(name.rstrip("?"), name.endswith("?")) for name in leaf.reads]
        if any(name not in state and not optional for name, optional in names):
            raise Stop("AbsentKeyError")
        self.found.ran[leaf.name, turns] += 1
        delta, moody = behaviour(leaf, turns, {name: state[name] for name, _ in names if name in state})
        if moody and leaf.mood == "fails":
            raise Stop("ValueError")
        for key, value in delta.items():
            write(state, key, value)
            trail.append((key, value))
        if moody and leaf.mood == "halts":
            raise Stop("halted")
        return moody and leaf.mood == "escalates"

    def case(self, cases: Cases, state: State) -> Tree | None:
        if cases.on not in state:
            raise Stop("AbsentKeyError")
        if state[cases.on] in dict(cases.arms):
            return dict(cases.arms)[state[cases.on]]
        if cases.default == "missing":
            raise Stop("RouteError")
        return cases.default

    def parallel(self, par: Par, state: State, trail: Trail, turns: Turns, *, inside: bool, at_root: bool) -> bool:
        before = Counter(self.found.ran)
        trails: list[Trail] = []
        stops: set[str] = set()
        escalated = False
        for branch in par.items:
            trails.append([])
            try:
                mine = self.tree(branch, dict(state), trails[-1], turns, inside=inside, at_root=False)
                escalated = escalated or mine
            except Stop as stop:
                stops |= stop.endings
        if stops:
            if at_root:
                self.found.surely = before
            raise Stop(*stops)
        written = Counter(key for branch in trails for key in {key for key, _ in branch if key in (*PLAIN, "how")})
        if any(branches > 1 for branches in written.values()):
            if at_root:
                self.found.surely = Counter(self.found.ran)
            raise Stop("StateConflictError")
        for key, value in (update for branch in trails for update in branch):
            write(state, key, value)
            trail.append((key, value))
        return escalated

    def loop(self, loop: Loop, state: State, trail: Trail, turns: Turns, *, inside: bool, at_root: bool) -> bool:
        why = "max_iterations"
        for turn in range(1, loop.bound + 1):
            inner = (*turns, turn)
            if any(self.tree(item, state, trail, inner, inside=True, at_root=at_root) for item in loop.items):
                why = "escalate"
                break
            if loop.until is not None and holds(loop.until, state):
                why = "until"
                break
        if why == "max_iterations" and loop.exhausted == "fail":
            raise Stop("LoopExhausted")
        if why == "max_iterations" and isinstance(loop.exhausted, Leaf):
            handler = loop.exhausted
            if self.tree(handler, state, trail, turns, inside=inside, at_root=at_root):
                return True
        if loop.exit_key is not None:
            write(state, loop.exit_key, why)
            trail.append((loop.exit_key, why))
        return False
