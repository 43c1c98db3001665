"""One body, run once: what it is given, what it may take, and what becomes of however it ends.

::

    event = await execute(hub, StartTask(...))      # Succeeded, Failed, or None: it was put aside

Whatever the user's code raises becomes an event; cancellation passes through.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from enum import Enum
from typing import Any, cast

import anyio
from anyio import to_thread

from graphflow.context import Body, Context, State
from graphflow.errors import StageTimeout, UsageError
from graphflow.ir.nodes import Task
from graphflow.ir.scoping import local_key, scoped_key
from graphflow.runtime.messages import Failed, StartTask, Succeeded
from graphflow.runtime.plan import PlanNode
from graphflow.runtime.services import Hub, PutAside, TaskServices
from graphflow.runtime.versions import view
from graphflow.schema import ANY


async def execute(hub: Hub, command: StartTask, deps: Any, message: str | None) -> Succeeded | Failed | None:
    """Run the body of a task.

    Args:
        hub: the driver.
        command: which task, on which state.
        deps: what the run was given for bodies.
        message: the run's message.

    Returns:
        How it ended; None if it was put aside until a question is answered.
    """
    task = command.node.node
    assert isinstance(task, Task)
    context = context_of(hub.machine.run_id, command, task, deps, message)
    services = TaskServices(hub, command)
    context.services = services
    try:
        delta = await _timed(cast("Body", task.body), context, task)
        return succeeded(command, task, context, delta)
    except PutAside:
        return None
    except SystemExit as error:
        return Failed(command.ticket, UsageError(f"the body called sys.exit({error.code!r}); raise an exception"))
    except BaseExceptionGroup as group:
        if group.subgroup(PutAside) is not None:
            return None
        if group.subgroup((anyio.get_cancelled_exc_class(), KeyboardInterrupt, GeneratorExit)) is not None:
            raise
        return Failed(command.ticket, group)
    except BaseException as error:
        if isinstance(error, (anyio.get_cancelled_exc_class(), KeyboardInterrupt, GeneratorExit)):
            raise
        return Failed(command.ticket, error)
    finally:
        services.open = False


def context_of(run_id: str, command: StartTask, task: Task, deps: Any = None, message: str | None = None) -> Context:
    """Make what a body is given.

    Args:
        run_id: the run.
        command: which task, on which state.
        task: its IR node.
        deps: what the run was given for bodies.
        message: the run's message.
    """
    node, scope = command.node, task.scope
    readable, allowed = node.keys.readable, node.keys.allowed
    if scope:
        readable = frozenset(local_key(key, scope) for key in readable) if readable is not None else None
        allowed = frozenset(local_key(key, scope) for key in allowed) if allowed is not None else None
    state = State(view(command.state, scope), reads=readable, writes=allowed, node=node.id)
    iterations = loops_of(node, command.turns)
    return Context(state, node.id, run_id, node.strand, iterations, command.attempt, deps, message, turns=command.turns)


def loops_of(node: PlanNode, turns: tuple[int, ...]) -> tuple[int, ...]:
    """Give the iterations among the turns of an execution."""
    if all(kind == "loop" for kind in node.kinds):
        return turns
    return tuple(turn for kind, turn in zip(node.kinds, turns, strict=True) if kind == "loop")


async def _timed(body: Body, context: Context, task: Task) -> Mapping[str, object]:
    if task.contract.effect == "irreversible":
        return await _shielded(body, context)
    if task.timeout is None:
        return await _call(body, context, abandon=True)
    written: Mapping[str, object] | None = None
    with anyio.move_on_after(task.timeout) as scope:
        written = await _call(body, context, abandon=task.contract.effect == "none")
    if written is None or scope.cancelled_caught:
        raise StageTimeout(f"`{task.id}` took longer than {task.timeout:g} s", node=task.id, seconds=task.timeout)
    return written


async def _shielded(body: Body, context: Context) -> Mapping[str, object]:
    await anyio.lowlevel.checkpoint()  # a run that is cancelled already does not begin it
    with anyio.CancelScope(shield=True):
        written = await _call(body, context, abandon=True)
    return written  # noqa: RET504 - a scope may end its block early, so the return cannot be inside


async def _call(body: Body, context: Context, *, abandon: bool) -> Mapping[str, object]:
    if body.mode == "inline":
        return cast("Mapping[str, object]", body.call(context))
    if body.mode == "thread":
        return cast("Mapping[str, object]", await to_thread.run_sync(body.call, context, abandon_on_cancel=abandon))
    return await cast("Awaitable[Mapping[str, object]]", body.call(context))


def succeeded(command: StartTask, task: Task, context: Context, delta: Mapping[str, object]) -> Succeeded:
    """Say that a body has ended: its writes as the graph names them, with the reserved keys that others read."""
    actions = context.actions
    if actions.state_delta:
        delta = {**actions.state_delta, **delta}
    if task.scope:
        delta = {scoped_key(str(key), task.scope): value for key, value in delta.items()}
    if task.output is not None or task.route is not None:
        delta = dict(delta)
        if task.output is not None:
            delta[task.output] = context.output
        if task.route is not None:
            delta[task.route] = _route(task, context)
    return Succeeded(command.ticket, delta, actions.escalate, actions.halt, context.output)


def _route(task: Task, context: Context) -> object:
    """The route that a body chose: what it set, else what it returned; of an enumeration that no type names, the value."""
    returned = None if isinstance(context.output, Mapping) else context.output
    chosen = context.route if context.route is not None else returned
    named = any(write.key == task.route and write.type != ANY for write in task.contract.writes)
    return chosen.value if isinstance(chosen, Enum) and not named else chosen
