"""`graphflow.cli.values`: text from the command line to values of the declared types."""

from __future__ import annotations

import json
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphflow.cli.values import parse_value
from graphflow.errors import UsageError
from graphflow.schema import ANY, type_of


@given(st.text())
def test_text_is_taken_as_it_is(text: str) -> None:
    """An input of type str is never read as JSON."""
    assert parse_value("k", text, type_of(str)) == text


@pytest.mark.parametrize(
    ("hint", "values"),
    [
        (int, st.integers()),
        (bool, st.booleans()),
        (list[str], st.lists(st.text())),
        (dict[str, int], st.dictionaries(st.text(), st.integers())),
    ],
)
def test_all_else_is_json(hint: Any, values: st.SearchStrategy[Any]) -> None:
    """What JSON writes is read back."""

    @given(values)
    def read_back(value: object) -> None:
        assert parse_value("k", json.dumps(value), type_of(hint)) == value

    read_back()


def test_text_where_a_type_allows_it() -> None:
    """A union with str and a Literal of strings take bare text; an unknown type takes JSON first."""
    assert parse_value("k", "high", type_of(Literal["high", "low"])) == "high"
    assert parse_value("k", "hello", type_of(str | None)) == "hello"
    assert parse_value("k", "null", type_of(str | None)) is None
    assert parse_value("k", "hello", ANY) == "hello"
    assert parse_value("k", "[1]", ANY) == [1]


@pytest.mark.parametrize(
    ("text", "hint"), [("x", int), ('"3"', int), ("1.5", int), ("maybe", Literal["a"]), ("{", dict[str, int])]
)
def test_what_does_not_fit(text: str, hint: Any) -> None:
    """The message names the input and its type."""
    with pytest.raises(UsageError) as caught:
        parse_value("limit", text, type_of(hint))
    assert "`limit`" in str(caught.value)
    assert type_of(hint).text in str(caught.value)
