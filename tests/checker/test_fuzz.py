"""Whatever is drawn, the check gives a report: it never raises. `tests.long.malformed` looks at many more.

A graph that is no graph at all is refused where it is read, or verified; what is let pass is checked.
"""

from __future__ import annotations

from random import Random

import pytest

from graphflow import Flow, LlmAgent, LoopAgent, MapAgent, Report, SequentialAgent, UsageError, key
from graphflow.checker.engine import check_graph
from graphflow.checker.rules import ALL_RULES
from graphflow.errors import InternalError
from graphflow.ir.graph import Graph, verify
from graphflow.ir.reading import parse_graph
from graphflow.ir.text import print_graph
from tests.checker.fuzzing import Drawing, malformed_flow, malformed_graph, malformed_text
from tests.checker.shapes import shape_faults

CODES = {rule.code for rule in ALL_RULES}
PROFILES = ("graphflow", "adk")
PROGRAMS, GRAPHS = 200, 150
BATCH = 50
CHANGES = 4


def assert_reported(flow: Flow) -> Report:
    """Check a program; what comes out has to be a report that can be printed."""
    reports = [flow.check(profile=profile) for profile in PROFILES]
    for report in reports:
        assert isinstance(report, Report)
        assert str(report)
        assert all(finding.code in CODES and finding.message for finding in report)
    return reports[0]


def is_text_read(text: str) -> bool:
    """Read the text of a graph; what is read and sound is checked. Says whether it was."""
    try:
        graph = parse_graph(text)
    except UsageError:
        return False
    return is_graph_sound(graph)


def is_graph_sound(graph: Graph) -> bool:
    """Check a graph if it keeps the invariants. Says whether it does."""
    try:
        verify(graph)
    except InternalError:
        return False
    if shape_faults(graph):
        return False
    assert str(check_graph(graph))
    return True


@pytest.mark.parametrize("start", range(0, PROGRAMS, BATCH))
def test_a_malformed_program_gives_a_report(start: int) -> None:
    for number in range(start, start + BATCH):
        assert_reported(malformed_flow(Random(f"fuzz/{number}")))


@pytest.mark.parametrize("start", range(0, GRAPHS, BATCH))
def test_a_malformed_graph_is_refused_or_gives_a_report(start: int) -> None:
    checked = read = 0
    for number in range(start, start + BATCH):
        graph = Drawing(Random(f"graph/{number}")).flow(2).graph
        assert not shape_faults(graph), "lowering keeps the invariants, whatever it is given"
        for change in range(CHANGES):
            checked += is_graph_sound(malformed_graph(Random(f"graph/{number}/{change}"), graph))
            read += is_text_read(malformed_text(Random(f"text/{number}/{change}"), print_graph(graph)))
    assert checked > BATCH, "most changes should leave a graph that is worth checking"
    assert read


def test_what_is_drawn_is_malformed_in_many_ways() -> None:
    """The programs are worth checking: most rules have something to say about one of them."""
    codes = {code for number in range(PROGRAMS) for code in malformed_flow(Random(f"fuzz/{number}")).check().codes}
    assert len(codes) > len(CODES) // 2, sorted(CODES - codes)


def linked(program: Flow, *changes: tuple[str, str]) -> str:
    """The text of a program, changed here and there."""
    text = print_graph(program.graph, state=False)
    for old, new in changes:
        assert old in text, text
        text = text.replace(old, new, 1)
    return text


STEP = LlmAgent("a", instruction="x", model="gemini-2.5-flash")
LOOPS = Flow(LoopAgent("l", [STEP], max_iterations=2, until=key("v")))
MAPS = Flow(SequentialAgent("s", [MapAgent("m", over="v", agent=STEP.clone()), STEP.clone({"name": "b"})]))


@pytest.mark.parametrize(
    ("program", "change", "fault"),
    [
        (LOOPS, ("edge l#header -> l#exit [exit]", "edge l#header -> l/a [exit]"), "which is inside"),
        (LOOPS, ("edge @entry -> l#header", "edge @entry -> l/a"), "which is no way round it"),
        (LOOPS, ("reads v: Any", ""), "looks at `v`"),
        (MAPS, (" [empty]", " [next]"), "the map `s/m#fork` has edges"),
        (MAPS, ("edge s/m/a -> s/m#join", "edge s/m/a -> s/b"), "past `s/m#fork`"),
        (MAPS, ("writes item: Any", ""), "gives `item`"),
    ],
)
def test_a_graph_that_no_agents_make_is_known(program: Flow, change: tuple[str, str], fault: str) -> None:
    assert shape_faults(parse_graph(linked(program))) == []
    faults = shape_faults(parse_graph(linked(program, change)))
    assert any(fault in each for each in faults), faults


def test_an_answer_of_no_type_is_refused_at_once() -> None:
    with pytest.raises(TypeError, match="output_schema"):
        LlmAgent(name="a", output_schema=["text"])
