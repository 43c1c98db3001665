"""From what Gemini answered to a reply, or to the error that says why there is none.

::

    {"candidates": [{"content": {"parts": [{"text": "hi"}]}, "finishReason": "STOP"}], ...}     ->  ModelReply("hi")
    {"promptFeedback": {"blockReason": "SAFETY"}}       ->  GeminiError: the prompt was blocked (SAFETY); ...

An answer that was cut off is no answer: what is missing of it would be missing downstream, where nobody looks for it.
This module knows the shape of a response, not the library that it comes from.
"""

from __future__ import annotations

from typing import Any

from graphflow.models.base import ModelReply, Usage
from graphflow.models.gemini_errors import GeminiError

_FINISHED = frozenset({"", "STOP", "FINISH_REASON_UNSPECIFIED"})
_BY_CHANCE = frozenset({"OTHER", "MALFORMED_RESPONSE", "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"})
"""Reasons that depend on what was sampled: the next answer may be whole."""


def reply_from(response: Any, model: str) -> ModelReply:
    """Read a response.

    Args:
        response: what Gemini sent, a `GenerateContentResponse` of google-genai.
        model: name of the model, for messages.

    Returns:
        The text of the first candidate, thoughts left out, and the tokens.

    Raises:
        GeminiError: the prompt was blocked, the answer was stopped or cut off, or it is empty.
    """
    usage = _usage(response)
    if not response.candidates:
        feedback = response.prompt_feedback
        reason = _name(feedback.block_reason) if feedback is not None else ""
        if not reason:
            raise GeminiError(f"model `{model}` gave no answer and no reason; try again", retryable=True, usage=usage)
        raise GeminiError(
            f"model `{model}`: the prompt was blocked ({reason}); change what it says or what it quotes", usage=usage
        )
    candidate = response.candidates[0]
    finish = _name(candidate.finish_reason)
    if finish == "MAX_TOKENS":
        raise GeminiError(
            f"model `{model}`: the answer was cut off after {usage.output_tokens} tokens (MAX_TOKENS); "
            "ask for less, or give GeminiModel a larger `max_output_tokens`",
            usage=usage,
        )
    if finish not in _FINISHED:
        by_chance = finish in _BY_CHANCE
        advice = "try again" if by_chance else "change what the prompt says or quotes"
        detail = f": {candidate.finish_message}" if candidate.finish_message else ""
        raise GeminiError(
            f"model `{model}` stopped answering ({finish}{detail}); {advice}", retryable=by_chance, usage=usage
        )
    parts = (candidate.content.parts or []) if candidate.content is not None else []
    text = "".join(part.text for part in parts if part.text and not part.thought)
    if not text:
        raise GeminiError(
            f"model `{model}` gave an empty answer; try again, or say in the prompt what to answer when there is "
            "nothing to say",
            retryable=True,
            usage=usage,
        )
    return ModelReply(text, usage)


def _usage(response: Any) -> Usage:
    counted = response.usage_metadata
    if counted is None:
        return Usage(calls=1)
    return Usage(
        1,
        (counted.prompt_token_count or 0) + (counted.tool_use_prompt_token_count or 0),
        (counted.candidates_token_count or 0) + (counted.thoughts_token_count or 0),
    )


def _name(value: Any) -> str:
    """Name an enumeration's member; "" for none."""
    return "" if value is None else str(getattr(value, "value", value))
