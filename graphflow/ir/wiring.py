"""From wires to edges: what lowering connected through wires becomes edges between nodes.

A wire is a point through which control enters or leaves an agent while the graph is built. It may have many in-edges and
has one out-edge, always labelled `next`; edges that meet at a wire go on separately::

    a -> ~s/b> -> b        becomes        a -> b

Escalations that reach a join are relayed from it, join by join, until they are out of everything between them and the loop.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from graphflow.ir.nodes import ESCALATIONS, Edge, Gathered

WIRE = "~"


@dataclass(frozen=True, slots=True)
class Relay:
    """A join that passes escalations on to these nodes; `back` if they are where its loop begins."""

    join: str
    targets: tuple[str, ...]
    back: bool = False


@dataclass(frozen=True, slots=True)
class Part:
    """What a join is to gather where control comes in through a wire: `key`'s value as `name`."""

    join: str
    wire: str
    name: str
    key: str


def without_wires(edges: Iterable[Edge]) -> list[Edge]:
    """Connect what the wires connect; an edge that comes out twice is kept once."""
    edges = list(edges)
    onward = {edge.source: edge for edge in edges if edge.source.startswith(WIRE)}
    result: dict[Edge, None] = {}
    for edge in edges:
        if edge.source.startswith(WIRE):
            continue
        target, back = edge.target, edge.back
        while target.startswith(WIRE):
            step = onward[target]
            target, back = step.target, back or step.back
        result[Edge(edge.source, target, edge.label, back)] = None
    return list(result)


def gathered(edges: Sequence[Edge], parts: Iterable[Part]) -> dict[str, tuple[Gathered, ...]]:
    """Find the edges that parts of joins come in by: join -> its parts, each with source and label of its edge."""
    into: dict[str, list[Edge]] = {}
    for edge in edges:
        into.setdefault(edge.target, []).append(edge)
    found: dict[str, list[Gathered]] = {}
    for part in parts:
        pending = [edge for edge in into.get(part.join, ()) if edge.source == part.wire]
        while pending:
            edge = pending.pop()
            if edge.source.startswith(WIRE):
                pending.extend(into.get(edge.source, ()))
            else:
                found.setdefault(part.join, []).append(Gathered(edge.source, edge.label, part.name, part.key))
    return {join: tuple(sources) for join, sources in found.items()}


def relayed(edges: list[Edge], relays: Iterable[Relay]) -> list[Edge]:
    """Add the edges by which joins pass escalations on."""
    relay_of = {relay.join: relay for relay in relays if relay.targets}
    known = dict.fromkeys(edges)
    pending = deque(edge for edge in edges if edge.label in ESCALATIONS and edge.target in relay_of)
    while pending:
        edge = pending.popleft()
        relay = relay_of[edge.target]
        for target in relay.targets:
            onward = Edge(relay.join, target, edge.label, relay.back)
            if onward in known:
                continue
            known[onward] = None
            if target in relay_of:
                pending.append(onward)
    return list(known)
