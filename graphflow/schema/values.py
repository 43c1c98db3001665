"""Values in the state: what is stored, what a reader is handed, and how both pass through JSON.

Nothing mutable is ever shared between the state and a task: `freeze` copies on the way in, `thaw` on the way out. A
value whose type is unknown is rebuilt from what JSON has; a typed one keeps its classes::

    freeze(("a", {"n": 1}), ANY)                 # ["a", {"n": 1}]
    freeze({1, 2}, ANY)                          # TypeMismatch
    freeze({1, 2}, type_of(set[int]))            # {1, 2}
    from_json(to_json(invoice, INVOICE), INVOICE) == invoice

This module knows no keys and no merges.
"""

from __future__ import annotations

import copy
import functools
import json
import math
import types
import typing
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any

from pydantic import ValidationError
from pydantic.errors import PydanticUserError

from graphflow.schema.adapters import Use, adapter_for, problems
from graphflow.schema.mismatch import TypeMismatch, shown
from graphflow.schema.types import Exactly, Type, bare, is_literal, is_typed_dict, is_union, typed_dict_fields

_DEEPEST = 200
_PLAIN = frozenset({str, int, bool, types.NoneType})
_ATOMS = (str, int, float, bytes, Decimal, date, time, timedelta, Enum)
_KEYS = (str, int, float, Decimal, date, time, timedelta, Enum)
_ADVICE = "annotate the type of what is written"


def freeze(value: object, type_: Type) -> object:
    """Copy a value for the state.

    Args:
        value: a value that was validated against the type.
        type_: its type. Where nothing but JSON can be in a value (or nothing is known), it is rebuilt from what JSON
            has, tuples as lists; otherwise its classes are kept.

    Returns:
        A value that shares nothing mutable with `value`.

    Raises:
        TypeMismatch: JSON cannot hold the value, or it is cyclic or nested more than 200 deep.
    """
    if type(value) in _PLAIN:
        return value
    try:
        if _is_json(Exactly(type_)):
            return _json_copy(value, ())
        special: list[object] = []
        copied = _copy(value, (), special)
        if special:
            to_json(copied, type_)
    except RecursionError as error:
        raise TypeMismatch(f"{type(value).__name__} is nested too deep for JSON") from error
    return copied


def thaw(value: object) -> Any:
    """Copy a value of the state for a reader, who may change it in place.

    Args:
        value: a value that `freeze` made.

    Returns:
        A copy that shares nothing mutable with it.
    """
    return value if type(value) in _PLAIN else _copy(value, (), [])


def to_json(value: object, type_: Type) -> Any:
    """Write a value as what JSON has.

    Args:
        value: a value of the type.
        type_: its type; `from_json` with the same type gives the value back.

    Returns:
        Text, numbers, booleans, None, lists and string-keyed dicts.

    Raises:
        TypeMismatch: JSON cannot hold the value.
    """
    if type(value) in _PLAIN:
        return value
    if _is_json(Exactly(type_)):
        return _json_copy(value, ())
    adapter = adapter_for(type_, Use.STORE)
    if adapter is None:
        raise TypeMismatch(f"{shown(value)} is of a class that JSON cannot hold; write a pydantic model or plain data")
    try:
        data = adapter.dump_python(value, mode="json", round_trip=True, warnings="none")
    except (ValueError, TypeError, RecursionError, PydanticUserError) as error:
        reason = " ".join(str(error).split())
        raise TypeMismatch(f"{shown(value)} cannot be written as JSON: {reason}") from error
    return _json_copy(data, ())


