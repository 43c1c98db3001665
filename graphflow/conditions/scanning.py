r"""Reading text from left to right, and the few forms that all of graphflow's text has in common.

A name stands as it is where that is clear, else as a JSON string; quoted text and brackets are skipped as a whole::

    name_text("user:tier")                  # user:tier
    name_text("two words")                  # "two words"
    scanner = Scanner("edge a -> b")
    scanner.take("edge "), scanner.name()   # (True, 'a')

This module knows characters, neither conditions nor graphs.
"""

from __future__ import annotations

import json
import re

from graphflow.errors import UsageError

_BARE = re.compile(r"[\w@](?:[\w@/#:-]*[\w@/#-])?")
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*+"')
_INSIDE = re.compile(
    r"""[^\[\](){}'"\n]++ | '(?:[^'\\\n]|\\.)*+' | "(?:[^"\\\n]|\\.)*+" """,
    re.VERBOSE,
)
_CLOSING = {"[": "]", "(": ")", "{": "}"}
_SHOWN = 30


def name_text(name: str) -> str:
    """Write a name: as it is where it is made of letters, digits and `_@/#:-`, else as a JSON string."""
    return name if _BARE.fullmatch(name) else json.dumps(name)


def bracketed(text: str, at: int) -> int | None:
    """Find the end of a group in brackets; quoted text in it counts as one piece.

    Args:
        text: any text.
        at: where the opening bracket stands.

    Returns:
        The offset behind the bracket that closes the group, None if there is none in this line.
    """
    open_: list[str] = []
    while at < len(text):
        character = text[at]
        if character in _CLOSING:
            open_.append(_CLOSING[character])
        elif open_ and character == open_[-1]:
            open_.pop()
        else:
            found = _INSIDE.match(text, at)
            if found is None:
                return None
            at = found.end()
            continue
        at += 1
        if not open_:
            return at
    return None


class Scanner:
    """A place in a text. What does not fit raises a `UsageError` that says where and what was expected.

    Attributes:
        text: the whole text.
        at: offset of what comes next.
        what: what the text is, for messages.
    """

    def __init__(self, text: str, what: str) -> None:
        self.text = text
        self.at = 0
        self.what = what

    @property
    def done(self) -> bool:
        """Whether nothing is left."""
        return self.at >= len(self.text)

    def next_is(self, literal: str) -> bool:
        """Say whether a literal comes next; one that ends in a letter has to end a word."""
        end = self.at + len(literal)
        if not self.text.startswith(literal, self.at):
            return False
        return not (literal[-1:].isalnum() and _continues_word(self.text[end : end + 1]))

    def take(self, literal: str) -> bool:
        """Go past a literal if it comes next, and say whether it did."""
        found = self.next_is(literal)
        self.at += len(literal) * found
        return found

    def expect(self, literal: str) -> None:
        """Go past a literal that has to come next."""
        if not self.take(literal):
            raise self.unexpected(f"`{literal.strip() or 'a space'}`" if literal != "\n" else "the end of the line")

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Go past what a pattern finds here, and give it."""
        found = pattern.match(self.text, self.at)
        if found is not None:
            self.at = found.end()
        return found

    def name(self, what: str = "a name") -> str:
        """Read a name as `name_text` writes it."""
        if self.next_is('"'):
            return self.string()
        found = self.match(_BARE)
        if found is None:
            raise self.unexpected(
                f"{what}; one with other characters than letters, digits and `_@/#:-` stands in double quotes"
            )
        return found[0]

    def string(self) -> str:
        """Read a JSON string."""
        start = self.at
        found = self.match(_STRING)
        try:
            value = json.loads(found[0]) if found is not None else None
        except ValueError:
            value = None
        if not isinstance(value, str):
            self.at = start
            raise self.unexpected("text in double quotes, with the escapes of JSON")
        return value

    def unexpected(self, expected: str) -> UsageError:
        """Make the error for what comes next."""
        at = self.at + (self.text[self.at : self.at + 1] == " ")
        line = self.text.count("\n", 0, at) + 1
        column = at - (self.text.rfind("\n", 0, at) + 1) + 1
        rest = self.text[at : at + _SHOWN].partition("\n")[0]
        found = f"`{rest}`" if rest else "the end of the line" if not self.done else "the end"
        return UsageError(f"{self.what}, line {line}, column {column}: found {found}, expected {expected}")


def _continues_word(character: str) -> bool:
    return character.isalnum() or character == "_"
