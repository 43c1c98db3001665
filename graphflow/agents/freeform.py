"""Which nodes and edges of the graph a `Workflow` becomes.

Around a node `w/n` stand, where they are needed: `w/n#in` (a join of its in-edges), `w/n#cycle` (the header of the loop that
it begins), `w/n#out` (a fork of its out-edges), `w/n#route` (the branch of its routes), `w/n#out2` (a fork of one route),
`w/n#back` (a join of the edges that go round); `w/n#first` and `w/n#again` hand `node_input` to the header of a loop. `w#start`
and `w#finish` are the fork and the join of the whole. No other composite uses these names::

    (START, a, b), (b, {"redo": a, DEFAULT_ROUTE: END})
    # a#cycle -body-> a -> b -> b#route -[redo]-> a#cycle (back), b#route -[default]-> on

An escalation in a `LoopAgent` around goes to the first joins on the way of its node (`#in`, `#back`, `#finish`), and from
each of these on in the same way, so that what runs beside it runs to its joins and nothing after them. What cannot be
lowered is left out and kept as a fault. Which node hands what to which is said in `graphflow.agents.passing`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

from graphflow.agents.base import Agent
from graphflow.agents.conditional import case_labels
from graphflow.agents.edges import DEFAULT_ROUTE, END, START, Point, Way
from graphflow.agents.passing import Handed, route_of, value_of, wants_input
from graphflow.agents.shape import Escapes, Shape, escapes_of
from graphflow.conditions import Is, Ref
from graphflow.contracts.contract import Contract, Read, Write
from graphflow.ir.builder import NO_PASSING, Builder, Passing, Region
from graphflow.ir.glue import Crossing
from graphflow.ir.nodes import BODY, IN, NEXT, OUT, ROUTE, Arm, Branch, Fault, Fork, Join, LoopHeader, Task
from graphflow.schema import ANY, type_of

MESSAGE = "message"
"""What `node_input` of the first nodes is read from: the run's message."""


@dataclass(frozen=True, slots=True)
class _Input:
    """How a node is given its `node_input`.

    Attributes:
        key: the key that it reads.
        joined: nodes whose values the join of its in-edges puts together under the key.
        rejoined: nodes whose values the join of the edges that go round puts together under the key.
        first: key whose value is handed over under the key before a loop.
        again: key whose value is handed over under the key when the loop goes round.
    """

    key: str
    joined: tuple[Agent, ...] = ()
    rejoined: tuple[Agent, ...] = ()
    first: str = ""
    again: str = ""


