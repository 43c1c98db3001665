"""What a function's source says about the route that it chooses."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

import pytest

from graphflow import START, Context, Flow, FunctionAgent, Workflow

GO = "go"


class Kind(Enum):
    """Routes with a name."""

    ONE = 1
    TWO = 2


def constants(ctx: Context) -> str:
    if ctx.iteration > 1:
        ctx.route = "stop"
    else:
        ctx.route = GO
    return "a value"


def members(ctx: Context) -> None:
    ctx.route = Kind.ONE if ctx.iteration > 1 else Kind.TWO


def sometimes(ctx: Context) -> str:
    if ctx.iteration > 1:
        ctx.route = "stop"
    return "a value"


def perhaps_none(ctx: Context) -> bool:
    ctx.route = 1 if ctx.iteration > 1 else None
    return True


def unknown(ctx: Context) -> None:
    ctx.route = ctx.message


def handed_on(ctx: Context) -> None:
    ctx.route = "stop"
    print(ctx)


def only_asked(ctx: Context) -> object:
    return ctx.route


@pytest.mark.parametrize(
    ("func", "chosen"),
    [
        (constants, "Literal['stop', 'go']"),
        (members, "Literal[Kind.ONE, Kind.TWO]"),
        (sometimes, "Literal['stop'] | str"),
        (perhaps_none, "Literal[1] | bool"),
        (unknown, "Any"),
        (handed_on, "Any"),
        (only_asked, "None"),
    ],
)
def test_the_type_of_a_route_is_that_of_what_it_is_set_to(func: Callable[..., object], chosen: str) -> None:
    """With what the function returns, where it may end without a route; whatever is not known is anything."""
    assert str(FunctionAgent(func=func).chosen) == chosen


def judges(ctx: Context) -> str:
    ctx.state["tries"] = 1
    return "good"


def nothing() -> None: ...


def sets(ctx: Context) -> None:
    ctx.state["kind"] = "good"


@pytest.mark.parametrize(
    ("func", "declared", "key"),
    [(judges, None, "route:f"), (judges, ["tries"], "tries"), (sets, None, "kind")],
)
def test_a_function_that_declares_no_key_chooses_by_what_it_returns(
    func: Callable[[Context], object], declared: list[str] | None, key: str
) -> None:
    """Else by the one key that it writes, and so does a function that returns nothing."""
    agent = FunctionAgent("f", func, writes=declared)
    good, bad = (FunctionAgent(name, nothing) for name in ("good", "bad"))
    flow = Flow(Workflow("w", [(START, agent), (agent, {"good": good, "bad": bad})]))
    assert [read.key for read in flow.graph.nodes["w/f#route"].contract.reads] == [key]
    if declared is None:
        assert flow.run_sync().status == "completed"
