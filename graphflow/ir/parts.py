"""An agent while it is being lowered: what the builder asks of it, and the wires and ways to add to it.

::

    region = builder.region("sequence")
    first = region.child(agent)
    region.edge(region.entry, first.entry)

Nothing here knows an agent kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol

from graphflow.contracts.retry import RetryPolicy
from graphflow.ir.nodes import NEXT, Declaration, Edge, Node

if TYPE_CHECKING:
    from graphflow.ir.builder import Builder


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


@dataclass(frozen=True, slots=True)
class Passing:
    """The reserved keys through which a node of a `Workflow` is given a value and gives one; "" where nobody asks.

    Attributes:
        given: key that a parameter `node_input` is read from.
        value: key that is given the agent's value.
        route: key that is given the route the agent chose.
    """

    given: str = ""
    value: str = ""
    route: str = ""

    def part(self, *, first: bool, last: bool) -> Passing:
        """What of it concerns a stage of the agent: the first is given the value, the last gives value and route."""
        return Passing(self.given * first, self.value * last, self.route * last)


NO_PASSING = Passing()


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
        passing: what the agent is given by the nodes before it in a `Workflow` and gives to those after it.
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
    passing: Passing = NO_PASSING

    def add(self, node: Node) -> str:
        """Add a node to this region and give its id."""
        return self.builder.add_node(node, self.scope)

    def edge(self, source: str, target: str, label: str = NEXT, *, back: bool = False) -> None:
        """Add a control edge between two nodes or wires."""
        self.builder.edges.append(Edge(source, target, label, back))

    def child(
        self,
        agent: Lowerable,
        *,
        escalation: str | tuple[str, ...] | None = None,
        path: str = "",
        passing: Passing = NO_PASSING,
    ) -> Region:
        """Place a child agent here; it is lowered later.

        Args:
            agent: the child.
            escalation: ids of the joins that an escalation inside the child leads to, if not this region's own.
            path: a path that `Builder.reserve` gave for it.
            passing: the reserved keys through which it is given a value and gives one.

        Returns:
            The child's region: connect its `entry` and `exit`.
        """
        targets = (escalation,) if isinstance(escalation, str) else escalation
        around = self.escalation if targets is None else targets
        return self.builder.place(agent, self, around, path=path, passing=passing)

    @property
    def looped(self) -> bool:
        """Whether an escalation inside leads anywhere."""
        return bool(self.escalation)
