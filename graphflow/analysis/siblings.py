"""What runs beside a stage, inside the loop that it may end.

::

    apart_in_loop(graph, task)      # "refine/review", a parallel between the task and the loop `refine`

It follows regions, no paths.
"""

from __future__ import annotations

from graphflow.ir.graph import Graph
from graphflow.ir.nodes import Fork, Task


def apart_in_loop(graph: Graph, task: Task) -> str | None:
    """Name the innermost parallel or map between a task and its loop in which others run on when the task escalates.

    Args:
        graph: the program.
        task: the task that may escalate. What a child of a custom agent says ends at the agent's code.

    Returns:
        The region's id; None if there is no loop, or nothing between in which others run on.
    """
    region = graph.regions[task.region]
    if region.kind == "custom" and task.kind == "custom":
        region = graph.regions[region.parent or ""]
    found, own = None, True
    while region.parent is not None and region.kind != "subflow":
        if region.kind == "loop":
            return found
        own = own and region.kind != "custom"
        if own and found is None and region.kind in ("parallel", "map") and _others_run_on(graph, region.id):
            found = region.id
        region = graph.regions[region.parent]
    return None


def _others_run_on(graph: Graph, region: str) -> bool:
    fork = graph.nodes.get(f"{region}#fork")
    if not isinstance(fork, Fork):
        return False
    if fork.group is not None and fork.group.over is not None:
        return True
    first = fork.group is not None and fork.group.need == 1
    return not first and len(graph.out(fork.id)) > 1
