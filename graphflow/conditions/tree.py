"""The tree of a condition: its kinds, how it is written in Python, how it is printed.

Operators on `key("x")` build the tree; what Python would evaluate at once (`and`, `not`, `in`, a chain) raises and
names the operator to write instead::

    text((key("score") < 0.8) & ~key("approved"))       # '(score < 0.8 and not approved)'
    bool(key("approved"))                               # TypeError: ... write `&` for `and` ...
"""

from __future__ import annotations

import copy
import re
import typing
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NoReturn, TypeAlias

from graphflow.conditions.functions import CallRead, call_reads, function_name
from graphflow.conditions.values import in_order, value_text
from graphflow.conditions.words import call_text, called_text, ref_text
from graphflow.errors import InternalError, UsageError

Operator: TypeAlias = typing.Literal["==", "!=", "<", "<=", ">", ">=", "in", "not in", "contains"]

_PARENTHESES = 'put each comparison in parentheses, as in (key("a") > 1) & (key("b") > 2)'


class Condition:
    """What can be asked of the state: joined by `&`, `|` and `~`, never by `and`, `or` and `not`."""

    __slots__: tuple[str, ...] = ()

    def __and__(self, other: object) -> And:
        return And(self, _joined("&", other))

    def __rand__(self, other: object) -> And:
        return And(_joined("&", other), self)

    def __or__(self, other: object) -> Or:
        return Or(self, _joined("|", other))

    def __ror__(self, other: object) -> Or:
        return Or(_joined("|", other), self)

    def __invert__(self) -> Condition:
        return self.operand if isinstance(self, Not) else Not(self)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Condition):
            return same(self, other)
        if other is None:
            return NotImplemented
        raise self._misused(f"is no value that could be compared: {_PARENTHESES}")

    def __hash__(self) -> int:
        return hash(text(self))

    def __repr__(self) -> str:
        return text(self)

    def __lt__(self, other: object) -> Compare:
        raise self._misused(f"is no value that could be compared: {_PARENTHESES}")

    __le__ = __gt__ = __ge__ = __lt__

    def __bool__(self) -> bool:
        raise self._misused(
            "is neither true nor false before a run: write `&` for `and`, `|` for `or`, `~` for `not`, "
            '`.in_([...])` for `in`, and (1 < key("x")) & (key("x") < 3) for a chain'
        )

    def __contains__(self, item: object) -> bool:
        raise self._misused("has no members before a run: write `.contains(...)` for `in`")

    def __iter__(self) -> NoReturn:
        raise self._misused(
            "cannot be iterated before a run: write `.contains(...)` or `.in_([...])` to ask for members"
        )

    def __len__(self) -> int:
        raise self._misused("has no length before a run: write `.len()`")

    def __getitem__(self, name: object) -> NoReturn:
        raise self._misused("has no items before a run: write `.field(...)`")

    def _misused(self, why: str) -> TypeError:
        return TypeError(f"the condition `{text(self)}` {why}")


