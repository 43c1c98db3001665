"""How findings are written down: text for people, JSON for programs.

A format is a function from what was checked to text. It sees findings as plain data (`Diagnostic.as_dict()`), so that a
result that comes from another process is written exactly like one of this process::

    FORMATS["json"]([Checked("pipeline.py:flow", "pipeline", ({"code": "GF201", ...},))])

This module knows no rule, no graph and no agent. Everything that came out of a user's program goes through `printable`.
"""

from __future__ import annotations

import json as _json
import linecache
import os
import re
import textwrap
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Finding = Mapping[str, Any]
VERSION = 1
_COLOURS = {
    "error": "\x1b[1;31m",
    "warning": "\x1b[1;33m",
    "info": "\x1b[1;36m",
    "strong": "\x1b[1m",
    "faint": "\x1b[2m",
}
_RESET = "\x1b[0m"
_CALLEE = re.compile(r"@?[\w.]+")
_TAB = 4
_LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class Checked:
    """One flow that was checked, or one target that could not be.

    Attributes:
        target: what was asked for, as `module:object` or `file.py:object`.
        flow: the flow's name; "" if there is none.
        diagnostics: its findings, each as `Diagnostic.as_dict()` gives it.
        suppressed: how many findings the author asked not to see.
        error: why the target could not be checked; "" if it was.
    """

    target: str
    flow: str = ""
    diagnostics: tuple[Finding, ...] = ()
    suppressed: int = 0
    error: str = ""


def text(
    results: Sequence[Checked],
    *,
    show_info: bool = False,
    width: int = 80,
    colour: bool = False,
    root: str | None = None,
) -> str:
    """Write findings for people: grouped by flow, each with its place in the source, a summary at the end.

    Args:
        results: what was checked.
        show_info: show notes too, instead of counting them.
        width: columns to wrap at.
        colour: use ANSI colours.
        root: directory that file names are shown relative to; default: the current one.

    Returns:
        Text that ends with a newline.
    """
    page = _Page(width, colour, root if root is not None else os.getcwd())  # noqa: PTH109 - compared as text only
    lines: list[str] = []
    for result in results:
        shown = [finding for finding in result.diagnostics if show_info or finding["severity"] != "info"]
        if result.error or not shown:
            continue
        lines += [*page.header(result), ""]
        for finding in shown:
            lines += [*page.finding(finding), ""]
    lines += page.summary(results, show_info=show_info)
    return "\n".join(lines) + "\n"


def json(results: Sequence[Checked], **_: object) -> str:
    """Write findings for programs, notes included.

    Args:
        results: what was checked.

    Returns:
        `{"version": 1, "targets": [...], "diagnostics": [...], "summary": {...}}`, indented, in ASCII.
    """
    document = {
        "version": VERSION,
        "targets": [
            {"target": r.target, "flow": r.flow or None, "checked": not r.error, "error": r.error or None}
            for r in results
        ],
        "diagnostics": [_with_target(finding, result.target) for result in results for finding in result.diagnostics],
        "summary": summary(results),
    }
    return _json.dumps(document, indent=2) + "\n"


FORMATS: dict[str, Callable[..., str]] = {"text": text, "json": json}
"""Name -> format. A format takes the results and, by name, `show_info`, `width`, `colour` and `root`."""


def summary(results: Sequence[Checked]) -> dict[str, int]:
    """Count what was checked and found.

    Args:
        results: what was checked.

    Returns:
        Counts: flows, unchecked (targets), errors, warnings, info, suppressed (findings).
    """
    severities = [finding["severity"] for result in results for finding in result.diagnostics]
    return {
        "flows": sum(not result.error for result in results),
        "unchecked": sum(bool(result.error) for result in results),
        "errors": severities.count("error"),
        "warnings": severities.count("warning"),
        "info": severities.count("info"),
        "suppressed": sum(result.suppressed for result in results),
    }


def printable(value: object) -> str:
    r"""Make text safe to print on one line of a terminal.

    Control characters, escape sequences, direction marks and lone surrogates become escapes such as `\x1b`; a line
    break becomes `\n`.

    Args:
        value: anything; it is printed as `str` gives it.
    """
    return "".join(character if _is_plain(character) else _escaped(character) for character in str(value))


