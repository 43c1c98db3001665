"""The contract of flows in the formats of `graphflow contract`: text, Markdown and JSON.

`docs/schemas/contract.json` is the schema of the JSON. In Markdown every name is a code span, so that none can be mark-up.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from pydantic_core import to_jsonable_python

from graphflow.checker.formats import printable
from graphflow.cli.stages import KeyRow, key_rows, root_of, stage_rows
from graphflow.cli.table import KEY_TITLES, STAGE_TITLES, contract_table, key_cells, key_table, stages
from graphflow.cli.targets import Loaded
from graphflow.schema import MISSING

VERSION = 1


def as_text(loaded: Sequence[Loaded], *, keys: bool, layout: Mapping[str, Any]) -> str:
    """Lay the tables out for a terminal.

    Args:
        loaded: the flows.
        keys: give the key table too.
        layout: `width` and `colour`.

    Returns:
        Text that ends with a newline.
    """
    parts = []
    for one in loaded:
        heading = f"{printable(one.flow.name)} ({printable(one.target)})\n" if len(loaded) > 1 else ""
        tables = [contract_table(one.flow.graph, **layout)]
        if keys:
            tables.append(key_table(one.flow.graph, **layout))
        parts.append(heading + "\n".join(tables))
    return "\n".join(parts)


def as_markdown(loaded: Sequence[Loaded], *, keys: bool, layout: Mapping[str, Any]) -> str:  # noqa: ARG001 - called alike
    """Write the tables in GitHub's Markdown, for a pull request or a wiki.

    Args:
        loaded: the flows.
        keys: give the key table too.
        layout: looked at by other formats.

    Returns:
        Text that ends with a newline.
    """
    parts = []
    for one in loaded:
        parts.append(f"## {_code(one.flow.name)} ({_code(one.target)})\n")
        rows = stages(one.flow.graph)
        cells = [(stage.node, stage.runs, stage.reads, stage.writes, stage.effect) for stage in rows]
        parts.append(_table(STAGE_TITLES, cells))
        if keys:
            parts.append(
                _table(KEY_TITLES, [key_cells(row, root_of(one.flow.graph)) for row in key_rows(one.flow.graph)])
            )
    return "\n".join(parts)


def as_json(loaded: Sequence[Loaded], *, keys: bool, layout: Mapping[str, Any]) -> str:  # noqa: ARG001 - called alike
    """Write everything that is known for programs: stages, and always the keys.

    Args:
        loaded: the flows.
        keys: looked at by other formats.
        layout: looked at by other formats.

    Returns:
        `{"version": 1, "flows": [{"target", "flow", "root", "stages", "keys"}]}`, indented, in ASCII.
    """
    flows = [
        {
            "target": one.target,
            "flow": one.flow.name,
            "root": root_of(one.flow.graph),
            "stages": [asdict(row) for row in stage_rows(one.flow.graph)],
            "keys": [_key(row) for row in key_rows(one.flow.graph)],
        }
        for one in loaded
    ]
    return json.dumps({"version": VERSION, "flows": flows}, indent=2) + "\n"


CONTRACT_FORMATS: dict[str, Callable[..., str]] = {"text": as_text, "markdown": as_markdown, "json": as_json}
"""Name -> format. Each takes the flows and, by name, `keys` and `layout`."""


def _key(row: KeyRow) -> dict[str, Any]:
    """A key as plain data; it has a `default` only if there is one."""
    fields = asdict(replace(row, default=MISSING))
    del fields["default"]
    if row.default is not MISSING:
        fields["default"] = to_jsonable_python(row.default, fallback=repr, inf_nan_mode="strings")
    return fields


def _table(titles: Sequence[str], rows: Sequence[Sequence[str | Sequence[str]]]) -> str:
    lines = [f"| {' | '.join(titles)} |", f"|{'---|' * len(titles)}"]
    for row in rows:
        cells = ([cell] if isinstance(cell, str) else cell for cell in row)
        lines.append(f"| {' | '.join('<br>'.join(map(_code, parts)) or '-' for parts in cells)} |")
    return "\n".join(lines) + "\n"


def _code(text: str) -> str:
    """Make a code span of a text, which may hold anything, even in a cell of a table."""
    text = printable(text)
    if text in ("-", ""):
        return "-"
    text = re.sub(r"(?<=\\)\|", r"\\x7c", text).replace("|", "\\|")
    fence = "`" * (max(map(len, re.findall("`+", text)), default=0) + 1)
    space = " " if text[0] in "` " or text[-1] in "` " else ""
    return f"{fence}{space}{text}{space}{fence}"
