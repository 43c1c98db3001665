"""Which keys a function surely writes: definite assignment over its statements.

A key is sure if every way through the function that does not raise writes it [Java Language Specification, chapter 16, for
the idea; loops may run zero times, and what a `try` has written is not sure where a handler goes on]::

    if ok: ctx.state["a"] = 1
    else: raise ValueError
    # a is sure

It knows statements and the keys they write, not what a state is. Nothing is executed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

Keys = frozenset[str]


def sure_writes(body: Sequence[ast.stmt], written: Mapping[str, Iterable[ast.AST]]) -> Keys:
    """Give the keys that are written whichever way a function ends.

    Args:
        body: its statements.
        written: key -> the statements that write it.

    Returns:
        Those written on every way to a `return` or to the end; none for a function that always raises.
    """
    by_statement: dict[ast.AST, set[str]] = {}
    for key, statements in written.items():
        for statement in statements:
            by_statement.setdefault(statement, set()).add(key)
    walk = _Walk(by_statement)
    end = walk.block(body, frozenset())
    ends = [*walk.returned, *([end] if end is not None else [])]
    return frozenset.intersection(*ends) if ends else frozenset()


def _both(left: Keys | None, right: Keys | None) -> Keys | None:
    """Where two ways meet; None is a way that does not get there."""
    if left is None or right is None:
        return right if left is None else left
    return left & right


@dataclass(slots=True)
class _Walk:
    """One walk over a function; `returned` has what is written at each `return`."""

    written: Mapping[ast.AST, set[str]]
    returned: list[Keys] = field(default_factory=list)

    def block(self, statements: Sequence[ast.stmt], keys: Keys | None) -> Keys | None:
        """What is written after a block; None where it is not left at its end."""
        for statement in statements:
            if keys is None:
                return None
            keys = self.statement(statement, keys)
        return keys

    def statement(self, statement: ast.stmt, keys: Keys) -> Keys | None:
        """What is written after a statement."""
        match statement:
            case ast.Return():
                self.returned.append(keys | self._own(statement))
                return None
            case ast.Raise() | ast.Continue() | ast.Break():
                return None
            case ast.If():
                return _both(self.block(statement.body, keys), self.block(statement.orelse, keys))
            case ast.For() | ast.AsyncFor() | ast.While():
                self.block(statement.body, keys)
                return keys
            case ast.With() | ast.AsyncWith():
                return self.block(statement.body, keys)
            case ast.Try() | ast.TryStar():
                return self._tried(statement, keys)
            case ast.Match():
                return self._matched(statement, keys)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                return keys
            case _:
                return keys | self._own(statement)

    def _tried(self, statement: ast.Try | ast.TryStar, keys: Keys) -> Keys | None:
        after = self.block([*statement.body, *statement.orelse], keys)
        for handler in statement.handlers:
            after = _both(after, self.block(handler.body, keys))
        final = self.block(statement.finalbody, keys)
        return None if after is None or final is None else after | final

    def _matched(self, statement: ast.Match, keys: Keys) -> Keys | None:
        after: Keys | None = None if _covers(statement.cases[-1]) else keys
        for case in statement.cases:
            after = _both(after, self.block(case.body, keys))
        return after

    def _own(self, statement: ast.stmt) -> Keys:
        """What a plain statement writes, unless an expression in it decides whether it does."""
        choices = (ast.IfExp, ast.BoolOp, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
        decided = any(
            isinstance(inner, ast.Call)
            and isinstance(inner.func, ast.Attribute)
            and inner.func.attr in ("setdefault", "update")
            for outer in ast.walk(statement)
            if isinstance(outer, choices)
            for inner in ast.walk(outer)
        )
        return frozenset() if decided else frozenset(self.written.get(statement, ()))


def _covers(case: ast.match_case) -> bool:
    return case.guard is None and isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None
