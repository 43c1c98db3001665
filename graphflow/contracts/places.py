"""Searches for the places in a file at which findings about reads point: placeholders of templates, parameters of functions.

A search costs nothing until it is made, which is when a finding asks for it. A placeholder is searched for in the call
that made the agent, in the argument whose text has the same placeholders as the template: `textwrap.dedent` around it, a
prefix or several pieces do no harm::

    LlmAgent(name="a",
             instruction="About {topic}")         # the place of {topic} is 2:33

What is not written out there (a name, an f-string, a copied agent) is not found. Nothing is executed.
"""

from __future__ import annotations

import ast
import functools
import io
import re
import tokenize
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from graphflow.contracts.code import code_of, lines_of, tree_of
from graphflow.contracts.contract import Origin
from graphflow.template import Template, parse

_OPENING = re.compile(r"([A-Za-z]*)('''|\"\"\"|'|\")")
_ESCAPE = re.compile(r"\\(?:N\{[^}]*\}|x..|u.{4}|U.{8}|[0-7]{1,3}|\r?\n|.)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class PlaceholderSearch:
    """The search for a placeholder.

    Attributes:
        made: where the agent is made.
        template: the template.
        index: which of its placeholders.
    """

    made: Origin
    template: Template
    index: int

    def __call__(self) -> Origin | None:
        """Make the search; None if the text is not written out in the call."""
        lines = lines_of(self.made.file)
        wanted = [(each.text, each.optional) for each in self.template.placeholders]
        similar: list[Origin] = []
        for value in _arguments(lines, self.made):
            pieces = list(_pieces(value, lines))
            raw = "".join(text for text, _, _ in pieces)
            found = parse(raw, self.template.braces)
            if [(each.text, each.optional) for each in found.placeholders] == wanted:
                _, line, column = pieces[found.placeholders[self.index].start]
                if raw == self.template.text:
                    return Origin(self.made.file, line, column)
                similar.append(Origin(self.made.file, line, column))
        return similar[0] if similar else None


@dataclass(frozen=True, slots=True)
class ParameterSearch:
    """The search for a parameter of a function."""

    func: Callable[..., object]
    name: str

    def __call__(self) -> Origin | None:
        """Make the search; None if the function's source cannot be found."""
        code = code_of(self.func)
        if code is None:
            return None
        arguments = code.node.args
        for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
            if each.arg == self.name:
                return code.origin(each)
        return None


def _arguments(lines: tuple[str, ...], made: Origin) -> Iterator[ast.expr]:
    """The arguments of the calls that begin at a place; where none does, of those that begin in its line."""
    calls = _calls("".join(lines)).get(made.line, ())
    line = lines[made.line - 1] if 0 < made.line <= len(lines) else ""
    offset = len(line[: made.column - 1].encode())
    exact = [call for call in calls if made.column and call.col_offset == offset]
    for call in exact or calls:
        yield from (keyword.value for keyword in call.keywords)
        yield from call.args


@functools.lru_cache(maxsize=16)
def _calls(text: str) -> Mapping[int, tuple[ast.Call, ...]]:
    """Line -> the calls that begin there."""
    found: dict[int, tuple[ast.Call, ...]] = {}
    tree = tree_of(text)
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Call):
            found[node.lineno] = (*found.get(node.lineno, ()), node)
    return found


def _pieces(value: ast.expr, lines: tuple[str, ...]) -> Iterator[tuple[str, int, int]]:
    """The characters of all text that an expression writes out, each with the line and column where it stands."""
    if any(isinstance(node, ast.JoinedStr) for node in ast.walk(value)):
        return
    last = value.end_lineno or value.lineno
    rows = [line.rstrip("\r\n") + "\n" for line in lines[value.lineno - 1 : last]]
    if not rows:
        return
    start = len(rows[0].encode()[: value.col_offset].decode(errors="replace"))
    rows[-1] = rows[-1].encode()[: value.end_col_offset].decode(errors="replace")
    rows[0] = "(" + rows[0][start:]
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO("".join(rows) + ")").readline))
    except (tokenize.TokenError, SyntaxError):
        return
    for token in tokens:
        if token.type == tokenize.STRING:
            line, column = token.start
            yield from _characters(token.string, value.lineno + line - 1, column + (start - 1 if line == 1 else 0))


def _characters(literal: str, line: int, column: int) -> Iterator[tuple[str, int, int]]:
    """The characters that a literal stands for; `column` counts from 0, the columns given from 1."""
    opening = _OPENING.match(literal)
    if opening is None or "b" in opening[1].lower():
        return
    raw = "r" in opening[1].lower()
    at, end = opening.end(), len(literal) - len(opening[2])
    column += opening.end()
    while at < end:
        escape = None if raw else _ESCAPE.match(literal, at)
        shown = escape[0] if escape is not None else literal[at]
        if escape is None:
            yield shown, line, column + 1
        elif not shown.endswith("\n"):
            yield _meant(shown), line, column + 1
        line, column = (line + 1, 0) if shown.endswith("\n") else (line, column + len(shown))
        at += len(shown)


def _meant(escape: str) -> str:
    """The character that an escape sequence stands for. One that Python does not know stands for itself; two never matter."""
    try:
        meant = ast.literal_eval(f'"{escape}"') if escape != '\\"' else '"'
    except (SyntaxError, ValueError):
        return " "
    return meant if isinstance(meant, str) and len(meant) == 1 else " "
