"""`graphflow.models.gemini`, through the real client, against a server on this machine.

`test_gemini_versions` runs this file again with other versions of the client.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import anyio
import pytest

from graphflow import Flow, LlmAgent, RunFailed
from graphflow.errors import ModelError, UsageError
from graphflow.models import Message, ModelReply, ModelRequest, Usage, resolve_model
from graphflow.models.gemini import GeminiError, GeminiModel
from graphflow.testing import BY_SCHEMA, Answer, Blocked, Cut, GeminiServer, Held, Raw, Refusal, Reply

KEY = "a-key-that-nobody-may-see"
NAME = "gemini-2.5-flash"
VARIABLES = ("GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL", "GOOGLE_GENAI_USE_VERTEXAI")


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test depends on the keys of whoever runs it."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True, scope="module")
def _nothing_left() -> Iterator[None]:
    """A connection that a test leaves behind is a warning, and so an error, at the end."""
    yield
    gc.collect()


def question(text: str = "hello", schema: object = None, system: str | None = None) -> ModelRequest:
    return ModelRequest(NAME, "flow/asker", "asker", system, (Message("user", text),), schema)


def model_of(server: GeminiServer, **options: Any) -> GeminiModel:
    return GeminiModel(NAME, api_key=KEY, base_url=server.url, **options)


def ask(model: GeminiModel, *requests: ModelRequest) -> list[ModelReply]:
    """Ask in one event loop, one after the other, and end it."""

    async def all_of_them() -> list[ModelReply]:
        return [await model.generate(request) for request in requests or (question(),)]

    return asyncio.run(all_of_them())


def failure(answer: Answer, **options: Any) -> GeminiError:
    """The error that an answer of the server comes to."""
    with GeminiServer(answer) as server, pytest.raises(GeminiError) as raised:
        ask(model_of(server, **options))
    assert KEY not in f"{raised.value}{raised.value!r}"
    assert "\n" not in str(raised.value)
    return raised.value


def test_text() -> None:
    """What is said, by whom, and the system instruction go out; text and tokens come back, thoughts are left out."""
    turns = (Message("user", "one"), Message("model", "two"), Message("user", "three"))
    request = ModelRequest(NAME, "flow/asker", "asker", "Be short.", turns)
    with GeminiServer(Reply("hi", thought="hm", prompt_tokens=7, output_tokens=2, thought_tokens=3)) as server:
        assert ask(model_of(server), request) == [ModelReply("hi", Usage(1, 7, 5))]
    (sent,) = server.requests
    assert (sent.path, sent.system, sent.text) == (f"/v1beta/models/{NAME}:generateContent", "Be short.", "three")
    assert [turn["role"] for turn in sent.body["contents"]] == ["user", "model", "user"]
    assert sent.headers["x-goog-api-key"] == KEY
    assert sent.schema is None
    assert sent.body.keys() <= {"contents", "systemInstruction", "generationConfig"}


def test_settings() -> None:
    """What the object was given goes out; what it was not, does not. The API takes no deadline below ten seconds."""
    with GeminiServer() as server:
        ask(model_of(server, temperature=0.5, max_output_tokens=99, timeout=3))
        ask(model_of(server, timeout=30.5))
        ask(model_of(server, timeout=None))
    first, second, third = server.requests
    assert first.body["generationConfig"] == {"temperature": 0.5, "maxOutputTokens": 99}
    assert first.headers["x-server-timeout"] == "10"
    assert second.body.get("generationConfig", {}) == {}
    assert second.headers["x-server-timeout"] == "31"
    assert "x-server-timeout" not in third.headers


def test_a_name_with_its_kind() -> None:
    """`models/` before the name is the same model."""
    with GeminiServer() as server:
        ask(GeminiModel(f"models/{NAME}", api_key=KEY, base_url=server.url))
    assert server.requests[0].model == NAME


def test_a_schema_goes_out() -> None:
    """A choice is asked for as one; `str` is asked for as text; `object` as any JSON."""
    with GeminiServer() as server:
        replies = ask(model_of(server), *(question(schema=schema) for schema in (Literal["a", "b"], str, object)))
    choice, text, anything = (request.body.get("generationConfig", {}) for request in server.requests)
    assert choice["responseJsonSchema"] == {"type": "string", "enum": ["a", "b"]}
    assert text == {}
    assert anything == {"responseMimeType": "application/json"}
    assert replies[0].text == '"a"'


def test_a_schema_that_cannot_be_expressed() -> None:
    """Nothing is sent."""
    with (
        GeminiServer() as server,
        pytest.raises(GeminiError, match=r"cannot be asked by `asker`: .*no JSON schema") as e,
    ):
        ask(model_of(server), question(schema=threading.Event))
    assert server.requests == []
    assert not e.value.retryable


@pytest.mark.parametrize(
    ("status", "retryable", "advice"),
    [
        (400, False, "does not suit this model"),
        (401, False, "GEMINI_API_KEY or GOOGLE_API_KEY"),
        (403, False, "GEMINI_API_KEY or GOOGLE_API_KEY"),
        (404, False, "name of the model"),
        (408, True, "try again later"),
        (413, False, "see what the server says"),
        (429, True, "raise the quota"),
        (500, True, "try again later"),
        (501, False, "see what the server says"),
        (502, True, "try again later"),
        (503, True, "try again later"),
        (504, True, "try again later"),
    ],
)
def test_refusals(status: int, retryable: bool, advice: str) -> None:
    """Each says what the server said and what to do, and whether to ask again."""
    error = failure(Refusal(status, "because of this"))
    assert isinstance(error, ModelError)
    assert (error.status, error.retryable, error.retry_after) == (status, retryable, None)
    for word in (NAME, str(status), "because of this", advice):
        assert word in str(error)


@pytest.mark.parametrize("told_in", ["header", "body"])
def test_how_long_to_wait(told_in: Literal["header", "body"]) -> None:
    """Wherever the server says it."""
    assert failure(Refusal(429, retry_after=2.5, told_in=told_in)).retry_after == 2.5


def test_how_long_to_wait_as_a_date() -> None:
    """A date counts from the server's own clock; one that has passed means now, and one that is none nothing."""
    date = "Wed, 21 Oct 2015 07:28:00 GMT"
    headers = {"retry-after": "Wed, 21 Oct 2015 07:28:30 GMT", "date": date}
    assert failure(Raw(b"{}", 503, headers)).retry_after == 30.0
    assert failure(Raw(b"{}", 503, {"retry-after": date})).retry_after == 0.0
    assert failure(Raw(b"{}", 503, {"retry-after": "soon"})).retry_after is None


