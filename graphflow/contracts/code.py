"""Finds the source of functions: their syntax trees, and places in their files.

A file is parsed as a whole and once, so that lambdas, methods and nested functions have trees of their own with the lines
and columns of the file::

    code_of(poll).origin(node)      # agents.py:12:9

Nothing is executed. This module knows functions, not what they do.
"""

from __future__ import annotations

import ast
import functools
import inspect
import linecache
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import CodeType, FunctionType

from graphflow.contracts.contract import Origin

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


@dataclass(frozen=True, slots=True)
class Code:
    """A function's source.

    Attributes:
        func: the function, undecorated.
        node: its syntax tree, with the positions of the file.
        file: the file.
        lines: the lines of the file.
    """

    func: FunctionType
    node: Definition
    file: str
    lines: tuple[str, ...]

    def origin(self, node: ast.AST) -> Origin:
        """Give the place of a part of the tree."""
        return place_of(node, self.file, self.lines)


def code_of(func: Callable[..., object]) -> Code | None:
    """Find the source of a callable.

    Args:
        func: a function, a method, a decorated function; of other objects the source of `__call__` is found.

    Returns:
        The source; None if it cannot be found or parsed.
    """
    target = plain(func)
    if target is None:
        return None
    lines = lines_of(target.__code__.co_filename, target.__globals__)
    found = [
        node
        for node in _definitions("".join(lines)).get(target.__code__.co_firstlineno, ())
        if _is_of(node, target.__code__)
    ]
    if len(found) > 1:
        held = [node for node in found if _holds(node, target.__code__, lines)]
        found = [max(held, key=_start)] if held else found
    if not found or any(ast.dump(node) != ast.dump(found[0]) for node in found):
        return None
    return Code(target, found[0], target.__code__.co_filename, lines)


def plain(func: Callable[..., object]) -> FunctionType | None:
    """Find the Python function behind a method, a decorated function, a partial or an object that can be called."""
    current: object = func
    for _ in range(100):  # decorators may wrap each other in a circle
        if inspect.ismethod(current):
            current = current.__func__
        elif isinstance(current, functools.partial):
            current = current.func
        elif callable(wrapped := inspect.getattr_static(current, "__wrapped__", None)):
            current = wrapped
        elif isinstance(current, FunctionType):
            return current
        elif isinstance(current, type) or inspect.isroutine(current):
            return None
        else:
            current = inspect.getattr_static(type(current), "__call__", None)
    return None


def lines_of(file: str, scope: Mapping[str, object] | None = None) -> tuple[str, ...]:
    """Give the lines of a file, of a notebook's cell or of whatever else `linecache` knows; none if there is no such."""
    linecache.checkcache(file)
    return tuple(linecache.getlines(file, dict(scope) if scope is not None else None))


def place_of(node: ast.AST, file: str, lines: tuple[str, ...]) -> Origin:
    """Give the place of a part of a file's syntax tree: its line, and its column in characters."""
    line, offset = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
    text = lines[line - 1] if 0 < line <= len(lines) else ""
    return Origin(file, line, len(text.encode()[:offset].decode(errors="replace")) + 1)


def tree_of(text: str) -> ast.Module | None:
    """Parse the text of a file; None if it is not Python that this interpreter understands."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def own_nodes(definition: Definition) -> Iterator[ast.AST]:
    """Yield the nodes of a function's body; of functions and classes inside it only what is evaluated with it."""
    pending: list[ast.AST] = list(definition.body) if isinstance(definition.body, list) else [definition.body]
    while pending:
        node = pending.pop()
        yield node
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                pending += [*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults)]
            case ast.Lambda():
                pending += [*node.args.defaults, *filter(None, node.args.kw_defaults)]
            case ast.ClassDef():
                pending += [*node.decorator_list, *node.bases, *node.keywords]
            case _:
                pending.extend(ast.iter_child_nodes(node))


@functools.lru_cache(maxsize=64)
def _definitions(text: str) -> Mapping[int, tuple[Definition, ...]]:
    """First line -> the functions that begin there, as the compiler counts: a decorator is part of a function."""
    found: dict[int, tuple[Definition, ...]] = {}
    tree = tree_of(text)
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, _DEFINITIONS):
            decorators = getattr(node, "decorator_list", [])
            line = decorators[0].lineno if decorators else node.lineno
            found[line] = (*found.get(line, ()), node)
    return found


def _is_of(node: Definition, code: CodeType) -> bool:
    name = "<lambda>" if isinstance(node, ast.Lambda) else node.name
    arguments = [each.arg for each in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return (
        name == code.co_name
        and all(
            written == compiled or compiled.endswith(written)
            for written, compiled in zip(arguments, names, strict=False)
        )
        and len(arguments) == len(names)
    )


def _start(node: Definition) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _holds(node: Definition, code: CodeType, lines: tuple[str, ...]) -> bool:
    """Whether the instructions of compiled code come from a function: what one line holds several lambdas for."""
    body = node.body[0] if isinstance(node.body, list) else node.body
    start, end = (body.lineno, body.col_offset), (body.end_lineno or 0, body.end_col_offset or 0)
    if isinstance(node.body, list):
        end = (node.end_lineno or 0, node.end_col_offset or 0)
    places = [
        (line, column)
        for line, _, column, stop in code.co_positions()
        if line is not None and column is not None and stop is not None and (column, stop) != (0, 0)
    ]
    return bool(lines) and bool(places) and all(start <= place <= end for place in places)
