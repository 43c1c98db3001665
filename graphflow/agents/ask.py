"""`AskAgent`: a stage that asks a person.

::

    AskAgent("approve", prompt="Refund {amount}?", output_key="approval", output_schema=Literal["approve", "reject"])
    # reads amount, writes approval: Literal['approve', 'reject']

The run pauses when nothing else can go on. It lowers to one task; how the question reaches a person is the runtime's.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Unpack

from pydantic import field_validator, model_validator

from graphflow.agents.base import Agent
from graphflow.agents.options import LeafOptions
from graphflow.context import Context, Mode
from graphflow.contracts.contract import Contract, Write
from graphflow.contracts.template import template_reads
from graphflow.errors import AbsentKeyError, ContractViolation
from graphflow.ir.builder import Builder, Guarding, Region
from graphflow.ir.notes import Notes
from graphflow.schema import Type, TypeMismatch, parse_text, type_of, validator
from graphflow.template import Template, parse, render


class AskAgent(Agent):
    """Asks a person, and writes the answer.

    Args:
        name: see `Agent`.
        prompt: the question, a template over the state.
        output_key: key that is given the answer.
        output_schema: type of the answer; text that is no value of it is parsed.
        timeout: seconds that the person has, None (default) for any time; not, as for other agents, what an attempt takes.
        default: the answer when they have passed; None (default): the stage fails then.
    """

    title: ClassVar[str] = "ask"
    leaf: ClassVar[bool] = True
    positional: ClassVar[tuple[str, ...]] = ("name", "prompt", "output_key")

    prompt: str
    output_key: str
    output_schema: Any = str
    default: Any = None

    if TYPE_CHECKING:  # type checkers see what may be given without a name

        def __init__(
            self,
            name: str,
            prompt: str,
            output_key: str,
            *,
            output_schema: Any = str,
            timeout: float | None = None,
            default: Any = None,
            **options: Unpack[LeafOptions],
        ) -> None: ...

    @field_validator("output_schema")
    @classmethod
    def _is_type(cls, value: object) -> object:
        try:
            type_of(value)
        except TypeError as error:
            raise ValueError(str(error)) from error
        return value

    @model_validator(mode="after")
    def _default_is_answer(self) -> AskAgent:
        if self.default is not None:
            try:
                validator(self.answer)(self.default)
            except TypeMismatch as error:
                raise ValueError(f"`default` is no {self.answer.text}: {error}") from error
        return self

    @cached_property
    def _template(self) -> Template:
        return parse(self.prompt)

    @property
    def answer(self) -> Type:
        """Type of the answer."""
        return type_of(self.output_schema)

    @property
    def notes(self) -> Notes:
        """The question."""
        return Notes(texts=(("prompt", self.prompt),))

    @property
    def contract(self) -> Contract:
        """What the stage reads and writes."""
        return Contract(template_reads(self._template, made=self.origin), (Write(self.output_key, self.answer),))

    @property
    def guard(self) -> Guarding:
        """What is done about failures; how long a person has is no time limit of an attempt."""
        guard = super().guard
        return Guarding(guard.retry, None, guard.fallback, guard.values)

    def lower(self, builder: Builder) -> Region:
        """One task."""
        body = AskBody(builder.here.id, self._template, self.output_key, self.output_schema, self.timeout, self.default)
        return builder.task(self.contract, body, kind="ask", value=self.answer, route=self.answer)


@dataclass(frozen=True, slots=True)
class AskBody:
    """Renders the question, waits for the answer and validates it.

    Attributes:
        node: path of the task.
        prompt: template of the question.
        output_key: key that is given the answer.
        output_schema: type of the answer.
        timeout: seconds that a person has, None for any time.
        default: the answer when they have passed, None for none.
    """

    node: str
    prompt: Template
    output_key: str
    output_schema: Any
    timeout: float | None = None
    default: Any = None
    mode: Mode = "async"

    @property
    def call(self) -> Callable[[Context], Awaitable[Mapping[str, object]]]:
        """Run once and give the writes, key -> value."""
        return self._ask

    async def _ask(self, ctx: Context) -> Mapping[str, object]:
        try:
            prompt = render(self.prompt, ctx.state.read)
        except AbsentKeyError as error:
            raise AbsentKeyError(error.key, self.node) from error
        answer = await ctx.ask(prompt, self.output_schema, self.timeout, self.default)
        ctx.output = self._validated(answer)
        return {self.output_key: ctx.output}

    def _validated(self, answer: object) -> object:
        type_ = type_of(self.output_schema)
        try:
            return validator(type_)(answer)
        except TypeMismatch as error:
            fault = error
        try:
            if isinstance(answer, str):
                return parse_text(answer, type_)
        except TypeMismatch as error:
            fault = error
        raise ContractViolation(
            f"`{self.node}`: the answer is no {type_.text}: {fault}", node=self.node, key=self.output_key
        ) from fault
