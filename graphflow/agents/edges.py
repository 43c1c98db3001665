"""The edges of a `Workflow` as their author writes them: chains of nodes, groups of nodes and routing dicts.

A chain leads from each of its parts to the next; a group stands for all its nodes; a routing dict says where each route of the
nodes before it leads, and what stands after the dict follows on all its targets::

    [(START, draft, review),                            # one after another
     (review, {"redo": draft, DEFAULT_ROUTE: publish}),     # one or the other
     (publish, (mail, archive), report)]                # both at once, then report

Functions become agents as by `@agent`, the same function the same agent; a name stands for the node that has it. Nothing here
knows the graph that edges are lowered to.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from types import CodeType
from typing import Any, TypeAlias

from graphflow.agents.base import Agent
from graphflow.agents.function import FunctionAgent
from graphflow.contracts.contract import Origin


class Mark(Enum):
    """What edges name besides nodes."""

    START = "START"
    END = "END"
    DEFAULT_ROUTE = "DEFAULT_ROUTE"

    def __repr__(self) -> str:
        return self.name

    __str__ = __repr__


START = Mark.START
"""Where a `Workflow` begins."""
END = Mark.END
"""Where a `Workflow` ends, on this path."""
DEFAULT_ROUTE = Mark.DEFAULT_ROUTE
"""The route taken when no other of a routing dict is."""

Point: TypeAlias = "Agent | Mark"
Named: TypeAlias = "Agent | Mark | str"


@dataclass(frozen=True, slots=True)
class Edge:
    """One edge, where a chain of two is not said shorter.

    Attributes:
        from_node: where it starts.
        to_node: where it leads.
        route: the route for which it is taken, or a list of routes; None: always.
    """

    from_node: Any
    to_node: Any
    route: Any = None

    @property
    def chain(self) -> tuple[Any, ...]:
        """The same as a chain."""
        if self.route is None:
            return (self.from_node, self.to_node)
        routes = self.route if isinstance(self.route, list) else [self.route]
        return (self.from_node, dict.fromkeys(routes, self.to_node))


SHAPE = (
    "edges are a list of chains: [(START, first, router), (router, {'yes': second, DEFAULT_ROUTE: END}), ((a, b), last)]; "
    "in a chain stand agents, functions, names of nodes, tuples of these, and routing dicts"
)


@dataclass(frozen=True, slots=True)
class Way:
    """What one route of a node leads to; `value` is `DEFAULT_ROUTE` for all routes that have no way of their own."""

    value: object
    targets: tuple[Point, ...]


@dataclass(slots=True)
class Exits:
    """Where a node leads: always to `plain`, and along the ways of its route."""

    plain: dict[Point, None] = field(default_factory=dict)
    routes: dict[tuple[object, object], dict[Point, None]] = field(default_factory=dict)

    @property
    def ways(self) -> tuple[Way, ...]:
        """The ways of its routes in the order in which they were written, the default last."""
        ways = [Way(value, tuple(targets)) for (_, value), targets in self.routes.items() if targets]
        return tuple(sorted(ways, key=lambda way: way.value is DEFAULT_ROUTE))

    def without(self, targets: Collection[Point]) -> Exits:
        """Copy the exits, leaving some targets out."""
        left = {key: {point: None for point in found if point not in targets} for key, found in self.routes.items()}
        return Exits({point: None for point in self.plain if point not in targets}, left)

    @property
    def targets(self) -> Iterator[Point]:
        """All targets, one each time an edge leads there."""
        yield from self.plain
        for targets in self.routes.values():
            yield from targets


@dataclass(slots=True)
class Edges:
    """What a list of edges says.

    Attributes:
        chains: the list as it was written, with agents in place of functions.
        nodes: the nodes in the order in which they are first named, with a number each.
        exits: node, or START -> where it leads.
        unknown: names that no node has, with the nodes that should lead there (None: the name is where an edge starts).
    """

    chains: tuple[Any, ...] = ()
    nodes: dict[Agent, int] = field(default_factory=dict)
    exits: dict[Point, Exits] = field(default_factory=dict)
    unknown: dict[tuple[str, Point | None], None] = field(default_factory=dict)


def parse_edges(given: object) -> Edges:
    """Read a list of edges.

    Args:
        given: what the author of a `Workflow` wrote.

    Returns:
        Its nodes, and where each leads.

    Raises:
        TypeError: something stands where it cannot, or is no node; the message says what edges look like.
    """
    if not isinstance(given, (list, tuple)):
        raise TypeError(f"{SHAPE}; got {_shown(given)}")
    reader = _Reader()
    chains = [reader.chain(chain) for chain in given]
    edges = Edges(tuple(chains), {agent: number for number, agent in enumerate(reader.nodes)})
    edges.exits = {START: Exits()} | {agent: Exits() for agent in edges.nodes}
    names: dict[str, Point] = {"START": START, "END": END}
    for agent in edges.nodes:
        names.setdefault(agent.name, agent)
    for chain in chains:
        _connect(chain, names, edges)
    return edges


@dataclass(slots=True)
class _Reader:
    """Reads chains and makes agents of functions."""

    nodes: dict[Agent, None] = field(default_factory=dict)
    made: dict[object, FunctionAgent] = field(default_factory=dict)

    def chain(self, given: object) -> tuple[Any, ...]:
        """Read one chain."""
        given = given.chain if isinstance(given, Edge) else given
        if not isinstance(given, (list, tuple)):
            raise TypeError(f"{SHAPE}; got {_shown(given)} where a chain is expected")
        if len(given) < 2:
            raise TypeError(f"{SHAPE}; the chain {_shown(given)} leads nowhere")
        parts: list[Any] = []
        for place, part in enumerate(given):
            if not isinstance(part, Mapping):
                parts.append(self._group(part, first=place == 0, last=place == len(given) - 1))
                continue
            if not parts or isinstance(parts[-1], dict) or START in _points(parts[-1]):
                raise TypeError(
                    f"{SHAPE}; before a routing dict stands the node whose routes it names, got {_shown(given)}"
                )
            parts.append(self._routes(part, last=place == len(given) - 1))
        return tuple(parts)

    def _routes(self, given: Mapping[Any, Any], *, last: bool) -> dict[Any, Any]:
        if not given:
            raise TypeError(f"{SHAPE}; a routing dict names at least one route")
        for route in given:
            if not isinstance(route, (str, bool, int, Enum)) or route in (START, END):
                raise TypeError(
                    f"a route is a str, a bool, an int, a member of an Enum or DEFAULT_ROUTE, got {route!r}"
                )
        return {route: self._group(target, first=False, last=last) for route, target in given.items()}

    def _group(self, given: object, *, first: bool, last: bool) -> Any:
        if not isinstance(given, (list, tuple)):
            return self._node(given, first=first, last=last)
        if not given:
            raise TypeError(f"{SHAPE}; got an empty group of nodes")
        return tuple(self._node(item, first=first, last=last) for item in given)

    def _node(self, given: object, *, first: bool, last: bool) -> Named:
        if isinstance(given, str) and given in ("START", "END"):
            given = Mark(given)
        if isinstance(given, Mark):
            if given is DEFAULT_ROUTE:
                raise TypeError(
                    "DEFAULT_ROUTE is a key of a routing dict: (router, {'yes': node, DEFAULT_ROUTE: other})"
                )
            if given is START and not first:
                raise TypeError(
                    "no edge leads to START; to go round, name the first node again: (last, {'again': first})"
                )
            if given is END and not last:
                raise TypeError("no edge leaves END; it is the last part of a chain, or the target of a route")
            return given
        if isinstance(given, str):
            return given
        if not isinstance(given, Agent):
            given = self._wrapped(given)
        self.nodes[given] = None
        return given

    def _wrapped(self, given: object) -> FunctionAgent:
        if isinstance(given, type):
            raise TypeError(
                f"`{given.__name__}` is a class; a node is an agent, such as {given.__name__}(...), or a function"
            )
        if not callable(given):
            raise TypeError(f"{SHAPE}; got {_shown(given)}")
        function: Any = given
        identity = function if isinstance(function, Hashable) else id(function)
        if identity not in self.made:
            self.made[identity] = _agent_of(given)
        return self.made[identity]


def _agent_of(func: Callable[..., Any]) -> FunctionAgent:
    """Make an agent of a function; it is said to be made where the function is, not where all functions are listed."""
    made = FunctionAgent(func=func)
    code = getattr(inspect.unwrap(func), "__code__", None)
    if isinstance(code, CodeType):
        made._origin = Origin(code.co_filename, code.co_firstlineno)  # noqa: SLF001 - there is no other way to say it
    return made


def _connect(chain: Sequence[Any], names: Mapping[str, Point], edges: Edges) -> None:
    for place in range(1, len(chain)):
        before, part = chain[place - 1], chain[place]
        for source in _resolved(_points(before), names, edges, ()):
            if not isinstance(part, dict):
                edges.exits[source].plain |= dict.fromkeys(_resolved(_points(part), names, edges, [source]))
                continue
            for route, target in part.items():
                ways = edges.exits[source].routes.setdefault((type(route), route), {})
                ways |= dict.fromkeys(_resolved(_points(target), names, edges, [source]))


def _resolved(
    points: Iterable[Named], names: Mapping[str, Point], edges: Edges, sources: Sequence[Point]
) -> Iterator[Point]:
    for point in points:
        found = names.get(point) if isinstance(point, str) else point
        if found is not None:
            yield found
        else:
            edges.unknown[str(point), sources[0] if sources else None] = None


def _points(part: Any) -> tuple[Named, ...]:
    if isinstance(part, dict):
        return tuple(dict.fromkeys(point for target in part.values() for point in _points(target)))
    return part if isinstance(part, tuple) else (part,)


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
