"""The journal is the truth: folded after any number of records it gives the state that the machine had then."""

from __future__ import annotations

from collections import Counter
from random import Random

from hypothesis import assume, given
from hypothesis import strategies as st

from graphflow.runtime.journal import (
    KIND_OF,
    Cancelled,
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
from tests.programs.clock import Clock
from tests.programs.hand import by_hand
from tests.programs.interpreter import meaning
from tests.programs.kinds import INPUTS, Par, Tree, parts_of
from tests.programs.running import visible
from tests.programs.trees import Program, random_tree

DEFAULTS = {"b": 1, "bag": [0]}
LISTS = {"few": [3, 1], "box": {"few": [2, 0, 2]}}

trees = st.builds(
    lambda random, tame, every: random_tree(random, 4 - every, tame=tame, every=every, custom=False),
    st.integers(0, 2**32).map(Random),
    st.booleans(),
    st.booleans(),
)


def seen_by_hand(tree: Tree, random: Random) -> tuple[Machine, list[Record], list[int]]:
    """Run a tree, in any order of completion; give its records and the step that made each."""
    records: list[Record] = []
    steps: list[int] = []

    def check(machine: Machine, outcome: Outcome) -> None:
        step = steps[-1] + 1 if steps else 0
        records.extend(outcome.records)
        steps.extend([step] * len(outcome.records))
        if len(records) < 300:
            for end in range(len(records) - len(outcome.records) + 1, len(records) + 1):
                folded = fold(records[:end], machine.ledger.merged)
            assert folded.root == machine.root.plain()
            assert folded.status == machine.status

    machine = by_hand(Program(tree, None).flow(), {**DEFAULTS, **INPUTS, **LISTS}, random, check=check)
    return machine, records, steps


@given(tree=trees, random=st.randoms(use_true_random=False))
def test_folding_any_prefix_gives_the_state_of_the_root(tree: Tree, random: Random) -> None:
    """For random trees and random orders of completion, after each step; and no prefix cannot be folded."""
    machine, records, steps = seen_by_hand(tree, random)

    expected = meaning(tree, {**INPUTS, **LISTS}, Clock(records, steps))
    assert (type(machine.error).__name__ if machine.status == "failed" else machine.status) == expected.ending
    assert visible(machine.root.plain()) == expected.state
    assert expected.faults == []
    assert sum(isinstance(record, RunEnded) and record.status != "paused" for record in records) == 1
    assert isinstance(records[-1], RunEnded)


@given(tree=trees, random=st.randoms(use_true_random=False))
def test_every_task_that_starts_ends_once(tree: Tree, random: Random) -> None:
    """Each start has exactly one end: committed, failed or cancelled; or it waits for an answer and starts anew."""
    _, records, _ = seen_by_hand(tree, random)

    open_: set[tuple[str, tuple[int, ...]]] = set()
    for record in records:
        if isinstance(record, TaskStarted):
            assert (record.node, record.turns) not in open_
            open_.add((record.node, record.turns))
        elif KIND_OF[type(record)] in ("task_committed", "task_failed", "cancelled", "asked"):
            open_.discard((record.node, record.turns))
    assert not open_


@given(tree=trees, first=st.randoms(use_true_random=False), second=st.randoms(use_true_random=False))
def test_the_order_of_completion_decides_nothing_where_nothing_is_left_to_it(
    tree: Tree, first: Random, second: Random
) -> None:
    """Nobody was overtaken, nothing has failed or halted: two runs end alike, and have done the same."""
    assume(not any(isinstance(part, Par) and part.need for part in parts_of(tree)))
    told = [seen_by_hand(tree, random)[:2] for random in (first, second)]
    assume(all(machine.status == "completed" for machine, _ in told))
    assume(not any(isinstance(record, (Cancelled, TaskFailed)) for _, records in told for record in records))

    assert told[0][0].root.plain() == told[1][0].root.plain()
    done = [Counter((r.node, r.turns) for r in records if isinstance(r, TaskCommitted)) for _, records in told]
    assert done[0] == done[1]


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
