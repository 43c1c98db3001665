"""Stand-ins for what a pipeline talks to, for the tests of whoever builds one.

::

    with GeminiServer(["a draft", Refusal(429, retry_after=0.1), "a better draft"]) as server:
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.url)
        monkeypatch.setenv("GEMINI_API_KEY", "any")
        flow.run_sync({...})
    server.requests[0].system

A model that needs no server is `graphflow.ScriptedModel`; a server shows what really goes over the wire. Nothing here
is used by the rest of graphflow.
"""

from __future__ import annotations

from graphflow.testing.gemini import GeminiRequest, GeminiServer
from graphflow.testing.gemini_answers import BY_SCHEMA, Answer, Blocked, Cut, Held, Raw, Refusal, Reply

__all__ = [
    "BY_SCHEMA",
    "Answer",
    "Blocked",
    "Cut",
    "GeminiRequest",
    "GeminiServer",
    "Held",
    "Raw",
    "Refusal",
    "Reply",
]
