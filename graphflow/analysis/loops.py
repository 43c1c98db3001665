"""Natural loops: what lies in a cycle, by which edges it goes round and by which it is left.

A natural loop [Aho et al., Compilers, 9.6.6] is made of the nodes that reach a back edge without passing its header; every
way in leads through the header. The code of a custom agent that runs children is a header too: children return to it::

    natural_loops(graph)["story/refine#header"]     # {"story/refine/critic", "story/refine/reviser"}

Nothing here knows keys, bounds or exit tests.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from graphflow.ir.graph import Graph
from graphflow.ir.nodes import EXHAUSTED, EXIT, Edge, LoopHeader


@dataclass(frozen=True, slots=True)
class Loop:
    """One natural loop.

    Attributes:
        header: id of the node that every way in leads through.
        members: ids of the nodes inside, nested loops included, the header left out.
        backs: the edges that go round, in the order of their sources.
        leaving: the edges that end it: from members to outside, and the header's own for the end of an iteration.
    """

    header: str
    members: frozenset[str]
    backs: tuple[Edge, ...]
    leaving: tuple[Edge, ...]


def loops_of(graph: Graph) -> Mapping[str, Loop]:
    """Find the natural loops of a graph.

    Args:
        graph: the program.

    Returns:
        Header id -> loop, in canonical order; outer loops before those inside them. Cost: edges times depth of nesting.
    """
    backs: dict[str, list[Edge]] = {}
    for edge in graph.edges:
        if edge.back:
            backs.setdefault(edge.target, []).append(edge)
    ordered = sorted(backs, key=lambda header: graph.position[header])
    return {header: _loop(graph, header, backs[header]) for header in ordered}


def natural_loops(graph: Graph) -> Mapping[str, frozenset[str]]:
    """Give the insides of the natural loops of a graph.

    Args:
        graph: the program.

    Returns:
        Header id -> ids of the nodes inside, nested loops included, the header left out.
    """
    return {header: loop.members for header, loop in loops_of(graph).items()}


def loops_around(graph: Graph, loops: Mapping[str, Loop]) -> Mapping[str, tuple[str, ...]]:
    """Say which loops each node is in.

    Args:
        graph: the program.
        loops: its loops.

    Returns:
        Node id -> headers of the loops that it is inside of, outermost first; a header is not inside its own.
    """
    around: dict[str, list[str]] = {id_: [] for id_ in graph.nodes}
    for loop in sorted(loops.values(), key=lambda one: -len(one.members)):
        for member in loop.members:
            around[member].append(loop.header)
    return {id_: tuple(headers) for id_, headers in around.items()}


def ends_itself(node: object, label: str) -> bool:
    """Say whether an edge with this label leaves a header at the end of an iteration."""
    return isinstance(node, LoopHeader) and label in (EXIT, EXHAUSTED)


def _loop(graph: Graph, header: str, backs: list[Edge]) -> Loop:
    inside: set[str] = set()
    pending = [edge.source for edge in backs]
    while pending:
        id_ = pending.pop()
        if id_ == header or id_ in inside:
            continue
        inside.add(id_)
        pending.extend(edge.source for edge in graph.into(id_))
    members = sorted(inside, key=lambda id_: graph.position[id_])
    leaving = [
        edge for id_ in members for edge in graph.out(id_) if edge.target not in inside and edge.target != header
    ]
    leaving += [edge for edge in graph.out(header) if ends_itself(graph.nodes[header], edge.label)]
    return Loop(header, frozenset(inside), tuple(backs), tuple(leaving))
