"""`graphflow.errors`: how far apart two names are."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from graphflow.errors import closest, edit_distance

names = st.text("ab_", max_size=9)


def plainly(left: str, right: str) -> int:
    """The same by its definition, without a band."""
    previous = list(range(len(right) + 1))
    for row, a in enumerate(left, 1):
        current = [row]
        for column, b in enumerate(right, 1):
            current.append(min(previous[column] + 1, current[-1] + 1, previous[column - 1] + (a != b)))
        previous = current
    return previous[-1]


@given(names, names, st.integers(0, 12))
def test_distances_are_exact_as_far_as_they_matter(left: str, right: str, most: int) -> None:
    assert edit_distance(left, right, most) == min(plainly(left, right), most + 1)
    assert edit_distance(left, right) == plainly(left, right)


def test_long_names_are_compared_in_a_moment() -> None:
    """Ten thousand letters in full would take a minute."""
    assert closest("k" * 9_999 + "j", ["k" * 10_000, "other"]) == "k" * 10_000
