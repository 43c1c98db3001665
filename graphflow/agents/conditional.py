"""`ConditionalAgent`: exactly one of several agents, or none where that is said.

::

    ConditionalAgent("triage", on=key("category"), cases={"BUG": engineer, "HOW": writer}, default=PASS)
    # branch -BUG-> engineer -> join, branch -HOW-> writer -> join, branch -default-> join

It lowers to a branch, one edge for each arm and a join; it executes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar, Unpack

from pydantic import Field, field_validator, model_validator

from graphflow import conditions
from graphflow.agents.base import Agent, Child
from graphflow.agents.options import Options, to_condition, to_key
from graphflow.conditions import Condition, Is, Ref
from graphflow.contracts.contract import Contract
from graphflow.contracts.template import condition_reads
from graphflow.ir.builder import Builder, Region
from graphflow.ir.nodes import (
    BODY,
    EMPTY,
    ERROR,
    ESCALATE,
    EXHAUSTED,
    EXIT,
    NEXT,
    POSSIBLE_ESCALATE,
    Arm,
    Branch,
    Join,
    called,
)

_TAKEN = ("default", NEXT, BODY, EXIT, EXHAUSTED, ESCALATE, POSSIBLE_ESCALATE, ERROR, EMPTY)
"""Labels that mean something else than a case."""


class _Pass:
    """The arm that does nothing; use the constant `PASS`."""

    def __repr__(self) -> str:
        return "PASS"


PASS = _Pass()


class ConditionalAgent(Agent):
    """Runs exactly one of several agents, or nothing where that is said.

    Args:
        name: see `Agent`.
        on: a key or a field of one (`key("category")`, or its name) whose value selects a case by type and value.
        cases: value -> the agent to run for it.
        default: the agent for every other value, or PASS to run nothing; left out, another value fails the run.
        when: a condition, instead of `on`: `then` runs when it holds, else `otherwise`.
        then: the agent that runs when `when` holds.
        otherwise: the agent that runs when it does not; left out, nothing runs.
    """

    title: ClassVar[str] = "conditional"

    on: Any = None
    cases: dict[Any, Child | _Pass] = Field(default_factory=dict)
    default: Child | _Pass | None = None
    when: Any = None
    then: Child | _Pass | None = None
    otherwise: Child | _Pass | None = None

    if TYPE_CHECKING:  # type checkers see what may be given without a name

        def __init__(
            self,
            name: str,
            *,
            on: Any = None,
            cases: Mapping[Any, Agent | _Pass] | None = None,
            default: Agent | _Pass | None = None,
            when: Any = None,
            then: Agent | _Pass | None = None,
            otherwise: Agent | _Pass | None = None,
            **options: Unpack[Options],
        ) -> None: ...

    @field_validator("when")
    @classmethod
    def _condition(cls, value: object) -> Condition | None:
        return None if value is None else to_condition(value)

    @field_validator("on")
    @classmethod
    def _selector(cls, value: object) -> Ref | None:
        return None if value is None else to_key(value)

    @model_validator(mode="after")
    def _one_form(self) -> ConditionalAgent:
        if (self.on is None) == (self.when is None):
            raise ValueError("give either `on` with `cases`, or `when` with `then`")
        if self.when is None and (self.then is not None or self.otherwise is not None):
            raise ValueError("`then` and `otherwise` go with `when`; with `on` use `cases` and `default`")
        if self.on is None and (self.cases or self.default is not None):
            raise ValueError("`cases` and `default` go with `on`; with `when` use `then` and `otherwise`")
        return self

    def children(self) -> Iterator[Agent]:
        """Yield the arms that are agents, in order."""
        arms = (*self.cases.values(), self.default, self.then, self.otherwise)
        return (arm for arm in arms if isinstance(arm, Agent))

    def _arms(self) -> Iterator[tuple[Arm, Agent | None]]:
        if self.on is not None:
            labels = case_labels(self.cases)
            for (value, agent), label in zip(self.cases.items(), labels, strict=True):
                yield Arm(label, Is(self.on, value)), agent if isinstance(agent, Agent) else None
            if self.default is not None:
                yield Arm("default"), self.default if isinstance(self.default, Agent) else None
            return
        yield Arm("then", self.when), self.then if isinstance(self.then, Agent) else None
        yield Arm("otherwise"), self.otherwise if isinstance(self.otherwise, Agent) else None

    def lower(self, builder: Builder) -> Region:
        """Branch, one edge for each arm, join."""
        arms = list(self._arms())
        subject = conditions.text(self.on if self.on is not None else self.when)
        region = builder.region("conditional", subject)
        if not any(agent for _, agent in arms) and self.on is None:
            region.edge(region.entry, region.exit)
            return region
        branch = Branch(
            f"{region.id}#branch",
            region.id,
            Contract(reads=condition_reads([self.on if self.on is not None else self.when])),
            self.origin,
            tuple(arm for arm, _ in arms),
            subject=subject,
            cases=self.on is not None,
        )
        region.edge(region.entry, region.add(branch))
        join = f"{region.id}#join"
        for arm, agent in arms:
            if agent is None:
                region.edge(branch.id, join, arm.label)
                continue
            part = region.child(agent)
            region.edge(branch.id, part.entry, arm.label)
            region.edge(part.exit, join)
        region.add(Join(join, region.id, exclusive=True))
        region.edge(join, region.exit)
        return region


def case_labels(values: Iterable[object]) -> list[str]:
    """Name each case so that no two of them, nor one and what graphs call their edges, are called the same.

    Args:
        values: the cases; `1` and `"1"` are two, and `"escalate"` is no escalation.

    Returns:
        The labels, in order.
    """
    used = list(_TAKEN)
    for value in values:
        label = _case_label(value)
        label = repr(value) if label in used or called(label) is not None else label
        used.append(f"{label} ({len(used)})" if label in used else label)
    return used[len(_TAKEN) :]


def _case_label(value: object) -> str:
    if isinstance(value, Enum):
        return value.name
    return value if isinstance(value, str) else repr(value)
