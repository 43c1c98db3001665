"""A server on this machine that speaks the Gemini API: what a pipeline sends, checked and kept, and answers to order.

::

    with GeminiServer(["a draft", Refusal(503), "a better draft"]) as server:
        model = GeminiModel("gemini-2.5-flash", api_key="any", base_url=server.url)
        ...
    assert [request.text for request in server.requests] == ["Write.", "Again.", "Again."]

It is plain HTTP on the loopback address, in a thread of its own; any client of the API can be pointed to it, in another
process by `GOOGLE_GEMINI_BASE_URL`. It knows `generateContent`, without streaming, and no client library.
"""

from __future__ import annotations

import contextlib
import json
import re
import socket
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from graphflow.errors import UsageError
from graphflow.testing.gemini_answers import BY_SCHEMA, Answer, Cut, Held, Raw, Refusal, on_the_wire
from graphflow.testing.gemini_rules import refusal_of

_PATH = re.compile(r"/v1beta/models/(?P<model>[^/:]+):(?P<method>\w+)$")
_SHORTEST_DEADLINE = 10
_GLANCE = 0.05
"""Seconds between two looks at whether the server ends, while an answer is held."""


@dataclass(frozen=True, slots=True)
class GeminiRequest:
    """A request as it came in.

    Attributes:
        path: as in the request line.
        model: name of the model, "" if the path names none.
        headers: lower-case name -> value.
        body: the request, read from JSON; empty if it is no JSON object.
    """

    path: str
    model: str
    headers: Mapping[str, str] = field(repr=False)  # the key is in them
    body: Mapping[str, Any]

    @property
    def text(self) -> str:
        """The last turn."""
        contents = self.body.get("contents") or [{}]
        return _text(contents[-1])

    @property
    def system(self) -> str | None:
        """The system instruction, None if there is none."""
        instruction = self.body.get("systemInstruction")
        return _text(instruction) if instruction is not None else None

    @property
    def schema(self) -> Mapping[str, Any] | None:
        """The JSON schema of the answer, None if there is none."""
        schema: Mapping[str, Any] | None = self.body.get("generationConfig", {}).get("responseJsonSchema")
        return schema


Script = Answer | list[Answer] | Callable[[GeminiRequest], Answer]


