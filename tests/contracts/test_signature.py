"""`graphflow.contracts.signature`: parameters are typed reads of the keys they name."""

from __future__ import annotations

import functools
from typing import Annotated, Any

import pytest

from graphflow import Context, Key
from graphflow.contracts.contract import Read
from graphflow.contracts.signature import signature_of
from graphflow.schema import ANY, type_of

INT, STR = type_of(int), type_of(str)


def test_parameters_are_typed_reads() -> None:
    def decide(invoice: dict[str, int], limit: int = 3, note=None) -> str:
        return ""

    signature = signature_of(decide)
    assert signature.reads == (
        Read("invoice", type_of(dict[str, int])), Read("limit", INT, optional=True), Read("note", ANY, optional=True),
    )  # fmt: skip
    assert signature.returns == STR
    assert signature.context is None


def test_an_annotation_may_name_the_key() -> None:
    def greet(tier: Annotated[str, Key("user:tier")], name: Annotated[str, "a note"]) -> None: ...

    assert [(read.key, read.type.text) for read in signature_of(greet).reads] == [("user:tier", "str"), ("name", "str")]


def test_the_context_is_no_read() -> None:
    def annotated(here: Context, topic: str) -> None: ...
    def quoted(here: graphflow.Context, topic: str) -> None: ...  # noqa: F821
    def named(ctx, topic: str) -> None: ...
    def of_a_type(ctx: int) -> None: ...

    for func, name in ((annotated, "here"), (quoted, "here"), (named, "ctx")):
        signature = signature_of(func)
        assert signature.context == name, func
        assert [read.key for read in signature.reads] == ["topic"]
    assert signature_of(of_a_type).context is None
    assert [read.key for read in signature_of(of_a_type).reads] == ["ctx"]


def test_keyword_only_and_positional_only_parameters() -> None:
    def mixed(first: int, /, second: int, *, third: int = 1) -> None: ...

    signature = signature_of(mixed)
    assert [(p.name, p.positional) for p in signature.parameters] == [
        ("first", True),
        ("second", False),
        ("third", False),
    ]
    assert [read.optional for read in signature.reads] == [False, False, True]


def test_callables_other_than_functions() -> None:
    class Scorer:
        def __call__(self, text: str) -> float:
            return 0.0

        def method(self, text: str) -> float:
            return 0.0

    def three(text: str, scale: int, extra: int = 0) -> float:
        return 0.0

    for func in (Scorer(), Scorer().method):
        assert signature_of(func).reads == (Read("text", STR),)
        assert signature_of(func).returns == type_of(float)
    partial = signature_of(functools.partial(three, scale=2))
    assert [(read.key, read.optional) for read in partial.reads] == [("text", False), ("scale", True), ("extra", True)]


def test_what_is_not_annotated_or_cannot_be_resolved_is_unknown() -> None:
    def plain(a, b):
        return a

    def broken(a: NoSuchType, b: int) -> int:  # noqa: F821
        return b

    assert signature_of(plain).reads == (Read("a"), Read("b"))
    assert signature_of(plain).returns == ANY
    assert [read.key for read in signature_of(broken).reads] == ["a", "b"]


def test_what_cannot_be_a_stage_is_refused_with_its_name() -> None:
    def star(*texts: str) -> None: ...
    def keywords(**texts: Any) -> None: ...

    for func in (star, keywords):
        with pytest.raises(TypeError, match=r"takes `\*+texts`; name the keys"):
            signature_of(func)
    with pytest.raises(TypeError, match="has no signature"):
        signature_of(type)
