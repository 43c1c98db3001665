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

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from graphflow.contracts.contract import NOTHING, Contract, Origin, Read, Write
from graphflow.ir.carried import with_carried_types
from graphflow.ir.graph import Graph
from graphflow.ir.guards import guarded
from graphflow.ir.names import GRAPHFLOW
from graphflow.ir.nodes import (
    ERROR,
    ESCALATE,
    NEXT,
    POSSIBLE_ESCALATE,
    Declaration,
    Edge,
    Entry,
    Exit,
    Fault,
    Interface,
    Join,
    Node,
    Task,
)
from graphflow.ir.nodes import Region as RegionRecord
from graphflow.ir.parts import NO_PASSING, UNGUARDED, Guarding, Lowerable, Passing, Region
from graphflow.ir.scoping import scoped, scoped_key
from graphflow.ir.wiring import WIRE, Part, Relay, gathered, relayed, without_wires
from graphflow.schema import ANY, MISSING, Key, Type, type_of

__all__ = ["NO_PASSING", "UNGUARDED", "Builder", "Guarding", "Lowerable", "Passing", "Region", "build"]


class Builder:
    """Collects what agents lower to. Make one per graph; see `build`.

    Args:
        profile: name of the meanings that the graph is given.
    """

    def __init__(self, profile: str = GRAPHFLOW) -> None:
        self.profile = profile
        self.edges: list[Edge] = []
        self.nodes: dict[str, Node] = {}
        self.declarations: dict[str, Declaration] = {}
        self.faults: list[Fault] = []
        self.records: dict[str, RegionRecord] = {"": RegionRecord("", "root", None)}
        self.items: dict[str, list[str]] = {"": []}
        self._pending: list[tuple[Lowerable, Region]] = []
        self._places: dict[tuple[str, int], str] = {}
        self._keys: dict[str, Key] = {}
        self._paths: dict[str, int] = {}
        self.relays: list[Relay] = []
        self._parts: list[Part] = []
        self._current: tuple[Lowerable, Region] | None = None

    @property
    def here(self) -> Region:
        """The agent that is being lowered."""
        assert self._current is not None
        return self._current[1]

    @property
    def origin(self) -> Origin | None:
        """Where the current agent was made."""
        return self.declarations[self.here.id].origin

    def reserve(self, agent: Lowerable, around: Region) -> str:
        """Give the path of an agent that will be placed in a region."""
        segment = _segment(agent.name)
        base = f"{around.id}/{segment}" if around.id else segment
        count = self._paths[base] = self._paths.get(base, 0) + 1
        return base if count == 1 else f"{base}#{count}"

    def place(
        self,
        agent: Lowerable,
        around: Region,
        escalation: tuple[str, ...],
        *,
        scope: str | None = None,
        path: str = "",
        passing: Passing = NO_PASSING,
    ) -> Region:
        """Reserve a path and two wires for an agent and queue it for lowering.

        Args:
            agent: what to lower.
            around: the region it is put into.
            escalation: ids of the joins that an escalation inside leads to.
            scope: prefix of the keys inside; None: that of the region around.
            path: a path that `reserve` gave for it.
            passing: the reserved keys through which it is given a value and gives one.

        Returns:
            The agent's region, with what its guard adds around it: connect its `entry` and `exit`.
        """
        path = path or self.reserve(agent, around)
        keys = around.scope if scope is None else scope
        region = Region(path, around.id, f"{WIRE}{path}>", f"{WIRE}{path}<", escalation, self, keys, around.model)
        region.passing = passing
        shared = self._places.setdefault((keys, id(agent)), path)
        self.declarations[path] = replace(agent.declaration, path=path, shared_with=None if shared == path else shared)
        inner = region if agent.guard == UNGUARDED else guarded(self, agent, region, around)
        if inner is region:
            self.items[around.id].append(path)
        self._pending.append((agent, inner))
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
        self.records[region.id] = RegionRecord(region.id, kind, region.parent, (), self.origin, label)
        self.items[region.id] = []
        self.declarations[region.id] = replace(self.declarations[region.id], composite=kind)
        return region

    def add_node(self, node: Node, scope: str = "") -> str:
        """Add a node that belongs to a region, after what the region holds already; its keys are those of the scope."""
        self.nodes[node.id] = scoped(node, scope)
        self.items[node.region].append(node.id)
        return node.id

    def task(
        self, contract: Contract, body: object, *, kind: str, value: Type = ANY, route: Type = ANY, **more: Any
    ) -> Region:
        """Lower the current agent to one task between its wires, with its ways out on escalation and failure.

        Args:
            contract: what the body reads and writes.
            body: the executable.
            kind: see `Task`.
            value: type of the agent's value.
            route: type of the route that it chooses.
            **more: further fields of the task.

        Returns:
            The agent's region.
        """
        assert self._current is not None
        agent, region = self._current
        guard = agent.guard
        fields = {"retry": guard.retry, "timeout": guard.timeout, "body": body, **more}
        contract, reserved = self.passed(contract, value, route)
        fields |= reserved
        self.leaf(Task(region.id, region.parent, contract, self.origin, kind, **fields))
        self.ways_out(region.id, contract)
        return region

    def passed(self, contract: Contract, value: Type, route: Type) -> tuple[Contract, dict[str, Any]]:
        """Add to a task what the nodes after the current agent ask of it.

        Args:
            contract: what the task's body writes.
            value: type of the agent's value.
            route: type of the route that it chooses.

        Returns:
            The task's contract and the fields `output` and `route` of the task, if they are asked for.
        """
        asked = self.here.passing
        fields = {"output": asked.value, "route": asked.route}
        types = {asked.value: value, asked.route: route}
        added = tuple(Write(key, type_) for key, type_ in types.items() if key)
        return replace(contract, writes=(*contract.writes, *added)), {name: key for name, key in fields.items() if key}

    def ways_out(self, task: str, contract: Contract) -> None:
        """Add a task's edges for escalation and failure."""
        region = self.here
        if contract.escalates or contract.open:
            for target in region.escalation:
                region.edge(task, target, ESCALATE if contract.escalates else POSSIBLE_ESCALATE)
        if region.failure:
            region.edge(task, region.failure, ERROR)

    def leaf(self, node: Node, label: str = NEXT) -> Region:
        """Lower the current agent to one node between its wires; `label` is that of its way out."""
        region = self.here
        self.nodes[node.id] = scoped(node, region.scope)
        region.edge(region.entry, node.id)
        region.edge(node.id, region.exit, label)
        return region

    def relay(self, join: str, targets: tuple[str, ...] | None = None, *, back: bool = False) -> None:
        """Let a join inside a loop pass an escalation on: to `targets`, or to where its own region's escalation leads."""
        self.relays.append(Relay(join, self.here.escalation if targets is None else targets, back))

    def gather(self, join: str, wire: str, name: str, key: str) -> None:
        """Let a join put together what nodes gave: `key`'s value as `name` where control came in through `wire`.

        Args:
            join: id of the join; it has to write an `in:` key.
            wire: a wire whose out-edge is the way to the join, or a node with an edge to it.
            name: the part's name.
            key: the part's key, as the scope around names it.
        """
        self._parts.append(Part(join, wire, name, scoped_key(key, self.here.scope)))

    def declare(self, keys: Iterable[Key]) -> None:
        """Add declarations of keys, by the names they have in the graph; what the flow itself declares wins."""
        for key in keys:
            self._keys.setdefault(key.name, key)

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
        for join, parts in gathered(self.edges, self._parts).items():
            node = self.nodes[join]
            assert isinstance(node, Join)
            self.nodes[join] = replace(node, gather=parts)
        edges = relayed(without_wires(self.edges), self.relays)
        order = list(self._ordered_items(""))
        nodes = {id_: self.nodes[id_] for id_ in order if id_ in self.nodes}
        position = {id_: index for index, id_ in enumerate(nodes)}
        edges.sort(key=lambda edge: position[edge.source])
        regions = {
            id_: replace(self.records[id_], items=tuple(self.items[id_])) for id_ in ("", *order) if id_ in self.records
        }
        declarations = {id_: self.declarations[id_] for id_ in order if id_ in self.declarations}
        known = {key.name for key in interface.keys}
        added = tuple(key for name, key in self._keys.items() if name not in known)
        interface = replace(interface, keys=(*interface.keys, *added))
        nodes = with_carried_types(nodes, interface.keys)
        return Graph(name, nodes, tuple(edges), regions, declarations, interface, (), tuple(self.faults), self.profile)

    def _ordered_items(self, region: str) -> Iterator[str]:
        stack = [iter(self.items[region])]
        while stack:
            item = next(stack[-1], None)
            if item is None:
                stack.pop()
                continue
            yield item
            if item in self.records:
                stack.append(iter(self.items[item]))


def _segment(name: str) -> str:
    """Make a part of a path from a name: an identifier as it is, anything else (GF102) without what paths mean."""
    if name.isidentifier():
        return name
    return "".join(character if character.isalnum() else "_" for character in name[:40]) or "_"


def build(root: Lowerable, interface: Interface, profile: str = GRAPHFLOW) -> Graph:
    """Lower an agent tree to a graph.

    Args:
        root: the outermost agent.
        interface: the flow's declared inputs, outputs and keys.
        profile: name of the meanings that the graph is given.

    Returns:
        The graph, without state edges.
    """
    builder = Builder(profile)
    builder.add_node(Entry("@entry", "", _entry_contract(interface)))
    around = Region("", "", "", "", (), builder)
    region = builder.place(root, around, ())
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
