"""What a function's source says about the state it uses through its context.

Read are `ctx.state["k"]`, `ctx.state.get("k")`, `"k" in ctx.state`, `ctx.state["k"] = v`, `ctx.state.update({"k": v})`,
`ctx.state.setdefault("k", v)`, `ctx.actions.escalate = True`, `ctx.actions.halt = "why"` and `ctx.route = "yes"`, with
keys that are literals or names of constants. Whatever else is done with the context, such as handing it on, makes the
contract open. A body that anywhere asks whether a key is there copes with its absence; what it has just written itself it
does not read::

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
from enum import Enum
from itertools import pairwise

from graphflow.contracts.contract import Read, Write
from graphflow.contracts.definite import sure_writes

_HARMLESS = frozenset(
    {"agent_name", "attempt", "branch", "deps", "emit", "idempotency_key", "invocation_id", "iteration", "iterations"}
    | {"ask", "message", "node", "now", "output", "random", "run_id", "step", "uuid"}
)


@dataclass(slots=True)
class SourceFacts:
    """What was found in a function's source; `open` says what could not be known.

    Attributes:
        reads: key read -> whether its absence is coped with.
        writes: keys written.
        open: what makes the contract open.
        escalates: the body may end the nearest loop.
        halts: the body may halt the run.
        routes: constants that it sets its route to, each once.
        any_route: it sets its route to something that cannot be known.
        always_routes: it sets its route whichever way it ends.
        returns: it returns a value somewhere.
    """

    reads: dict[str, bool] = field(default_factory=dict)
    writes: dict[str, None] = field(default_factory=dict)
    open: dict[str, None] = field(default_factory=dict)
    escalates: bool = False
    halts: bool = False
    routes: list[object] = field(default_factory=list)
    any_route: bool = False
    always_routes: bool = False
    returns: bool = False

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
    target = func if inspect.isroutine(func) else getattr(type(func), "__call__", func)  # noqa: B004
    tree = tree_of(target)
    if tree is None:
        return SourceFacts(open={"its source cannot be read": None})
    return facts_in(tree, target, context)[0]


def tree_of(func: Callable[..., object]) -> ast.Module | None:
    """Parse a function's source; None if it cannot be found or parsed."""
    try:
        return ast.parse(textwrap.dedent(inspect.getsource(func)))
    except (OSError, TypeError, SyntaxError):
        return None


def facts_in(
    tree: ast.Module, func: Callable[..., object], context: str
) -> tuple[SourceFacts, dict[str, list[ast.AST]]]:
    """Read what a parsed function does with its context.

    Args:
        tree: the source, parsed.
        func: the function, for the names it sees.
        context: name of the parameter that holds the context.

    Returns:
        The facts, and the statements that write each key.
    """
    facts = SourceFacts()
    parents = {child: parent for parent in ast.walk(tree) for child in ast.iter_child_nodes(parent)}
    assigned = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    assigned |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    scope = {name: value for name, value in _scope(func).items() if name not in assigned}
    constants = {name: value for name, value in scope.items() if isinstance(value, str)}
    facts.returns = any(isinstance(node, ast.Return) and not _is_none(node.value) for node in ast.walk(tree))
    names = [n for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id == context and isinstance(n.ctx, ast.Load)]
    body = _Body(parents, constants, scope, facts)
    for name in sorted(names, key=lambda n: (n.lineno, n.col_offset)):
        body.use(name)
    if body.routed and isinstance(definition := tree.body[0], (ast.FunctionDef, ast.AsyncFunctionDef)):
        facts.always_routes = bool(sure_writes(definition.body, {"route": body.routed}))
    return facts, body.written


def _scope(func: Callable[..., object]) -> dict[str, object]:
    scope = {**getattr(func, "__globals__", {})}
    closure = getattr(func, "__closure__", None) or ()
    for name, cell in zip((getattr(func, "__code__", None) and func.__code__.co_freevars) or (), closure, strict=False):
        try:
            scope[name] = cell.cell_contents
        except ValueError:
            continue
    return scope


