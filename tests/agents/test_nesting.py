"""Loops are found as dominators find them, and whatever edges are written, the graph is well made."""

from __future__ import annotations

from typing import Any

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from graphflow import DEFAULT_ROUTE, END, START, Flow, LoopAgent, Workflow, agent
from graphflow.agents.nesting import START as BEGIN
from graphflow.agents.nesting import Arc, Nesting, nest
from graphflow.ir.graph import Graph, verify
from graphflow.ir.nodes import Branch, LoopHeader, Task

POINTS = 7
ARCS = st.lists(st.tuples(st.integers(-1, POINTS - 1), st.integers(0, POINTS - 1)), max_size=16)


def made(arcs: list[Arc]) -> nx.DiGraph[int]:
    graph: nx.DiGraph[int] = nx.DiGraph(arcs)
    graph.add_nodes_from(range(POINTS))
    graph.add_node(BEGIN)
    return graph


def reachable(arcs: list[Arc]) -> list[Arc]:
    """The arcs that can be walked from the beginning."""
    seen = nx.descendants(made(arcs), BEGIN) | {BEGIN}
    return [arc for arc in arcs if arc[0] in seen]


def is_reducible(arcs: list[Arc]) -> bool:
    """The textbook's test: without the arcs whose target dominates their source there is no cycle."""
    dominators = nx.immediate_dominators(made(arcs), BEGIN)

    def dominates(point: int, other: int) -> bool:
        while other != point and dominators.get(other, BEGIN) not in (other, None) and other != BEGIN:
            other = dominators[other]
        return other == point

    return nx.is_directed_acyclic_graph(made([arc for arc in arcs if not dominates(arc[1], arc[0])]))


@given(ARCS)
def test_a_cycle_is_irreducible_where_dominators_say_so(arcs: list[Arc]) -> None:
    arcs = reachable(arcs)

    assert bool(nest(POINTS, arcs).irreducible) == (not is_reducible(arcs))


def forward(arcs: list[Arc], nesting: Nesting) -> list[Arc]:
    return [arc for arc in arcs if arc not in nesting.irreducible and not nesting.is_back(*arc)]


@given(ARCS)
def test_the_order_is_topological_and_keeps_loops_together(arcs: list[Arc]) -> None:
    nesting = nest(POINTS, arcs)
    place = {point: index for index, point in enumerate(nesting.order)}

    assert sorted(nesting.order) == list(range(POINTS))
    assert all(place[a] < place[b] for a, b in forward(arcs, nesting) if a != BEGIN)
    for header, loop in nesting.loops.items():
        places = sorted(place[point] for point in loop.members)
        assert places == list(range(places[0], places[0] + len(places)))
        assert place[header] == places[0]
        assert loop.around is None or loop.members < loop.around.members


@given(ARCS)
def test_without_what_is_left_out_every_loop_is_entered_at_its_header(arcs: list[Arc]) -> None:
    nesting = nest(POINTS, arcs)
    kept = [arc for arc in arcs if arc not in nesting.irreducible]

    assert all(
        b == header
        for header, loop in nesting.loops.items()
        for a, b in kept
        if a not in loop.members and b in loop.members
    )
    assert not nest(POINTS, kept).irreducible
    cyclic = {point for part in nx.strongly_connected_components(made(kept)) if len(part) > 1 for point in part}
    cyclic |= {a for a, b in kept if a == b}
    assert cyclic == {point for loop in nesting.loops.values() for point in loop.members}


# ---- whole workflows

NAMES = [f"n{number}" for number in range(6)]
TARGETS = st.sampled_from([*NAMES, "END"])
GROUPS = TARGETS | st.lists(TARGETS, min_size=1, max_size=3).map(tuple)
ROUTES = st.dictionaries(st.sampled_from(["x", "y", 1, True, DEFAULT_ROUTE]), GROUPS, min_size=1, max_size=3)
CHAINS = st.lists(
    st.tuples(st.sampled_from([*NAMES, "START"]), TARGETS)
    | st.tuples(st.sampled_from(NAMES), ROUTES)
    | st.tuples(st.lists(st.sampled_from(NAMES), min_size=1, max_size=2).map(tuple), GROUPS)
    | st.tuples(st.just("START"), GROUPS),
    min_size=1,
    max_size=12,
)


