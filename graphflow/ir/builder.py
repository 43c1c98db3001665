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

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol

from graphflow.contracts.contract import NOTHING, Contract, Origin, Read, Write
from graphflow.contracts.retry import RetryPolicy
from graphflow.ir.glue import Constants
from graphflow.ir.graph import Graph
from graphflow.ir.nodes import (
    BODY,
    ERROR,
    ESCALATE,
    NEXT,
    POSSIBLE_ESCALATE,
    Declaration,
    Edge,
    Entry,
    Exit,
    Fault,
    Fork,
    Group,
    Interface,
    Join,
    Node,
    Task,
)
from graphflow.ir.nodes import Region as RegionRecord
from graphflow.ir.scoping import scoped, scoped_key
from graphflow.ir.wiring import WIRE, Part, Relay, gathered, relayed, without_wires
from graphflow.schema import ANY, MISSING, Type, type_of


class Lowerable(Protocol):
    """What the builder asks of an agent.

    Attributes:
        leaf: whether it lowers to one task, which then holds its retry policy and time limit itself.
    """

    leaf: ClassVar[bool]

    @property
    def guard(self) -> Guarding:
        """What is done about failures of the agent."""

    @property
    def name(self) -> str:
        """The agent's name, valid or not."""

    @property
    def declaration(self) -> Declaration:
        """What the author declared; the builder fills in the path."""

    def lower(self, builder: Builder) -> Region:
        """Emit nodes and edges between `builder`'s current wires."""


@dataclass(frozen=True, slots=True)
class Guarding:
    """What is done about failures of an agent.

    Attributes:
        retry: when a failed attempt is followed by another.
        timeout: seconds that one attempt may take.
        fallback: the agent that runs instead when the last attempt has failed.
        values: what is written instead, key -> value.
    """

    retry: RetryPolicy | None = None
    timeout: float | None = None
    fallback: Lowerable | None = None
    values: Mapping[str, object] | None = None

    @property
    def handles(self) -> bool:
        """Whether something is done instead."""
        return self.fallback is not None or self.values is not None


UNGUARDED = Guarding()


@dataclass(slots=True)
class Region:
    """An agent while it is being lowered: its wires, and the ways to add to it.

    Attributes:
        id: path of the agent.
        parent: path of the region around it.
        entry: wire through which control comes in.
        exit: wire through which control goes out.
        escalation: ids of the joins that an escalation inside leads to; empty outside of loops.
        scope: prefix of the keys inside, for the parts of a sub-flow.
        model: the model of the agents inside that name none.
        failure: where control goes when the agent has failed for good; "" if nothing is done about it.
    """

    id: str
    parent: str
    entry: str
    exit: str
    escalation: tuple[str, ...]
    builder: Builder
    scope: str = ""
    model: object = None
    failure: str = ""

    def add(self, node: Node) -> str:
        """Add a node to this region and give its id."""
        return self.builder.add_node(node, self.scope)

    def edge(self, source: str, target: str, label: str = NEXT, *, back: bool = False) -> None:
        """Add a control edge between two nodes or wires."""
        self.builder.edges.append(Edge(source, target, label, back))

    def child(self, agent: Lowerable, *, escalation: str | tuple[str, ...] | None = None) -> Region:
        """Place a child agent here; it is lowered later.

        Args:
            agent: the child.
            escalation: ids of the joins that an escalation inside the child leads to, if not this region's own.

        Returns:
            The child's region: connect its `entry` and `exit`.
        """
        targets = (escalation,) if isinstance(escalation, str) else escalation
        return self.builder.place(agent, self, self.escalation if targets is None else targets)

    @property
    def looped(self) -> bool:
        """Whether an escalation inside leads anywhere."""
        return bool(self.escalation)


