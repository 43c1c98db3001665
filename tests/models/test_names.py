"""`graphflow.models`: which names are like a well-known one."""

from __future__ import annotations

import pytest

from graphflow.models import KNOWN_MODELS, similar_model


@pytest.mark.parametrize(
    "name", [*KNOWN_MODELS, "models/gemini-2.5-pro", "gemini-1.5-pro-002", "gemini-1.5-flash-8b", "tiny"]
)
def test_versions_are_no_spelling(name: str) -> None:
    assert similar_model(name) is None


@pytest.mark.parametrize(
    ("name", "near"),
    [("gemini-2.5-flahs", "flash"), ("gemni-2.5-pro", "pro"), ("gemini-9-pro-previw", "pro-preview")],
)
def test_one_or_two_letters_make_a_name_similar(name: str, near: str) -> None:
    assert (similar_model(name) or "").endswith(near)
