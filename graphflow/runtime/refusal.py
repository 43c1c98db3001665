"""Graphs that cannot be run, whatever the check was told: found before anything starts.

::

    refuse(graph)       # raises for a cycle that keeps the body of a loop from ever ending
"""

from __future__ import annotations

from collections.abc import Iterator

from graphflow.errors import ContractViolation
from graphflow.ir.graph import Graph
from graphflow.ir.nodes import EMPTY, Fork, LoopHeader, Task, agent_path, called
from graphflow.runtime.scopes import reachable


def refuse(graph: Graph) -> None:
    """Refuse to run what cannot be run.

    Args:
        graph: a verified graph.

    Raises:
        ContractViolation: the graph has faults; something repeated has no way to its end; or a composite is to be tried again
            although it holds a task whose effect cannot be taken back.
    """
    for fault in graph.faults:
        raise ContractViolation(f"`{fault.node}` cannot be run: {fault.kind} `{fault.subject}`; `check` says more")
    for id_ in _endless(graph):
        raise ContractViolation(
            f"`{agent_path(id_)}` cannot be run: a cycle inside of it is never left, so that it cannot end; "
            f"`check` says where",
            node=id_,
        )
    _refuse_repeated_effects(graph)


def _endless(graph: Graph) -> Iterator[str]:
    """The headers of what would never come to its end."""
    alive = reachable(graph)
    returned = {edge.target for edge in graph.edges if edge.back and edge.source in alive}
    for id_, node in graph.nodes.items():
        if id_ not in alive:
            continue
        match node:
            case LoopHeader() if id_ not in returned:
                yield id_
            case Fork(group=group) if group is not None:
                ways = [edge.target for edge in graph.out(id_) if edge.label != EMPTY]
                if not all(_leads(graph, target, group.join) for target in ways):
                    yield id_
            case Task():
                calls = [edge.target for edge in graph.out(id_) if called(edge.label) is not None]
                if not all(_leads(graph, target, id_) for target in calls):
                    yield id_
            case _:
                pass


def _leads(graph: Graph, start: str, goal: str) -> bool:
    pending, seen = [start], set[str]()
    while pending:
        id_ = pending.pop()
        if id_ == goal:
            return True
        if id_ not in seen:
            seen.add(id_)
            pending.extend(edge.target for edge in graph.out(id_))
    return False


def _refuse_repeated_effects(graph: Graph) -> None:
    effects = [id_ for id_, node in graph.nodes.items() if node.contract.effect == "irreversible"]
    for node in graph.nodes.values():
        if not isinstance(node, Fork) or node.group is None or node.group.retry is None or not effects:
            continue
        inside = [
            id_
            for id_ in effects
            if any(region.id == node.region for region in graph.enclosing(graph.nodes[id_].region))
        ]
        if inside and node.group.retry.attempts > 1:
            raise ContractViolation(
                f"`{agent_path(node.id)}` is tried again when it fails, but `{inside[0]}` in it has an effect that cannot be "
                f"taken back; give retry= to the stages that may be repeated"
            )
