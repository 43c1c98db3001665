"""A function that a model may call.

Name, description and parameters come from the function, so that what the model is told and what is called cannot drift;
what the function does to the state comes from its source, so that the check sees through the model to the tools::

    def refund(order: str, amount: Decimal, tool_context: ToolContext) -> str:
        '''Pay an order back.'''
        tool_context.state["refunded"] = order
        ...

    FunctionTool(refund, effect="irreversible").contract      # may write refunded, irreversible

A tool never raises for a signature that a model cannot use: `faults` says what is wrong. Which model calls it, and when,
is no business of this module.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, get_args

from graphflow.contracts.contract import Contract, Effect
from graphflow.contracts.source import facts_of
from graphflow.schema import Type
from graphflow.tools.docstring import Description, parse_docstring
from graphflow.tools.parameters import Parameters, ToolFault, parameters_of, plain_function

_CALLABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")


@dataclass(frozen=True, slots=True)
class ToolDeclaration:
    """What a model is told about a tool.

    Attributes:
        name: what the model calls.
        description: what it is for, on one line; "" if nobody said.
        parameters: JSON schema of the arguments: an object whose properties are the parameters.
        returns: the type of the result (`Any`: not known).
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    returns: Type


class FunctionTool:
    """A function that a model may call. Calling the tool calls the function, so it is tested as a function.

    Args:
        func: a plain or async function, a method, a `functools.partial` or any object that can be called. Parameters
            annotated `ToolContext` (or `Context`), or named `tool_context` or `ctx` without an annotation, are given the
            context; arguments that a `partial` has bound are not offered to the model.
        name: what the model calls; default: the function's name.
        description: what the model is told; default: the first paragraph of the docstring.
        effect: what running it twice would do: "none", "idempotent" or "irreversible".

    Raises:
        TypeError: `func` is no function, or another argument has the wrong type.
    """

    def __init__(
        self,
        func: Callable[..., Any],
        *,
        name: str | None = None,
        description: str | None = None,
        effect: Effect = "none",
    ) -> None:
        given: object = func
        if not callable(given) or isinstance(given, (type, FunctionTool)):
            advice = "; it is one already" if isinstance(given, FunctionTool) else ""
            raise TypeError(f"FunctionTool takes a function, got {given!r}{advice}")
        for what, value in (("name", name), ("description", description)):
            if value is not None and not isinstance(value, str):
                raise TypeError(f"FunctionTool: parameter `{what}` is text, got {value!r}")
        if effect not in get_args(Effect):
            raise TypeError(f"FunctionTool: parameter `effect` is one of {', '.join(get_args(Effect))}, got {effect!r}")
        self._func = func
        self._name = name
        self._description = description
        self._effect: Effect = effect

    @property
    def func(self) -> Callable[..., Any]:
        """The function itself."""
        return self._func

    @property
    def name(self) -> str:
        """What the model calls."""
        return _name_of(self._func) if self._name is None else self._name

    @property
    def description(self) -> str:
        """What the model is told."""
        return self._prose.summary if self._description is None else self._description

    @property
    def effect(self) -> Effect:
        """What running it twice would do to the world."""
        return self._effect

    @cached_property
    def declaration(self) -> ToolDeclaration:
        """What a model is told about the tool."""
        return ToolDeclaration(self.name, self.description, self._parameters.schema, self._parameters.returns)

    @cached_property
    def faults(self) -> tuple[ToolFault, ...]:
        """What keeps a model from calling the tool properly; empty if nothing does."""
        if _CALLABLE_NAME.fullmatch(self.name):
            return self._parameters.faults
        reason = f"models call letters, digits, _ and - only, 64 at most, not {self.name!r}; give it a name="
        return (ToolFault("", reason), *self._parameters.faults)

    @cached_property
    def contract(self) -> Contract:
        """What a call reads and may write, from the function's source. No write is sure."""
        plain = plain_function(self._func)
        found = [facts_of(plain, context) for context in self._parameters.contexts]
        reads = {read.key: read for facts in found for read in facts.as_reads()}
        writes = {write.key: replace(write, sure=False) for facts in found for write in facts.as_writes()}
        return Contract(
            tuple(reads.values()),
            tuple(writes.values()),
            tuple(dict.fromkeys(reason for facts in found for reason in facts.open)),
            escalates=any(facts.escalates for facts in found),
            halts=any(facts.halts for facts in found),
            effect=self._effect,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function itself."""
        return self._func(*args, **kwargs)

    def __repr__(self) -> str:
        return f"FunctionTool({self.name!r})"

    @cached_property
    def _prose(self) -> Description:
        return parse_docstring(_docstring_of(self._func))

    @cached_property
    def _parameters(self) -> Parameters:
        return parameters_of(self._func, self._prose.parameters)


def as_tool(value: object) -> FunctionTool:
    """Make a tool of what stands in `tools=[...]`.

    Args:
        value: a tool, which is given back as it is, or a function.

    Returns:
        The tool.

    Raises:
        TypeError: it is neither.
    """
    if isinstance(value, FunctionTool):
        return value
    if not callable(value) or isinstance(value, type):
        raise TypeError(f"a tool is a function or a FunctionTool, got {value!r}")
    return FunctionTool(value)


def _name_of(func: Callable[..., Any]) -> str:
    while isinstance(func, functools.partial):
        func = func.func
    return str(getattr(func, "__name__", type(func).__name__))


def _docstring_of(func: Callable[..., Any]) -> str:
    own = plain_function(func).__doc__
    while isinstance(func, functools.partial):
        func = func.func
    return inspect.cleandoc(own) if own else inspect.getdoc(func) or ""
