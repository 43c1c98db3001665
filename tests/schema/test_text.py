"""Values stand readable in prompts, and answers are read leniently."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import typing as t
from decimal import Decimal

import pytest
from pydantic import BaseModel, ConfigDict, Field

from graphflow.schema import (
    TypeMismatch,
    parse_text,
    render_text,
    type_of,
)


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Word(enum.StrEnum):
    YES = "yes"
    NO = "no"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Model(BaseModel):
    n: int = 1
    tags: list[str] = []


class Lax(Model):
    model_config = ConfigDict(strict=False)
    total: Decimal = Field(Decimal("1.20"), alias="amount", serialization_alias="sum")


@dataclasses.dataclass
class Data:
    n: int = 1
    model: Model = dataclasses.field(default_factory=Model)


class Small(t.TypedDict):
    a: int


DAY = datetime.date(2020, 1, 2)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("x", "x"),
        (None, "null"),
        (True, "true"),
        (Decimal("132.00"), "132.00"),
        (DAY, "2020-01-02"),
        (Word.YES, "yes"),
        (Lax(), '{"n": 1, "tags": [], "total": 1.20}'),
        ({"é": (1, None)}, '{"é": [1, null]}'),
        ({"b", "a"}, '["a", "b"]'),
        (Data(), '{"n": 1, "model": {"n": 1, "tags": []}}'),
        ([DAY, Color.RED], '["2020-01-02", "red"]'),
        (Level.LOW, "1"),
    ],
)
def test_values_in_a_prompt(value, text):
    assert render_text(value) == text


@pytest.mark.parametrize(
    ("text", "hint", "value"),
    [
        ('{"n": "3"}', Model, Model(n=3)),
        ('```json\n{"n": 3}\n```', Model, Model(n=3)),
        ("Sure:\n```\n[1]\n```\n", list[int], [1]),
        (" approve\n", t.Literal["approve"], "approve"),
        ('"approve"', t.Literal["approve"], "approve"),
        ("red", Color, Color.RED),
        ("plain words", str, "plain words"),
        ("42", str, "42"),
        ("42", int, 42),
        ("null", str | None, None),
        ("x", t.Any, "x"),
        ("```json\n[1]\n```", t.Any, [1]),
        ("2020-01-02", datetime.date, DAY),
        ('{"a": 1}', Small, {"a": 1}),
    ],
)
def test_answers_are_read_leniently(text, hint, value):
    assert parse_text(text, type_of(hint)) == value


@pytest.mark.parametrize(
    ("text", "hint", "reason"),
    [
        ("{}", Small, "`a`: Field required"),
        ("maybe", t.Literal["yes"], "'yes'"),
        ("[1", list[int], "Invalid JSON"),
        ("", Model, "JSON"),
    ],
)
def test_answers_that_do_not_fit_say_why(text, hint, reason):
    with pytest.raises(TypeMismatch) as caught:
        parse_text(text, type_of(hint))
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)
