"""Which lines a picture has: control edges without the nodes that only split and unite.

Forks, joins and loop headers carry meaning for the scheduler and none for a reader of the picture. Each is routed
straight through where that needs no more lines than it has, else it stays as a dot; a loop with an exit test keeps its
header, as a diamond at the *end* of the body, where the test is made; a map keeps its ends, where one becomes many and
many become one; a router of a `Workflow` is its node, with the routes on the lines that leave it::

    fork -> a, fork -> b, a -> join, b -> join, join -> c     gives     (before) -> a, (before) -> b, a -> c, b -> c

Pure: this module knows the graph, and nothing of keys, findings, colours or DOT.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from graphflow.ir.graph import Graph
from graphflow.ir.nodes import (
    BODY,
    EMPTY,
    ERROR,
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
    Task,
    called,
)
from graphflow.render.labels import KeyNames

CONTROL = "control"
CALLING = "call"
BACK = "back"
ESCALATION = "escalate"
FAILURE = "error"
RETURN = "return"
"""From where a child of a custom agent ends back to the agent's code; not drawn, the line of the call says it."""
_RANK = (CONTROL, CALLING, ESCALATION, FAILURE, BACK, RETURN)
_KINDS = {ESCALATE: ESCALATION, POSSIBLE_ESCALATE: ESCALATION, ERROR: FAILURE}
_WORDS = {ESCALATE: ESCALATE, POSSIBLE_ESCALATE: POSSIBLE_ESCALATE, ERROR: "on error"}


@dataclass(frozen=True, slots=True)
class Route:
    """A line of control between two drawn nodes.

    Attributes:
        source: id of the node it leaves.
        target: id of the node it enters.
        kind: "control", "call" (of a custom agent's child), "back" (closes a loop), "escalate", "error" (what runs after a
            failure) or "return" (not drawn).
        labels: when it is taken, outermost last.
        closes: id of the loop header that it returns to, while that is not drawn yet.
    """

    source: str
    target: str
    kind: str = CONTROL
    labels: tuple[str, ...] = ()
    closes: str | None = None


def routes(graph: Graph) -> tuple[Route, ...]:
    """Draw control without the nodes that only split and unite.

    Args:
        graph: any graph.

    Returns:
        The lines, by source in canonical order; at most one of each kind between two nodes. A fork, join or header that
        is the end of none is not to be drawn.
    """
    names = KeyNames(graph)
    kept = _kept(graph, names)
    returns = dict(_returns(graph))
    table = _Lines(
        _line(graph, edge) for edge in graph.edges if edge.source not in returns and not _is_noise(graph, edge)
    )
    for node in graph.nodes.values():
        if node.id in kept or node.id in returns:
            continue
        match node:
            case LoopHeader():
                _through_header(graph, table, node)
            case Branch():
                _through_router(graph, table, node)
            case Fork() | Join():
                _through(graph, table, node.id)
            case _:
                pass
    lines = [_returning(line, returns.get(line.target)) for line in table]
    return _united(graph, lines)


def drawn_nodes(graph: Graph, lines: Iterable[Route]) -> list[str]:
    """Give the nodes that are drawn, in canonical order: all but those that only split, unite or choose and have no line.

    Args:
        graph: any graph.
        lines: its control lines, from `routes`.
    """
    ends = {end for line in lines for end in (line.source, line.target)}
    return [id_ for id_, node in graph.nodes.items() if id_ in ends or not _is_structure(node)]


def _is_structure(node: Node) -> bool:
    return isinstance(node, Fork | Join | LoopHeader) or (isinstance(node, Branch) and node.halt is None)


def map_ends(graph: Graph) -> frozenset[str]:
    """Give the forks and joins of maps: where a list becomes elements, and elements a list.

    Args:
        graph: any graph.
    """
    forks = [node for node in graph.nodes.values() if isinstance(node, Fork) and node.group is not None]
    ends = [(fork.id, fork.group.join) for fork in forks if fork.group is not None and fork.group.over is not None]
    return frozenset(id_ for pair in ends for id_ in pair)


def _kept(graph: Graph, names: KeyNames) -> set[str]:
    """Find the forks and joins that stay: ends of maps, what writes a key that is read, and what may fail as a whole."""
    writers = {edge.writer for edge in graph.state if not names.reserved(edge.key)}
    failing = {edge.source for edge in graph.edges if edge.label == ERROR}
    return {id_ for id_ in writers | failing if isinstance(graph.nodes[id_], Fork | Join)} | map_ends(graph)


def _returns(graph: Graph) -> Iterator[tuple[str, str]]:
    """Find the joins that bring the ends of called agents back to the code, with the code's node."""
    for edge in graph.edges:
        only = all(other.back and other.target == edge.target for other in graph.out(edge.source))
        if edge.back and only and isinstance(graph.nodes[edge.source], Join) and _is_code(graph.nodes[edge.target]):
            yield edge.source, edge.target


def _is_code(node: Node) -> bool:
    return isinstance(node, Task)


def _returning(line: Route, code: str | None) -> Route:
    return line if code is None else Route(line.source, code, RETURN)


class _Lines:
    """The lines while some are replaced, found by their ends."""

    def __init__(self, lines: Iterable[Route]) -> None:
        self._into: dict[str, dict[Route, None]] = {}
        self._out: dict[str, dict[Route, None]] = {}
        self._all: dict[Route, None] = {}
        self.add(lines)

    def __iter__(self) -> Iterator[Route]:
        return iter(self._all)

    def add(self, lines: Iterable[Route]) -> None:
        """Add lines, after those there are."""
        for line in lines:
            self._all[line] = None
            self._into.setdefault(line.target, {})[line] = None
            self._out.setdefault(line.source, {})[line] = None

    def into(self, id_: str) -> list[Route]:
        """Give the lines that enter a node."""
        return list(self._into.get(id_, ()))

    def out(self, id_: str) -> list[Route]:
        """Give the lines that leave a node."""
        return list(self._out.get(id_, ()))

    def replace(self, id_: str, made: Iterable[Route]) -> None:
        """Put lines in the place of all that enter or leave a node."""
        for line in (*self.into(id_), *self.out(id_)):
            self._all.pop(line, None)
            self._into[line.target].pop(line, None)
            self._out[line.source].pop(line, None)
        self.add(made)


