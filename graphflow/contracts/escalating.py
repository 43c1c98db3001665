"""Under which condition a body escalates, as far as its source tells.

::

    def leave(ctx):
        if ctx.state.get("done"):
            ctx.actions.escalate = True

    escalation_keys(leave)      # {"done"}: nothing else decides

Nothing is executed. Where anything but keys and constants has a say, nothing is known.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any

from graphflow.contracts.code import Definition, code_of, own_nodes

_DECIDED = (ast.BoolOp, ast.UnaryOp, ast.Compare, ast.boolop, ast.unaryop, ast.cmpop, ast.Constant, ast.expr_context)
"""What a condition may be made of besides reads of keys."""


def escalation_keys(func: Callable[..., Any]) -> frozenset[str] | None:
    """Name the keys that alone decide whether a function escalates.

    Args:
        func: a function that is given the context; its other parameters are keys.

    Returns:
        The keys; None where it never escalates, always does, or something else has a say.
    """
    code = code_of(func)
    if code is None or isinstance(code.node.body, ast.expr):
        return None
    nodes = list(own_nodes(code.node))
    known = _known(code.node, nodes)
    sets = [node for node in nodes if _escalates(node)]
    if not sets or any(isinstance(node, ast.keyword) for node in sets):
        return None
    keys: set[str] = set()
    for statement in sets:
        found = _guarding(code.node.body, statement, known)
        if not found:
            return None
        keys |= found
    return frozenset(keys)


def _escalates(node: ast.AST) -> bool:
    match node:
        case ast.Assign(targets=targets):
            return any(isinstance(target, ast.Attribute) and target.attr == "escalate" for target in targets)
        case ast.keyword(arg="escalate"):
            return True
    return False


def _known(definition: Definition, nodes: list[ast.AST]) -> Mapping[str, str]:
    """Variable -> the key that it holds: a parameter, or a name that is given a value once, by a read."""
    arguments = [
        each.arg for each in (*definition.args.posonlyargs, *definition.args.args, *definition.args.kwonlyargs)
    ]
    found = {name: name for name in arguments}
    stored = [node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    for node in nodes:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                key = _read(value)
                if key is not None and stored.count(name) == 1:
                    found[name] = key
    return {name: key for name, key in found.items() if stored.count(name) == (name not in arguments)}


def _read(node: ast.expr) -> str | None:
    """Give the key that an expression reads: `ctx.state["k"]`, `ctx.state.get("k")`, with a constant default too."""
    match node:
        case ast.Subscript(value=ast.Attribute(attr="state"), slice=ast.Constant(value=str(key))):
            return key
        case ast.Call(
            func=ast.Attribute(value=ast.Attribute(attr="state"), attr="get"), args=[ast.Constant(value=key), *more]
        ):
            return key if isinstance(key, str) and all(isinstance(each, ast.Constant) for each in more) else None
    return None


def _guarding(body: list[ast.stmt], wanted: ast.AST, known: Mapping[str, str]) -> frozenset[str] | None:
    """Give the keys of the conditions around a statement, None if there is more to it than `if`s around it."""
    for statement in body:
        if statement is wanted:
            return frozenset()
        if not any(node is wanted for node in ast.walk(statement)):
            if any(isinstance(node, (ast.Return, ast.Raise)) for node in ast.walk(statement)):
                return None
            continue
        if not isinstance(statement, ast.If):
            return None
        own = _decided(statement.test, known)
        inner = _guarding(statement.body, wanted, known)
        if inner is None:
            inner = _guarding(statement.orelse, wanted, known)
        return own | inner if own is not None and inner is not None else None
    return None


def _decided(test: ast.expr, known: Mapping[str, str]) -> frozenset[str] | None:
    """Give the keys that a condition is about, None if it is about anything else."""
    pending: list[ast.AST] = [test]
    found: set[str] = set()
    while pending:
        node = pending.pop()
        key = _read(node) if isinstance(node, ast.expr) else None
        if key is not None:
            found.add(key)
        elif isinstance(node, ast.Name) and node.id in known:
            found.add(known[node.id])
        elif isinstance(node, ast.Compare) and _asks(node):
            found.add(str(node.left.value))  # type: ignore[attr-defined]  # `_asks` has looked
        elif isinstance(node, _DECIDED):
            pending.extend(ast.iter_child_nodes(node))
        else:
            return None
    return frozenset(found)


def _asks(node: ast.Compare) -> bool:
    """Whether a comparison is `"k" in ctx.state`."""
    match node:
        case ast.Compare(
            left=ast.Constant(value=str()), ops=[ast.In() | ast.NotIn()], comparators=[ast.Attribute(attr="state")]
        ):
            return True
    return False
