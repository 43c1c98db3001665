"""Every code at every kind of place: caught by a planted program, or with the reason why it cannot be there.

`pytest tests/checker/test_table.py -s` prints the table. The programs are those of `test_rules`, which has one for each rule.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

import graphflow
from graphflow import (
    START,
    BaseAgent,
    Flow,
    FunctionAgent,
    Key,
    MapAgent,
    ParallelAgent,
    SequentialAgent,
    SubFlow,
    Workflow,
)
from graphflow.checker.engine import rule_of
from graphflow.checker.rules import ALL_RULES
from tests.checker.test_rules import HEAD, PLANTED

Options = Mapping[str, Any]


class Runs(BaseAgent):
    """Runs its child once."""

    part: Any

    async def run(self, ctx: graphflow.Context) -> Any:
        async for event in ctx.run(self.part):
            yield event


def _nothing() -> dict[str, object]:
    return {}


def _first() -> FunctionAgent:
    return FunctionAgent("first", _nothing, reads=[], writes=[])


def _mapped(root: Any, options: Options) -> Flow:
    elements = Key("elements", list[str], default=[])
    return Flow(
        MapAgent("around", over="elements", agent=root), **{**options, "keys": [*options.get("keys", ()), elements]}
    )


def _inside(root: Any, options: Options) -> Flow:
    names = [name.removesuffix("?") for name in options.get("inputs") or ()]
    outputs = [name.removesuffix("?") for name in options.get("outputs") or ()]
    inner = SubFlow("around", Flow(root, **options), inputs={n: n for n in names}, outputs={n: n for n in outputs})
    return Flow(inner, inputs=options.get("inputs"), outputs=outputs)


PLACES: dict[str, Callable[[Any, Options], Flow]] = {
    "top level": lambda root, options: Flow(root, **options),
    "nested": lambda root, options: Flow(SequentialAgent("outer", [ParallelAgent("around", [root])]), **options),
    "workflow": lambda root, options: Flow(Workflow("around", [(START, _first(), root)]), **options),
    "map": _mapped,
    "sub-flow": _inside,
    "custom": lambda root, options: Flow(Runs(name="around", part=root), **options),
}

ABOUT_FLOWS = ("GF208", "GF211")
"""What is said of a flow, whatever is inside."""

# (code, place) -> definitions, root and options of a program that shows it there, where that of `test_rules` does not
INSTEAD: dict[tuple[str, str], tuple[str, str, str]] = {
    ("GF211", "custom"): ('a = LlmAgent(name="a", instruction="x")', "a", 'outputs=["k"]'),
    ("GF702", "map"): (
        ('a = LlmAgent(name="a", instruction="x", output_key="k")\n'
         'b = LlmAgent(name="b", instruction="y", output_key="j")\n'
         'c = LlmAgent(name="c", instruction="{k} {j}")'),
        'SequentialAgent("s", [a, b, c])', "",
    ),
}  # fmt: skip

# (code, place) -> why it cannot be there
NOWHERE: dict[tuple[str, str], str] = {
    ("GF206", "sub-flow"): "begins afresh: nothing of an earlier run is in it",
    ("GF211", "sub-flow"): "what it owes is read where it ends: GF202",
    ("GF212", "custom"): "its code is given the answer",
}


def planted(code: str, place: str) -> Flow:
    """Build the program that shows a code at a place."""
    definitions, root, options, *_ = (*INSTEAD.get((code, place), ()), *PLANTED[code])
    program = f"{HEAD}{definitions}\nroot = {root}\noptions = dict({options})\n"
    linecache.cache["<table>"] = (len(program), None, program.splitlines(keepends=True), "<table>")
    scope: dict[str, Any] = {"__name__": "planted"}
    exec(compile(program, "<table>", "exec"), scope)
    return PLACES[place](scope["root"], scope["options"])


def is_caught(code: str, place: str) -> bool:
    """Whether the planted program is caught there, at a node inside what is around it if it is about a node."""
    report = planted(code, place).check(profile=rule_of(code).profile)
    found = [finding for finding in report if finding.code == code]
    return any(place == "top level" or "around" in finding.node or code in ABOUT_FLOWS for finding in found)


def rows() -> Iterator[tuple[str, dict[str, str]]]:
    """Each code with what is said of it at each place."""
    for rule in ALL_RULES:
        cells = {}
        for place in PLACES:
            reason = NOWHERE.get((rule.code, place))
            cells[place] = reason or ("caught" if is_caught(rule.code, place) else "MISSED")
        yield rule.code, cells


def test_each_code_is_caught_at_each_place_where_it_can_be() -> None:
    table = dict(rows())
    print()
    print(f"| code | {' | '.join(PLACES)} |")
    for code, cells in table.items():
        print(f"| {code} | {' | '.join(cells.values())} |")
    missed = [(code, place) for code, cells in table.items() for place, cell in cells.items() if cell == "MISSED"]
    assert missed == []


@pytest.mark.parametrize(("code", "place"), NOWHERE)
def test_what_cannot_be_at_a_place_is_not_said_there(code: str, place: str) -> None:
    """A reason that has become wrong is found."""
    assert not is_caught(code, place)
