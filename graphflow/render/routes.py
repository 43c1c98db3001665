"""Which lines a picture has: control edges without the nodes that only split and unite, and where each key is written.

Forks, joins and loop headers carry meaning for the scheduler and none for a reader of the picture. Each is routed
straight through where that needs no more lines than it has, else it stays as a dot; a loop with an exit test keeps its
header, as a diamond at the *end* of the body, where the test is made::

    fork -> a, fork -> b, a -> join, b -> join, join -> c     gives     (before) -> a, (before) -> b, a -> c, b -> c

A key is written on the control line that brings it (from its writer, directly or through diamonds and dots); any other
gets a line of its own. Pure: this module knows the graph, and nothing of findings, colours or DOT.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from graphflow import conditions
from graphflow.ir.graph import Graph
from graphflow.ir.nodes import (
    BODY,
    ESCALATE,
    EXHAUSTED,
    EXIT,
    POSSIBLE_ESCALATE,
    Branch,
    Edge,
    Fork,
    Join,
    LoopHeader,
    Node,
    StateEdge,
)

CONTROL = "control"
BACK = "back"
ESCALATION = "escalate"
_RANK = (CONTROL, ESCALATION, BACK)


@dataclass(frozen=True, slots=True)
class Route:
    """A line of control between two drawn nodes.

    Attributes:
        source: id of the node it leaves.
        target: id of the node it enters.
        kind: "control", "back" (closes a loop) or "escalate".
        labels: when it is taken, outermost last.
        closes: id of the loop header that it returns to, while that is not drawn yet.
    """

    source: str
    target: str
    kind: str = CONTROL
    labels: tuple[str, ...] = ()
    closes: str | None = None


@dataclass(frozen=True, slots=True)
class Carried:
    """One key on a line: who reads it, and as what it was written."""

    key: str
    type: str


@dataclass(frozen=True, slots=True)
class KeyLine:
    """Keys that no control line brings: from their writer straight to their reader."""

    writer: str
    reader: str
    keys: tuple[Carried, ...]
    back: bool


def routes(graph: Graph) -> tuple[Route, ...]:
    """Draw control without the nodes that only split and unite.

    Args:
        graph: any graph.

    Returns:
        The lines, by source in canonical order; at most one of each kind between two nodes. A fork, join or header that
        is the end of none is not to be drawn.
    """
    lines = [_line(graph, edge) for edge in graph.edges if not _is_noise(graph, edge)]
    for node in graph.nodes.values():
        match node:
            case LoopHeader():
                lines = _through_header(lines, node)
            case Fork() | Join() if not any(edge.writer == node.id for edge in graph.state):
                lines = _through(graph, lines, node.id)
            case _:
                pass
    return _united(graph, lines)


def _is_noise(graph: Graph, edge: Edge) -> bool:
    """An escalation that only an open contract makes possible is drawn where nothing else leads on."""
    others = (other.label for other in graph.into(edge.target))
    return edge.label == POSSIBLE_ESCALATE and any(label != POSSIBLE_ESCALATE for label in others)


def _line(graph: Graph, edge: Edge) -> Route:
    label = _label(graph.nodes[edge.source], edge, graph)
    kind = ESCALATION if edge.label in {ESCALATE, POSSIBLE_ESCALATE} else CONTROL
    return Route(edge.source, edge.target, kind, (label,) if label else (), edge.target if edge.back else None)


def _label(source: Node, edge: Edge, graph: Graph) -> str:
    if edge.label in {ESCALATE, POSSIBLE_ESCALATE}:
        return edge.label
    match source:
        case Branch(halt=None, cases=True):
            return edge.label
        case Branch(halt=None):
            return {"then": "yes", "otherwise": "no"}.get(edge.label, edge.label)
        case LoopHeader() if edge.label == EXIT:
            handled = source.exhausted == "fail" or any(other.label == EXHAUSTED for other in graph.out(source.id))
            bound = f"after {source.bound}" if source.bound is not None and not handled else ""
            return " or ".join(part for part in ("yes" if source.until is not None else "", bound) if part)
        case LoopHeader() if edge.label == EXHAUSTED:
            return f"after {source.bound}"
        case LoopHeader():
            return edge.label
        case _:
            return ""


def _return_label(header: LoopHeader) -> str:
    word = "no" if header.until is not None else "again"
    if header.bound is None:
        return word
    limit = f"up to {header.bound}" + (", else fail" if header.exhausted == "fail" else "")
    return f"no, {limit}" if header.until is not None else limit


def exit_test(header: LoopHeader) -> str:
    """Give the exit test of a loop as text; empty if it has none."""
    return conditions.text(header.until) if header.until is not None else ""


def _joined(first: Route, second: Route) -> Route:
    kind = max(first.kind, second.kind, key=_RANK.index)
    labels = (*first.labels, *(label for label in second.labels if label not in first.labels))
    return Route(first.source, second.target, kind, labels, second.closes)


def _through(graph: Graph, lines: list[Route], id_: str) -> list[Route]:
    """Route through a fork or join, unless a dot is clearer.

    A dot stays where it saves lines, where a fork would repeat the label of the line into it, and at the end of a
    conditional with an arm that does nothing (that arm would leave the frame at once, its label on the border).
    """
    into = [line for line in lines if line.target == id_]
    out = [line for line in lines if line.source == id_]
    pairs = _pairs(into, out)
    crowded = len(pairs) >= len(into) + len(out)
    repeated = len(out) > 1 and any(line.labels for line in into)
    skipped = any(_is_branch_of(graph, line.source, id_) for line in into)
    if crowded or repeated or skipped:
        return lines
    return _replaced(lines, {id_}, pairs)


def _is_branch_of(graph: Graph, source: str, join: str) -> bool:
    node = graph.nodes[source]
    return isinstance(node, Branch) and node.halt is None and node.region == graph.nodes[join].region


def _pairs(into: Sequence[Route], out: Sequence[Route]) -> list[Route]:
    """Join each way in to each way out; an escalation goes on along the escalating way out, if there is one."""
    onward = [line for line in out if line.kind != ESCALATION]
    escalating = [line for line in out if line.kind == ESCALATION]
    raised = {line for line in into if line.kind == ESCALATION} if escalating else set()
    pairs = [_joined(a, b) for a in into if a not in raised for b in onward]
    return pairs + [_joined(a, b) for a in (raised or into) for b in escalating]


def _through_header(lines: list[Route], header: LoopHeader) -> list[Route]:
    """Enter the body directly; come back, and leave, from the end of the body or from the diamond of the exit test."""
    own = [line for line in lines if line.target == header.id]
    entering = [line for line in own if line.closes != header.id]
    closing = [replace(line, closes=None) for line in own if line.closes == header.id]
    out = [line for line in lines if line.source == header.id]
    leaving = [line for line in out if line.labels != (BODY,)]
    body = [replace(line, labels=()) for line in out if line.labels == (BODY,)]
    again = [replace(line, kind=BACK, labels=(_return_label(header),)) for line in body]
    made = [_joined(a, b) for a in entering for b in body]
    if header.until is not None or len(closing) > 1:
        made += [*closing, *again, *leaving]
    else:
        made += [_joined(a, b) for a in closing for b in (*again, *leaving)]
    return _replaced(lines, {header.id}, made)


def _replaced(lines: Iterable[Route], ends: set[str], made: Iterable[Route]) -> list[Route]:
    kept = [line for line in lines if line.source not in ends and line.target not in ends]
    return [*kept, *made]


def _united(graph: Graph, lines: Iterable[Route]) -> tuple[Route, ...]:
    """Let lines of one kind between the same two nodes be one, with all their labels."""
    found: dict[tuple[str, str, str], list[tuple[str, ...]]] = {}
    for line in sorted(lines, key=lambda line: (graph.position[line.source], graph.position[line.target])):
        found.setdefault((line.source, line.target, line.kind), []).append(line.labels)
    return tuple(
        Route(source, target, kind, tuple(dict.fromkeys(", ".join(part) for part in labels if part)))
        for (source, target, kind), labels in found.items()
    )


def carried(graph: Graph, lines: Sequence[Route]) -> tuple[dict[Route, list[Carried]], list[KeyLine]]:
    """Place every key that somebody asked for.

    Args:
        graph: a linked graph.
        lines: its control lines, from `routes`.

    Returns:
        What each control line brings, and the lines of their own for the rest, by reader in canonical order.
    """
    into: dict[str, list[Route]] = {}
    for line in lines:
        into.setdefault(line.target, []).append(line)
    order = _reading_order(graph)
    brought: dict[Route, list[Carried]] = {}
    own: dict[tuple[str, str], list[Carried]] = {}
    for edge in graph.state:
        if not _is_asked_for(graph, edge):
            continue
        item = Carried(edge.key, edge.type.text)
        ends = (edge.writer, edge.reader)
        last = _bringing(graph, edge, into, returns=order[edge.writer] >= order[edge.reader])
        place = brought.setdefault(last, []) if last is not None else own.setdefault(ends, [])
        if item not in place:
            place.append(item)
    return brought, [KeyLine(w, r, tuple(keys), order[w] >= order[r]) for (w, r), keys in own.items()]


def _is_asked_for(graph: Graph, edge: StateEdge) -> bool:
    return any(read.key == edge.key and not read.implicit for read in graph.nodes[edge.reader].contract.reads)


def _reading_order(graph: Graph) -> dict[str, int]:
    """Give each node its place in the picture: as in the graph, but a loop's exit test comes after its body."""
    order = {id_: 2 * place for id_, place in graph.position.items()}
    for node in graph.nodes.values():
        if isinstance(node, LoopHeader):
            order[node.id] = max(order[line.source] for line in graph.into(node.id)) + 1
    return order


def _bringing(graph: Graph, edge: StateEdge, into: dict[str, list[Route]], *, returns: bool) -> Route | None:
    """Find the last line of a way from writer to reader on which nothing else stands but diamonds and dots."""
    direct = sorted(into.get(edge.reader, ()), key=lambda line: line.source != edge.writer)
    for last in direct:
        pending, seen = [(last, last.kind == BACK)], set()
        while pending:
            line, back = pending.pop()
            if line.source == edge.writer and back == returns:
                return last
            if (line.source, back) in seen or not _is_transparent(graph.nodes[line.source]):
                continue
            seen.add((line.source, back))
            pending.extend((before, back or before.kind == BACK) for before in reversed(into.get(line.source, ())))
    return None


def _is_transparent(node: Node) -> bool:
    return isinstance(node, Branch | LoopHeader | Fork | Join) and not node.contract.writes
