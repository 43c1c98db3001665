"""Pairs of writes that have no order: races, each filed under the fork that its writers come from.

Two writes of one key race if their nodes may run at the same time and both values leave what they are written in: a map
instance keeps what it writes, and of a region that ends at the first success only one branch leaves anything::

    find_races(...)     # {("p#fork", "notes"): [web's write, papers' write]}
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from graphflow.analysis.concurrency import Concurrency
from graphflow.analysis.effects import Definition, Effects, is_reserved
from graphflow.analysis.spans import Span
from graphflow.ir.graph import Graph
from graphflow.ir.nodes import Fork


def find_races(
    graph: Graph, effects: Effects, concurrency: Concurrency, kept_in: Callable[[Definition], tuple[Span, ...]]
) -> Mapping[tuple[str, str], Sequence[Definition]]:
    """Find the races of a graph.

    Args:
        graph: the program.
        effects: its definitions.
        concurrency: which nodes run side by side.
        kept_in: gives the maps whose instances keep a write to themselves.

    Returns:
        (fork, key) -> one write for each branch of the fork that takes part, in canonical order.
    """
    found: dict[tuple[str, str], dict[str, Definition]] = {}
    for left, right in _pairs(effects, concurrency):
        if kept_in(left) != kept_in(right):
            continue
        fork = concurrency.meeting(left.node, right.node)
        if fork is None or _only_first(graph, fork):
            continue
        branches = found.setdefault((fork, left.key), {})
        for definition in (left, right):
            branches.setdefault(concurrency.branch(fork, definition.node), definition)
    return {
        place: sorted(branches.values(), key=lambda definition: definition.index) for place, branches in found.items()
    }


def _pairs(effects: Effects, concurrency: Concurrency) -> Iterator[tuple[Definition, Definition]]:
    by_key: dict[str, list[Definition]] = {}
    for definition in effects.definitions:
        if definition.key not in effects.merged and not is_reserved(effects.local(definition.key)):
            by_key.setdefault(definition.key, []).append(definition)
    for definitions in by_key.values():
        writers = {definition.node: definition for definition in reversed(definitions)}
        crowd = concurrency.crowd(writers) if len(writers) > 1 else {}
        pairs = [
            (writers[id_], writers[right])
            for right in (writers if crowd else ())
            for id_ in concurrency.beside(right, crowd, earlier=True)
        ]
        ordered = [(one, two) if one.index < two.index else (two, one) for one, two in pairs]
        yield from sorted(ordered, key=lambda pair: (pair[0].index, pair[1].index))


def _only_first(graph: Graph, fork: str) -> bool:
    node = graph.nodes[fork]
    return isinstance(node, Fork) and node.group is not None and node.group.need == 1
