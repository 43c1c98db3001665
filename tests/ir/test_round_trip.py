"""Graphs and conditions as text and back: nothing is lost, nothing is invented, and no text at all breaks the reader."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphflow.conditions import Condition, parse_condition, text
from graphflow.errors import UsageError
from graphflow.ir.graph import Graph, verify
from graphflow.ir.reading import parse_graph
from graphflow.ir.text import print_graph
from graphflow.passes import run_passes
from tests.ir.drawn import CONDITIONS, bare, graphs
from tests.programs.trees import Program, random_tree

SEEDS = st.integers(0, 10**9)
EXAMPLES = 3 * (settings.default or settings()).max_examples


def program(seed: int) -> Graph:
    """A linked graph of a random tree."""
    return run_passes(Program(random_tree(Random(seed), 4), None).flow().graph)


@given(SEEDS)
def test_a_program_is_what_its_text_says(seed: int) -> None:
    graph = program(seed)
    read = parse_graph(print_graph(graph))
    assert read == graph
    assert bare(read) == bare(graph)
    assert print_graph(read) == print_graph(graph)


@given(graphs())
@settings(max_examples=EXAMPLES)
def test_a_graph_is_what_its_text_says(graph: Graph) -> None:
    verify(graph)
    printed = print_graph(graph)
    read = parse_graph(printed)
    assert bare(read) == bare(graph)
    assert read == graph
    assert hash(read) == hash(graph)
    assert print_graph(read) == printed


@given(graphs(), st.booleans(), st.booleans())
def test_what_is_left_out_of_a_text_stays_out(graph: Graph, state: bool, models: bool) -> None:
    printed = print_graph(graph, state=state, models=models)
    assert print_graph(parse_graph(printed), state=state, models=models) == printed
    printed.encode()


@given(CONDITIONS)
@settings(max_examples=EXAMPLES)
def test_a_condition_is_what_its_text_says(condition: Condition) -> None:
    printed = text(condition, exact=True)
    assert printed.isprintable()
    read = parse_condition(printed)
    assert bare(read) == bare(condition)
    assert text(read, exact=True) == printed


@given(CONDITIONS, CONDITIONS)
def test_conditions_that_differ_have_different_texts(left: Condition, right: Condition) -> None:
    assert (text(left, exact=True) == text(right, exact=True)) is (bare(left) == bare(right))


@given(graphs(), graphs())
def test_graphs_that_differ_have_different_texts(left: Graph, right: Graph) -> None:
    same = print_graph(left, state=False) == print_graph(right, state=False)
    assert same is (left == right) is (bare(replace(left, state=())) == bare(replace(right, state=())))


CASES = sorted((Path(__file__).parent.parent / "golden" / "cases").glob("*.txt"))


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.stem)
def test_the_graph_of_every_golden_case_is_read(case: Path) -> None:
    printed = case.read_text(encoding="utf-8").partition("==== graph\n")[2].partition("\n====")[0].strip("\n") + "\n"
    assert print_graph(parse_graph(printed)) == printed


PIECES = [
    "",
    "\n",
    " ",
    "(",
    ")",
    "[",
    "]",
    "{",
    '"',
    "'",
    "`",
    "\\",
    "\\u12",
    ", ",
    ": ",
    " -> ",
    "?",
    "<",
    ">",
    "=",
    "1" * 5000,
]
PIECES += [
    "not ",
    " and ",
    " or ",
    "key(",
    "len(",
    "reads",
    " within ",
    " items",
    " open",
    " back",
    "\0",
    "\ud800",
    "é",
    "0x",
    "b'é'",
]


@st.composite
def mutated(draw: st.DrawFn, source: st.SearchStrategy[str]) -> str:
    """A text with some places cut out, doubled or filled with something else."""
    found = draw(source)
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(found)))
        end = draw(st.integers(start, min(len(found), start + 30)))
        middle = draw(st.sampled_from([*PIECES, found[start:end] * 2]) | st.text(max_size=2))
        found = found[:start] + middle + found[end:]
    return found


def assert_says_where(refused: UsageError, *beginnings: str) -> None:
    assert str(refused).startswith(beginnings)


@given(mutated(graphs().map(print_graph) | SEEDS.map(lambda seed: print_graph(program(seed)))))
@settings(max_examples=EXAMPLES)
def test_any_text_gives_a_graph_or_says_what_is_wrong(found: str) -> None:
    try:
        graph = parse_graph(found)
    except UsageError as refused:
        assert_says_where(refused, "graph, line ", "graph: ")
        return
    verify(graph)
    assert parse_graph(print_graph(graph)) == graph


@given(mutated(CONDITIONS.map(lambda condition: text(condition, exact=True))) | st.text())
@settings(max_examples=EXAMPLES)
def test_any_text_gives_a_condition_or_says_what_is_wrong(found: str) -> None:
    try:
        condition = parse_condition(found)
    except UsageError as refused:
        assert_says_where(refused, "condition, line ")
        return
    printed = text(condition, exact=True)
    assert text(parse_condition(printed), exact=True) == printed


DEEP = [
    "(" * 10**5,
    "not " * 10**5 + "a",
    "a == " + "[" * 10**5,
    "a == " + "(" * 10**5,
    "a == " + "{" * 10**5,
    "a." * 10**5,
]
DEEP += [
    "(a and " * 10**5,
    "a == x" + "(" * 10**5,
    "call:f(" + "a, " * 10**5,
    "a == '" + "\\" * 10**5,
    "a" * 10**6,
    "len(" * 10**5,
]
DEEP += ["a == " + "9" * 10**5, "(" + " and ".join(["a"] * 10**4), "a == frozenset(" * 10**5, "(not " * 10**5]


@pytest.mark.parametrize("condition", DEEP, ids=lambda found: found[:12])
def test_no_size_or_depth_breaks_the_reader(condition: str) -> None:
    with contextlib.suppress(UsageError):
        text(parse_condition(condition), exact=True)
    for line in (
        f"loop a#header until {condition}",
        f"input a: {condition}",
        f"edge {condition}",
        f"key a: str = {condition}",
    ):
        with pytest.raises(UsageError):
            parse_graph(f'graphflow-ir 1 "g"\n{line}\n')


SCRIPT = """
from tests.ir.test_round_trip import SEEDED, program
from graphflow.ir.text import print_graph
from graphflow.runtime.plan import compile_plan
for seed in SEEDED:
    graph = program(seed)
    print(print_graph(graph), compile_plan(graph).fingerprint)
"""
SEEDED = range(12)


def test_fingerprints_are_the_same_in_every_process() -> None:
    printed = set()
    for seed in ("0", "1", "77"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(Path.cwd())}
        command = [sys.executable, "-c", SCRIPT]
        printed.add(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)
    assert len(printed) == 1
    assert all(print_graph(program(seed)) in next(iter(printed)) for seed in SEEDED)
