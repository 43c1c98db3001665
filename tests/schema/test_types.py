"""Types have readable, stable names and known fields; values are validated and never converted."""

from __future__ import annotations

import collections.abc as c
import copy
import dataclasses
import enum
import pickle
import typing as t
from decimal import Decimal

import pytest
from pydantic import BaseModel, ConfigDict, Field, RootModel

from graphflow.schema import (
    MISSING,
    Key,
    Type,
    TypeMismatch,
    closed_values,
    fields_of,
    type_of,
    validator,
)


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Model(BaseModel):
    n: int = 1
    tags: list[str] = []


class Lax(Model):
    model_config = ConfigDict(strict=False)
    total: Decimal = Field(Decimal("1.20"), alias="amount", serialization_alias="sum")


class Root(RootModel[list[int]]):
    pass


@dataclasses.dataclass
class Data:
    n: int = 1
    model: Model = dataclasses.field(default_factory=Model)


Parameter = t.TypeVar("Parameter")


class Page(BaseModel, t.Generic[Parameter]):
    item: Parameter


class Small(t.TypedDict):
    a: int


class Maybe(t.TypedDict):
    a: int
    b: t.NotRequired[str]


class Tree(t.TypedDict):
    name: str
    under: list[Tree]


Identity = t.NewType("Identity", int)


def accepts(hint: object, value: object) -> bool:
    try:
        validator(type_of(hint))(value)
    except TypeMismatch:
        return False
    return True


@pytest.mark.parametrize(
    ("hint", "text"),
    [
        (str, "str"),
        (None, "None"),
        (t.Any, "Any"),
        (t.Optional[str], "str | None"),  # noqa: UP045 - the old spelling
        (t.Union[None, int, str], "int | str | None"),  # noqa: UP007 - the old spelling
        (list[str], "list[str]"),
        (dict[str, t.Any], "dict[str, Any]"),
        (Model, "Model"),
        (t.Literal["a", 1, Color.RED], "Literal['a', 1, Color.RED]"),
        (t.Annotated[str, Key("user:tier", default=[])], "str"),
        (t.Annotated[int, Field(ge=0)], "int"),
        ("Invoice", "Invoice"),
        (list[t.ForwardRef("Invoice")], "list[Invoice]"),
        (Small, "Small"),
        (c.Callable[[int], str], "Callable[[int], str]"),
        (tuple[int, ...], "tuple[int, ...]"),
        (tuple[()], "tuple[()]"),
        (Identity, "Identity"),
        (Page[int], "Page[int]"),
        (t.Never, "Never"),
        (Type("x"), "x"),
        (t.Required[int], "int"),
    ],
)
def test_types_have_readable_names(hint, text):
    assert type_of(hint).text == text
    assert type_of(hint) == Type(text)


@pytest.mark.parametrize("value", [3, [str], {"a": int}, (int, 3), True])
def test_values_are_no_types(value):
    with pytest.raises(TypeError, match="is a value where a type is expected"):
        type_of(value)


def test_fields_and_closed_values():
    assert fields_of(type_of(Model)) == {"n": Type("int"), "tags": Type("list[str]")}
    assert fields_of(type_of(Data | None)) == {"n": Type("int"), "model": Type("Model")}
    assert fields_of(type_of(Maybe)) == {"a": Type("int"), "b": Type("str")}
    assert fields_of(type_of(Model | Data)) is None
    assert fields_of(type_of(dict[str, int])) is None
    assert closed_values(type_of(t.Literal["a"] | bool | None)) == ("a", True, False, None)
    assert closed_values(type_of(Color)) == tuple(Color)
    assert closed_values(type_of(str | bool)) is None


def test_missing_is_one_falsy_value():
    assert not MISSING
    assert repr(MISSING) == "MISSING"
    assert pickle.loads(pickle.dumps(MISSING)) is copy.deepcopy(MISSING) is MISSING


@pytest.mark.parametrize(
    ("hint", "value"),
    [
        (int, "3"),
        (int, 1.0),
        (float, Decimal("1.2")),
        (list[float], [Decimal("1.2")]),
        (str, 3),
        (Model, {"n": 1}),
        (Lax, {"n": 1}),
        (list[Lax], [{"n": 1}]),
        (Data, {"n": 1}),
        (Root, [1]),
        (Page[int], {"item": 1}),
        (list[str], "ab"),
        (c.Sequence[str], "ab"),
        (list[int], (1,)),
        (t.Literal[1], True),
        (Color, "red"),
        (Small, {"b": 1}),
        (bool, 1),
    ],
)
def test_nothing_is_converted_to_fit(hint, value):
    with pytest.raises(TypeMismatch) as caught:
        validator(type_of(hint))(value)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(f"expected {type_of(hint).text}, got {type(value).__name__} (")


def test_messages_are_short_and_say_where():
    with pytest.raises(TypeMismatch) as caught:
        validator(type_of(list[str]))(3)
    assert str(caught.value) == "expected list[str], got int (3)"
    with pytest.raises(TypeMismatch) as caught:
        validator(type_of(dict[str, list[int]]))({"k": [1, "x" * 1000]})
    assert "`k[1]`: Input should be a valid integer" in str(caught.value)
    assert len(str(caught.value)) < 200


def test_values_come_back_as_they_are():
    assert type(validator(type_of(float))(3)) is int
    assert validator(type_of(list[float]))([10**400, True]) == [10**400, True]
    assert validator(type_of(Small))({"a": 1, "more": 2}) == {"a": 1, "more": 2}
    assert accepts(Tree, {"name": "a", "under": [{"name": "b", "under": []}]})
    assert not accepts(t.Annotated[int, Field(ge=0)], -1)
    assert accepts(c.Iterable[int], [1])
