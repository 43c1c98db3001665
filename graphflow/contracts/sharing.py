"""What a method keeps in its own object from one call to the next.

An agent is one object, whatever runs at the same time; what its code keeps there is seen by all of them::

    async def run(self, ctx): self._count += 1       # kept_by(agent.run) == [Kept("_count", its place)]

Methods that the method calls on its object are followed. What is kept under a lock (a `with` over something so named) is left
out. Nothing is executed.
"""

from __future__ import annotations

import ast
import inspect
from collections import deque
from collections.abc import Callable, Iterator, Mapping, MutableSet, Sequence
from dataclasses import dataclass
from typing import Any

from graphflow.contracts.code import code_of
from graphflow.contracts.contract import Origin

_CHANGING = frozenset(
    {"append", "appendleft", "extend", "add", "insert", "update", "setdefault", "pop", "popitem", "remove", "discard"}
    | {"clear"}
)
_CONTAINERS = (list, dict, deque, MutableSet)


@dataclass(frozen=True, slots=True)
class Kept:
    """Something that is kept: the attribute and where it is changed."""

    name: str
    origin: Origin


def kept_by(func: Callable[..., Any]) -> Sequence[Kept]:
    """Find what a method keeps in its own object.

    Args:
        func: a bound method, or an object that can be called; of any other function nothing is found.

    Returns:
        One for each attribute, where it is changed first.
    """
    me = func.__self__ if inspect.ismethod(func) else None if inspect.isroutine(func) else func
    if me is None or isinstance(me, type):
        return []
    found: dict[str, Kept] = {}
    pending: list[Callable[..., Any]] = [func]
    seen: set[str] = set()
    while pending:
        code = code_of(pending.pop())
        arguments = [*code.node.args.posonlyargs, *code.node.args.args] if code is not None else []
        if code is None or not arguments:
            continue
        for node in _outside_locks(code.node):
            for name in _changed(node, arguments[0].arg, me):
                found.setdefault(name, Kept(name, code.origin(node)))
            called = _own(node.func, arguments[0].arg) if isinstance(node, ast.Call) else None
            method = inspect.getattr_static(type(me), called, None) if called and called not in seen else None
            if inspect.isfunction(method):
                seen.add(called or "")
                pending.append(method)
    return list(found.values())


def _outside_locks(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        locks = isinstance(child, (ast.With, ast.AsyncWith)) and any(
            word in ast.unparse(item.context_expr).lower() for item in child.items for word in ("lock", "semaphore")
        )
        if not locks:
            yield child
            yield from _outside_locks(child)


def _own(node: ast.AST, me: str) -> str | None:
    """Give the name of an attribute of the object itself."""
    own = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == me
    return node.attr if own and isinstance(node, ast.Attribute) else None


def _changed(node: ast.AST, me: str, instance: object) -> Iterator[str]:
    """Name the attributes that a part of the code changes."""
    match node:
        case ast.Assign(targets=targets) | ast.Delete(targets=targets):
            pass
        case ast.AugAssign(target=target) | ast.For(target=target) | ast.AsyncFor(target=target):
            targets = [target]
        case ast.AnnAssign(target=target, value=value) if value is not None:
            targets = [target]
        case ast.Call(func=ast.Name(id="setattr"), args=[ast.Name(id=name), ast.Constant(value=str(attribute)), *_]):
            if name == me:
                yield attribute
            return
        case ast.Call(func=ast.Attribute(value=holder, attr=method)) if method in _CHANGING:
            kept = _own(holder, me)
            if kept is not None and isinstance(_held(instance, kept), _CONTAINERS):
                yield kept
            return
        case _:
            return
    for target in targets:
        for part in target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]:
            while isinstance(part, (ast.Subscript, ast.Starred)):
                part = part.value
            changed = _own(part, me)
            if changed is not None:
                yield changed


def _held(instance: object, name: str) -> object:
    """Give what an attribute holds, without running a property."""
    for holder in (getattr(instance, "__dict__", None), getattr(instance, "__pydantic_private__", None)):
        if isinstance(holder, Mapping) and name in holder:
            return holder[name]
    return inspect.getattr_static(type(instance), name, None)