class Builder:
    """Collects what agents lower to. Make one per graph; see `build`."""

    def __init__(self) -> None:
        self.edges: list[Edge] = []
        self.nodes: dict[str, Node] = {}
        self.declarations: dict[str, Declaration] = {}
        self.faults: list[Fault] = []
        self._records: dict[str, RegionRecord] = {"": RegionRecord("", "root", None)}
        self._items: dict[str, list[str]] = {"": []}
        self._pending: list[tuple[Lowerable, Region]] = []
        self._places: dict[int, str] = {}
        self._paths: dict[str, int] = {}
        self._relays: list[Relay] = []
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

    def place(
        self, agent: Lowerable, around: Region, escalation: tuple[str, ...], *, scope: str | None = None
    ) -> Region:
        """Reserve a path and two wires for an agent and queue it for lowering.

        Args:
            agent: what to lower.
            around: the region it is put into.
            escalation: ids of the joins that an escalation inside leads to.
            scope: prefix of the keys inside; None: that of the region around.

        Returns:
            The agent's region, with what its guard adds around it: connect its `entry` and `exit`.
        """
        segment = _segment(agent.name)
        base = f"{around.id}/{segment}" if around.id else segment
        count = self._paths[base] = self._paths.get(base, 0) + 1
        path = base if count == 1 else f"{base}#{count}"
        keys = around.scope if scope is None else scope
        region = Region(path, around.id, f"{WIRE}{path}>", f"{WIRE}{path}<", escalation, self, keys, around.model)
        shared = self._places.setdefault(id(agent), path)
        self.declarations[path] = replace(agent.declaration, path=path, shared_with=None if shared == path else shared)
        inner = region if agent.guard == UNGUARDED else self._guarded(agent, region, around)
        if inner is region:
            self._items[around.id].append(path)
        self._pending.append((agent, inner))
        return region

    def _guarded(self, agent: Lowerable, region: Region, around: Region) -> Region:
        """Put around an agent what its guard asks for: attempts, a time limit, what runs instead."""
        guard, path = agent.guard, region.id
        after, failure = region.exit, ""
        inner = replace(region)
        if guard.handles:
            after, failure = f"{path}#handled", f"{WIRE}{path}!"
            inner.exit = f"{WIRE}{path}|"
        if agent.leaf:
            self._items[around.id].append(path)
        else:
            inner = self._attempts(guard, inner, around)
        inner.failure = failure
        if not guard.handles:
            return inner
        if not agent.leaf:
            self.edges.append(Edge(f"{path}#end", failure, ERROR))
        self._handler(guard, region, around, failure, after)
        if agent.leaf:
            self.edges.append(Edge(inner.exit, after))
        self.add_node(Join(after, around.id, origin=agent.declaration.origin, exclusive=True))
        self.edges.append(Edge(after, region.exit))
        return inner

    def _attempts(self, guard: Guarding, inner: Region, around: Region) -> Region:
        """A composite's attempts are the instances of a fork with one branch."""
        path, wrapper = inner.id, f"{inner.id}#guard"
        end, begin = f"{path}#end", f"{path}#try"
        origin = self.declarations[path].origin
        self._records[wrapper] = RegionRecord(wrapper, "guard", around.id, (), origin, _guard_label(guard))
        self._items[wrapper] = []
        self._items[around.id].append(wrapper)
        group = Group(end, retry=guard.retry, timeout=guard.timeout)
        self.add_node(Fork(begin, wrapper, origin=origin, group=group))
        self._items[wrapper].append(path)
        self.add_node(Join(end, wrapper, origin=origin, exclusive=True))
        body = replace(inner, parent=wrapper, entry=f"{WIRE}{path}>>", exit=f"{WIRE}{path}<<")
        body.escalation = (end,) if inner.escalation else ()
        self._relays.append(Relay(end, inner.escalation))
        self.edges += [Edge(inner.entry, begin), Edge(begin, body.entry, BODY), Edge(body.exit, end)]
        self.edges.append(Edge(end, f"{path}#handled" if guard.handles else inner.exit))
        return body

    def _handler(self, guard: Guarding, region: Region, around: Region, failure: str, after: str) -> None:
        if guard.fallback is not None:
            handler = self.place(guard.fallback, around, region.escalation)
            self.edges += [Edge(failure, handler.entry), Edge(handler.exit, after)]
            return
        values = guard.values or {}
        writes = tuple(Write(name, _plain_type(value)) for name, value in values.items())
        origin = self.declarations[region.id].origin
        node = Task(f"{region.id}#fallback", around.id, Contract(writes=writes), origin, "glue", body=Constants(values))
        self.edges += [Edge(failure, self.add_node(node, region.scope)), Edge(node.id, after)]

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

    def add_node(self, node: Node, scope: str = "") -> str:
        """Add a node that belongs to a region, after what the region holds already; its keys are those of the scope."""
        self.nodes[node.id] = scoped(node, scope)
        self._items[node.region].append(node.id)
        return node.id

    def task(self, contract: Contract, body: object, *, kind: str, **more: Any) -> Region:
        """Lower the current agent to one task between its wires, with its ways out on escalation and failure.

        Args:
            contract: what the body reads and writes.
            body: the executable.
            kind: see `Task`.
            **more: further fields of the task.

        Returns:
            The agent's region.
        """
        assert self._current is not None
        agent, region = self._current
        guard = agent.guard
        fields = {"retry": guard.retry, "timeout": guard.timeout, "body": body, **more}
        self.leaf(Task(region.id, region.parent, contract, self.origin, kind, **fields))
        self.ways_out(region.id, contract)
        return region

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
        self._relays.append(Relay(join, self.here.escalation if targets is None else targets, back))

    def gather(self, join: str, wire: str, name: str, key: str) -> None:
        """Let a join put together what nodes gave: `key`'s value as `name` where control came in through `wire`.

        Args:
            join: id of the join; it has to write an `in:` key.
            wire: a wire whose out-edge is the way to the join, or a node with an edge to it.
            name: the part's name.
            key: the part's key, as the scope around names it.
        """
        self._parts.append(Part(join, wire, name, scoped_key(key, self.here.scope)))

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
        edges = relayed(without_wires(self.edges), self._relays)
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
        return Graph(name, nodes, tuple(edges), regions, declarations, interface, faults=tuple(self.faults))

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


def _guard_label(guard: Guarding) -> str:
    attempts = f"up to {guard.retry.attempts} attempts" if guard.retry is not None else ""
    limit = f"{guard.timeout:g} s" if guard.timeout is not None else ""
    return ", ".join(part for part in (attempts, limit) if part)


def _plain_type(value: object) -> Type:
    return type_of(type(value)) if isinstance(value, (str, bool, int, float)) else ANY


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
