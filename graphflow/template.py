"""Templates: text with `{key}` placeholders.

`{key}`, `{key?}` (empty if absent), `{user:tier}`, `{invoice.total}`. Every part is a Python identifier; whatever else stands
in braces (JSON, CSS, `{ x }`, `{0}`) is text. A placeholder in n >= 2 braces on each side is text with one brace less on each
side, so `{{key}}` gives `{key}` and the `}}` at the end of nested JSON stays as it is::

    render(parse('Answer like {"ok": true} about {topic}'), {"topic": "tides"}.get)

Values are put in once and never looked at again: a value with braces in it is harmless.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from graphflow.conditions import follow
from graphflow.errors import AbsentKeyError
from graphflow.schema import MISSING, render_text

PREFIXES = ("app", "user", "temp")
_IDENTIFIER = r"[^\W\d]\w*"
_BODY = rf"(?:(?:{'|'.join(PREFIXES)}):)?{_IDENTIFIER}(?:\.(?!_){_IDENTIFIER})*\??"
_BRACED = re.compile(rf"(?P<open>\{{+)(?P<body>{_BODY})(?P<close>\}}+)")


@dataclass(frozen=True, slots=True)
class Placeholder:
    """One placeholder: the key, the fields below it, whether it may be absent, and its place in the text (0-based)."""

    name: str
    path: tuple[str, ...]
    optional: bool
    start: int
    end: int


@dataclass(frozen=True)
class Template:
    """A parsed template: its text, and its parts in order."""

    text: str
    parts: tuple[str | Placeholder, ...]

    @cached_property
    def placeholders(self) -> tuple[Placeholder, ...]:
        """The placeholders, in order."""
        return tuple(part for part in self.parts if isinstance(part, Placeholder))


def parse(text: str) -> Template:
    """Split a text into literal text and placeholders. Every text is a template."""
    parts: list[str | Placeholder] = []
    done = 0
    for match in _BRACED.finditer(text):
        depth = min(len(match["open"]), len(match["close"]))
        start, end = match.end("open") - depth, match.start("close") + depth
        parts.append(text[done:start])
        parts.append(_placeholder(match["body"], start, end) if depth == 1 else text[start + 1 : end - 1])
        done = end
    parts.append(text[done:])
    return Template(text, tuple(_joined(parts)))


def _placeholder(body: str, start: int, end: int) -> Placeholder:
    name, *path = body.removesuffix("?").split(".")
    return Placeholder(name, tuple(path), body.endswith("?"), start, end)


def _joined(parts: list[str | Placeholder]) -> list[str | Placeholder]:
    joined: list[str | Placeholder] = []
    for part in parts:
        last = joined[-1] if joined else None
        if isinstance(part, str) and isinstance(last, str):
            joined[-1] = last + part
        elif part:
            joined.append(part)
    return joined


def escape(text: str) -> str:
    """Write a text so that, as a template, it gives the text back."""
    return _BRACED.sub(r"{\g<0>}", text)


def render(template: Template, read: Callable[[str], object]) -> str:
    """Fill in a template.

    Args:
        template: what `parse` gave.
        read: key -> value, MISSING if it is absent.

    Returns:
        The text: strings as they are, other values as JSON, absent optional ones as nothing.

    Raises:
        AbsentKeyError: a key or field that is not optional is absent.
    """
    return "".join(part if isinstance(part, str) else _value(part, read) for part in template.parts)


def _value(placeholder: Placeholder, read: Callable[[str], object]) -> str:
    value = read(placeholder.name)
    if value is not MISSING:
        value = follow(value, placeholder.path)
    if value is not MISSING:
        return render_text(value)
    if placeholder.optional:
        return ""
    raise AbsentKeyError(".".join((placeholder.name, *placeholder.path)))
