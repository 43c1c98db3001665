"""`graphflow.contracts.source`: what is read off random functions covers what they do when they are run."""

from __future__ import annotations

import re
from contextlib import suppress
from types import SimpleNamespace

from hypothesis import HealthCheck, assume, given, note, settings
from hypothesis import strategies as st

from graphflow.contracts.source import facts_of
from tests.contracts.drawn import KEYS, Choices, Enough, Observed, programs
from tests.contracts.sources import function


@given(
    programs(), st.lists(st.tuples(st.sets(st.sampled_from(KEYS)), st.lists(st.booleans(), max_size=12)), max_size=6)
)
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_what_a_function_does_is_what_its_contract_says(source: str, runs: list[tuple[set[str], list[bool]]]) -> None:
    """Whatever it is given and whatever is chosen: no access outside the contract, and sure writes are made.

    All keys are constants, so that the contract is never open.
    """
    note(source)
    body = function(source, suppress=suppress)
    found = facts_of(body, "ctx")
    assume(found.open != ("it is too long to be followed",))
    assert not found.open
    for held, answers in runs:
        state = Observed(dict.fromkeys(held, 1))
        ctx = SimpleNamespace(state=state, session=SimpleNamespace(state=state))
        ended = False
        try:
            body(ctx, Choices(list(answers)))
            ended = True
        except (Enough, KeyError, ValueError, TypeError, UnboundLocalError, NameError, RecursionError):
            pass
        assert state.delta.keys() <= found.writes.keys()
        assert state.reads <= found.reads.keys()
        if ended:
            assert found.sure <= state.delta.keys()
        elif state.missed:
            asks = re.search(r"\bin s\b|in ctx|\.get\(|pop\(|setdefault|except|suppress", source)
            assert asks or not any(found.reads[key] for key in state.missed)