class Operand(Condition):
    """What can be compared with a value or with another operand; as a condition it asks whether it is truthy."""

    __slots__ = ()

    def __eq__(self, other: object) -> Compare:  # type: ignore[override]  # builds a condition
        return Compare("==", self, _operand(other))

    def __ne__(self, other: object) -> Compare:  # type: ignore[override]  # builds a condition
        return Compare("!=", self, _operand(other))

    __hash__ = Condition.__hash__

    def __lt__(self, other: object) -> Compare:
        return Compare("<", self, _operand(other))

    def __le__(self, other: object) -> Compare:
        return Compare("<=", self, _operand(other))

    def __gt__(self, other: object) -> Compare:
        return Compare(">", self, _operand(other))

    def __ge__(self, other: object) -> Compare:
        return Compare(">=", self, _operand(other))

    def in_(self, collection: Iterable[object] | Operand) -> Compare:
        """Ask whether the value is one of several.

        Args:
            collection: the values, or a key that holds a collection.

        Raises:
            TypeError: it is text or no collection.
        """
        return Compare("in", self, _members(collection))

    def not_in(self, collection: Iterable[object] | Operand) -> Compare:
        """Ask whether the value is none of several; see `in_`."""
        return Compare("not in", self, _members(collection))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Ref(Operand):
    """A key, or a field of one.

    Attributes:
        name: the key.
        path: names of the fields that lead from its value to the one meant; empty for the value itself.
    """

    name: str
    path: tuple[str, ...] = ()

    def field(self, path: str) -> Ref:
        """Go on to a field of the value: an attribute of a model or dataclass, an item of a mapping.

        Args:
            path: name of the field, or several joined by dots.

        Raises:
            TypeError: it is no text.
            UsageError: a name is empty.
        """
        if not isinstance(path, str):
            raise TypeError(f"`field` of `{text(self)}` takes the name of a field, got {path!r}")
        if "" in path.split("."):
            raise UsageError(f"`field` of `{text(self)}` takes names joined by dots, got {path!r}")
        return Ref(self.name, (*self.path, *path.split(".")))

    def exists(self) -> Exists:
        """Ask whether there is a value (None is one)."""
        return Exists(self)

    def len(self) -> Length:
        """Take the length of the value, to compare it."""
        return Length(self)

    def contains(self, item: object) -> Compare:
        """Ask whether the value, a collection or text, contains an item."""
        return Compare("contains", self, _operand(item))

    def matches(self, pattern: str) -> Matches:
        """Ask whether a regular expression is found anywhere in the value, which is text.

        Args:
            pattern: the expression, in Python's syntax.

        Raises:
            TypeError: it is no text.
            UsageError: it is no regular expression.
        """
        if not isinstance(pattern, str):
            raise TypeError(f"`matches` of `{text(self)}` takes a regular expression as text, got {pattern!r}")
        try:
            re.compile(pattern)
        except re.error as error:
            raise UsageError(f"`matches` of `{text(self)}`: {pattern!r} is no regular expression: {error}") from error
        return Matches(self, pattern)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Length(Operand):
    """The number of items of a value, or of characters of a text."""

    ref: Ref


@dataclass(frozen=True, slots=True)
class Literal:
    """A value that stands in a condition; it is never changed."""

    value: object


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Compare(Condition):
    """A comparison. For `in` and `not in` the right side is a tuple of values or an operand."""

    op: Operator
    left: Operand
    right: Operand | Literal


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Exists(Condition):
    """A key has a value, a field is there."""

    ref: Ref


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Matches(Condition):
    """A regular expression is found in a text."""

    ref: Ref
    pattern: str


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Is(Condition):
    """A value is a case: equal and of the same type; see `is_case`."""

    ref: Ref
    value: object


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class And(Condition):
    """Both hold; the right side is looked at only if the left one holds."""

    left: Condition
    right: Condition


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Or(Condition):
    """At least one holds; the right side is looked at only if the left one does not hold."""

    left: Condition
    right: Condition


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Not(Condition):
    """Does not hold."""

    operand: Condition


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Call(Condition):
    """A pure function of keys returns something truthy."""

    func: Callable[..., object]
    reads: tuple[CallRead, ...]


def key(name: str) -> Ref:
    """Start a condition: `key("score") < 0.8`. By itself it asks whether the value is truthy.

    Args:
        name: a key of the state.

    Raises:
        TypeError: it is no text.
        UsageError: it is no name of a key.
    """
    if not isinstance(name, str):
        raise TypeError(f"`key` takes the name of a key, got {name!r}")
    if name.endswith("?"):
        raise UsageError(f"`key` takes the name of a key, got {name!r}; key({name[:-1]!r}).exists() asks for a value")
    if not name or "." in name:
        hint = "; write key({!r}).field({!r})".format(*name.split(".", 1)) if name.strip(".") else ""
        raise UsageError(f"`key` takes the name of a key, got {name!r}{hint}")
    return Ref(name)