@dataclass(slots=True)
class _Body:
    """One parsed function, while the uses of its context are looked at in the order in which they are written."""

    parents: dict[ast.AST, ast.AST]
    constants: dict[str, str]
    scope: dict[str, object]
    facts: SourceFacts
    written: dict[str, list[ast.AST]] = field(default_factory=dict)
    routed: list[ast.AST] = field(default_factory=list)

    def use(self, name: ast.Name) -> None:
        """Look at one mention of the context."""
        parent = self.parents.get(name)
        if not isinstance(parent, ast.Attribute):
            self.facts.open[f"it hands `{name.id}` on"] = None
        elif parent.attr == "state":
            self._state(parent)
        elif parent.attr == "session":
            inner = self.parents.get(parent)
            if isinstance(inner, ast.Attribute) and inner.attr == "state":
                self._state(inner)
            else:
                self._unknown(inner)
        elif parent.attr == "actions":
            self._actions(parent)
        elif parent.attr == "route":
            if not isinstance(parent.ctx, ast.Load):
                assignment = self.parents.get(parent)
                value = assignment.value if isinstance(assignment, (ast.Assign, ast.AnnAssign)) else None
                self._route(value)
                self.routed += [assignment] if assignment is not None and not _may_be_none(value) else []
        elif parent.attr not in _HARMLESS:
            self.facts.open[f"it uses `{name.id}.{parent.attr}`"] = None

    def _actions(self, node: ast.Attribute) -> None:
        asked = self.parents.get(node)
        if not isinstance(asked, ast.Attribute):
            self.facts.open["it hands its actions on"] = None
        elif asked.attr not in ("escalate", "halt"):
            self.facts.open[f"it uses `{ast.unparse(asked)}`"] = None
        elif isinstance(asked.ctx, ast.Store):
            assignment = self.parents.get(asked)
            value = assignment.value if isinstance(assignment, ast.Assign) else None
            switched_on = not isinstance(value, ast.Constant) or bool(value.value)
            self.facts.escalates |= switched_on and asked.attr == "escalate"
            self.facts.halts |= switched_on and asked.attr == "halt"

    def _route(self, value: ast.expr | None) -> None:
        """Take down what the route is set to."""
        match value:
            case ast.IfExp(body=body, orelse=orelse):
                self._route(body)
                self._route(orelse)
            case ast.Constant(value=None):
                pass
            case ast.Constant(value=str() | bool() | int() as constant):
                self._routed(constant)
            case ast.Name(id=name) if isinstance(self.scope.get(name), (str, bool, int, Enum)):
                self._routed(self.scope[name])
            case ast.Attribute(value=ast.Name(id=name), attr=member) if _is_enumeration(kind := self.scope.get(name)):
                self._routed(getattr(kind, member, None))
            case _:
                self.facts.any_route = True

    def _routed(self, constant: object) -> None:
        if not any(type(known) is type(constant) and known == constant for known in self.facts.routes):
            self.facts.routes.append(constant)

    def _state(self, node: ast.Attribute) -> None:
        parent = self.parents.get(node)
        match parent:
            case ast.Subscript(slice=index, ctx=mode) if (key := _key(index, self.constants)) is not None:
                if isinstance(mode, ast.Load) or isinstance(self.parents.get(parent), ast.AugAssign):
                    self._read(key, parent, optional=self._is_caught(parent))
                if not isinstance(mode, ast.Load):
                    self._write(key, parent)
            case ast.Attribute(attr=method) if (
                isinstance(call := self.parents.get(parent), ast.Call) and call.func is parent
            ):
                if not self._method(method, call):
                    self._unknown(parent)
            case ast.Compare(left=left, ops=[ast.In() | ast.NotIn()]) if (
                key := _key(left, self.constants)
            ) is not None:
                self._read(key, parent, optional=True)
            case _:
                self._unknown(parent)

    def _method(self, method: str, call: ast.Call) -> bool:
        """Whether a call of a method of the state could be understood."""
        first = call.args[0] if call.args else None
        key = _key(first, self.constants) if first is not None else None
        if method in ("get", "setdefault") and key is not None:
            self._read(key, call, optional=True)
            if method == "setdefault":
                self._write(key, call)
            return True
        if method != "update" or not isinstance(first, ast.Dict | None) or len(call.args) > 1:
            return False
        items = first.keys if first is not None else []
        keys = [_key(item, self.constants) if item is not None else None for item in items]
        keys += [keyword.arg for keyword in call.keywords]
        for written in keys:
            if written is not None:
                self._write(written, call)
        return None not in keys

    def _unknown(self, node: ast.AST | None) -> None:
        self.facts.open[f"it uses `{ast.unparse(node) if node is not None else 'state'}`"] = None

    def _read(self, key: str, place: ast.AST, *, optional: bool) -> None:
        if not self._was_written(key, place):
            self.facts.reads[key] = self.facts.reads.get(key, False) or optional

    def _write(self, key: str, place: ast.AST) -> None:
        self.facts.writes[key] = None
        self.written.setdefault(key, []).append(self._statements(place)[0])

    def _statements(self, place: ast.AST) -> list[ast.AST]:
        """The statements around a place, innermost first."""
        found: list[ast.AST] = []
        current: ast.AST | None = place
        while current is not None:
            if isinstance(current, ast.stmt):
                found.append(current)
            current = self.parents.get(current)
        return found

    def _was_written(self, key: str, place: ast.AST) -> bool:
        """Whether an earlier statement of a block around the place has written the key, whatever else happened."""
        around = self._statements(place)
        return any(_follows(self.parents, write, later) for write in self.written.get(key, ()) for later in around)

    def _is_caught(self, place: ast.AST) -> bool:
        """Whether a `try` around the place copes with a missing key."""
        around = self._statements(place)
        return any(
            isinstance(outer, ast.Try) and inner in outer.body and any(_catches(handler) for handler in outer.handlers)
            for inner, outer in pairwise(around)
        )


def _is_none(value: ast.expr | None) -> bool:
    return value is None or (isinstance(value, ast.Constant) and value.value is None)


def _may_be_none(value: ast.expr | None) -> bool:
    if isinstance(value, ast.IfExp):
        return _may_be_none(value.body) or _may_be_none(value.orelse)
    return _is_none(value)


def _is_enumeration(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, Enum)


def _follows(parents: dict[ast.AST, ast.AST], first: ast.AST, later: ast.AST) -> bool:
    """Whether two statements stand in one block, in this order."""
    holder = parents.get(first)
    blocks = [getattr(holder, name, []) for name in ("body", "orelse", "finalbody")]
    return any(
        first in block and later in block and block.index(first) < block.index(later)
        for block in blocks
        if isinstance(block, list)
    )


def _catches(handler: ast.ExceptHandler) -> bool:
    caught = ast.unparse(handler.type) if handler.type is not None else "Exception"
    return any(name in caught for name in ("KeyError", "LookupError", "Exception"))


def _key(node: ast.expr, constants: dict[str, str]) -> str | None:
    match node:
        case ast.Constant(value=str(value)):
            return value
        case ast.Name(id=name):
            return constants.get(name)
    return None
