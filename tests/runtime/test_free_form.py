"""The scheduler on free-form graphs against a reader who contracts loops; and what the check refuses of them."""

from __future__ import annotations

from random import Random

import anyio
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.programs.comparing import agree_result, result_of
from tests.programs.contracting import Account, Endless, contracted
from tests.programs.drawing import odd_graph, random_graph, sound_graph
from tests.programs.endings import ending_of_odd
from tests.programs.graphs import DEFAULT, Graph, GraphProgram, Plain, Routes, Step, behaviour
from tests.programs.loops import Choices, Irreducible, Shape, shape_of, stuck, two_entries, unreachable
from tests.programs.wild import wild_flow

more = settings(max_examples=3 * settings.default.max_examples)
seeds = st.integers(0, 2**32)


def account_of(graph: Graph, inputs: dict[str, object], salt: int = 0) -> Account:
    try:
        return contracted(graph, inputs, salt=salt)
    except Endless:
        assume(False)
        raise


# --- the reader itself ----------------------------------------------------------------------------------------


def told(ways: list[Plain | Routes], *steps: Step) -> Account:
    return contracted(Graph(steps, tuple(ways)), {"a": 2})


def start(*names: str) -> list[Plain | Routes]:
    return [Plain("START", name) for name in names]


def test_a_loop_is_read_iteration_by_iteration() -> None:
    account = told(
        [*start("n"), Plain("n", "m"), Routes("m", (("again", ("n",)), ("on", ("END",))))],
        Step("n", writes=("total",)),
        Step("m", chooses="sets", routes=("again",), calm="on"),
    )

    assert set(account.ran) == {(name, (turn,)) for name in "nm" for turn in (1, 2, 3)}
    total = sum(behaviour(Step("n", writes=("total",)), (turn,), {}).delta["total"] for turn in (1, 2, 3))
    assert account.states == ({"a": 2, "b": 1, "bag": [0], "total": total},)


def test_concurrent_writes_of_a_plain_key_conflict_where_they_meet() -> None:
    left, right = Step("l", writes=("c",)), Step("r", writes=("c",))

    apart = told([*start("l", "r"), Plain("l", "j"), Plain("r", "j")], left, right, Step("j", writes=("c",)))
    chosen = told(
        [*start("n"), Routes("n", (("x", ("l",)), ("y", ("r",))))],
        Step("n", chooses="returns", routes=("y",)),
        left,
        right,
    )

    assert apart.endings == {"StateConflictError"}
    assert ("j", ()) not in apart.ran
    assert apart.states == ({"a": 2, "b": 1, "bag": [0]},)
    assert chosen.endings == {"completed"}
    assert set(chosen.ran) == {("n", ()), ("r", ())}


def test_updates_of_concurrent_paths_are_applied_once_in_order_of_declaration() -> None:
    left, right = Step("l", writes=("log",)), Step("r", writes=("log",))
    after = Step("j", writes=("log",))

    account = told([*start("r", "l"), Plain("l", "j"), Plain("r", "j")], right, left, after)

    expected = [behaviour(step, (), {}).delta["log"] for step in (right, left, after)]
    assert account.states[0]["log"] == expected


def test_what_stands_beside_a_failure_may_have_run() -> None:
    account = told(
        [*start("n"), Plain("n", "m"), Plain("n", "o")],
        Step("n", writes=("e",)),
        Step("m", reads=("c",)),
        Step("o", writes=("d",)),
    )

    assert account.endings == {"AbsentKeyError"}
    assert set(account.ran) == {("n", ()), ("o", ())}
    assert set(account.surely) == {("n", ())}
    assert all("d" not in state for state in account.states)
    assert "e" in account.states[-1]


