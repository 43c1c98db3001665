"""Function agents: a stage that is a Python function.

`@agent(writes="validation")` makes one from a function whose parameters are typed reads; `FunctionAgent(func=...)` is the
same with everything spelled out. Calling the object calls the function, so it is tested as a function::

    @agent(writes="total")
    def add_up(lines: list[int]) -> int:
        return sum(lines)

    add_up([1, 2])      # 3
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Unpack, overload

from pydantic import Field, PrivateAttr, model_validator

from graphflow.agents.base import Agent
from graphflow.agents.options import Options
from graphflow.context import Context, Mode
from graphflow.contracts.contract import Contract, Effect, Read, Write
from graphflow.contracts.signature import Parameter, Signature, signature_of
from graphflow.contracts.source import SourceFacts, facts_of
from graphflow.errors import AbsentKeyError, ContractViolation
from graphflow.ir.builder import Builder, Region
from graphflow.ir.notes import Notes
from graphflow.schema import ANY, MISSING, Type, TypeMismatch, type_of, validator
from graphflow.schema.types import hints_of

Keys = str | list[str] | tuple[str, ...] | dict[str, Any] | type | None
NODE_INPUT = "node_input"
"""The parameter that is given the value of the node before, in a `Workflow`."""
_NO_FACTS = SourceFacts()


class FunctionAgent(Agent):
    """A stage that runs a function.

    Args:
        name: default: the function's name.
        func: a plain or async function.
        reads: keys read besides the parameters: names (`?` marks an optional one) or name -> type.
        writes: one key (the return value is its value), or several: a list, a mapping key -> type or a TypedDict class
            (the function returns a mapping with exactly those keys).
        may_write: keys that it may write or not; they may be in the returned mapping.
        effect: what running it twice would do: "none", "idempotent" or "irreversible".
        blocking: whether a plain function may take long: True runs it in a worker thread, False at once.
    """

    title: ClassVar[str] = "function"
    leaf: ClassVar[bool] = True
    positional: ClassVar[tuple[str, ...]] = ("name", "func")

    func: Callable[..., Any]
    reads: Any = None
    writes: Any = None
    may_write: Any = None
    effect: Effect = "none"
    blocking: bool = Field(default=True, strict=True)

    if TYPE_CHECKING:  # type checkers see that the name has a default

        def __init__(
            self,
            name: str = ...,
            func: Callable[..., Any] = ...,
            *,
            reads: Keys = None,
            writes: Keys = None,
            may_write: Keys = None,
            effect: Effect = "none",
            blocking: bool = True,
            **options: Unpack[Options],
        ) -> None: ...

    _signature: Signature = PrivateAttr()
    _contract: Contract = PrivateAttr()
    _facts: SourceFacts = PrivateAttr()

    @model_validator(mode="before")
    @classmethod
    def _named_after_function(cls, fields: Any) -> Any:
        if isinstance(fields, dict) and callable(fields.get("func")):
            func = fields["func"]
            name = getattr(func, "__name__", type(func).__name__)
            doc = inspect.getdoc(func) or ""
            return {"name": name, "description": doc.partition("\n\n")[0].replace("\n", " "), **fields}
        return fields

    @model_validator(mode="after")
    def _read_contract(self) -> FunctionAgent:
        try:
            if inspect.isgeneratorfunction(self.func) or inspect.isasyncgenfunction(self.func):
                raise TypeError("a function that yields cannot be a stage; return the value")
            self._signature = signature_of(self.func)
            context = self._signature.context
            self._facts = facts_of(self.func, context) if context else _NO_FACTS
            self._contract = _contract_of(self, self._signature, self._facts)
        except TypeError as error:
            raise ValueError(str(error)) from error
        return self

    @property
    def contract(self) -> Contract:
        """What the stage reads and writes."""
        return self._contract

    @property
    def notes(self) -> Notes:
        """The function, the routes that it sets and what it returns."""
        nothing = self.answer == ANY and self._signature.context and not self._facts.returns and not self._facts.open
        value = type_of(None) if nothing else self.answer
        return Notes(routes=tuple(self._facts.routes), functions=(self.func,), value=value)

    @property
    def answer(self) -> Type:
        """Type of what the function returns."""
        return self._signature.returns

    @property
    def chosen(self) -> Type | None:
        """Type of the route where the function may set `ctx.route`; None: it sets none."""
        facts = self._facts
        if facts.any_route or facts.open:
            return ANY
        if not facts.routes:
            return None
        constants = typing.Literal[tuple(facts.routes)]  # type: ignore[valid-type]
        returned = facts.returns and not facts.always_routes
        return type_of(typing.Union[constants, self.answer.hint] if returned else constants)  # noqa: UP007

    @property
    def returns_route(self) -> bool:
        """Whether what the function returns is its route: it declares no keys, whatever its source writes besides."""
        return self.writes is None and self.may_write is None and self._facts.returns

    @property
    def wants_input(self) -> bool:
        """Whether a parameter is given the value of the node before, in a `Workflow`."""
        return any(parameter.key == NODE_INPUT for parameter in self._signature.parameters)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function itself."""
        return self.func(*args, **kwargs)

    def lower(self, builder: Builder) -> Region:
        """One task."""
        single = self.writes if isinstance(self.writes, str) else None
        signature, contract = _given(self._signature, self._contract, builder.here.passing.given)
        declares = self.writes is not None or self.may_write is not None
        body = FunctionBody(self.func, signature, single, self._contract, self.blocking, builder.here.id, declares)
        return builder.task(contract, body, kind="code", value=self.answer, route=self.chosen or self.answer)


