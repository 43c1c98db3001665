"""What a function's source says about the state it uses through its context.

Read are the ways in which code uses a context: `ctx.state["k"]`, `.get`, `.setdefault`, `.update`, `in`, the same through
`ctx.session.state`, `ctx.actions`, `ctx.route`, and in custom agents the events that are yielded. They are followed through
constants, enumerations, local names, loops over what is written out, functions of the same module and methods of the same
object::

    async def poll(ctx): ctx.actions.escalate = ctx.state["status"] == "done"
    # reads status, may escalate

What cannot be known makes the contract open, with one reason. Nothing is executed: the source is parsed.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable

from graphflow.contracts.code import Code, code_of, plain
from graphflow.contracts.following import Following
from graphflow.contracts.frames import Frame, arguments_of, shape_of
from graphflow.contracts.recording import SourceFacts, TooLong, open_facts, without_sure
from graphflow.contracts.values import UNKNOWN, Flow, Known, Me

__all__ = ["SourceFacts", "code_facts", "facts_of"]

_UNREADABLE = "its source cannot be read"


def facts_of(func: Callable[..., object], context: str) -> SourceFacts:
    """Read what a function does with its context.

    Args:
        func: the function, a method, or an object that can be called.
        context: name of the parameter that holds the context.

    Returns:
        The facts. Source that cannot be found or parsed gives an open contract; nothing is raised.
    """
    code = code_of(func)
    if code is None:
        return open_facts(_UNREADABLE)
    names = _parameters(code)
    if context not in names:
        return open_facts(f"it has no parameter `{context}`")
    me = _object_of(func)
    return _read(code, context, Me(type(me), me) if me is not None and names[0] != context else None, None)


def code_facts(owner: type, method: str, instance: object = None) -> SourceFacts:
    """Read the body of a custom agent: what it does with its context, the events that it yields, the children it runs.

    Args:
        owner: its class.
        method: name of the method that is the body; its second parameter is the context.
        instance: the agent, for what is in its fields.

    Returns:
        The facts. Source that cannot be found or parsed gives an open contract; nothing is raised.
    """
    kind = next((each for each in owner.__mro__ if method in vars(each)), owner)
    code = code_of(inspect.getattr_static(kind, method))
    if code is None:
        return open_facts(_UNREADABLE)
    names = _parameters(code)
    if len(names) < 2:
        return open_facts(f"`{method}` takes no context")
    return _read(code, names[1], Me(owner, instance), kind)


def _read(code: Code, context: str, me: Me | None, owner: type | None) -> SourceFacts:
    reading = Following(code, events=owner is not None)
    if me is not None and owner is None:
        owner = next((kind for kind in me.owner.__mro__ if _defines(kind, code)), me.owner)
    frame = Frame(code, code.node, 0, shape_of(code.node), None, owner, me)
    flow = Flow(names={(0, each.arg): UNKNOWN for each in arguments_of(code.node)})
    parameters = _parameters(code)
    if me is not None:
        flow.names[0, parameters[0]] = (me,)
    flow.names[0, context] = (Known.CONTEXT,)
    try:
        reading.body(frame, flow)
    except (TooLong, RecursionError):
        reading.facts.open = reading.facts.open or ("it is too long to be followed",)
        return without_sure(reading.facts)
    return reading.finish(flow)


def _parameters(code: Code) -> list[str]:
    arguments = code.node.args
    return [each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]


def _object_of(func: Callable[..., object]) -> object:
    if inspect.ismethod(func):
        return func.__self__
    return None if inspect.isroutine(func) or isinstance(func, type) else func


def _defines(kind: type, code: Code) -> bool:
    return any(callable(each) and plain(each) is code.func for each in vars(kind).values())
