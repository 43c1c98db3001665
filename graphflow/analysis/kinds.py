"""What values of a type can be: equal to a value, in order with one, text, with a length, with fields.

Conditions compare as Python does, so `True` may equal `1`, and a number any other number; a type of which nothing is known
may be anything::

    may_equal(type_of(Literal["good", "bad"]), "goood")      # False
    may_order(type_of(str), 3)                               # False
    lacking([type_of(Invoice)], ("totl",))                   # Lack(Type("Invoice"), "totl", ...)

It knows types, never graphs.
"""

from __future__ import annotations

import collections.abc
import numbers
import types
import typing
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum

from graphflow.schema import ANY, Type, closed_values, fields_of, type_of
from graphflow.schema.types import bare, is_literal, is_never, is_record, is_typed_dict, is_union

_PLAIN: tuple[type, ...] = (str, bytes, datetime, date, time, timedelta, types.NoneType)
_COLLECTIONS: tuple[type, ...] = (list, tuple, set, frozenset, dict)
_SIZED = (str, bytes, *_COLLECTIONS)
_TEXT = (str,)
_UNORDERED = (types.NoneType, dict)


@dataclass(frozen=True, slots=True)
class Lack:
    """A field that a type lacks.

    Attributes:
        type: the type that was asked for it.
        field: its name.
        known: the fields that the type has; empty for values without fields.
    """

    type: Type
    field: str
    known: tuple[str, ...] = ()


def members(type_: Type) -> Iterator[Type]:
    """Yield the members of a union, of any other type itself."""
    hint = bare(type_.hint)
    for each in typing.get_args(hint) if is_union(hint) else ():
        yield from members(type_of(each))
    if not is_union(hint):
        yield type_


def kind_of(type_: Type) -> type | None:
    """Give the class of a type's values where it is one that this module can judge; None: not known, or anything.

    Numbers are all of one kind, `numbers.Number`; models, dataclasses and TypedDicts are of their own.
    """
    hint = bare(type_.hint)
    if is_typed_dict(hint):
        return dict
    origin = typing.get_origin(hint) or hint
    if not isinstance(origin, type) or is_never(hint):
        return None
    if issubclass(origin, Enum) and not issubclass(origin, (str, int, float)):
        return origin
    if issubclass(origin, (int, float, complex, Decimal, numbers.Number)):
        return numbers.Number
    if is_record(origin):
        return origin
    if origin in (collections.abc.Sequence, collections.abc.MutableSequence):
        return list
    if origin in (collections.abc.Mapping, collections.abc.MutableMapping):
        return dict
    return next((kind for kind in (*_PLAIN, *_COLLECTIONS) if issubclass(origin, kind)), None)


def may_equal(type_: Type, value: object) -> bool:
    """Say whether a value of a type can equal a value, as Python compares them.

    Args:
        type_: the type; of a union one member is enough.
        value: any value.
    """
    return any(_member_may_equal(member, value) for member in members(type_))


def _member_may_equal(type_: Type, value: object) -> bool:
    closed = closed_values(type_)
    if closed is not None:
        return any(_equal(each, value) for each in closed)
    return may_meet(type_, _type_of_value(value))


def _equal(left: object, right: object) -> bool:
    try:
        return bool(left == right)
    except Exception:  # noqa: BLE001 - comparisons of foreign classes
        return True


def may_meet(left: Type, right: Type) -> bool:
    """Say whether a value of one type can equal a value of another."""
    return any(_kinds_meet(one, other) for one in members(left) for other in members(right))


def _kinds_meet(left: Type, right: Type) -> bool:
    values = closed_values(left)
    if values is not None and is_literal(bare(left.hint)):
        return any(_kinds_meet(_type_of_value(value), right) for value in values)
    if is_literal(bare(right.hint)):
        return _kinds_meet(right, left)
    one, other = kind_of(left), kind_of(right)
    if one is None or other is None:
        return True
    return one is other or issubclass(one, other) or issubclass(other, one) or {one, other} == {set, frozenset}


def may_order(type_: Type, value: object) -> bool:
    """Say whether values of a type can be put in order with a value; of a union one member is enough."""
    return any(_member_orders(member, _type_of_value(value)) for member in members(type_))


def orders(type_: Type) -> bool:
    """Say whether values of a type can be put in order with each other."""
    return any(_member_orders(member, member) for member in members(type_))


