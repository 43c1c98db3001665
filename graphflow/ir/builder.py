"""From agents to the graph: what an agent's `lower(builder)` may use.

Each agent is lowered between two *wires*, points through which control enters and leaves it. Composites ask for their
children with `Region.child` and get the children's wires at once, while the children themselves are lowered later from a
work list: no recursion, so a pipeline may be nested as deep as memory allows. `finish` removes the wires, adds the
escalation edges of joins and puts everything in canonical order::

    def lower(self, builder):                       # a sequence of two
        region = builder.region("sequence")
        first, second = region.child(self.a), region.child(self.b)
        region.edge(region.entry, first.entry)
        region.edge(first.exit, second.entry)
        region.edge(second.exit, region.exit)
        return region

The builder knows nothing of agent kinds: it asks for a name, an origin and `lower`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Protocol

from graphflow.contracts.contract import NOTHING, Contract, Origin, Read, Write
from graphflow.ir.graph import Graph
from graphflow.ir.nodes import (
    ESCALATE,
    NEXT,
    POSSIBLE_ESCALATE,
    Declaration,
    Edge,
    Entry,
    Exit,
    Interface,
    Node,
    Task,
)
from graphflow.ir.nodes import Region as RegionRecord
from graphflow.schema import MISSING, type_of

WIRE = "~"


class Lowerable(Protocol):
    """What the builder asks of an agent."""

    @property
    def name(self) -> str:
        """The agent's name, valid or not."""

    @property
    def declaration(self) -> Declaration:
        """What the author declared; the builder fills in the path."""

    def lower(self, builder: Builder) -> Region:
        """Emit nodes and edges between `builder`'s current wires."""


@dataclass(slots=True)
class Region:
    """An agent while it is being lowered: its wires, and the ways to add to it.

    Attributes:
        id: path of the agent.
        parent: path of the region around it.
        entry: wire through which control comes in.
        exit: wire through which control goes out.
        escalation: id of the join that an escalation inside leads to; None outside of loops.
    """

    id: str
    parent: str
    entry: str
    exit: str
    escalation: str | None
    builder: Builder

    def add(self, node: Node) -> str:
        """Add a node to this region and give its id."""
        return self.builder.add_node(node)

    def edge(self, source: str, target: str, label: str = NEXT, *, back: bool = False) -> None:
        """Add a control edge between two nodes or wires."""
        self.builder.edges.append(Edge(source, target, label, back))

    def child(self, agent: Lowerable, *, escalation: str | None = None) -> Region:
        """Place a child agent here; it is lowered later.

        Args:
            agent: the child.
            escalation: id of the join that an escalation inside the child leads to, if not this region's own.

        Returns:
            The child's region: connect its `entry` and `exit`.
        """
        return self.builder.place(agent, self.id, escalation or self.escalation)


