"""`BaseAgent`: an agent whose control flow is Python code.

A subclass says in `run` (or `_run_async_impl`) what happens; agents in its fields are its children, which the code runs as
often and in whatever order it likes. Fields and class attributes are ordinary pydantic fields::

    class Poller(BaseAgent):
        check: LlmAgent

        async def run(self, ctx):
            for _ in range(3):
                done = await ctx.run(self.check) == "done"
                yield Event(author=self.name, actions=EventActions(state_delta={"done": done}, escalate=done))

What it reads and writes is inferred from the source, unless it is declared. It lowers to a task for the code, with an edge to
each child and one back from it; it executes nothing itself.
"""

from __future__ import annotations

import inspect
import sys
import typing
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from types import FrameType
from typing import TYPE_CHECKING, Any, ClassVar, Self

from pydantic import BaseModel, PrivateAttr, model_validator

from graphflow.agents.base import Agent, Child, _is_ours, _position
from graphflow.agents.custom_body import CustomBody
from graphflow.agents.function import _declared_reads, _maybe, _writes
from graphflow.agents.reach import Escalation, escalation_of, keys_written_in, parts_of
from graphflow.contracts.contract import Contract, Effect, Origin
from graphflow.contracts.source import SourceFacts, code_facts
from graphflow.ir.builder import Builder, Region
from graphflow.ir.nodes import CALL, POSSIBLE_ESCALATE, Join, Task
from graphflow.ir.notes import Notes
from graphflow.schema import ANY, Type, type_of

if TYPE_CHECKING:
    from pydantic._internal._model_construction import ModelMetaclass
else:
    ModelMetaclass = type(BaseModel)

DECLARING = ("reads", "writes", "may_write", "escalates", "halts", "effect")


class _Declaring(ModelMetaclass):
    """Lets subclasses give what they declare as plain class attributes, which pydantic would refuse without annotations."""

    def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **options: Any) -> Any:
        annotated = _annotated(namespace)
        declared = {n: namespace.pop(n) for n in DECLARING if n in namespace and n not in annotated}
        fields = frozenset(annotated).intersection(DECLARING)
        marks = {"__declared__": declared, "__refined__": fields}
        return super().__new__(mcs, name, bases, {**namespace, **marks}, **options)


def _annotated(namespace: Mapping[str, Any]) -> Collection[str]:
    """The names that a class body annotates; Python 3.14 and newer keep a function that knows them."""
    if sys.version_info >= (3, 14):
        import annotationlib

        annotate = annotationlib.get_annotate_from_class_namespace(namespace)
        if annotate is not None:
            return annotationlib.call_annotate_function(annotate, annotationlib.Format.FORWARDREF)
    names: Collection[str] = namespace.get("__annotations__", {})
    return names


def _declared_by(kind: type) -> dict[str, Any]:
    """What a class and its bases declare as plain attributes; an annotated field of the same name takes its place."""
    found: dict[str, Any] = {}
    for each in reversed(kind.__mro__):
        for name in vars(each).get("__refined__", ()):
            found.pop(name, None)
        found |= vars(each).get("__declared__", {})
    return found


