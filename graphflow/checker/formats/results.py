r"""What formats are given, and what several of them need: counts, places, identities, harmless text.

Everything that came out of a user's program is hostile until it is written: a key may hold a line break, an escape
sequence or the mark-up of the format. `printable` makes any text one line without control characters; each format then
escapes what is special to itself::

    printable("a\x1b[31m\nb")     'a\\x1b[31m\\nb'

Knows no rule, no graph and no agent.
"""

from __future__ import annotations

import hashlib
import linecache
import os
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

Finding = Mapping[str, Any]
RANK = {"error": 0, "warning": 1, "info": 2}
LONGEST_NAME = 200
LONGEST_TEXT = 2_000
_MARKED = re.compile(r"\{[^{}]*\}|@?[\w.]+")


@dataclass(frozen=True, slots=True)
class Checked:
    """One flow that was checked, or one target that could not be.

    Attributes:
        target: what was asked for, as `module:object` or `file.py:object`.
        flow: the flow's name; "" if there is none.
        diagnostics: its findings, each as `Diagnostic.as_dict()` gives it.
        suppressed: the findings that the author asked not to see.
        error: why the target could not be checked; "" if it was.
    """

    target: str
    flow: str = ""
    diagnostics: tuple[Finding, ...] = ()
    suppressed: tuple[Finding, ...] = ()
    error: str = ""


@dataclass(frozen=True, slots=True)
class Layout:
    """What a report is to be like.

    Attributes:
        show_info: show notes in text and annotations too, instead of counting them.
        width: columns that text is wrapped at.
        colour: use ANSI colours in text.
        root: directory that file names are given relative to.
        fail_on: the least severity that is a failure.
        version: the version of graphflow, for formats that name their tool.
    """

    show_info: bool = False
    width: int = 80
    colour: bool = False
    root: str = field(default_factory=os.getcwd)
    fail_on: str = "error"
    version: str = ""

    def fails(self, finding: Finding) -> bool:
        """Say whether a finding makes the check fail."""
        return RANK[finding["severity"]] <= RANK[self.fail_on]

    def relative(self, file: str) -> str:
        """Give a file's name relative to the root if it is below it."""
        return file.removeprefix(self.root.rstrip(os.sep) + os.sep)

    def path(self, place: Mapping[str, Any]) -> str:
        """Give the file of a place with forward slashes, below the root if it is there; "" for none (`<stdin>` is none)."""
        file = str(place.get("file") or "")
        return "" if file.startswith("<") else Path(self.relative(file)).as_posix() if file else ""


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
        "suppressed": sum(len(result.suppressed) for result in results),
    }


def lines_of(results: Iterable[Checked]) -> list[str]:
    """Give one line for each target that could not be checked.

    Args:
        results: what was checked.
    """
    return [f"{printable(r.target)}: {printable(r.error)}" for r in results if r.error]


def printable(value: object) -> str:
    r"""Make text safe to print on one line of a terminal.

    Control characters, escape sequences, direction marks and lone surrogates become escapes such as `\x1b`; a line
    break becomes `\n`.

    Args:
        value: anything; it is printed as `str` gives it.
    """
    return "".join(character if _is_plain(character) else escaped(character) for character in str(value))


def _is_plain(character: str) -> bool:
    return character == " " or unicodedata.category(character) not in {"Cc", "Cf", "Cs", "Zl", "Zp"}


def escaped(character: str) -> str:
    """Write a character as Python would in a string literal."""
    return character.encode("unicode_escape").decode("ascii")


def shortened(name: object, limit: int = LONGEST_NAME) -> str:
    """Make a name or a message printable, with an end to it.

    Args:
        name: any text.
        limit: characters at most.
    """
    text = printable(name)
    return text if len(text) <= limit else f"{text[: limit - 3]}..."


def told(finding: Finding) -> str:
    """Give a finding's message, printable and of bounded length."""
    return shortened(finding["message"], LONGEST_TEXT)


def where(place: Mapping[str, Any], layout: Layout) -> str:
    """Give a place as `file:line:column: `, as far as it is known."""
    parts = [layout.path(place), place.get("line"), place.get("column")] if layout.path(place) else []
    return "".join(f"{printable(part)}:" for part in parts if part) + (" " if parts else "")


def advice(finding: Finding, layout: Layout) -> list[str]:
    """Give the lines that belong below a message: help, related places and the path, as `help: ...`."""
    lines = [f"help: {shortened(finding['help'], LONGEST_TEXT)}"] if finding.get("help") else []
    related = finding.get("related", ())
    lines += [f"note: {where(place, layout)}{shortened(place['message'], LONGEST_TEXT)}" for place in related]
    if finding.get("path"):
        lines.append(f"path: {' -> '.join(shortened(step) for step in finding['path'])}")
    return lines


class Source(NamedTuple):
    """A line of a user's file, and the 0-based half-open range of columns that a place means."""

    line: str
    start: int
    end: int


def source_of(place: Mapping[str, Any]) -> Source | None:
    """Find the source of a place: the call, decorator or placeholder at its column, else the whole line.

    Args:
        place: has `file`, `line` and `column`, each may be None.

    Returns:
        None where there is no such line, or nothing on it.
    """
    if not place.get("file") or not place.get("line"):
        return None
    try:
        line = linecache.getline(str(place["file"]), int(place["line"])).rstrip()
    except ValueError:  # no file can have such a name
        return None
    if not line.strip():
        return None
    start = max(int(place.get("column") or 0) - 1, 0)
    start = start if 0 < start < len(line) else len(line) - len(line.lstrip())
    marked = _MARKED.match(line, start)
    return Source(line, start, marked.end() if marked is not None else len(line))


def identified(results: Iterable[Checked], layout: Layout) -> Iterator[tuple[Checked, Finding, bool, str]]:
    """Give each finding an identity that stays when lines move.

    It is made of the code, the file, the flow, the node and the key; of several findings with one identity the second
    and later ones are numbered.

    Args:
        results: what was checked.
        layout: says what files are relative to.

    Yields:
        The result, its finding, whether it was suppressed, and 64 hexadecimal digits.
    """
    seen: Counter[str] = Counter()
    for result in results:
        for findings, suppressed in ((result.diagnostics, False), (result.suppressed, True)):
            for finding in findings:
                parts = [finding["code"], layout.path(finding), result.flow, finding["node"], finding["key"] or ""]
                identity = "\0".join(parts)
                number, seen[identity] = seen[identity], seen[identity] + 1
                text = f"{identity}\0{number}" if number else identity
                yield result, finding, suppressed, hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()
