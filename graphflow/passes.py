"""What is done to a graph between lowering and use, in one list.

Each pass takes a graph and gives a graph; the invariants are verified before the first and after each::

    linked = run_passes(build(root, interface))
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from graphflow.analysis.facts import Facts
from graphflow.ir.graph import Graph, verify
from graphflow.ir.nodes import StateEdge


def link_state(graph: Graph) -> Graph:
    """Add a state edge from each write to each read that may see it (reaching definitions, see `analysis.keys`)."""
    facts = Facts(graph)
    linked = graph.with_state(_state_edges(facts))
    facts.left_with(linked)
    return linked


def _state_edges(facts: Facts) -> Iterator[StateEdge]:
    for node in facts.graph.nodes.values():
        for key in dict.fromkeys(read.key for read in node.contract.reads):
            for definition in facts.reaching(node.id, key):
                yield StateEdge(definition.node, node.id, key, definition.type)


PIPELINE: tuple[Callable[[Graph], Graph], ...] = (link_state,)


def run_passes(graph: Graph) -> Graph:
    """Run the pipeline.

    Args:
        graph: as lowered.

    Returns:
        The graph that is checked, run and drawn.

    Raises:
        InternalError: lowering or a pass broke an invariant.
    """
    verify(graph)
    for step in PIPELINE:
        graph = step(graph)
        verify(graph)
    return graph
