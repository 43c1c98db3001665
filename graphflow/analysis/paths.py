"""Paths that a finding shows or rests on: round a loop, forward only, or past every write of a key.

paths.without("story/editor", "draft")     # ("@entry", "story/check", "story/check#end", "story/editor")
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from graphflow.analysis.effects import Definition
from graphflow.analysis.keys import KeyFlow
from graphflow.ir.graph import Graph
from graphflow.ir.nodes import BODY, ERROR, ESCALATIONS, Edge, Join, LoopHeader, Node, called


class Paths:
    """Searches for paths in one graph.

    Args:
        graph: the program.
        flow: which of its writes reach which reads.
        loops_around: node id -> headers of the loops around it, outermost first.
    """

    def __init__(self, graph: Graph, flow: KeyFlow, loops_around: Mapping[str, Sequence[str]]) -> None:
        self._graph = graph
        self._flow = flow
        self._effects = flow.effects
        self._loops_around = loops_around

    def without(self, node_id: str, key: str) -> tuple[str, ...]:
        """Find one path from the entry to a node on which nothing surely writes `key`.

        Returns:
            Node ids, the entry first and the node last; empty if the key is written on every path.
        """
        if key not in self._effects.key_bit or self._flow.at(node_id).sure & self._effects.key_bit[key]:
            return ()
        bit = self._effects.key_bit[key]
        path, seen, left = [node_id], {node_id}, None
        while path[-1] != self._graph.entry:
            node = self._graph.nodes[path[-1]]
            into = [edge for edge in self._arriving(node, left) if not self._flow.edges[edge].sure & bit]
            ordered = sorted(into, key=lambda edge: edge.back is not (isinstance(node, LoopHeader) and len(path) == 1))
            left = next((edge for edge in ordered if edge.source not in seen), None)
            if left is None:
                break
            seen.add(left.source)
            path.append(left.source)
        return tuple(reversed(path))

    def _arriving(self, node: Node, left: Edge | None) -> Sequence[Edge]:
        """Give the edges by which a node that is then left by an edge is reached: a join passes escalations on apart."""
        into = self._graph.into(node.id)
        ways = [edge.label in ESCALATIONS for edge in self._graph.out(node.id)]
        if left is None or not isinstance(node, Join) or not any(ways):
            return into
        return [edge for edge in into if (edge.label in ESCALATIONS) == (left.label in ESCALATIONS)]

    def comes_round(self, node_id: str, definitions: Sequence[Definition]) -> bool:
        """Say whether every one of these writes reaches the node only by going round a loop that both are in."""
        return all(self._only_round(definition, node_id) for definition in definitions)

    def _only_round(self, definition: Definition, reader: str) -> bool:
        shared = set(self._loops_around[definition.node]) & set(self._loops_around[reader])
        return bool(shared) and not self._forward(definition, reader)

    def _forward(self, definition: Definition, goal: str) -> bool:
        """Whether a path on which no loop goes round leads from a write to a node; a loop may end on it."""
        start, bit = definition.node, 1 << definition.index
        lost = {span.join for span in self._flow.spans.values() if start in span.inside}
        pending = [edge for edge in self._graph.out(start) if self._effects.of(start, edge.label).made & bit]
        seen = {start}
        while pending:
            edge = pending.pop()
            if edge.label == ERROR and edge.source in lost:
                continue
            if edge.target == goal:
                return True
            if edge.back:
                again = self._graph.out(edge.target)
                pending.extend(way for way in again if way.label != BODY and called(way.label) is None)
            elif edge.target not in seen:
                seen.add(edge.target)
                pending.extend(self._graph.out(edge.target))
        return False
