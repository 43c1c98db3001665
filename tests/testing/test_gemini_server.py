"""`graphflow.testing`: the server answers as told, accepts what the API accepts, and leaves nothing behind."""

from __future__ import annotations

import contextlib
import http.client
import json
import threading
from typing import Any

import pytest
from pydantic import BaseModel

from graphflow.errors import UsageError
from graphflow.testing import BY_SCHEMA, Answer, Blocked, Cut, GeminiRequest, GeminiServer, Held, Raw, Refusal, Reply

PATH = "/v1beta/models/gemini-2.5-flash:generateContent"
HELLO = {"contents": [{"role": "user", "parts": [{"text": "hello"}]}]}


def post(
    server: GeminiServer, body: Any = HELLO, *, path: str = PATH, key: str | None = "any", **headers: str
) -> tuple[int, Any]:
    """Send a request on a connection of its own; give the status and the answer."""
    connection = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=60)
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    if key is not None:
        sent["x-goog-api-key"] = key
    try:
        connection.request("POST", path, body if isinstance(body, bytes) else json.dumps(body), sent)
        answer = connection.getresponse()
        raw = answer.read()
        return answer.status, json.loads(raw) if answer.getheader("content-type", "").startswith("application") else raw
    finally:
        connection.close()


def text_of(answer: Any) -> str:
    return "".join(part["text"] for part in answer["candidates"][0]["content"]["parts"])


def asking_for(schema: object, **config: Any) -> dict[str, Any]:
    return {
        **HELLO,
        "generationConfig": {"responseMimeType": "application/json", "responseJsonSchema": schema, **config},
    }


class Pair(BaseModel):
    left: int
    right: str


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("hi", "hi"),
        (Reply("hi"), "hi"),
        (Pair(left=1, right="r"), '{"left": 1, "right": "r"}'),
        ({"a": [1]}, '{"a": [1]}'),
        ((1, 2), "[1, 2]"),
        (BY_SCHEMA, "ok"),
    ],
    ids=str,
)
def test_one_answer_for_all(answer: Answer, text: str) -> None:
    """An answer that is no list and no function is the answer to everybody."""
    with GeminiServer(answer) as server:
        for _ in range(2):
            status, data = post(server)
            assert (status, text_of(data)) == (200, text)


def test_a_list() -> None:
    """One answer for each request; a list in a list is an answer; past the end is said so."""
    with GeminiServer(["one", [1, 2]]) as server:
        assert [text_of(post(server)[1]) for _ in range(2)] == ["one", "[1, 2]"]
        status, data = post(server)
    assert status == 400
    assert "has 2 answers, and all are used up" in data["error"]["message"]


def test_a_function() -> None:
    """It sees the request; if it raises, the client is told."""

    def script(request: GeminiRequest) -> Answer:
        return f"{request.model}: {request.text}" if request.system is None else str(1 // 0)

    with GeminiServer(script) as server:
        assert text_of(post(server)[1]) == "gemini-2.5-flash: hello"
        status, data = post(server, {**HELLO, "systemInstruction": {"parts": [{"text": "x"}]}})
    assert status == 500
    assert "the script raised ZeroDivisionError" in data["error"]["message"]


def test_tokens() -> None:
    """Estimated from the texts, unless they are given."""
    with GeminiServer([Reply("x" * 8), Reply("x", "MAX_TOKENS", "hm", 3, 5, 7), Blocked("OTHER")]) as server:
        first, second, third = (post(server)[1] for _ in range(3))
    assert first["usageMetadata"] == {"promptTokenCount": 2, "candidatesTokenCount": 2, "totalTokenCount": 4}
    assert second["usageMetadata"] == {
        "promptTokenCount": 3,
        "candidatesTokenCount": 5,
        "thoughtsTokenCount": 7,
        "totalTokenCount": 15,
    }
    assert second["candidates"][0]["content"]["parts"] == [{"text": "hm", "thought": True}, {"text": "x"}]
    assert second["candidates"][0]["finishReason"] == "MAX_TOKENS"
    assert third["promptFeedback"] == {"blockReason": "OTHER"}
    assert "candidates" not in third


def test_refusals() -> None:
    """The status, its name, the reason, and how long to wait."""
    with GeminiServer(
        [Refusal(429, "slow down", 2, "body", "RATE"), Refusal(599), Raw(b"x", 502, {"content-type": "text/plain"})]
    ) as server:
        status, data = post(server)
        assert (status, data["error"]["status"], data["error"]["message"]) == (429, "RESOURCE_EXHAUSTED", "slow down")
        assert [entry.get("reason", entry.get("retryDelay")) for entry in data["error"]["details"]] == ["RATE", "2s"]
        assert post(server)[1]["error"]["status"] == "UNKNOWN"
        assert post(server) == (502, b"x")


@pytest.mark.parametrize("cut", [Cut(), Cut(0), Cut(5)], ids=str)
def test_cut(cut: Cut) -> None:
    """The connection ends before the answer does."""
    with GeminiServer(cut) as server, pytest.raises((http.client.HTTPException, ConnectionError)):
        post(server)


def test_held() -> None:
    """An answer waits for its event; others do not wait for it."""
    go, arrived = threading.Event(), threading.Event()
    answers: list[Any] = []

    def script(request: GeminiRequest) -> Answer:
        arrived.set()
        return Held(go, "late") if request.text == "hello" else "at once"

    with GeminiServer(script) as server:
        waiting = threading.Thread(target=lambda: answers.append(post(server)))
        waiting.start()
        assert arrived.wait(60)
        assert text_of(post(server, {"contents": [{"parts": [{"text": "other"}]}]})[1]) == "at once"
        assert answers == []
        go.set()
        waiting.join()
    assert text_of(answers[0][1]) == "late"


def test_the_end_lets_everybody_go() -> None:
    """Leaving the block ends held answers, idle connections and threads, and frees the port."""
    before = threading.active_count()
    with GeminiServer(Held(threading.Event())) as server:
        idle = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=60)
        idle.connect()
        url = server.url

        def give_up() -> None:
            with contextlib.suppress(http.client.HTTPException, ConnectionError):
                post(server)  # answered at the end, or cut: what counts is that it does not wait on

        waiting = threading.Thread(target=give_up)
        waiting.start()
    waiting.join()
    idle.close()
    assert threading.active_count() == before
    with pytest.raises(UsageError, match="inside its `with` block only"):
        _ = server.url
    with pytest.raises(ConnectionError):
        http.client.HTTPConnection(url.removeprefix("http://"), timeout=60).connect()


