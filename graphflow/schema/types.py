"""Types of state keys: one readable name per annotation, and what can be known of it.

A `Type` is what contracts, edges and fingerprints carry: its text is the same in every process, and two types are
equal if their texts are. The hint behind the text is what values are validated against::

    type_of(Optional[str]).text                  # "str | None"
    type_of(Literal["a", "b"]).text              # "Literal['a', 'b']"
    fields_of(type_of(Invoice))                  # {"total": Type("Decimal"), ...}

What cannot be resolved (a forward reference, a type variable) keeps its name and is otherwise unknown, that is `Any`.
This module knows no values: validation, copies and JSON are in the modules beside it.
"""

from __future__ import annotations

import dataclasses
import inspect
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Annotated, Any, Final, Literal, Union

import typing_extensions
from pydantic import BaseModel


class Missing(Enum):
    """The type of `MISSING`; an enumeration, so that `is MISSING` narrows."""

    MISSING = "MISSING"

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "MISSING"

    __str__ = __repr__


MISSING: Final = Missing.MISSING
"""No value: neither None nor any other value of the state."""


@dataclass(frozen=True, slots=True)
class Type:
    """The type of a key, a read or a write.

    Attributes:
        text: its readable and stable name; types are equal if their texts are.
        hint: the annotation to validate against, free of forward references; `Any` where nothing is known.
    """

    text: str
    hint: object = field(default=Any, compare=False, repr=False)

    def __str__(self) -> str:
        return self.text


ANY: Final = Type("Any")


@dataclass(frozen=True, slots=True, eq=False)
class Exactly:
    """A key for caches: two types of one name may be two classes, and a hint need not be hashable.

    Attributes:
        type_: the type; keys are equal if texts and hints are.
    """

    type_: Type

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Exactly):
            return NotImplemented
        return self.type_ == other.type_ and bool(self.type_.hint == other.type_.hint)

    def __hash__(self) -> int:
        return hash(self.type_.text)


_QUALIFIERS = (typing.Required, typing.NotRequired, typing.Final, typing.ClassVar, typing_extensions.ReadOnly)
_UNKNOWN = (Any, typing_extensions.Any, inspect.Parameter.empty, typing.Self, typing_extensions.Self)
_NEVER = (typing.Never, typing.NoReturn, typing_extensions.Never, typing_extensions.NoReturn)
_NO_TYPES = (bool, int, float, complex, bytes, list, tuple, dict, set, frozenset)


def type_of(hint: object) -> Type:
    """Name an annotation.

    Args:
        hint: a class, a `typing` form, a string (a reference nobody resolved), None, or a `Type` (given back as it is).

    Returns:
        Its type. Metadata of `Annotated` is not part of the text; of the hint only what constrains values is.

    Raises:
        TypeError: `hint` is a plain value such as `3` or `[str]`.
    """
    if isinstance(hint, Type):
        return hint
    if isinstance(hint, _NO_TYPES):
        advice = f"; write {type(hint).__name__}[...]" if isinstance(hint, (list, tuple, dict, set)) else ""
        raise TypeError(f"{hint!r} is a value where a type is expected{advice}")
    return Type(_text(hint), _resolved(hint))


def bare(hint: object) -> Any:
    """Strip what says nothing about the values: `Annotated`, qualifiers, alias and new-type names."""
    while True:
        origin = typing.get_origin(hint)
        inner = typing.get_args(hint)[0] if origin is Annotated or origin in _QUALIFIERS else bare_once(hint)
        if inner is hint:
            return hint
        hint = inner


def bare_once(hint: Any) -> Any:
    """Give what a new-type or an alias stands for, any other hint as it is."""
    if isinstance(hint, (typing.NewType, typing_extensions.NewType)):
        return hint.__supertype__
    return _resolved(hint.__value__) if _is_alias(hint) else hint


def is_union(hint: object) -> bool:
    """Say whether a hint is a union, however it was written."""
    return typing.get_origin(hint) in (Union, types.UnionType)


def is_literal(hint: object) -> bool:
    """Say whether a hint is a `Literal`."""
    return typing.get_origin(hint) in (Literal, typing_extensions.Literal)


