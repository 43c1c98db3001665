"""Where each key is written in a picture: on the control line that brings it, else on a line of its own.

A control line brings a key from its writer to its reader directly, or through diamonds and dots. What goes in and out of
the children of a custom agent goes through its code, on the lines of the calls::

    extract -> validate        with the label        fields: dict
    code -call-> critic        with the labels       story: str, gives verdict: str

Pure: this module knows the graph and the control lines of the picture, and nothing of findings, colours or DOT.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from graphflow.ir.graph import Graph
from graphflow.ir.nodes import IN, OUT, ROUTE, Branch, Fork, Join, LoopHeader, StateEdge, Task, called
from graphflow.render.labels import KeyNames
from graphflow.render.routes import BACK, CALLING, RETURN, Route, drawn_nodes

_RETURNING = frozenset({BACK, RETURN})


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


@dataclass(frozen=True, slots=True)
class Placed:
    """Where the keys of a graph are written in its picture.

    Attributes:
        brought: control line -> what it brings.
        given: line of a call -> what the called child gives back.
        apart: lines of their own for the rest, by reader in canonical order.
    """

    brought: Mapping[Route, Sequence[Carried]]
    given: Mapping[Route, Sequence[Carried]]
    apart: Sequence[KeyLine]


def carried(graph: Graph, lines: Sequence[Route]) -> Placed:
    """Place every key that somebody asked for.

    Args:
        graph: a linked graph.
        lines: its control lines, from `routes`.

    Returns:
        A place for each key of each state edge between drawn nodes.
    """
    into: dict[str, list[Route]] = {}
    for line in lines:
        into.setdefault(line.target, []).append(line)
    drawn = set(drawn_nodes(graph, lines))
    names, order, transparent = KeyNames(graph), _reading_order(graph), _Transparent(graph)
    calls = _Calls(graph, lines)
    brought: dict[Route, list[Carried]] = {}
    given: dict[Route, list[Carried]] = {}
    own: dict[tuple[str, str], list[Carried]] = {}
    for edge in (hop for link in _links(graph, names, drawn) for hop in calls.hops(link)):
        item = Carried("value" if names.reserved(edge.key) else names.shown(edge.key), edge.type.text)
        ends = (edge.writer, edge.reader)
        call = calls.returning(edge)
        last = call or _bringing(transparent, edge, into, returns=order[edge.writer] >= order[edge.reader])
        last = last or calls.calling(edge)
        placed = brought if call is None else given
        place = own.setdefault(ends, []) if last is None else placed.setdefault(last, [])
        if item not in place:
            place.append(item)
    apart = [KeyLine(w, r, tuple(keys), order[w] >= order[r]) for (w, r), keys in own.items()]
    return Placed(brought, given, apart)


class _Calls:
    """Knows which child of which custom agent each node is in, and the lines by which the code calls it."""

    def __init__(self, graph: Graph, lines: Sequence[Route]) -> None:
        self._graph = graph
        self._code = {
            edge.source: graph.nodes[edge.source].region for edge in graph.edges if called(edge.label) is not None
        }
        self._code_of = {region: code for code, region in self._code.items()}
        self._lines: dict[tuple[str, str], list[Route]] = {}
        for line in lines:
            if line.kind == CALLING and line.source in self._code:
                child = self._children(line.target).get(self._code[line.source], "")
                self._lines.setdefault((line.source, child), []).append(line)

    def _children(self, id_: str) -> dict[str, str]:
        """Give the regions of custom agents around a node, innermost first, with what of each the node is in."""
        item, found = id_, {}
        for region in self._graph.enclosing(self._graph.nodes[id_].region):
            if region.id in self._code_of:
                found[region.id] = item
            item = region.id
        return found

    def hops(self, edge: StateEdge) -> Iterator[StateEdge]:
        """Take a key through the code of the custom agents that it leaves, enters, or crosses from child to child."""
        if not self._code:
            yield edge
            return
        left, entered = self._children(edge.writer), self._children(edge.reader)
        up = [self._code_of[region] for region, item in left.items() if entered.get(region) != item]
        down = [self._code_of[region] for region, item in entered.items() if left.get(region) != item]
        way = dict.fromkeys((edge.writer, *up, *reversed(down), edge.reader))
        if edge.writer == edge.reader:
            yield edge
        yield from (replace(edge, writer=a, reader=b) for a, b in pairwise(way))

    def returning(self, edge: StateEdge) -> Route | None:
        """Find the line of the call by which a child gives a key to the code."""
        if edge.reader not in self._code or edge.writer == edge.reader:
            return None
        return self._line(edge.reader, edge.writer)

    def calling(self, edge: StateEdge) -> Route | None:
        """Find the line of the call by which the code gives a key to something deep in a child."""
        return (
            self._line(edge.writer, edge.reader) if edge.writer in self._code and edge.writer != edge.reader else None
        )

    def _line(self, code: str, inside: str) -> Route | None:
        child = self._children(inside).get(self._code[code], "")
        lines = self._lines.get((code, child), [])
        return next((line for line in lines if line.target == inside), lines[0] if lines else None)


def _links(graph: Graph, names: KeyNames, drawn: set[str]) -> Iterator[StateEdge]:
    """Give the state edges that are drawn: between drawn nodes, of keys that somebody asked for.

    Of graphflow's own keys, a route is on the lines that leave its node, and what several nodes give to the next comes
    from them and not from the join between.
    """
    next_of: dict[str, list[str]] = {}
    for edge in graph.state:
        if names.reserved(edge.key) == IN:
            next_of.setdefault(edge.writer, []).append(edge.reader)
    for edge in graph.state:
        prefix = names.reserved(edge.key)
        if prefix in {ROUTE, IN} or edge.writer not in drawn or not _is_asked_for(graph, edge):
            continue
        if edge.reader in drawn:
            yield edge
        elif prefix == OUT:
            yield from (replace(edge, reader=reader) for reader in next_of.get(edge.reader, ()) if reader in drawn)


def _is_asked_for(graph: Graph, edge: StateEdge) -> bool:
    return any(read.key == edge.key and not read.implicit for read in graph.nodes[edge.reader].contract.reads)


def _reading_order(graph: Graph) -> dict[str, int]:
    """Give each node its place in the picture: as in the graph, but a loop's exit test comes after its body."""
    order = {id_: 2 * place for id_, place in graph.position.items()}
    for node in graph.nodes.values():
        if isinstance(node, LoopHeader):
            order[node.id] = max((order[line.source] for line in graph.into(node.id)), default=0) + 1
    return order


class _Transparent:
    """Says which nodes a key passes on its way without being changed: diamonds, dots, and the ends of maps and sub-flows."""

    def __init__(self, graph: Graph) -> None:
        self._nodes = graph.nodes

    def __call__(self, id_: str, key: str) -> bool:
        node = self._nodes[id_]
        between = (
            node.fresh is not None if isinstance(node, Task) else isinstance(node, Branch | LoopHeader | Fork | Join)
        )
        return between and all(write.key != key for write in node.contract.writes)


def _bringing(
    transparent: _Transparent, edge: StateEdge, into: dict[str, list[Route]], *, returns: bool
) -> Route | None:
    """Find the last line of a way from writer to reader on which nothing else stands but what lets the key pass."""
    direct = sorted(into.get(edge.reader, ()), key=lambda line: line.source != edge.writer)
    for last in direct:
        pending, seen = [(last, last.kind in _RETURNING)], set()
        while pending:
            line, back = pending.pop()
            if line.source == edge.writer and back == returns:
                return last
            if (line.source, back) in seen or not transparent(line.source, edge.key):
                continue
            seen.add((line.source, back))
            before = reversed(into.get(line.source, ()))
            pending.extend((earlier, back or earlier.kind in _RETURNING) for earlier in before)
    return None
