"""A condition over other keys: the same questions, asked of keys with other names.

::

    renamed(key("score") < 0.8, "review/".__add__)      # review/score < 0.8

The function of a `Call` keeps its parameters; only the keys they are filled from change.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from graphflow.conditions.tree import (
    And,
    Call,
    Compare,
    Condition,
    Exists,
    Is,
    Length,
    Literal,
    Matches,
    Not,
    Operand,
    Or,
    Ref,
)
from graphflow.errors import InternalError

Renamer = Callable[[str], str]


def renamed(condition: Condition, name: Renamer) -> Condition:
    """Rename the keys of a condition.

    Args:
        condition: any condition; it is not changed.
        name: old name -> new name.

    Returns:
        The condition over the new names.
    """
    match condition:
        case Operand():
            return _operand(condition, name)
        case Compare(op=op, left=left, right=right):
            return Compare(op, _operand(left, name), right if isinstance(right, Literal) else _operand(right, name))
        case Exists(ref=ref):
            return Exists(_ref(ref, name))
        case Matches(ref=ref, pattern=pattern):
            return Matches(_ref(ref, name), pattern)
        case Is(ref=ref, value=value):
            return Is(_ref(ref, name), value)
        case And(left=left, right=right):
            return And(renamed(left, name), renamed(right, name))
        case Or(left=left, right=right):
            return Or(renamed(left, name), renamed(right, name))
        case Not(operand=operand):
            return Not(renamed(operand, name))
        case Call(func=func, reads=reads):
            return Call(func, tuple(replace(read, key=name(read.key)) for read in reads))
        case _:
            raise InternalError(f"no way to rename the keys of a condition of kind {type(condition).__name__}")


def _operand(operand: Operand, name: Renamer) -> Operand:
    match operand:
        case Ref():
            return _ref(operand, name)
        case Length(ref=ref):
            return Length(_ref(ref, name))
        case _:
            raise InternalError(f"no way to rename the keys of an operand of kind {type(operand).__name__}")


def _ref(ref: Ref, name: Renamer) -> Ref:
    return Ref(name(ref.name), ref.path)
