"""Validation of values against types, with pydantic doing the work where work is needed.

Values are validated, never converted: text is not parsed, a mapping is no model, an int is taken where a float is asked
and stays the int it is::

    validator(type_of(list[str]))(["a"])         # ["a"]
    validator(type_of(list[str]))(3)             # TypeMismatch: expected list[str], got int (3)

Each of three uses needs its own adapter of one hint, see `Use`. All differences are made in the hint itself, so that
nothing depends on the inside of pydantic. This module knows no keys and no copies.
"""

from __future__ import annotations

import collections.abc
import functools
import types
import typing
from collections.abc import Callable
from enum import Enum
from typing import Annotated, Any, Union

import typing_extensions
from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler, TypeAdapter, ValidationError
from pydantic.errors import PydanticUserError
from pydantic_core import CoreSchema, core_schema

from graphflow.schema.mismatch import TypeMismatch, shown
from graphflow.schema.types import (
    Exactly,
    Type,
    bare,
    bare_once,
    is_literal,
    is_never,
    is_record,
    is_typed_dict,
    is_union,
    rebuilt,
    typed_dict_fields,
)

Validate = Callable[[object], object]

_EXACT: dict[object, tuple[type, ...]] = {
    str: (str,),
    int: (int, bool),
    float: (float, int, bool),
    bool: (bool,),
    types.NoneType: (types.NoneType,),
}
_MOST_PROBLEMS = 3


class Use(Enum):
    """What an adapter is for."""

    CHECK = "check"  # is it of the type? Models by instance, bool is int, TypedDicts may hold more
    STORE = "store"  # to JSON and back
    PARSE = "parse"  # from a model's answer, leniently


class _Instance:
    """Marks a class whose values are taken by instance, whatever its own configuration says."""

    @staticmethod
    def __get_pydantic_core_schema__(source: Any, handler: object) -> CoreSchema:
        return core_schema.is_instance_schema(typing.get_origin(source) or source)


class _Integer:
    """Marks an int that may be a bool, as everywhere in Python."""

    @staticmethod
    def __get_pydantic_core_schema__(source: object, handler: object) -> CoreSchema:
        return core_schema.union_schema(
            [core_schema.int_schema(), core_schema.bool_schema()],
            custom_error_type="no_integer",
            custom_error_message="Input should be a valid integer",
        )


class _GenericInstance:
    """Marks a model with type arguments: an instance of the model whose fields are of these types."""

    @staticmethod
    def __get_pydantic_core_schema__(source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        model = source.__pydantic_generic_metadata__["origin"]
        return core_schema.chain_schema([core_schema.is_instance_schema(model), handler(source)])


class _Number:
    """Marks a float that may be an int, which stays one, as a large int would lose digits; nothing else becomes one."""

    @staticmethod
    def __get_pydantic_core_schema__(source: object, handler: object) -> CoreSchema:
        number = core_schema.json_or_python_schema(core_schema.float_schema(), core_schema.is_instance_schema(float))
        return core_schema.union_schema(
            [number, core_schema.int_schema(), core_schema.bool_schema()],
            custom_error_type="no_number",
            custom_error_message="Input should be a valid number",
        )


class _Nothing:
    """Marks what has no values."""

    @staticmethod
    def __get_pydantic_core_schema__(source: object, handler: object) -> CoreSchema:
        return core_schema.is_instance_schema(_Nothing)


def validator(type_: Type) -> Validate:
    """Give the function that validates values of a type.

    Args:
        type_: the type; its adapter is built when the first value needs it and kept.

    Returns:
        A function that returns the value, or raises `TypeMismatch` with a message on one line.
    """
    return _validator(Exactly(type_))


@functools.lru_cache(maxsize=2048)
def _validator(asked: Exactly) -> Validate:
    text, hint = asked.type_.text, asked.type_.hint
    plain = bare(hint)
    slow = functools.partial(_validated, asked.type_)
    if plain is Any or plain is object:
        return _identity
    if isinstance(hint, type) and hint in _EXACT:
        return functools.partial(_exact, _EXACT[hint], slow)
    if is_literal(hint):
        return functools.partial(_one_of, text, typing.get_args(hint))
    if isinstance(hint, type) and (is_record(hint) or issubclass(hint, Enum)):
        return functools.partial(_instance, hint, slow)
    return slow


def _identity(value: object) -> object:
    return value


def _exact(kinds: tuple[type, ...], otherwise: Validate, value: object) -> object:
    return value if type(value) in kinds else otherwise(value)


def _instance(kind: type, otherwise: Validate, value: object) -> object:
    return value if isinstance(value, kind) else otherwise(value)


def _one_of(text: str, allowed: tuple[object, ...], value: object) -> object:
    """Compare type and value: `True` is no `Literal[1]`."""
    if any(type(value) is type(each) and value == each for each in allowed):
        return value
    raise TypeMismatch(f"expected {text}, got {shown(value)}")


def _validated(type_: Type, value: object) -> object:
    text, hint = type_.text, type_.hint
    adapter = adapter_for(type_, Use.CHECK)
    if adapter is None:
        kind = typing.get_origin(bare(hint)) or bare(hint)
        if not isinstance(kind, type) or _is_instance(value, kind):
            return value
        raise TypeMismatch(f"expected {text}, got {shown(value)}")
    try:
        return adapter.validate_python(value, strict=True)
    except ValidationError as error:
        nested = any(problem["loc"] for problem in error.errors(include_url=False)) and not is_union(bare(hint))
        constrained = typing.get_origin(hint) is Annotated
        reason = f": {problems(error)}" if nested or constrained else ""
        raise TypeMismatch(f"expected {text}, got {shown(value)}{reason}") from error
    except RecursionError as error:
        raise TypeMismatch(f"expected {text}, got {type(value).__name__} nested too deep") from error


def _is_instance(value: object, kind: type) -> bool:
    try:
        return isinstance(value, kind)
    except TypeError:  # a protocol that cannot be asked at run time
        return True


def problems(error: ValidationError) -> str:
    """Say in one line what pydantic found.

    Args:
        error: what it raised.

    Returns:
        Place and message of the first problems.
    """
    found = error.errors(include_url=False, include_context=False, include_input=False)
    lines = []
    for problem in found[:_MOST_PROBLEMS]:
        place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in problem["loc"]).lstrip(".")
        message = " ".join(problem["msg"].split())
        lines.append(f"`{place}`: {message}" if place else message)
    rest = len(found) - _MOST_PROBLEMS
    return "; ".join(lines) + (f"; {rest} more" if rest > 0 else "")