def is_typed_dict(hint: object) -> bool:
    """Say whether a hint is a TypedDict class of `typing` or `typing_extensions`."""
    return isinstance(hint, type) and typing_extensions.is_typeddict(hint)


def is_record(hint: object) -> bool:
    """Say whether a hint is a pydantic model or a dataclass."""
    return isinstance(hint, type) and (issubclass(hint, BaseModel) or dataclasses.is_dataclass(hint))


def is_never(hint: object) -> bool:
    """Say whether a hint is the type without values."""
    return hint in _NEVER


def typed_dict_fields(hint: Any) -> dict[str, tuple[object, bool]]:
    """Give the fields of a TypedDict class: name -> (hint, required).

    Args:
        hint: the class. Qualifiers inside string annotations, which the class itself overlooks, are obeyed.
    """
    found: dict[str, tuple[object, bool]] = {}
    for name, declared in hints_of(hint).items():
        required = name in hint.__required_keys__
        inner: object = declared
        while (origin := typing.get_origin(inner)) in _QUALIFIERS or origin is Annotated:
            required = origin is typing.Required or (required and origin is not typing.NotRequired)
            if origin is Annotated:
                break
            inner = typing.get_args(inner)[0]
        found[name] = (_resolved(inner), required)
    return found


def fields_of(type_: Type) -> dict[str, Type] | None:
    """Give the fields that values of a type have.

    Args:
        type_: any type; `None` in a union is overlooked.

    Returns:
        Field name -> type for pydantic models, dataclasses and TypedDicts; None if the fields are not known (any
        other type, a union of several, a model that takes extra fields).
    """
    hint = bare(type_.hint)
    if is_union(hint):
        members = [member for member in typing.get_args(hint) if member is not types.NoneType]
        return fields_of(type_of(members[0])) if len(members) == 1 else None
    if is_typed_dict(hint):
        return {name: type_of(inner) for name, (inner, _) in typed_dict_fields(hint).items()}
    origin = typing.get_origin(hint) or hint
    if not is_record(origin):
        return None
    if issubclass(origin, BaseModel):
        if origin.model_config.get("extra") == "allow":
            return None
        return {name: _lenient(info.annotation) for name, info in origin.model_fields.items()}
    hints = hints_of(origin)
    return {each.name: _lenient(hints.get(each.name, Any)) for each in dataclasses.fields(origin)}


def closed_values(type_: Type) -> tuple[object, ...] | None:
    """Give all values of a closed type.

    Args:
        type_: any type.

    Returns:
        The values of a Literal, an Enum, bool, None, or a union of such, in order of declaration; None if the type has
        values that cannot be listed.
    """
    hint = bare(type_.hint)
    if is_union(hint):
        members = [closed_values(Type("", member)) for member in typing.get_args(hint)]
        return None if None in members else tuple(value for member in members for value in member or ())
    if is_literal(hint):
        return typing.get_args(hint)
    if hint is types.NoneType:
        return (None,)
    if hint is bool:
        return (True, False)
    return tuple(hint) if isinstance(hint, type) and issubclass(hint, Enum) else None


def _lenient(hint: object) -> Type:
    """Name a field's annotation; one that makes no sense is the business of its class and here just unknown."""
    try:
        return type_of(hint)
    except TypeError:
        return ANY


def hints_of(owner: type) -> Mapping[str, object]:
    """Resolve the annotations of a class one by one, so that a single name out of reach hides only itself.

    Args:
        owner: a class whose fields are annotated.

    Returns:
        Field name -> annotation with its metadata; the text of one that names nothing.
    """
    try:
        return typing_extensions.get_type_hints(owner, include_extras=True)
    except Exception:  # noqa: BLE001 - annotations are foreign code
        bases = reversed(owner.__mro__)
        return {name: hint for base in bases for name, hint in _hints_one_by_one(base).items()}


def _hints_one_by_one(base: type) -> dict[str, object]:
    found: dict[str, object] = {}
    for name, hint in inspect.get_annotations(base).items():
        stand_in = type("Single", (), {"__annotations__": {name: hint}, "__module__": base.__module__})
        try:
            found[name] = typing_extensions.get_type_hints(stand_in, include_extras=True)[name]
        except Exception:  # noqa: BLE001 - as above
            found[name] = hint if isinstance(hint, str) else Any
    return found


