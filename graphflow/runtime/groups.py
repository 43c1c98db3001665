"""Grouped forks at work: maps, branches of which some suffice or may fail, attempts at a composite.

Each instance is a frame of its own, so that it can fail, be given up or be tried again without touching what is beside it. The
group is over when its policy is satisfied and nothing of it runs any more; then its join is left like any other::

    fork -> instance 0 .. n-1 -> (how each ended) -> join

Functions of the machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from graphflow.errors import AbsentKeyError, ContractViolation, GraphflowError, StageTimeout
from graphflow.ir.nodes import BODY, ESCALATIONS, Collect, Fork, Join, Over, agent_path
from graphflow.ir.nodes import Group as GroupSpec
from graphflow.runtime import calls, joins
from graphflow.runtime.frames import Call, Counters, End, Frame, Group
from graphflow.runtime.ledger import Place
from graphflow.runtime.messages import SetTimer
from graphflow.runtime.plan import PlanNode
from graphflow.runtime.versions import State
from graphflow.schema import MISSING, Failure, Overwrite

if TYPE_CHECKING:
    from graphflow.runtime.machine import Machine


def spec_of(group: Group) -> GroupSpec:
    """The policy of a group."""
    fork = group.fork.node
    assert isinstance(fork, Fork)
    assert fork.group is not None
    return fork.group


def catches(group: Group) -> bool:
    """Whether the group deals with the failure of an instance itself."""
    spec = spec_of(group)
    return group.guard or spec.need is not None or spec.failures == "collect"


def begin(machine: Machine, frame: Frame, node: PlanNode, state: State) -> None:
    """A grouped fork is reached: start all its instances.

    Raises:
        ContractViolation: a map is given something else than a list.
    """
    ways = machine.plan.ways[node.index]
    group = Group(node, frame, state)
    spec = spec_of(group)
    group.guard = spec.over is None and ways["0"][0].label == BODY
    count = len(ways)
    if spec.over is not None:
        group.items = _listed(node, spec.over, state)
        count = len(group.items)
    machine.edges.settle(frame)
    for instance in range(count):
        start(machine, group, instance)
    if not count:
        _conclude(machine, group)


def _listed(node: PlanNode, over: Over, state: State) -> list[object]:
    value: object = state.read(over.key)
    if value is MISSING:
        raise AbsentKeyError(over.key, agent_path(node.id))
    for name in over.path:
        value = value.get(name, MISSING) if isinstance(value, Mapping) else getattr(value, name, MISSING)
        if value is MISSING:
            raise AbsentKeyError(".".join((over.key, *over.path)), agent_path(node.id))
    if not isinstance(value, (list, tuple)):
        raise ContractViolation(
            f"`{agent_path(node.id)}` runs over `{'.'.join((over.key, *over.path))}`, which is no list but "
            f"{type(value).__name__}",
            node=node.id,
            key=over.key,
        )
    return list(value)


def start(machine: Machine, group: Group, instance: int) -> None:
    """Start an instance; of a guard, its next attempt."""
    spec, fork, outer = spec_of(group), group.fork, group.frame
    way = "0" if spec.over is not None else str(instance)
    scope = machine.plan.scopes[fork.index]
    frame = Frame(
        fork.index,
        outer,
        (*outer.turns, instance) if spec.over is not None else outer.turns,
        (*outer.position, fork.index, instance),
        f"{outer.label}/{fork.id}[{instance}]".lstrip("/"),
        Counters(scope.members[way]),
        owner=group,
    )
    group.frames[instance] = frame
    state = group.base
    if spec.over is not None:
        given = {spec.over.item: group.items[instance]}
        if spec.over.index is not None:
            given[spec.over.index] = instance
        delta = {key: Overwrite(value) if key in machine.ledger.merged else value for key, value in given.items()}
        state = machine.ledger.commit(Place(fork, frame.turns, frame.position, frame.label), state, delta)
    if spec.timeout is not None:
        timer = machine.tasks.set_timer(("limit", group, instance))
        group.timers[instance] = timer
        machine.tasks.commands.append(SetTimer(timer, fork, outer.turns, spec.timeout))
    machine.edges.begin(frame, machine.plan.ways[fork.index][way], state)


def settled(machine: Machine, frame: Frame) -> None:
    """Everything in an instance is done or dead: it has succeeded."""
    group = frame.owner
    assert isinstance(group, Group)
    fired = [arrival for arrival in frame.counters.ends if arrival.fired] or frame.counters.ends
    join = machine.plan.nodes[machine.plan.scopes[group.fork.index].join]
    try:
        states = [arrival.state for arrival in fired]
        place = Place(join, frame.turns, frame.position, frame.label)
        state = states[0] if len(states) == 1 else machine.ledger.unite(place, states)
        _values(group, join, state, escalated=any(arrival.label in ESCALATIONS for arrival in fired))
    except GraphflowError as error:
        machine.fail(join, frame, error)
        return
    frame.gone = True
    _over(machine, group, frame, End(state, any(arrival.label in ESCALATIONS for arrival in fired)))


def _values(group: Group, join: PlanNode, state: State, *, escalated: bool) -> None:
    """An instance that has not escalated owes what is collected from it.

    Raises:
        AbsentKeyError: it does not have it.
    """
    node = join.node
    assert isinstance(node, Join)
    for collect in node.collect:
        if state.read(collect.inner) is MISSING and not escalated:
            raise AbsentKeyError(collect.inner, agent_path(group.fork.id))


def give_up(machine: Machine, frame: Frame, error: BaseException | None) -> None:
    """Stop what runs in an instance or a call; it has failed with an error, or was overtaken (None)."""
    if not frame.gone:  # one that has failed and is still being stopped keeps its error
        frame.gone, frame.error = True, error
    machine.tasks.drop(frame)
    check_gone(machine, frame)


def check_gone(machine: Machine, frame: Frame) -> None:
    """A task has ended in a frame that was given up, or in one inside it: perhaps it was the last."""
    if machine.ending:
        return
    for around in frame.around():
        owner = around.owner
        if not around.gone or owner is None or machine.tasks.busy(around):
            continue
        if any(outer.gone for outer in around.around() if outer is not around):
            continue
        if isinstance(owner, Call):
            calls.returned(machine, owner, around.error)
        elif _index(around) not in owner.ends:
            _over(machine, owner, around, End(error=around.error))
        return


def _index(frame: Frame) -> int:
    return frame.position[-1]


def time_out(machine: Machine, group: Group, instance: int) -> None:
    """An instance has taken too long."""
    group.timers.pop(instance, None)
    frame = group.frames[instance]
    if instance not in group.ends and frame.alive:
        seconds = spec_of(group).timeout or 0
        agent = agent_path(group.fork.id)
        give_up(machine, frame, StageTimeout(f"`{agent}` took longer than {seconds:g} s", node=agent, seconds=seconds))


def _over(machine: Machine, group: Group, frame: Frame, end: End) -> None:
    """An instance has ended; decide what that means for the group."""
    instance = _index(frame)
    group.ends[instance] = end
    timer = group.timers.pop(instance, None)
    if timer is not None:
        machine.tasks.clear_timer(timer)
    if end.success and not group.decided:
        group.wins.append(instance)
    spec = spec_of(group)
    if group.guard:
        _attempted(machine, group, spec, end)
        return
    if spec.need is not None and not group.decided:
        hopeful = len(group.frames) - len(group.ends) + len(group.wins)
        group.decided = len(group.wins) >= spec.need or hopeful < spec.need
        if hopeful < spec.need:
            failed = next((end.error for end in group.ends.values() if end.error is not None), None)
            group.error = failed or ContractViolation(
                f"`{agent_path(group.fork.id)}` waits for {spec.need} successes, but has {len(group.frames)} branches",
                node=group.fork.id,
            )
        if group.decided:
            for other, left in list(group.frames.items()):
                if other not in group.ends:
                    give_up(machine, left, None)
    if len(group.ends) == len(group.frames) and not group.over:
        group.over = True
        _conclude(machine, group)


def _attempted(machine: Machine, group: Group, spec: GroupSpec, end: End) -> None:
    if end.success or end.error is None:
        _conclude(machine, group)
        return
    policy = spec.retry
    if policy is not None and group.attempt < policy.attempts and policy.covers(end.error):
        timer = machine.tasks.set_timer(("again", group, None))
        machine.tasks.commands.append(SetTimer(timer, group.fork, group.frame.turns, None, policy, group.attempt))
        group.attempt += 1
        group.ends.clear()
        return
    group.error = end.error
    _conclude(machine, group)


def _conclude(machine: Machine, group: Group) -> None:
    """Nothing of the group runs any more: leave its join, or fail."""
    spec, frame = spec_of(group), group.frame
    join = machine.plan.nodes[machine.plan.scopes[group.fork.index].join]
    if group.error is None and group.frames and not group.wins:
        group.error = next((end.error for end in group.ends.values() if end.error is not None), None)
    if group.error is not None:
        machine.settle_failure(join, frame, group.error, group.base)
        return
    wins = sorted(group.wins[: spec.need])
    states = [state for state in (group.ends[instance].state for instance in wins) if state is not None]
    escalated = any(group.ends[instance].escalated for instance in wins)
    try:
        place = machine.place(join, frame)
        base = group.base if spec.over is not None else None
        state = machine.ledger.unite(place, states, base) if states else group.base
        joins.leave(machine, frame, join, state, _collected(group, join), escalated=escalated)
    except GraphflowError as error:
        machine.fail(join, frame, error, group.base)


def _collected(group: Group, join: PlanNode) -> dict[str, object]:
    node = join.node
    assert isinstance(node, Join)
    found = {collect.outer: _list(group, collect) for collect in node.collect}
    return {key: values for key, values in found.items() if values is not None}


def _list(group: Group, collect: Collect) -> list[object] | None:
    values: list[object] = []
    for instance in sorted(group.frames):
        end = group.ends[instance]
        if end.state is None:
            values.append(Failure(instance, f"{type(end.error).__name__}: {end.error}"))
            continue
        value = end.state.read(collect.inner)
        if value is MISSING:
            return None
        if not collect.flatten:
            values.append(value)
        elif isinstance(value, (list, tuple)):
            values.extend(value)
        else:
            raise ContractViolation(
                f"`{agent_path(group.fork.id)}` joins the lists in `{collect.inner}`, but one is {type(value).__name__}",
                node=group.fork.id,
                key=collect.inner,
            )
    return values
