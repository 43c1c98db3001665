"""What agents may do to what is around them, as far as their contracts say: keys they may write, escalations out of them.

A custom agent asks this of its children, before any of them is lowered::

    keys_written_in([SequentialAgent("s", [writer, critic])])      # {"draft", "critique"}
    escalation_of([LoopAgent("polish", [critic, reviser])])        # Escalation.NO: the loop is its end

Nothing here is executed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import IntEnum
from typing import Protocol, runtime_checkable

from graphflow.agents.base import Agent
from graphflow.agents.loop import LoopAgent
from graphflow.agents.map import Flatten, MapAgent
from graphflow.agents.subflow import SubFlow
from graphflow.contracts.contract import Contract


class Escalation(IntEnum):
    """Whether an escalation comes out of an agent; what only an open contract makes possible is no proof."""

    NO = 0
    POSSIBLE = 1
    SURE = 2


@runtime_checkable
class _Contracted(Protocol):
    contract: Contract


@runtime_checkable
class _Escalating(Protocol):
    escalation: Escalation


def keys_written_in(agents: Iterable[Agent]) -> frozenset[str] | None:
    """Give the keys that agents, or those inside them, may write; None where they cannot be known."""
    found: set[str] = set()
    for agent in _all_inside(agents):
        if isinstance(agent, _Contracted):
            if agent.contract.open:
                return None
            found.update(write.key for write in agent.contract.writes)
        found.update(_own_keys(agent))
    return frozenset(found)


def _own_keys(agent: Agent) -> Iterator[str]:
    if isinstance(agent.on_error, Mapping):
        yield from agent.on_error
    match agent:
        case LoopAgent(exit_key=str(key)):
            yield key
        case MapAgent(collect=collect):
            yield from (outer.key if isinstance(outer, Flatten) else outer for outer in collect.values())
        case SubFlow(outputs=outputs):
            yield from (outer.removesuffix("?") for outer in outputs.values())


def _all_inside(agents: Iterable[Agent]) -> Iterator[Agent]:
    pending = list(agents)
    while pending:
        agent = pending.pop()
        yield agent
        pending.extend(parts_of(agent))


def parts_of(agent: Agent) -> Iterator[Agent]:
    """Yield the agents directly inside an agent and the one that runs instead when it fails."""
    yield from agent.children()
    if isinstance(agent.on_error, Agent):
        yield agent.on_error


def escalation_of(agents: Iterable[Agent]) -> Escalation:
    """Say whether an escalation comes out of one of these agents."""
    found = Escalation.NO
    pending = list(agents)
    while pending:
        agent = pending.pop()
        if isinstance(agent.on_error, Agent):
            pending.append(agent.on_error)
        match agent:
            case LoopAgent(on_exhausted=handler):
                pending += [handler] if isinstance(handler, Agent) else []
            case SubFlow():
                pass
            case _Escalating(escalation=own):
                found = max(found, own)
            case _Contracted(contract=contract) if contract.escalates:
                found = Escalation.SURE
            case _Contracted(contract=contract):
                found = max(found, Escalation.POSSIBLE if contract.open else Escalation.NO)
            case _:
                pending.extend(agent.children())
    return found
