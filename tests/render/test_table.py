"""The stage table has a row for everything that touches a key or is run specially, in the words of the author."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given

from graphflow.cli.table import Stage, contract_table, stages
from graphflow.ir.graph import Graph
from graphflow.ir.nodes import Task
from tests.render.random_graphs import graphs
from tests.render.shapes import SHAPES, Draft, guards, research, short_drafts, story, triage, uses


def rows(graph: Graph) -> list[tuple[str, tuple[str, ...]]]:
    return [(stage.node, stage.runs) for stage in stages(graph)]


def row(graph: Graph, node: str, runs: str) -> Stage:
    return next(stage for stage in stages(graph) if stage.node == node and stage.runs[0] == runs)


@pytest.mark.parametrize("make", SHAPES.values(), ids=SHAPES)
def test_fits(make: Callable[[], Graph]) -> None:
    """The table is at most 80 columns wide, and the same each time."""
    table = contract_table(make())
    assert max(map(len, table.splitlines())) <= 80
    assert table == contract_table(make())


def test_long_words() -> None:
    """Paths are broken between their parts and models stay whole."""
    draft = Draft("long", {"main": "sequence", "main/each_ticket": "sequence"})
    keys = uses({"a_key_with_a_long_name": dict[str, int]}, {"another_one_with_a_long_name": str})
    draft.task("main/each_ticket/handle_it_well", "main/each_ticket", keys, "model", model="gemini-2.5-flash")
    table = contract_table(draft.way("@entry", "main/each_ticket/handle_it_well", "@exit").graph())
    first, second = table.splitlines()[1:3]
    assert first.split()[:2] == ["each_ticket/", "model"]
    assert second.split()[:2] == ["handle_it_well", "gemini-2.5-flash"]


def test_map() -> None:
    """A map reads the list and gives its element; where it ends, it collects."""
    each = row(research(), "each", "map")
    assert each.runs[1] == "3 at once, failures collected"
    assert (each.reads, each.writes) == (("plan: dict",), ("query: str",))
    end = row(research(), "each", "collect")
    assert (end.reads, end.writes) == (("finding: str",), ("findings: list[str]",))


def test_subflow() -> None:
    """The ends of a sub-flow show how keys change their names; inside, they have the inner ones."""
    inputs, outputs = row(short_drafts(), "short", "subflow inputs"), row(short_drafts(), "short", "subflow outputs")
    assert (inputs.reads, inputs.writes) == (("draft: str",), ("text: str",))
    assert (outputs.reads, outputs.writes) == (("summary: str",), ("short_draft: str",))
    assert row(short_drafts(), "short/again", "loop").reads == ("summary: str",)


def test_custom_agent() -> None:
    """The code of a custom agent has a row of its own."""
    assert row(story(), "story", "custom").reads == ("tone: str", "topic: str")


def test_graph() -> None:
    """A choice by a key has a row, one by what a node returned has none; values of nodes before are `node_input`."""
    graph = triage()
    assert row(graph, "classify", "route").reads[0].startswith("category")
    assert row(graph, "refund", "code").reads == ("(node_input): str",)
    assert row(graph, "answer", "model tiny-1").reads == ("(node_input): dict[str, str]",)
    assert row(graph, "approve", "ask").writes[0].startswith("approval")
    table = contract_table(graph)
    assert not [prefix for prefix in ("out:", "in:", "route:") if prefix in table]


def test_guards() -> None:
    """How stages, composites and branches are tried and run is in their rows."""
    assert ("pair", ("parallel", "first of 2, 2 at once, failures collected")) in rows(guards())
    assert ("pair/refine", ("guard", "up to 3 attempts, 30 s each")) in rows(guards())
    assert ("pair/score", ("code", "up to 5 attempts, 2.5 s each")) in rows(guards())
    assert ("pair/score", ("fallback",)) in rows(guards())
    assert row(guards(), "pair/refine", "loop end").writes == ("how: str",)


@given(graphs())
def test_any_graph(graph: Graph) -> None:
    """Each task has a row, whatever the graph is."""
    assert len(stages(graph)) >= sum(isinstance(node, Task) for node in graph.nodes.values())
    assert contract_table(graph).startswith("node")