def adapter_for(type_: Type, use: Use) -> TypeAdapter[Any] | None:
    """Give the adapter of a type for one use.

    Args:
        type_: the type.
        use: what for.

    Returns:
        The adapter, built once; None if pydantic has no schema for the type.
    """
    return _adapter(Exactly(type_), use)


@functools.lru_cache(maxsize=2048)
def _adapter(asked: Exactly, use: Use) -> TypeAdapter[Any] | None:
    hint: Any = asked.type_.hint
    try:
        adapted = _adapted(hint, use, ())
    except Exception:  # noqa: BLE001 - a hint of foreign make that cannot be taken apart
        adapted = hint
    for config in (None, ConfigDict(arbitrary_types_allowed=True)):
        try:
            adapter: TypeAdapter[Any] = TypeAdapter(adapted, config=config)
            adapter.rebuild(raise_errors=True)
        except (PydanticUserError, NameError):
            continue
        return adapter
    return None


def _adapted(hint: Any, use: Use, inside: tuple[object, ...]) -> Any:
    """Give the hint for pydantic; `inside` are the named types around it, so that recursive ones end."""
    if hint is object or hint in inside:
        return dict[str, Any] if is_typed_dict(hint) else Any
    if is_never(hint):
        return Annotated[Any, _Nothing]
    if hint is int or hint is float:
        return hint if use is Use.PARSE else Annotated[hint, _Integer if hint is int else _Number]
    if is_typed_dict(hint):
        return _typed_dict(hint, use, inside)
    if (named := bare_once(hint)) is not hint:
        return _adapted(named, use, (*inside, hint))
    change = functools.partial(_adapted, use=use, inside=inside)
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if use is Use.CHECK and is_record(origin or hint):
        return Annotated[hint, _GenericInstance if _is_generic_model(hint) else _Instance]
    if origin is Annotated:
        inner = arguments[0] if arguments[0] in (int, float) else change(arguments[0])
        return Annotated[(inner, *arguments[1:])]
    if is_union(hint):
        return Union[tuple(change(member) for member in arguments)]  # noqa: UP007 - built at run time
    if is_literal(hint):
        return hint
    kind = origin or hint
    if kind in _COLLECTIONS:
        return _COLLECTIONS[kind](change(arguments[0]) if arguments else Any)
    if isinstance(kind, type) and issubclass(kind, collections.abc.Mapping) and len(arguments) == 2:
        keys = arguments[0] if arguments[0] in (int, float) else change(arguments[0])  # JSON has only text for keys
        return kind[keys, change(arguments[1])]  # type: ignore[index]  # any generic mapping
    return rebuilt(hint, change) if arguments else hint


def _any_collection(item: Any) -> Any:
    return list[item] | tuple[item, ...] | set[item] | frozenset[item] | dict[item, Any]


def _any_set(item: Any) -> Any:
    return set[item] | frozenset[item]


_COLLECTIONS: dict[object, Callable[[Any], Any]] = {  # what pydantic would consume, or take only one kind of
    collections.abc.Iterable: _any_collection,
    collections.abc.Collection: _any_collection,
    collections.abc.Set: _any_set,
    collections.abc.MutableSet: lambda item: set[item],  # type: ignore[valid-type]  # built at run time
    collections.abc.MutableSequence: lambda item: list[item],  # type: ignore[valid-type]  # built at run time
}


def _is_generic_model(hint: object) -> bool:
    """Say whether a class is a model with type arguments; these are looked at value by value."""
    if not (isinstance(hint, type) and issubclass(hint, BaseModel)):
        return False
    return bool(hint.__pydantic_generic_metadata__["args"])


def _typed_dict(hint: Any, use: Use, inside: tuple[object, ...]) -> Any:
    """Make the TypedDict that pydantic takes on every Python; where values are kept, further keys are kept too."""
    fields = {
        name: typing_extensions.Required[inner] if required else typing_extensions.NotRequired[inner]
        for name, (declared, required) in typed_dict_fields(hint).items()
        for inner in [_adapted(declared, use, (*inside, hint))]
    }
    functional: Any = typing_extensions.TypedDict
    made = functional(hint.__name__, fields)
    config = ConfigDict(arbitrary_types_allowed=True)
    if use is not Use.PARSE:
        config["extra"] = "allow"
    made.__pydantic_config__ = {**config, **getattr(hint, "__pydantic_config__", {})}
    return made
