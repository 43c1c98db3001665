"""Lines of control lead where control leads, without the nodes that only split and unite."""

from __future__ import annotations

from collections.abc import Iterable

from hypothesis import given

from graphflow import ConditionalAgent, Flow, LoopAgent, ParallelAgent, SequentialAgent, key
from graphflow.agents import Agent
from graphflow.ir.graph import Graph
from graphflow.ir.nodes import Fork, Join, LoopHeader
from graphflow.render.keys import carried
from graphflow.render.routes import Route, routes
from tests.render.flows import code, invoice, support, trees


def lines_of(graph: Graph) -> set[tuple[str, str, str, tuple[str, ...]]]:
    return {(line.source, line.target, line.kind, line.labels) for line in routes(graph)}


def reachable(start: str, edges: Iterable[tuple[str, str]]) -> set[str]:
    onward: dict[str, list[str]] = {}
    for source, target in edges:
        onward.setdefault(source, []).append(target)
    found: set[str] = set()
    pending = [start]
    while pending:
        new = [target for target in onward.get(pending.pop(), ()) if target not in found]
        found.update(new)
        pending.extend(new)
    return found


@given(trees())
def test_reachability(root: Agent) -> None:
    """From each agent the lines lead to exactly those agents that control leads to."""
    graph = Flow(root).graph
    lines = routes(graph)
    agents = [id_ for id_, node in graph.nodes.items() if not isinstance(node, Fork | Join | LoopHeader)]
    for id_ in agents:
        expected = reachable(id_, ((edge.source, edge.target) for edge in graph.edges))
        found = reachable(id_, ((line.source, line.target) for line in lines))
        assert found & set(agents) == expected & set(agents)


@given(trees())
def test_back_lines(root: Agent) -> None:
    """Without the lines that lead back there is no cycle, and they exist exactly where the graph has back edges."""
    graph = Flow(root).graph
    lines = routes(graph)
    onward = [(line.source, line.target) for line in lines if line.kind != "back"]
    assert all(id_ not in reachable(id_, onward) for id_ in graph.nodes)
    assert any(line.kind == "back" for line in lines) == any(edge.back for edge in graph.edges)


@given(trees())
def test_one_line(root: Agent) -> None:
    """Two nodes are joined by at most one line of a kind."""
    lines = routes(Flow(root).graph)
    assert len({(line.source, line.target, line.kind) for line in lines}) == len(lines)


def test_straight_through() -> None:
    """A parallel part needs no dots: the gate leads to each branch, each branch to what follows."""
    graph = invoice().graph
    assert lines_of(graph) == {
        ("@entry", "invoice/extract", "control", ()),
        ("invoice/extract", "invoice/validate", "control", ()),
        ("invoice/validate", "invoice/adds_up", "control", ()),
        ("invoice/adds_up", "invoice/enrich/risk", "control", ()),
        ("invoice/adds_up", "invoice/enrich/order", "control", ()),
        ("invoice/enrich/risk", "invoice/decide", "control", ()),
        ("invoice/enrich/order", "invoice/decide", "control", ()),
        ("invoice/decide", "@exit", "control", ()),
    }


def test_parallel_after_parallel() -> None:
    """Where many meet many, one dot saves lines."""
    first = ParallelAgent("first", [code("a"), code("b")])
    second = ParallelAgent("second", [code("c"), code("d")])
    found = lines_of(Flow(SequentialAgent("root", [first, second])).graph)
    dots = {target for _, target, _, _ in found if "#" in target}
    assert len(dots) == 1
    assert {source for source, target, _, _ in found if target in dots} == {"root/first/a", "root/first/b"}


def test_loop_with_exit_test() -> None:
    """The exit test stands at the end of the body, and leads back to its first agent."""
    found = lines_of(support().graph)
    header = "support/route/bug_path/research/refine#header"
    body = "support/route/bug_path/research/refine"
    assert (f"{body}/score_it", header, "control", ()) in found
    assert (header, f"{body}/draft", "back", ("no, up to 3",)) in found
    assert (header, "support/route/bug_path/answer_bug", "control", ("yes or after 3",)) in found
    assert not any(target == header and source != f"{body}/score_it" for source, target, _, _ in found)


def test_loop_without_exit_test() -> None:
    """Without an exit test the end of the body leads back and out, and says when."""
    loop = LoopAgent("again", [code("a"), code("b")], max_iterations=4)
    assert lines_of(Flow(SequentialAgent("root", [loop, code("c")])).graph) >= {
        ("root/again/b", "root/again/a", "back", ("up to 4",)),
        ("root/again/b", "root/c", "control", ("after 4",)),
    }


def test_exhausted() -> None:
    """An agent for the bound is entered from the exit test, labelled with the bound."""
    loop = LoopAgent("again", [code("a", {}, {"k": int})], max_iterations=4, until=key("k") > 1, on_exhausted=code("x"))
    found = lines_of(Flow(loop).graph)
    assert ("again#header", "again/x", "control", ("after 4",)) in found
    assert ("again#header", "@exit", "control", ("yes",)) in found


def test_arms() -> None:
    """The lines out of a conditional carry its cases; equal ways share a line."""
    arms = ConditionalAgent("pick", on=key("k"), cases={"A": code("a"), 2: code("b")})
    found = lines_of(Flow(arms).graph)
    assert {labels for source, _, _, labels in found if source == "pick#branch"} == {("A",), ("2",)}
    when = ConditionalAgent("pick", when=key("k") == 1, then=code("a"), otherwise=code("b"))
    found = lines_of(Flow(when).graph)
    assert {(target, labels) for source, target, _, labels in found if source == "pick#branch"} == {
        ("pick/a", ("yes",)),
        ("pick/b", ("no",)),
    }


@given(trees())
def test_every_key_once(root: Agent) -> None:
    """Each state edge is on exactly one line, which enters its reader."""
    graph = Flow(root, inputs={"topic": str}).graph
    placed = carried(graph, routes(graph))
    asked = {
        (edge.reader, edge.key)
        for edge in graph.state
        if any(read.key == edge.key and not read.implicit for read in graph.nodes[edge.reader].contract.reads)
    }
    on_control = {(line.target, item.key) for line, items in placed.brought.items() for item in items}
    on_own = {(line.reader, item.key) for line in placed.apart for item in line.keys}
    assert on_control | on_own == asked


def test_key_on_control_line() -> None:
    """A key stands on the line that brings it, also through a gate; what passes other agents has a line of its own."""
    graph = invoice().graph
    placed = carried(graph, routes(graph))
    line = Route("invoice/extract", "invoice/validate")
    assert [item.key for item in placed.brought[line]] == ["fields"]
    assert {(own.writer, own.reader, own.back) for own in placed.apart} == {
        ("invoice/extract", "invoice/enrich/risk", False),
        ("invoice/extract", "invoice/decide", False),
    }


def test_key_round_a_loop() -> None:
    """A key that comes round a loop is on the line back where nothing stands between, else on a line that returns."""
    graph = support().graph
    placed = carried(graph, routes(graph))
    body = "support/route/bug_path/research/refine"
    assert (f"{body}/critic", f"{body}/draft", True) in {(own.writer, own.reader, own.back) for own in placed.apart}
    alone = LoopAgent("again", [code("a", {"k?": str}, {"k": str})], max_iterations=2)
    graph = Flow(alone).graph
    placed = carried(graph, routes(graph))
    assert not placed.apart
    assert [line.kind for line in placed.brought] == ["back"]
