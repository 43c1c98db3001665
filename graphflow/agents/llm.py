"""Model agents: a stage that asks a language model.

The instruction is a template over the state; what it mentions is what the agent reads; its answer goes to `output_key`::

    LlmAgent(name="critic", model="...", instruction="Criticise this story: {story}", output_key="critique")
    # reads story, writes critique: str

With an `output_schema` the answer is parsed and validated before anything is stored. With `tools` the agent's contract holds
what they do to the state too. Which of them a model calls is not known before the run: what a tool reads is an optional read
of the agent, what it writes a possible write.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, get_args

from pydantic import field_validator

from graphflow.agents.base import Agent
from graphflow.analysis.profiles import profile_named
from graphflow.context import Context, Mode
from graphflow.contracts.contract import Contract, Effect, Read, Write
from graphflow.contracts.template import template_reads
from graphflow.errors import AbsentKeyError, ModelError, UsageError
from graphflow.ir.builder import Builder, Region
from graphflow.ir.notes import Notes
from graphflow.models.base import Message, ModelRequest
from graphflow.schema import MISSING, Type, TypeMismatch, parse_text, type_of
from graphflow.template import Braces, Template, parse, render
from graphflow.tools.function import FunctionTool, as_tool

MESSAGE = "message"


class LlmAgent(Agent):
    """A stage that asks a model.

    Args:
        name: see `Agent`.
        model: a model name, or a model object; None: `Flow(model=)`.
        instruction: template of the system instruction.
        prompt: template of the user turn: for data, which does not belong into the instruction. Without it the model is
            sent the run's message, unless the instruction holds `{message}`; without either, the instruction.
        output_key: key that is given the answer; None: the answer is not stored.
        output_schema: type of the answer (a pydantic model, `list[...]`, a Literal): it is sent to the model, and the
            answer is parsed and validated.
        tools: what the model may call: functions or `FunctionTool`s.
    """

    title: ClassVar[str] = "model"
    leaf: ClassVar[bool] = True

    model: Any = None
    instruction: str = ""
    prompt: str | None = None
    output_key: str | None = None
    output_schema: Any = None
    tools: Sequence[FunctionTool | Callable[..., Any]] = ()

    @field_validator("model")
    @classmethod
    def _named_or_made(cls, value: object) -> object:
        if value is None or isinstance(value, str) or callable(getattr(value, "generate", None)):
            return value
        raise ValueError("`model` takes a model name or an object with `async def generate(request)`")

    @field_validator("output_schema")
    @classmethod
    def _is_type(cls, value: object) -> object:
        try:
            type_of(value)
        except TypeError as error:
            raise ValueError(str(error)) from error
        return value

    @field_validator("tools", mode="plain")
    @classmethod
    def _callable(cls, value: object) -> tuple[FunctionTool, ...]:
        try:
            if not isinstance(value, (list, tuple)):
                raise TypeError("takes a list of functions")
            for each in value:
                if isinstance(each, Agent):
                    raise TypeError(f"`{each.name}` is an agent; a tool is a function")
            return tuple(as_tool(each) for each in value)
        except TypeError as error:
            raise ValueError(str(error)) from error

    @cached_property
    def _tools(self) -> tuple[FunctionTool, ...]:
        return tuple(as_tool(each) for each in self.tools)

    @cached_property
    def _templates(self) -> tuple[Template, Template | None]:
        return self._parsed_by("graphflow")

    def _parsed_by(self, braces: Braces) -> tuple[Template, Template | None]:
        return parse(self.instruction, braces), parse(self.prompt, braces) if self.prompt is not None else None

    @property
    def answer(self) -> Type:
        """Type of the answer."""
        return type_of(str if self.output_schema is None else self.output_schema)

    @property
    def notes(self) -> Notes:
        """The templates and the tools."""
        prompt = (("prompt", self.prompt),) if self.prompt is not None else ()
        name = self.model if isinstance(self.model, str) else None
        return Notes(
            texts=(("instruction", self.instruction), *prompt), tools=self._tools, model=name, value=self.answer
        )

    @property
    def contract(self) -> Contract:
        """What the stage reads and writes, its tools included."""
        return self._contract(*self._templates)

    def _contract(self, instruction: Template, prompt: Template | None) -> Contract:
        reads = template_reads(instruction, prompt, made=self.origin)
        if prompt is None and all(read.key != MESSAGE for read in reads):
            reads = (*reads, Read(MESSAGE, type_of(str), optional=True, implicit=True))
        writes = (Write(self.output_key, self.answer),) if self.output_key is not None else ()
        return _with_tools(Contract(reads, writes, answers_when_escalating=False), self._tools)

    def lower(self, builder: Builder) -> Region:
        """One task."""
        braces = profile_named(builder.profile).braces
        instruction, prompt = self._templates if braces == "graphflow" else self._parsed_by(braces)
        model = self.model if self.model is not None else builder.here.model
        body = ModelBody(
            builder.here.id,
            self.name,
            model,
            instruction,
            prompt,
            self.output_key,
            self.output_schema,
            self._tools,
        )
        name = model if isinstance(model, str) else getattr(model, "name", None)
        return builder.task(self._contract(instruction, prompt), body, kind="model", model=name, value=self.answer)


def _with_tools(own: Contract, tools: Iterable[FunctionTool]) -> Contract:
    """Add what tools may do to what an agent does whether they are called or not."""
    reads = {(read.key, read.path): read for read in own.reads}
    writes = {write.key: write for write in own.writes}
    effects = [own.effect]
    for tool in tools:
        contract = tool.contract
        for read in contract.reads:
            reads.setdefault((read.key, read.path), replace(read, optional=True))
        for write in contract.writes:
            writes.setdefault(write.key, replace(write, sure=False))
        effects.append(contract.effect)
        own = replace(
            own,
            open=tuple(dict.fromkeys((*own.open, *(f"tool `{tool.name}`: {reason}" for reason in contract.open)))),
            escalates=own.escalates or contract.escalates,
            halts=own.halts or contract.halts,
        )
    strongest = max(effects, key=get_args(Effect).index)
    return replace(own, reads=tuple(reads.values()), writes=tuple(writes.values()), effect=strongest)


@dataclass(frozen=True)
class ModelBody:
    """Renders the templates, asks the model once and validates the answer.

    Attributes:
        node: path of the task.
        agent: name of the agent.
        model: the model as the agent names it.
        instruction: template of the system instruction.
        prompt: template of the user turn, if there is one.
        output_key: key that is given the answer.
        output_schema: type of the answer.
        tools: what the model may call.
    """

    node: str
    agent: str
    model: Any
    instruction: Template
    prompt: Template | None
    output_key: str | None
    output_schema: Any
    tools: tuple[FunctionTool, ...] = ()
    mode: Mode = "async"

    @property
    def refusal(self) -> str | None:
        """Why no run can execute the task; None if one can."""
        if not self.tools:
            return None
        names = ", ".join(f"`{tool.name}`" for tool in self.tools)
        return f"its tools ({names}) can be checked, but not called yet; run it without tools="

    @property
    def call(self) -> Callable[[Context], Awaitable[Mapping[str, object]]]:
        """Run once and give the writes, key -> value."""
        return self._ask

    async def _ask(self, ctx: Context) -> Mapping[str, object]:
        if self.refusal is not None:
            raise UsageError(f"`{self.node}`: {self.refusal}")
        request = self._request(ctx)
        if ctx.services is None:
            raise ModelError(f"`{self.node}` was run without a model")
        reply = await ctx.services.generate(request)
        ctx.output = reply.text if self.output_schema is None else self._parsed(reply.text)
        return {} if self.output_key is None else {self.output_key: ctx.output}

    def _request(self, ctx: Context) -> ModelRequest:
        try:
            system = render(self.instruction, ctx.state.read)
            prompt = render(self.prompt, ctx.state.read) if self.prompt is not None else None
        except AbsentKeyError as error:
            raise AbsentKeyError(error.key, self.node) from error
        if prompt is None:
            prompt = self._message(ctx)
        if prompt is None:
            system, prompt = "", system
        return ModelRequest(
            model=self.model if isinstance(self.model, str) else "",
            node=self.node,
            agent=self.agent,
            system=system or None,
            contents=(Message("user", prompt),),
            output_schema=self.output_schema,
            iteration=ctx.iteration,
            attempt=ctx.attempt,
        )

    def _message(self, ctx: Context) -> str | None:
        if any(placeholder.name == MESSAGE for placeholder in self.instruction.placeholders):
            return None
        message = ctx.state.read(MESSAGE)
        if message is MISSING or not isinstance(message, str):
            return ctx.message
        return message

    def _parsed(self, text: str) -> object:
        type_ = type_of(self.output_schema)
        try:
            return parse_text(text, type_)
        except TypeMismatch as error:
            shown = text if len(text) <= 120 else text[:117] + "..."
            raise ModelError(
                f"`{self.node}`: the model's answer does not fit: {error}; it said {shown!r}; nothing was stored"
            ) from error
