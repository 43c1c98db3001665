"""How far an escalation goes.

::

    loops_ended(graph, "story/outer/inner/judge")       # ["story/outer/inner"], and "story/outer" where it crosses loops

It follows the edges of escalations from join to join; the code of a custom agent stops it.
"""

from __future__ import annotations

from collections.abc import Sequence

from graphflow.ir.graph import Graph
from graphflow.ir.nodes import ESCALATE, Join, agent_path


def loops_ended(graph: Graph, task: str) -> Sequence[str]:
    """Name the loops that an escalation of a task ends, the innermost first.

    Args:
        graph: the program.
        task: id of the task; what only an open contract makes possible is left out.
    """
    pending, found = [task], {task: None}
    while pending:
        id_ = pending.pop(0)
        for edge in graph.out(id_):
            if edge.label == ESCALATE and edge.target not in found and isinstance(graph.nodes[edge.target], Join):
                found[edge.target] = None
                pending.append(edge.target)
    paths = [agent_path(id_) for id_ in found if id_.endswith("#exit")]
    return [path for path in paths if path in graph.regions and graph.regions[path].kind == "loop"]
