"""Placeholders are found, everything else is text as it stands, and `escape` makes any text literal."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict

from graphflow.errors import AbsentKeyError
from graphflow.schema import MISSING
from graphflow.template import Placeholder, Template, escape, parse, render

# Pieces that meet in every order make all the runs of braces there are.
PIECES = st.sampled_from(
    ["{", "}", "{{", "}}", "x", "_y", "é", "1", "²", ".", "?", ":", "user:", "app:", " ", "$", "\n", '"']
)
TEXTS = st.lists(PIECES, max_size=14).map("".join) | st.text(max_size=30)
NAMES = st.sampled_from(["x", "draft", "_private", "été", "user:tier", "app:limit", "temp:x"])
PATHS = st.lists(st.sampled_from(["total", "vendor", "a1"]), max_size=2).map(tuple)


def reader(values: dict[str, object]):
    return lambda name: values.get(name, MISSING)


def nothing(name: str) -> object:
    raise AssertionError(f"{name} was read")


@given(TEXTS)
def test_escaped_text_comes_out_as_it_was(text: str) -> None:
    template = parse(escape(text))
    assert template.placeholders == ()
    assert render(template, nothing) == text


@given(TEXTS)
def test_parts_account_for_the_whole_text(text: str) -> None:
    template = parse(text)
    assert all(part != "" for part in template.parts)
    assert not any(
        isinstance(a, str) and isinstance(b, str) for a, b in zip(template.parts, template.parts[1:], strict=False)
    )
    for placeholder in template.placeholders:
        assert text[placeholder.start : placeholder.end] == f"{{{placeholder.text}{'?' * placeholder.optional}}}"
    if "{{" not in text and "}}" not in text:
        shown = (part if isinstance(part, str) else text[part.start : part.end] for part in template.parts)
        assert "".join(shown) == text


@given(TEXTS, NAMES, PATHS, st.booleans(), TEXTS)
def test_a_placeholder_is_found_between_any_texts(
    before: str, name: str, path: tuple, optional: bool, after: str
) -> None:
    before, after = before.rstrip("{"), after.lstrip("}")
    body = ".".join((name, *path)) + "?" * optional
    template = parse(escape(before) + "{" + body + "}" + escape(after))
    assert [(found.name, found.path, found.optional) for found in template.placeholders] == [(name, path, optional)]
    value: object = "VALUE"
    for field in reversed(path):
        value = {field: value}
    assert render(template, reader({name: value})) == f"{before}VALUE{after}"


@given(TEXTS)
def test_a_value_is_never_a_template(value: str) -> None:
    assert render(parse("<{x}|{y?}>"), reader({"x": value, "y": value})) == f"<{value}|{value}>"


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "{ x }",
        "{0}",
        "{x!r}",
        "{x:>10}",
        "{foo:x}",
        "{user:}",
        "{x-y}",
        "{x.}",
        "{.x}",
        "{x..y}",
        "{x[0]}",
        "{?}",
        "{x??}",
        "{²}",
        "{x.²}",
        '{"a": 1}',
        "{'a': 1}",
        '{"a": {"b": [1, {"c": 2}]}}',
        "body { color: red }",
        "a { color:red }",
        "if (x) { return }",
        "}{",
        "{x",
        "x}",
        "{{{",
        "}}}",
        "{{ x }}",
        "{\nx}",
    ],
)
def test_other_braces_are_text(text: str) -> None:
    assert render(parse(text), nothing) == text


@pytest.mark.parametrize(
    ("text", "rendered"),
    [
        ("{x}", "X"),
        ("{x}{x}", "XX"),
        ("${x}", "$X"),
        ("{{x}}", "{x}"),
        ("{{{x}}}", "{{x}}"),
        ("{{x}", "{X"),
        ("{x}}", "X}"),
        ("{{{x}}", "{{x}"),
        ('{"a": {x}}', '{"a": X}'),
        ('{"a": {"b": {x}}}', '{"a": {"b": X}}'),
        ("{x{x}", "{xX"),
        ("{{x?}}", "{x?}"),
        ("{{user:x.y}}", "{user:x.y}"),
    ],
)
def test_runs_of_braces(text: str, rendered: str) -> None:
    assert render(parse(text), reader({"x": "X"})) == rendered


def test_a_placeholder_knows_its_place() -> None:
    text = "Mind {user:tone} and {{{review.notes?}"
    assert parse(text).parts == (
        "Mind ",
        Placeholder("user:tone", (), False, 5, 16),
        " and {{",
        Placeholder("review", ("notes",), True, 23, 38),
    )
    assert text[23:38] == "{review.notes?}"


def test_values_are_text_or_json() -> None:
    values = {"x": {"a": [1, None, True]}, "n": 1.5, "t": 'say "hi"', "none": None}
    assert render(parse("{x} {n} {t} {none}"), reader(values)) == '{"a": [1, null, true]} 1.5 say "hi" null'


def test_an_absent_required_placeholder_names_key_and_field() -> None:
    with pytest.raises(AbsentKeyError) as raised:
        render(parse("{user:x}"), reader({}))
    assert raised.value.key == "user:x"
    with pytest.raises(AbsentKeyError) as raised:
        render(parse("{invoice.vendor.name}"), reader({"invoice": {"vendor": {}}}))
    assert raised.value.key == "invoice.vendor.name"


def test_an_absent_optional_placeholder_leaves_nothing() -> None:
    assert render(parse("[{x?}{y.z?}{y.z.w?}]"), reader({"y": {}})) == "[]"
    assert render(parse("[{x?}]"), reader({"x": 0})) == "[0]", "a falsy value is a value"


class Vendor(BaseModel):
    model_config = ConfigDict(extra="allow")
    name: str
    _secret: str = "hidden"

    @property
    def shout(self) -> str:
        return self.name.upper()


@dataclass
class Line:
    price: float
    _cost: float = 1.0
    kind = "class attribute"

    def total(self) -> float:
        return self.price


def test_fields_of_models_dataclasses_and_mappings() -> None:
    read = reader({"v": Vendor(name="Ada", city="Turin"), "l": Line(2.5), "m": {"_id": 7, "items": 3}})
    assert render(parse("{v.name} {v.city} {l.price} {m._id} {m.items}"), read) == "Ada Turin 2.5 7 3"


@pytest.mark.parametrize(
    "place",
    [
        "v.__class__",
        "v._secret",
        "v.shout",
        "v.model_dump",
        "v.model_fields",
        "l.total",
        "l._cost",
        "l.kind",
        "l.__dict__",
        "m.keys",
        "s.upper",
    ],
)
def test_nothing_else_can_be_reached(place: str) -> None:
    read = reader({"v": Vendor(name="Ada"), "l": Line(2.5), "m": {}, "s": "text"})
    assert render(parse("{" + place + "?}"), read) == ""
    with pytest.raises(AbsentKeyError):
        render(parse("{" + place + "}"), read)


def test_templates_are_data() -> None:
    assert parse("{x} y") == parse("{x} y") == Template("{x} y", (Placeholder("x", (), False, 0, 3), " y"))
    assert len({parse("{x}"), parse("{x}"), parse("{y}")}) == 2
    with pytest.raises(TypeError, match="a template is text"):
        parse(None)  # type: ignore[arg-type]  # the mistake under test


@pytest.mark.parametrize("piece", ["{", "}", "{x", "{a.", "{user:", "x."])
def test_parsing_is_linear(piece: str) -> None:
    """A quadratic search would take minutes for this."""
    text = piece * 200_000
    assert render(parse(escape(text)), nothing) == text
