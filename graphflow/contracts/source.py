"""What a function's source says about the state it uses through its context.

Read are `ctx.state["k"]`, `ctx.state.get("k")`, `"k" in ctx.state`, `ctx.state["k"] = v`, `ctx.state.update({"k": v})`,
`ctx.actions.escalate = True` and `ctx.actions.halt = "why"`, with keys that are literals or names of constants. Whatever
else is done with the context, such as handing it on, makes the contract open::

    async def poll(ctx): ctx.actions.escalate = ctx.state["status"] == "done"
    # reads status, may escalate

Nothing is executed: the source is parsed.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, field

from graphflow.contracts.contract import Read, Write

_READ_METHODS = frozenset({"get"})
_HARMLESS = frozenset(
    {"agent_name", "attempt", "branch", "deps", "emit", "idempotency_key", "invocation_id", "iteration", "iterations"}
    | {"message", "node", "route", "run_id"}
)


@dataclass(slots=True)
class SourceFacts:
    """What was found in a function's source; `open` says what could not be known."""

    reads: dict[str, bool] = field(default_factory=dict)
    writes: dict[str, None] = field(default_factory=dict)
    open: dict[str, None] = field(default_factory=dict)
    escalates: bool = False
    halts: bool = False

    def as_reads(self) -> tuple[Read, ...]:
        """The keys read, in order of appearance."""
        return tuple(Read(key, optional=optional) for key, optional in self.reads.items())

    def as_writes(self) -> tuple[Write, ...]:
        """The keys written, in order of appearance; none of them is sure."""
        return tuple(Write(key, sure=False) for key in self.writes)


def facts_of(func: Callable[..., object], context: str) -> SourceFacts:
    """Read what a function does with its context.

    Args:
        func: the function.
        context: name of the parameter that holds the context.

    Returns:
        The facts. Source that cannot be found or parsed gives an open contract.
    """
    facts = SourceFacts()
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(func)))
    except (OSError, TypeError, SyntaxError):
        facts.open["its source cannot be read"] = None
        return facts
    parents = {child: parent for parent in ast.walk(tree) for child in ast.iter_child_nodes(parent)}
    constants = _constants(func)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id == context and isinstance(node.ctx, ast.Load):
            _use(node, parents, constants, facts)
    return facts


def _constants(func: Callable[..., object]) -> dict[str, str]:
    scope = {**getattr(func, "__globals__", {})}
    closure = getattr(func, "__closure__", None) or ()
    for name, cell in zip((getattr(func, "__code__", None) and func.__code__.co_freevars) or (), closure, strict=False):
        try:
            scope[name] = cell.cell_contents
        except ValueError:
            continue
    return {name: value for name, value in scope.items() if isinstance(value, str)}


def _use(name: ast.Name, parents: dict[ast.AST, ast.AST], constants: dict[str, str], facts: SourceFacts) -> None:
    parent = parents.get(name)
    if not isinstance(parent, ast.Attribute):
        facts.open[f"it hands `{name.id}` on"] = None
    elif parent.attr == "state":
        _state_use(parent, parents, constants, facts)
    elif parent.attr == "actions":
        _actions_use(parent, parents, facts)
    elif parent.attr not in _HARMLESS:
        facts.open[f"it uses `{name.id}.{parent.attr}`"] = None


def _actions_use(node: ast.Attribute, parents: dict[ast.AST, ast.AST], facts: SourceFacts) -> None:
    field_ = parents.get(node)
    if not isinstance(field_, ast.Attribute):
        facts.open["it hands its actions on"] = None
        return
    assignment = parents.get(field_)
    value = assignment.value if isinstance(assignment, ast.Assign) else None
    switched_off = isinstance(value, ast.Constant) and not value.value
    if isinstance(field_.ctx, ast.Store) and not switched_off:
        facts.escalates |= field_.attr == "escalate"
        facts.halts |= field_.attr == "halt"


def _state_use(
    node: ast.Attribute, parents: dict[ast.AST, ast.AST], constants: dict[str, str], facts: SourceFacts
) -> None:
    parent = parents.get(node)
    unknown = f"it uses `{ast.unparse(parent) if parent is not None else 'state'}`"
    match parent:
        case ast.Subscript(slice=index, ctx=mode):
            key = _key(index, constants)
            if key is None:
                facts.open[unknown] = None
            elif isinstance(mode, ast.Load):
                facts.reads[key] = False
            else:
                facts.writes[key] = None
                if isinstance(parents.get(parent), ast.AugAssign):
                    facts.reads[key] = False
        case ast.Attribute(attr=method) if isinstance(call := parents.get(parent), ast.Call):
            _method_use(method, call, constants, facts, unknown)
        case ast.Compare(left=left, ops=[ast.In() | ast.NotIn()]) if (key := _key(left, constants)) is not None:
            facts.reads.setdefault(key, True)
        case _:
            facts.open[unknown] = None


def _method_use(method: str, call: ast.Call, constants: dict[str, str], facts: SourceFacts, unknown: str) -> None:
    first = call.args[0] if call.args else None
    key = _key(first, constants) if first is not None else None
    if method in _READ_METHODS and key is not None:
        facts.reads.setdefault(key, True)
    elif method == "update" and isinstance(first, ast.Dict):
        for item in first.keys:
            written = _key(item, constants) if item is not None else None
            if written is None:
                facts.open[unknown] = None
            else:
                facts.writes[written] = None
    else:
        facts.open[unknown] = None


def _key(node: ast.expr, constants: dict[str, str]) -> str | None:
    match node:
        case ast.Constant(value=str(value)):
            return value
        case ast.Name(id=name):
            return constants.get(name)
    return None
