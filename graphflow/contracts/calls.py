"""What a function calls, as far as its source tells: by which names, and whether a call leaves traces.

Calls are found in the function's own body; what is called is looked up where Python would find it, in the function's
closure, its module and the builtins, and never called::

    calls_of(poll)[0].name          # "time.sleep", also where it was imported as `from time import sleep`

A call is *harmless* if running it twice does no more than running it once: it is the context's, it makes a value, or it is a
function in whose source all calls are harmless. What is not known is not harmless.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import FunctionType, ModuleType
from typing import Any

from graphflow.contracts.code import Code, code_of, own_nodes, plain
from graphflow.contracts.contract import Origin

_DEEPEST = 4
_UNKNOWN = object()
_LOCAL = object()

_IMPURE_BUILTINS = frozenset(
    {"print", "open", "input", "exec", "eval", "setattr", "delattr", "__import__", "breakpoint"}
)
_MODULES = (
    "abc base64 bisect collections copy dataclasses datetime decimal difflib enum fractions functools hashlib heapq hmac "
    "html itertools json logging math operator pydantic pydantic_core random re statistics string struct textwrap time typing "
    "unicodedata uuid zlib zoneinfo graphflow"
)
_PURE_MODULES = frozenset(_MODULES.split())
_METHODS = (
    "add append as_tuple capitalize casefold clear copy count date decode difference discard encode endswith extend find "
    "format format_map get group groupdict groups hex index insert intersection isalnum isalpha isdigit isoformat issubset "
    "issuperset items join keys lower lstrip match model_copy model_dump model_dump_json most_common partition pop popitem "
    "quantize remove removeprefix removesuffix replace reverse rfind rindex rpartition rsplit rstrip setdefault sort split "
    "splitlines startswith strftime strip swapcase symmetric_difference time timestamp title total_seconds translate "
    "union update upper values zfill"
)
_PURE_METHODS = frozenset(_METHODS.split())
_CHANGES = "add append clear discard extend insert pop popitem remove reverse setdefault sort update"
_CHANGING = frozenset(_CHANGES.split())


@dataclass(frozen=True, slots=True)
class Called:
    """One call.

    Attributes:
        name: what is called, by the module and name it has where it is defined, else as it is written.
        text: what is called, as it is written.
        node: the call.
        origin: where it is.
        harmless: running it twice does no more than running it once.
        target: what is called, None if it cannot be known.
    """

    name: str
    text: str
    node: ast.Call
    origin: Origin
    harmless: bool
    target: object = None


def calls_of(func: Callable[..., Any], *, depth: int = 0) -> Sequence[Called]:
    """List the calls in a function's own body.

    Args:
        func: a function or method.
        depth: how many functions that call one another were gone through to come to this one.

    Returns:
        The calls in the order of the source; none if there is no source.
    """
    code = code_of(func)
    if code is None:
        return []
    names = _names_of(code, func)
    return [_called(code, node, names, depth) for node in _own_calls(code)]


def _own_calls(code: Code) -> list[ast.Call]:
    found = [node for node in own_nodes(code.node) if isinstance(node, ast.Call)]
    return sorted(found, key=lambda node: (node.lineno, node.col_offset))


def _called(code: Code, node: ast.Call, names: Mapping[str, object], depth: int) -> Called:
    text = ast.unparse(node.func)
    root, path = _path_of(node.func)
    target = _found(names, root, path)
    name = _qualified(target, text)
    harmless = _is_harmless(code, root, path, names, target, depth)
    known = None if target in (_UNKNOWN, _LOCAL) else target
    return Called(name, text, node, code.origin(node), harmless, known)


def _path_of(node: ast.expr) -> tuple[str, tuple[str, ...]]:
    """Take `a.b().c` apart: the name at its root, "" if there is none, and the attributes on the way."""
    path: list[str] = []
    while not isinstance(node, ast.Name):
        if isinstance(node, ast.Attribute):
            path.append(node.attr)
            node = node.value
        elif isinstance(node, ast.Call):
            path.append("()")
            node = node.func
        elif isinstance(node, (ast.Subscript, ast.Await, ast.Starred)):
            path.append("[]")
            node = node.value
        else:
            return "", tuple(reversed(path))
    return node.id, tuple(reversed(path))


def _names_of(code: Code, func: Callable[..., Any]) -> Mapping[str, object]:
    """What the names of a function stand for: outside, and what it imports itself; locals stand for themselves."""
    names = {**vars(builtins), **code.func.__globals__, **_closure(code.func)}
    arguments = code.node.args
    own = [each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    names |= dict.fromkeys(own, _LOCAL)
    for node in own_nodes(code.node):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names[node.id] = _LOCAL
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names[node.name] = _UNKNOWN
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names |= dict(_imported(node))
    for node in own_nodes(code.node):
        if isinstance(node, ast.Global):
            names |= {name: code.func.__globals__.get(name, _UNKNOWN) for name in node.names}
    if own and inspect.ismethod(func):
        names[own[0]] = func.__self__
    return names


def _imported(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, object]]:
    for alias in node.names:
        if isinstance(node, ast.Import):
            whole = alias.name if alias.asname else alias.name.partition(".")[0]
            yield alias.asname or whole, sys.modules.get(whole, _UNKNOWN)
        else:
            module = sys.modules.get(node.module or "") if not node.level else None
            yield alias.asname or alias.name, getattr(module, alias.name, _UNKNOWN)


def _closure(func: FunctionType) -> Mapping[str, object]:
    cells = zip(func.__code__.co_freevars, func.__closure__ or (), strict=False)
    found: dict[str, object] = {}
    for name, cell in cells:
        try:
            found[name] = cell.cell_contents
        except ValueError:
            found[name] = _UNKNOWN
    return found


def _found(names: Mapping[str, object], root: str, path: Sequence[str]) -> object:
    """Look up what a dotted name stands for, without running anything."""
    current = names.get(root, _UNKNOWN)
    for step in path:
        if current in (_UNKNOWN, _LOCAL) or step in ("()", "[]"):
            return _UNKNOWN
        try:
            current = inspect.getattr_static(current, step)
        except (AttributeError, TypeError):
            return _UNKNOWN
        current = current.__func__ if isinstance(current, (staticmethod, classmethod)) else current
    return current


def _qualified(target: object, text: str) -> str:
    if isinstance(target, ModuleType):
        return target.__name__
    module, name = getattr(target, "__module__", None), getattr(target, "__qualname__", None)
    if target in (_UNKNOWN, _LOCAL) or not isinstance(module, str) or not isinstance(name, str):
        own = getattr(target, "__name__", None) if inspect.isbuiltin(target) else None
        return f"{module}.{own}" if isinstance(module, str) and own else text
    return f"{module}.{name}"


def _is_harmless(
    code: Code, root: str, path: Sequence[str], names: Mapping[str, object], target: object, depth: int
) -> bool:
    holder = names.get(root, _UNKNOWN)
    if root in ("ctx", "tool_context", "context"):
        return True
    if isinstance(target, type) or (isinstance(target, FunctionType) and _module_of(target) in _PURE_MODULES):
        return True
    if _module_of(target) == "builtins" and inspect.isbuiltin(target) and not path:
        return root not in _IMPURE_BUILTINS
    if isinstance(holder, ModuleType):
        known = isinstance(target, FunctionType) and _is_pure(target, depth)
        return known or holder.__name__.partition(".")[0] in _PURE_MODULES
    if isinstance(target, FunctionType):
        return _is_pure(target, depth)
    if not path or path[-1] not in _PURE_METHODS:
        return False
    return root == "" or holder is _LOCAL or (path[-1] not in _CHANGING and holder is not code.func)


def _module_of(target: object) -> str:
    return str(getattr(target, "__module__", None) or "").partition(".")[0]


def _is_pure(func: FunctionType, depth: int) -> bool:
    """Whether in a function's source all calls are harmless, and nothing outside of it is assigned to."""
    code = code_of(func) if depth < _DEEPEST and plain(func) is func else None
    if code is None:
        return False
    names = _names_of(code, func)
    for node in own_nodes(code.node):
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            return False
        if isinstance(node, (ast.Subscript, ast.Attribute)) and isinstance(node.ctx, (ast.Store, ast.Del)):
            root, _ = _path_of(node)
            if names.get(root, _UNKNOWN) is not _LOCAL:
                return False
    return all(call.harmless for call in calls_of(func, depth=depth + 1))
