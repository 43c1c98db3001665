"""What no run can get to, and the loops that no run gets out of.

An agent that cannot be reached only because a loop before it never ends is not counted: the loop is what is wrong, unless
it is not reached itself. The same holds for what an edge led to that was left out of the graph::

    unreachable_agents(graph, loops)     # ["review/archive"]: no edge leads to it
    endless_loops(graph, loops)          # ["review/draft#cycle"]: every edge in it goes round
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from graphflow.analysis.loops import Loop
from graphflow.ir.graph import Graph
from graphflow.ir.nodes import ERROR, LoopHeader


def reached_nodes(graph: Graph) -> frozenset[str]:
    """Find the nodes that some run might get to.

    Args:
        graph: the program.

    Returns:
        Ids of the nodes to which a path leads from the entry; loops of a `LoopAgent` are taken to end.
    """
    pending = [graph.entry, *(id_ for fault in graph.faults for id_ in _left_out(graph, fault.subject))]
    found = set(pending)
    while pending:
        id_ = pending.pop()
        for target in (*(edge.target for edge in graph.out(id_)), *_end_of(graph, id_)):
            if target not in found:
                found.add(target)
                pending.append(target)
    return frozenset(found)


def unreachable_agents(graph: Graph, loops: Mapping[str, Loop]) -> Sequence[str]:
    """Find the nodes of free-form graphs to which no edges lead from the start.

    Args:
        graph: the program.
        loops: its loops.

    Returns:
        Paths of agents, outermost only, in declaration order.
    """
    reached = reached_nodes(graph)
    endless = [header for header in endless_loops(graph, loops) if header in reached]
    return [
        agent
        for workflow, agents in _free_form(graph)
        if any(_within(id_, workflow) for id_ in reached)
        for agent in agents
        if not any(_within(id_, agent) for id_ in reached)
        and not any(_within(header, other) for header in endless for other in agents)
    ]


def endless_loops(graph: Graph, loops: Mapping[str, Loop]) -> Sequence[str]:
    """Find the cycles of free-form graphs that no edge leaves.

    Args:
        graph: the program.
        loops: its loops.

    Returns:
        Ids of headers, in canonical order. A failure is no way out, a possible escalation may be one.
    """
    return [
        header
        for header, loop in loops.items()
        if isinstance(graph.nodes[header], LoopHeader)
        and graph.regions[graph.nodes[header].region].kind == "workflow"
        and not any(edge.label != ERROR for edge in loop.leaving)
    ]


def _end_of(graph: Graph, id_: str) -> Sequence[str]:
    """Where a loop would lead that nothing ends."""
    node = graph.nodes[id_]
    end = f"{node.region}#exit"
    return [end] if isinstance(node, LoopHeader) and end in graph.nodes else []


def _left_out(graph: Graph, path: str) -> Iterator[str]:
    return (id_ for id_ in graph.nodes if path and _within(id_, path))


def _free_form(graph: Graph) -> Iterator[tuple[str, Sequence[str]]]:
    for id_, region in graph.regions.items():
        if region.kind == "workflow":
            yield id_, [path for path in graph.declarations if path.rpartition("/")[0] == id_]


def _within(id_: str, path: str) -> bool:
    return id_ == path or id_.startswith((f"{path}/", f"{path}#"))
