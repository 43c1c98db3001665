"""What a function does with text that it is given: which of its parameters and keys it parses without validating the result.

::

    def totals(raw: str, ctx): return json.loads(raw)["total"]      # parsed_in(totals) == {"raw": its place}

A function that validates what it has parsed (`model_validate`, a `TypeAdapter`, `isinstance`), or copes with text that
cannot be parsed by a `try`, is a validating stage. Nothing is executed.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping

from graphflow.contracts.code import code_of
from graphflow.contracts.contract import Origin

_PARSING = frozenset(
    {"json.loads", "orjson.loads", "loads", "ast.literal_eval", "literal_eval", "eval", "yaml.safe_load"}
)
_VALIDATING = frozenset(
    {
        "model_validate",
        "model_validate_json",
        "validate_python",
        "validate_json",
        "parse_obj",
        "TypeAdapter",
        "validate",
    }
    | {"isinstance"}
)


def parsed_in(func: Callable[..., object]) -> Mapping[str, Origin]:
    """Find what a function parses and does not validate.

    Args:
        func: any function.

    Returns:
        Parameter, or key of the state -> place of the call that parses it; empty if the source cannot be found.
    """
    code = code_of(func)
    if code is None:
        return {}
    nodes = list(ast.walk(code.node))
    if any(isinstance(node, (ast.Try, ast.TryStar)) or _called(node) in _VALIDATING for node in nodes):
        return {}
    stands_for = {
        target.id: name
        for node in nodes
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
        for name in _named(node.value)
    }
    found: dict[str, Origin] = {}
    for node in nodes:
        if isinstance(node, ast.Call) and ast.unparse(node.func) in _PARSING and node.args:
            for name in _named(node.args[0]):
                found.setdefault(stands_for.get(name, name), code.origin(node))
    return found


def _called(node: ast.AST) -> str:
    if not isinstance(node, ast.Call):
        return ""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _named(value: ast.expr) -> Iterator[str]:
    """Name the variable or key that an expression is about: `raw`, `raw.strip()`, `ctx.state["raw"]`."""
    while True:
        match value:
            case ast.Name(id=name):
                yield name
                return
            case ast.Subscript(value=ast.Attribute(attr="state"), slice=ast.Constant(value=str(key))):
                yield key
                return
            case ast.Call(
                func=ast.Attribute(value=ast.Attribute(attr="state"), attr="get"),
                args=[ast.Constant(value=str(key)), *_],
            ):
                yield key
                return
            case ast.Call(func=ast.Attribute(value=inner)):
                value = inner
            case _:
                return
