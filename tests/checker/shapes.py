"""The shapes that the analyses rest on, which every graph that lowering makes keeps and a graph changed at random may not.

`graph.verify` looks at what nobody can do without. Lowering cannot break these, so the product does not ask; tests that
change graphs do, to tell which of them are programs at all::

    shape_faults(graph)       # ["`a/loop#header` is gone round to from `b` by `next`, which is no way round it"]

- every way to the source of a back edge leads through its target, unless nothing leads to it at all; the ends of a header's
  loop, and what follows the code of a custom agent, are outside it;
- what lies between a fork with a group and its join is entered at the fork and left at the join; a map can be passed by;
- what the fields of a node name is in its contract.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from graphflow.conditions import reads
from graphflow.ir.graph import Graph
from graphflow.ir.nodes import BODY, EMPTY, EXHAUSTED, EXIT, Branch, Fork, Join, LoopHeader, Node, Over, Task, called

_ROOT = ""
"""What dominates all nodes."""


def shape_faults(graph: Graph) -> list[str]:
    """Find what lowering cannot have made.

    Args:
        graph: a graph that `verify` accepts.

    Returns:
        One line for each fault; empty for a graph as lowering makes them.
    """
    return [*_loop_faults(graph), *_fork_faults(graph), *_contract_faults(graph)]


def _loop_faults(graph: Graph) -> Iterator[str]:
    run = _reached(graph, graph.entry, "")
    above = _dominators(graph, run)
    for edge in graph.edges:
        itself = edge.source == edge.target and isinstance(graph.nodes[edge.target], Task)
        stray = edge.source in run and not _dominates(above, edge.target, edge.source)
        if edge.back and (itself or stray or edge.label in (EXIT, EXHAUSTED)):
            yield f"`{edge.target}` is gone round to from `{edge.source}` by `{edge.label}`, which is no way round it"
    headers = dict.fromkeys(edge.target for edge in graph.edges if edge.back)
    for header in headers:
        inside = _reaching(graph, header)
        node = graph.nodes[header]
        for edge in graph.out(header):
            ends = called(edge.label) is None if isinstance(node, Task) else edge.label in (EXIT, EXHAUSTED)
            if not edge.back and ends and edge.target in inside:
                yield f"`{header}` leads by `{edge.label}` to `{edge.target}`, which is inside"


def _dominators(graph: Graph, run: set[str]) -> Mapping[str, tuple[str, int]]:
    """Node that may run -> its immediate dominator over forward edges, and its depth below the root (Cooper et al. 2001)."""
    above: dict[str, tuple[str, int]] = {_ROOT: (_ROOT, 0)}
    for id_ in (id_ for id_ in graph.nodes if id_ in run):
        sources = [edge.source for edge in graph.into(id_) if not edge.back and edge.source in run]
        meet = sources[0] if sources else _ROOT
        for source in sources[1:]:
            other = source
            while meet != other:
                if above[meet][1] >= above[other][1]:
                    meet = above[meet][0]
                else:
                    other = above[other][0]
        above[id_] = (meet, above[meet][1] + 1)
    return above


def _dominates(above: Mapping[str, tuple[str, int]], first: str, second: str) -> bool:
    while first in above and above[second][1] > above[first][1]:
        second = above[second][0]
    return first == second


def _reaching(graph: Graph, header: str) -> set[str]:
    """The inside of a natural loop: what leads to a back edge without passing the header."""
    inside: set[str] = set()
    pending = [edge.source for edge in graph.into(header) if edge.back]
    while pending:
        id_ = pending.pop()
        if id_ != header and id_ not in inside:
            inside.add(id_)
            pending.extend(edge.source for edge in graph.into(id_))
    return inside


def _fork_faults(graph: Graph) -> Iterator[str]:
    known = _reached(graph, graph.entry, "")
    for id_, node in graph.nodes.items():
        join = _join_of(graph, node)
        if join is None:
            continue
        inside = _reached(graph, id_, join) - {id_}
        if graph.exit in inside or any(edge.target == id_ for name in inside for edge in graph.out(name)):
            yield f"what `{id_}` starts does not end at `{join}`"
        for name in (*inside, join):
            for edge in graph.into(name):
                if edge.source in known - inside and edge.source != id_ and not edge.back:
                    yield f"`{name}` is entered from `{edge.source}`, past `{id_}`"
        labels = [edge.label for edge in graph.out(id_)]
        if isinstance(node, Fork) and node.group is not None and node.group.over is not None:
            if sorted(labels) != sorted((BODY, EMPTY)):
                yield f"the map `{id_}` has edges {labels}"
            elif any(edge.label == EMPTY and edge.target != join for edge in graph.out(id_)):
                yield f"an empty list leads from `{id_}` elsewhere than to `{join}`"


def _join_of(graph: Graph, node: Node) -> str | None:
    if not isinstance(node, Fork):
        return None
    if node.group is not None:
        return node.group.join
    join = f"{node.region}#join"
    parallel = graph.regions[node.region].kind == "parallel" and node.id == f"{node.region}#fork"
    return join if parallel and join in graph.nodes else None


def _reached(graph: Graph, start: str, end: str) -> set[str]:
    """What paths from a node lead to before they come to another, the first included."""
    found = {start}
    pending = [start]
    while pending:
        for edge in graph.out(pending.pop()):
            if edge.target != end and edge.target not in found:
                found.add(edge.target)
                pending.append(edge.target)
    return found


def _contract_faults(graph: Graph) -> Iterator[str]:
    for id_, node in graph.nodes.items():
        if isinstance(node, Branch) and node.cases and not node.contract.reads:
            yield f"`{id_}` has cases of a key, and its contract reads none"
        named, made = _named(node)
        read = {each.key for each in node.contract.reads}
        written = {each.key for each in node.contract.writes}
        for key in [key for key in named if key not in read]:
            yield f"`{id_}` looks at `{key}`, which its contract does not read"
        for key in [key for key in made if key and key not in written]:
            yield f"`{id_}` gives `{key}`, which its contract does not write"


def _named(node: Node) -> tuple[list[str], list[str | None]]:
    """The keys that the fields of a node read and write."""
    match node:
        case Branch():
            return [name for arm in node.arms if arm.condition is not None for name, *_ in reads(arm.condition)], []
        case LoopHeader(until=until) if until is not None:
            return [name for name, *_ in reads(until)], []
        case Fork(group=group) if group is not None and isinstance(group.over, Over):
            return [group.over.key], [group.over.item, group.over.index]
        case Join():
            return [part.inner for part in node.collect], [*(part.outer for part in node.collect), node.exit_key]
        case Task():
            return [], [node.output, node.route]
    return [], []
