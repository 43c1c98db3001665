"""What texts say about keys besides their placeholders: braces that are nearly one, and keys that are named in words.

Only what names a known key is told, so that JSON, CSS and code in an instruction are left alone::

    braces("Fix {draft. and {{notes}}", {"draft", "notes"})
    # Brace("draft", "{draft", "malformed"), Brace("notes", "{{notes}}", "doubled")
    named_in_words("Read state['draft'].", {"draft"})           # ["draft"]

Nothing here knows agents or graphs.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from graphflow.template import Braces, parse

Form = Literal["malformed", "unbalanced", "doubled", "spaced", "dollar", "dotted"]

_GROUP = re.compile(r"(?<![{])\{(?P<name>[A-Za-z_]\w*)(?P<rest>[^{}\s\"',;]{0,40})\}(?!\})")
_OPEN = re.compile(r"(?<!\{)\{(?P<name>[A-Za-z_]\w*)(?P<rest>[.?]?)(?=[\s,;.!)]|$)")
_CLOSE = re.compile(r"(?<![\w{}.\"'])(?P<name>[A-Za-z_]\w*)\??\}(?!\})")
_DOUBLED = re.compile(r"\{\{(?P<name>[A-Za-z_]\w*)[\w.]*\??\}\}")
_SPACED = re.compile(r"(?<!\{)\{(?=[ \t]|\w+\??[ \t])[ \t]*(?P<name>[A-Za-z_]\w*)\??[ \t]*\}(?!\})")
_DOTTED = re.compile(r"(?<![{$\\])\{(?P<name>[^\W\d]\w*)(?:\.\w+)+\??\}(?!\})")
_DOLLAR = re.compile(r"\$\{(?P<name>[A-Za-z_]\w*)[\w.]*\??\}")
_PLAIN = re.compile(r"(?:[^{}$]++|(?<!\{)\{[A-Za-z_]\w*+(?:\.\w++)*+\??\}(?!\}))*+")
"""Text with nothing but ordinary placeholders in it."""
_WORDS = (
    re.compile(r"\bstate\s*\[\s*['\"](?P<name>\w+)['\"]\s*\]"),
    re.compile(r"\bstate\.get\(\s*['\"](?P<name>\w+)['\"]"),
    re.compile(r"\b(?:the|state|session)\s+[`'\"]?(?P<name>\w+)[`'\"]?\s+(?:state\s+)?key\b", re.IGNORECASE),
    re.compile(r"\bkey\s+[`'\"](?P<name>\w+)[`'\"]", re.IGNORECASE),
)


@dataclass(frozen=True, slots=True)
class Brace:
    """A place in a text that is nearly a placeholder, or not the one that it looks like.

    Attributes:
        name: the known key that it names.
        text: what is written.
        form: what is odd about it.
        start: offset of the place, from 0.
    """

    name: str
    text: str
    form: Form
    start: int


def braces(
    text: str, known: Collection[str], grammar: Braces = "graphflow", types: Collection[str] = ()
) -> Sequence[Brace]:
    """Find the odd braces of a template.

    Args:
        text: the template.
        known: names of the keys there are.
        grammar: which braces are placeholders. By ADK's doubled braces and spaces do no harm, fields and dollars do.
        types: names of the types there are, which some take for keys with fields.

    Returns:
        The places, in order, each once.
    """
    if grammar == "graphflow" and _PLAIN.fullmatch(text):
        return []
    odd = _braces(text, known) if grammar == "graphflow" else _adk_braces(text, known, types)
    found = sorted(odd, key=lambda brace: brace.start)
    places = {brace.start: brace for brace in reversed(found)}
    return [places[start] for start in sorted(places)]


def _adk_braces(text: str, known: Collection[str], types: Collection[str]) -> Iterator[Brace]:
    for match in _DOLLAR.finditer(text):
        if match["name"] in known:
            yield Brace(match["name"], match[0], "dollar", match.start())
    for match in _DOTTED.finditer(text):
        if match["name"] in known or match["name"] in types:
            yield Brace(match["name"], match[0], "dotted", match.start())
    taken = {placeholder.start for placeholder in parse(text, "adk").placeholders}
    for brace in _broken(text, known, taken):
        if text[max(brace.start - 1, 0) : brace.start] not in ("$", "\\"):
            yield brace


def _braces(text: str, known: Collection[str]) -> Iterator[Brace]:
    taken = {placeholder.start for placeholder in parse(text).placeholders}
    literal: tuple[tuple[Form, re.Pattern[str]], ...] = (
        ("doubled", _DOUBLED),
        ("spaced", _SPACED),
        ("dollar", _DOLLAR),
    )
    for form, pattern in literal:
        for match in pattern.finditer(text):
            if match["name"] in known:
                yield Brace(match["name"], match[0], form, match.start())
    yield from _broken(text, known, taken)


def _broken(text: str, known: Collection[str], taken: Collection[int]) -> Iterator[Brace]:
    for match in _GROUP.finditer(text):
        if match["name"] in known and match.start() not in taken:
            yield Brace(match["name"], match[0], "malformed", match.start())
    for match in _OPEN.finditer(text):
        after = text[match.end() :]
        closed = after.find("}") >= 0 and not -1 < after.find("{") < after.find("}")
        if match["name"] in known and not closed:
            yield Brace(match["name"], match[0], "unbalanced", match.start())
    for match in _CLOSE.finditer(text):
        before = text[: match.start()]
        if match["name"] in known and before.count("{") <= before.count("}"):
            yield Brace(match["name"], match[0], "unbalanced", match.start())


def named_in_words(text: str, known: Collection[str]) -> Sequence[str]:
    """Name the keys that a text speaks of in words, such as `state['draft']` or "the draft key", in order.

    Args:
        text: the text.
        known: names of the keys there are.
    """
    found = [(match.start(), match["name"]) for pattern in _WORDS for match in pattern.finditer(text)]
    return list(dict.fromkeys(name for _, name in sorted(found) if name in known))
