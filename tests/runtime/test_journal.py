"""The journal is the truth: folded after any number of records it gives the state that the machine had then."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from graphflow.runtime.journal import (
    KIND_OF,
    Choice,
    Record,
    RunEnded,
    RunStarted,
    TaskCommitted,
    TaskFailed,
    TaskStarted,
    fold,
)
from graphflow.runtime.machine import Machine
from graphflow.runtime.messages import Outcome
from graphflow.schema import Merge
from tests.programs.hand import by_hand
from tests.programs.interpreter import meaning
from tests.programs.trees import INPUTS, KEYS, Program, random_tree

MERGES = {key.name: key.merge for key in KEYS if key.merge is not None}
DEFAULTS = {"b": 1, "bag": [0]}


@given(random=st.randoms(use_true_random=False), tame=st.booleans())
def test_folding_any_prefix_gives_the_state_of_the_root(random: Random, tame: bool) -> None:
    """For random trees and random orders of completion, after each step; and no prefix cannot be folded."""
    tree = random_tree(random, 4, tame=tame)
    records: list[Record] = []

    def check(machine: Machine, outcome: Outcome) -> None:
        for record in outcome.records:
            records.append(record)
            folded = fold(records, MERGES)
        assert folded.root == machine.root.plain()
        assert folded.status == machine.status

    machine = by_hand(Program(tree, None).flow(), {**DEFAULTS, **INPUTS}, random, check=check)

    expected = meaning(tree, INPUTS)
    ending = type(machine.error).__name__ if machine.status == "failed" else machine.status
    assert ending in expected.endings
    assert machine.root.plain() == expected.state
    assert sum(isinstance(record, RunEnded) for record in records) == 1
    assert isinstance(records[-1], RunEnded)


@given(random=st.randoms(use_true_random=False), tame=st.booleans())
def test_every_task_that_starts_ends_once(random: Random, tame: bool) -> None:
    """Each start has exactly one end: committed, failed or cancelled."""
    records: list[Record] = []
    by_hand(
        Program(random_tree(random, 3, tame=tame), None).flow(),
        {**DEFAULTS, **INPUTS},
        random,
        check=lambda machine, outcome: records.extend(outcome.records),
    )
    open_: set[tuple[str, tuple[int, ...]]] = set()
    for record in records:
        if isinstance(record, TaskStarted):
            assert (record.node, record.turns) not in open_
            open_.add((record.node, record.turns))
        elif KIND_OF[type(record)] in ("task_committed", "task_failed", "cancelled"):
            open_.discard((record.node, record.turns))
    assert not open_


def test_an_open_branch_is_folded_beside_the_root() -> None:
    """What a branch wrote is not at the root before the join."""
    records: list[Record] = [
        RunStarted("r", "f", "", {"notes": ["x"]}),
        TaskCommitted("p/a", (), 1, {"notes": "a"}, base=0, scope="p/a", position=(2,)),
        TaskCommitted("p/b", (), 1, {"notes": "b"}, base=0, scope="p/b", position=(3,)),
        Choice("p#join", (), (1, 2)),
        TaskFailed("last", (), 1, "ValueError", "no"),
    ]
    merges = {"notes": Merge.append}

    before, joined = fold(records[:3], merges), fold(records, merges)

    assert before.root == {"notes": ["x"]}
    assert before.open == {"p/a": {"notes": ["x", "a"]}, "p/b": {"notes": ["x", "b"]}}
    assert joined.root == {"notes": ["x", "a", "b"]}
    assert joined.open == {}