def as_condition(value: object) -> Condition:
    """Take a condition, or a pure function whose parameters name the keys it reads.

    Args:
        value: a parameter with a default is an optional read; `Annotated[str, Key("user:tier")]` names a key that is no
            identifier.

    Raises:
        TypeError: it is something else; the message says what to write.
    """
    if isinstance(value, Condition):
        return value
    if not callable(value) or isinstance(value, type):
        hint = "; `not`, `and`, `or`, `in` are written `~`, `&`, `|`, `.in_(...)`" if isinstance(value, bool) else ""
        raise TypeError(f'a condition is key("score") < 0.8 or the like, or a function of keys; got {value!r}{hint}')
    if isinstance(getattr(value, "__self__", None), Condition):
        raise TypeError(f"`{function_name(value)}` was not called; add `()`")
    return Call(value, call_reads(value))


def same(left: Condition, right: Condition) -> bool:
    """Say whether two conditions are built alike (values by type and equality, functions by identity)."""
    return _shape(left) == _shape(right)


def text(condition: Condition, *, exact: bool = False) -> str:
    """Print a condition: stable, and such that only conditions that ask the same are printed alike.

    Args:
        condition: the condition.
        exact: whether a function is written with the keys it reads; else by its name only.
    """
    match condition:
        case Ref(name, path):
            return ref_text(name, path)
        case Length(ref):
            return f"len({text(ref)})"
        case Compare(op, left, right):
            return f"{text(left)} {op} {_side_text(op, right)}"
        case Exists(ref):
            return f"{text(ref)} exists"
        case Matches(ref, pattern):
            return f"{text(ref)} matches {value_text(pattern)}"
        case Is(ref, value):
            return f"{text(ref)} is {value_text(value)}"
        case And() | Or():
            word = "and" if isinstance(condition, And) else "or"
            return f"({f' {word} '.join(text(part, exact=exact) for part in _chain(condition))})"
        case Not(operand):
            return f"not {text(operand, exact=exact)}"
        case Call(func, reads):
            return f"call:{called_text(function_name(func))}{call_text(reads) if exact else ''}"
    raise InternalError(f"no way to print a condition of kind {type(condition).__name__}")


def _side_text(op: Operator, side: Operand | Literal) -> str:
    if isinstance(side, Ref):
        return ref_text(side.name, side.path, right=True)
    if not isinstance(side, Literal):
        return text(side)
    return value_text(list(side.value) if op in ("in", "not in") and isinstance(side.value, tuple) else side.value)


def _chain(condition: And | Or) -> list[Condition]:
    """Take `(a & b) & c` apart; on the right a nested tree stays one."""
    kind, rest = type(condition), [condition.right]
    left = condition.left
    while isinstance(left, kind):
        rest.append(left.right)
        left = left.left
    return [left, *reversed(rest)]


def _shape(part: object) -> object:
    match part:
        case Literal(value) | Is(_, value):
            inner: tuple[object, ...] = (type(value), value_text(value), value)
            return (type(part), *inner, _shape(part.ref)) if isinstance(part, Is) else (type(part), *inner)
        case Condition():
            return (type(part), *(_shape(getattr(part, name)) for name in part.__slots__))
    return part


def _joined(sign: str, other: object) -> Condition:
    if isinstance(other, Condition) or (callable(other) and not isinstance(other, type)):
        return as_condition(other)
    raise TypeError(f"`{sign}` joins two conditions, got {other!r}: {_PARENTHESES}")


def _operand(value: object) -> Operand | Literal:
    if isinstance(value, Operand):
        return value
    if isinstance(value, Condition):
        raise TypeError(f"the condition `{text(value)}` is no value that could be compared: {_PARENTHESES}")
    return Literal(copy.deepcopy(value) if isinstance(value, (list, dict, set)) else value)


def _members(collection: object) -> Operand | Literal:
    if isinstance(collection, Operand):
        return collection
    if isinstance(collection, (str, bytes, Condition)) or not isinstance(collection, Iterable):
        raise TypeError(f"`in_` and `not_in` take a collection of values, got {collection!r}")
    members = in_order(collection) if isinstance(collection, (set, frozenset)) else list(collection)
    for member in members:
        if isinstance(member, Condition):
            raise TypeError(f"`in_` and `not_in` take values, got the condition `{text(member)}`")
    return Literal(tuple(copy.deepcopy(members)))
