"""What is lowered around an agent whose failures are dealt with: attempts, a time limit, something that runs instead.

::

    leaf         task -next-> handled, task -error-> fallback -> handled
    composite    try -body-> the agent -> end -next-> handled, end -error-> fallback -> handled

The task, or the fork `try`, holds the retry policy and the limit.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from graphflow.contracts.contract import Contract, Write
from graphflow.ir.glue import Constants
from graphflow.ir.nodes import BODY, ERROR, Edge, Fork, Group, Join, Task
from graphflow.ir.nodes import Region as RegionRecord
from graphflow.ir.parts import Guarding, Lowerable, Region
from graphflow.ir.wiring import WIRE, Relay
from graphflow.schema import ANY, Type, type_of

if TYPE_CHECKING:
    from graphflow.ir.builder import Builder


def guarded(builder: Builder, agent: Lowerable, region: Region, around: Region) -> Region:
    """Put around an agent what its guard asks for: attempts, a time limit, what runs instead."""
    guard, path = agent.guard, region.id
    after, failure = region.exit, ""
    inner = replace(region)
    if guard.handles:
        after, failure = f"{path}#handled", f"{WIRE}{path}!"
        inner.exit = f"{WIRE}{path}|"
    if agent.leaf:
        builder.items[around.id].append(path)
    else:
        inner = _attempts(builder, guard, inner, around)
    inner.failure = failure
    if not guard.handles:
        return inner
    if not agent.leaf:
        builder.edges.append(Edge(f"{path}#end", failure, ERROR))
    _handler(builder, guard, region, around, failure, after)
    if agent.leaf:
        builder.edges.append(Edge(inner.exit, after))
    builder.add_node(Join(after, around.id, origin=agent.declaration.origin, exclusive=True))
    builder.edges.append(Edge(after, region.exit))
    return inner


def _attempts(builder: Builder, guard: Guarding, inner: Region, around: Region) -> Region:
    """A composite's attempts are the instances of a fork with one branch."""
    path, wrapper = inner.id, f"{inner.id}#guard"
    end, begin = f"{path}#end", f"{path}#try"
    origin = builder.declarations[path].origin
    builder.records[wrapper] = RegionRecord(wrapper, "guard", around.id, (), origin, _guard_label(guard))
    builder.items[wrapper] = []
    builder.items[around.id].append(wrapper)
    group = Group(end, retry=guard.retry, timeout=guard.timeout)
    builder.add_node(Fork(begin, wrapper, origin=origin, group=group))
    builder.items[wrapper].append(path)
    builder.add_node(Join(end, wrapper, origin=origin, exclusive=True))
    body = replace(inner, parent=wrapper, entry=f"{WIRE}{path}>>", exit=f"{WIRE}{path}<<")
    body.escalation = (end,) if inner.escalation else ()
    builder.relays.append(Relay(end, inner.escalation))
    builder.edges += [Edge(inner.entry, begin), Edge(begin, body.entry, BODY), Edge(body.exit, end)]
    builder.edges.append(Edge(end, f"{path}#handled" if guard.handles else inner.exit))
    return body


def _handler(builder: Builder, guard: Guarding, region: Region, around: Region, failure: str, after: str) -> None:
    if guard.fallback is not None:
        handler = builder.place(guard.fallback, around, region.escalation, scope=region.scope, passing=region.passing)
        builder.edges += [Edge(failure, handler.entry), Edge(handler.exit, after)]
        return
    values = guard.values or {}
    writes = tuple(Write(name, _plain_type(value)) for name, value in values.items())
    origin = builder.declarations[region.id].origin
    node = Task(f"{region.id}#fallback", around.id, Contract(writes=writes), origin, "glue", body=Constants(values))
    builder.edges += [Edge(failure, builder.add_node(node, region.scope)), Edge(node.id, after)]


def _guard_label(guard: Guarding) -> str:
    attempts = f"up to {guard.retry.attempts} attempts" if guard.retry is not None else ""
    limit = f"{guard.timeout:g} s" if guard.timeout is not None else ""
    return ", ".join(part for part in (attempts, limit) if part)


def _plain_type(value: object) -> Type:
    return type_of(type(value)) if isinstance(value, (str, bool, int, float)) else ANY
