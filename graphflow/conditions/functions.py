"""What a plain function needs to be a condition, and which keys it reads.

The parameters name the keys; a default makes the read optional::

    call_reads(lambda score, limit=3: score > limit)
    # (CallRead('score', 'score', optional=False), CallRead('limit', 'limit', optional=True))
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

from graphflow.schema import Key

_NOT_PLAIN = (inspect.iscoroutinefunction, inspect.isgeneratorfunction, inspect.isasyncgenfunction)
_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


@dataclass(frozen=True, slots=True)
class CallRead:
    """A parameter of a function that is a condition: the key it is given, and whether it can do without."""

    parameter: str
    key: str
    optional: bool


def function_name(func: Callable[..., object]) -> str:
    """Give the qualified name of a function, of a callable object that of its class."""
    return getattr(func, "__qualname__", type(func).__qualname__)


def call_reads(func: Callable[..., object]) -> tuple[CallRead, ...]:
    """Read off a function's signature which keys it is given.

    Args:
        func: called with keyword arguments. `Annotated[str, Key("user:tier")]` names a key that is no identifier.

    Returns:
        One read for each parameter.

    Raises:
        TypeError: the function cannot be a condition: it is async, or a parameter names no key.
    """
    name = function_name(func)
    called = (func, getattr(func, "__call__", None))  # noqa: B004 - of an instance, what its class's method is
    if any(kind(each) for kind in _NOT_PLAIN for each in called):
        raise TypeError(f"the condition `{name}` is async or a generator; a condition returns its answer at once")
    try:
        parameters = inspect.signature(func).parameters.values()
    except ValueError as error:
        raise TypeError(f"the parameters of `{name}` cannot be read; wrap it: lambda draft: {name}(draft)") from error
    for parameter in parameters:
        if parameter.kind not in _BY_NAME or parameter.name == "ctx":
            raise TypeError(
                f"the condition `{name}` has the parameter `{parameter.name}`, which names no key; "
                "a condition is given keys by name: lambda score: score > 3"
            )
    named = _named_keys(func)
    return tuple(
        CallRead(parameter.name, named.get(parameter.name, parameter.name), parameter.default is not parameter.empty)
        for parameter in parameters
    )


def _named_keys(func: Callable[..., object]) -> dict[str, str]:
    try:
        hints = typing.get_type_hints(func, include_extras=True)
    except (NameError, TypeError, AttributeError, SyntaxError):  # an annotation that names nothing: no key either
        return {}
    return {
        name: entry.name
        for name, hint in hints.items()
        if typing.get_origin(hint) is Annotated
        for entry in hint.__metadata__
        if isinstance(entry, Key)
    }
