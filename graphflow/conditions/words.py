"""The words of a condition's text: how keys, fields and functions are named in it.

What would be taken for something else is set apart::

    ref_text("user:tier", ())               # user:tier
    ref_text("two words", ("a",))           # key("two words").a
    ref_text("limits", ("max",), right=True)    # key("limits").max, for limits.max is a member of an Enum there

This module knows names; `tree` prints with it, `parsing` reads.
"""

from __future__ import annotations

import json
import re

from graphflow.conditions.functions import CallRead
from graphflow.conditions.scanning import name_text

KEY = re.compile(r"[^\W\d](?:[\w@/#:-]*[\w@/#-])?")
FIELD = re.compile(r"\w+")
FUNCTION = re.compile(r"[\w.<>]+")
CALL = "call:"

RESERVED = frozenset(
    ("not", "and", "or", "in", "is", "exists", "matches", "contains", "len", "key", "call", "set", "frozenset")
) | {"True", "False", "None", "inf", "nan"}
"""Words that are no keys unless they stand in `key("...")`, and no classes of values."""


def ref_text(name: str, path: tuple[str, ...], *, right: bool = False) -> str:
    """Write a key or a field of one.

    Args:
        name: the key.
        path: the fields that lead to the one meant.
        right: whether it stands where a value could stand.
    """
    bare = KEY.fullmatch(name) and name not in RESERVED and not name.startswith(CALL) and not (right and path)
    head = name if bare else f"key({json.dumps(name)})"
    return ".".join((head, *(field if FIELD.fullmatch(field) else json.dumps(field) for field in path)))


def called_text(name: str) -> str:
    """Write the name of a function."""
    return name if FUNCTION.fullmatch(name) else json.dumps(name)


def call_text(reads: tuple[CallRead, ...]) -> str:
    """Write what a function is given: `(score, limit?, tier=user:tier?)`."""
    return f"({', '.join(map(_call_read_text, reads))})"


def _call_read_text(read: CallRead) -> str:
    key = "" if read.key == read.parameter else f"={name_text(read.key)}"
    return f"{name_text(read.parameter)}{key}{'?' if read.optional else ''}"
