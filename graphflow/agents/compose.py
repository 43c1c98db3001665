"""Composite agents: what comes after what.

Each lowers to plain nodes and edges of the graph; none executes anything::

    SequentialAgent  a -> b -> c
    ParallelAgent    fork -> each branch -> join
    ConditionalAgent branch -[case]-> one arm -> join
    LoopAgent        header -body-> a -> b -(back)-> header -exit-> join
    Gate             branch -[pass]-> on, or the run halts
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field, field_validator, model_validator

from graphflow import conditions
from graphflow.agents.base import Agent, Child
from graphflow.conditions import Condition, Is, Ref, as_condition, key
from graphflow.contracts.contract import Contract, Write
from graphflow.contracts.template import condition_reads, template_reads
from graphflow.ir.builder import Builder, Region
from graphflow.ir.nodes import BODY, EXHAUSTED, EXIT, Arm, Branch, Fork, Join, LoopHeader
from graphflow.schema import type_of
from graphflow.template import parse


class _Pass:
    """The arm that does nothing; use the constant `PASS`."""

    def __repr__(self) -> str:
        return "PASS"


PASS = _Pass()


class _Composite(Agent):
    """An agent with a list of agents inside."""

    positional: ClassVar[tuple[str, ...]] = ("name", "sub_agents")

    sub_agents: tuple[Child, ...] = ()

    def children(self) -> Iterator[Agent]:
        """Yield the sub-agents, in order."""
        return iter(self.sub_agents)


class SequentialAgent(_Composite):
    """Runs its sub-agents one after another; each sees what those before it wrote.

    Args:
        name: see `Agent`.
        sub_agents: the stages, in order.
    """

    title: ClassVar[str] = "sequence"

    if TYPE_CHECKING:  # type checkers see what may be given without a name

        def __init__(
            self, name: str, sub_agents: Sequence[Agent] = (), *, description: str = "", ignore: Sequence[str] = ()
        ) -> None: ...

    def lower(self, builder: Builder) -> Region:
        """Chain the stages."""
        region = builder.region("sequence")
        region.edge(_chain(region, region.entry, self.sub_agents, region.escalation), region.exit)
        return region


def _chain(region: Region, start: str, agents: tuple[Agent, ...], escalation: str | tuple[str, ...]) -> str:
    for agent in agents:
        part = region.child(agent, escalation=escalation)
        region.edge(start, part.entry)
        start = part.exit
    return start


class ParallelAgent(_Composite):
    """Runs its sub-agents side by side, each on the state at the fork; the join unites what they wrote.

    Args:
        name: see `Agent`.
        sub_agents: the branches.
    """

    title: ClassVar[str] = "parallel"

    if TYPE_CHECKING:  # type checkers see what may be given without a name

        def __init__(
            self, name: str, sub_agents: Sequence[Agent] = (), *, description: str = "", ignore: Sequence[str] = ()
        ) -> None: ...

    def lower(self, builder: Builder) -> Region:
        """Fork, one edge for each branch, join."""
        region = builder.region("parallel")
        if not self.sub_agents:
            region.edge(region.entry, region.exit)
            return region
        fork = region.add(Fork(f"{region.id}#fork", region.id))
        join = f"{region.id}#join"
        region.edge(region.entry, fork)
        for agent in self.sub_agents:
            part = region.child(agent, escalation=join if region.looped else ())
            region.edge(fork, part.entry)
            region.edge(part.exit, join)
        region.add(Join(join, region.id))
        region.edge(join, region.exit)
        builder.relay(join)
        return region


class LoopAgent(_Composite):
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
            description: str = "",
            ignore: Sequence[str] = (),
        ) -> None: ...

    @field_validator("until")
    @classmethod
    def _condition(cls, value: object) -> Condition | None:
        return None if value is None else _as_condition(value)

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
        region.edge(_chain(region, part.exit, tuple(rest), done), header, back=True)
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
        return region

    def _label(self) -> str:
        bound = f"up to {self.max_iterations}" if self.max_iterations is not None else ""
        test = f"until {conditions.text(self.until)}" if self.until is not None else ""
        return ", ".join(part for part in (bound, test) if part)


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
            description: str = "",
            ignore: Sequence[str] = (),
        ) -> None: ...

    @field_validator("when")
    @classmethod
    def _condition(cls, value: object) -> Condition | None:
        return None if value is None else _as_condition(value)

    @field_validator("on")
    @classmethod
    def _selector(cls, value: object) -> Ref | None:
        if value is None or isinstance(value, Ref):
            return value
        if isinstance(value, str):
            return key(value)
        raise ValueError('`on` takes a key, such as key("category") or key("ticket").field("kind")')

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
            labels = _case_labels(self.cases)
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


def _case_labels(values: Iterable[object]) -> list[str]:
    """Name each case so that no two of them, nor one and the default, are called the same (`1` and `"1"`)."""
    used = ["default"]
    for value in values:
        label = _case_label(value)
        label = repr(value) if label in used else label
        used.append(f"{label} ({len(used)})" if label in used else label)
    return used[1:]


def _case_label(value: object) -> str:
    if isinstance(value, Enum):
        return value.name
    return value if isinstance(value, str) else repr(value)


class Gate(Agent):
    """Lets the run go on when a condition holds, else halts it.

    Args:
        name: see `Agent`.
        require: the condition.
        reason: a template for the halt's reason; default: the condition and the values found.
    """

    title: ClassVar[str] = "gate"
    positional: ClassVar[tuple[str, ...]] = ("name", "require")

    require: Any
    reason: str | None = None

    if TYPE_CHECKING:  # type checkers see what may be given without a name

        def __init__(
            self,
            name: str,
            require: Any,
            *,
            reason: str | None = None,
            description: str = "",
            ignore: Sequence[str] = (),
        ) -> None: ...

    @field_validator("require")
    @classmethod
    def _condition(cls, value: object) -> Condition:
        return _as_condition(value)

    def lower(self, builder: Builder) -> Region:
        """One branch with one way on."""
        reason = parse(self.reason if self.reason is not None else self._default_reason())
        reads = {(read.key, read.path): read for read in (*template_reads(reason), *condition_reads([self.require]))}
        node = Branch(
            builder.here.id,
            builder.here.parent,
            Contract(reads=tuple(reads.values()), halts=True),
            self.origin,
            (Arm("pass", self.require),),
            halt=reason,
            subject=conditions.text(self.require),
        )
        return builder.leaf(node, "pass")

    def _default_reason(self) -> str:
        found = ", ".join(
            f"{'.'.join((name, *path))} is {{{'.'.join((name, *path))}?}}"
            for name, path, _ in conditions.reads(self.require)
        )
        text = conditions.text(self.require).replace("{", "(").replace("}", ")")
        return f"requires {text}" + (f", but {found}" if found else "")


def _as_condition(value: object) -> Condition:
    try:
        return as_condition(value)
    except TypeError as error:
        raise ValueError(str(error)) from error