def test_a_wrong_key() -> None:
    """The one 400 that is not about the request."""
    with GeminiServer(api_key="another") as server, pytest.raises(GeminiError, match="GEMINI_API_KEY") as raised:
        ask(model_of(server))
    assert (raised.value.status, raised.value.retryable) == (400, False)


def test_the_key_is_in_no_message() -> None:
    """A server that repeats the key is not repeated; neither is the cause, which a traceback would show."""
    error = failure(Refusal(403, f"the key {KEY} is blocked"))
    assert error.__cause__ is None
    assert error.__suppress_context__
    assert "the key [the key] is blocked" in str(error)
    assert failure(Refusal(403, "blocked")).__cause__ is not None


def test_a_short_key_is_no_secret() -> None:
    """A word for a server that takes any key is not cut out of other words."""
    with (
        GeminiServer(Refusal(403, "any key, anything")) as server,
        pytest.raises(GeminiError, match="any key, anything"),
    ):
        ask(GeminiModel(NAME, api_key="any", base_url=server.url))


@pytest.mark.parametrize(
    "answer",
    [
        Raw(b"<html>bad gateway</html>", 502),
        Raw(b"{", 200),
        Raw(b"[1, 2]", 200),
        Raw(b'{"candidates": 3}', 200),
        Raw(b"", 200),
        Cut(),
        Cut(after=10),
    ],
    ids=str,
)
def test_what_cannot_be_read(answer: Answer) -> None:
    """Half answers, answers of something in between, and no answers may be better next time."""
    assert failure(answer).retryable