class GeminiServer:
    """A Gemini API for tests. It listens between entering and leaving a `with` block.

    Args:
        script: what to answer: one answer for all requests, a list with one answer for each request in the order in
            which they come, or a function from request to answer, which is called in one thread for each connection.
            A list inside a list is an answer: `[[1, 2]]` answers `[1, 2]`. See `graphflow.testing.Answer`.
        models: patterns of the names of models that there are; another name is answered 404.
        api_key: the key that is accepted; None: any.

    Attributes:
        requests: what came in, in that order; read it after the requests have been answered.
        connections: how many connections have been opened.

    Requests that the API would not accept (no key, an unknown field, an unknown keyword in a schema) are answered as
    by the API and use up nothing of a list.
    """

    def __init__(
        self, script: Script = BY_SCHEMA, *, models: Sequence[str] = ("gemini-*",), api_key: str | None = None
    ) -> None:
        self.requests: list[GeminiRequest] = []
        self.connections = 0
        self._script = script
        self._used = 0
        self._models = tuple(models)
        self._api_key = api_key
        self._lock = threading.Lock()
        self._ends = threading.Event()
        self._server: _Server | None = None
        self._thread: threading.Thread | None = None

    def __repr__(self) -> str:
        return f"GeminiServer({self.url if self._server is not None else 'not started'})"

    def __enter__(self) -> Self:
        self._ends.clear()
        self._server = _Server(self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(_GLANCE,), name="GeminiServer")
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._server is None or self._thread is None:
            return
        self._ends.set()
        self._server.shutdown()
        self._thread.join()
        self._server.hang_up()
        self._server.server_close()
        self._server = self._thread = None

    @property
    def url(self) -> str:
        """Where it listens, for `base_url` or `GOOGLE_GEMINI_BASE_URL`.

        Raises:
            UsageError: it does not listen.
        """
        if self._server is None:
            raise UsageError("a GeminiServer listens inside its `with` block only")
        return f"http://127.0.0.1:{self._server.server_port}"

    def answer(self, request: GeminiRequest, raw: bytes) -> Raw | Cut:
        """Record a request and choose the answer; waits while it is held.

        Args:
            request: what came in.
            raw: its body.
        """
        with self._lock:
            self.requests.append(request)
            answer: object = self._refused(request, raw)
            if answer is None and not callable(self._script):
                answer = self._next()
        if answer is None and callable(self._script):
            try:
                answer = self._script(request)
            except Exception as error:  # noqa: BLE001 - the script is the user's; a thread has nobody to raise to
                answer = Refusal(500, f"the script raised {type(error).__name__}: {error}")
        while isinstance(answer, Held):
            while not answer.until.wait(_GLANCE) and not self._ends.is_set():
                pass
            answer = answer.answer
        return answer if isinstance(answer, Cut) else on_the_wire(answer, request.body, request.model)

    def _next(self) -> object:
        if not isinstance(self._script, list):
            return self._script
        if self._used == len(self._script):
            return Refusal(400, f"the script of this server has {len(self._script)} answers, and all are used up")
        self._used += 1
        return self._script[self._used - 1]

    def _refused(self, request: GeminiRequest, raw: bytes) -> Refusal | None:
        path = _PATH.match(request.path)
        if path is None or path["method"] != "generateContent":
            return Refusal(404, f"{request.path} is not here; this server knows /v1beta/models/NAME:generateContent")
        key = request.headers.get("x-goog-api-key")
        if not key:
            return Refusal(403, "Method doesn't allow unregistered callers. Please use API Key.")
        if self._api_key is not None and key != self._api_key:
            return Refusal(400, "API key not valid. Please pass a valid API key.", reason="API_KEY_INVALID")
        if not any(fnmatchcase(request.model, pattern) for pattern in self._models):
            return Refusal(404, f"models/{request.model} is not found for API version v1beta.")
        deadline = request.headers.get("x-server-timeout", "")
        if deadline.isdecimal() and int(deadline) < _SHORTEST_DEADLINE:
            return Refusal(400, f"Manually set deadline {deadline}s is too short. Minimum allowed deadline is 10s.")
        try:
            return refusal_of(json.loads(raw))
        except ValueError:
            return Refusal(400, "Invalid JSON payload received.")


def _text(content: Mapping[str, Any]) -> str:
    return "".join(part.get("text", "") for part in content.get("parts", ()))


class _Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    server: _Server

    def do_POST(self) -> None:
        """Answer a request."""
        raw = self.rfile.read(int(self.headers.get("content-length", 0)))
        answer = self.server.owner.answer(self._request(raw), raw)
        if isinstance(answer, Cut):
            self._cut(answer)
            return
        self.send_response_only(answer.status)
        headers = {
            "date": self.date_time_string(),
            "content-type": "application/json; charset=UTF-8",
            **(answer.headers or {}),
        }
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(answer.body)))
        self.end_headers()
        self.wfile.write(answer.body)
        self.wfile.flush()

    def _request(self, raw: bytes) -> GeminiRequest:
        path = _PATH.match(self.path)
        try:
            body = json.loads(raw)
        except ValueError:
            body = {}
        headers = {name.lower(): value for name, value in self.headers.items()}
        return GeminiRequest(
            self.path, path["model"] if path is not None else "", headers, body if isinstance(body, dict) else {}
        )

    def _cut(self, cut: Cut) -> None:
        self.close_connection = True
        if cut.after is not None:
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(cut.after + 1))
            self.end_headers()
            self.wfile.write(b" " * cut.after)
            self.wfile.flush()
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name that the library gives it
        """Say nothing: whoever is interested looks at `GeminiServer.requests`."""


class _Server(ThreadingHTTPServer):
    """Listens, with one thread for each connection, and remembers the connections."""

    daemon_threads = False
    block_on_close = True
    request_queue_size = 1024  # a pipeline opens many connections at once

    def __init__(self, owner: GeminiServer) -> None:
        self.owner = owner
        self._open: set[socket.socket] = set()
        self._open_lock = threading.Lock()
        super().__init__(("127.0.0.1", 0), _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Take a connection."""
        self.owner.connections += 1
        with self._open_lock:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """End a connection."""
        with self._open_lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def hang_up(self) -> None:
        """End all connections; clients keep theirs open in case they need them again."""
        with self._open_lock:
            for connection in self._open:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that has gone away is no error."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)