@dataclass
class _Lowering:
    """One workflow while it is being lowered."""

    shape: Shape
    builder: Builder
    region: Region
    last: Agent | None
    paths: dict[Point, str] = field(default_factory=dict)
    parts: dict[Point, Region] = field(default_factory=dict)
    inputs: dict[Point, _Input] = field(default_factory=dict)
    values: dict[Point, Handed] = field(default_factory=dict)
    gathered: set[tuple[str, str]] = field(default_factory=set)

    def nodes(self) -> None:
        """Place the nodes, with what stands before and after them."""
        if len(self.shape.exits[START].plain) > 1:
            self.region.add(Fork(f"{self.region.id}#start", self.region.id, origin=self.builder.origin))
        for agent in self.shape.order:
            self._before(agent)
            self._place(agent)
            self._after(agent)
            for header in self.shape.closing.get(agent, ()):
                self._close(header)
        if self.finish != self.region.exit:
            self.region.add(Join(self.finish, self.region.id, origin=self.builder.origin))

    @property
    def finish(self) -> str:
        """Where edges to END lead: a join if there are several, else straight out."""
        several = len(self.shape.entering[END]) > 1
        return f"{self.region.id}#finish" if several else self.region.exit

    def joined(self, point: Point) -> str:
        """Id of the join of a node's in-edges, "" if there is none."""
        return f"{self.paths[point]}#in" if len(self.shape.entering[point]) > 1 else ""

    def rejoined(self, header: Point) -> str:
        """Id of the join of the edges that go round, "" if there is none."""
        return f"{self.paths[header]}#back" if len(self.shape.returning[header]) > 1 else ""

    @cached_property
    def escapes(self) -> Escapes:
        """Where escalations go to."""
        finish = self.finish if self.finish != self.region.exit else ""
        return escapes_of(self.shape, self.joined, self.rejoined, finish)

    def _escapes(self, joins: tuple[str, ...]) -> tuple[str, ...]:
        """Where an escalation goes that comes to these joins first: nowhere outside of loops."""
        return (joins or self.region.escalation) if self.region.looped else ()

    def _before(self, agent: Agent) -> None:
        path, given = self.paths[agent], self.inputs.get(agent)
        if self.joined(agent):
            self._join(self.joined(agent), given.key if given else "", given.joined if given else ())
        if given and given.first:
            self._hand_over(f"{path}#first", given.first, given.key)
        if self.shape.loop(agent):
            self.region.add(LoopHeader(f"{path}#cycle", self.region.id, origin=self.builder.origin))

    def _place(self, agent: Agent) -> None:
        escalation = self._escapes(self.escapes.onward[agent])
        given, value, route = self.inputs.get(agent), self.values.get(agent), self.route(agent)
        passing = Passing(
            given.key if given else "",
            value.key if value and value.reserved else "",
            route.key if route.reserved and (self.shape.exits[agent].ways or self._asked(agent).route) else "",
        )
        self.parts[agent] = self.region.child(agent, escalation=escalation, path=self.paths[agent], passing=passing)

    def route(self, agent: Agent) -> Handed:
        """Where the route of a node is found."""
        return route_of(agent, self._asked(agent).route or f"{ROUTE}{self.name(agent)}")

    def value(self, agent: Agent) -> Handed:
        """Where the value of a node is found."""
        return value_of(agent, self._asked(agent).value or f"{OUT}{self.name(agent)}")

    def _asked(self, agent: Agent) -> Passing:
        """What is asked of a node from outside: what the workflow is asked for, of its last node."""
        return self.region.passing if agent is self.last else NO_PASSING

    def name(self, agent: Point) -> str:
        """The name by which reserved keys call a node: the last part of its path."""
        return self.paths[agent].rpartition("/")[2]

    def _after(self, agent: Agent) -> None:
        path, exits = self.paths[agent], self.shape.exits[agent]
        ways = exits.ways
        if len(exits.plain) + bool(ways) > 1:
            self.region.add(Fork(f"{path}#out", self.region.id, origin=self.builder.origin))
        if not ways:
            return
        route = self.route(agent)
        self.region.add(
            Branch(
                f"{path}#route",
                self.region.id,
                Contract(reads=(Read(route.key),)),
                self.builder.origin,
                self._arms(agent),
                subject=f"route of {self.name(agent)}" if route.reserved else route.key,
                cases=True,
                multiple=route.many,
            )
        )
        for fork in filter(None, (fork for _, fork in self._forks(agent))):
            self.region.add(Fork(fork, self.region.id, origin=self.builder.origin))

    def _arms(self, agent: Agent) -> tuple[Arm, ...]:
        """The arms of a node's branch, one for each way of its route."""
        ways, key = self.shape.exits[agent].ways, Ref(self.route(agent).key)
        labels = case_labels([way.value for way in ways if way.value is not DEFAULT_ROUTE])
        cases = tuple(Arm(label, Is(key, way.value)) for way, label in zip(ways, labels, strict=False))
        return cases if len(cases) == len(ways) else (*cases, Arm("default"))

    def _forks(self, agent: Agent) -> Iterator[tuple[Way, str]]:
        """Give the ways of a node's route, each with the id of its fork, "" where it has one target."""
        count = 1
        for way in self.shape.exits[agent].ways:
            count += len(way.targets) > 1
            yield way, f"{self.paths[agent]}#out{count}" if len(way.targets) > 1 else ""

    def _close(self, header: Agent) -> None:
        given = self.inputs.get(header)
        if self.rejoined(header):
            self._join(self.rejoined(header), given.key if given else "", given.rejoined if given else ())
        if given and given.again:
            self._hand_over(f"{self.paths[header]}#again", given.again, given.key)

    def _join(self, id_: str, key: str, sources: Sequence[Agent]) -> None:
        reads = tuple(Read(self.values[agent].key, optional=True) for agent in sources)
        writes = (Write(key, type_of(dict[str, Any])),) if sources else ()
        self.region.add(Join(id_, self.region.id, Contract(reads, writes), self.builder.origin))

    def _hand_over(self, id_: str, source: str, key: str) -> None:
        types = {handed.key: handed.type for handed in self.values.values()}
        maybe = source == MESSAGE
        read = Read(source, optional=maybe, implicit=maybe)
        contract = Contract((read,), (Write(key, types.get(source, ANY), sure=not maybe),))
        self.region.add(
            Task(id_, self.region.id, contract, self.builder.origin, kind="glue", body=Crossing({key: source}))
        )

    @property
    def begin(self) -> str:
        """The key that holds what the first nodes are given."""
        return self.region.passing.given or MESSAGE

    def edges(self) -> None:
        """Add the edges."""
        begin, source = self.shape.exits[START].plain, self.region.entry
        if len(begin) > 1:
            self.region.edge(source, f"{self.region.id}#start")
            source = f"{self.region.id}#start"
        for target in begin:
            self._edge(source, START, target)
        for agent in self.shape.order:
            self._ways_in(agent)
            self._ways_out(agent)
            for header in self.shape.closing.get(agent, ()):
                self._round(header)
        if self.finish != self.region.exit:
            self.region.edge(self.finish, self.region.exit)
            self.builder.relay(self.finish)

    def _edge(self, source: str, node: Point, target: Point, label: str = NEXT) -> None:
        """Add the edge by which a node leads to another; `source` is what it leaves."""
        if target is END:
            self.region.edge(source, self.finish, label)
            return
        back = self.shape.is_back(node, target)
        entry, *_ = self._returns(target) if back else self._entries(target)
        self.region.edge(source, entry, label, back=entry == f"{self.paths[target]}#cycle" and back)
        given = self.inputs.get(target)
        if given and node in (given.rejoined if back else given.joined) and (entry, source) not in self.gathered:
            self.gathered.add((entry, source))
            self.builder.gather(entry, source, self.name(node), self.values[node].key)

    def _entries(self, agent: Point) -> list[str]:
        """What the edges to a node that do not go round lead through, the node's own entry last."""
        path, given = self.paths[agent], self.inputs.get(agent)
        first = f"{path}#first" if given and given.first else ""
        header = f"{path}#cycle" if self.shape.loop(agent) else ""
        return [id_ for id_ in (self.joined(agent), first, header, self.parts[agent].entry) if id_]

    def _returns(self, header: Point) -> list[str]:
        """What the edges that go round lead through, the header last."""
        path, given = self.paths[header], self.inputs.get(header)
        again = f"{path}#again" if given and given.again else ""
        return [id_ for id_ in (self.rejoined(header), again, f"{path}#cycle") if id_]

    def _ways_in(self, agent: Agent) -> None:
        entries = self._entries(agent)
        for source, target in pairwise(entries):
            self.region.edge(source, target, BODY if source == f"{self.paths[agent]}#cycle" else NEXT)
        if self.joined(agent):
            self.builder.relay(self.joined(agent), self._escapes(self.escapes.beyond[agent]))

    def _ways_out(self, agent: Agent) -> None:
        source, path, exits = self.parts[agent].exit, self.paths[agent], self.shape.exits[agent]
        branch = f"{path}#route" if exits.ways else ""
        if len(exits.plain) + bool(branch) > 1:
            self.region.edge(source, f"{path}#out")
            source = f"{path}#out"
        for target in exits.plain:
            self._edge(source, agent, target)
        if not branch:
            return
        self.region.edge(source, branch)
        for arm, (way, fork) in zip(self._arms(agent), self._forks(agent), strict=True):
            if fork:
                self.region.edge(branch, fork, arm.label)
            for target in way.targets:
                self._edge(fork or branch, agent, target, NEXT if fork else arm.label)

    def _round(self, header: Agent) -> None:
        for source, target in pairwise(self._returns(header)):
            self.region.edge(source, target, back=target == f"{self.paths[header]}#cycle")
        if self.rejoined(header):
            self.builder.relay(self.rejoined(header), self._escapes(self.escapes.beyond[header]))


