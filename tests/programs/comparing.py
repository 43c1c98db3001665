"""Whether a run is one of those that a reader of its program expects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import partial

import anyio

from graphflow import Limits, Result, RunFailed
from graphflow.runtime.journal import fold
from tests.programs.contracting import Account, Ran
from tests.programs.graphs import GraphProgram
from tests.programs.trees import KEYS

MERGES = {key.name: key.merge for key in KEYS if key.merge is not None}
RESERVED = ("out:", "route:", "in:")


def users_own(state: Mapping[str, object]) -> dict[str, object]:
    """A state without the keys in which nodes hand values and routes to each other."""
    return {key: value for key, value in state.items() if not key.startswith(RESERVED)}


def result_of(
    program: GraphProgram, inputs: Mapping[str, object], backend: str, limits: Limits | None = None
) -> Result:
    """Run a program on an event loop; a failed run gives its result too."""
    program.ran.clear()
    try:
        return anyio.run(partial(program.flow().run, inputs, check="off", limits=limits), backend=backend)
    except RunFailed as failure:
        return failure.result


def ending_of(result: Result) -> str:
    """The status, or the name of what failed the run."""
    return type(result.error).__name__ if result.status == "failed" else result.status


def agree(account: Account, ending: str, state: Mapping[str, object], ran: Iterable[Ran]) -> None:
    """Assert that a run is one of those accounted for."""
    counted = Counter(ran)
    assert ending in account.endings
    assert users_own(state) in account.states
    assert counted <= account.ran
    assert account.surely <= counted


def agree_result(account: Account, result: Result, ran: Iterable[Ran]) -> None:
    """Assert that a result is one of those accounted for, and that its journal says the same."""
    agree(account, ending_of(result), result.state, ran)
    assert fold(result.journal.records, MERGES).root == result.state
