"""`Workflow`: free-form graphs of agents and functions, written as chains of edges.

A node runs once each in-edge is settled and one has fired; several edges fork, several in-edges join; a routing dict leads
along the route that the node chose; an edge back to an earlier node makes a loop::

    Workflow("review", [
        (START, draft, judge),
        (judge, {"redo": draft, DEFAULT_ROUTE: publish}),
    ])

How edges are written is read in `graphflow.agents.edges`, loops are found in `graphflow.agents.nesting`, and
`graphflow.agents.freeform` says which nodes and edges of the graph come of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Unpack

from pydantic import PrivateAttr, field_validator, model_validator

from graphflow.agents.base import Agent
from graphflow.agents.edges import DEFAULT_ROUTE, END, START, Edge, parse_edges
from graphflow.agents.freeform import lower_shape
from graphflow.agents.options import Options
from graphflow.agents.shape import Shape, shape_of
from graphflow.ir.builder import Builder, Region

__all__ = ["DEFAULT_ROUTE", "END", "START", "Edge", "Workflow"]


class Workflow(Agent):
    """Runs agents and functions along edges: side by side, along routes, and round again.

    Args:
        name: see `Agent`.
        edges: chains such as `(START, draft, judge)`. Between commas stand agents, functions (made agents as by `@agent`),
            names of nodes, groups of these (`(mail, archive)`: all of them), or, after the node whose routes it names, a
            routing dict: route -> where it leads; `DEFAULT_ROUTE` names all other routes. A node from which no edge leads
            ends at END.
    """

    title: ClassVar[str] = "workflow"
    positional: ClassVar[tuple[str, ...]] = ("name", "edges")

    edges: Any = ()

    if TYPE_CHECKING:  # type checkers see what may be given without a name

        def __init__(self, name: str, edges: Sequence[Sequence[Any]] = (), **options: Unpack[Options]) -> None: ...

    _shape: Shape = PrivateAttr()

    @field_validator("edges", mode="plain")
    @classmethod
    def _chains(cls, value: object) -> tuple[Any, ...]:
        try:
            return parse_edges(value).chains
        except TypeError as error:
            raise ValueError(str(error)) from error

    @model_validator(mode="after")
    def _look(self) -> Workflow:
        self._shape = shape_of(parse_edges(self.edges))
        return self

    def children(self) -> Iterator[Agent]:
        """Yield the nodes in canonical order: topologically, loops together, ties in the order of the edges."""
        return iter(self._shape.order)

    @property
    def firsts(self) -> tuple[Agent, ...]:
        """The nodes that are given what the node before the workflow gives, in a `Workflow` around it."""
        return tuple(point for point in self._shape.exits[START].plain if isinstance(point, Agent))

    @property
    def last(self) -> Agent | None:
        """The node whose value and route are those of the workflow: the only one that leads to END."""
        ends = [point for point, exits in self._shape.exits.items() if END in exits.targets]
        return ends[0] if len(ends) == 1 and isinstance(ends[0], Agent) else None

    def lower(self, builder: Builder) -> Region:
        """Emit the nodes, what connects them, and the edges."""
        return lower_shape(self._shape, builder, self.last)
