"""Requests and replies: usage adds up, and whatever JSON can hold becomes a reply."""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from graphflow.errors import ModelError
from graphflow.models.base import Message, ModelReply, ModelRequest, Usage, estimate_tokens, reply_of

usages = st.builds(Usage, *[st.integers(0, 10**9)] * 3)
plain_data = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


def request(*texts: str, system: str | None = None) -> ModelRequest:
    """Make a request of user turns."""
    return ModelRequest("m", "flow/writer", "writer", system, tuple(Message("user", text) for text in texts))


@given(usages, usages, usages)
def test_usages_add_up(a: Usage, b: Usage, c: Usage) -> None:
    """Addition is that of the numbers: in any order, with nothing as the neutral element."""
    assert a + b == b + a
    assert (a + b) + c == a + (b + c)
    assert a + Usage() == a
    assert (a + b).total_tokens == a.total_tokens + b.total_tokens


def test_the_text_is_the_last_thing_the_user_said() -> None:
    """Earlier turns and the model's own do not count."""
    contents = (Message("user", "first"), Message("user", "last"), Message("model", "answer"))
    assert ModelRequest("m", "n", "a", None, contents).text == "last"
    assert request().text == ""


@given(plain_data.filter(lambda value: not isinstance(value, str)))
def test_data_is_sent_as_json(value: object) -> None:
    """What is not text comes back from its JSON."""
    assert json.loads(reply_of(value, request("q")).text) == value


class _Verdict(BaseModel):
    label: str
    score: Decimal


@dataclass
class _Point:
    x: int


class _Colour(StrEnum):
    RED = "red"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("as it is", "as it is"),
        (_Verdict(label="ü", score=Decimal("0.10")), '{"label":"ü","score":"0.10"}'),
        (_Point(1), '{"x":1}'),
        (_Colour.RED, "red"),
        ([_Point(1), None], '[{"x":1},null]'),
    ],
)
def test_replies_of_values(value: object, text: str) -> None:
    """Models, dataclasses and enums are sent as people would write them."""
    assert reply_of(value, request("q")).text == text


def test_a_reply_is_taken_as_it_is() -> None:
    """Whoever counts tokens exactly may say so."""
    reply = ModelReply("x", Usage(1, 100, 200))
    assert reply_of(reply, request("q")) is reply


@pytest.mark.parametrize("value", [object(), {1: object()}, [b"\xff"]])
def test_what_json_cannot_hold_is_refused(value: object) -> None:
    """The message says who asked and what came."""
    with pytest.raises(ModelError, match=r"`writer` is .*JSON cannot hold"):
        reply_of(value, request("q"))


@given(st.text(), st.lists(st.text(), max_size=3), st.text())
def test_estimates_cover_everything_that_is_sent(system: str, texts: list[str], answer: str) -> None:
    """A quarter of the characters, rounded up for each text."""
    usage = reply_of(answer, request(*texts, system=system)).usage
    assert usage == Usage(1, sum(map(estimate_tokens, [system, *texts])), estimate_tokens(answer))
    assert len(answer) <= 4 * estimate_tokens(answer) < len(answer) + 4