def _given(signature: Signature, contract: Contract, key: str) -> tuple[Signature, Contract]:
    """Let the parameter for the value of the node before read it from a reserved key."""
    if not key:
        return signature, contract
    parameters = tuple(replace(p, key=key) if p.key == NODE_INPUT else p for p in signature.parameters)
    reads = tuple(replace(read, key=key) if read.key == NODE_INPUT else read for read in contract.reads)
    return replace(signature, parameters=parameters), replace(contract, reads=reads)


def _contract_of(stage: FunctionAgent, signature: Signature, facts: SourceFacts) -> Contract:
    declared = stage.reads is not None or stage.writes is not None or stage.may_write is not None
    reads = {read.key: read for read in (*signature.reads, *_declared_reads(stage.reads))}
    writes = {write.key: write for write in (*_writes(stage.writes, signature.returns), *_maybe(stage.may_write))}
    if not declared or stage.reads is None:
        for read in facts.as_reads():
            reads.setdefault(read.key, read)
    if stage.writes is None and stage.may_write is None:
        for write in facts.as_writes():
            writes.setdefault(write.key, write)
    return Contract(
        tuple(reads.values()),
        tuple(writes.values()),
        () if declared and stage.reads is not None else facts.open,
        escalates=facts.escalates,
        halts=facts.halts,
        effect=stage.effect,
    )


def _pairs(keys: Any, what: str) -> list[tuple[str, Type]]:
    if keys is None:
        return []
    if isinstance(keys, str):
        return [(keys, ANY)]
    if isinstance(keys, Mapping):
        return [(str(key), type_of(hint)) for key, hint in keys.items()]
    if isinstance(keys, type) and typing.is_typeddict(keys):
        return [(key, type_of(hint)) for key, hint in hints_of(keys).items()]
    if isinstance(keys, (list, tuple)) and all(isinstance(key, str) for key in keys):
        return [(key, ANY) for key in keys]
    raise TypeError(f"`{what}` takes a key, a list of keys, a mapping key -> type or a TypedDict class, got {keys!r}")


def _declared_reads(keys: Any) -> list[Read]:
    return [Read(name.removesuffix("?"), type_, optional=name.endswith("?")) for name, type_ in _pairs(keys, "reads")]


def _writes(keys: Any, returns: Type) -> list[Write]:
    if isinstance(keys, str):
        return [Write(keys, returns)]
    pairs = _pairs(keys, "writes")
    hints = returns.hint
    if isinstance(hints, type) and typing.is_typeddict(hints):
        known = dict(_pairs(hints, "writes"))
        pairs = [(name, known.get(name, type_) if type_ == ANY else type_) for name, type_ in pairs]
    return [Write(name, type_) for name, type_ in pairs]


def _maybe(keys: Any) -> list[Write]:
    return [Write(name, type_, sure=False) for name, type_ in _pairs(keys, "may_write")]


