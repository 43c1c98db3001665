"""From a function's signature to the JSON schema of its parameters.

The schema is what pydantic makes of the annotations, with the defaults and the docstring's words about each parameter. A
parameter that is the context is handed in by the runtime and is not part of it::

    def find(email: str, limit: int = 3, *, tool_context: ToolContext) -> list[Order]: ...
    # {"type": "object", "properties": {"email": {"type": "string"}, "limit": {"type": "integer", "default": 3}},
    #  "required": ["email"], "additionalProperties": False}

Nothing is raised for a signature that a model cannot use: what is wrong is kept as faults, for the check to report.
This module does not look into bodies and knows no agents.
"""

from __future__ import annotations

import functools
import inspect
import re
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, get_args, get_origin

import typing_extensions
from pydantic import Field, TypeAdapter
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema

from graphflow.context import Context
from graphflow.contracts.signature import CONTEXT_TYPES
from graphflow.schema import ANY, Type, type_of
from graphflow.schema.types import is_union

CONTEXT_NAMES = frozenset({"ctx", "tool_context"})
_VARIADIC = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
_EMPTY = inspect.Parameter.empty


@dataclass(frozen=True, slots=True)
class ToolFault:
    """One thing that keeps a model from calling a tool properly.

    Attributes:
        parameter: the parameter concerned; "" for the function as a whole.
        reason: what is wrong and what to write instead.
    """

    parameter: str
    reason: str


@dataclass(frozen=True, slots=True)
class Parameters:
    """A function's signature as a model sees it.

    Attributes:
        schema: JSON schema of the arguments, an object; a parameter with a fault takes anything.
        contexts: names of the parameters that are handed the context.
        returns: what the function returns (`Any`: not annotated).
        faults: what is wrong, in order of the parameters.
    """

    schema: Mapping[str, Any]
    contexts: tuple[str, ...]
    returns: Type
    faults: tuple[ToolFault, ...]


class _Schemas(GenerateJsonSchema):
    """pydantic's schemas without what a model has no use for: a title for each field that repeats its name."""

    ignored_warning_kinds: set[Any] = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012 - as declared there

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - pydantic's signature
        """Leave titles out."""
        return False


def plain_function(func: Callable[..., Any]) -> Callable[..., Any]:
    """Find the function whose source, annotations and docstring a callable stands for.

    Args:
        func: a function, a method, a `functools.partial`, a decorated function or an object with `__call__`.
    """
    seen: set[int] = set()
    while id(func) not in seen:
        seen.add(id(func))
        if isinstance(func, functools.partial):
            func = func.func
        elif inspect.ismethod(func):
            func = func.__func__
        elif callable(wrapped := getattr(func, "__wrapped__", None)):
            func = wrapped
        elif not inspect.isroutine(func):
            func = type(func).__call__
    return func


def parameters_of(func: Callable[..., Any], descriptions: Mapping[str, str]) -> Parameters:
    """Read a function's signature as a model sees it.

    Args:
        func: the function.
        descriptions: parameter name -> what it is for.

    Returns:
        The schema, the context parameters, the return type and the faults.
    """
    plain = plain_function(func)
    try:
        signature = inspect.signature(func)
    except (ValueError, TypeError):
        reason = "it has no signature that could be read; wrap it in a function with named parameters"
        return Parameters(_object({}), (), ANY, (ToolFault("", reason),))
    bound = func.keywords if isinstance(func, functools.partial) else {}
    contexts: list[str] = []
    fields: dict[str, object] = {}
    faults = [ToolFault("", reason) for reason in _yields(plain)]
    for parameter in signature.parameters.values():
        if parameter.name in bound:
            continue
        hint = _resolved(parameter.annotation, plain)
        if is_context(hint) or (hint is _EMPTY and parameter.name in CONTEXT_NAMES):
            contexts.append(parameter.name)
            continue
        faults += [ToolFault(parameter.name, reason) for reason in _reasons(parameter, hint)]
        if parameter.kind not in _VARIADIC:
            usable = hint if not (faults and faults[-1].parameter == parameter.name) else Any
            fields[parameter.name] = _field(parameter, usable, descriptions.get(parameter.name))
    returns = _return_type(_resolved(signature.return_annotation, plain))
    return Parameters(_object(fields), tuple(contexts), returns, tuple(faults))


