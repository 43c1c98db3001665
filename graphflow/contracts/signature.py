"""What a function's signature says about the keys it reads and writes.

Parameters are typed reads of the keys they name; a default makes the read optional; `Annotated[str, Key("user:tier")]`
names a key that is no identifier; a parameter annotated `Context`, or named `ctx`, is handed the context and reads nothing::

    def decide(invoice: Invoice, limit: int = 3) -> str: ...
    # reads invoice: Invoice, limit?: int; returns str

This module does not look into bodies; see `graphflow.contracts.source`.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from graphflow.contracts.contract import Read
from graphflow.contracts.places import ParameterSearch
from graphflow.schema import ANY, MISSING, Key, Type, type_of

CONTEXT_NAMES = frozenset({"ctx"})
CONTEXT_TYPES = frozenset({"Context", "InvocationContext", "CallbackContext", "ToolContext"})


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter: the key it reads and how, or the context.

    Attributes:
        name: the parameter's name.
        key: the key it reads; "" for the context.
        type: what it accepts.
        default: its default, MISSING if it has none.
        positional: it cannot be passed by name.
        search: finds the place where it is written.
    """

    name: str
    key: str
    type: Type = ANY
    default: object = MISSING
    positional: bool = False
    search: ParameterSearch | None = field(default=None, compare=False)

    @property
    def is_context(self) -> bool:
        """Whether the parameter is handed the context."""
        return not self.key


@dataclass(frozen=True, slots=True)
class Signature:
    """A function as the contract sees it: its parameters and the type it returns (`hint` as annotated)."""

    parameters: tuple[Parameter, ...]
    returns: Type

    @property
    def reads(self) -> tuple[Read, ...]:
        """The reads its parameters are."""
        return tuple(
            Read(p.key, p.type, optional=p.default is not MISSING, origin=p.search)
            for p in self.parameters
            if not p.is_context
        )

    @property
    def context(self) -> str | None:
        """Name of the parameter that is handed the context."""
        return next((p.name for p in self.parameters if p.is_context), None)


def signature_of(func: Callable[..., object]) -> Signature:
    """Read a function's signature.

    Args:
        func: a plain or async function, or any callable with a signature.

    Returns:
        Its parameters in order and its return type (ANY if not annotated).

    Raises:
        TypeError: the callable has no signature, or takes `*args` or `**kwargs`.
    """
    name = getattr(func, "__qualname__", repr(func))
    try:
        signature = inspect.signature(func)
    except (ValueError, TypeError) as error:
        raise TypeError(
            f"`{name}` has no signature that could be read; wrap it in a function with named parameters"
        ) from error
    hints = _hints(func)
    parameters = []
    for parameter in signature.parameters.values():
        if parameter.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
            raise TypeError(f"`{name}` takes `*{parameter.name}`; name the keys it reads as parameters, or take `ctx`")
        found = _parameter(parameter, hints.get(parameter.name, parameter.annotation))
        parameters.append(replace(found, search=ParameterSearch(func, parameter.name)))
    return Signature(tuple(parameters), type_of(hints.get("return", signature.return_annotation)))


def _parameter(parameter: inspect.Parameter, hint: object) -> Parameter:
    positional = parameter.kind is inspect.Parameter.POSITIONAL_ONLY
    if _is_context(hint) or (parameter.name in CONTEXT_NAMES and hint is inspect.Parameter.empty):
        return Parameter(parameter.name, "", positional=positional)
    key = next((m.name for m in getattr(hint, "__metadata__", ()) if isinstance(m, Key)), parameter.name)
    default = MISSING if parameter.default is inspect.Parameter.empty else parameter.default
    return Parameter(parameter.name, key, type_of(hint), default, positional)


def _is_context(hint: object) -> bool:
    name = hint if isinstance(hint, str) else getattr(hint, "__name__", "")
    return name.rpartition(".")[2] in CONTEXT_TYPES


def _hints(func: Callable[..., object]) -> dict[str, object]:
    target = func if inspect.isroutine(func) else getattr(func, "__call__", func)  # noqa: B004
    try:
        return typing.get_type_hints(target, include_extras=True)
    except Exception:  # noqa: BLE001 - annotations are user code; an unresolvable one is an unknown type, not a fault
        return {}
