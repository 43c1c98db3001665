"""Findings for people: grouped by flow, each with its place in the source, a summary at the end.

::

    story (pipeline.py:flow)

    pipeline.py:16:11: error GF201 undefined-read: `story/publish` reads `draaft`,
        which nothing writes before it and no input gives
           |
        16 | publish = LlmAgent(name="publish", ...
           |           ^^^^^^^^
        = help: did you mean `draft`?

    1 flow checked: 1 error, 0 warnings

No line begins like a command to a build server's log (`::error`, `##[`), whatever names hold. Knows no rule and no terminal:
the layout says how wide and how colourful it is.
"""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graphflow.checker.formats.results import (
    LONGEST_TEXT,
    Checked,
    Finding,
    Layout,
    printable,
    shortened,
    source_of,
    summary,
    told,
)

_COLOURS = {
    "error": "\x1b[1;31m",
    "warning": "\x1b[1;33m",
    "info": "\x1b[1;36m",
    "strong": "\x1b[1m",
    "faint": "\x1b[2m",
}
_RESET = "\x1b[0m"
_WORD = re.compile(r"\S+")
_UNBROKEN = 30
"""Characters up to which a word is never broken, whatever the width."""
_TAB = 4


def write(results: Sequence[Checked], layout: Layout) -> str:
    """Write a report.

    Args:
        results: what was checked.
        layout: what it is to look like.

    Returns:
        Text that ends with a newline.
    """
    page = _Page(layout)
    lines: list[str] = []
    for result in results:
        shown = [finding for finding in result.diagnostics if layout.show_info or finding["severity"] != "info"]
        if result.error or not shown:
            continue
        lines += [*page.header(result), ""]
        for finding in shown:
            lines += [*page.finding(finding), ""]
    lines += page.summary(results)
    return "\n".join(lines) + "\n"


def _harmless(text: str) -> str:
    """Escape what the log of a build server would take for a command, wherever a line may be broken."""
    text = text.replace("##[", "#\\x23[")
    return _WORD.sub(lambda word: _harmless_word(word[0]), text) if "::" in text else text


def _harmless_word(word: str) -> str:
    if len(word) > _UNBROKEN:
        return word.replace("::", ":\\x3a")
    return f"\\x3a{word[1:]}" if word.startswith("::") else word


def _cells(value: str) -> int:
    """Columns that text takes on a terminal: two for wide characters, none for combining ones."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in value)


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


@dataclass(frozen=True, slots=True)
class _Page:
    """Lays findings out for one width."""

    layout: Layout

    def header(self, result: Checked) -> list[str]:
        name = f"{shortened(result.flow)} ({shortened(result.target, LONGEST_TEXT)})"
        return [self._paint(line, "strong") for line in self._wrap(name, "")]

    def finding(self, finding: Finding) -> Iterator[str]:
        severity = str(finding["severity"])
        head = f"{severity} {finding['code']}"
        where = self._where(finding)
        message = f"{head} {finding['name']}: {told(finding)}"
        lines = self._wrap(f"{where}: {message}" if where else message, "    ", first="")
        yield from (line.replace(head, self._paint(head, severity), 1) for line in lines)
        yield from self._source(finding)
        if finding.get("help"):
            yield from self._below(f"help: {shortened(finding['help'], LONGEST_TEXT)}")
        for place in finding.get("related", ()):
            at = self._where(place)
            yield from self._below(f"note: {at + ': ' if at else ''}{shortened(place['message'], LONGEST_TEXT)}")
        if finding.get("path"):
            yield from self._below(f"path: {' -> '.join(shortened(step) for step in finding['path'])}")

    def _below(self, value: str) -> list[str]:
        return self._wrap(value, "      ", first="    = ")

    def summary(self, results: Sequence[Checked]) -> Iterator[str]:
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
            yield _count(counts["info"], "note") + ("" if self.layout.show_info else " (--show info)")

    def _where(self, place: Mapping[str, Any]) -> str:
        if not place.get("file"):
            return ""
        parts = [self.layout.relative(str(place["file"])), place.get("line"), place.get("column")]
        return ":".join(printable(part) for part in parts if part)

    def _source(self, finding: Finding) -> Iterator[str]:
        source = source_of(finding)
        if source is None:
            return
        line, start, end = source
        number = str(finding["line"])
        gutter = " " * (len(number) + 4)
        before, body, after = (_flat(part) for part in (line[:start], line[start:end], line[end:]))
        before, body, after = _window(before, body, after, max(self.layout.width - len(gutter) - 3, 10))
        yield self._paint(f"{gutter} |", "faint")
        yield f"{self._paint(f'    {number} |', 'faint')} {before}{body}{after}"
        marks = "^" * max(_cells(body), 1)
        marks = self._paint(marks, str(finding["severity"]))
        yield f"{self._paint(f'{gutter} |', 'faint')} {' ' * _cells(before)}{marks}"

    def _wrap(self, value: str, indent: str, first: str | None = None) -> list[str]:
        """Wrap at the width; a word that is too long is broken, except a leading place, which stays clickable."""
        value, opening = _harmless(value), indent if first is None else first
        lines = textwrap.wrap(
            value,
            self.layout.width,
            initial_indent=opening,
            subsequent_indent=indent,
            break_on_hyphens=False,
            break_long_words=True,
        )
        place = value.split(" ", 1)[0]
        if place.endswith(":") and len(opening) + len(place) > self.layout.width:
            rest = value[len(place) :].strip()
            lines = [
                opening + place,
                *textwrap.wrap(rest, self.layout.width, initial_indent=indent, subsequent_indent=indent),
            ]
        return lines or [opening.rstrip()]

    def _paint(self, value: str, style: str) -> str:
        return f"{_COLOURS[style]}{value}{_RESET}" if self.layout.colour else value


def _flat(part: str) -> str:
    return printable(part.replace("\t", " " * _TAB)).replace("##[", "#\\x23[")


def _window(before: str, body: str, after: str, room: int) -> tuple[str, str, str]:
    """Cut a long source line so that the marked part is in sight."""
    body = body if len(body) <= room else body[: room - 3] + "..."
    if len(before) + len(body) > room:
        keep = max(room - len(body) - 3, 0)
        before = "..." + (before[-keep:] if keep else "") if keep else ""
    left = room - len(before) - len(body)
    after = after if len(after) <= left else (after[: left - 3] + "..." if left > 3 else "")
    return before, body, after
