"""The state and concurrency rules say exactly what a brute-force explorer finds: no miss, no false error."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import count
from typing import Any, NamedTuple

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from graphflow import (
    ConditionalAgent,
    Flow,
    FunctionAgent,
    Key,
    LoopAgent,
    MapAgent,
    Merge,
    ParallelAgent,
    Report,
    SequentialAgent,
)
from graphflow import Gate as GateAgent
from graphflow.agents import Agent
from tests.checker.exploring import Cond, Expected, Gate, Loop, Map, Par, Seq, Task, TooMany, Tree, Tried, explore

KEYS = ("a", "b", "m")
KINDS = ["task"] * 3 + ["seq", "seq", "par", "par", "cond", "loop", "gate", "map", "tried"]
POLICIES = [(None, False)] * 3 + [(1, False), (2, False), (None, True)]
MERGED = frozenset({"m"})


def plain(ctx):
    return {}


def escalating(ctx):
    ctx.actions.escalate = True


class Program(NamedTuple):
    tree: Tree
    inputs: tuple[str, ...]
    optional: tuple[str, ...]
    outputs: tuple[str, ...]
    open: bool

    def expected(self) -> Expected:
        return explore(self.tree, self.inputs, self.optional, MERGED, self.outputs)

    def flow(self, persist: Iterable[str] = ()) -> Flow:
        inputs = {**dict.fromkeys(self.inputs, str), **{f"{name}?": str for name in self.optional}}
        keys = [Key(name, list, merge=Merge.extend) for name in sorted(MERGED)]
        return Flow(
            agent_of(self.tree),
            inputs=None if self.open else inputs,
            outputs=list(self.outputs),
            keys=keys,
            persist=sorted(persist),
        )


def condition(*reads: str) -> Callable[..., object]:
    """An opaque test that reads keys; what it finds has nothing to do with any other test."""
    made = eval(f"lambda {', '.join(reads)}: True")
    assert callable(made)
    return made


def _stage(name: str, *, writes: tuple[str, ...] = ()) -> Agent:
    return FunctionAgent(name, plain, reads=[], writes=list(writes))


def agent_of(tree: Tree) -> Agent:
    """Build the pipeline that the tree describes."""
    match tree:
        case Task(name, reads, optional, writes, may_write, escalates):
            return FunctionAgent(
                name, escalating if escalates else plain, reads=[*reads, *(f"{key}?" for key in optional)],
                writes=list(writes), may_write=list(may_write),
            )  # fmt: skip
        case Seq(name, items):
            return SequentialAgent(name, [agent_of(item) for item in items])
        case Par(name, items, need, collect):
            failures: Any = "collect" if collect else "fail"
            return ParallelAgent(name, [agent_of(item) for item in items], join=need, on_error=failures)
        case Map(name, over, body, lists):
            return MapAgent(name, over=over, agent=agent_of(body), collect=dict(lists))
        case Tried(body, handler):
            instead = agent_of(handler) if isinstance(handler, Task) else {key: [] for key in handler}
            return agent_of(body).clone({"on_error": instead})
        case Cond(name, then, otherwise, reads):
            arms = [agent_of(arm) if arm is not None else None for arm in (then, otherwise)]
            return ConditionalAgent(name, when=condition(*reads), then=arms[0], otherwise=arms[1])
        case Gate(name, reads):
            return GateAgent(name, condition(*reads), reason="no")
        case Loop(name, items, bound, until, reads, exit_key, exhausted):
            return LoopAgent(
                name, [agent_of(item) for item in items], max_iterations=bound, exit_key=exit_key,
                until=condition(*reads) if until else None,
                on_exhausted=agent_of(exhausted) if exhausted is not None else "continue",
            )  # fmt: skip


some_keys = st.lists(st.sampled_from(KEYS), max_size=2, unique=True).map(tuple)


@st.composite
def programs(draw: st.DrawFn) -> Program:
    numbers = count()

    def tree(depth: int, in_loop: bool) -> Tree:
        name = f"n{next(numbers)}"
        kind = draw(st.sampled_from(KINDS)) if depth else "task"
        match kind:
            case "seq" | "par":
                items = tuple(tree(depth - 1, in_loop) for _ in range(draw(st.integers(2, 3))))
                if kind == "seq":
                    return Seq(name, items)
                # what runs instead of a branch belongs to it: one name for both
                items = tuple(Seq(f"{name}_{i}", (t,)) if isinstance(t, Tried) else t for i, t in enumerate(items))
                need, collect = draw(st.sampled_from(POLICIES))
                return Par(name, items, need, collect)
            case "map":
                over, *rest = draw(st.permutations(KEYS))
                lists = tuple((inner, draw(st.sampled_from(("a", "b")))) for inner in rest[: draw(st.integers(0, 1))])
                return Map(name, over, tree(depth - 1, in_loop), lists)
            case "tried":
                body = draw(st.sampled_from(["task", "seq", "loop"]))
                tried = tree(0, in_loop) if body == "task" else Seq(name, (tree(depth - 1, in_loop), tree(0, in_loop)))
                if body == "loop":
                    tried = Loop(name, (tree(depth - 1, True),), 2, draw(st.booleans()))
                assert isinstance(tried, (Task, Seq, Loop))
                handler = tree(0, in_loop) if draw(st.booleans()) else draw(some_keys)
                assert isinstance(handler, (Task, tuple))
                return Tried(tried, handler)
            case "cond":
                other = tree(depth - 1, in_loop) if draw(st.booleans()) else None
                return Cond(name, tree(depth - 1, in_loop), other, draw(some_keys)[:1])
            case "gate":
                return Gate(name, draw(some_keys)[:1])
            case "loop":
                items = tuple(tree(depth - 1, True) for _ in range(draw(st.integers(1, 2))))
                bound = draw(st.sampled_from([1, 2, 2, None]))
                until = bound is None or draw(st.booleans())
                exhausted = tree(depth - 1, in_loop) if bound and draw(st.integers(0, 3)) == 0 else None
                exit_key = draw(st.sampled_from([None, None, "a"]))
                return Loop(name, items, bound, until, draw(some_keys)[:1] if until else (), exit_key, exhausted)
        reads, writes = draw(some_keys), draw(some_keys)
        needed, maybe = reads[:1], reads[1:]
        if draw(st.booleans()):
            return Task(name, (), reads[:1], (), writes, in_loop and draw(st.integers(0, 3)) == 0)
        return Task(name, needed, maybe, writes[:1], writes[1:], in_loop and draw(st.integers(0, 5)) == 0)

    items = tuple(tree(3, False) for _ in range(draw(st.integers(1, 3))))
    world = draw(st.booleans())
    inputs, optional = draw(some_keys)[:1], draw(some_keys)[:1]
    optional = tuple(key for key in optional if key not in inputs)
    return Program(Seq("root", items), () if world else inputs, () if world else optional, draw(some_keys), world)


STATE = ("GF201", "GF202", "GF205", "GF302", "GF506")


def _named(report: Report) -> set[tuple[str, str]]:
    """Writes of which a finding about a read speaks already."""
    return {(place.node, f.key or "") for f in report if f.code in STATE for place in f.related}


def _plain_writes(tree: Tree, place: str = "") -> set[tuple[str, str]]:
    """The writes of tasks that are neither in a map nor in what may fail."""
    match tree:
        case Task():
            path = f"{place}/{tree.name}" if place else tree.name
            return {(path, key) for key in (*tree.writes, *tree.may_write)}
        case Seq() | Par() | Loop():
            path = f"{place}/{tree.name}" if place else tree.name
            return {write for item in tree.items for write in _plain_writes(item, path)}
        case Cond(name, then, otherwise):
            path = f"{place}/{name}" if place else name
            return {write for arm in (then, otherwise) if arm is not None for write in _plain_writes(arm, path)}
        case _:
            return set()


def assert_agrees(program: Program) -> None:
    try:
        wanted = program.expected()
    except TooMany:
        assume(False)
    flow = program.flow()
    report = flow.check()
    found: dict[tuple[str, str], set[str]] = {}
    for finding in report:
        if finding.code in STATE:
            found.setdefault((finding.node, finding.key or ""), set()).add(finding.code)
    assert {place: frozenset(codes) for place, codes in found.items()} == wanted.findings
    places = [finding for finding in report if finding.code in STATE]
    assert len(places) == len({(f.code, f.node, f.key) for f in places}), "one finding per read and code"
    written = {write.key for node in flow.graph.nodes.values() for write in node.contract.writes}
    soft = {f.key for f in report if f.code == "GF201" and f.severity == "warning"}
    assert soft == {f.key for f in report if f.code == "GF201" and program.open and f.key not in written}
    races = {(f.message.rpartition("`")[0].rpartition("`")[2], f.key) for f in report if f.code == "GF301"}
    assert races == wanted.races
    assert {f.key for f in report if f.code == "GF211"} == wanted.missing
    dead = {(f.node, f.key or ""): f.code for f in report if f.code in ("GF203", "GF204")}
    wanted_dead = {place: code for place, code in wanted.dead.items() if place not in _named(report)}
    assert {place: dead.get(place) for place in wanted_dead} == wanted_dead
    sure = {write for write in _plain_writes(program.tree) if write not in wanted.dead}
    assert not sure & dead.keys()


@settings(max_examples=200)
@given(programs())
def test_the_checker_says_what_the_explorer_finds(program: Program) -> None:
    assert_agrees(program)