def is_context(hint: object) -> bool:
    """Say whether an annotation asks for the context, also where it is optional or out of reach at run time."""
    if isinstance(hint, str):
        names = {name.rpartition(".")[2] for name in re.findall(r"[\w.]+", hint)} - {"None", "Optional"}
        return bool(names) and names <= CONTEXT_TYPES
    if get_origin(hint) is Annotated:
        return is_context(get_args(hint)[0])
    if is_union(hint):
        members = [member for member in get_args(hint) if member is not types.NoneType]
        return bool(members) and all(is_context(member) for member in members)
    return isinstance(hint, type) and issubclass(hint, Context)


def _resolved(annotation: object, plain: Callable[..., Any]) -> object:
    """Evaluate one annotation; a string that names something out of reach stays a string."""
    if annotation is _EMPTY:
        return annotation
    holder = types.SimpleNamespace(
        __annotations__={"hint": annotation}, __type_params__=getattr(plain, "__type_params__", ())
    )
    scope = getattr(plain, "__globals__", {})
    try:
        return typing_extensions.get_type_hints(holder, globalns=scope, include_extras=True)["hint"]
    except Exception:  # noqa: BLE001 - annotations are foreign code
        return annotation


def _reasons(parameter: inspect.Parameter, hint: Any) -> Iterator[str]:
    """Why a model cannot give the parameter; nothing if it can."""
    name = parameter.name
    if parameter.kind in _VARIADIC:
        yield f"`{_VARIADIC[parameter.kind]}{name}` takes arguments without names; write each as a parameter of its own"
    elif isinstance(hint, str):
        yield f"its annotation {hint!r} cannot be resolved; import what it names outside of `TYPE_CHECKING`"
    elif hint is _EMPTY:
        yield f"it has no annotation; write its type, as in `{name}: str`"
    else:
        try:
            TypeAdapter(hint).json_schema(schema_generator=_Schemas)
        except Exception:  # noqa: BLE001 - annotations are foreign code, and pydantic has no common class for refusing
            yield f"no JSON schema can express its type `{_shown(hint)}`; take plain data, or a pydantic model"


def _field(parameter: inspect.Parameter, hint: Any, description: str | None) -> object:
    own = [each for each in getattr(hint, "__metadata__", ()) if isinstance(each, FieldInfo)]
    required = parameter.default is _EMPTY
    extra: list[FieldInfo] = []
    if isinstance(parameter.default, FieldInfo):
        own.append(parameter.default)
        extra.append(parameter.default)
        required = parameter.default.is_required()
    elif not required:
        extra.append(Field(default=parameter.default))
    if description is not None and not any(each.description for each in own):
        extra.append(Field(description=description))
    for info in extra:
        hint = Annotated[hint, info]
    return typing.Required[hint] if required else typing.NotRequired[hint]


def _object(fields: dict[str, object]) -> dict[str, Any]:
    """The schema of an object with these fields and no others."""
    # A TypedDict takes names that a model refuses (`schema`, `_id`); its configuration would reach types inside it.
    record = typing_extensions.TypedDict("Arguments", fields)  # type: ignore[misc]
    schema = TypeAdapter(record).json_schema(schema_generator=_Schemas)
    schema.pop("title", None)
    return {**schema, "additionalProperties": False}


def _yields(plain: Callable[..., Any]) -> Iterator[str]:
    if inspect.isgeneratorfunction(plain) or inspect.isasyncgenfunction(plain):
        yield "it yields; return the whole result instead"


def _return_type(hint: object) -> Type:
    try:
        return type_of(hint)
    except TypeError:
        return ANY


def _shown(hint: object) -> str:
    try:
        return type_of(hint).text
    except TypeError:
        return repr(hint)