def test_an_edge_out_of_a_loop_that_is_not_taken_settles_when_the_loop_ends() -> None:
    """`p` has an edge from inside the loop and one from beside it: it runs once, however often the loop goes round."""
    account = told(
        [*start("h", "q"), Routes("h", (("again", ("h",)), ("out", ("p",)))), Plain("q", "p")],
        Step("h", writes=("total",), chooses="sets", routes=("again",), calm="out"),
        Step("q"),
        Step("p", reads=("total",)),
    )

    assert account.endings == {"completed"}
    assert sorted(account.ran) == [("h", (1,)), ("h", (2,)), ("h", (3,)), ("p", ()), ("q", ())]


def test_an_unknown_route_needs_a_default() -> None:
    router = Step("n", chooses="returns", routes=("x",))

    without = told([*start("n"), Routes("n", (("y", ("m",)),)), Plain("n", "o")], router, Step("m"), Step("o"))
    defaulted = told([*start("n"), Routes("n", (("y", ("m",)), (DEFAULT, ("o",))))], router, Step("m"), Step("o"))

    assert without.endings == {"RouteError"}
    assert set(without.ran) == {("n", ()), ("o", ())}
    assert set(without.surely) == {("n", ())}
    assert set(defaulted.ran) == {("n", ()), ("o", ())}
    assert defaulted.endings == {"completed"}


# --- the scheduler --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@more
@given(seed=seeds, order=st.integers(0, 5), tame=st.booleans(), given_d=st.booleans())
def test_free_form_graphs_end_as_the_contracted_graph_does(
    seed: int, order: int, tame: bool, given_d: bool, backend: str
) -> None:
    graph = sound_graph(Random(seed), tame=tame)
    inputs: dict[str, object] = {"a": 2, "d": 1} if given_d else {"a": 2}
    account = account_of(graph, inputs)
    program = GraphProgram(graph, order)

    agree_result(account, result_of(program, inputs, backend), program.ran)


# --- what the check refuses -----------------------------------------------------------------------------------


def codes(graph: Graph) -> set[str]:
    return {finding.code for finding in GraphProgram(graph).flow().check()}


def natural(graph: Graph) -> Shape | None:
    try:
        return shape_of(graph)
    except Irreducible:
        return None


@more
@given(seed=seeds, odd=st.booleans())
def test_refused_are_the_graphs_that_would_misbehave(seed: int, odd: bool) -> None:
    """GF106: a cycle with two entries. GF109: a choice of routes lets a loop go round and leave in one iteration."""
    graph = (odd_graph if odd else random_graph)(Random(seed))
    assume(not unreachable(graph))

    found = codes(graph)

    assert ("GF106" in found) == two_entries(graph)
    shape = natural(graph)
    assert (shape is None) == two_entries(graph)
    if shape is not None:
        assert ("GF109" in found) == bool(Choices(graph, shape).left_by_fork())


def test_a_default_is_taken_beside_known_routes() -> None:
    """Of two routes one is known and goes round, and the other takes the default out: GF109."""
    router = Step("n", chooses="several", routes=("again", "x"))
    ways = (Plain("START", "n"), Routes("n", (("again", ("n",)), (DEFAULT, ("END",)))))

    assert "GF109" in codes(Graph((router,), ways))


@more
@given(seed=seeds)
def test_lost_steps_and_endless_cycles_are_found(seed: int) -> None:
    """GF104 at each step that START does not lead to, GF105 where END cannot be reached; the second hides the first."""
    graph = odd_graph(Random(seed))
    assume(not two_entries(graph))
    findings = GraphProgram(graph).flow().check()

    lost = {finding.node.rpartition("/")[2] for finding in findings if finding.code == "GF104" and finding.node}
    endless = stuck(graph) - unreachable(graph)
    assert any(finding.code == "GF105" for finding in findings) == bool(endless)
    if not endless:
        assert lost == unreachable(graph)


# --- no program hangs -----------------------------------------------------------------------------------------


@more
@given(seed=seeds)
def test_every_program_ends(seed: int) -> None:
    """However odd it is: its steps fail, halt, escalate, stray and choose unknown routes; its graphs need not make sense."""
    anyio.run(ending_of_odd, wild_flow(Random(seed)))
