"""A finding rests on nothing that a stage with an open contract may read, write or end: each rule beside such a stage."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from typing import Any

import pytest

from graphflow import Context, Flow, FunctionAgent, LoopAgent, ParallelAgent, SequentialAgent
from graphflow.checker.engine import rule_of
from graphflow.checker.rules import ALL_RULES
from tests.checker.test_rules import HEAD, PLANTED


def anything(ctx: Context) -> None:
    ctx.state.update(ctx.deps)


PLACES: dict[str, Callable[[Any, Any], Any]] = {
    "before": lambda root, opened: SequentialAgent("around", [opened, root]),
    "after": lambda root, opened: SequentialAgent("around", [root, opened]),
    "beside": lambda root, opened: ParallelAgent("around", [root, opened]),
    "in a loop with": lambda root, opened: LoopAgent("around", [root, opened], max_iterations=2),
}
WRITTEN = ("GF201", "GF202", "GF205", "GF206", "GF213", "GF302", "GF403", "GF405", "GF504", "GF505", "GF506")
"""About a key that the stage may have written before."""
READ = ("GF203",)
"""About a key that the stage may read afterwards."""
EITHER = ("GF208", "GF211")
"""About what enters the flow, which a stage may read anywhere, and what leaves it, which a stage may write anywhere."""
SILENT = {
    "before": {*WRITTEN, *EITHER},
    "after": {*READ, *EITHER},
    "beside": {*EITHER},
    "in a loop with": {*WRITTEN, *READ, *EITHER, "GF503"},
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("code", [rule.code for rule in ALL_RULES])
def test_nothing_rests_on_what_cannot_be_known(code: str, place: str) -> None:
    """A rule is silent where the stage may change what it says, and speaks where it cannot."""
    definitions, root, options, *_ = PLANTED[code]
    program = f"{HEAD}{definitions}\nroot = {root}\noptions = dict({options})\n"
    linecache.cache["<open>"] = (len(program), None, program.splitlines(keepends=True), "<open>")
    scope: dict[str, Any] = {"__name__": "planted"}
    exec(compile(program, "<open>", "exec"), scope)
    flow = Flow(PLACES[place](scope["root"], FunctionAgent("opened", anything)), **scope["options"])
    report = flow.check(profile=rule_of(code).profile)
    said = any(finding.code == code and "opened" not in finding.node for finding in report)
    assert said is not (code in SILENT[place]), str(report)
    assert [finding.node for finding in report if finding.code == "GF210" and "opened" in finding.node] == [
        "around/opened"
    ]
