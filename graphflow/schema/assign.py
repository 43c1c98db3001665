"""Whether every value of one type may stand where another is asked for.

Values of the state are never changed in place, so containers are covariant; what is not known fits everything. Pairs
that beartype would judge otherwise than the validator, or could not know, are decided here::

    assignable(type_of(list[int]), type_of(list[float]))                # True
    assignable(type_of(str | None), type_of(str))                       # False: every member must fit
    assignable(type_of(dict[str, Any]), type_of(dict[str, list[int]]))  # True: unknown

This module knows no values of a run: that what it says holds for them is a property in its tests.
"""

from __future__ import annotations

import datetime
import types
import typing
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, MutableMapping, Sequence, Set
from typing import Any, Literal

from pydantic import BaseModel

from graphflow.schema.types import (
    Type,
    bare,
    closed_values,
    is_literal,
    is_never,
    is_typed_dict,
    is_union,
    typed_dict_fields,
)

_DEEPEST = 40
_SAME = ((Iterable, Collection), (Mapping, dict), (MutableMapping, dict))  # the validator lets nothing else through


def assignable(source: Type, target: Type) -> bool:
    """Say whether a value of `source` may be read as `target`.

    Args:
        source: the type as written.
        target: the type as read.

    Returns:
        False only if some value of `source` is surely no `target`; True where this is not known. Never raises.
    """
    if source.hint is target.hint:
        return True
    try:
        return _fits(source.hint, target.hint, 0)
    except Exception:  # noqa: BLE001 - hints are foreign code, and what cannot be decided is not known
        return True


def _fits(source: Any, target: Any, depth: int) -> bool:
    source, target = bare(source), bare(target)
    if source is Any or target is Any or target is object or is_never(source) or depth > _DEEPEST:
        return True
    if is_never(target):
        return False
    if is_union(source):
        return all(_fits(member, target, depth + 1) for member in typing.get_args(source))
    if is_literal(source):
        return all(_value_fits(value, target, depth) for value in typing.get_args(source))
    if is_union(target):
        members = typing.get_args(target)
        return any(_fits(source, member, depth + 1) for member in members) or _all_fit(source, target, depth)
    if is_literal(target):
        return _all_fit(source, target, depth)
    if is_typed_dict(source) or is_typed_dict(target):
        return _structures_fit(source, target, depth)
    kind, asked = typing.get_origin(source) or source, typing.get_origin(target) or target
    if not (isinstance(kind, type) and isinstance(asked, type)) or asked in (type, Callable):
        return _beartype_fits(source, target)
    return _classes_fit(kind, asked) and _arguments_fit(source, target, depth)


def _all_fit(source: Any, target: Any, depth: int) -> bool:
    """Take a type with few values value by value: `bool` fits `Literal[True, False]`."""
    values = closed_values(Type("", source))
    return values is not None and all(_value_fits(value, target, depth) for value in values)


def _value_fits(value: object, target: Any, depth: int) -> bool:
    target = bare(target)
    if is_union(target):
        return any(_value_fits(value, member, depth + 1) for member in typing.get_args(target))
    if is_literal(target):
        return any(type(value) is type(each) and value == each for each in typing.get_args(target))
    return _fits(type(value), target, depth + 1)


def _structures_fit(source: Any, target: Any, depth: int) -> bool:
    """Compare by structure where a TypedDict is on either side."""
    if is_typed_dict(source) and is_typed_dict(target):
        given = typed_dict_fields(source)
        for name, (hint, required) in typed_dict_fields(target).items():
            inner, sure = given.get(name, (Any, False))
            if (required and not sure) or not _fits(inner, hint, depth + 1):
                return False
        return True
    if is_typed_dict(source):
        as_dicts = [
            types.GenericAlias(dict, (Literal[name], hint)) for name, (hint, _) in typed_dict_fields(source).items()
        ]
        return all(_fits(each, target, depth + 1) for each in as_dicts)
    arguments = typing.get_args(source)
    if not _is_class(source, Mapping):
        return False
    return len(arguments) != 2 or bare(arguments[1]) is Any  # which keys such a mapping has is not known


