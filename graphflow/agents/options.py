"""What constructors of agents share: the options that every agent takes, and how parameters of several agents are read.

::

    class Gate(Agent):
        if TYPE_CHECKING:
            def __init__(self, name: str, require: Any, **options: Unpack[Options]) -> None: ...

It knows no agent kind but what all have in common.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypedDict

from pydantic import BeforeValidator

from graphflow.agents.base import Agent, _handler
from graphflow.conditions import Condition, Ref, as_condition, key
from graphflow.contracts.retry import RetryPolicy


class Options(TypedDict, total=False):
    """The options that every agent takes; see `Agent`."""

    description: str
    ignore: Sequence[str]
    retry: RetryPolicy | int | None
    timeout: float | None
    on_error: Agent | Mapping[str, object] | None
    estimate: float | None


class LeafOptions(TypedDict, total=False):
    """The same for an agent that has a `timeout` of another meaning."""

    description: str
    ignore: Sequence[str]
    retry: RetryPolicy | int | None
    on_error: Agent | Mapping[str, object] | None
    estimate: float | None


class RegionOptions(TypedDict, total=False):
    """The same for agents that run several branches, whose failures can also be collected."""

    description: str
    ignore: Sequence[str]
    retry: RetryPolicy | int | None
    timeout: float | None
    on_error: Agent | Mapping[str, object] | str | None
    estimate: float | None


def to_condition(value: object) -> Condition:
    """Read a parameter that takes a condition.

    Raises:
        ValueError: it is none; pydantic makes the constructor's `TypeError` of it.
    """
    try:
        return as_condition(value)
    except TypeError as error:
        raise ValueError(str(error)) from error


def to_key(value: object) -> Ref:
    """Read a parameter that takes a key or a field of one.

    Raises:
        ValueError: it is neither.
    """
    if isinstance(value, Ref):
        return value
    if isinstance(value, str) and value:
        return key(value)
    raise ValueError('takes a key, such as "category" or key("ticket").field("kind")')


def _failures(value: object) -> object:
    if value is None:
        return "fail"
    if isinstance(value, str):
        if value in ("fail", "collect"):
            return value
        raise ValueError('takes "fail", "collect", an agent to run instead, or a mapping key -> value to write')
    return _handler(value)


def _count(value: object) -> int | None:
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ValueError("takes a number of at least 1, or None")
    return value


Failures = Annotated[Any, BeforeValidator(_failures)]
"""What an agent with several branches does about failures of one."""

Count = Annotated[int | None, BeforeValidator(_count)]
"""A number of at least 1, or None."""
