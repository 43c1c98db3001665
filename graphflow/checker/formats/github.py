"""Findings as annotations of a pull request on GitHub: one workflow command for each, on a line of its own.

::

    ::error file=pipeline.py,line=16,col=11,title=GF201 undefined-read::`story/publish` reads `draaft`%0Ahelp: ...

The syntax is that of GitHub's "Workflow commands": in the text `%`, CR and LF are escaped, in properties `:` and `,` too.
Knows no rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from graphflow.checker.formats.results import (
    LONGEST_TEXT,
    Checked,
    Finding,
    Layout,
    advice,
    printable,
    shortened,
    source_of,
    told,
)

_COMMANDS = {"error": "error", "warning": "warning", "info": "notice"}


def write(results: Sequence[Checked], layout: Layout) -> str:
    """Write a report: errors and warnings, notes if the layout shows them, and targets that could not be checked.

    Args:
        results: what was checked.
        layout: which notes are shown, and what files are relative to.

    Returns:
        One line for each; "" for nothing.
    """
    return "".join(f"{line}\n" for result in results for line in _lines(result, layout))


def _lines(result: Checked, layout: Layout) -> Iterator[str]:
    if result.error:
        message = shortened(f"{result.target}: {result.error}", LONGEST_TEXT)
        yield f"::error title=graphflow{_property(': not checked')}::{_data(message)}"
    for finding in result.diagnostics:
        if layout.show_info or finding["severity"] != "info":
            yield _command(finding, layout)


def _command(finding: Finding, layout: Layout) -> str:
    properties = {"file": printable(layout.path(finding))} if layout.path(finding) else {}
    if properties and finding.get("line"):
        properties["line"] = str(finding["line"])
        source = source_of(finding)
        if finding.get("column") and source is not None:
            properties |= {"col": str(finding["column"]), "endColumn": str(source.end)}
    properties["title"] = f"{finding['code']} {finding['name']}"
    told_properties = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    lines = "\n".join([told(finding), *advice(finding, layout)])
    return f"::{_COMMANDS[finding['severity']]} {told_properties}::{_data(lines)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
