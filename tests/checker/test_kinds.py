"""`graphflow.analysis.kinds`: what it says cannot be never is, for the values that types have."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Literal, NewType, TypedDict

from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from graphflow.analysis import kinds
from graphflow.conditions import field_of
from graphflow.schema import MISSING, type_of


class Line(BaseModel):
    price: float = 1.0


class Invoice(BaseModel):
    line: Line = Line()
    note: str | None = None


@dataclasses.dataclass
class Parcel:
    weight: int = 1


@dataclasses.dataclass(order=True)
class Ranked:
    rank: int = 1


class Memo(TypedDict, total=False):
    title: str


class Kind(enum.Enum):
    BUG = "bug"


class Level(enum.StrEnum):
    LOW = "low"


Score = NewType("Score", int)
VALUES: dict[Any, list[Any]] = {
    int: [0, 1, -3],
    bool: [True, False],
    float: [0.0, 1.5, 1.0],
    str: ["", "a", "low", "bug"],
    bytes: [b"", b"a"],
    type(None): [None],
    Decimal: [Decimal(1)],
    Score: [1, 4],
    Kind: [Kind.BUG],
    Level: [Level.LOW],
    Literal["a", 1]: ["a", 1],
    list[int]: [[], [1]],
    tuple[str, int]: [("a", 1)],
    set[str]: [{"a"}, set()],
    frozenset[str]: [frozenset({"a"})],
    dict[str, Line]: [{}, {"a": Line(), "price": Line()}],
    Invoice: [Invoice(), Invoice(note="a")],
    Line: [Line()],
    Parcel: [Parcel()],
    Ranked: [Ranked()],
    Memo: [{}, {"title": "a"}],
    object: [0, "a", Line()],
}
ANYTHING = [value for values in VALUES.values() for value in values]
HINTS = st.lists(st.sampled_from(list(VALUES)), min_size=1, max_size=3)


def union(hints: list[Any]) -> Any:
    joined = hints[0]
    for hint in hints[1:]:
        joined = joined | hint
    return joined


def outcomes(hints: list[Any], test: Callable[[Any], object]) -> set[str]:
    """What a test comes to for all values of the types: "yes", "no" or "fails"."""
    found = set()
    for hint in hints:
        for value in VALUES[hint]:
            try:
                found.add("yes" if test(value) else "no")
            except (TypeError, ValueError):  # a number that is no byte
                found.add("fails")
    return found


@given(HINTS, st.sampled_from(ANYTHING))
def test_what_cannot_be_never_is(hints: list[Any], other: Any) -> None:
    type_ = type_of(union(hints))
    assert "yes" not in outcomes(hints, lambda value: value == other) or kinds.may_equal(type_, other)
    assert outcomes(hints, lambda value: value < other) == {"fails"} or kinds.may_order(type_, other)
    assert "yes" not in outcomes(hints, lambda value: other in value) or kinds.may_contain(type_, other)
    assert outcomes(hints, len) == {"fails"} or kinds.may_have_length(type_)
    assert not outcomes(hints, lambda value: isinstance(value, str)) & {"yes"} or kinds.may_be_text(type_)


@given(HINTS, HINTS)
def test_types_that_never_meet_have_no_value_in_common(ours: list[Any], theirs: list[Any]) -> None:
    common = any(
        outcomes(theirs, lambda value, one=one: value == one) & {"yes"} for hint in ours for one in VALUES[hint]
    )
    assert not common or kinds.may_meet(type_of(union(ours)), type_of(union(theirs)))


@given(HINTS, st.lists(st.sampled_from(["line", "price", "note", "weight", "title", "a", "b"]), min_size=1, max_size=3))
def test_a_field_that_is_lacking_is_never_there(hints: list[Any], path: list[str]) -> None:
    lacks, others = kinds.lacking([type_of(union(hints))], path)
    found = [field_of(value, path) is not MISSING for hint in hints for value in VALUES[hint]]
    assert not any(found) or others
    assert lacks or others or set(hints) <= {type(None)} or "note" in path


def test_what_is_wrong_is_said_of_plain_types() -> None:
    assert not kinds.may_equal(type_of(int), "3")
    assert not kinds.may_order(type_of(str), 3)
    assert not kinds.may_order(type_of(Invoice), Invoice())
    assert kinds.orders(type_of(Ranked))
    assert not kinds.orders(type_of(Parcel))
    assert not kinds.may_contain(type_of(list[int]), "a")
    assert not kinds.may_have_length(type_of(int | None))
    assert not kinds.may_be_text(type_of(bytes | Kind))
    assert [lack.field for lack in kinds.lacking([type_of(Invoice | None)], ("line", "prise"))[0]] == ["prise"]
