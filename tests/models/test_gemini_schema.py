"""`graphflow.models.gemini_schema`: what the API takes, and nothing lost on the way."""

from __future__ import annotations

import dataclasses
import datetime
import json
import uuid
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal, NotRequired, Optional, Union

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, Json, create_model
from typing_extensions import TypedDict

from graphflow.errors import UsageError
from graphflow.models.gemini_schema import answer_schema
from graphflow.schema import parse_text, type_of
from graphflow.testing.gemini_answers import example_of
from graphflow.testing.gemini_rules import schema_problems


class Mood(Enum):
    GOOD = "good"
    BAD = 2


class Tree(BaseModel):
    name: str
    children: list[Tree] = []


class Endless(BaseModel):
    inner: list[Endless]


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int = 9


class Dog(BaseModel):
    kind: Literal["dog"]
    good: Literal[True]


class Owner(BaseModel):
    pet: Annotated[Cat | Dog, Field(discriminator="kind")] = Field(description="the pet")
    other: Cat = Field(description="one more")


class Span(TypedDict):
    first: int
    last: NotRequired[int]


@dataclasses.dataclass
class Point:
    x: Decimal
    y: float = 0.0


LEAVES = [
    *(str, int, float, bool, None, Decimal, Any, uuid.UUID, datetime.date, datetime.datetime),
    *(Mood, Tree, Owner, Span, Point, Literal["a", "b"], Literal[1, "one", None, True], dict[str, Any], list[Any]),
]


def model_with(fields: list[tuple[Any, bool]]) -> type[BaseModel]:
    named = {
        f"f{number}": (hint, ...) if required else (Optional[hint], None)  # noqa: UP045 - made at run time
        for number, (hint, required) in enumerate(fields)
    }
    return create_model("Made", **named)


TYPES = st.recursive(
    st.sampled_from(LEAVES),
    lambda inner: st.one_of(
        inner.map(lambda hint: list[hint]),
        inner.map(lambda hint: dict[str, hint]),
        st.tuples(inner, inner).map(lambda hints: tuple[hints]),
        st.tuples(inner, inner).map(lambda hints: Union[hints]),  # noqa: UP007 - made at run time
        st.lists(st.tuples(inner, st.booleans()), max_size=4).map(model_with),
    ),
    max_leaves=8,
)


def problems(schema: dict[str, Any]) -> list[str]:
    definitions = schema.get("$defs", {})
    found = list(schema_problems(schema, definitions, "schema"))
    for name, definition in definitions.items():
        found += schema_problems(definition, definitions, name)
    return found


@given(TYPES)
def test_the_api_takes_it_and_the_answer_fits(hint: Any) -> None:
    """Whatever can be expressed is in the words of the API, and a value that fits what was asked fits the type."""
    schema = answer_schema(type_of(hint))
    if schema is None:
        assert hint is str
        return
    assert problems(schema) == [] or schema == {}
    answer = json.dumps(example_of(schema, schema.get("$defs", {})))
    parse_text(answer, type_of(hint))


@pytest.mark.parametrize(
    ("hint", "schema"),
    [
        (str, None),
        (Any, {}),
        (int, {"type": "integer"}),
        (list[str], {"type": "array", "items": {"type": "string"}}),
        (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
        (bool, {"type": "boolean"}),
        (Literal[True], {"type": "boolean", "description": "Always true."}),
        (
            Literal["a", 1, None],
            {"anyOf": [{"type": "string", "enum": ["a"]}, {"type": "integer", "enum": [1]}, {"type": "null"}]},
        ),
        (dict[str, Any], {"type": "object", "additionalProperties": True}),
        (Annotated[str, Field(min_length=3)], {"type": "string", "description": "At least 3 characters."}),
    ],
    ids=str,
)
def test_small_types(hint: Any, schema: dict[str, Any] | None) -> None:
    """By hand."""
    assert answer_schema(type_of(hint)) == schema


def test_a_model() -> None:
    """Fields in their order, types by reference, what cannot be said in keywords in words, tags instead of a tag."""

    class Order(BaseModel):
        """An order."""

        code: str = Field(pattern="^[A-Z]+$", max_length=4, examples=["AB"], description="The code.")
        amount: Annotated[int, Field(gt=0, le=9, multiple_of=3)] = 3
        notes: set[str] = Field(default_factory=set, min_length=1)
        span: Span

    schema = answer_schema(type_of(Order))
    assert schema is not None
    assert schema["propertyOrdering"] == ["code", "amount", "notes", "span"]
    assert schema["required"] == ["code", "span"]
    assert schema["description"] == "An order."
    fields = schema["properties"]
    assert set(fields["code"]["description"].splitlines()) == {
        "The code.",
        "At most 4 characters.",
        "Matches the regular expression ^[A-Z]+$",
        'For example: "AB"',
    }
    assert fields["amount"]["maximum"] == 9
    assert set(fields["amount"]["description"].splitlines()) == {
        "Greater than 0.",
        "A multiple of 3.",
        "If left out: 3",
    }
    assert fields["notes"]["minItems"] == 1
    assert fields["notes"]["description"] == "No item twice."
    assert fields["span"] == {"$ref": "#/$defs/Span"}
    assert "additionalProperties" not in schema


def test_beside_a_reference() -> None:
    """The API takes nothing there, so what is referred to is written out, with the description that belongs here."""
    schema = answer_schema(type_of(Owner))
    assert schema is not None
    assert schema["properties"]["other"]["description"] == "one more"
    assert schema["properties"]["other"]["properties"].keys() == {"kind", "lives"}
    assert schema["properties"]["pet"]["anyOf"] == [{"$ref": "#/$defs/Cat"}, {"$ref": "#/$defs/Dog"}]
    assert "discriminator" not in schema["properties"]["pet"]


def test_recursion() -> None:
    """A type that holds itself is seen at once at the root, and referred to further down."""
    schema = answer_schema(type_of(Tree))
    assert schema is not None
    assert schema["type"] == "object"
    assert schema["properties"]["children"]["items"] == {"$ref": "#/$defs/Tree"}
    assert schema["$defs"].keys() == {"Tree"}


class Patterned(BaseModel):
    by_code: dict[Annotated[str, Field(pattern="^[A-Z]+$")], int]


class Nested(BaseModel):
    payload: list[Json[int]]


class Odd(BaseModel):
    model_config = {"json_schema_extra": {"if": {"required": ["x"]}}}
    x: int = 0


class Opaque:
    pass


class Wide(Enum):
    ONE = ("a", "b")


@pytest.mark.parametrize(
    ("hint", "why"),
    [
        (
            Patterned,
            "`Patterned.by_code` needs the JSON schema keyword `patternProperties`, which the Gemini API does not",
        ),
        (Nested, "`Nested.payload[]` needs the JSON schema keyword `contentMediaType`"),
        (Odd, "`Odd` needs the JSON schema keyword `if`"),
        (Endless, "`Endless` holds itself in the required field `Endless.inner`, which"),
        (list[Endless], "`Endless` holds itself in the required field `Endless.inner`, which"),
        (Opaque, "`Opaque` has no JSON schema"),
        (Wide, "`Wide` is a choice that includes ['a', 'b']"),
    ],
    ids=str,
)
def test_what_cannot_be_said(hint: Any, why: str) -> None:
    """It is refused, with the place, rather than left out."""
    with pytest.raises(UsageError) as raised:
        answer_schema(type_of(hint))
    assert str(raised.value).startswith(why)
    assert "\n" not in str(raised.value)
