"""How findings are written down: text for people, the rest for the programs that read reports.

A format is a module with a function `write` from what was checked to text. It sees findings as plain data
(`Diagnostic.as_dict()`), so that a result that comes from another process is written exactly like one of this process::

    FORMATS["json"]([Checked("pipeline.py:flow", "pipeline", ({"code": "GF201", ...},))], Layout())

A new format is one module here and one row in `FORMATS`; `ENDINGS` says which files are given it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from graphflow.checker.formats import github, gitlab, json, junit, sarif, text
from graphflow.checker.formats.results import Checked, Finding, Layout, lines_of, printable, summary

__all__ = [
    "ENDINGS",
    "FORMATS",
    "Checked",
    "Finding",
    "Layout",
    "format_of",
    "github",
    "gitlab",
    "json",
    "junit",
    "lines_of",
    "printable",
    "sarif",
    "summary",
    "text",
]

FORMATS: dict[str, Callable[[Sequence[Checked], Layout], str]] = {
    "text": text.write,
    "json": json.write,
    "sarif": sarif.write,
    "github": github.write,
    "junit": junit.write,
    "gitlab": gitlab.write,
}
"""Name -> format."""
ENDINGS = {
    ".sarif": "sarif",
    ".sarif.json": "sarif",
    "gl-code-quality-report.json": "gitlab",
    ".json": "json",
    ".xml": "junit",
    ".txt": "text",
}
"""How a file's name ends -> its format; the first that fits."""


def format_of(file: str) -> str | None:
    """Tell a report's format by the name of its file.

    Args:
        file: name or path.

    Returns:
        The format's name; None if the ending says nothing.
    """
    return next((name for ending, name in ENDINGS.items() if file.lower().endswith(ending)), None)
