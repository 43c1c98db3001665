"""The stage table: what each stage of a flow reads and writes, one row for each stage.

Rows are data (`stages`); `contract_table` lays them out for a width. Knows the graph only.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass

from graphflow.checker.formats import printable
from graphflow.contracts.contract import Read
from graphflow.ir.graph import Graph
from graphflow.ir.nodes import Branch, Join, LoopHeader, Node, Task, agent_path
from graphflow.schema import ANY, Type

_LONGEST_TYPE = 28
_LONGEST_NAME = 120


@dataclass(frozen=True, slots=True)
class Stage:
    """One row: the agent's path below the root, what runs there, the keys, and what running it does to the world."""

    node: str
    runs: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    effect: str


def stages(graph: Graph) -> list[Stage]:
    """List the stages of a graph, in canonical order: tasks, gates, and whatever else touches a key.

    Args:
        graph: any graph.
    """
    root = next((region.id for region in graph.regions.values() if region.parent is not None), graph.name)
    return [_stage(node, runs, root, graph) for node, runs in _shown(graph)]


def _shown(graph: Graph) -> Iterator[tuple[Node, str]]:
    for node in graph.nodes.values():
        match node:
            case Task(kind="model"):
                yield node, f"model {node.model}" if node.model else "model"
            case Task():
                yield node, node.kind
            case Branch():
                yield node, "gate" if node.halt is not None else "branch"
            case LoopHeader() if node.contract.reads:
                yield node, "loop"
            case Join() if node.contract.writes:
                yield node, "join"
            case _:
                pass


def _stage(node: Node, runs: str, root: str, graph: Graph) -> Stage:
    contract = node.contract
    reads = [
        _key(".".join((read.key, *read.path)) + ("?" if read.optional else ""), _read_type(read, node, graph))
        for read in contract.reads
        if not read.implicit
    ]
    writes = [_key(write.key + ("" if write.sure else "?"), write.type) for write in contract.writes]
    unknown = ["(others)"] if contract.open else []
    effect = "halts" if contract.halts else "" if contract.effect == "none" else contract.effect
    name = printable(agent_path(node.id).removeprefix(f"{root}/"))
    return Stage(_cut(name), _cut(printable(runs)), (*reads, *unknown), (*writes, *unknown), effect or "-")


def _read_type(read: Read, node: Node, graph: Graph) -> Type:
    """What the reader asks for; where it takes anything, what the writers agree on."""
    if read.type != ANY or read.path:
        return read.type
    written = {edge.type for edge in graph.state if edge.reader == node.id and edge.key == read.key}
    return written.pop() if len(written) == 1 else ANY


def _key(name: str, type_: Type) -> str:
    text = type_.text if len(type_.text) <= _LONGEST_TYPE else f"{type_.text[: _LONGEST_TYPE - 3]}..."
    return _cut(printable(name if type_ == ANY else f"{name}: {text}"))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_NAME else f"{text[: _LONGEST_NAME - 3]}..."


def contract_table(graph: Graph, *, width: int = 80, colour: bool = False) -> str:
    """Lay the stage table out.

    Args:
        graph: any graph.
        width: columns at most.
        colour: use ANSI colours.

    Returns:
        Text that ends with a newline.
    """
    from rich.box import ASCII2, SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD if colour else ASCII2, header_style="bold", pad_edge=False)
    if not colour:
        table.box = None
    for title in ("node", "runs", "reads", "writes", "effect"):
        table.add_column(title, overflow="fold", no_wrap=title == "effect")
    for stage in stages(graph):
        cells = (stage.node, stage.runs, "\n".join(stage.reads) or "-", "\n".join(stage.writes) or "-", stage.effect)
        table.add_row(*(Text(cell) for cell in cells))
    out = io.StringIO()
    Console(file=out, width=width, force_terminal=colour, no_color=not colour, legacy_windows=False).print(table)
    return "".join(line.rstrip() + "\n" for line in out.getvalue().splitlines())
