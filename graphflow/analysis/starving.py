"""Joins that may wait for ever where a path that was not taken does not count as arrived.

A join starves if in some run one of its in-edges fires and another does not::

    judge -[pass]-> publish -> done       judge takes one route: `done` waits for both `publish` and `redo`,
    judge -[fail]-> redo ----> done       and never gets both

Failures and escalations are left out: they end more than the join. Routes are taken to be independent of one another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from graphflow.analysis.unrolled import alternatives
from graphflow.ir.graph import Graph
from graphflow.ir.nodes import ERROR, ESCALATIONS, Branch, Edge, Join


@dataclass(frozen=True, slots=True)
class Starved:
    """A join that may wait for an edge which does not fire.

    Attributes:
        join: its id.
        missing: the edge that may not fire.
        branch: id of the last branch that decides about it.
    """

    join: str
    missing: Edge
    branch: str


def starved_joins(graph: Graph) -> Iterator[Starved]:
    """Find the joins of free-form graphs that may starve, in canonical order, each once. Linear for each in-edge of a join.

    Args:
        graph: the program.
    """
    ways = {id_: _ways(graph, id_) for id_ in graph.nodes}
    for id_, node in graph.nodes.items():
        waits = isinstance(node, Join) and not node.exclusive and id_.endswith("#in")
        found = _starved(graph, id_, ways) if waits and graph.regions[node.region].kind == "workflow" else None
        if found is not None:
            yield found


def _ways(graph: Graph, id_: str) -> Sequence[Sequence[Edge]]:
    ways = alternatives(graph, id_)
    return [way for way in ways if way[0].label != ERROR and way[0].label not in ESCALATIONS]


def _starved(graph: Graph, join: str, ways: Mapping[str, Sequence[Sequence[Edge]]]) -> Starved | None:
    before = _ancestors(graph, join)
    for missing in graph.into(join):
        avoiding, starving = _avoiding(join, missing, before, ways)
        if graph.entry not in starving:
            continue
        for id_ in before:
            choices = [all(edge != missing and edge.target in avoiding for edge in way) for way in ways[id_]]
            if isinstance(graph.nodes[id_], Branch) and any(choices) and not all(choices):
                return Starved(join, missing, id_)
    return None


def _ancestors(graph: Graph, join: str) -> Sequence[str]:
    """Give the nodes before a join, the last ones first."""
    pending, found = [join], {join}
    while pending:
        for edge in graph.into(pending.pop()):
            if edge.source not in found:
                found.add(edge.source)
                pending.append(edge.source)
    return sorted(found - {join}, key=lambda id_: -graph.position[id_])


def _avoiding(
    join: str, missing: Edge, before: Sequence[str], ways: Mapping[str, Sequence[Sequence[Edge]]]
) -> tuple[set[str], set[str]]:
    """Give the nodes from which a run need not fire an edge, and those of them from which it may reach the join."""
    inside = set(before)
    avoiding = {edge.target for id_ in before for way in ways[id_] for edge in way if edge.target not in inside}
    starving = {join}
    changed = True
    while changed:
        changed = False
        for id_ in before:
            for way in ways[id_]:
                if any(edge == missing or edge.target not in avoiding for edge in way):
                    continue
                known = len(avoiding) + len(starving)
                avoiding.add(id_)
                if any(edge.target in starving for edge in way):
                    starving.add(id_)
                changed = changed or len(avoiding) + len(starving) > known
    return avoiding, starving