def _is_plain(character: str) -> bool:
    return character == " " or unicodedata.category(character) not in {"Cc", "Cf", "Cs", "Zl", "Zp"}


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def _cells(value: str) -> int:
    """Columns that text takes on a terminal: two for wide characters, none for combining ones."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in value)


def _with_target(finding: Finding, target: str) -> dict[str, Any]:
    fields = dict(finding)
    head: dict[str, Any] = {
        name: fields.pop(name) for name in ("code", "name", "severity", "message") if name in fields
    }
    return {**head, "target": target, **fields}


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _shortened(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 3]}..."


@dataclass(frozen=True, slots=True)
class _Page:
    """Lays findings out for one width."""

    width: int
    colour: bool
    root: str

    def header(self, result: Checked) -> list[str]:
        name = printable(_shortened(result.flow))
        return [self._paint(line, "strong") for line in self._wrap(f"{name} ({printable(result.target)})", "")]

    def finding(self, finding: Finding) -> Iterator[str]:
        severity = str(finding["severity"])
        head = f"{severity} {finding['code']}"
        where = self._where(finding)
        message = f"{head} {finding['name']}: {printable(finding['message'])}"
        lines = self._wrap(f"{where}: {message}" if where else message, "    ", first="")
        yield from (line.replace(head, self._paint(head, severity), 1) for line in lines)
        yield from self._source(finding)
        if finding.get("help"):
            yield from self._wrap(f"help: {printable(finding['help'])}", "      ", first="    = ")
        for place in finding.get("related", ()):
            at = self._where(place)
            note = printable(place["message"])
            yield from self._wrap(f"note: {at}: {note}" if at else f"note: {note}", "      ", first="    = ")
        if finding.get("path"):
            steps = " -> ".join(printable(_shortened(step)) for step in finding["path"])
            yield from self._wrap(f"path: {steps}", "      ", first="    = ")

    def summary(self, results: Sequence[Checked], *, show_info: bool) -> Iterator[str]:
        counts = summary(results)
        found = [
            self._paint(_count(counts[plural], severity), severity if counts[plural] else "faint")
            for severity, plural in (("error", "errors"), ("warning", "warnings"))
        ]
        flows = f"{_count(counts['flows'], 'flow')} checked"
        extra = f", {_count(counts['unchecked'], 'target')} not checked" if counts["unchecked"] else ""
        extra += f", {counts['suppressed']} suppressed" if counts["suppressed"] else ""
        yield f"{flows}: {', '.join(found)}{extra}"
        if counts["info"]:
            yield _count(counts["info"], "note") + ("" if show_info else " (--show info)")

    def _where(self, place: Mapping[str, Any]) -> str:
        if not place.get("file"):
            return ""
        parts = [self._relative(str(place["file"])), place.get("line"), place.get("column")]
        return ":".join(printable(part) for part in parts if part)

    def _relative(self, file: str) -> str:
        return file.removeprefix(self.root.rstrip(os.sep) + os.sep)

    def _source(self, finding: Finding) -> Iterator[str]:
        if not finding.get("file") or not finding.get("line"):
            return
        line = linecache.getline(str(finding["file"]), int(finding["line"])).rstrip()
        if not line.strip():
            return
        start = max(int(finding.get("column") or 0) - 1, 0)
        if start >= len(line):
            start = 0
        start = start or len(line) - len(line.lstrip())
        marked = _CALLEE.match(line, start)
        end = marked.end() if marked is not None else len(line)
        number = str(finding["line"])
        gutter = " " * (len(number) + 4)
        before, body, after = (_flat(part) for part in (line[:start], line[start:end], line[end:]))
        before, body, after = _window(before, body, after, max(self.width - len(gutter) - 3, 10))
        yield self._paint(f"{gutter} |", "faint")
        yield f"{self._paint(f'    {number} |', 'faint')} {before}{body}{after}"
        marks = "^" * max(_cells(body), 1)
        marks = self._paint(marks, str(finding["severity"]))
        yield f"{self._paint(f'{gutter} |', 'faint')} {' ' * _cells(before)}{marks}"

    def _wrap(self, value: str, indent: str, first: str | None = None) -> list[str]:
        """Wrap at the width; a word that is too long is broken, except a leading place, which stays clickable."""
        opening = indent if first is None else first
        lines = textwrap.wrap(
            value,
            self.width,
            initial_indent=opening,
            subsequent_indent=indent,
            break_on_hyphens=False,
            break_long_words=True,
        )
        place = value.split(" ", 1)[0]
        if place.endswith(":") and len(opening) + len(place) > self.width:
            rest = value[len(place) :].strip()
            lines = [opening + place, *textwrap.wrap(rest, self.width, initial_indent=indent, subsequent_indent=indent)]
        return lines or [opening.rstrip()]

    def _paint(self, value: str, style: str) -> str:
        return f"{_COLOURS[style]}{value}{_RESET}" if self.colour else value


def _flat(part: str) -> str:
    return printable(part.replace("\t", " " * _TAB))


def _window(before: str, body: str, after: str, room: int) -> tuple[str, str, str]:
    """Cut a long source line so that the marked part is in sight."""
    body = body if len(body) <= room else body[: room - 3] + "..."
    if len(before) + len(body) > room:
        keep = max(room - len(body) - 3, 0)
        before = "..." + (before[-keep:] if keep else "") if keep else ""
    left = room - len(before) - len(body)
    after = after if len(after) <= left else (after[: left - 3] + "..." if left > 3 else "")
    return before, body, after


def lines_of(results: Iterable[Checked]) -> list[str]:
    """Give one line for each target that could not be checked.

    Args:
        results: what was checked.
    """
    return [f"{printable(r.target)}: {printable(r.error)}" for r in results if r.error]
