"""GF509 against all routes: random free-form graphs, every choice tried."""

from __future__ import annotations

import itertools
import random

from hypothesis import given, settings
from hypothesis import strategies as st

from graphflow import DEFAULT_ROUTE, END, START, Context, Flow, FunctionAgent, Workflow

Edges = dict[int, list[list[int]]]
"""Node -> its routes, each the nodes that it leads to; one route: plain edges. -1 is START, the number of nodes is END."""


def random_edges(chance: random.Random) -> Edges:
    """Make an acyclic graph that START leads to; some nodes choose between two routes, and one of these may be END."""
    count = chance.randint(2, 6)
    edges: Edges = {-1: [chance.sample(range(count), chance.randint(1, min(2, count)))]}
    for node in range(count):
        later = range(node + 1, count + 1)
        ways = 2 if len(later) > 1 and chance.random() < 0.5 else 1
        edges[node] = [sorted(chance.sample(later, chance.randint(1, min(2, len(later))))) for _ in range(ways)]
    return edges


def nothing() -> None:
    """Do nothing."""


def workflow_of(edges: Edges) -> Workflow:
    """Write the graph; a router sets its route by the message, so that any may be taken."""

    def routed(ctx: Context) -> None:
        ctx.route = "0" if ctx.message else "1"

    count = len(edges) - 1
    routers = {node for node, ways in edges.items() if len(ways) > 1}
    agents = {
        node: FunctionAgent(f"n{node}", routed)
        if node in routers
        else FunctionAgent(f"n{node}", nothing, reads=[], writes=[])
        for node in range(count)
    }
    named = {-1: START, **agents, count: END}
    chains: list[tuple[object, object]] = []
    for node, ways in edges.items():
        if node in routers:
            cases = {str(i): tuple(named[to] for to in way) for i, way in enumerate(ways)}
            chains.append((named[node], {**cases, DEFAULT_ROUTE: END}))
        else:
            chains += [(named[node], named[to]) for to in ways[0]]
    return Workflow("w", chains)


def starving(edges: Edges) -> set[str]:
    """Try every choice of routes: the nodes of which in some run one in-edge fires and another does not."""
    count = len(edges) - 1
    into: dict[int, set[tuple[int, int]]] = {}
    for node, ways in edges.items():
        for route, way in enumerate(ways):
            for to in way:
                into.setdefault(to, set()).add((node, route))
    options = [range(len(ways) + (len(ways) > 1)) for ways in edges.values()]  # a router may take its default, END
    found = set()
    for choice in itertools.product(*options):
        taken = dict(zip(edges, choice, strict=True))
        alive = {-1}
        for node in range(count):
            fired = {edge for edge in into.get(node, ()) if edge[0] in alive and taken[edge[0]] == edge[1]}
            if fired:
                alive.add(node)
                if len(into[node]) > 1 and fired != into[node]:
                    found.add(f"w/n{node}")
    return found


def reached(edges: Edges) -> bool:
    """Whether START leads to every node: what is not reached is another rule's."""
    seen, pending = set(), [-1]
    while pending:
        node = pending.pop()
        if node not in seen and node in edges:
            seen.add(node)
            pending += [to for way in edges[node] for to in way]
    return len(seen) == len(edges)


@settings(max_examples=150, deadline=None)
@given(st.integers(min_value=0, max_value=2**32))
def test_a_join_starves_where_some_choice_of_routes_makes_it(seed: int) -> None:
    """Exactly those joins are found, and none under graphflow's own meanings."""
    chance = random.Random(seed)
    edges = next(edges for edges in iter(lambda: random_edges(chance), None) if edges and reached(edges))
    flow = Flow(workflow_of(edges))
    found = {each.node for each in flow.check(profile="adk") if each.code == "GF509"}
    assert found == starving(edges)
    assert "GF509" not in flow.check().codes