def _member_orders(left: Type, right: Type) -> bool:
    if is_literal(bare(left.hint)):
        return any(_member_orders(_type_of_value(value), right) for value in typing.get_args(bare(left.hint)))
    if is_literal(bare(right.hint)):
        return _member_orders(right, left)
    one, other = kind_of(left), kind_of(right)
    if one is None or other is None:
        return True
    if one in _UNORDERED or other in _UNORDERED:
        return False
    for kind in (one, other):
        if (is_record(kind) or issubclass(kind, Enum)) and not hasattr(kind, "__lt__"):
            return True
        if (is_record(kind) or issubclass(kind, Enum)) and kind.__lt__ is object.__lt__:  # type: ignore[operator]
            return False
    return _kinds_meet(left, right)


def may_contain(type_: Type, value: object) -> bool:
    """Say whether a value of a type, a collection or text, can contain a value; of a union one member is enough."""
    return any(_member_contains(member, value) for member in members(type_))


def _member_contains(type_: Type, value: object) -> bool:
    hint, kind = bare(type_.hint), kind_of(type_)
    if is_literal(hint):
        return any(_member_contains(_type_of_value(each), value) for each in typing.get_args(hint))
    if kind is None:
        return True
    if kind is str or kind is bytes:
        return isinstance(value, kind) or (kind is bytes and isinstance(value, int))
    if kind not in _COLLECTIONS:
        return hasattr(kind, "__contains__") or (hasattr(kind, "__iter__") and is_record(kind))
    arguments = [each for each in typing.get_args(hint) if each is not ...]
    if not arguments or is_typed_dict(hint):
        return not is_typed_dict(hint) or isinstance(value, str)
    inner = arguments[:1] if kind in (dict, list, set, frozenset) else arguments
    return any(may_equal(type_of(each), value) for each in inner)


def may_be_text(type_: Type) -> bool:
    """Say whether a value of a type can be text; of a union one member is enough."""
    return _some(type_, _TEXT, lambda _: False)


def may_have_length(type_: Type) -> bool:
    """Say whether a value of a type can have a length; of a union one member is enough."""
    return _some(type_, _SIZED, lambda kind: hasattr(kind, "__len__"))


def _some(type_: Type, wanted: Collection[type], otherwise: Callable[[type], bool]) -> bool:
    for member in members(type_):
        hint = bare(member.hint)
        each = [type_of(type(value)) for value in typing.get_args(hint)] if is_literal(hint) else [member]
        kinds = [kind_of(one) for one in each]
        if any(kind is None or kind in wanted or otherwise(kind) for kind in kinds):
            return True
    return False


def lacking(types_: Sequence[Type], path: Sequence[str]) -> tuple[list[Lack], bool]:
    """Find out which members of types lack a field that a path leads through.

    Args:
        types_: the types that a key may have.
        path: field names, outermost first.

    Returns:
        One `Lack` for each member that surely lacks a field, and whether some other member has all or may have; `None` is
        overlooked.
    """
    lacks: list[Lack] = []
    current = [member for type_ in types_ for member in members(type_)]
    for name in path:
        after: list[Type] = []
        for member in current:
            if kind_of(member) is types.NoneType:
                continue
            known = _fields(member)
            if known is None:
                after += members(_item(member))
            elif name in known:
                after += members(known[name])
            else:
                lacks.append(Lack(member, name, tuple(known)))
        current = after
    return list(dict.fromkeys(lacks)), bool(current)


def parts(types_: Sequence[Type], path: Sequence[str]) -> Sequence[Type]:
    """Follow fields below types, member by member.

    Args:
        types_: the types that a key may have; `None` is overlooked.
        path: field names, outermost first.

    Returns:
        The types found, each once; ANY for what is not known or not there.
    """
    current = list(types_)
    for name in path:
        after: list[Type] = []
        for member in (member for type_ in current for member in members(type_)):
            if kind_of(member) is not types.NoneType:
                known = _fields(member)
                after.append(_item(member) if known is None else known.get(name, ANY))
        current = after
    return list(dict.fromkeys(current))


def _item(type_: Type) -> Type:
    """Give the type of what stands under a name in a mapping; ANY for everything else."""
    arguments = typing.get_args(bare(type_.hint))
    return type_of(arguments[1]) if kind_of(type_) is dict and len(arguments) == 2 else ANY


def _fields(type_: Type) -> dict[str, Type] | None:
    """Give the fields of a type's values: none for plain values and lists; None where they are not known."""
    found = fields_of(type_)
    if found is not None:
        return found
    hint = bare(type_.hint)
    values = typing.get_args(hint) if is_literal(hint) else ()
    kind = type(values[0]) if values else kind_of(type_)
    plain = kind is not None and kind is not dict and not is_record(kind)
    return {} if plain else None


def _type_of_value(value: object) -> Type:
    """Give the type of a value for comparisons; of a collection with its kind only."""
    return type_of(type(value)) if not isinstance(value, type) else ANY
