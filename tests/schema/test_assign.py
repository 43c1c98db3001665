"""What `assignable` says is what the validator does."""

from __future__ import annotations

import collections.abc as c
import dataclasses
import datetime
import enum
import itertools
import typing as t
from decimal import Decimal

from pydantic import BaseModel, ConfigDict, Field, RootModel

from graphflow.schema import (
    Type,
    TypeMismatch,
    assignable,
    type_of,
    validator,
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


class Wide(t.TypedDict):
    a: bool
    b: str


class Maybe(t.TypedDict):
    a: int
    b: t.NotRequired[str]


class Plain:
    pass


Identity = t.NewType("Identity", int)
DAY = datetime.date(2020, 1, 2)
NOON = datetime.datetime(2020, 1, 2, 12, tzinfo=datetime.UTC)


SAMPLES: dict[t.Any, list[t.Any]] = {
    str: ["", "x"],
    int: [0, 7],
    float: [1.5],
    bool: [True, False],
    type(None): [None],
    Decimal: [Decimal("1.20")],
    datetime.date: [DAY],
    datetime.datetime: [NOON],
    bytes: [b"x"],
    Identity: [3],
    object: [1, Plain()],
    t.Never: [],
    t.Literal["a", "b"]: ["a", "b"],
    t.Literal["a"]: ["a"],
    t.Literal[1, "a"]: [1, "a"],
    t.Literal[True]: [True],
    t.Literal[True, False]: [True, False],
    t.Literal["yes", "no"]: ["yes", "no"],
    Color: list(Color),
    Word: list(Word),
    Level: list(Level),
    t.Literal[Color.RED]: [Color.RED],
    t.Literal[Color.RED, Color.BLUE]: list(Color),
    Model: [Model(), Lax()],
    Lax: [Lax()],
    Data: [Data()],
    Plain: [Plain()],
    Root: [Root([1])],
    Page[int]: [Page[int](item=1)],
    Page[str]: [Page[str](item="")],
    Small: [{"a": 1}],
    Wide: [{"a": True, "b": ""}],
    Maybe: [{"a": 1}, {"a": 1, "b": "x"}],
    int | str: [1, "x"],
    str | int | None: [1, "x", None],
    list[int | str]: [[1, "x"]],
    list[int] | list[str]: [[1], ["x"]],
    list[list[int]]: [[[1]]],
    list[list[float]]: [[[1.5]]],
    c.Callable[[int], str]: [str],
    list[Wide]: [[{"a": True, "b": ""}]],
}
for _base in (str, int, float, bool, Model, Color, Small, t.Literal["a"]):
    _some, _unhashable = SAMPLES[_base], _base in (Model, Small)
    SAMPLES |= {
        list[_base]: [[], _some],
        c.Sequence[_base]: [[], _some, tuple(_some)],
        tuple[_base, ...]: [(), tuple(_some)],
        tuple[_base, _base]: [(_some[0], _some[-1])],
        dict[str, _base]: [{}, {"k": _some[0], "l": _some[-1]}],
        c.Mapping[str, _base]: [{}, {"k": _some[0]}],
        _base | None: [None, *_some],
        c.Collection[_base]: [[], _some, tuple(_some), {} if _unhashable else set(_some)],
        c.Iterable[_base]: [[], _some, tuple(_some), {} if _unhashable else set(_some)],
    }
    if not _unhashable:
        SAMPLES |= {
            set[_base]: [set(), set(_some)],
            frozenset[_base]: [frozenset(_some)],
            dict[_base, str]: [dict.fromkeys(_some, "")],
            c.Set[_base]: [set(_some), frozenset(_some)],
        }


def accepts(hint: object, value: object) -> bool:
    try:
        validator(type_of(hint))(value)
    except TypeMismatch:
        return False
    return True


def test_assignable_says_exactly_what_the_validator_does():
    wrong = [
        f"{type_of(source)} -> {type_of(target)}"
        for source, target in itertools.product(SAMPLES, SAMPLES)
        if assignable(type_of(source), type_of(target)) != all(accepts(target, value) for value in SAMPLES[source])
    ]
    assert wrong == []


def test_unknown_types_fit_everything_and_nothing_raises():
    for hint in ("Unresolved", t.Any, list, dict, list[t.ForwardRef("Unresolved")], dict[str, t.Any]):
        assert assignable(type_of(hint), type_of(hint))
    assert assignable(type_of(dict[str, t.Any]), type_of(dict[str, list[int]]))
    assert assignable(type_of(dict), type_of(Small))
    assert assignable(type_of(list), type_of(list[int]))
    assert assignable(type_of(t.Callable), type_of(c.Callable[[int], str]))
    assert not assignable(type_of(dict[str, int]), type_of(Small))
    for source, target in itertools.product([object(), 3, "x", t.ClassVar, ..., Plain()], SAMPLES):
        assert isinstance(assignable(Type("odd", source), type_of(target)), bool)
        assert isinstance(assignable(type_of(target), Type("odd", source)), bool)


def test_a_class_is_no_type_and_no_callable_of_another_kind():
    assert not assignable(type_of(int), type_of(type))
    assert not assignable(type_of(str), type_of(c.Callable))
    assert assignable(type_of(type[int]), type_of(type))
    assert assignable(type_of(type), type_of(type[int]))
