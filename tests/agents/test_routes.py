"""What a function's source says about the route that it chooses."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

import pytest

from graphflow import Context, FunctionAgent

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
