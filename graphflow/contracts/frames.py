"""One call of a function while its source is followed: its names, where they come from, where its ways end.

A name is a variable of the frame, of a frame around it, of the cells that the function closes over, of its module, or a
built-in, in this order; what a function binds nowhere surely, or another function may bind, is not known::

    resolve(frame, "KEY", flow)       # (Constant(str, "draft"),)
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from graphflow.contracts.code import Code, Definition, own_nodes
from graphflow.contracts.constants import lift
from graphflow.contracts.values import UNKNOWN, Atom, Flow, Value

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


@dataclass(frozen=True, slots=True)
class Shape:
    """What can be said of a function before it is followed.

    Attributes:
        names: the variables that it binds.
        elsewhere: names that it declares global or nonlocal.
        volatile: variables that functions inside it bind: they may change at any time.
        generates: it has a `yield`.
        closes: functions inside it may see its variables.
    """

    names: frozenset[str]
    elsewhere: frozenset[str]
    volatile: frozenset[str]
    generates: bool
    closes: bool


@dataclass(slots=True)
class Loop:
    """The loop that is followed: where `break` and `continue` come from."""

    breaks: list[Flow] = field(default_factory=list)
    continues: list[Flow] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Frame:
    """A call.

    Attributes:
        code: its source; of a function inside another, that of the outer one.
        node: the function.
        number: tells the frames apart.
        parent: the frame around an inner function.
        owner: the class whose method it is.
        me: the object whose method it is.
        given: what it is called with.
        returns: what is known at each `return`.
        values: what is returned.
        loops: the loops around the statement that is followed, innermost last.
        taken: what is done with each value that is yielded; None: nothing.
    """

    code: Code
    node: Definition
    number: int
    shape: Shape
    parent: Frame | None = None
    owner: type | None = None
    me: Atom | None = None
    given: object = None
    returns: list[Flow] = field(default_factory=list)
    values: list[Value] = field(default_factory=list)
    loops: list[Loop] = field(default_factory=list)
    taken: Callable[[Value, ast.AST, Flow], None] | None = None


def shape_of(node: Definition) -> Shape:
    """Say what a function binds."""
    names = {each.arg for each in arguments_of(node)}
    elsewhere: set[str] = set()
    generates = closes = False
    inner: set[str] = set()
    for each in own_nodes(node):
        match each:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                names.add(name)
            case ast.Global(names=given) | ast.Nonlocal(names=given):
                elsewhere.update(given)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                names.add(name)
            case ast.MatchMapping(rest=str(name)):
                names.add(name)
            case ast.alias():
                names.add((each.asname or each.name).partition(".")[0])
            case ast.Yield() | ast.YieldFrom():
                generates = True
        if isinstance(each, (*_SCOPES, ast.ClassDef)):
            closes = True
            inner |= {
                name for deep in ast.walk(each) if isinstance(deep, (ast.Nonlocal, ast.Global)) for name in deep.names
            }
    return Shape(frozenset(names - elsewhere), frozenset(elsewhere), frozenset(inner), generates, closes)


def resolve(frame: Frame, name: str, flow: Flow) -> Value:
    """Say what a name stands for."""
    current: Frame | None = frame
    while current is not None:
        if name in current.shape.volatile or name in current.shape.elsewhere:
            return UNKNOWN
        if name in current.shape.names:
            return flow.names.get((current.number, name), UNKNOWN)
        current = current.parent
    scope = scope_of(frame.code)
    if name in scope:
        return lift(scope[name])
    return lift(vars(builtins)[name]) if name in vars(builtins) else UNKNOWN


def bind(frame: Frame, name: str, value: Value, flow: Flow) -> bool:
    """Give a variable a value; False if it is no variable whose value can be followed."""
    current: Frame | None = frame
    if name in frame.shape.volatile or name in frame.shape.elsewhere:
        return False
    while current is not None:
        if name in current.shape.names:
            flow.names[current.number, name] = value
            return True
        current = current.parent
    return False


def scope_of(code: Code) -> Mapping[str, object]:
    """The names that a function sees outside itself: its module's, and those it closes over."""
    func = code.func
    if not func.__closure__:
        return func.__globals__
    scope = dict(func.__globals__)
    for name, cell in zip(func.__code__.co_freevars, func.__closure__, strict=False):
        try:
            scope[name] = cell.cell_contents
        except ValueError:
            scope.pop(name, None)
    return scope


def arguments_of(node: Definition) -> list[ast.arg]:
    """Give the parameters of a function, `*` and `**` included."""
    arguments = node.args
    starred = [each for each in (arguments.vararg, arguments.kwarg) if each is not None]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *starred]
