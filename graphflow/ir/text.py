"""The one text form of the IR: stable, readable, the base of golden tests, fingerprints and bug reports.

One line for each thing, in canonical order; ids and types as they are, free text as JSON strings::

    graphflow-ir 1 "story"
    input topic: str
    region story sequence
    task story/writer model reads topic: str writes draft: str
    edge @entry -> story/writer
    state @entry -> story/writer topic: str

Nothing about the machine, the file system or the run is in it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import assert_never

from graphflow import conditions
from graphflow.contracts.contract import Contract, Read
from graphflow.ir.graph import Graph
from graphflow.ir.nodes import Branch, Entry, Exit, Fork, Join, LoopHeader, Node, Region, StateEdge, Task
from graphflow.schema import MISSING, type_of

FORMAT = 1


def print_graph(graph: Graph, *, state: bool = True, models: bool = True) -> str:
    """Write a graph as text.

    Args:
        graph: any graph.
        state: whether to write the state edges, which follow from the rest.
        models: whether to write model names and halt reasons, which do not count for the fingerprint.

    Returns:
        Lines that end in a newline; equal graphs give equal text on every machine.
    """
    return "\n".join([*_lines(graph, models), *(_state_line(edge) for edge in graph.state if state)]) + "\n"


def _lines(graph: Graph, models: bool) -> Iterator[str]:  # noqa: FBT001
    yield f"graphflow-ir {FORMAT} {json.dumps(graph.name)}"
    yield from _interface_lines(graph)
    for region in graph.regions.values():
        if region.parent is not None:
            yield _region_line(region)
    for node in graph.nodes.values():
        yield _node_line(node, models)
        if isinstance(node, Branch):
            for arm in node.arms:
                test = f" when {conditions.text(arm.condition)}" if arm.condition is not None else ""
                yield f"  arm {json.dumps(arm.label)}{test}"
    for edge in graph.edges:
        label = "" if edge.label == "next" else f" [{json.dumps(edge.label)[1:-1]}]"
        yield f"edge {edge.source} -> {edge.target}{label}{' back' if edge.back else ''}"


def _interface_lines(graph: Graph) -> Iterator[str]:
    interface = graph.interface
    if interface.inputs is None:
        yield "inputs open"
    for name, type_, required, default in interface.inputs or ():
        value = "" if default is MISSING else f" = {default!r}"
        yield f"input {name}{'' if required else '?'}: {type_.text}{value}"
    for key in interface.keys:
        merge = f" merge={key.merge.name}" if key.merge is not None else ""
        default = "" if key.default is MISSING else f" = {key.default!r}"
        yield f"key {key.name}: {type_of(key.type).text}{default}{merge}{' persist' if key.persist else ''}"
    if interface.closed:
        yield "keys closed"
    for name, type_, required in interface.outputs or ():
        yield f"output {name}{'' if required else '?'}: {type_.text}"


def _region_line(region: Region) -> str:
    label = f" {json.dumps(region.label)}" if region.label else ""
    return f"region {region.id} {region.kind}{label}"


def _node_line(node: Node, models: bool) -> str:  # noqa: FBT001
    match node:
        case Entry() | Exit():
            head = f"{type(node).__name__.lower()} {node.id}"
        case Task(kind=kind, model=model):
            head = f"task {node.id} {kind}" + (f" {json.dumps(model)}" if model and models else "")
        case Branch(halt=halt):
            reason = f" {json.dumps(halt.text)}" if halt is not None and models else ""
            head = f"branch {node.id}" + (f" halt{reason}" if halt is not None else "")
        case Fork():
            head = f"fork {node.id}"
        case Join(exclusive=exclusive, exit_key=exit_key):
            head = (
                f"join {node.id}" + (" exclusive" if exclusive else "") + (f" exit_key={exit_key}" if exit_key else "")
            )
        case LoopHeader(bound=bound, until=until, exhausted=exhausted):
            head = f"loop {node.id}" + (f" bound={bound}" if bound is not None else "")
            head += (f" until {conditions.text(until)}" if until is not None else "") + (
                "" if exhausted == "continue" else " or fail"
            )
        case _:
            assert_never(node)
    return head + _contract_text(node.contract)


def _contract_text(contract: Contract) -> str:
    parts = []
    if contract.reads:
        parts.append("reads " + ", ".join(_read_text(read) for read in contract.reads))
    if contract.writes:
        parts.append("writes " + ", ".join(f"{w.key}{'' if w.sure else '?'}: {w.type.text}" for w in contract.writes))
    parts.extend(word for word in ("escalates", "halts") if getattr(contract, word))
    if contract.effect != "none":
        parts.append(contract.effect)
    if contract.open:
        parts.append("open")
    return "".join(f" {part}" for part in parts)


def _read_text(read: Read) -> str:
    name = ".".join((read.key, *read.path))
    return f"{name}{'?' if read.optional else ''}: {read.type.text}{' implicit' if read.implicit else ''}"


def _state_line(edge: StateEdge) -> str:
    return f"state {edge.writer} -> {edge.reader} {edge.key}: {edge.type.text}"
