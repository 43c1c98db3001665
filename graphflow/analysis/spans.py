"""What lies between a fork and the join where all that it started ends: branches of a parallel, a map's body, an attempt.

Control enters a span at its fork and leaves it at its join only. Forks of a free-form graph, whose paths may go anywhere,
have no span::

    spans_of(graph)["p#fork"].inside      # {"p/a", "p/b"}

Nothing here knows keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from graphflow.ir.graph import Graph
from graphflow.ir.nodes import Fork, Group


@dataclass(frozen=True, slots=True)
class Span:
    """One fork, its join, and what is between them.

    Attributes:
        inside: ids of the nodes between, nested spans included, fork and join left out.
    """

    fork: str
    join: str
    group: Group
    inside: frozenset[str]

    @property
    def maps(self) -> bool:
        """Whether it is the body of a map."""
        return self.group.over is not None


def spans_of(graph: Graph) -> Mapping[str, Span]:
    """Find the spans of a graph.

    Args:
        graph: the program.

    Returns:
        Fork id -> span, in canonical order: outer spans before those inside them. Cost: edges times depth of nesting.
    """
    found = {}
    for id_, node in graph.nodes.items():
        if isinstance(node, Fork):
            group = node.group or _plain(graph, node)
            if group is not None:
                found[id_] = Span(id_, group.join, group, _between(graph, id_, group.join))
    return found


def _plain(graph: Graph, fork: Fork) -> Group | None:
    """The fork of a parallel without a policy ends at the parallel's join."""
    join = f"{fork.region}#join"
    known = fork.id == f"{fork.region}#fork" and join in graph.nodes
    return Group(join) if known and graph.regions[fork.region].kind == "parallel" else None


def _between(graph: Graph, fork: str, join: str) -> frozenset[str]:
    inside: set[str] = set()
    pending = [edge.target for edge in graph.out(fork)]
    while pending:
        id_ = pending.pop()
        if id_ == join or id_ in inside:
            continue
        inside.add(id_)
        pending.extend(edge.target for edge in graph.out(id_))
    return frozenset(inside)