def test_no_server() -> None:
    """A connection that is refused is known at once, and may be taken later. The address is shown without secrets."""
    with GeminiServer() as server:
        address = server.url
    with pytest.raises(GeminiError, match="no connection to `http://127") as raised:
        ask(GeminiModel(NAME, api_key=KEY, base_url=address.replace("//", "//me:pass@")))
    assert raised.value.retryable
    assert "pass" not in str(raised.value)


def test_a_slow_server() -> None:
    """Past the time-out there is no answer."""
    error = failure(Held(threading.Event()), timeout=0.05)
    assert "within 0.05 seconds" in str(error)
    assert error.retryable
    assert error.status is None


def test_cancelled() -> None:
    """A call that is cancelled ends as cancelled, at once, and the next one works."""
    arrived = threading.Event()

    def script(request: Any) -> Answer:
        arrived.set()
        return Held(threading.Event()) if request.text == "slow" else "quick"

    async def main(model: GeminiModel) -> str:
        slow = asyncio.ensure_future(model.generate(question("slow")))
        await asyncio.to_thread(arrived.wait, 60)
        slow.cancel()
        with pytest.raises(asyncio.CancelledError):
            await slow
        return (await model.generate(question())).text

    with GeminiServer(script) as server:
        assert asyncio.run(main(model_of(server))) == "quick"


@pytest.mark.parametrize(
    ("answer", "words", "retryable"),
    [
        (Blocked("PROHIBITED_CONTENT"), "the prompt was blocked (PROHIBITED_CONTENT); change what it says", False),
        (Reply("half of", "MAX_TOKENS", thought_tokens=5), "cut off after 7 tokens (MAX_TOKENS); ask for less", False),
        (Reply("", "SAFETY"), "stopped answering (SAFETY); change what the prompt says", False),
        (Reply("", "RECITATION"), "stopped answering (RECITATION)", False),
        (Reply("", "OTHER"), "stopped answering (OTHER); try again", True),
        (Reply(""), "gave an empty answer; try again", True),
        (Reply("", thought="only this"), "gave an empty answer", True),
        (Raw(b"{}"), "no answer and no reason", True),
        (Raw(b'{"candidates": [{"finishReason": "STOP"}]}'), "gave an empty answer", True),
    ],
    ids=str,
)
def test_no_answer(answer: Answer, words: str, retryable: bool) -> None:
    """What is blocked, stopped, cut off or empty is no answer, and the tokens of it are known."""
    error = failure(answer)
    assert words in str(error)
    assert error.retryable is retryable
    assert error.status is None
    assert error.usage is not None
    assert error.usage.calls == 1


def test_one_client_for_a_loop() -> None:
    """Calls in a row share one connection; another loop has its own, and another object with the same settings has not."""
    with GeminiServer() as server:
        ask(model_of(server), *[question()] * 5)
        assert server.connections == 1

        async def two_objects() -> None:
            await model_of(server).generate(question())
            await model_of(server).generate(question())

        asyncio.run(two_objects())
        assert server.connections == 2


