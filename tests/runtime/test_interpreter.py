"""The scheduler against a reader's own understanding of the semantics, on random trees and orders of completion."""

from __future__ import annotations

from collections import Counter
from functools import partial
from random import Random

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphflow import RunFailed
from graphflow.runtime.journal import fold
from tests.programs.interpreter import Meaning, meaning
from tests.programs.trees import INPUTS, KEYS, Program, random_tree

MERGES = {key.name: key.merge for key in KEYS if key.merge is not None}


def outcome(program: Program, inputs: dict[str, object], backend: str):
    flow = program.flow()
    try:
        result = anyio.run(partial(flow.run, inputs, check="off"), backend=backend)
    except RunFailed as failure:
        result = failure.result
    ending = type(result.error).__name__ if result.status == "failed" else result.status
    return result, ending


def agree(expected: Meaning, program: Program, inputs: dict[str, object], backend: str) -> None:
    result, ending = outcome(program, inputs, backend)
    ran = Counter(program.ran)

    assert ending in expected.endings
    assert result.state == expected.state
    assert ran <= expected.ran
    assert expected.surely <= ran
    assert fold(result.journal.records, MERGES).root == result.state


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@given(random=st.randoms(use_true_random=False), seed=st.integers(0, 5), tame=st.booleans(), given_d=st.booleans())
def test_random_trees_end_as_the_semantics_say(random: Random, seed: int, tame: bool, given_d: bool, backend: str):
    tree = random_tree(random, 4, tame=tame)
    inputs = {key: value for key, value in INPUTS.items() if key == "a" or given_d}

    agree(meaning(tree, inputs), Program(tree, seed), inputs, backend)
