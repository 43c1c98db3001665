"""The one error of this package, and how a value is shown in it.

Knows neither types nor keys: it only shortens what it is shown::

    raise TypeMismatch(f"expected list[str], got {shown(3)}")      # expected list[str], got int (3)
"""

from __future__ import annotations

import reprlib

from graphflow.errors import GraphflowError

_LONGEST = 60


class TypeMismatch(GraphflowError):
    """A value is not of the type that was asked for, or JSON cannot hold it."""


def shown(value: object) -> str:
    """Show a value in a message: its type, and its shortened repr on one line.

    Args:
        value: anything, cyclic and deep structures and objects whose repr fails included.

    Returns:
        For example `int (3)`, and `None` for None.
    """
    if value is None:
        return "None"
    short = reprlib.Repr()
    short.maxstring = short.maxother = short.maxlong = _LONGEST
    short.maxlevel = 3
    try:
        text = " ".join(short.repr(value).split())
    except Exception:  # noqa: BLE001 - a repr is foreign code, and a message must not fail because of it
        text = "?"
    text = text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."
    return f"{type(value).__name__} ({text})"
