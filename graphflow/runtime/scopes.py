"""Which nodes run in activations of their own: the bodies of loops, of grouped forks, and the children of custom agents.

Each such *scope* has a header: a loop header, a fork with a group, the code of a custom agent. The *members* of a scope are
the nodes inside it; every activation (an iteration, an instance, a call) has counters of its own for them. A loop is the
natural loop of its header [Aho et al., Compilers, 9.6.6]: the nodes that reach a back edge without passing the header::

    find_scopes(graph).innermost[7]     # index of the header of the scope that node 7 is in, ROOT for none

Pure: indexes in, indexes out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from graphflow.errors import InternalError
from graphflow.ir.graph import Graph
from graphflow.ir.nodes import BODY, EMPTY, Edge, Fork, Task, called

ROOT = -1
"""Index of the scope that is none: the whole graph."""

Kind = Literal["loop", "group", "call"]


@dataclass(frozen=True, slots=True)
class Scope:
    """One scope.

    Attributes:
        header: index of its header.
        kind: what its activations are: iterations, instances or calls.
        ways: how an activation may begin: label of the way in (for branches of a fork their number) -> its edges.
        members: way -> how many nodes an activation that began so settles; of a loop there is one way.
        join: index of the join where instances end; -1 for loops and calls.
    """

    header: int
    kind: Kind
    ways: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    members: Mapping[str, int] = field(default_factory=dict)
    join: int = -1


@dataclass(frozen=True, slots=True)
class Scopes:
    """All scopes of a graph.

    Attributes:
        by_header: header -> scope.
        innermost: node -> header of the innermost scope it is in.
        inside: header -> all nodes inside, nested ones included, the header left out.
    """

    by_header: Mapping[int, Scope]
    innermost: tuple[int, ...]
    inside: Mapping[int, frozenset[int]]


def find_scopes(graph: Graph) -> Scopes:
    """Find the scopes of a verified graph.

    Args:
        graph: the program.

    Returns:
        The scopes. Cost: linear in nodes and edges, times the depth of nested scopes.

    Raises:
        InternalError: two scopes overlap.
    """
    alive = reachable(graph)
    loops, ways_in = _loops(graph, alive), _ways_in(graph, alive)
    for ways in loops.values():  # what is inside of an instance or a call is where its header is, even if it never ends
        for header in ways[BODY] & set(ways_in):
            ways[BODY] |= _all(ways_in[header])
    inside = {**loops, **ways_in}
    order = sorted(inside, key=lambda header: -len(_all(inside[header])))
    innermost = [ROOT] * len(graph.nodes)
    for header in order:
        for index in _all(inside[header]):
            innermost[index] = header
    edges = {edge: index for index, edge in enumerate(graph.edges)}
    names = list(graph.nodes)
    scopes = {
        header: _scope(graph, names[header], header, edges, _members(header, inside[header], innermost))
        for header in inside
    }
    _refuse_overlaps(graph, inside)
    return Scopes(scopes, tuple(innermost), {header: frozenset(_all(ways)) for header, ways in inside.items()})


def reachable(graph: Graph) -> frozenset[str]:
    """The nodes that some path from the entry reaches; no other ever runs."""
    found: set[str] = set()
    pending = [graph.entry]
    while pending:
        id_ = pending.pop()
        if id_ not in found:
            found.add(id_)
            pending.extend(edge.target for edge in graph.out(id_))
    return frozenset(found)


def _members(header: int, ways: Mapping[str, set[int]], innermost: list[int]) -> dict[str, int]:
    return {way: sum(1 for index in inside if innermost[index] == header) for way, inside in ways.items()}


def _all(ways: Mapping[str, set[int]]) -> set[int]:
    return set().union(*ways.values()) if ways else set()


def _loops(graph: Graph, alive: frozenset[str]) -> dict[int, dict[str, set[int]]]:
    position, names = graph.position, list(graph.nodes)
    found: dict[int, dict[str, set[int]]] = {}
    for edge in graph.edges:
        if not edge.back or edge.source not in alive or isinstance(graph.nodes[edge.target], Task):
            continue
        header = position[edge.target]
        inside = found.setdefault(header, {BODY: set()})[BODY]
        pending = [position[edge.source]]
        while pending:
            index = pending.pop()
            if index == header or index in inside:
                continue
            inside.add(index)
            pending.extend(position[into.source] for into in graph.into(names[index]) if into.source in alive)
    return found


def _ways_in(graph: Graph, alive: frozenset[str]) -> dict[int, dict[str, set[int]]]:
    """The instances of grouped forks and the children of custom agents, each by the way in."""
    position = graph.position
    found: dict[int, dict[str, set[int]]] = {}
    for id_, node in graph.nodes.items():
        match node:
            case _ if id_ not in alive:
                continue
            case Fork(group=group) if group is not None:
                edges = [edge for edge in graph.out(id_) if edge.label != EMPTY]
                found[position[id_]] = {
                    str(number): _reached(graph, edge, {group.join}) for number, edge in enumerate(edges)
                }
            case Task():
                calls = [edge for edge in graph.out(id_) if called(edge.label) is not None]
                if calls:
                    found[position[id_]] = {edge.label: _reached(graph, edge, {id_}) for edge in calls}
            case _:
                pass
    return found


def _reached(graph: Graph, edge: Edge, stop: Iterable[str]) -> set[int]:
    found: set[str] = set()
    pending = [edge.target]
    while pending:
        id_ = pending.pop()
        if id_ in found or id_ in stop:
            continue
        found.add(id_)
        pending.extend(out.target for out in graph.out(id_))
    return {graph.position[id_] for id_ in found}


def _scope(graph: Graph, id_: str, header: int, edges: Mapping[Edge, int], members: Mapping[str, int]) -> Scope:
    node = graph.nodes[id_]
    out = [edge for edge in graph.out(id_) if edge.label != EMPTY]
    if isinstance(node, Fork) and node.group is not None:
        numbered = {str(number): (edges[edge],) for number, edge in enumerate(out)}
        return Scope(header, "group", numbered, members, graph.position[node.group.join])
    if isinstance(node, Task):
        return Scope(header, "call", {way: tuple(edges[e] for e in out if e.label == way) for way in members}, members)
    return Scope(header, "loop", {BODY: tuple(edges[e] for e in out if e.label == BODY)}, members)


def _refuse_overlaps(graph: Graph, inside: Mapping[int, Mapping[str, set[int]]]) -> None:
    names = list(graph.nodes)
    all_of = {header: _all(ways) for header, ways in inside.items()}
    for header, members in all_of.items():
        for other in members & set(all_of):
            if not all_of[other] <= members:
                raise InternalError(f"`{names[other]}` reaches out of `{names[header]}`, which it is inside of")
