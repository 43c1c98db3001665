"""What names in a graph say: which keys and tasks are graphflow's own, and which meanings a graph may be given.

::

    is_reserved("out:draft")        # True: what one node of a `Workflow` gives to the next
"""

from __future__ import annotations

from graphflow.ir.nodes import IN, OUT, ROUTE

GRAPHFLOW = "graphflow"
ADK = "adk"
PROFILE_NAMES = (GRAPHFLOW, ADK)
"""The names of the meanings that a graph may have; what they stand for is in `analysis.profiles`."""


def is_reserved(key: str) -> bool:
    """Say whether a key of the graph is one that graphflow uses for itself, in whatever scope."""
    return key.rpartition("/")[2].startswith((OUT, ROUTE, IN))


def is_glue(node_id: str) -> bool:
    """Say whether a task only hands values over, so that nobody who watches a run wants to hear of it."""
    return node_id.rpartition("#")[2] in {"inputs", "outputs", "first", "again"} and "#" in node_id
