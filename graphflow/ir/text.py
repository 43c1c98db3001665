"""The one text form of the IR: stable, readable, the base of golden tests, fingerprints and bug reports.

One line for each thing, in canonical order; ids and types as they are, free text as JSON strings, values as in Python::

    graphflow-ir 1 "story"
    input topic: str
    region story sequence
    task story/writer model reads topic: str writes draft: str
    edge @entry -> story/writer
    state @entry -> story/writer topic: str

Nothing about the machine, the file system or the run is in it. `lines` has the grammar, `reading` reads it again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

from graphflow.ir.graph import Graph
from graphflow.ir.lines import EDGE, FAULT, INPUT, ITEMS, KEY, NODES, OUTPUT, REGION, STATE, Input, Output, usual_items
from graphflow.ir.names import GRAPHFLOW
from graphflow.ir.nodes import Branch, Node, Region, Task
from graphflow.template import Template

FORMAT = 1
_KINDS = {type(record.blank): word for word, record in NODES.items()}
_ROOT = Region("", "root", None)
_UNSAID = Template("", ())


def print_graph(graph: Graph, *, state: bool = True, models: bool = True) -> str:
    """Write a graph as text.

    Args:
        graph: any graph.
        state: whether to write the state edges, which follow from the rest.
        models: whether to write model names and halt reasons, which do not count for the fingerprint.

    Returns:
        Lines that end in a newline; equal graphs give equal text on every machine.
    """
    return "\n".join([*_lines(graph, models), *(f"state{STATE.write(edge)}" for edge in graph.state if state)]) + "\n"


def _lines(graph: Graph, models: bool) -> Iterator[str]:  # noqa: FBT001
    yield f"graphflow-ir {FORMAT} {json.dumps(graph.name)}"
    if graph.profile != GRAPHFLOW:
        yield f"profile {graph.profile}"
    yield from _interface_lines(graph)
    usual = usual_items(graph.nodes, graph.regions)
    for index, (id_, region) in enumerate(graph.regions.items()):
        items = "" if region.items == usual[id_] else f" items {ITEMS.write(region.items)}".rstrip()
        if index or items or replace(region, items=(), origin=None) != _ROOT:
            yield f"region{REGION.write(region)}{items}"
    for node in graph.nodes.values():
        yield _KINDS[type(node)] + NODES[_KINDS[type(node)]].write(node if models else _without_models(node))
    yield from (f"edge{EDGE.write(edge)}" for edge in graph.edges)
    yield from (f"fault{FAULT.write(fault)}" for fault in graph.faults)


def _without_models(node: Node) -> Node:
    if isinstance(node, Task) and node.model is not None:
        return replace(node, model=None)
    if isinstance(node, Branch) and node.halt is not None:
        return replace(node, halt=_UNSAID)
    return node


def _interface_lines(graph: Graph) -> Iterator[str]:
    interface = graph.interface
    if interface.inputs is None:
        yield "inputs open"
    yield from (f"input{INPUT.write(Input(*declared))}" for declared in interface.inputs or ())
    yield from (f"key{KEY.write(key)}" for key in interface.keys)
    if interface.closed:
        yield "keys closed"
    if interface.outputs == ():
        yield "outputs none"
    yield from (f"output{OUTPUT.write(Output(*declared))}" for declared in interface.outputs or ())
