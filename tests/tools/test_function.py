"""Function tools: what the model is told, what the check is told, and what is wrong with the signature."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any, Literal, Optional

import pydantic
import pytest

from graphflow import Context, EventActions
from graphflow.context import State
from graphflow.contracts.contract import Contract, Read, Write
from graphflow.tools import FunctionTool, ToolFault, as_tool, exit_loop
from graphflow.tools.tool_context import ToolContext

if TYPE_CHECKING:
    from graphflow.context import Context as CallbackContext


class Order(pydantic.BaseModel):
    """An order."""

    number: int
    note: str | None = None


class Clerk:
    """Answers the telephone."""

    def find(self, email: str, *, tool_context: ToolContext) -> str:
        """Find a customer."""
        tool_context.state["found"] = email
        return email

    async def __call__(self, email: str) -> str:
        return email


def refund(order: Order, amount: Decimal, why: Literal["late", "broken"] = "late", *, ctx: Context) -> bool:
    """Pay an order back.

    Not twice.

    Args:
        order: the order.
        amount: in euros.
        ctx: not for the model.
    """
    ctx.state["refunded"] = ctx.state["spent"] + ctx.state.get("spent_before", 0)
    return True


def test_a_declaration_says_what_the_signature_says() -> None:
    """Names, order, types, defaults, prose and the return type are those of the function; the context is not there."""
    declaration = FunctionTool(refund).declaration

    assert (declaration.name, declaration.description) == ("refund", "Pay an order back.")
    assert declaration.returns.text == "bool"
    schema = declaration.parameters
    assert list(schema["properties"]) == ["order", "amount", "why"]
    assert schema["required"] == ["order", "amount"]
    assert schema["additionalProperties"] is False
    assert schema["properties"]["why"] == {"default": "late", "enum": ["late", "broken"], "type": "string"}
    assert schema["properties"]["order"] == {"$ref": "#/$defs/Order", "description": "the order."}
    assert schema["properties"]["amount"]["description"] == "in euros."
    assert schema["$defs"]["Order"]["required"] == ["number"]
    assert "title" not in schema
    assert FunctionTool(refund).faults == ()


def test_a_contract_says_what_the_source_says() -> None:
    """Reads as the source makes them, no write sure, and the declared effect."""
    assert FunctionTool(refund, effect="irreversible").contract == Contract(
        (Read("spent"), Read("spent_before", optional=True)),
        (Write("refunded", sure=False),),
        effect="irreversible",
    )


def test_a_tool_without_context_touches_nothing() -> None:
    """A function that is not given the state cannot read or write it, whatever it does."""

    def add(a: int, b: int = 1) -> int:
        return a + b

    assert FunctionTool(add).contract == Contract()
    assert FunctionTool(add)(2) == 3


def test_exit_loop_escalates() -> None:
    """The tool takes no arguments from the model, and asks for what its contract says."""
    tool = as_tool(exit_loop)
    ctx = Context(State({}), "loop/critic", actions=EventActions())

    exit_loop(ctx)

    assert ctx.actions.escalate
    assert tool.contract == Contract(escalates=True)
    assert tool.declaration.parameters == {"type": "object", "properties": {}, "additionalProperties": False}
    assert tool.description


def test_name_and_description_can_be_given() -> None:
    """What is given replaces what the function says."""
    tool = FunctionTool(lambda: 1, name="one", description="Always one.")

    assert (tool.declaration.name, tool.declaration.description, tool.faults) == ("one", "Always one.", ())


def swapped(order: str, secret: str, limit: int = 3) -> None:
    """Look up."""


@functools.wraps(refund)
def wrapped(*args: Any, **kwargs: Any) -> Any:
    return refund(*args, **kwargs)


CALLABLES: dict[str, tuple[Callable[..., Any], str, str, list[str], str]] = {
    "method": (Clerk().find, "find", "Find a customer.", ["email"], "found"),
    "object": (Clerk(), "Clerk", "Answers the telephone.", ["email"], ""),
    "partial": (functools.partial(swapped, secret="s"), "swapped", "Look up.", ["order", "limit"], ""),
    "partial by position": (functools.partial(swapped, "o"), "swapped", "Look up.", ["secret", "limit"], ""),
    "partial of a method": (functools.partial(Clerk().find), "find", "Find a customer.", ["email"], "found"),
    "wrapped": (wrapped, "refund", "Pay an order back.", ["order", "amount", "why"], "refunded"),
}


@pytest.mark.parametrize("which", CALLABLES)
def test_every_kind_of_callable_is_read(which: str) -> None:
    """Methods, objects, partials and decorated functions stand for the function behind them."""
    func, name, description, parameters, written = CALLABLES[which]
    tool = FunctionTool(func)

    assert (tool.name, tool.description) == (name, description)
    assert list(tool.declaration.parameters["properties"]) == parameters
    assert tool.faults == ()
    assert [write.key for write in tool.contract.writes] == ([written] if written else [])
    assert tool.contract.open == ()


def test_what_a_partial_has_bound_is_not_shown() -> None:
    """A key that was bound for the tool is a secret of the program."""
    assert "s3cret" not in str(FunctionTool(functools.partial(swapped, secret="s3cret")).declaration)


def plain_name(tool_context, n: int) -> None: ...
def optional(n: int, tool_context: ToolContext | None = None) -> None: ...
def old_optional(n: int, context: Optional[ToolContext] = None) -> None: ...  # noqa: UP045
def annotated(n: int, context: Annotated[Context, "mine"]) -> None: ...
def out_of_reach(n: int, context: CallbackContext | None) -> None: ...
def not_a_context(n: int, ctx: str) -> None: ...


@pytest.mark.parametrize("func", [plain_name, optional, old_optional, annotated, out_of_reach])
def test_the_context_is_not_a_parameter_of_the_model(func: Callable[..., Any]) -> None:
    """However it is annotated, the context is handed in."""
    tool = FunctionTool(func)

    assert list(tool.declaration.parameters["properties"]) == ["n"]
    assert tool.faults == ()


def test_an_annotation_outweighs_a_name() -> None:
    """A parameter that is called like the context but asks for text gets text."""
    assert list(FunctionTool(not_a_context).declaration.parameters["properties"]) == ["n", "ctx"]


@dataclass
class Opaque:
    """Holds what JSON cannot."""

    inner: object
    call: Callable[[], int]


class Plain:
    """A class pydantic knows nothing of."""


def bare(a, b: int) -> None: ...
def opaque(a: int, b: Plain) -> None: ...
def callback(a: Callable[[], int]) -> None: ...
def inside(a: list[dict[str, Opaque]]) -> None: ...
def unknown(a: Missing, b: int) -> None: ...  # noqa: F821 # type: ignore[name-defined]
def variadic(a: int, *rest: int, **more: int) -> None: ...
def generator(a: int) -> Iterator[int]:
    yield a


async def stream(a: int) -> AsyncIterator[int]:
    yield a


FAULTS: dict[str, tuple[Callable[..., Any], list[str], list[str], str]] = {
    "no annotation": (bare, ["a"], ["a", "b"], "has no annotation; write its type, as in `a: str`"),
    "a class": (opaque, ["b"], ["a", "b"], "no JSON schema can express its type `Plain`"),
    "a callable": (callback, ["a"], ["a"], "no JSON schema can express its type"),
    "deep inside": (inside, ["a"], ["a"], "no JSON schema can express its type `list[dict[str, Opaque]]`"),
    "an unknown name": (unknown, ["a"], ["a", "b"], "its annotation 'Missing' cannot be resolved"),
    "variadic": (variadic, ["rest", "more"], ["a"], "takes arguments without names"),
    "a generator": (generator, [""], ["a"], "it yields; return the whole result instead"),
    "an async generator": (stream, [""], ["a"], "it yields; return the whole result instead"),
    "no signature": (max, [""], [], "it has no signature that could be read"),
    "a lambda": (lambda: 1, [""], [], "not '<lambda>'; give it a name="),
}


@pytest.mark.parametrize("which", FAULTS)
def test_a_signature_that_a_model_cannot_use_is_a_fault_and_no_error(which: str) -> None:
    """The fault names the parameter and says what to write; the others keep their schema, the faulty one takes anything."""
    func, faulty, parameters, reason = FAULTS[which]
    tool = FunctionTool(func)

    assert [fault.parameter for fault in tool.faults] == faulty
    assert all(reason in fault.reason for fault in tool.faults)
    schema = tool.declaration.parameters
    assert list(schema["properties"]) == parameters
    assert all(schema["properties"][name] == {} for name in faulty if name in parameters)


def test_a_fault_is_data() -> None:
    """Faults are compared and printed."""
    assert FunctionTool(bare).faults == (ToolFault("a", "it has no annotation; write its type, as in `a: str`"),)


def awkward(
    schema: str,
    _id: Annotated[int, pydantic.Field(ge=1, description="counts from 1")],
    model_config: bool = False,
    limit: int = pydantic.Field(default=3, le=10),
    must: int = pydantic.Field(le=10),
    thing: Any = object(),  # noqa: B008
) -> None:
    """Do it.

    Args:
        _id: not this.
        limit: how many.
    """


def test_names_and_defaults_that_models_refuse() -> None:
    """Any parameter name will do; `Field` constrains; a default that JSON cannot hold is only optional."""
    tool = FunctionTool(awkward)

    assert tool.faults == ()
    assert tool.declaration.parameters["properties"] == {
        "schema": {"type": "string"},
        "_id": {"type": "integer", "minimum": 1, "description": "counts from 1"},
        "model_config": {"type": "boolean", "default": False},
        "limit": {"type": "integer", "default": 3, "maximum": 10, "description": "how many."},
        "must": {"type": "integer", "maximum": 10},
        "thing": {},
    }
    assert tool.declaration.parameters["required"] == ["schema", "_id", "must"]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: FunctionTool("refund"), "FunctionTool takes a function, got 'refund'"),
        (lambda: FunctionTool(Clerk), "FunctionTool takes a function, got <class"),
        (lambda: FunctionTool(FunctionTool(refund)), "it is one already"),
        (lambda: FunctionTool(refund, name=3), "parameter `name` is text, got 3"),
        (lambda: FunctionTool(refund, description=b"x"), "parameter `description` is text, got b'x'"),
        (lambda: FunctionTool(refund, effect="some"), "one of none, idempotent, irreversible, got 'some'"),
        (lambda: as_tool(None), "a tool is a function or a FunctionTool, got None"),
        (lambda: as_tool(Clerk), "a tool is a function or a FunctionTool, got <class"),
    ],
)
def test_wrong_python_types_are_refused(make: Callable[[], object], message: str) -> None:
    """What is no function cannot become a tool."""
    with pytest.raises(TypeError) as raised:
        make()

    assert message in str(raised.value)


def test_a_tool_stays_the_tool_it_is() -> None:
    """Options of a tool are not lost where it is put."""
    tool = FunctionTool(refund, name="pay_back")

    assert as_tool(tool) is tool
    assert as_tool(refund).name == "refund"
    assert repr(tool) == "FunctionTool('pay_back')"