def with_agents(chains: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Put agents in place of the names; every other one asks for the value of the node before."""
    agents: dict[str, Any] = {}
    for number, name in enumerate(NAMES):

        def body(ctx: Any, node_input: Any = None) -> Any:
            return str(ctx)  # handed on: it may escalate

        def plain(ctx: Any) -> Any:
            return str(ctx)

        agents[name] = agent(name=name)(body if number % 2 else plain)
    agents |= {"START": START, "END": END}

    def put(part: Any) -> Any:
        if isinstance(part, dict):
            return {route: put(target) for route, target in part.items()}
        return tuple(map(put, part)) if isinstance(part, tuple) else agents[part]

    return [tuple(map(put, chain)) for chain in chains]


def lowered(chains: list[tuple[Any, ...]]) -> tuple[Workflow, Graph]:
    workflow = Workflow("w", with_agents(chains))
    return workflow, Flow(LoopAgent("l", [workflow], max_iterations=2)).graph


@given(CHAINS)
def test_whatever_is_written_the_graph_is_well_made(chains: list[tuple[Any, ...]]) -> None:
    workflow, graph = lowered(chains)

    verify(graph)
    stages = [id_ for id_, node in graph.nodes.items() if isinstance(node, Task) and node.kind == "code"]
    assert stages == [f"l/w/{child.name}" for child in workflow.children()]
    for id_, node in graph.nodes.items():
        into, out = graph.into(id_), graph.out(id_)
        if isinstance(node, LoopHeader) and id_ != "l#header":
            assert [edge.label for edge in out] == ["body"]
            assert sum(edge.back for edge in into) == 1
            assert len(into) <= 2
        elif isinstance(node, Branch):
            assert len(out) == len({edge.label for edge in out}) == len(node.arms)
        elif isinstance(node, Task):
            assert len(into) <= 1
            assert sum(edge.label == "next" for edge in out) == 1


@given(CHAINS)
def test_each_edge_that_is_written_is_one_edge_of_the_graph(chains: list[tuple[Any, ...]]) -> None:
    """Counted at what nodes are entered by: their join, what hands a value over, the header or the node itself."""
    workflow, graph = lowered(chains)
    irreducible = {(fault.related[0] if fault.related else "", fault.subject) for fault in graph.faults}
    written: dict[str, int] = {}
    for source, exits in workflow._shape.edges.exits.items():
        for target in exits.targets:
            path = "" if source is START else f"l/w/{source.name}"
            if target is not END and (path, f"l/w/{target.name}") not in irreducible:
                written[f"l/w/{target.name}"] = written.get(f"l/w/{target.name}", 0) + 1

    for path, count in written.items():
        own = {path, *(f"{path}{mark}" for mark in ("#in", "#first", "#cycle", "#back", "#again"))}
        into = [
            edge
            for id_ in own & set(graph.nodes)
            for edge in graph.into(id_)
            if edge.label not in ("escalate", "escalate?")
        ]
        assert sum(edge.source not in own for edge in into) + sum(edge.source == path for edge in into) == count


@given(CHAINS)
def test_escalations_stay_out_of_loops_that_are_not_theirs(chains: list[tuple[Any, ...]]) -> None:
    """With them the graph has the loops that it has without them, entered where they were."""
    _, graph = lowered(chains)
    numbers = {id_: number for number, id_ in enumerate(graph.nodes)}
    arcs = [(BEGIN if numbers[e.source] == 0 else numbers[e.source], numbers[e.target]) for e in graph.edges]
    seen = {BEGIN, *nx.descendants(made(arcs), BEGIN)}
    plain = [arc for arc, e in zip(arcs, graph.edges, strict=True) if arc[0] in seen and "escalate" not in e.label]
    arcs = [arc for arc in arcs if arc[0] in seen]

    headers = {header: loop.members for header, loop in nest(len(numbers), plain).loops.items()}
    found = nest(len(numbers), arcs)
    assert not found.irreducible
    assert {header: loop.members for header, loop in found.loops.items()} == headers
