"""Whatever goes into the state comes out equal and unshared, and passes through JSON."""

from __future__ import annotations

import collections.abc as c
import dataclasses
import datetime
import enum
import json
import typing as t
import uuid
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, RootModel

from graphflow.schema import (
    ANY,
    TypeMismatch,
    assignable,
    freeze,
    from_json,
    render_text,
    thaw,
    to_json,
    type_of,
    validator,
)


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Word(enum.StrEnum):
    YES = "yes"
    NO = "no"


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


class Small(t.TypedDict):
    a: int


class Wide(t.TypedDict):
    a: bool
    b: str


class Plain:
    pass


DAY = datetime.date(2020, 1, 2)


_json_leaves = st.sampled_from(
    [
        (str, st.text()),
        (int, st.integers()),
        (float, st.floats(allow_nan=False, allow_infinity=False)),
        (bool, st.booleans()),
        (type(None), st.none()),
        (t.Literal["a", 1], st.sampled_from(["a", 1])),
    ]
)
_hashable_leaves = _json_leaves | st.sampled_from(
    [
        (datetime.date, st.dates()),
        (uuid.UUID, st.uuids()),
        (Color, st.sampled_from(Color)),
        (Decimal, st.decimals(allow_nan=False, allow_infinity=False)),
        (datetime.timedelta, st.timedeltas()),
    ]
)
_models = st.builds(Model, n=st.integers(), tags=st.lists(st.text(), max_size=2))
_leaves = _hashable_leaves | st.sampled_from(
    [
        (Model, _models),
        (Data, st.builds(Data, n=st.integers(), model=_models)),
        (Root, st.lists(st.integers()).map(Root)),
        (Small, st.fixed_dictionaries({"a": st.integers()})),
        (Wide, st.fixed_dictionaries({"a": st.booleans(), "b": st.text()})),
        (Lax, st.builds(Lax, amount=st.decimals(allow_nan=False, allow_infinity=False))),
    ]
)


def _containers(inner):
    def grown(pair):
        hint, values = pair
        return st.sampled_from(
            [
                (list[hint], st.lists(values, max_size=3)),
                (dict[str, hint], st.dictionaries(st.text(), values, max_size=3)),
                (tuple[hint, ...], st.lists(values, max_size=3).map(tuple)),
                (tuple[hint, int], st.tuples(values, st.integers())),
                (hint | None, st.none() | values),
                (c.Sequence[hint], st.lists(values, max_size=3)),
            ]
        )

    return inner.flatmap(grown)


def _sets(pair):
    return st.sampled_from(
        [(set[pair[0]], st.sets(pair[1], max_size=3)), (frozenset[pair[0]], st.frozensets(pair[1], max_size=3))]
    )


TYPED = st.recursive(_leaves | _hashable_leaves.flatmap(_sets), _containers, max_leaves=3)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def accepts(hint: object, value: object) -> bool:
    try:
        validator(type_of(hint))(value)
    except TypeMismatch:
        return False
    return True


@given(st.data(), TYPED, TYPED)
def test_what_is_assignable_validates(data, source, other):
    """Targets are random or wider than the source, so that many pairs are assignable."""
    hint, values = source
    wider = [other[0], hint | None, hint | other[0], c.Sequence[hint], list[hint], tuple[hint, ...]]
    target = data.draw(st.sampled_from(wider))
    given_hint, given_values = data.draw(st.sampled_from([(hint, values), (list[hint], st.lists(values, max_size=2))]))
    value = data.draw(given_values)
    assert accepts(given_hint, value)
    if assignable(type_of(given_hint), type_of(target)):
        assert accepts(target, value)


@given(st.data(), TYPED)
def test_typed_values_pass_through_the_state_and_json(data, pair):
    hint, values = pair
    type_, value = type_of(hint), data.draw(values)
    frozen = freeze(validator(type_)(value), type_)
    assert frozen == value
    assert thaw(frozen) == value
    assert from_json(json.loads(json.dumps(to_json(frozen, type_))), type_) == value
    assert not _shared(value, frozen)
    assert not _shared(frozen, thaw(frozen))


def _shared(left: object, right: object) -> set[int]:
    return _mutable(left) & _mutable(right)


def _mutable(value: object) -> set[int]:
    own = {id(value)} if isinstance(value, (list, dict, set, BaseModel, Data)) else set()
    inner: t.Iterable[object] = ()
    if isinstance(value, (list, tuple, set, frozenset)):
        inner = value
    elif isinstance(value, dict):
        inner = value.values()
    elif isinstance(value, (BaseModel, Data)):
        inner = vars(value).values()
    return own.union(*map(_mutable, inner))


@given(JSON)
def test_untyped_values_are_rebuilt(value):
    frozen = freeze(value, ANY)
    assert frozen == value
    assert not _shared(value, frozen)
    assert from_json(to_json(frozen, ANY), ANY) == value


def test_untyped_values_that_json_cannot_hold_are_refused():
    cyclic: list[object] = []
    cyclic += [cyclic, cyclic]
    deep: object = 1
    for _ in range(100_000):
        deep = [deep]
    values = [
        {1},
        float("nan"),
        float("inf"),
        {1: 2},
        object(),
        Model(),
        Decimal(1),
        b"x",
        cyclic,
        deep,
        [{"a": (DAY,)}],
    ]
    for value in values:
        for type_ in (ANY, type_of(dict[str, t.Any]), type_of("Unresolved")):
            with pytest.raises(TypeMismatch):
                freeze(value, type_)
    assert freeze((1, {"a": (Word.YES,)}), ANY) == [1, {"a": ["yes"]}]
    assert type(freeze(Word.YES, ANY)) is str


@pytest.mark.parametrize(
    ("hint", "value"),
    [(float, float("nan")), (Plain, Plain()), (dict[tuple[int, int], int], {(1, 2): 3}), (bytes, b"\xff")],
)
def test_typed_values_that_json_cannot_hold_are_refused(hint, value):
    with pytest.raises(TypeMismatch):
        freeze(value, type_of(hint))


@given(st.data(), TYPED)
def test_rendered_containers_are_json(data, pair):
    value = data.draw(pair[1])
    if isinstance(value, (list, dict, tuple, BaseModel)):
        json.loads(render_text(value))
