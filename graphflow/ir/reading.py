r"""Graphs from their text: the other direction of `text`.

::

    parse_graph(print_graph(graph)) == graph                # True
    parse_graph("graphflow-ir 1 ...\nedge a -> nowhere")    # UsageError: graph, line 2: ...

A graph that was read can be compared, checked and drawn. Its bodies, origins and declarations are not in the text, so it is
never run. Any text at all gives a graph or a `UsageError`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from graphflow.conditions.scanning import Scanner
from graphflow.errors import InternalError, UsageError
from graphflow.ir.graph import Graph, verify
from graphflow.ir.lines import EDGE, FAULT, INPUT, ITEMS, KEY, NODES, OUTPUT, REGION, STATE, Input, Output, usual_items
from graphflow.ir.names import GRAPHFLOW, PROFILE_NAMES
from graphflow.ir.nodes import Edge, Fault, Interface, Node, Region, StateEdge
from graphflow.ir.text import FORMAT
from graphflow.ir.words import Record
from graphflow.schema import Key

_MARK = "graphflow-ir"


@dataclass
class _Read:
    """What was read so far."""

    scanner: Scanner
    inputs: list[Input] = field(default_factory=list)
    outputs: list[Output] | None = None
    keys: list[Key] = field(default_factory=list)
    flags: set[str] = field(default_factory=set)
    regions: dict[str, Region] = field(default_factory=dict)
    items: dict[str, tuple[str, ...]] = field(default_factory=dict)
    nodes: dict[str, Node] = field(default_factory=dict)
    edges: list[Edge] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    state: list[StateEdge] = field(default_factory=list)
    profile: str = GRAPHFLOW


def parse_graph(text: str) -> Graph:
    """Read a graph.

    Args:
        text: as `print_graph` writes it; empty lines and spaces at the ends of lines do not count.

    Returns:
        The graph. Types are known by name; functions in conditions and merges refuse to be called; tasks have no bodies.

    Raises:
        UsageError: it is no text of a graph; the message gives the line and what was expected there.
    """
    lines = (line.rstrip(" \t\r") for line in text.split("\n"))
    scanner = Scanner("\n".join(lines).rstrip("\n") + "\n", "graph")
    name = _read_head(scanner)
    read = _Read(scanner)
    while not scanner.done:
        if not scanner.take("\n"):
            _read_line(read)
            _end_of_line(scanner)
    graph = _finished(name, read)
    try:
        verify(graph)
    except InternalError as error:
        raise UsageError(f"graph: the text was read, but it is no graph that can be: {error}") from error
    return graph


def _end_of_line(scanner: Scanner) -> None:
    if not scanner.done and not scanner.next_is("\n"):
        raise scanner.unexpected(
            "the end of the line, or the next part of it in the order in which `print_graph` writes"
        )


def _read_head(scanner: Scanner) -> str:
    if not scanner.take(f"{_MARK} "):
        raise scanner.unexpected(f"`{_MARK} {FORMAT}` and the flow's name in double quotes")
    if not scanner.take(f"{FORMAT} "):
        raise scanner.unexpected(f"format {FORMAT}, the only one that this version reads; print the graph anew with it")
    name = scanner.string()
    _end_of_line(scanner)
    return name


def _read_line(read: _Read) -> None:
    scanner = read.scanner
    for phrase in ("inputs open", "keys closed", "outputs none"):
        if scanner.take(phrase):
            read.flags.add(phrase)
            return
    for word, reader in _LINES.items():
        if scanner.take(word):
            reader(read)
            return
    for word, record in NODES.items():
        if scanner.take(word):
            _read_node(read, record)
            return
    raise scanner.unexpected(f"a line that begins with one of {', '.join(sorted((*_LINES, *NODES)))}")


def _read_input(read: _Read) -> None:
    read.inputs.append(INPUT.read(read.scanner))


def _read_output(read: _Read) -> None:
    read.outputs = [*(read.outputs or ()), OUTPUT.read(read.scanner)]


def _read_key(read: _Read) -> None:
    read.keys.append(KEY.read(read.scanner))


def _read_region(read: _Read) -> None:
    start = read.scanner.at
    region: Region = REGION.read(read.scanner)
    _once(read, region.id, start)
    if region.parent is not None and region.parent not in _around(read):
        read.scanner.at = start
        raise read.scanner.unexpected(f"a line for the region `{region.parent}` before that of `{region.id}` inside it")
    read.regions[region.id] = region
    if read.scanner.take(" items "):
        read.items[region.id] = tuple(map(str, ITEMS.read(read.scanner)))
    elif read.scanner.take(" items"):
        read.items[region.id] = ()


def _read_node(read: _Read, record: Record) -> None:
    start = read.scanner.at
    node: Any = record.read(read.scanner)
    _once(read, node.id, start)
    if node.region not in _around(read):
        read.scanner.at = start
        raise read.scanner.unexpected(f"a line for the region `{node.region}` before that of `{node.id}` inside it")
    read.nodes[node.id] = node


def _around(read: _Read) -> dict[str, Region]:
    """Give the regions known so far; the outermost one, if it is as always, has no line."""
    if not read.regions:
        read.regions[""] = Region("", "root", None)
    return read.regions


def _once(read: _Read, id_: str, start: int) -> None:
    if id_ in read.nodes or id_ in read.regions:
        read.scanner.at = start
        raise read.scanner.unexpected(f"another id, for there is a node or region `{id_}` before")


def _read_edge(read: _Read) -> None:
    start = read.scanner.at
    edge: Edge = EDGE.read(read.scanner)
    _known(read, start, edge.source, edge.target)
    read.edges.append(edge)


def _read_state(read: _Read) -> None:
    start = read.scanner.at
    edge: StateEdge = STATE.read(read.scanner)
    _known(read, start, edge.writer, edge.reader)
    read.state.append(edge)


def _known(read: _Read, start: int, *ids: str) -> None:
    for id_ in ids:
        if id_ not in read.nodes:
            read.scanner.at = start
            raise read.scanner.unexpected(f"an edge between nodes with lines above; there is none for `{id_}`")


def _read_profile(read: _Read) -> None:
    for name in PROFILE_NAMES:
        if read.scanner.take(f" {name}"):
            read.profile = name
            return
    raise read.scanner.unexpected(f"a profile: one of {', '.join(PROFILE_NAMES)}")


def _read_fault(read: _Read) -> None:
    read.faults.append(FAULT.read(read.scanner))


_LINES: dict[str, Callable[[_Read], None]] = {
    "input": _read_input,
    "key": _read_key,
    "output": _read_output,
    "region": _read_region,
    "edge": _read_edge,
    "fault": _read_fault,
    "profile": _read_profile,
    "state": _read_state,
}


def _finished(name: str, read: _Read) -> Graph:
    regions = _around(read)
    items = {**usual_items(read.nodes, regions), **read.items}
    return Graph(
        name,
        read.nodes,
        tuple(read.edges),
        {id_: replace(region, items=items[id_]) for id_, region in regions.items()},
        interface=_interface(read),
        state=tuple(read.state),
        faults=tuple(read.faults),
        profile=read.profile,
    )


def _interface(read: _Read) -> Interface:
    inputs = tuple((each.name, each.type, each.required, each.default) for each in read.inputs)
    outputs = None if read.outputs is None else tuple((each.name, each.type, each.required) for each in read.outputs)
    return Interface(
        None if "inputs open" in read.flags else inputs,
        () if outputs is None and "outputs none" in read.flags else outputs,
        tuple(read.keys),
        closed="keys closed" in read.flags,
    )