class BaseAgent(Agent, metaclass=_Declaring):
    """An agent that subclasses write: `async def run(self, ctx)` yields events, or returns a value, or neither.

    `await ctx.run(child)` runs a child and gives its output, `async for event in ctx.run(child)` (or
    `child.run_async(ctx)`) gives its events. The code sees what a child has written as soon as the child has succeeded;
    all of it is committed when the agent succeeds. An agent without code of its own does nothing.

    Args:
        name: see `Agent`.
        sub_agents: children, besides those in fields.
        reads: keys read; see `FunctionAgent`. None (default): inferred from the source.
        writes: keys that are written however the code ends. None (default): inferred.
        may_write: keys that may be written.
        escalates: whether it may end the loop around it. None (default): inferred.
        halts: whether it may halt the run. None (default): inferred.
        effect: what running it twice would do: "none", "idempotent" or "irreversible".
    """

    title: ClassVar[str] = "custom"
    leaf: ClassVar[bool] = True

    sub_agents: tuple[Child, ...] = ()
    reads: Any = None
    writes: Any = None
    may_write: Any = None
    escalates: bool | None = None
    halts: bool | None = None
    effect: Effect = "none"

    def __init__(self, name: str | None = None, **fields: Any) -> None:
        given = {} if name is None else {"name": name}
        super().__init__(**{**_declared_by(type(self)), **given, **fields})
        self._origin = _origin_of(self)

    _code: SourceFacts = PrivateAttr()
    _contract: Contract = PrivateAttr()

    @model_validator(mode="after")
    def _read_source(self) -> Self:
        method = self._method()
        func = inspect.unwrap(getattr(type(self), method)) if method else None
        if inspect.isfunction(func) and not (inspect.iscoroutinefunction(func) or inspect.isasyncgenfunction(func)):
            raise ValueError(f"`{method}` of {type(self).__name__} is a plain function; write `async def {method}`")
        try:
            self._code = code_facts(type(self), method, self) if method else SourceFacts()
            self._contract = _contract_of(self, self._code)
        except TypeError as error:
            raise ValueError(str(error)) from error
        return self

    def run(self, ctx: Any) -> Any:  # noqa: ARG002 - subclasses use it
        """Do what the agent is for. Subclasses write it as an `async def` with one parameter; this one does nothing.

        Args:
            ctx: the context.

        Returns:
            In subclasses an async iterator of events, or an awaitable of the agent's output.
        """
        return None

    def children(self) -> Iterator[Agent]:
        """Yield the agents in fields and in `sub_agents`, each once.

        An agent that is in a field only because another child holds it (a critic, and the loop it is in) is not a child.
        """
        fields = [name for name in type(self).model_fields if name not in BaseAgent.model_fields]
        held = dict.fromkeys(agent for name in fields for agent in _agents_in(getattr(self, name)))
        listed = dict.fromkeys(self.sub_agents)
        inside = {inner for agent in {**held, **listed} for inner in _inside(agent)}
        own = dict.fromkeys(agent for agent in held if agent in listed or agent not in inside)
        return iter({**own, **listed})

    def made(self, fields: Mapping[str, Any]) -> Self:
        """Make an agent of this kind from its fields, whatever its own constructor takes."""
        agent = type(self).__new__(type(self))
        BaseAgent.__init__(agent, **fields)
        return agent

    def _method(self) -> str:
        """The method that is the code; "" if there is none."""
        for kind in type(self).__mro__[: type(self).__mro__.index(BaseAgent)]:
            for method in ("run", "_run_async_impl"):
                if method in vars(kind):
                    return method
        return ""

    @property
    def contract(self) -> Contract:
        """What the code reads and writes; what its children do is not part of it."""
        return self._contract

    @property
    def escalation(self) -> Escalation:
        """Whether an escalation comes out of the agent: its own, or one of a child that it passes on."""
        if self._contract.escalates:
            return Escalation.SURE
        passed = escalation_of(self.children()) if self._code.forwards and self.escalates is None else Escalation.NO
        return max(passed, Escalation.POSSIBLE if self._contract.open else Escalation.NO)

    @property
    def notes(self) -> Notes:
        """The code, and the routes that it sets."""
        method = self._method()
        return Notes(routes=tuple(self._code.routes), functions=(getattr(self, method),) if method else ())

    @property
    def answer(self) -> Type:
        """Type of the agent's value."""
        return ANY

    @property
    def chosen(self) -> Type | None:
        """Type of the route that the code sets; None: it sets none."""
        facts = self._code
        if facts.any_route or facts.open:
            return ANY
        return type_of(typing.Literal[tuple(facts.routes)]) if facts.routes else None

    def lower(self, builder: Builder) -> Region:
        """One task for the code; with children a region, an edge from the code to each child and one back."""
        children = list(self.children())
        calls: dict[int, str] = {}
        if not children:
            body = CustomBody(self, self._method(), builder.here.id, calls)
            return builder.task(self._contract, body, kind="custom", value=ANY, route=self.chosen or ANY)
        region = builder.region("custom")
        code = self._lower_code(builder, region, calls)
        region.edge(region.entry, code)
        for child in children:
            path = builder.reserve(child, region)
            label, back = f"{CALL}{path.rpartition('/')[2]}", f"{path}#return"
            calls[id(child)] = label
            part = builder.place(child, region, (back,), path=path)
            region.edge(code, part.entry, label)
            region.edge(part.exit, back)
            region.add(Join(back, region.id, origin=child.origin, exclusive=True))
            region.edge(back, code, back=True)
            builder.relay(back, (code,), back=True)
        region.edge(code, region.exit)
        return region

    def _lower_code(self, builder: Builder, region: Region, calls: Mapping[int, str]) -> str:
        code = f"{region.id}#code"
        escalation = self.escalation
        contract = _beside(self._contract, keys_written_in(self.children()))
        contract = replace(contract, escalates=escalation is Escalation.SURE)
        body = CustomBody(self, self._method(), code, calls)
        full, reserved = builder.passed(contract, ANY, self.chosen or ANY)
        guard = self.guard
        region.add(
            Task(
                code,
                region.id,
                full,
                self.origin,
                "custom",
                retry=guard.retry,
                timeout=guard.timeout,
                body=body,
                **reserved,
            )
        )
        builder.ways_out(code, contract)
        if escalation is Escalation.POSSIBLE and not contract.open:
            for target in region.escalation:
                region.edge(code, target, POSSIBLE_ESCALATE)
        return code


