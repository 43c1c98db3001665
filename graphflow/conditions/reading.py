"""Which keys a condition reads, and which of them may be absent.

A key that is only asked for by `exists()` may be absent, and so may one that is read only where an `exists()` on the
way there has said yes::

    reads(key("draft").exists() & (key("draft").len() > 3))     # (('draft', (), True),)
    reads(key("draft").exists() | (key("draft").len() > 3))     # (('draft', (), False),)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

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

ReadOf: TypeAlias = tuple[str, tuple[str, ...], bool]
"""A key, the path to a field of it (empty for the value itself), and whether it may be absent."""

_NONE: frozenset[str] = frozenset()


def reads(condition: Condition) -> tuple[ReadOf, ...]:
    """List what a condition reads.

    Args:
        condition: the condition.

    Returns:
        (key, path, optional) in order of first appearance, each key and path once; one required read makes it required.
    """
    found: dict[tuple[str, tuple[str, ...]], bool] = {}
    for name, path, optional in _walk(condition, _NONE):
        found[name, path] = found.get((name, path), True) and optional
    return tuple((name, path, optional) for (name, path), optional in found.items())


def _walk(condition: Condition, there: frozenset[str]) -> Iterator[ReadOf]:
    """List the reads in order; `there` are keys that are known to have a value."""
    match condition:
        case Ref() | Length():
            yield _read(condition, there)
        case Compare(_, left, right):
            yield _read(left, there)
            if not isinstance(right, Literal):
                yield _read(right, there)
        case Exists(ref):
            yield ref.name, ref.path, True
        case Matches(ref) | Is(ref):
            yield _read(ref, there)
        case And(left, right):
            yield from _walk(left, there)
            yield from _walk(right, there | _proved(left)[0])
        case Or(left, right):
            yield from _walk(left, there)
            yield from _walk(right, there | _proved(left)[1])
        case Not(operand):
            yield from _walk(operand, there)
        case Call():
            for parameter in condition.reads:
                yield parameter.key, (), parameter.optional or parameter.key in there
        case _:
            raise InternalError(f"no way to list the reads of a condition of kind {type(condition).__name__}")


def _read(operand: Operand, there: frozenset[str]) -> ReadOf:
    ref = operand.ref if isinstance(operand, Length) else operand
    assert isinstance(ref, Ref)
    return ref.name, ref.path, ref.name in there


def _proved(condition: Condition) -> tuple[frozenset[str], frozenset[str]]:
    """Give the keys that `exists()` has found where the condition holds, and where it does not."""
    match condition:
        case Exists(ref):
            return frozenset({ref.name}), _NONE
        case Not(operand):
            holds, fails = _proved(operand)
            return fails, holds
        case And(left, right):
            (left_holds, left_fails), (right_holds, right_fails) = _proved(left), _proved(right)
            return left_holds | right_holds, left_fails & (left_holds | right_fails)
        case Or(left, right):
            (left_holds, left_fails), (right_holds, right_fails) = _proved(left), _proved(right)
            return left_holds & (left_fails | right_holds), left_fails | right_fails
    return _NONE, _NONE
