"""What a `GeminiServer` can be told to answer, and how each looks on the wire.

::

    Reply("hi", prompt_tokens=3)      # 200 {"candidates": [{"content": {"parts": [{"text": "hi"}], ...}]}
    Refusal(429, retry_after=2)       # 429 {"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", ...}}

This module knows the wire format, neither sockets nor what the answers are for.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, Literal

from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from graphflow.models.base import estimate_tokens

_STATUSES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    408: "DEADLINE_EXCEEDED",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    502: "UNAVAILABLE",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}


class BySchema(Enum):
    """The type of `BY_SCHEMA`."""

    BY_SCHEMA = "BY_SCHEMA"


BY_SCHEMA: Final = BySchema.BY_SCHEMA
"""Answer the simplest value of the schema that the request sends; "ok" where it sends none."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer.

    Attributes:
        text: what the model says.
        finish_reason: why it ended, in the words of the API: "STOP", "MAX_TOKENS", "SAFETY", ...
        thought: what it thought first; sent as a part of its own, marked as a thought.
        prompt_tokens: tokens of the prompt; None: an estimate.
        output_tokens: tokens of the answer; None: an estimate.
        thought_tokens: tokens of thinking.
    """

    text: str
    finish_reason: str = "STOP"
    thought: str | None = None
    prompt_tokens: int | None = None
    output_tokens: int | None = None
    thought_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Refusal:
    """An error.

    Attributes:
        status: the HTTP status.
        message: what the server says; None: something that fits.
        retry_after: seconds to wait, None to say nothing about it.
        told_in: where that is said: in the header `retry-after`, or in the body as a `RetryInfo`.
        reason: the API's own name of the reason, such as "API_KEY_INVALID"; None: none.
    """

    status: int
    message: str | None = None
    retry_after: float | None = None
    told_in: Literal["header", "body"] = "header"
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Blocked:
    """A prompt that is refused before a model sees it.

    Attributes:
        reason: in the words of the API: "SAFETY", "PROHIBITED_CONTENT", "OTHER", ...
    """

    reason: str = "SAFETY"


@dataclass(frozen=True, slots=True)
class Raw:
    """Any bytes.

    Attributes:
        body: what is sent.
        status: the HTTP status.
        headers: name -> value, beside the length.
    """

    body: bytes
    status: int = 200
    headers: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Cut:
    """A connection that ends in the middle of an answer.

    Attributes:
        after: bytes of the body that are sent before; None: not even a status line.
    """

    after: int | None = None


@dataclass(frozen=True, slots=True)
class Held:
    """An answer that waits for an event (or for the end of the server).

    Attributes:
        until: what it waits for.
        answer: what is sent then.
    """

    until: threading.Event
    answer: Any = BY_SCHEMA


Answer = str | Reply | Refusal | Blocked | Raw | Cut | Held | BySchema | BaseModel | Mapping[str, Any] | Sequence[Any]
"""One answer. Text is what the model says; a pydantic model, a mapping and a sequence are said as JSON."""


def on_the_wire(answer: object, body: Mapping[str, Any], model: str) -> Raw:
    """Make the bytes of an answer.

    Args:
        answer: any but `Held` and `Cut`.
        body: the request, which is counted and whose schema is looked at.
        model: name of the model.
    """
    match answer:
        case Raw():
            return answer
        case Refusal():
            return _refusal(answer)
        case Blocked():
            return _ok(
                {"promptFeedback": {"blockReason": answer.reason}, **_counted(body, 0, 0), "modelVersion": model}
            )
        case Reply():
            return _ok(_reply(answer, body, model))
        case BySchema():
            config = body.get("generationConfig", {})
            schema = config.get("responseJsonSchema")
            asks_json = config.get("responseMimeType") == "application/json"
            text = json.dumps(example_of(schema or {}, (schema or {}).get("$defs", {}))) if asks_json else "ok"
            return _ok(_reply(Reply(text), body, model))
        case str():
            return _ok(_reply(Reply(answer), body, model))
        case _:
            return _ok(_reply(Reply(json.dumps(to_jsonable_python(answer))), body, model))


def example_of(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Any:
    """Give a simple value that fits a JSON schema.

    Args:
        schema: the schema; nothing in it asks for a value without end.
        definitions: name -> schema, what `#/$defs/NAME` refers to.

    Returns:
        The first choice, the shortest list, the fields that are required.
    """
    if "$ref" in schema:
        return example_of(definitions[schema["$ref"].removeprefix("#/$defs/")], definitions)
    if "enum" in schema:
        return schema["enum"][0]
    for keyword in ("anyOf", "oneOf"):
        if keyword in schema:
            return example_of(schema[keyword][0], definitions)
    match schema.get("type"):
        case "object":
            required = schema.get("required", ())
            fields = schema.get("properties", {}).items()
            return {name: example_of(inner, definitions) for name, inner in fields if name in required}
        case "array":
            first = [example_of(item, definitions) for item in schema.get("prefixItems", ())]
            more = max(0, schema.get("minItems", 0) - len(first))
            return first + [example_of(schema.get("items", {}), definitions) for _ in range(more)]
        case "integer" | "number":
            return min(max(1, schema.get("minimum", 1)), schema.get("maximum", 1))
        case "boolean":
            return True
        case "null":
            return None
        case _:
            return _TEXTS.get(schema.get("format", ""), "text")


_TEXTS = {
    "date": "2024-02-29",
    "date-time": "2024-02-29T12:00:00Z",
    "time": "12:00:00",
    "duration": "PT1H",
    "uuid": "12345678-1234-5678-1234-567812345678",
    "email": "someone@example.org",
    "uri": "https://example.org/",
    "ipv4": "127.0.0.1",
    "ipv6": "::1",
}


def _ok(data: Mapping[str, Any]) -> Raw:
    return Raw(json.dumps(data).encode())


def _reply(reply: Reply, body: Mapping[str, Any], model: str) -> dict[str, Any]:
    parts = [{"text": reply.thought, "thought": True}] if reply.thought is not None else []
    if reply.text:
        parts.append({"text": reply.text})
    output = reply.output_tokens if reply.output_tokens is not None else estimate_tokens(reply.text)
    counted = _counted(body, output, reply.thought_tokens)
    if reply.prompt_tokens is not None:
        counted = _usage(reply.prompt_tokens, output, reply.thought_tokens)
    content = {"content": {"role": "model", **({"parts": parts} if parts else {})}}
    return {
        "candidates": [{**content, "finishReason": reply.finish_reason, "index": 0}],
        **counted,
        "modelVersion": model,
    }


def _counted(body: Mapping[str, Any], output: int, thoughts: int) -> dict[str, Any]:
    turns = [*body.get("contents", ()), body.get("systemInstruction") or {}]
    texts = (part.get("text", "") for turn in turns for part in turn.get("parts", ()))
    return _usage(sum(map(estimate_tokens, texts)), output, thoughts)


def _usage(prompt: int, output: int, thoughts: int) -> dict[str, Any]:
    counts = {"promptTokenCount": prompt, "candidatesTokenCount": output, "totalTokenCount": prompt + output + thoughts}
    return {"usageMetadata": counts | ({"thoughtsTokenCount": thoughts} if thoughts else {})}


def _refusal(refusal: Refusal) -> Raw:
    status = _STATUSES.get(refusal.status, "UNKNOWN")
    message = refusal.message if refusal.message is not None else f"The server was told to answer {refusal.status}."
    error: dict[str, Any] = {"code": refusal.status, "message": message, "status": status}
    details: list[dict[str, Any]] = []
    if refusal.reason is not None:
        details.append({"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": refusal.reason})
    headers = {}
    if refusal.retry_after is not None and refusal.told_in == "header":
        headers["retry-after"] = f"{refusal.retry_after:g}"
    elif refusal.retry_after is not None:
        delay = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": f"{refusal.retry_after:g}s"}
        details.append(delay)
    return Raw(
        json.dumps({"error": error | ({"details": details} if details else {})}).encode(), refusal.status, headers
    )
