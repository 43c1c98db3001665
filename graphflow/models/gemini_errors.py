"""What goes wrong between us and Gemini, said in one exception with fields.

::

    try: ...
    except GeminiError as error:
        if error.retryable: ...        # wait error.retry_after seconds, or as long as you like if that is None

google-genai raises its own exceptions for answers that report an error, those of an HTTP library for everything on the
way, and those of JSON for an answer that is none. This module tells them apart; it imports none of these libraries.
"""

from __future__ import annotations

from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any

from graphflow.errors import ModelError
from graphflow.models.base import Usage

KEY_VARIABLES = "GEMINI_API_KEY or GOOGLE_API_KEY"
RETRYABLE = frozenset({408, 429, 500, 502, 503, 504})
_HTTP_LIBRARIES = frozenset({"httpx", "httpx2"})
_LONGEST_MESSAGE = 400
_SHORTEST_KEY = 8
"""Characters; what is shorter is no secret but a word for a server that takes any key, and would be found in others."""


class GeminiError(ModelError):
    """Gemini gave no answer.

    Attributes:
        retryable: the same request may succeed later.
        retry_after: seconds that the server asked to wait, None if it did not say.
        status: HTTP status of the answer; None if there was none, or if it reported success.
        usage: what the call took all the same, None if that is not known.
    """

    def __init__(
        self,
        message: str,
        *,
        retryable: bool = False,
        retry_after: float | None = None,
        status: int | None = None,
        usage: Usage | None = None,
    ) -> None:
        super().__init__(message)
        self.retryable = retryable
        self.retry_after = retry_after
        self.status = status
        self.usage = usage


def explained(error: Exception, model: str, api_key: str, address: str, timeout: float | None) -> GeminiError | None:
    """Say what an exception of the client means.

    Args:
        error: what was raised.
        model: name of the model.
        api_key: the key; it is taken out of whatever the server says.
        address: where the request went, for the message.
        timeout: seconds that were waited at most.

    Returns:
        The error to raise in its place, None if it is a fault of ours or of the client.
    """
    kinds = {(kind.__module__.partition(".")[0], kind.__name__) for kind in type(error).__mro__}
    if ("google", "APIError") in kinds:
        return _refused(error, model, api_key)
    if isinstance(error, TimeoutError) or any(name == "TimeoutException" for _, name in kinds):
        waited = f" within {timeout:g} seconds" if timeout is not None else ""
        return GeminiError(f"model `{model}`: {address} did not answer{waited}; try again or give more", retryable=True)
    if any((library, "TransportError") in kinds for library in _HTTP_LIBRARIES):
        reason = _clean(str(error) or type(error).__name__, api_key)
        return GeminiError(f"model `{model}`: no connection to {address}: {reason}", retryable=True)
    if any((library, "InvalidURL") in kinds for library in _HTTP_LIBRARIES):
        return GeminiError(f"model `{model}`: {address} is no address; correct the base URL")
    if isinstance(error, (ValueError, TypeError, AttributeError, LookupError)):  # what reading a strange answer raises
        return GeminiError(f"model `{model}`: {address} sent an answer that cannot be read; try again", retryable=True)
    return None


def _refused(error: Any, model: str, api_key: str) -> GeminiError:
    status = int(error.code or 0) or None
    said = _clean(str(error.message or error.status or "no reason given"), api_key)
    retryable = status in RETRYABLE
    about = f"model `{model}`: {status}"
    match status:
        case 400 if "api key" in said.lower():
            advice = f"check {KEY_VARIABLES}"
        case 400:
            advice = "the request does not suit this model"
        case 401 | 403:
            advice = f"check {KEY_VARIABLES} and what the key may use"
        case 404:
            advice = "check the name of the model"
        case 429:
            advice = "wait, ask less at a time, or raise the quota"
        case _:
            advice = "try again later" if retryable else "see what the server says"
    return GeminiError(
        f"{about}: {said}; {advice}", retryable=retryable, retry_after=_asked_to_wait(error), status=status
    )


def tells(text: str, api_key: str) -> bool:
    """Say whether a text gives the key away."""
    return len(api_key) >= _SHORTEST_KEY and api_key in text


def _clean(text: str, api_key: str) -> str:
    """Give text on one line, not too long, without the key."""
    line = " ".join((text.replace(api_key, "[the key]") if tells(text, api_key) else text).split()).rstrip(".;")
    return line if len(line) <= _LONGEST_MESSAGE else line[: _LONGEST_MESSAGE - 3] + "..."


def _asked_to_wait(error: Any) -> float | None:
    """Seconds that the answer asks to wait: by its header, or by a `RetryInfo` in its body."""
    headers = getattr(error.response, "headers", None) or {}
    told = _seconds(headers.get("retry-after"), headers.get("date"))
    return told if told is not None else _retry_info(error.details)


def _seconds(after: object, now: object) -> float | None:
    """Read the header: seconds, or a date, which counts from the server's own."""
    if not isinstance(after, str):
        return None
    try:
        return max(0.0, float(after))
    except ValueError:
        pass
    try:
        return max(0.0, (parsedate_to_datetime(after) - parsedate_to_datetime(str(now))).total_seconds())
    except (TypeError, ValueError):
        return None


def _retry_info(details: object) -> float | None:
    body = details.get("error", details) if isinstance(details, Mapping) else {}
    entries = body.get("details") if isinstance(body, Mapping) else None
    for entry in entries if isinstance(entries, list) else []:
        delay = entry.get("retryDelay") if isinstance(entry, Mapping) else None
        if isinstance(delay, str):
            try:
                return max(0.0, float(delay.removesuffix("s")))
            except ValueError:
                return None
    return None
