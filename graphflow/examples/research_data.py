"""What the research example is about: a small library, notes taken from it, and words that are compared by their stems.

The library is a file beside this module, so that it can be changed without code::

    found_in_library("how tides are caused")[0].title        # "Tides for beginners"

This module knows no model and no agent.
"""

from __future__ import annotations

import csv
import re
from functools import cache
from importlib.resources import files

from pydantic import BaseModel, ConfigDict

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
_ENDINGS = ("ations", "ation", "ates", "ated", "ate", "ings", "ing", "ies", "ed", "es", "al", "y", "e", "s")
_COMMON_WORDS = (
    "a about after all also an and any are as at be because been before between but by can come could did do does "
    "find finds for found from get had happen happens has have how if in into is it its just know known like made "
    "make many may me might more most much must my need of on one or other our over people please should so some "
    "such tell than that the their them then there these they this those to too under up us use used uses very was "
    "we were what when where which while who whom whose why will with without work works would you your"
)
_COMMON = frozenset(_COMMON_WORDS.split())


class Note(BaseModel):
    """What was found on something, and where.

    Attributes:
        title: the source.
        text: what it says.
    """

    model_config = ConfigDict(frozen=True)

    title: str
    text: str


def subjects(text: str) -> list[str]:
    """Give the words of a text that carry its meaning, in order, each once."""
    words = (word.casefold() for word in _WORD.findall(text))
    return list(dict.fromkeys(word for word in words if word not in _COMMON))


def stem(word: str) -> str:
    """Give the part of a word that its forms have in common, roughly."""
    ending = next((end for end in _ENDINGS if word.endswith(end) and len(word) - len(end) >= 3), "")
    return word.removesuffix(ending)


def stems(text: str) -> frozenset[str]:
    """Give the stems of the words that carry a text's meaning."""
    return frozenset(stem(word) for word in subjects(text))


def found_in_library(query: str, most: int = 2) -> list[Note]:
    """Look something up.

    Args:
        query: words; a note has to have at least half of them.
        most: how many notes to give.

    Returns:
        The best notes, the best one first; empty if there is none.
    """
    asked = stems(query)
    scored = [(len(asked & stems(f"{note.title} {note.text}")), note) for note in library()]
    good = [(score, note) for score, note in scored if score and 2 * score >= len(asked)]
    return [note for _, note in sorted(good, key=lambda pair: -pair[0])[:most]]


@cache
def library() -> tuple[Note, ...]:
    """Read the library."""
    text = (files("graphflow.examples") / "data" / "library.csv").read_text(encoding="utf-8")
    return tuple(Note.model_validate(row) for row in csv.DictReader(text.splitlines()))