class Builder:
    """Collects what agents lower to. Make one per graph; see `build`."""

    def __init__(self) -> None:
        self.edges: list[Edge] = []
        self.nodes: dict[str, Node] = {}
        self.declarations: dict[str, Declaration] = {}
        self._records: dict[str, RegionRecord] = {"": RegionRecord("", "root", None)}
        self._items: dict[str, list[str]] = {"": []}
        self._pending: list[tuple[Lowerable, Region]] = []
        self._places: dict[int, str] = {}
        self._paths: dict[str, int] = {}
        self._relays: list[tuple[str, str]] = []
        self._current: tuple[Lowerable, Region] | None = None

    @property
    def here(self) -> Region:
        """The agent that is being lowered."""
        assert self._current is not None
        return self._current[1]

    def place(self, agent: Lowerable, parent: str, escalation: str | None) -> Region:
        """Reserve a path and two wires for an agent and queue it for lowering."""
        segment = _segment(agent.name)
        base = f"{parent}/{segment}" if parent else segment
        count = self._paths[base] = self._paths.get(base, 0) + 1
        path = base if count == 1 else f"{base}#{count}"
        region = Region(path, parent, f"{WIRE}{path}>", f"{WIRE}{path}<", escalation, self)
        shared = self._places.setdefault(id(agent), path)
        self.declarations[path] = replace(agent.declaration, path=path, shared_with=None if shared == path else shared)
        self._items[parent].append(path)
        self._pending.append((agent, region))
        return region

    def region(self, kind: str, label: str = "") -> Region:
        """Say that the current agent is a composite with a region of its own.

        Args:
            kind: what it is (`sequence`, `parallel`, `loop`, `conditional`, ...).
            label: a line about it for pictures.

        Returns:
            The region, with its wires.
        """
        region = self.here
        self._records[region.id] = RegionRecord(region.id, kind, region.parent, (), self.origin, label)
        self._items[region.id] = []
        self.declarations[region.id] = replace(self.declarations[region.id], composite=kind)
        return region

    def add_node(self, node: Node) -> str:
        """Add a node that belongs to a region, after what the region holds already."""
        self.nodes[node.id] = node
        self._items[node.region].append(node.id)
        return node.id

    def task(self, contract: Contract, body: object, *, kind: str, model: str | None = None) -> Region:
        """Lower the current agent to one task between its wires, with its escalation edge.

        Args:
            contract: what the body reads and writes.
            body: the executable.
            kind: "model" or "code".
            model: the model's name, if there is one.

        Returns:
            The agent's region.
        """
        region = self.here
        node = Task(region.id, region.parent, contract, self.origin, kind, model, body=body)
        self.leaf(node)
        if region.escalation is not None and (contract.escalates or contract.open):
            region.edge(node.id, region.escalation, ESCALATE if contract.escalates else POSSIBLE_ESCALATE)
        return region

    def leaf(self, node: Node, label: str = NEXT) -> Region:
        """Lower the current agent to one node between its wires; `label` is that of its way out."""
        region = self.here
        self.nodes[node.id] = node
        region.edge(region.entry, node.id)
        region.edge(node.id, region.exit, label)
        return region

    @property
    def origin(self) -> Origin | None:
        """Where the current agent was made."""
        return self.declarations[self.here.id].origin

    def relay(self, join: str) -> None:
        """Let a join inside a loop pass an escalation on to where its own region's escalation leads."""
        if self.here.escalation is not None:
            self._relays.append((join, self.here.escalation))

    def lower_all(self) -> None:
        """Lower everything that is queued, in declaration order."""
        while self._pending:
            batch, self._pending = self._pending, []
            for agent, region in batch:
                self._current = (agent, region)
                agent.lower(self)
        self._current = None

    def finish(self, name: str, interface: Interface) -> Graph:
        """Remove the wires, add relayed escalations, order everything canonically."""
        edges = _without_wires(self.edges)
        for join, target in reversed(self._relays):
            labels = {edge.label for edge in edges if edge.target == join} & {ESCALATE, POSSIBLE_ESCALATE}
            edges.extend(Edge(join, target, label) for label in sorted(labels))
        order = list(self._ordered_items(""))
        nodes = {id_: self.nodes[id_] for id_ in order if id_ in self.nodes}
        position = {id_: index for index, id_ in enumerate(nodes)}
        edges.sort(key=lambda edge: position[edge.source])
        regions = {
            id_: replace(self._records[id_], items=tuple(self._items[id_]))
            for id_ in ("", *order)
            if id_ in self._records
        }
        declarations = {id_: self.declarations[id_] for id_ in order if id_ in self.declarations}
        return Graph(name, nodes, tuple(edges), regions, declarations, interface)

    def _ordered_items(self, region: str) -> Iterator[str]:
        stack = [iter(self._items[region])]
        while stack:
            item = next(stack[-1], None)
            if item is None:
                stack.pop()
                continue
            yield item
            if item in self._records:
                stack.append(iter(self._items[item]))


def _segment(name: str) -> str:
    """Make a part of a path from a name: an identifier as it is, anything else (GF102) without what paths mean."""
    if name.isidentifier():
        return name
    return "".join(character if character.isalnum() else "_" for character in name[:40]) or "_"


def build(root: Lowerable, interface: Interface) -> Graph:
    """Lower an agent tree to a graph.

    Args:
        root: the outermost agent.
        interface: the flow's declared inputs, outputs and keys.

    Returns:
        The graph, without state edges.
    """
    builder = Builder()
    builder.add_node(Entry("@entry", "", _entry_contract(interface)))
    region = builder.place(root, "", None)
    builder.edges.append(Edge("@entry", region.entry))
    builder.edges.append(Edge(region.exit, "@exit"))
    builder.lower_all()
    builder.add_node(Exit("@exit", "", _exit_contract(interface)))
    return builder.finish(root.name, interface)


def _entry_contract(interface: Interface) -> Contract:
    writes = {
        name: Write(name, type_, sure=required or default is not MISSING)
        for name, type_, required, default in interface.inputs or ()
    }
    for key in interface.keys:
        if key.default is not MISSING:
            writes[key.name] = Write(key.name, type_of(key.type))
    return replace(NOTHING, writes=tuple(writes.values()))


def _exit_contract(interface: Interface) -> Contract:
    outputs = interface.outputs or ()
    return replace(NOTHING, reads=tuple(Read(name, type_, optional=not required) for name, type_, required in outputs))


def _without_wires(edges: list[Edge]) -> list[Edge]:
    """Connect what each wire connects. A wire may have many in-edges and has one out-edge, always labelled `next`."""
    onward: dict[str, Edge] = {edge.source: edge for edge in edges if edge.source.startswith(WIRE)}
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
