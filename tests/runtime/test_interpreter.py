"""The scheduler against a reader's own understanding of the semantics, on random trees and orders of completion."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.programs.interpreter import meaning
from tests.programs.kinds import INPUTS, Tree
from tests.programs.running import Told, run_program
from tests.programs.strands import TooLong
from tests.programs.trees import Program, random_tree
from tests.programs.watching import crowds, hasty_pauses

more = settings(max_examples=2 * settings.default.max_examples)
seeds = st.integers(0, 2**32)
inputs_drawn = st.fixed_dictionaries(
    {"a": st.just(2)},
    optional={
        "d": st.just(1),
        "few": st.lists(st.integers(0, 4), max_size=3),
        "box": st.lists(st.integers(0, 4), max_size=3).map(lambda few: {"few": few}),
    },
)
Inputs = dict[str, object]


def agree(tree: Tree, program: Program, inputs: Inputs, told: Told) -> None:
    """Assert that a run is what a reader of its program expects, given what time has decided."""
    try:
        expected = meaning(tree, inputs, told.clock)
    except TooLong:
        assume(False)
        raise
    assert told.ending == expected.ending
    assert told.state == expected.state
    assert expected.faults == []
    began = Counter((name, turns, one.attempt) for (name, turns), all_ in told.clock.executions.items() for one in all_)
    assert began == Counter((run.name, run.turns, run.attempt) for run in expected.runs)
    ran, own = Counter(program.ran), {name for name, _, _ in program.ran}
    ended = {(run.name, run.turns, run.attempt) for run in expected.runs if run.what.how in ("committed", "failed")}
    assert ran <= began
    assert all(ran[one] == 1 for one in ended if one[0] in own)
    assert max(Counter(program.steps).values(), default=1) == 1
    assert crowds(told.machine.plan, told.journal.records) == []
    assert hasty_pauses(told.machine.plan, told.journal.records) == []


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@given(random=st.randoms(use_true_random=False), seed=st.integers(0, 5), tame=st.booleans(), given_d=st.booleans())
def test_random_trees_end_as_the_semantics_say(random: Random, seed: int, tame: bool, given_d: bool, backend: str):
    """Sequences, branches, loops, conditionals and gates."""
    tree = random_tree(random, 4, tame=tame)
    inputs = {key: value for key, value in INPUTS.items() if key == "a" or given_d}
    program = Program(tree, seed)

    agree(tree, program, inputs, run_program(program, inputs, backend, random))


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@more
@given(draw=seeds, seed=st.integers(0, 50), tame=st.booleans(), inputs=inputs_drawn)
def test_every_kind_of_agent_does_what_the_semantics_say(
    draw: int, seed: int, tame: bool, inputs: Inputs, backend: str
) -> None:
    """Maps, sub-flows, custom agents, questions, attempts, handlers and policies too."""
    random = Random(draw)
    tree = random_tree(random, 3, tame=tame, every=True)
    program = Program(tree, seed)
    told = run_program(program, inputs, backend, random)
    assume(told.ending != "LimitExceeded")

    agree(tree, program, inputs, told)
