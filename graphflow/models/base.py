"""What the runtime and a model say to each other: one request, one reply.

A model is any object with a `name` and an `async def generate(request)`::

    class Echo:
        name = "echo"

        async def generate(self, request: ModelRequest) -> ModelReply:
            return ModelReply(request.text.upper())

A request says who asks (node and agent), so that one object can serve a whole flow. This module knows no provider, no
agent and no graph: what a template became and what type the answer should have is all a model is told.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Literal, Protocol

from pydantic_core import PydanticSerializationError, to_json

from graphflow.errors import ModelError

_CHARACTERS_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation.

    Attributes:
        role: who speaks.
        text: what is said.
    """

    role: Literal["user", "model"]
    text: str


@dataclass(frozen=True, slots=True)
class Usage:
    """What model calls took; `+` adds them up.

    Attributes:
        calls: requests sent.
        input_tokens: tokens sent.
        output_tokens: tokens received.
    """

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    @property
    def total_tokens(self) -> int:
        """Tokens in both directions."""
        return self.input_tokens + self.output_tokens

    def __add__(self, other: Usage) -> Usage:
        if not isinstance(other, Usage):
            return NotImplemented
        return Usage(
            self.calls + other.calls,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
        )


_ONE_CALL = Usage(calls=1)


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One question to a model.

    Attributes:
        model: the model's name as the agent gives it; empty if the agent holds a model object.
        node: path of the asking task.
        agent: name of the asking agent.
        system: the rendered instruction, None if there is none.
        contents: the conversation, oldest turn first; the last one is the question.
        output_schema: type that the answer has to parse as (a pydantic model, `list[...]`, a Literal); None for text.
        iteration: 1-based iteration of the innermost loop around the task.
        attempt: 1-based attempt of the task.
    """

    model: str
    node: str
    agent: str
    system: str | None
    contents: tuple[Message, ...]
    output_schema: object | None = None
    iteration: int = 1
    attempt: int = 1

    @property
    def text(self) -> str:
        """The last thing the user said, empty if nothing was said."""
        return next((message.text for message in reversed(self.contents) if message.role == "user"), "")


@dataclass(frozen=True, slots=True)
class ModelReply:
    """A model's answer.

    Attributes:
        text: the answer; JSON if the request has an output schema.
        usage: what the call took.
    """

    text: str
    usage: Usage = _ONE_CALL


class Model(Protocol):
    """Anything that answers requests. One object may be asked by several tasks at the same time."""

    @property
    def name(self) -> str:
        """What reports call the model."""

    async def generate(self, request: ModelRequest) -> ModelReply:
        """Answer a request.

        Args:
            request: the question.

        Returns:
            The answer with what it took.

        Raises:
            ModelError: there is no answer.
        """


def estimate_tokens(text: str) -> int:
    """Guess how many tokens a text has: a token for every four characters begun. A rough figure, never an exact one."""
    return -(-len(text) // _CHARACTERS_PER_TOKEN)


def reply_of(value: object, request: ModelRequest) -> ModelReply:
    """Make the reply of a model that is Python code, with estimated token counts.

    Args:
        value: a reply (taken as it is), text (sent as it is), or anything that JSON can hold: pydantic models,
            dataclasses, mappings, numbers (sent as JSON; a Decimal as a string).
        request: what was asked.

    Returns:
        The reply.

    Raises:
        ModelError: JSON cannot hold the value.
    """
    if isinstance(value, ModelReply):
        return value
    if isinstance(value, Enum):
        value = value.value
    try:
        text = str(value) if isinstance(value, str) else to_json(value).decode()
    except (PydanticSerializationError, ValueError) as error:
        raise ModelError(
            f"the answer for `{request.agent}` is {type(value).__name__}, which JSON cannot hold: {error}; "
            "answer with text, a pydantic model or plain data"
        ) from error
    asked = sum(estimate_tokens(message.text) for message in request.contents) + estimate_tokens(request.system or "")
    return ModelReply(text, Usage(1, asked, estimate_tokens(text)))