def _is_noise(graph: Graph, edge: Edge) -> bool:
    """The way past the body of a map; an escalation that only an open contract makes possible, if something else leads on."""
    if edge.label == EMPTY:
        return True
    others = (other.label for other in graph.into(edge.target))
    return edge.label == POSSIBLE_ESCALATE and any(label != POSSIBLE_ESCALATE for label in others)


def _line(graph: Graph, edge: Edge) -> Route:
    label = _label(graph.nodes[edge.source], edge, graph)
    kind = CALLING if called(edge.label) is not None else _KINDS.get(edge.label, CONTROL)
    kind = BACK if edge.back and _is_code(graph.nodes[edge.target]) else kind
    return Route(edge.source, edge.target, kind, (label,) if label else (), edge.target if edge.back else None)


def _label(source: Node, edge: Edge, graph: Graph) -> str:
    if edge.label in _WORDS:
        return _WORDS[edge.label]
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


def _return_label(graph: Graph, header: LoopHeader) -> str:
    if graph.regions[header.region].kind == "workflow":
        return ""
    word = "no" if header.until is not None else "again"
    if header.bound is None:
        return word
    limit = f"up to {header.bound}" + (", else fail" if header.exhausted == "fail" else "")
    return f"no, {limit}" if header.until is not None else limit


def _joined(first: Route, second: Route) -> Route:
    kind = max(first.kind, second.kind, key=_RANK.index)
    labels = (*first.labels, *(label for label in second.labels if label not in first.labels))
    return Route(first.source, second.target, kind, labels, second.closes)


def _through(graph: Graph, lines: _Lines, id_: str) -> None:
    """Route through a fork or join, unless a dot is clearer.

    A dot stays where it saves lines, where a fork would repeat the label of the line into it, and at the end of a
    conditional with an arm that does nothing (that arm would leave the frame at once, its label on the border).
    """
    into, out = lines.into(id_), lines.out(id_)
    pairs = _pairs(into, out)
    crowded = len(pairs) >= len(into) + len(out)
    repeated = len(out) > 1 and any(line.labels for line in into)
    skipped = any(_is_branch_of(graph, line.source, id_) for line in into)
    if not (crowded or repeated or skipped):
        lines.replace(id_, pairs)


def _through_router(graph: Graph, lines: _Lines, branch: Branch) -> None:
    """Let the node of a `Workflow` that chose a route be the one that the routes leave."""
    into = lines.into(branch.id)
    inside = graph.regions[branch.region].kind == "workflow"
    if not inside or branch.halt is not None or len(into) != 1 or into[0].labels or into[0].kind != CONTROL:
        return
    if isinstance(graph.nodes[into[0].source], Task) and branch.id == f"{into[0].source}#route":
        lines.replace(branch.id, _pairs(into, lines.out(branch.id)))


def _is_branch_of(graph: Graph, source: str, join: str) -> bool:
    node = graph.nodes[source]
    conditional = graph.regions[graph.nodes[join].region].kind == "conditional"
    return conditional and isinstance(node, Branch) and node.halt is None and node.region == graph.nodes[join].region


def _pairs(into: Sequence[Route], out: Sequence[Route]) -> list[Route]:
    """Join each way in to each way out; an escalation goes on along the escalating way out, if there is one."""
    onward = [line for line in out if line.kind != ESCALATION]
    escalating = [line for line in out if line.kind == ESCALATION]
    raised = {line for line in into if line.kind == ESCALATION} if escalating else set()
    pairs = [_joined(a, b) for a in into if a not in raised for b in onward]
    return pairs + [_joined(a, b) for a in (raised or into) for b in escalating]


def _through_header(graph: Graph, lines: _Lines, header: LoopHeader) -> None:
    """Enter the body directly; come back, and leave, from the end of the body or from the diamond of the exit test."""
    own = lines.into(header.id)
    entering = [line for line in own if line.closes != header.id]
    closing = [replace(line, closes=None) for line in own if line.closes == header.id]
    out = lines.out(header.id)
    leaving = [line for line in out if line.labels != (BODY,)]
    body = [replace(line, labels=()) for line in out if line.labels == (BODY,)]
    word = _return_label(graph, header)
    again = [replace(line, kind=BACK, labels=(word,) if word else ()) for line in body]
    made = [_joined(a, b) for a in entering for b in body]
    if header.until is not None or (word and len(closing) > 1):
        made += [*closing, *again, *leaving]
    else:
        made += [_joined(a, b) for a in closing for b in (*again, *leaving)]
    lines.replace(header.id, made)


def _united(graph: Graph, lines: Iterable[Route]) -> tuple[Route, ...]:
    """Let lines of one kind between the same two nodes be one, with all their labels."""
    found: dict[tuple[str, str, str], list[tuple[str, ...]]] = {}
    for line in sorted(lines, key=lambda line: (graph.position[line.source], graph.position[line.target])):
        found.setdefault((line.source, line.target, line.kind), []).append(line.labels)
    return tuple(
        Route(source, target, kind, tuple(dict.fromkeys(", ".join(part) for part in labels if part)))
        for (source, target, kind), labels in found.items()
    )
