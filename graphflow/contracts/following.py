"""Follows statements, on all ways through a function at once.

What is known where ways meet is what is known on each of them; a loop over items that are written out is followed item by
item, any other until nothing new is found; whatever a `try` has done may be undone half-way where a handler goes on::

    for name in ("web", "news"): ctx.state[name] = []       # surely writes web and news
    for name in found: ctx.state["last"] = name             # may write last

Abstract interpretation [Cousot and Cousot, POPL 1977] of a small part of Python; nothing is executed.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar

from graphflow.contracts.code import own_nodes
from graphflow.contracts.constants import attribute
from graphflow.contracts.frames import bind
from graphflow.contracts.looping import Looping
from graphflow.contracts.values import (
    NONE,
    UNKNOWN,
    Flow,
    Generating,
    Inner,
    Known,
    Listed,
    Made,
    Mapped,
    Value,
    is_tracked,
    join,
    unite,
)  # fmt: skip


class Following(Looping):
    """Follows a function; see `Looping`."""

    def block(self, statements: Sequence[ast.stmt], flow: Flow) -> None:
        """Follow statements one after the other."""
        for statement in statements:
            if flow.dead:
                return
            self.spend()
            self._may_fail(flow)
            follow = self._KINDS_OF_STATEMENT.get(type(statement))
            if follow is not None:
                follow(self, statement, flow)
            self._may_fail(flow)

    def _may_fail(self, flow: Flow) -> None:
        for failing in self.tries:
            if not flow.dead and (not failing or failing[0] != flow):
                failing[:] = [join([*failing, flow])]

    def _if(self, node: ast.If, flow: Flow) -> None:
        coping = self.test(node.test, flow)
        other = self.part(node.test, flow)
        self.coping += coping
        self.block(node.body, flow)
        self.block(node.orelse, other)
        self.coping -= coping
        flow.become(join([flow, other]))

    def _match(self, node: ast.Match, flow: Flow) -> None:
        subject = self.evaluate(node.subject, flow)
        self.escape(subject, node.subject, flow)
        ends = []
        for case in node.cases:
            way = flow.copy()
            for part in ast.walk(case.pattern):
                names = [getattr(part, "name", None), getattr(part, "rest", None)]
                for name in (name for name in names if isinstance(name, str)):
                    bind(self.frame, name, UNKNOWN, way)
            if case.guard is not None:
                self.truth(case.guard, way)
                flow.become(join([flow, way]))
            elif _takes_all(case.pattern):
                flow.dead = True
            self.block(case.body, way)
            ends.append(way)
        flow.become(join([flow, *ends]))

    def _try(self, node: ast.Try | ast.TryStar, flow: Flow) -> None:
        marks = [(flows, len(flows)) for flows in self._ways_out()]
        with self._failing() as outside:
            outside.append(flow.copy())
            copes = any(_copes(handler) for handler in node.handlers)
            with self._failing() as inside:
                inside.append(flow.copy())
                self.coping += copes
                self.block(node.body, flow)
                self.coping -= copes
            ends = []
            for handler in node.handlers:
                way = join(inside)
                if handler.type is not None:
                    self.evaluate(handler.type, way)
                if handler.name is not None:
                    bind(self.frame, handler.name, UNKNOWN, way)
                self.block(handler.body, way)
                ends.append(way)
            self.block(node.orelse, flow)
            flow.become(join([flow, *ends]))
        if node.finalbody:
            self._finally(node.finalbody, flow, outside, [one for flows, mark in marks for one in flows[mark:]])

    def _ways_out(self) -> list[list[Flow]]:
        loops = [flows for loop in self.frame.loops for flows in (loop.breaks, loop.continues)]
        return [self.frame.returns, *loops]

    def _finally(self, body: Sequence[ast.stmt], flow: Flow, failing: list[Flow], leaving: list[Flow]) -> None:
        """Follow what is done at the end whatever happened: for the way that goes on, and for those that leave."""
        any_way = join([flow, *failing, *leaving])
        before = any_way.copy()
        self.block(body, any_way)
        for way in leaving:
            way.written |= any_way.written - before.written
            way.asked |= any_way.asked
            way.shared |= any_way.shared
            for name, value in any_way.names.items():
                if before.names.get(name) != value:
                    way.names[name] = unite(way.names.get(name, ()), value)
            for site, content in any_way.heap.items():
                if before.heap.get(site) != content:
                    way.heap[site] = way.heap[site].united(content) if site in way.heap else content
            way.dead |= any_way.dead
        self.block(body, flow)

    @contextmanager
    def _failing(self) -> Any:
        """Note what is known wherever something may fail."""
        failing: list[Flow] = []
        self.tries.append(failing)
        try:
            yield failing
        finally:
            self.tries.remove(failing) if failing not in self.tries[-1:] else self.tries.pop()

    def _with(self, node: ast.With | ast.AsyncWith, flow: Flow) -> None:
        swallows = copes = False
        for item in node.items:
            value = self.evaluate(item.context_expr, flow)
            kept = [atom for atom in value if atom is Known.CHILD_EVENTS or isinstance(atom, (Generating, Made))]
            if len(kept) < len(value):
                self.escape(value, item.context_expr, flow)
            if item.optional_vars is not None:
                self.assign(item.optional_vars, tuple(kept) if len(kept) == len(value) else UNKNOWN, flow)
            called = item.context_expr.func if isinstance(item.context_expr, ast.Call) else None
            name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
            swallows |= name in ("suppress", "raises", "ExitStack", "AsyncExitStack")
            copes |= name == "suppress" and _is_absence(ast.unparse(item.context_expr))
        with self._failing() as inside:
            inside.append(flow.copy())
            self.coping += copes
            self.block(node.body, flow)
            self.coping -= copes
        if swallows:
            flow.become(join([flow, *inside]))

    def _define(self, node: ast.FunctionDef | ast.AsyncFunctionDef, flow: Flow) -> None:
        for part in (*node.args.defaults, *filter(None, node.args.kw_defaults), *node.decorator_list):
            self.escape(self.evaluate(part, flow), part, flow)
        inner = Inner(node, self.frame)
        if node.decorator_list or not bind(self.frame, node.name, (inner,), flow):
            self.let_run(inner, flow)
            bind(self.frame, node.name, UNKNOWN, flow)

    def _class(self, node: ast.ClassDef, flow: Flow) -> None:
        for part in (*node.decorator_list, *node.bases, *(keyword.value for keyword in node.keywords)):
            self.escape(self.evaluate(part, flow), part, flow)
        for statement in node.body:
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
                self.let_run(Inner(statement, self.frame), flow)
            else:
                self.block([statement], flow)
        bind(self.frame, node.name, UNKNOWN, flow)

    def _return(self, node: ast.Return, flow: Flow) -> None:
        value = self.evaluate(node.value, flow) if node.value is not None else NONE
        if self.frame is self.stack[0]:
            self.escape(value, node, flow)
            self.facts.returns |= value != NONE
        if not flow.dead:
            self.frame.values.append(value)
            self.frame.returns.append(flow.copy())
        flow.dead = True

    def _raise(self, node: ast.Raise, flow: Flow) -> None:
        for part in (node.exc, node.cause):
            self.escape(self.evaluate(part, flow) if part is not None else (), node, flow)
        self._may_fail(flow)
        flow.dead = True

    def _break(self, node: ast.Break | ast.Continue, flow: Flow) -> None:
        if self.frame.loops:
            loop = self.frame.loops[-1]
            (loop.breaks if isinstance(node, ast.Break) else loop.continues).append(flow.copy())
        flow.dead = True

    def _assign(self, node: ast.Assign, flow: Flow) -> None:
        if len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            if not any(isinstance(each, ast.Name) and each.id == name for each in ast.walk(node.value)):
                flow.names.pop((self.frame.number, name), None)  # what it stood for is in use no more
        value = self.evaluate(node.value, flow)
        for target in node.targets:
            self.assign(target, value, flow)

    def _annotated(self, node: ast.AnnAssign, flow: Flow) -> None:
        if node.value is not None:
            self.assign(node.target, self.evaluate(node.value, flow), flow)

    def _augmented(self, node: ast.AugAssign, flow: Flow) -> None:
        more = self.evaluate(node.value, flow)
        if isinstance(node.target, ast.Subscript):
            holder, key = self.evaluate(node.target.value, flow), self.evaluate(node.target.slice, flow)
            self.escape(more, node.value, flow)

            def both(atom: Any, one: Flow) -> Value:
                self.item_of(atom, key, node.target, one)
                return self.put(atom, key, UNKNOWN, node.target, one)

            self.each(holder, flow, both)
            return
        old = self.evaluate(ast.copy_location(_loaded(node.target), node.target), flow)
        if any(isinstance(atom, Made) for atom in old):
            for atom in old:
                content = flow.heap.get(atom.site) if isinstance(atom, Made) else None
                if isinstance(atom, Made) and isinstance(content, Listed):
                    items = self.items_of(more, flow) or [self.some_of(more, flow)]
                    exact = content.exact and self.items_of(more, flow) is not None and len(old) == 1
                    flow.heap[atom.site] = Listed((*content.items, *items), exact and atom.site not in flow.shared)
                elif isinstance(atom, Made) and isinstance(content, Mapped):
                    flow.heap[atom.site] = self.with_item(content, (), more, flow, sure=len(old) == 1)
            return
        self.escape(old if is_tracked(old) else (), node, flow)
        self.escape(more if is_tracked(more) else (), node, flow)
        self.assign(node.target, self.operate(node.op, old, more, flow, node), flow)

    def _delete(self, node: ast.Delete, flow: Flow) -> None:
        for target in node.targets:
            if isinstance(target, ast.Name):
                flow.names.pop((self.frame.number, target.id), None)
            elif isinstance(target, ast.Subscript):
                holder, key = self.evaluate(target.value, flow), self.evaluate(target.slice, flow)
                for atom in holder:
                    if atom in (Known.STATE, Known.DELTA):
                        self.write(key, target, flow, sure=False, shown=node)
                    else:
                        self.escape((atom,), target, flow)

    def _assert(self, node: ast.Assert, flow: Flow) -> None:
        self.truth(node.test, flow)
        self._may_fail(flow)

    def _expression(self, node: ast.Expr, flow: Flow) -> None:
        self.evaluate(node.value, flow)

    def _import(self, node: ast.Import | ast.ImportFrom, flow: Flow) -> None:
        for alias in node.names:
            value = UNKNOWN
            if isinstance(node, ast.ImportFrom):
                package = str(self.code.func.__globals__.get("__package__") or "").split(".")
                start = package[: len(package) - node.level + 1] if node.level else []
                module = sys.modules.get(".".join([*start, *([node.module] if node.module else [])]))
                value = attribute(module, alias.name) if module is not None else UNKNOWN
            bind(self.frame, (alias.asname or alias.name).partition(".")[0], value, flow)

    _KINDS_OF_STATEMENT: ClassVar[dict[type[ast.stmt], Callable[..., None]]] = {
        ast.For: Looping.follow_for, ast.AsyncFor: Looping.follow_for, ast.While: Looping.follow_while, ast.If: _if,
        ast.Match: _match, ast.Try: _try, ast.TryStar: _try, ast.With: _with, ast.AsyncWith: _with,
        ast.FunctionDef: _define, ast.AsyncFunctionDef: _define, ast.ClassDef: _class, ast.Return: _return,
        ast.Raise: _raise, ast.Break: _break, ast.Continue: _break, ast.Assign: _assign, ast.AnnAssign: _annotated,
        ast.AugAssign: _augmented, ast.Delete: _delete, ast.Assert: _assert, ast.Expr: _expression,
        ast.Import: _import, ast.ImportFrom: _import,
    }  # fmt: skip


def _loaded(target: ast.expr) -> ast.expr:
    if isinstance(target, ast.Name):
        return ast.Name(target.id, ast.Load())
    return ast.Attribute(target.value, target.attr, ast.Load()) if isinstance(target, ast.Attribute) else target


def _takes_all(pattern: ast.pattern) -> bool:
    return isinstance(pattern, ast.MatchAs) and pattern.pattern is None


def _copes(handler: ast.ExceptHandler) -> bool:
    """Whether a handler goes on after the absence of a key."""
    if handler.type is not None and not _is_absence(ast.unparse(handler.type)):
        return False
    holder = ast.AsyncFunctionDef("", ast.arguments([], [], None, [], [], None, []), handler.body, [])
    leaves = any(isinstance(node, (ast.Return, ast.Break, ast.Continue)) for node in own_nodes(holder))
    return leaves or not isinstance(handler.body[-1], ast.Raise)


def _is_absence(text: str) -> bool:
    return any(name in text for name in ("KeyError", "LookupError", "Exception"))
