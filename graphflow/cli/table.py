"""The stage table and the key table of a flow, laid out for a terminal of some width.

::

    node     runs               reads         writes        effect
    extract  model              message: str  fields: Form  -
             gemini-2.5-flash
             up to 3 attempts

`key?` in reads copes with an absent key; in writes, it may be left out. Knows the rows of `graphflow.cli.stages` only.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from graphflow.checker.formats import printable
from graphflow.cli.stages import KeyRow, KeyUse, StageRow, Touch, key_rows, root_of, stage_rows
from graphflow.ir.graph import Graph
from graphflow.schema import ANY, MISSING

_LONGEST_TYPE = 28
_LONGEST_NAME = 120
_WIDE, _MIDDLE, _NARROW = 24, 20, 16
"""Columns above which paths are broken at `/`, and words at blanks; the later ones if space is short."""
_MOST_LINES = 12
STAGE_TITLES = ("node", "runs", "reads", "writes", "effect")
KEY_TITLES = ("key", "type", "declared as", "written by", "read by")


@dataclass(frozen=True, slots=True)
class Stage:
    """One row of the stage table, as text.

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
    """List the stages of a graph, in canonical order.

    Args:
        graph: any graph.
    """
    root = root_of(graph)
    return [stage_text(row, root) for row in stage_rows(graph)]


def stage_text(row: StageRow, root: str) -> Stage:
    """Give a row the words that tables have for it.

    Args:
        row: what a stage does.
        root: path of the outermost agent.

    Returns:
        Printable text; long names are cut.
    """
    runs = (f"{row.kind} {row.model}" if row.model else row.kind, *row.notes)
    unknown = ("(others)",) if row.open else ()
    effect = "halts" if row.halts else "-" if row.effect == "none" else row.effect
    return Stage(
        _cut(printable(row.node.removeprefix(f"{root}/"))),
        tuple(_cut(printable(line)) for line in runs),
        (*map(_use, row.reads), *unknown),
        (*map(_use, row.writes), *unknown),
        effect,
    )


def key_cells(row: KeyRow, root: str) -> tuple[str, tuple[str, ...], tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Give a row of the key table the words that tables have for it.

    Args:
        row: what is known of a key.
        root: path of the outermost agent.

    Returns:
        Printable text: name, type, declarations, writers, readers; long names are cut.
    """
    mark = {"required": "", "optional": "?"}
    words = [f"input{mark[row.input]}"] if row.input is not None else []
    words += [f"output{mark[row.output]}"] if row.output is not None else []
    words += [f"in {row.scope}"] if row.scope else []
    words += [f"merge {row.merge}"] if row.merge is not None else []
    words += ["persist"] if row.persist else []
    words += [f"default {row.default!r}"] if row.default is not MISSING else []
    words += [row.doc] if row.doc else []
    words += ["key"] if row.declared and not words else []
    lists = (
        tuple(_cut(printable(word)) for word in group)
        for group in (words, _paths(row.writers, root), _paths(row.readers, root))
    )
    declared, writers, readers = lists
    return _cut(printable(row.key)), (_type(row.type),), declared, writers, readers


def _paths(touches: Sequence[Touch], root: str) -> list[str]:
    return [touch.node.removeprefix(f"{root}/") + ("?" if touch.optional else "") for touch in touches]


def _use(use: KeyUse) -> str:
    name = use.key + ("?" if use.optional else "")
    return _cut(printable(name if use.type == ANY.text else f"{name}: {_type(use.type)}"))


def _type(text: str) -> str:
    return printable(text if len(text) <= _LONGEST_TYPE else f"{text[: _LONGEST_TYPE - 3]}...")


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


def _listed(items: Sequence[str], mark: str, width: int) -> str:
    lines = [part.rstrip() for item in items for part in _broken(item, mark, width)]
    if len(lines) > _MOST_LINES:
        lines = [*lines[: _MOST_LINES - 1], f"... {len(items)} in all"]
    return "\n".join(lines) or "-"


def _stage_cells(stage: Stage, width: int) -> tuple[str, ...]:
    """Give the texts of a row, with paths and words broken above a width."""
    node = _broken(stage.node, "/", width)
    runs = [part.rstrip() for line in stage.runs for part in _broken(line, " ", width)]
    return (*("\n".join(lines) or "-" for lines in (node, runs, stage.reads, stage.writes)), stage.effect)


def _key_cells(row: KeyRow, root: str, width: int) -> tuple[str, ...]:
    name, type_, declared, writers, readers = key_cells(row, root)
    types = _listed(type_, " ", width)
    return name, types, _listed(declared, " ", width), _listed(writers, "/", width), _listed(readers, "/", width)


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
    rows = [_stage_cells(stage, _WIDE) for stage in stages(graph)]
    if _needed(rows) > width:
        rows = [_stage_cells(stage, _NARROW) for stage in stages(graph)]
    return _laid_out(STAGE_TITLES, rows, width=width, colour=colour)


def key_table(graph: Graph, *, width: int = 80, colour: bool = False) -> str:
    """Lay the key table out.

    Args:
        graph: any graph.
        width: columns at most.
        colour: use ANSI colours.

    Returns:
        Text that ends with a newline.
    """
    keys, root = key_rows(graph), root_of(graph)
    for broken_above in (_WIDE, _MIDDLE, _NARROW):
        rows = [_key_cells(row, root, broken_above) for row in keys]
        if not rows or _needed(rows) <= width:
            break
    return _laid_out(KEY_TITLES, rows, width=width, colour=colour)


def _laid_out(titles: Sequence[str], rows: Iterable[Sequence[str]], *, width: int, colour: bool) -> str:
    from rich.box import ASCII2, SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD if colour else ASCII2, header_style="bold", pad_edge=False)
    if not colour:
        table.box = None
    for title in titles:
        table.add_column(title, overflow="fold", no_wrap=title == "effect")
    for cells in rows:
        table.add_row(*(Text(cell) for cell in cells))
    out = io.StringIO()
    Console(file=out, width=width, force_terminal=colour, no_color=not colour, legacy_windows=False).print(table)
    return "".join(line.rstrip() + "\n" for line in out.getvalue().splitlines())
