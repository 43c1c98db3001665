"""What the nodes of a `Workflow` hand to one another: a route for the edges, a value for `node_input`.

What a node hands on is that of its last part: of a sequence the last stage, of a nested `Workflow` the node before its end
if there is one such node. A function hands on what it returns, a model agent its answer. A route is looked for in `ctx.route`
where a function sets it, else in what a function without `writes` returns, else in the one key that is written; other
composites have no value but that of the one key that they write::

    route_of(judge, "route:judge")      # Handed("route:judge", Literal["redo", "ok"], reserved=True): what judge() returns
    route_of(critic, "route:critic")    # Handed("verdict", str, reserved=False)

Reserved keys (`route:judge`) are written by the runtime, see `Task.route`. Nothing here knows edges.
"""

from __future__ import annotations

import typing
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from graphflow.agents.base import Agent
from graphflow.agents.custom import BaseAgent
from graphflow.agents.function import FunctionAgent
from graphflow.agents.llm import LlmAgent
from graphflow.agents.map import Flatten, MapAgent
from graphflow.agents.subflow import SubFlow
from graphflow.contracts.contract import Contract
from graphflow.schema import ANY, Type
from graphflow.schema.types import bare


@runtime_checkable
class Passage(Protocol):
    """A composite through which values pass."""

    @property
    def firsts(self) -> Iterable[Agent]:
        """The parts that are given what the composite is given."""

    @property
    def last(self) -> Agent | None:
        """The part whose value and route are the composite's; None if there is no such part."""


@dataclass(frozen=True, slots=True)
class Handed:
    """A key that holds what a node hands on.

    Attributes:
        key: the key.
        type: what it holds.
        reserved: the node has to be told to write it.
        returns: what the node declares to return, which says whether it may choose several routes.
    """

    key: str
    type: Type = ANY
    reserved: bool = True
    returns: Type = ANY

    @property
    def many(self) -> bool:
        """Whether it holds a list of routes rather than one."""
        hints = [bare(type_.hint) for type_ in (self.type, self.returns)]
        return any(hint is list or typing.get_origin(hint) is list for hint in hints)


def route_of(agent: Agent, reserved: str) -> Handed:
    """Say where the route of a node is found.

    Args:
        agent: the node.
        reserved: the reserved key for its route.
    """
    last = _last(agent)
    if isinstance(last, LlmAgent):
        return (
            Handed(reserved, last.answer)
            if last.output_key is None
            else Handed(last.output_key, last.answer, reserved=False)
        )
    chooses = isinstance(last, FunctionAgent) and last.returns_route
    if isinstance(last, (FunctionAgent, BaseAgent)) and (
        last.chosen is not None or chooses or not last.contract.writes
    ):
        returned = last.answer if isinstance(last, FunctionAgent) else ANY
        return Handed(reserved, last.chosen or returned, returns=returned)
    return _written(last, reserved)


def value_of(agent: Agent, reserved: str) -> Handed:
    """Say where the value of a node is found.

    Args:
        agent: the node.
        reserved: the reserved key for its value.
    """
    last = _last(agent)
    if last.leaf:
        return Handed(reserved, last.answer if isinstance(last, (FunctionAgent, LlmAgent)) else ANY)
    return _written(last, reserved)


def wants_input(agent: Agent) -> bool:
    """Whether a node, or a part of it that it is handed on to, asks for the value of the node before."""
    pending = [agent]
    while pending:
        part = pending.pop()
        if isinstance(part, FunctionAgent) and part.wants_input:
            return True
        if isinstance(part, Passage):
            pending.extend(part.firsts)
    return False


def _last(agent: Agent) -> Agent:
    while isinstance(agent, Passage) and agent.last is not None:
        agent = agent.last
    return agent


def _written(agent: Agent, reserved: str) -> Handed:
    """Give the one key that an agent writes, or the reserved one if there is not just one."""
    types = _keys(agent)
    if len(types) != 1:
        return Handed(reserved)
    ((key, type_),) = types.items()
    return Handed(key, type_, reserved=False)


def _keys(agent: Agent) -> dict[str, Type]:
    """The keys that are written where an agent ends: key -> type."""
    found: dict[str, Type] = {}
    pending = [agent]
    while pending:
        part = pending.pop()
        contract = getattr(part, "contract", None)
        if isinstance(contract, Contract):
            for write in contract.writes:
                found[write.key] = write.type if found.get(write.key, write.type) == write.type else ANY
        if isinstance(part, MapAgent):
            for outer in part.collect.values():
                found[outer.key if isinstance(outer, Flatten) else outer] = ANY
        elif isinstance(part, SubFlow):
            found |= {outer.removesuffix("?"): ANY for outer in part.outputs.values()}
        else:
            pending.extend(part.children())
    return found
