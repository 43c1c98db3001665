"""What the source of a body says about the way it runs: that it blocks, asks after effects, or always ends something.

::

    blocking_calls(fetch)           # [Called("requests.api.get", ...)] in an `async def`
    effects_before_ask(refund)      # [Called("client.pay", ...)]: runs again when the answer is there
    always_ends(give_up)            # "escalate"
    flags_set(finish)               # {"done"}: ctx.state["done"] = True

Nothing is executed. What cannot be followed gives nothing.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import FunctionType
from typing import Any, Literal

from graphflow.contracts.calls import Called, calls_of
from graphflow.contracts.code import Definition, code_of, own_nodes, plain

_DEEPEST = 3
_ASYNC = inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_BLOCKING = (
    "time.sleep",
    "requests.",
    "urllib.request.urlopen",
    "urllib3.",
    "http.client.",
    "subprocess.run",
    "subprocess.call",
    "subprocess.check_",
    "subprocess.getoutput",
    "subprocess.getstatusoutput",
    "os.system",
    "posix.system",
    "os.wait",
    "posix.wait",
    "socket.create_connection",
    "builtins.input",
    "httpx.get",
    "httpx.post",
    "httpx.put",
    "httpx.delete",
    "httpx.request",
    "httpx._api.",
)


def blocking_calls(func: Callable[..., Any]) -> Sequence[tuple[Called, Called]]:
    """Find the calls by which an async function stops everything that runs beside it.

    Args:
        func: a function; one that is not async blocks nobody.

    Returns:
        Pairs: the call in the function itself, and the call that blocks, which may be in a plain function that is called.
    """
    target = plain(func)
    if target is None or not target.__code__.co_flags & _ASYNC:
        return []
    return [(call, found) for call in calls_of(func) for found in _blocking(call, 0)]


def _blocking(call: Called, depth: int) -> Iterator[Called]:
    if call.name.startswith(_BLOCKING) and not call.name.endswith(".Session"):
        yield call
    elif isinstance(call.target, FunctionType) and not inspect.iscoroutinefunction(call.target) and depth < _DEEPEST:
        if call.target.__code__.co_filename != call.origin.file or inspect.isasyncgenfunction(call.target):
            return
        for inner in calls_of(call.target):
            yield from _blocking(inner, depth + 1)


def effects_before_ask(func: Callable[..., Any]) -> Sequence[Called]:
    """Find the calls that are made again when the answer to `ctx.ask` is there, and that are not known to be harmless.

    Args:
        func: a function that is given the context.

    Returns:
        The calls, in the order of the source.
    """
    target = plain(func)
    code = code_of(func) if target is not None and "ask" in target.__code__.co_names else None
    if code is None:
        return []
    asks = [node for node in own_nodes(code.node) if isinstance(node, ast.Call) and _is_ask(node)]
    if not asks:
        return []
    around = _parents(code.node)
    inside = {id(part) for ask in asks for part in ast.walk(ask)}
    return [
        call
        for call in calls_of(func)
        if not call.harmless
        and id(call.node) not in inside
        and any(_runs_before(call.node, ask, around) for ask in asks)
    ]


def flags_set(func: Callable[..., Any]) -> frozenset[str]:
    """Name the keys that a function sets to True or False as they are written there.

    Args:
        func: a function that is given the context.
    """
    code = code_of(func)
    found: set[str] = set()
    for node in own_nodes(code.node) if code is not None else ():
        match node:
            case ast.Assign(targets=targets, value=ast.Constant(value=bool())):
                for target in targets:
                    match target:
                        case ast.Subscript(slice=ast.Constant(value=str(name))):
                            found.add(name)
            case ast.Dict(keys=keys, values=values):
                for key, value in zip(keys, values, strict=True):
                    match key, value:
                        case ast.Constant(value=str(name)), ast.Constant(value=bool()):
                            found.add(name)
            case ast.keyword(arg=str(name), value=ast.Constant(value=bool())):
                found.add(name)
    return frozenset(found)


def _is_ask(node: ast.Call) -> bool:
    called = node.func
    return isinstance(called, ast.Attribute) and called.attr == "ask" and isinstance(called.value, ast.Name)


def _parents(root: Definition) -> Mapping[int, tuple[ast.AST, str]]:
    """Node -> the node around it, and the field in which it is."""
    found: dict[int, tuple[ast.AST, str]] = {}
    for node in ast.walk(root):
        for field, value in ast.iter_fields(node):
            for part in value if isinstance(value, list) else [value]:
                if isinstance(part, ast.AST):
                    found[id(part)] = (node, field)
    return found


def _path(node: ast.AST, around: Mapping[int, tuple[ast.AST, str]]) -> dict[int, tuple[ast.AST, str]]:
    """The nodes around a node, each with the field in which the node is."""
    found: dict[int, tuple[ast.AST, str]] = {}
    while id(node) in around:
        parent, field = around[id(node)]
        found[id(parent)] = (parent, field)
        node = parent
    return found


def _runs_before(call: ast.Call, ask: ast.Call, around: Mapping[int, tuple[ast.AST, str]]) -> bool:
    calling, asking = _path(call, around), _path(ask, around)
    for id_, (node, field) in calling.items():
        if not isinstance(node, (ast.If, ast.Try, ast.Match, ast.match_case)):
            continue
        other = asking.get(id_)
        if other is None and _leaves(node, field):
            return False
        if isinstance(node, ast.If) and other is not None and {field, other[1]} == {"body", "orelse"}:
            return False
    loops = (ast.For, ast.AsyncFor, ast.While)
    if any(isinstance(node, loops) and id_ in asking for id_, (node, _) in calling.items()):
        return True
    return (call.lineno, call.col_offset) < (ask.lineno, ask.col_offset)


def _leaves(node: ast.AST, field: str) -> bool:
    """Whether a block ends the function."""
    block = getattr(node, field, None)
    return isinstance(block, list) and bool(block) and isinstance(block[-1], (ast.Return, ast.Raise))


def always_ends(func: Callable[..., Any]) -> Literal["escalate", "halt", ""]:
    """Say whether a function escalates or halts the run whatever happens, as far as its first statements tell.

    Args:
        func: a function that is given the context.

    Returns:
        What it always does, "" if that is not sure.
    """
    code = code_of(func)
    body = code.node.body if code is not None and isinstance(code.node.body, list) else []
    for statement in body:
        found = _ending(statement)
        if found:
            return found
        if any(isinstance(node, (ast.Return, ast.Raise, ast.Yield)) for node in ast.walk(statement)):
            return ""
    return ""


def _ending(statement: ast.stmt) -> Literal["escalate", "halt", ""]:
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Constant):
        return ""
    for target in statement.targets:
        holder = target.value if isinstance(target, ast.Attribute) else None
        if not isinstance(target, ast.Attribute) or not isinstance(holder, ast.Attribute) or holder.attr != "actions":
            continue
        if target.attr == "escalate" and statement.value.value is True:
            return "escalate"
        if target.attr == "halt" and statement.value.value:
            return "halt"
    return ""
