"""The schema that a model is shown takes exactly the calls that pydantic's validation of the signature takes."""

from __future__ import annotations

import json
import typing
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, Literal, NotRequired

import jsonschema
import pydantic
import typing_extensions
from hypothesis import event, given
from hypothesis import strategies as st

from graphflow.context import Context
from graphflow.tools import FunctionTool


class Colour(Enum):
    """Two colours."""

    RED = "red"
    BLUE = "blue"


class Line(pydantic.BaseModel):
    """A model, with a constraint, an optional field and a list of its own kind."""

    a: Annotated[int, pydantic.Field(ge=0)]
    b: str | None = None
    more: list[Line] = []


class Record(typing_extensions.TypedDict):
    """A typed dictionary with a key that may be missing."""

    a: bool
    b: NotRequired[list[str]]


@dataclass
class Pair:
    """A data class."""

    a: str
    b: float = 0.5


# No literal 0, 1, True or False: pydantic takes one for the other, a JSON schema does not.
SIMPLE = [
    bool,
    int,
    float,
    str,
    type(None),
    Colour,
    Line,
    Record,
    Pair,
    Any,
    Literal["a", "red"],
    Literal[2, -1],
]
HINTS = st.recursive(
    st.sampled_from(SIMPLE),
    lambda inner: st.one_of(
        inner.map(lambda hint: list[hint]),
        inner.map(lambda hint: dict[str, hint]),
        inner.map(lambda hint: typing.Optional[hint]),  # noqa: UP045
        st.tuples(inner, inner).map(lambda pair: tuple[pair]),
        st.tuples(inner, inner).map(lambda pair: typing.Union[pair]),  # noqa: UP007
    ),
    max_leaves=4,
)
# Whole numbers written as `1.0` are left out: JSON Schema calls them integers, JSON does not say.
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-1, 2), st.sampled_from(["", "a", "b", "red"]), st.sampled_from([0.5, -1.5])
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(["a", "b", "c"]), inner, max_size=2)
    ),
    max_leaves=5,
)
NAMES = ["first", "schema", "_id", "class_", "copy"]


@dataclass(frozen=True)
class Shape:
    """A signature: name, annotation, whether there is a default, whether it is given by name only."""

    parameters: tuple[tuple[str, Any, bool], ...]
    keyword_only_from: int
    context_at: int


@st.composite
def shapes(draw: st.DrawFn) -> Shape:
    names = draw(st.lists(st.sampled_from(NAMES), unique=True, max_size=3))
    optional_from = draw(st.integers(0, len(names)))
    parameters = tuple((name, draw(HINTS), index >= optional_from) for index, name in enumerate(names))
    return Shape(parameters, draw(st.integers(0, len(names))), draw(st.integers(0, len(names))))


def function(shape: Shape, *, context: bool = False, strings: bool = False) -> Callable[..., Any]:
    """Write the function and run the source: its annotations are then what a compiler makes of them."""
    scope: dict[str, Any] = {"Context": Context, "__name__": "written"}
    written: list[str] = []
    for index, (name, hint, optional) in enumerate(shape.parameters):
        scope[f"T{index}"] = hint
        written.append(f"{name}: T{index}" + (" = None" if optional else ""))
    written.insert(shape.keyword_only_from, "*")
    if context:
        # A parameter by name only may stand anywhere behind the star, defaults or not.
        place = shape.context_at if shape.context_at > shape.keyword_only_from else len(written)
        written.insert(max(place, shape.keyword_only_from + 1), "tool_context: Context")
    if written[-1] == "*":
        written.pop()
    head = "from __future__ import annotations\n" if strings else ""
    exec(compile(f"{head}def call({', '.join(written)}): ...", "<written>", "exec", dont_inherit=True), scope)
    return scope["call"]


def values_of(hint: Any) -> st.SearchStrategy[Any]:
    """Mostly values that fit, so that both answers come up."""
    adapter = pydantic.TypeAdapter(hint)

    def fits(value: Any) -> bool:
        try:
            adapter.validate_json(json.dumps(value), strict=True)
        except pydantic.ValidationError:
            return False
        return True

    fitting = [value for value in SAMPLES if fits(value)]
    return st.one_of(st.sampled_from(fitting), VALUES) if fitting else VALUES


SAMPLES: list[Any] = [
    None, True, False, 0, 1, 2, 0.5, "", "a", "red", [], {}, [1], ["a"], [[]], [None], [0.5], [True, False], [1, "a"],
    ["red", None], ["a", "red"], {"a": 1}, {"a": True}, {"a": "a"}, {"a": None}, {"a": 1, "b": "b"}, {"a": 0, "c": 1},
    {"a": True, "b": ["a"]}, {"a": "a", "b": 1}, {"a": 1, "more": [{"a": 0}]}, {"a": [1]}, {"a": {"a": 1}}, [{"a": 1}],
    [{"a": True}], [[1], [2]], [["a"]], {"a": ["a"]}, [None, None], [1, 1], [0, True], [{"a": "a"}, {"a": 1}],
]  # fmt: skip


@st.composite
def calls(draw: st.DrawFn) -> tuple[Shape, dict[str, Any]]:
    shape = draw(shapes())
    chosen = {name: hint for name, hint, optional in shape.parameters if draw(st.integers(0, 5)) or optional}
    arguments = {name: draw(values_of(hint)) for name, hint in chosen.items()}
    if draw(st.integers(0, 7)) == 0:
        arguments["other"] = 1
    return shape, arguments


def accepted(func: Callable[..., Any], arguments: dict[str, Any]) -> bool:
    """Whether pydantic lets the function be called with these arguments, as JSON and without guessing."""
    try:
        pydantic.TypeAdapter(func).validate_json(json.dumps(arguments), strict=True)
    except pydantic.ValidationError:
        return False
    return True


@given(calls())
def test_the_schema_takes_what_the_signature_takes(call: tuple[Shape, dict[str, Any]]) -> None:
    """No call that the schema allows is refused by the types, and none that the types allow is refused by the schema."""
    shape, arguments = call
    tool = FunctionTool(function(shape, context=True))
    schema = dict(tool.declaration.parameters)

    assert tool.faults == ()
    jsonschema.Draft202012Validator.check_schema(schema)
    expected = accepted(function(shape), arguments)
    event(f"accepted: {expected}")
    assert jsonschema.Draft202012Validator(schema).is_valid(arguments) == expected


@given(shapes())
def test_a_schema_is_the_same_however_it_is_come_by(shape: Shape) -> None:
    """Parameters keep their order; annotations may be strings; the context, wherever it stands, leaves no trace."""
    plain = FunctionTool(function(shape)).declaration
    again = [
        FunctionTool(function(shape, context=context, strings=strings)).declaration
        for context in (False, True)
        for strings in (False, True)
    ]

    assert list(plain.parameters["properties"]) == [name for name, *_ in shape.parameters]
    assert plain.parameters.get("required", []) == [name for name, _, optional in shape.parameters if not optional]
    assert {json.dumps(each.parameters) for each in again} == {json.dumps(plain.parameters)}