def _is_class(hint: object, kind: type) -> bool:
    origin = typing.get_origin(hint) or hint
    return isinstance(origin, type) and issubclass(origin, kind)


def _classes_fit(kind: type, asked: type) -> bool:
    if asked is float and issubclass(kind, int):
        return True
    if kind is not asked and issubclass(kind, datetime.datetime) and asked is datetime.date:
        return False  # a date with a time is no date to the validator
    if issubclass(kind, (str, bytes)) and asked in (Sequence, Collection, Iterable):
        return False  # where a list is meant, text is a mistake
    if issubclass(kind, BaseModel) and not issubclass(asked, BaseModel) and asked.__module__ == "collections.abc":
        return False  # that a model can be iterated makes it no collection
    if (kind, asked) in _SAME:
        return True
    try:
        return issubclass(kind, asked) or _model_origin(kind) is _model_origin(asked) is not None
    except TypeError:  # a protocol that cannot be asked at run time
        return True


def _model_origin(kind: type) -> type | None:
    """Give the generic model that a model with or without type arguments belongs to."""
    if not issubclass(kind, BaseModel):
        return None
    origin: type | None = kind.__pydantic_generic_metadata__["origin"]
    return origin or (kind if kind.__pydantic_generic_metadata__["parameters"] else None)


def _arguments_fit(source: Any, target: Any, depth: int) -> bool:
    given, asked = _arguments(source), _arguments(target)
    if not given or not asked:
        return True  # a bare generic, as if with `Any`
    kind, wanted = _generic_class(source), _generic_class(target)
    if _is_class(kind, tuple):
        return _tuple_fits(given, wanted, asked, depth)
    if _is_class(kind, Mapping) and len(given) == 2 and len(asked) == 2:
        keys_fit = not (bare(given[0]) is bool and bare(asked[0]) in (int, float))  # as text they differ
        return keys_fit and _fits(given[0], asked[0], depth + 1) and _fits(given[1], asked[1], depth + 1)
    if wanted is not kind and not _is_collection(wanted):
        return True  # how the arguments of one class become those of another is not known
    return all(_fits(one, other, depth + 1) for one, other in zip(given, asked, strict=False))


def _generic_class(hint: Any) -> object:
    origin = typing.get_origin(hint) or hint
    return (_model_origin(origin) if isinstance(origin, type) else None) or origin


def _is_collection(kind: object) -> bool:
    return _is_class(kind, Collection) or kind is Iterable or _is_class(kind, Set)


def _arguments(hint: Any) -> tuple[Any, ...]:
    if isinstance(hint, type) and issubclass(hint, BaseModel) and not isinstance(hint, types.GenericAlias):
        arguments: tuple[Any, ...] = hint.__pydantic_generic_metadata__["args"]
        return arguments
    return typing.get_args(hint)


def _tuple_fits(given: tuple[Any, ...], wanted: object, asked: tuple[Any, ...], depth: int) -> bool:
    endless, items = given[-1] is ..., given[:1] if given[-1] is ... else given
    if not _is_class(wanted, tuple) or asked[-1] is ...:
        return all(_fits(item, asked[0], depth + 1) for item in items)
    if endless or len(items) != len(asked):
        return False
    return all(_fits(item, other, depth + 1) for item, other in zip(items, asked, strict=True))


def _beartype_fits(source: Any, target: Any) -> bool:
    kind, asked = typing.get_origin(source) or source, typing.get_origin(target) or target
    if kind is asked and not (typing.get_args(source) and typing.get_args(target)):
        return True  # a bare form, as if with `Any`
    from beartype.door import is_subhint  # heavy, and most pairs are decided without it

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # beartype objects to old spellings
        return bool(is_subhint(source, target)) or _mentions_any(source) or _mentions_any(target)


def _mentions_any(hint: Any) -> bool:
    if isinstance(hint, list):
        return any(_mentions_any(each) for each in hint)
    arguments = typing.get_args(hint)
    return hint is Any or any(_mentions_any(each) for each in arguments)