def _is_alias(hint: object) -> bool:
    return isinstance(hint, typing_extensions.TypeAliasType) or type(hint).__name__ == "TypeAliasType"


def _text(hint: object) -> str:
    if hint in (None, types.NoneType):
        return "None"
    if isinstance(hint, str):
        return " ".join(hint.split())
    if isinstance(hint, (Type, typing.ForwardRef)):
        return hint.text if isinstance(hint, Type) else hint.__forward_arg__
    if hint in _UNKNOWN:
        return "Any"
    origin = typing.get_origin(hint)
    if origin is Annotated or origin in _QUALIFIERS:
        return _text(typing.get_args(hint)[0])
    if is_union(hint):
        names = dict.fromkeys(_text(member) for member in typing.get_args(hint))
        return " | ".join(sorted(names, key=lambda name: name == "None"))
    if is_literal(hint):
        return f"Literal[{', '.join(_literal_text(value) for value in typing.get_args(hint))}]"
    if origin is not None:
        return _generic_text(origin, typing.get_args(hint))
    return _name(hint)


def _generic_text(origin: object, arguments: tuple[object, ...]) -> str:
    if not arguments:
        return "tuple[()]" if origin is tuple else _name(origin)
    return f"{_name(origin)}[{', '.join(_argument_text(argument) for argument in arguments)}]"


def _argument_text(argument: object) -> str:
    if isinstance(argument, list):
        return f"[{', '.join(_argument_text(each) for each in argument)}]"
    return "..." if argument is ... else _text(argument)


def _literal_text(value: object) -> str:
    return f"{type(value).__name__}.{value.name}" if isinstance(value, Enum) else repr(value)


def _name(hint: object) -> str:
    if is_never(hint):
        return "Never"
    name = getattr(hint, "__name__", None) or getattr(hint, "_name", None)
    if isinstance(name, str):
        return name
    text = str(hint).removeprefix("typing.")
    return type(hint).__name__ if " at 0x" in text else text


def _resolved(hint: object) -> Any:
    """Give the hint to validate against: what is unknown becomes `Any`, metadata that constrains nothing goes."""
    if hint is None:
        return types.NoneType
    if isinstance(hint, Type):
        return hint.hint
    if hint in _UNKNOWN or isinstance(hint, (str, typing.ForwardRef, typing.TypeVar, typing_extensions.TypeVar)):
        return Any
    if hint is typing.LiteralString:
        return str
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in _QUALIFIERS:
        return _resolved(arguments[0])
    if origin is Annotated:
        kept = tuple(each for each in arguments[1:] if _constrains(each))
        inner = _resolved(arguments[0])
        return Annotated[(inner, *kept)] if kept else inner
    if is_union(hint):
        return Union[tuple(_resolved(member) for member in arguments)]  # noqa: UP007 - built at run time
    if origin is None or is_literal(hint) or not arguments:
        return hint if _is_form(hint) else Any
    return rebuilt(hint, _resolved)


def rebuilt(hint: Any, change: Callable[[object], object]) -> Any:
    """Give a generic hint with each of its arguments changed; callables stay as they are.

    Args:
        hint: a generic alias such as `list[int]`.
        change: new argument from old.

    Returns:
        The hint itself if nothing changed.
    """
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if any(isinstance(argument, list) for argument in arguments):
        return hint
    changed = tuple(argument if argument is ... else change(argument) for argument in arguments)
    if all(new is old for new, old in zip(changed, arguments, strict=True)):
        return hint
    try:
        return origin[changed if len(changed) != 1 else changed[0]]
    except TypeError:
        return Any


def _is_form(hint: object) -> bool:
    known = isinstance(hint, (type, typing.NewType, typing_extensions.NewType)) or _is_alias(hint)
    return known or typing.get_origin(hint) is not None or is_never(hint)


def _constrains(metadata: object) -> bool:
    """Say whether pydantic would obey a piece of metadata; declarations of ours and prose are dropped."""
    module = type(metadata).__module__.partition(".")[0]
    return module in ("annotated_types", "pydantic") or hasattr(metadata, "__get_pydantic_core_schema__")
