"""Merges keep their laws and change nothing; keys refuse what they cannot be."""

from __future__ import annotations

import copy
import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphflow.schema import (
    ANY,
    MISSING,
    Key,
    Merge,
    Type,
    TypeMismatch,
    as_merge,
    type_of,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


_lists = st.lists(st.integers() | st.booleans() | st.lists(st.integers(), max_size=2), max_size=4)
_updates = {
    Merge.append: st.integers() | _lists,
    Merge.extend: _lists,
    Merge.union: _lists,
    Merge.last: JSON,
    Merge.sum: st.integers(),
    Merge.max: st.integers(),
    Merge.min: st.integers(),
    Merge.of(lambda old, new: old.extend(new) or old): _lists,
}


@given(st.data(), st.sampled_from(list(_updates)))
def test_merges_change_nothing_and_keep_the_laws(data, merge):
    updates = data.draw(st.lists(_updates[merge], min_size=1, max_size=4))
    kept, value = copy.deepcopy(updates), MISSING
    for update in updates:
        before = copy.deepcopy(value)
        new = merge.apply(value, update)
        assert value == before
        value = new
    assert updates == kept
    first = merge.apply(MISSING, updates[0])
    start = merge.identity()
    assert start is MISSING or merge.apply(start, updates[0]) == first
    if merge in (Merge.extend, Merge.sum):
        assert first == updates[0]
    if merge.commutative and merge is not Merge.union:
        one, other = updates[0], updates[-1]
        assert merge.apply(one, other) == merge.apply(other, one)


@given(st.sets(st.integers()), st.sets(st.integers()))
def test_union_of_sets_and_of_lists_agree(left, right):
    assert Merge.union.apply(left, right) == left | right
    assert set(Merge.union.apply(list(left), list(right))) == left | right
    assert Merge.union.apply(MISSING, right) == right
    assert Merge.union.apply([1, True], [1.0, 1, {}]) == [1, True, 1.0, {}]


def test_merges_refuse_what_they_cannot_combine():
    for merge, old, update in [
        (Merge.append, "a", "b"),
        (Merge.extend, ["a"], "b"),
        (Merge.sum, 1, "b"),
        (Merge.max, 1, "b"),
    ]:
        with pytest.raises(TypeMismatch, match=merge.name):
            merge.apply(old, update)
    assert Merge.append.update_type(type_of(list[int] | None)) == Type("int")
    assert Merge.append.update_type(type_of(list)) == ANY
    assert Merge.extend.update_type(type_of(list[int])) == Type("list[int]")
    assert as_merge(None) is None
    assert as_merge(max).apply(1, 2) == 2
    assert not as_merge(max).commutative


def test_keys_refuse_arguments_of_the_wrong_type():
    for wrong in [{"name": 3}, {"name": ""}, {"type": 3}, {"merge": "append"}, {"persist": 1}, {"doc": None}]:
        with pytest.raises(TypeError, match="Key"):
            Key(**{"name": "notes", **wrong})
    key = dataclasses.replace(Key("notes", list[str], [], merge=max), persist=True)
    assert key == Key("notes", list[str], default=[], merge=max, persist=True)
    assert hash(key) == hash(copy.copy(key))