def lower_shape(shape: Shape, builder: Builder, last: Agent | None) -> Region:
    """Lower a workflow.

    Args:
        shape: its edges, looked at.
        builder: builds the graph; the current agent is the workflow.
        last: the node whose value and route are the workflow's.

    Returns:
        The workflow's region.
    """
    lowering = _Lowering(shape, builder, builder.region("workflow"), last)
    for agent in shape.order:
        lowering.paths[agent] = builder.reserve(agent, lowering.region)
    _plan_inputs(lowering)
    lowering.nodes()
    lowering.edges()
    builder.faults += _faults(lowering)
    return lowering.region


def _plan_inputs(lowering: _Lowering) -> None:
    """Find out which nodes are given the values of which."""
    shape = lowering.shape
    if lowering.last is not None and lowering.region.passing.value:
        lowering.values[lowering.last] = lowering.value(lowering.last)
    for agent in shape.order:
        if not wants_input(agent):
            continue
        entering = list(dict.fromkeys(shape.entering[agent]))
        returning = [point for point in dict.fromkeys(shape.returning[agent]) if isinstance(point, Agent)]
        sources = [point for point in entering if isinstance(point, Agent)]
        for source in (*sources, *returning):
            lowering.values[source] = lowering.value(source)
        lowering.inputs[agent] = _input(lowering, agent, entering, returning)


def _input(lowering: _Lowering, agent: Agent, entering: Sequence[Point], returning: Sequence[Agent]) -> _Input:
    keys = [lowering.values[point].key if isinstance(point, Agent) else lowering.begin for point in entering]
    if not returning and len(keys) == 1:
        return _Input(keys[0])
    return _Input(
        f"{IN}{lowering.name(agent)}",
        tuple(point for point in entering if isinstance(point, Agent)) if len(keys) > 1 else (),
        tuple(returning) if len(returning) > 1 else (),
        keys[0] if len(keys) == 1 else "",
        lowering.values[returning[0]].key if len(returning) == 1 else "",
    )


def _faults(lowering: _Lowering) -> Iterator[Fault]:
    shape, paths = lowering.shape, lowering.paths
    targets = {name for name, source in shape.edges.unknown if source is not None}
    for name, source in shape.edges.unknown:
        if source is not None or name not in targets:
            yield Fault("unknown-target", paths.get(source, lowering.region.id) if source else lowering.region.id, name)
    agents = tuple(shape.edges.nodes)
    for (begin, target), header in shape.nesting.irreducible.items():
        related = (paths[agents[begin]],) if begin >= 0 else ()
        yield Fault("irreducible-cycle", paths[agents[header]], paths[agents[target]], related)
