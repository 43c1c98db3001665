"""The words of pictures and tables: how guards, groups and keys are put.

::

    guard_text(RetryPolicy(3), 30.0)            "up to 3 attempts, 30 s each"
    group_text(Group("p#join", need=1), 3)      "first of 3"
    KeyNames(graph).shown("main/short/draft")   "draft"        inside the sub-flow main/short

Names are given as they are: whoever draws them cleans and shortens them. Knows the graph, and neither lines nor frames.
"""

from __future__ import annotations

from graphflow import conditions
from graphflow.conditions import Condition
from graphflow.contracts.retry import RetryPolicy
from graphflow.ir.graph import Graph
from graphflow.ir.nodes import IN, OUT, ROUTE, Fork, Group, Over, Task, agent_path
from graphflow.ir.scoping import local_key

RESERVED = (OUT, ROUTE, IN)


class KeyNames:
    """What the keys of a graph are called where they are used: in a sub-flow, without the prefix of its scope.

    Args:
        graph: any graph.
    """

    def __init__(self, graph: Graph) -> None:
        tasks = [node for node in graph.nodes.values() if isinstance(node, Task)]
        scopes = {prefix for task in tasks for prefix in (task.scope, task.fresh) if prefix}
        self._scopes = sorted(scopes, key=lambda prefix: (-len(prefix), prefix))

    def shown(self, key: str) -> str:
        """Give a key's name as its author wrote it.

        Args:
            key: its name in the graph.
        """
        scope = next((prefix for prefix in self._scopes if key.startswith(prefix)), "")
        return local_key(key, scope)

    def reserved(self, key: str) -> str:
        """Give the prefix that makes a key one of graphflow's own (`out:`, `route:`, `in:`), "" for other keys.

        Args:
            key: its name in the graph.
        """
        name = self.shown(key)
        return next((prefix for prefix in RESERVED if name.startswith(prefix)), "")

    def test(self, condition: Condition | None) -> str:
        """Write a condition with the keys as their authors wrote them; "" for none.

        Args:
            condition: a condition of the graph.
        """
        if condition is None:
            return ""
        return conditions.text(conditions.renamed(condition, self.shown) if self._scopes else condition)


def local_name(node_id: str) -> str:
    """Give the last part of a path: an agent's name, or the word for what graphflow added to it (`a/b#inputs`: `inputs`).

    Args:
        node_id: id of a node or region.
    """
    tail = node_id.rpartition("/")[2]
    return tail if agent_path(node_id) == node_id else node_id.rpartition("#")[2]


def guard_text(retry: RetryPolicy | None, timeout: float | None) -> str:
    """Say how often and how long something is tried; "" if nothing is said about it.

    Args:
        retry: its policy.
        timeout: seconds that one attempt may take.
    """
    attempts = f"up to {retry.attempts} attempts" if retry is not None else ""
    limit = _duration(timeout) if timeout is not None else ""
    return f"{attempts}, {limit} each" if attempts and limit else attempts or (limit and f"at most {limit}")


def _duration(seconds: float) -> str:
    for unit, length in (("h", 3600), ("min", 60)):
        if seconds >= 2 * length or seconds == length:
            return f"{seconds / length:g} {unit}" if seconds % length == 0 else f"{seconds:g} s"
    return f"{seconds:g} s"


def group_text(group: Group | None, branches: int) -> str:
    """Say what is not simply all of a group's instances up to their join; "" for nothing.

    Args:
        group: how a fork runs its branches, elements or attempts.
        branches: how many branches it has.
    """
    if group is None:
        return ""
    parts = [
        "" if group.need is None else f"first of {branches}" if group.need == 1 else f"{group.need} of {branches}",
        f"{group.limit} at once" if group.limit is not None else "",
        "failures collected" if group.failures == "collect" else "",
        guard_text(group.retry, group.timeout),
    ]
    return ", ".join(part for part in parts if part)


def over_text(over: Over, names: KeyNames) -> str:
    """Say what a map runs over (`each query of plan.queries`).

    Args:
        over: the map's list and item.
        names: the keys of the graph.
    """
    index = f" ({names.shown(over.index)})" if over.index else ""
    return f"each {names.shown(over.item)}{index} of {'.'.join((names.shown(over.key), *over.path))}"


def fork_text(graph: Graph, fork: Fork, names: KeyNames) -> str:
    """Say how a fork runs what it starts; "" for a plain fork.

    Args:
        graph: the graph.
        fork: one of its forks.
        names: the keys of the graph.
    """
    group = fork.group
    if group is None:
        return ""
    words = (over_text(group.over, names) if group.over is not None else "", group_text(group, len(graph.out(fork.id))))
    return ", ".join(part for part in words if part)
