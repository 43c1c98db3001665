"""The graph IR itself: nodes, control edges, state edges and the tree of regions, held in one networkx multigraph.

Invariants (checked by `verify`): one `Entry` and one `Exit`; edges join known nodes; without its back edges the graph is
acyclic; a back edge ends at a `LoopHeader`, or at the code of a custom agent; a `Branch` has edges for its arms and no
others; the group of a fork ends at a join; regions form a tree that holds each node once. Node order is canonical:
topological, ties by declaration::

    graph = build(flow_root, interface)
    [edge.target for edge in graph.out("invoice/enrich#fork")]

Two graphs are equal if they are the same program; `identity` says what counts.

This module and `graphflow.analysis` are the only ones that touch networkx.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import networkx as nx

from graphflow.errors import InternalError
from graphflow.ir.identity import identity
from graphflow.ir.names import GRAPHFLOW
from graphflow.ir.nodes import (
    Branch,
    Declaration,
    Edge,
    Entry,
    Exit,
    Fault,
    Fork,
    Group,
    Interface,
    Join,
    LoopHeader,
    Node,
    Region,
    StateEdge,
    Task,
)


@dataclass(frozen=True, eq=False)
class Graph:
    """One program. Immutable; `with_state` gives a copy with state edges.

    Attributes:
        name: the flow's name.
        nodes: node id -> node, in canonical order.
        edges: control edges, by source in canonical order.
        regions: region id -> region, outermost first.
        declarations: agent path -> what the agent's author declared.
        interface: what the flow declares about its keys.
        state: state edges, by reader in canonical order; empty before linking.
        faults: what could not be lowered; a graph with faults is checked and drawn, never run.
        profile: name of the meanings that it is given; a graph that is run has graphflow's own.
    """

    name: str
    nodes: Mapping[str, Node]
    edges: tuple[Edge, ...]
    regions: Mapping[str, Region]
    declarations: Mapping[str, Declaration] = field(default_factory=dict)
    interface: Interface = field(default_factory=Interface)
    state: tuple[StateEdge, ...] = ()
    faults: tuple[Fault, ...] = ()
    profile: str = GRAPHFLOW

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Graph):
            return NotImplemented
        return self is other or self._identity == other._identity

    def __hash__(self) -> int:
        return hash((self.name, len(self.nodes), len(self.edges)))

    @cached_property
    def _identity(self) -> object:
        return (
            self.name,
            self.profile,
            *map(identity, (self.nodes, self.edges, self.regions, self.interface, self.faults)),
        )

    @cached_property
    def nx(self) -> nx.MultiDiGraph[str]:
        """The whole graph as networkx: attributes `node` and `edge`; edge keys `(label, index)` and `("state", key)`."""
        graph: nx.MultiDiGraph[str] = nx.MultiDiGraph(name=self.name)
        graph.add_nodes_from((id_, {"node": node}) for id_, node in self.nodes.items())
        for index, edge in enumerate(self.edges):
            graph.add_edge(edge.source, edge.target, key=(edge.label, index), edge=edge)
        for link in self.state:
            graph.add_edge(link.writer, link.reader, key=("state", link.key), edge=link)
        return graph

    @cached_property
    def _adjacent(self) -> tuple[dict[str, list[Edge]], dict[str, list[Edge]]]:
        out: dict[str, list[Edge]] = {id_: [] for id_ in self.nodes}
        into: dict[str, list[Edge]] = {id_: [] for id_ in self.nodes}
        for edge in self.edges:
            out[edge.source].append(edge)
            into[edge.target].append(edge)
        return out, into

    def out(self, id_: str) -> Sequence[Edge]:
        """Give the control edges that leave a node, in declaration order."""
        return self._adjacent[0][id_]

    def into(self, id_: str) -> Sequence[Edge]:
        """Give the control edges that enter a node, in declaration order."""
        return self._adjacent[1][id_]

    @cached_property
    def entry(self) -> str:
        """Id of the one entry node."""
        return next(id_ for id_, node in self.nodes.items() if isinstance(node, Entry))

    @cached_property
    def exit(self) -> str:
        """Id of the one exit node."""
        return next(id_ for id_, node in self.nodes.items() if isinstance(node, Exit))

    @cached_property
    def position(self) -> Mapping[str, int]:
        """Node id -> its 0-based place in the canonical order."""
        return {id_: index for index, id_ in enumerate(self.nodes)}

    def enclosing(self, region: str | None) -> Iterable[Region]:
        """Yield a region and those around it, innermost first."""
        while region is not None:
            current = self.regions[region]
            yield current
            region = current.parent

    def with_state(self, state: Iterable[StateEdge]) -> Graph:
        """Copy the graph with these state edges in place of its own."""
        copy = replace(self, state=tuple(state))
        copy.__dict__["_adjacent"] = self._adjacent
        copy.__dict__["position"] = self.position
        return copy

    @cached_property
    def kept(self) -> dict[type, Any]:
        """What others have found out about the graph and will ask for again, by its type; no part of what the graph is."""
        return {}


def verify(graph: Graph) -> None:
    """Check the invariants of the IR.

    Args:
        graph: any graph.

    Raises:
        InternalError: an invariant does not hold; the message lists every fault found.
    """
    faults = [*_node_faults(graph), *_edge_faults(graph), *_region_faults(graph)]
    faults.extend(_order_faults(graph))
    if faults:
        raise InternalError(f"malformed graph `{graph.name}`: " + "; ".join(faults))


def _order_faults(graph: Graph) -> Iterable[str]:
    nodes, position = graph.nodes, graph.position
    forward = [(e.source, e.target) for e in graph.edges if not e.back and e.source in nodes and e.target in nodes]
    if all(position[source] < position[target] for source, target in forward):
        return
    acyclic = nx.is_directed_acyclic_graph(nx.DiGraph(forward))
    yield "node order is not topological" if acyclic else "a cycle without a marked back edge"


def _node_faults(graph: Graph) -> Iterable[str]:
    for kind in (Entry, Exit):
        count = sum(isinstance(node, kind) for node in graph.nodes.values())
        if count != 1:
            yield f"{count} {kind.__name__} nodes"
    for id_, node in graph.nodes.items():
        if id_ != node.id:
            yield f"`{node.id}` is filed as `{id_}`"
        if node.region not in graph.regions:
            yield f"`{id_}` is in the unknown region `{node.region}`"


def _edge_faults(graph: Graph) -> Iterable[str]:
    if len(set(graph.edges)) != len(graph.edges):
        yield "an edge stands twice"
    for edge in graph.edges:
        if edge.source not in graph.nodes or edge.target not in graph.nodes:
            yield f"edge {edge.source} -> {edge.target} ends nowhere"
            return
        if edge.back and not _may_be_returned_to(graph.nodes[edge.target]):
            yield f"back edge {edge.source} -> {edge.target} does not end at a loop header or a custom agent"
    for id_, node in graph.nodes.items():
        labels = [edge.label for edge in graph.out(id_)]
        match node:
            case Branch():
                if sorted(labels) != sorted(arm.label for arm in node.arms):
                    yield f"`{id_}` has edges {labels} for arms {[arm.label for arm in node.arms]}"
            case Fork(group=Group(join=join)) if not isinstance(graph.nodes.get(join), Join):
                yield f"`{id_}` ends at `{join}`, which is no join"
            case Exit():
                if labels:
                    yield f"exit `{id_}` has out-edges"
            case Entry():
                if graph.into(id_):
                    yield f"entry `{id_}` has in-edges"
            case Fork() | Join() | LoopHeader():
                if not labels:
                    yield f"`{id_}` leads nowhere"
            case _:
                pass


def _may_be_returned_to(node: Node) -> bool:
    return isinstance(node, LoopHeader) or (isinstance(node, Task) and node.kind == "custom")


def _region_faults(graph: Graph) -> Iterable[str]:
    seen: list[str] = []
    for id_, region in graph.regions.items():
        if region.parent is not None and region.parent not in graph.regions:
            yield f"region `{id_}` has the unknown parent `{region.parent}`"
        for item in region.items:
            seen.append(item)
            if _holder(graph, item) != id_:
                yield f"region `{id_}` lists `{item}`, which is elsewhere"
    if len(seen) != len(set(seen)) or set(graph.nodes) - set(seen):
        yield "regions do not hold each node once"


def _holder(graph: Graph, item: str) -> str | None:
    if item in graph.nodes:
        return graph.nodes[item].region
    return graph.regions[item].parent if item in graph.regions else None