def test_it_can_be_entered_again() -> None:
    """The list goes on where it was, and the requests stay."""
    server = GeminiServer(["one", "two"])
    for text in ("one", "two"):
        with server:
            assert text_of(post(server)[1]) == text
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({**HELLO, "temprature": 1}, 'Unknown name "temprature": Cannot find field'),
        ({**HELLO, "generationConfig": {"maxTokens": 1}}, 'Unknown name "maxTokens" at "generation_config"'),
        ({**HELLO, "generationConfig": 3}, "Invalid value"),
        ({}, "contents is not specified"),
        ({"contents": []}, "contents is not specified"),
        ({"contents": [{"role": "user"}]}, "parts must not be empty"),
        ({"contents": [{"role": "assistant", "parts": [{"text": "x"}]}]}, "valid role: user, model"),
        ({"contents": [{"role": "user", "parts": [{"txt": "x"}]}]}, 'Unknown name "txt" at "contents[0].parts[0]"'),
        ({"contents": [{"role": "user", "parts": [{}]}]}, "required oneof field"),
        ({"contents": ["x"]}, "Invalid value"),
        ([], "The request is no object"),
        (b"{", "Invalid JSON payload"),
        (b"\xff", "Invalid JSON payload"),
        (asking_for({"type": "strin"}), "unknown type"),
        (asking_for(3), "Invalid value"),
        (asking_for({"type": "string", "pattern": "x"}), 'Unknown name "pattern"'),
        (asking_for({"type": "array", "items": {"const": 1}}), 'Unknown name "const" at "response_json_schema[]"'),
        (asking_for({"enum": [True]}), "enum takes strings and numbers"),
        (asking_for({"type": "object", "required": ["x"]}), "required names a property"),
        (asking_for({"$ref": "#/$defs/A"}), "refers to nothing"),
        (asking_for({"$ref": "#/$defs/A", "title": "x", "$defs": {"A": {}}}), "nothing may stand beside $ref"),
        (asking_for({}, responseMimeType="text/plain"), "needs response_mime_type"),
        (asking_for({}, responseSchema={}), "cannot both be set"),
        (
            asking_for(
                {
                    "$ref": "#/$defs/A",
                    "$defs": {"A": {"properties": {"a": {"items": {"$ref": "#/$defs/A"}}}, "required": ["a"]}},
                }
            ),
            "A is cyclic in a required property",
        ),
    ],
    ids=str,
)
def test_what_the_api_does_not_take(body: Any, message: str) -> None:
    """It is answered 400 with a message, recorded, and uses up nothing of a list."""
    with GeminiServer(["one"]) as server:
        status, data = post(server, body)
        assert (status, data["error"]["status"]) == (400, "INVALID_ARGUMENT")
        assert message in data["error"]["message"]
        assert text_of(post(server)[1]) == "one"
    assert len(server.requests) == 2


def test_a_cycle_that_may_be_left_out() -> None:
    """Recursion in a field that is not required is taken; the answer ends."""
    node = {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}, "n": {"type": "integer"}}, "required": ["n"]}
    with GeminiServer() as server:
        assert text_of(post(server, asking_for({**node, "$defs": {"A": node}}))[1]) == '{"n": 1}'


def test_who_may_ask() -> None:
    """A key, the right one, a model that there is, a path that there is, a deadline that is long enough."""
    with GeminiServer(models=["gemini-2.5-*"], api_key="right") as server:
        assert post(server, key=None)[0] == 403
        status, data = post(server, key="wrong")
        assert (status, data["error"]["details"][0]["reason"]) == (400, "API_KEY_INVALID")
        assert post(server, key="right")[0] == 200
        assert post(server, key="right", path=PATH.replace("2.5", "9"))[0] == 404
        assert post(server, key="right", path=PATH.replace("v1beta", "v1"))[0] == 404
        assert post(server, key="right", path=PATH.replace("generate", "count"))[0] == 404
        assert post(server, key="right", x_server_timeout="9")[0] == 400
        assert post(server, key="right", x_server_timeout="10")[0] == 200


def test_what_is_recorded() -> None:
    """The request as it came in; its key is not shown by accident."""
    with GeminiServer() as server:
        post(server, {**asking_for({"type": "null"}), "systemInstruction": {"parts": [{"text": "be"}]}}, key="secret")
        assert repr(server) == f"GeminiServer({server.url})"
    (request,) = server.requests
    assert (request.path, request.model, request.text, request.system) == (PATH, "gemini-2.5-flash", "hello", "be")
    assert request.schema == {"type": "null"}
    assert request.headers["x-goog-api-key"] == "secret"
    assert "secret" not in repr(request)
    assert repr(server) == "GeminiServer(not started)"
    assert server.connections == 1