def test_side_by_side() -> None:
    """Loops in several threads with several calls each do not disturb each other."""

    def script(request: Any) -> Answer:
        return f"{request.text}!"

    async def main(model: GeminiModel, number: int) -> list[str]:
        asked = [question(f"{number}/{n}") for n in range(20)]
        return [reply.text for reply in await asyncio.gather(*map(model.generate, asked))]

    answers: dict[int, list[str]] = {}
    with GeminiServer(script) as server:
        model = model_of(server)
        threads = [
            threading.Thread(target=lambda n=n: answers.update({n: asyncio.run(main(model, n))})) for n in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert answers == {n: [f"{n}/{m}!" for m in range(20)] for n in range(4)}


def test_a_loop_that_was_not_ended() -> None:
    """Where nobody closes generators, the client of a closed loop is dropped when the next one is made."""
    with GeminiServer() as server:
        model = model_of(server)
        loop = asyncio.new_event_loop()
        assert loop.run_until_complete(model.generate(question())).text == "ok"
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()
        assert ask(model)[0].text == "ok"


def test_trio() -> None:
    """Under another event loop there is one clear error, and nothing is sent."""
    with GeminiServer() as server, pytest.raises(GeminiError, match="needs asyncio, on which alone") as raised:
        anyio.run(model_of(server).generate, question(), backend="trio")
    assert not raised.value.retryable
    assert server.requests == []


def test_by_name(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """A name is enough where the environment has a key and an address."""
    with pytest.raises(UsageError, match=r"`gemini-2.5-flash` needs an API key: set GEMINI_API_KEY or GOOGLE_API_KEY"):
        resolve_model(NAME)
    with GeminiServer() as server:
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.url)
        monkeypatch.setenv("GEMINI_API_KEY", "gemini")
        for key, name in (("gemini", NAME), ("google", f"models/{NAME}")):
            model = resolve_model(name)
            assert isinstance(model, GeminiModel)
            assert model.name == name
            with caplog.at_level(logging.CRITICAL):
                ask(model)
            assert server.requests[-1].headers["x-goog-api-key"] == key
            monkeypatch.setenv("GOOGLE_API_KEY", "google")


def test_the_environment_of_another_product_is_not_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key of the Gemini API does not go to Vertex AI because a variable says so."""
    monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
    with GeminiServer() as server:
        assert ask(model_of(server))[0].text == "ok"


@pytest.mark.parametrize("key", ["", "  ", "two words", "schlüssel", "line\nbreak", None])
def test_keys_that_are_none(key: str | None) -> None:
    """A key that cannot be sent is said to be wrong, without being shown; nothing is sent."""
    with GeminiServer() as server, pytest.raises(GeminiError, match="API key") as raised:
        ask(GeminiModel(NAME, api_key=key, base_url=server.url))
    assert server.requests == []
    assert not raised.value.retryable
    assert not (key or "").strip() or str(key) not in str(raised.value)


def test_what_it_is_made_of() -> None:
    """Wrong settings are refused when the object is made; it shows no key."""
    for name, options in (("", {}), (NAME, {"timeout": 0}), (NAME, {"timeout": float("nan")})):
        with pytest.raises(UsageError):
            GeminiModel(name, **options)
    with pytest.raises(UsageError, match="at least 1"):
        GeminiModel(NAME, max_output_tokens=0)
    assert repr(GeminiModel(NAME, api_key=KEY)) == f"GeminiModel('{NAME}')"


def test_in_a_flow() -> None:
    """Agents run with it; an answer that does not fit the schema stores nothing; runs one after the other work."""
    script = [BY_SCHEMA, "no JSON", Reply("x", "MAX_TOKENS")]
    with GeminiServer(script) as server:
        rate = LlmAgent(
            name="rate", model=model_of(server), instruction="Rate.", prompt="{text}", output_key="n", output_schema=int
        )
        flow = Flow(rate, inputs={"text": str}, outputs=["n"])
        result = flow.run_sync({"text": "well"})
        assert (result.outputs, result.usage.total.input_tokens) == ({"n": 1}, 3)
        for words in ("does not fit", "MAX_TOKENS"):
            with pytest.raises(RunFailed, match=words):
                flow.run_sync({"text": "well"})
    assert [(request.system, request.text) for request in server.requests] == [("Rate.", "well")] * 3


def test_it_is_imported_late() -> None:
    """The client costs a second; nobody pays who does not ask."""
    probe = (
        "import sys, graphflow.models.gemini as g; g.GeminiModel('gemini-x', api_key='k'); "
        "sys.exit('google.genai' in sys.modules)"
    )
    root = Path(__file__).parent.parent.parent
    assert subprocess.run([sys.executable, "-c", probe], cwd=root, check=False).returncode == 0