def _contract_of(agent: BaseAgent, facts: SourceFacts) -> Contract:
    declared = agent.writes is not None or agent.may_write is not None
    writes = {write.key: write for write in (*_maybe(agent.may_write), *_writes(agent.writes, ANY))}
    if not declared:
        writes = {write.key: write for write in facts.as_writes()}
    reads = facts.as_reads() if agent.reads is None else tuple(_declared_reads(agent.reads))
    return Contract(
        reads,
        tuple(writes.values()),
        () if declared and agent.reads is not None else facts.open,
        escalates=facts.escalates if agent.escalates is None else agent.escalates,
        halts=facts.halts if agent.halts is None else agent.halts,
        effect=agent.effect,
    )


def _beside(contract: Contract, written: frozenset[str] | None) -> Contract:
    """Make reads of what a child may write first optional; None: children may write anything."""
    reads = tuple(
        replace(read, optional=True) if written is None or read.key in written else read for read in contract.reads
    )
    return replace(contract, reads=reads)


def _agents_in(value: object) -> Iterator[Agent]:
    if isinstance(value, Agent):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _agents_in(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _agents_in(item)


def _inside(agent: Agent) -> Iterator[Agent]:
    pending = list(parts_of(agent))
    while pending:
        inner = pending.pop()
        yield inner
        pending.extend(parts_of(inner))


def _origin_of(agent: BaseAgent) -> Origin | None:
    """Where the agent is made: not in graphflow, nor in the constructor of its own class."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - the documented way to look at the caller's frame
    while frame is not None and (_is_ours(frame.f_globals.get("__name__", "")) or _constructs(frame, agent)):
        frame = frame.f_back
    if frame is None:
        return None
    return Origin(frame.f_code.co_filename, *_position(frame.f_code, frame.f_lasti, frame.f_lineno))


def _constructs(frame: FrameType, agent: BaseAgent) -> bool:
    code = frame.f_code
    return code.co_name == "__init__" and code.co_argcount > 0 and frame.f_locals.get(code.co_varnames[0]) is agent
