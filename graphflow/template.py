"""Templates of instructions, prompts and reasons: text with `{placeholders}` for keys of the state.

A placeholder is a key, a field of one, or either with `?` for "nothing if it is absent"; every part is an identifier.
All other braces (JSON, CSS, code) are text and stay as they are::

    parse("Fix {draft}, mind {review.notes?}").placeholders     # draft; review.notes, optional
    render(parse('{"a": {n}}'), {"n": 3}.get)                   # '{"a": 3}'
    render(parse("{{draft}}"), {}.get)                          # '{draft}'

Doubled braces around what would be a placeholder make it text and lose one brace on each side; `escape` puts them
there. What is put in is never looked at for placeholders again. This module knows values, never agents or models.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from graphflow.conditions import field_of
from graphflow.errors import AbsentKeyError
from graphflow.schema import MISSING, render_text

Braces = Literal["graphflow", "adk"]
"""The grammars of placeholders: ours, and that of Google ADK."""

# Possessive, and only from the first brace of a run: a text of nothing but braces takes linear time.
_CANDIDATE = re.compile(
    r"""(?<!\{)(?P<opening>\{++)
        (?P<scope>(?:app|user|temp):)?
        (?P<path>[^\W\d]\w*+(?:\.[^\W\d]\w*+)*+)
        (?P<optional>\??)
        (?P<closing>\}++)""",
    re.VERBOSE,
)

# What ADK 2.13 looks at: any run of braces around anything without one, unless a dollar, a brace or a backslash is before it.
_ADK_CANDIDATE = re.compile(r"(?<![${\\])\{++[^{}]*+\}++")
_ADK_KEY = re.compile(r"(?:(?:app|user|temp):)?(?P<name>[^\W\d]\w*+)")


@dataclass(frozen=True, slots=True)
class Placeholder:
    """A place where a value goes.

    Attributes:
        name: the key, with its scope prefix.
        path: names of the fields that lead from the key's value to the one meant; may be empty.
        optional: an absent value leaves nothing, instead of failing.
        start: offset of the opening brace in the text, from 0.
        end: offset behind the closing brace.
    """

    name: str
    path: tuple[str, ...]
    optional: bool
    start: int
    end: int

    @property
    def text(self) -> str:
        """The key and the path, joined by dots."""
        return ".".join((self.name, *self.path))


@dataclass(frozen=True, slots=True)
class Template:
    """A parsed template.

    Attributes:
        text: what was parsed.
        parts: literal text (unescaped, never empty) and placeholders, in order.
        braces: the grammar it was read by.
    """

    text: str
    parts: tuple[str | Placeholder, ...]
    braces: Braces = "graphflow"

    @property
    def placeholders(self) -> tuple[Placeholder, ...]:
        """The placeholders, in order."""
        return tuple(part for part in self.parts if isinstance(part, Placeholder))

    def renamed(self, name: Callable[[str], str]) -> Template:
        """Give the template over keys with other names; `text` stays what was written."""
        parts = (part if isinstance(part, str) else replace(part, name=name(part.name)) for part in self.parts)
        return replace(self, parts=tuple(parts))


def parse(text: str, braces: Braces = "graphflow") -> Template:
    """Find the placeholders of a text. Every text is a template; linear time.

    Args:
        text: the text. A placeholder between unequal numbers of braces takes one of each side where one side has only
            one (`{{x}` is `{` and a placeholder); between two or more on both sides it is literal.
        braces: the grammar. By ADK's any number of braces and spaces may be around a key, and there are no fields.

    Raises:
        TypeError: it is no text.
    """
    if not isinstance(text, str):
        raise TypeError(f"a template is text, got {text!r}")
    if braces == "adk":
        return Template(text, tuple(_adk_parts(text)), braces)
    parts: list[str | Placeholder] = []
    literal, done = "", 0
    for found in _candidates(text):
        literal += text[done : found.start()]
        opening, closing = found["opening"], found["closing"]
        if min(len(opening), len(closing)) > 1:
            literal += found[0][1:-1]
        else:
            literal += opening[1:]
            parts.extend((literal, _placeholder(found)) if literal else (_placeholder(found),))
            literal = closing[1:]
        done = found.end()
    literal += text[done:]
    return Template(text, (*parts, literal) if literal else tuple(parts))


def _adk_parts(text: str) -> Iterator[str | Placeholder]:
    done = 0
    for found in _ADK_CANDIDATE.finditer(text):
        inner = found[0].strip("{}").strip()
        name = inner.removesuffix("?")
        key = _ADK_KEY.fullmatch(name)
        if key is None or not key["name"].isidentifier():
            continue
        if found.start() > done:
            yield text[done : found.start()]
        yield Placeholder(name, (), inner != name, found.start(), found.end())
        done = found.end()
    if done < len(text):
        yield text[done:]


def escape(text: str) -> str:
    """Write text so that a template shows it as it is: `render(parse(escape(text)), ...) == text`.

    Args:
        text: any text.
    """
    pieces, done = [], 0
    for found in _candidates(text):
        pieces += [text[done : found.start()], "{", found[0], "}"]
        done = found.end()
    return "".join((*pieces, text[done:]))


def render(template: Template, read: Callable[[str], object]) -> str:
    """Put values in the place of placeholders: text as it is, everything else as JSON.

    Args:
        template: the template.
        read: gives the value of a key, MISSING if it has none.

    Raises:
        AbsentKeyError: a required placeholder's key or field is not there.
    """
    return "".join(part if isinstance(part, str) else _rendered(part, read) for part in template.parts)


def _rendered(placeholder: Placeholder, read: Callable[[str], object]) -> str:
    value = read(placeholder.name)
    found = value if value is MISSING else field_of(value, placeholder.path)
    if found is not MISSING:
        return render_text(found)
    if placeholder.optional:
        return ""
    raise AbsentKeyError(placeholder.name if value is MISSING else placeholder.text)


def _candidates(text: str) -> Iterator[re.Match[str]]:
    """Find what would be a placeholder between braces, with all the braces on both sides of it."""
    return (found for found in _CANDIDATE.finditer(text) if all(map(str.isidentifier, found["path"].split("."))))


def _placeholder(found: re.Match[str]) -> Placeholder:
    first, *path = found["path"].split(".")
    start = found.end("opening") - 1
    end = found.start("closing") + 1
    return Placeholder((found["scope"] or "") + first, tuple(path), bool(found["optional"]), start, end)