@dataclass(frozen=True)
class FunctionBody:
    """Calls the function with the keys its parameters name and turns what it returns into writes."""

    func: Callable[..., Any]
    signature: Signature
    single: str | None
    contract: Contract
    blocking: bool
    node: str
    declares: bool = True

    @cached_property
    def mode(self) -> Mode:
        """Async functions are awaited, plain ones run in a thread unless they said that they are quick."""
        target = self.func if inspect.isroutine(self.func) else getattr(self.func, "__call__", self.func)  # noqa: B004
        if inspect.iscoroutinefunction(target):
            return "async"
        return "thread" if self.blocking else "inline"

    @cached_property
    def call(self) -> Callable[[Context], Awaitable[Mapping[str, object]] | Mapping[str, object]]:
        """Run once and give the writes, key -> value."""
        return self._awaited if self.mode == "async" else self._called

    async def _awaited(self, ctx: Context) -> Mapping[str, object]:
        args, kwargs = self._arguments(ctx)
        return self._written(ctx, await self.func(*args, **kwargs))

    def _called(self, ctx: Context) -> Mapping[str, object]:
        args, kwargs = self._arguments(ctx)
        return self._written(ctx, self.func(*args, **kwargs))

    @cached_property
    def _validators(self) -> tuple[tuple[Parameter, Callable[[object], object]], ...]:
        return tuple((parameter, validator(parameter.type)) for parameter in self.signature.parameters)

    def _arguments(self, ctx: Context) -> tuple[list[object], dict[str, object]]:
        args: list[object] = []
        kwargs: dict[str, object] = {}
        for parameter, validate in self._validators:
            value = ctx if parameter.is_context else self._read(ctx, parameter, validate)
            if parameter.positional:
                args.append(value)
            else:
                kwargs[parameter.name] = value
        return args, kwargs

    def _read(self, ctx: Context, parameter: Parameter, validate: Callable[[object], object]) -> object:
        value = ctx.state.read(parameter.key)
        if value is MISSING:
            if parameter.default is MISSING:
                raise AbsentKeyError(parameter.key, self.node)
            return parameter.default
        try:
            return validate(value)
        except TypeMismatch as error:
            raise ContractViolation(
                f"`{self.node}` reads `{parameter.key}` as {parameter.type.text}: {error}",
                node=self.node,
                key=parameter.key,
            ) from error

    def _written(self, ctx: Context, returned: object) -> Mapping[str, object]:
        ctx.output = returned
        delta = self._delta(ctx, returned)
        if ctx.route is None and self.declares and len(self.contract.writes) == 1:
            ctx.route = delta.get(self.contract.writes[0].key)
        return delta

    def _delta(self, ctx: Context, returned: object) -> Mapping[str, object]:
        delta = dict(ctx.state.delta)
        if self.single is not None:
            owed = self.single not in delta and ctx.actions.halt is None
            if owed or returned is not None:
                delta[self.single] = returned
            return delta
        nothing = returned is None and (bool(delta) or ctx.actions.halt is not None or not self._sure)
        if not self.declares or not self.contract.writes or nothing:
            return delta
        if not isinstance(returned, Mapping):
            keys = ", ".join(f"`{write.key}`" for write in self.contract.writes)
            raise ContractViolation(
                f"`{self.node}` returned {type(returned).__name__}; it writes {keys}, so it returns a mapping of those keys",
                node=self.node,
            )
        return {**delta, **returned}

    @cached_property
    def _sure(self) -> bool:
        return any(write.sure for write in self.contract.writes)


@overload
def agent(func: Callable[..., Any], /) -> FunctionAgent: ...


@overload
def agent(
    *,
    writes: Keys = None,
    name: str | None = None,
    reads: Keys = None,
    may_write: Keys = None,
    effect: Effect = "none",
    blocking: bool = True,
    **options: Any,
) -> Callable[[Callable[..., Any]], FunctionAgent]: ...


def agent(func: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Make a `FunctionAgent` from a function; use it bare or with the options of `FunctionAgent`.

    Args:
        func: the function, where the decorator is used bare.
        **options: see `FunctionAgent`.

    Returns:
        The agent, or a decorator that makes one.

    Raises:
        TypeError: an unknown option, or a function that cannot be a stage.
    """
    if func is not None:
        if not callable(func):
            raise TypeError(f"@agent takes its options by name: @agent(writes={func!r})")
        return FunctionAgent(func=func)
    given = {name: value for name, value in options.items() if value is not None}
    return lambda function: FunctionAgent(func=function, **given)
