"""The stage table: what each stage of a flow reads and writes, one row for each stage.

Rows are data (`stages`); `contract_table` lays them out for a width::

    node     runs               reads         writes        effect
    extract  model              message: str  fields: Form  -
             gemini-2.5-flash
             up to 3 attempts

Keys are called what their authors call them, also in a sub-flow; those that graphflow keeps for itself are left out.
Knows the graph only.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from graphflow.checker.formats import printable
from graphflow.contracts.contract import Read
from graphflow.ir.graph import Graph
from graphflow.ir.nodes import Branch, Fork, Join, LoopHeader, Node, Task, agent_path
from graphflow.render.labels import KeyNames, group_text, guard_text, local_name
from graphflow.schema import ANY, Type

_LONGEST_TYPE = 28
_LONGEST_NAME = 120
_WIDE, _NARROW = 24, 16
"""Columns above which paths are broken at `/`, and words about what runs at blanks; the latter if space is short."""


@dataclass(frozen=True, slots=True)
class Stage:
    """One row.

    Attributes:
        node: the agent's path below the root.
        runs: what runs there, then how it is tried or how its parts are run, line by line.
        reads: keys with types.
        writes: keys with types.
        effect: what running it does to the world.
    """

    node: str
    runs: tuple[str, ...]
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    effect: str


def stages(graph: Graph) -> list[Stage]:
    """List the stages of a graph, in canonical order: tasks, gates, and whatever else touches a key or is run specially.

    Args:
        graph: any graph.
    """
    root = next((region.id for region in graph.regions.values() if region.parent is not None), graph.name)
    names = KeyNames(graph)
    return [_stage(node, runs, root, graph, names) for node, runs in _shown(graph, names)]


def _shown(graph: Graph, names: KeyNames) -> Iterator[tuple[Node, tuple[str, ...]]]:
    for node in graph.nodes.values():
        used = [*(read.key for read in node.contract.reads), *(write.key for write in node.contract.writes)]
        own = [key for key in used if not names.reserved(key)]
        match node:
            case Task():
                yield node, (_runs(node), guard_text(node.retry, node.timeout))
            case Branch(halt=None, subject=subject):
                if own or not subject:
                    yield node, ("route" if node.id.endswith("#route") else "branch",)
            case Branch():
                yield node, ("gate",)
            case LoopHeader() if own:
                yield node, ("loop",)
            case Fork(group=group) if group is not None:
                text = group_text(group, len(graph.out(node.id)))
                kind = "map" if group.over is not None else graph.regions[node.region].kind
                yield from [(node, (kind, text))] * (bool(text) or bool(own))
            case Join(collect=collect, exit_key=exit_key) if own:
                yield node, ("collect" if collect else "loop end" if exit_key else "join",)
            case _:
                pass


def _runs(task: Task) -> str:
    """Say what runs in a task; the two tasks at the ends of a sub-flow are told apart by their names."""
    if task.kind == "model" and task.model:
        return f"model {task.model}"
    if task.kind == "glue":
        return f"subflow {local_name(task.id)}" if task.fresh is not None else local_name(task.id)
    return task.kind


def _stage(node: Node, runs: tuple[str, ...], root: str, graph: Graph, names: KeyNames) -> Stage:
    contract = node.contract
    reads = [
        _key(
            ".".join((names.shown(read.key), *read.path)) + ("?" if read.optional else ""),
            _read_type(read, node, graph),
        )
        for read in contract.reads
        if not read.implicit and not names.reserved(read.key)
    ]
    given = next((_read_type(read, node, graph) for read in contract.reads if names.reserved(read.key)), None)
    if given is not None and isinstance(node, Task):
        reads.append(_key("(node_input)", given))
    writes = [
        _key(names.shown(write.key) + ("" if write.sure else "?"), write.type)
        for write in contract.writes
        if not names.reserved(write.key)
    ]
    unknown = ["(others)"] if contract.open else []
    effect = "halts" if contract.halts else "" if contract.effect == "none" else contract.effect
    name = printable(agent_path(node.id).removeprefix(f"{root}/"))
    told = tuple(_cut(printable(line)) for line in runs if line)
    return Stage(_cut(name), told, (*reads, *unknown), (*writes, *unknown), effect or "-")


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


def _broken(text: str, mark: str, width: int) -> list[str]:
    """Break a text after marks into lines of at most a width, as far as there are marks."""
    lines: list[str] = []
    for part in re.findall(f"[^{mark}]*(?:{mark}|$)", text):
        if lines and len(lines[-1] + part.rstrip()) <= width:
            lines[-1] += part
        elif part:
            lines.append(part)
    return lines


def _cells(stage: Stage, width: int) -> tuple[str, ...]:
    """Give the texts of a row, with paths and words broken above a width."""
    node = _broken(stage.node, "/", width)
    runs = [part.rstrip() for line in stage.runs for part in _broken(line, " ", width)]
    return (*("\n".join(lines) or "-" for lines in (node, runs, stage.reads, stage.writes)), stage.effect)


def _needed(rows: Iterable[Sequence[str]]) -> int:
    """Count the columns that a table takes in which nothing is broken: the longest lines, and two between each two."""
    widths = [max(len(line) for cell in column for line in cell.splitlines()) for column in zip(*rows, strict=True)]
    return sum(widths) + 2 * (len(widths) - 1)


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
    rows = [_cells(stage, _WIDE) for stage in stages(graph)]
    if _needed(rows) > width:
        rows = [_cells(stage, _NARROW) for stage in stages(graph)]
    for cells in rows:
        table.add_row(*(Text(cell) for cell in cells))
    out = io.StringIO()
    Console(file=out, width=width, force_terminal=colour, no_color=not colour, legacy_windows=False).print(table)
    return "".join(line.rstrip() + "\n" for line in out.getvalue().splitlines())
