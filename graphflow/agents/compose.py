"""Agents made of a list of agents: one after another, or side by side.

Each lowers to plain nodes and edges of the graph; none executes anything::

    SequentialAgent  a -> b -> c
    ParallelAgent    fork -> each branch -> join

Loops, conditionals, maps and gates have modules of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, Unpack

from pydantic import BeforeValidator, model_validator

from graphflow.agents.base import Agent, Child
from graphflow.agents.options import Count, Failures, Options, RegionOptions
from graphflow.ir.builder import NO_PASSING, Builder, Passing, Region
from graphflow.ir.nodes import Fork, Group, Join


class Composite(Agent):
    """An agent with a list of agents inside."""

    positional: ClassVar[tuple[str, ...]] = ("name", "sub_agents")

    sub_agents: tuple[Child, ...] = ()

    def children(self) -> Iterator[Agent]:
        """Yield the sub-agents, in order."""
        return iter(self.sub_agents)


class SequentialAgent(Composite):
    """Runs its sub-agents one after another; each sees what those before it wrote.

    Args:
        name: see `Agent`.
        sub_agents: the stages, in order.
    """

    title: ClassVar[str] = "sequence"

    if TYPE_CHECKING:  # type checkers see what may be given without a name

        def __init__(self, name: str, sub_agents: Sequence[Agent] = (), **options: Unpack[Options]) -> None: ...

    @property
    def firsts(self) -> tuple[Agent, ...]:
        """The stage that is given what the node before the sequence gives, in a `Workflow`."""
        return self.sub_agents[:1]

    @property
    def last(self) -> Agent | None:
        """The stage whose value and route are those of the sequence, in a `Workflow`."""
        return self.sub_agents[-1] if self.sub_agents else None

    def lower(self, builder: Builder) -> Region:
        """Chain the stages."""
        region = builder.region("sequence")
        end = chain(region, region.entry, self.sub_agents, region.escalation, passing=region.passing)
        region.edge(end, region.exit)
        return region


def chain(
    region: Region,
    start: str,
    agents: tuple[Agent, ...],
    escalation: str | tuple[str, ...],
    *,
    passing: Passing = NO_PASSING,
) -> str:
    """Place agents one after another.

    Args:
        region: where they are placed.
        start: what leads to the first of them.
        agents: in order, may be empty.
        escalation: ids of the joins that an escalation inside leads to.
        passing: what the first is given and the last gives.

    Returns:
        What leads on from the last of them.
    """
    for place, agent in enumerate(agents, start=1):
        handed = passing.part(first=place == 1, last=place == len(agents))
        part = region.child(agent, escalation=escalation, passing=handed)
        region.edge(start, part.entry)
        start = part.exit
    return start


def _needed(value: object) -> object:
    if value is None or value == "any":
        return value
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ValueError('takes None (wait for all), "any", or the number of successes that end it')
    return value


class ParallelAgent(Composite):
    """Runs its sub-agents side by side, each on the state at the fork; the join unites what they wrote.

    Args:
        name: see `Agent`.
        sub_agents: the branches.
        join: None (default) waits for all branches; "any" or a number ends the region at the first so many successes and
            cancels the rest.
        on_error: "fail" (default): a failed branch fails the region; "collect": the others finish, and the region fails
            only if none succeeds; or, as for every agent, what happens when the region has failed: an agent that runs
            instead, or key -> value to write.
        max_concurrency: how many stages of the region may run at once; None (default) means no cap.
    """

    title: ClassVar[str] = "parallel"

    join: Annotated[Literal["any"] | int | None, BeforeValidator(_needed)] = None
    on_error: Failures = "fail"
    max_concurrency: Count = None

    if TYPE_CHECKING:  # type checkers see what may be given without a name

        def __init__(
            self,
            name: str,
            sub_agents: Sequence[Agent] = (),
            *,
            join: Literal["any"] | int | None = None,
            max_concurrency: int | None = None,
            **options: Unpack[RegionOptions],
        ) -> None: ...

    @model_validator(mode="after")
    def _reachable(self) -> ParallelAgent:
        if isinstance(self.join, int) and self.join > max(len(self.sub_agents), 1):
            raise ValueError(f"`join` waits for {self.join} successes of {len(self.sub_agents)} sub-agents")
        return self

    def lower(self, builder: Builder) -> Region:
        """Fork, one edge for each branch, join."""
        region = builder.region("parallel")
        if not self.sub_agents:
            region.edge(region.entry, region.exit)
            return region
        join = f"{region.id}#join"
        fork = region.add(Fork(f"{region.id}#fork", region.id, group=self._group(join)))
        region.edge(region.entry, fork)
        for agent in self.sub_agents:
            part = region.child(agent, escalation=join if region.looped else ())
            region.edge(fork, part.entry)
            region.edge(part.exit, join)
        region.add(Join(join, region.id))
        region.edge(join, region.exit)
        builder.relay(join)
        return region

    def _group(self, join: str) -> Group | None:
        """How the branches are run; None where it is simply all of them."""
        need = 1 if self.join == "any" else self.join
        collects = self.on_error == "collect"
        if need is None and not collects and self.max_concurrency is None:
            return None
        return Group(join, need=need, failures="collect" if collects else "fail", limit=self.max_concurrency)