def from_json(data: object, type_: Type) -> Any:
    """Read a value that `to_json` wrote.

    Args:
        data: what JSON has.
        type_: the value's type.

    Returns:
        The value.

    Raises:
        TypeMismatch: the data is no value of the type.
    """
    if bare(type_.hint) in (Any, object):
        return _json_copy(data, ())
    adapter = adapter_for(type_, Use.STORE)
    if adapter is None:
        raise TypeMismatch(f"expected {type_.text}, which JSON cannot hold, got {shown(data)}")
    try:
        return adapter.validate_json(json.dumps(data), strict=True, by_alias=True, by_name=True)
    except ValidationError as error:
        raise TypeMismatch(f"expected {type_.text}, got {shown(data)}: {problems(error)}") from error
    except (ValueError, TypeError, RecursionError, PydanticUserError) as error:
        reason = " ".join(str(error).split())
        raise TypeMismatch(f"expected {type_.text}, got {shown(data)}: {reason}") from error


@functools.lru_cache(maxsize=2048)
def _is_json(asked: Exactly) -> bool:
    return _only_json(asked.type_.hint)


def _only_json(hint: Any, inside: tuple[object, ...] = ()) -> bool:
    """Say whether the values of a hint are, by its text, made of nothing but what JSON has."""
    within = (*inside, hint)
    hint = bare(hint)
    if (
        hint in (Any, object, str, int, float, bool, types.NoneType, list, dict)
        or hint in inside
        or len(inside) > _DEEPEST
    ):
        return True
    arguments = typing.get_args(hint)
    if is_literal(hint):
        return all(type(value) in _PLAIN for value in arguments)
    if is_typed_dict(hint):
        return all(_only_json(inner, within) for inner, _ in typed_dict_fields(hint).values())
    origin = typing.get_origin(hint)
    if origin is dict:
        return arguments[:1] in ((str,), (Any,)) and _only_json(arguments[1], within)
    return (origin is list or is_union(hint)) and all(_only_json(each, within) for each in arguments)


def _json_copy(value: object, around: tuple[int, ...]) -> Any:
    """Rebuild a value from what JSON has; `around` are the identities of the containers it is in."""
    kind = type(value)
    if kind in _PLAIN:
        return value
    if isinstance(value, float):
        return float(_finite(value))
    if isinstance(value, (list, tuple)):
        inner = _entered(value, around)
        return [_json_copy(item, inner) for item in value]
    if isinstance(value, dict):
        inner = _entered(value, around)
        return {_text_key(key): _json_copy(item, inner) for key, item in value.items()}
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int(value)
    raise TypeMismatch(f"JSON cannot hold {shown(value)}; {_ADVICE}")


def _text_key(key: object) -> str:
    if isinstance(key, str):
        return str.__str__(key)
    raise TypeMismatch(f"JSON has only text for keys, got {shown(key)}; {_ADVICE}")


def _finite(value: float) -> float:
    if math.isfinite(value):
        return value
    raise TypeMismatch(f"JSON cannot hold {value!r}; write None or text for what is no number")


def _entered(value: object, around: tuple[int, ...]) -> tuple[int, ...]:
    if id(value) in around:
        raise TypeMismatch(f"{type(value).__name__} contains itself, which JSON cannot hold")
    if len(around) >= _DEEPEST:
        raise TypeMismatch(f"{type(value).__name__} is nested more than {_DEEPEST} deep")
    return (*around, id(value))


def _copy(value: Any, around: tuple[int, ...], special: list[object]) -> Any:
    """Copy a value with its classes; what more than containers and plain atoms is, goes into `special`."""
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind is float:
        return _finite(value)
    if kind is list or kind is tuple or kind is set or kind is frozenset:
        inner = _entered(value, around)
        return kind([_copy(item, inner, special) for item in value])
    if kind is dict:
        inner = _entered(value, around)
        return {_checked_key(key, special): _copy(item, inner, special) for key, item in value.items()}
    special.append(value)
    if isinstance(value, _ATOMS):
        return value
    try:
        return copy.deepcopy(value)
    except RecursionError:
        raise
    except Exception as error:
        raise TypeMismatch(f"{shown(value)} cannot be copied ({error}); write plain data") from error


def _checked_key(key: object, special: list[object]) -> object:
    if type(key) is not str:
        special.append(key)
        if not isinstance(key, _KEYS):
            raise TypeMismatch(f"JSON has no keys such as {shown(key)}; use text")
    return key
