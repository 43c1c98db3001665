"""Gemini: the models that are named `gemini-*`, asked through google-genai.

::

    export GEMINI_API_KEY=...                       # or GOOGLE_API_KEY
    LlmAgent(name="writer", model="gemini-2.5-flash", ...)
    LlmAgent(name="writer", model=GeminiModel("gemini-2.5-flash", timeout=120), ...)

A name is enough where the environment has a key; an object holds settings of its own. `GOOGLE_GEMINI_BASE_URL` leads to
another server, such as `graphflow.testing.GeminiServer`. google-genai is imported at the first request, not before. It
runs on asyncio only. There is one client for each event loop and its settings; the end of the loop closes it.

This module knows requests and replies, no agents and no runs. It sends a request once: whether to repeat one that failed
is said by `GeminiError.retryable` and decided elsewhere.
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import math
import os
import ssl
import sys
import threading
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from graphflow.errors import UsageError
from graphflow.models.base import ModelReply, ModelRequest
from graphflow.models.gemini_errors import KEY_VARIABLES, GeminiError, explained, tells
from graphflow.models.gemini_replies import reply_from
from graphflow.models.gemini_schema import answer_schema
from graphflow.schema.types import type_of

if TYPE_CHECKING:
    from google import genai
    from google.genai import types

__all__ = ["GeminiError", "GeminiModel", "from_environment"]

BASE_URL_VARIABLE = "GOOGLE_GEMINI_BASE_URL"
_API_VERSION = "v1beta"  # what `v1` lacks: system instructions and JSON schemas
_SHORTEST_DEADLINE = 10
"""Seconds; the API refuses to be told a shorter one."""


@dataclass(frozen=True, slots=True)
class _Settings:
    """What a client is made of.

    Attributes:
        api_key: never shown.
        base_url: where the API is; None: Google's.
        timeout: seconds without a byte after which a request is given up; None: never.
    """

    api_key: str = field(repr=False)
    base_url: str | None
    timeout: float | None


class GeminiModel:
    """A Gemini model.

    Args:
        name: the model's name, such as `gemini-2.5-flash` or `models/gemini-2.5-flash`.
        api_key: the key; None: `GOOGLE_API_KEY`, else `GEMINI_API_KEY`, read at each request.
        base_url: where the API is; None: `GOOGLE_GEMINI_BASE_URL`, else Google's own.
        timeout: seconds to wait for a connection, and for the answer to begin or go on; None: no limit.
        temperature: how freely to choose words; None: the model's default.
        max_output_tokens: most tokens of an answer, thinking included; None: the model's default.

    Raises:
        UsageError: the name is empty, or a number is not positive.
    """

    def __init__(
        self,
        name: str,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        timeout: float | None = 60.0,
        temperature: float | None = None,
        max_output_tokens: int | None = None,
    ) -> None:
        if not name.strip():
            raise UsageError(f"GeminiModel takes the name of a model, such as 'gemini-2.5-flash', got {name!r}")
        if timeout is not None and not (math.isfinite(timeout) and timeout > 0):
            raise UsageError(f"GeminiModel({name!r}): `timeout` is in seconds and more than 0, got {timeout!r}")
        if max_output_tokens is not None and max_output_tokens < 1:
            raise UsageError(f"GeminiModel({name!r}): `max_output_tokens` is at least 1, got {max_output_tokens!r}")
        self.name: str = name
        self._api_key = api_key
        self._base_url = base_url
        self._timeout = timeout
        self._temperature = temperature
        self._max_output_tokens = max_output_tokens

    def __repr__(self) -> str:
        return f"GeminiModel({self.name!r})"

    async def generate(self, request: ModelRequest) -> ModelReply:
        """Ask the model once.

        Args:
            request: what to ask; an output schema is sent along as JSON Schema.

        Returns:
            The answer's text, thoughts left out, and the tokens as Gemini counted them; thinking is output.

        Raises:
            GeminiError: there is no answer: no key, no connection, a refusal, a blocked or a cut answer, an output
                schema that the API cannot express, or an event loop that is not asyncio's. Its fields say whether to
                ask again.
        """
        settings = self._settings()
        loop = _running_loop(self.name)
        if "google.genai" not in sys.modules:  # that takes a second, in which the loop has other things to do
            await asyncio.to_thread(importlib.import_module, "google.genai")
        config = self._config(request)
        client = await _client(loop, settings)
        try:
            response = await client.aio.models.generate_content(
                model=self.name, contents=_contents(request), config=config
            )
        except Exception as error:
            failure = explained(error, self.name, settings.api_key, _address(settings.base_url), settings.timeout)
            if failure is None:
                raise
            # A cause is printed with its text, so one that repeats the key is cut off.
            raise failure from (None if tells(f"{error} {error!r}", settings.api_key) else error)
        return reply_from(response, self.name)

    def _settings(self) -> _Settings:
        key = self._api_key if self._api_key is not None else key_in_environment()
        key = key.strip() if key is not None else ""
        if not key:
            raise GeminiError(f"model `{self.name}` needs an API key: set {KEY_VARIABLES}, or give `api_key`")
        if not (key.isascii() and key.isprintable()) or " " in key:
            raise GeminiError(f"the API key for `{self.name}` holds characters that no key has; copy it again")
        return _Settings(key, self._base_url or os.environ.get(BASE_URL_VARIABLE) or None, self._timeout)

    def _config(self, request: ModelRequest) -> types.GenerateContentConfig:
        from google.genai import types

        asked: dict[str, Any] = {}
        if request.output_schema is not None:
            try:
                schema = answer_schema(type_of(request.output_schema))
            except (UsageError, TypeError) as error:
                raise GeminiError(f"model `{self.name}` cannot be asked by `{request.agent}`: {error}") from error
            if schema is not None:
                asked["response_mime_type"] = "application/json"
            if schema:
                asked["response_json_schema"] = schema
        return types.GenerateContentConfig(
            system_instruction=request.system,
            temperature=self._temperature,
            max_output_tokens=self._max_output_tokens,
            automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
            **asked,
        )


def from_environment(name: str) -> GeminiModel:
    """Make the model of a name; the provider of `gemini-*`.

    Args:
        name: the model's name.

    Raises:
        UsageError: the environment holds no key, so a run need not start.
    """
    if key_in_environment() is None:
        raise UsageError(f"model `{name}` needs an API key: set {KEY_VARIABLES}; nothing was started")
    return GeminiModel(name)


def key_in_environment() -> str | None:
    """Give the key that the environment holds, None if it holds none; `GOOGLE_API_KEY` goes first, as in google-genai."""
    return os.environ.get("GOOGLE_API_KEY", "").strip() or os.environ.get("GEMINI_API_KEY", "").strip() or None


def _contents(request: ModelRequest) -> list[types.Content]:
    from google.genai import types

    return [types.Content(role=turn.role, parts=[types.Part(text=turn.text)]) for turn in request.contents]


def _address(base_url: str | None) -> str:
    """Where requests go, without what else a URL may hold."""
    if base_url is None:
        return "the Gemini API"
    parts = urlsplit(base_url)
    return f"`{parts.scheme}://{parts.netloc.rpartition('@')[2]}`"


@dataclass(slots=True)
class _Open:
    """A client in use, and the generator that closes it."""

    client: genai.Client
    lifetime: AsyncGenerator[None]


_Clients = dict[_Settings, _Open]

_clients: dict[asyncio.AbstractEventLoop, _Clients] = {}
_clients_lock = threading.Lock()


def _running_loop(model: str) -> asyncio.AbstractEventLoop:
    try:
        return asyncio.get_running_loop()
    except RuntimeError as error:
        raise GeminiError(
            f"model `{model}` needs asyncio, on which alone google-genai runs; "
            "run the flow under asyncio, or give it another model"
        ) from error


async def _client(loop: asyncio.AbstractEventLoop, settings: _Settings) -> genai.Client:
    """Give the client of the running loop, made at its first use.

    A connection belongs to the loop that opened it, and nobody tells a model when its loop ends. But a loop that ends
    closes the asynchronous generators that it has begun: so each client lives in one.
    """
    with _clients_lock:
        for closed in [each for each in _clients if each.is_closed()]:
            del _clients[closed]
        clients = _clients.setdefault(loop, {})
    if settings not in clients:
        client, connections = _made(settings)
        lifetime = _lifetime(clients, settings, connections)
        await anext(lifetime)  # gets to its `yield` without a pause
        clients[settings] = _Open(client, lifetime)
    return clients[settings].client


async def _lifetime(clients: _Clients, settings: _Settings, connections: Any) -> AsyncGenerator[None]:
    try:
        yield
    finally:
        ended = clients.pop(settings, None)
        await connections.aclose()
        if ended is not None:
            await ended.client.aio.aclose()
            ended.client.close()
        del ended
        await asyncio.sleep(0)  # old versions of the client start a task when they are dropped


def _made(settings: _Settings) -> tuple[genai.Client, Any]:
    """Make a client over connections of our own.

    With connections of its own it would use whatever HTTP library it finds, each with other exceptions and time-outs,
    and would close them when a copy of the client is dropped.
    """
    from google import genai
    from google.genai import types

    library, trusted = _http()
    connections = library.AsyncClient(timeout=settings.timeout, follow_redirects=True, verify=trusted)
    headers = {}
    if settings.timeout is not None:
        headers["X-Server-Timeout"] = str(max(_SHORTEST_DEADLINE, math.ceil(settings.timeout)))
    client = genai.Client(
        vertexai=False,
        api_key=settings.api_key,
        http_options=types.HttpOptions(
            base_url=settings.base_url,
            api_version=_API_VERSION,
            timeout=math.ceil(settings.timeout * 1000) if settings.timeout is not None else None,
            headers=headers,
            client_args={"verify": trusted},
            async_client_args={"verify": trusted, "ssl": trusted},
            httpx_async_client=connections,
        ),
    )
    return client, connections


@cache
def _http() -> tuple[ModuleType, ssl.SSLContext]:
    """Give the HTTP library of this version of the client, and the certificates to trust: 30 ms for each reading."""
    from google import genai

    order = ("httpx2", "httpx") if int(genai.__version__.partition(".")[0]) >= 3 else ("httpx", "httpx2")
    library = importlib.import_module(next(name for name in order if importlib.util.find_spec(name) is not None))
    return library, library.create_ssl_context()
