"""`LoopAgent`: again and again, until something says that it is enough.

::

    LoopAgent("polish", [critic, reviser], max_iterations=3, until=key("score") >= 8)
    # header -body-> critic -> reviser -(back)-> header -exit-> join

It lowers to a header that counts and tests, and to the join where the loop ends; it executes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Unpack

from pydantic import Field, field_validator

from graphflow import conditions
from graphflow.agents.base import Agent, Child
from graphflow.agents.compose import Composite, chain
from graphflow.agents.options import Options, to_condition
from graphflow.analysis.profiles import profile_named
from graphflow.conditions import Condition
from graphflow.contracts.contract import Contract, Write
from graphflow.contracts.template import condition_reads
from graphflow.ir.builder import Builder, Region
from graphflow.ir.nodes import BODY, EXHAUSTED, EXIT, Join, LoopHeader
from graphflow.schema import type_of


class LoopAgent(Composite):
    """Runs its sub-agents again and again: at least once, until `until` holds, an agent escalates or the bound is reached.

    Args:
        name: see `Agent`.
        sub_agents: the body, in order.
        max_iterations: the most iterations; None (default) means no bound.
        until: exit test over the state after the body: a condition or a pure function of keys.
        exit_key: key that is given the exit reason: "until", "escalate" or "max_iterations".
        on_exhausted: what reaching the bound means: "continue" (default), "fail", or an agent to run then.
    """

    title: ClassVar[str] = "loop"

    max_iterations: int | None = Field(default=None, strict=True)
    until: Any = None
    exit_key: str | None = None
    on_exhausted: Literal["continue", "fail"] | Child = "continue"

    if TYPE_CHECKING:  # type checkers see what may be given without a name

        def __init__(
            self,
            name: str,
            sub_agents: Sequence[Agent] = (),
            *,
            max_iterations: int | None = None,
            until: Any = None,
            exit_key: str | None = None,
            on_exhausted: Literal["continue", "fail"] | Agent = "continue",
            **options: Unpack[Options],
        ) -> None: ...

    @field_validator("until")
    @classmethod
    def _condition(cls, value: object) -> Condition | None:
        return None if value is None else to_condition(value)

    def children(self) -> Iterator[Agent]:
        """Yield the body and the agent that runs when the bound is reached."""
        yield from self.sub_agents
        if isinstance(self.on_exhausted, Agent):
            yield self.on_exhausted

    def lower(self, builder: Builder) -> Region:
        """Header, body with a back edge to it, and the join where the loop ends."""
        region = builder.region("loop", self._label())
        if not self.sub_agents:
            region.edge(region.entry, region.exit)
            return region
        exhausted: Literal["continue", "fail"] = "fail" if self.on_exhausted == "fail" else "continue"
        contract = Contract(reads=condition_reads([self.until]))
        header = region.add(
            LoopHeader(
                f"{region.id}#header", region.id, contract, self.origin, self.max_iterations, self.until, exhausted
            )
        )
        done = f"{region.id}#exit"
        region.edge(region.entry, header)
        first, *rest = self.sub_agents
        part = region.child(first, escalation=done)
        region.edge(header, part.entry, BODY)
        region.edge(chain(region, part.exit, tuple(rest), done), header, back=True)
        if self.until is not None or (self.max_iterations is not None and not isinstance(self.on_exhausted, Agent)):
            region.edge(header, done, EXIT)
        if isinstance(self.on_exhausted, Agent):
            handler = region.child(self.on_exhausted)
            region.edge(header, handler.entry, EXHAUSTED)
            region.edge(handler.exit, done)
        writes = (
            (Write(self.exit_key, type_of(Literal["until", "escalate", "max_iterations"])),) if self.exit_key else ()
        )
        region.add(Join(done, region.id, Contract(writes=writes), self.origin, exclusive=True, exit_key=self.exit_key))
        region.edge(done, region.exit)
        if profile_named(builder.profile).escalate_crosses_loops:
            builder.relay(done)
        return region

    def _label(self) -> str:
        bound = f"up to {self.max_iterations}" if self.max_iterations is not None else ""
        test = f"until {conditions.text(self.until)}" if self.until is not None else ""
        return ", ".join(part for part in (bound, test) if part)
