"""Follows calls: of the state's methods, of functions whose source is part of the program, of everything else.

A function of the same module or package, or a method of the same object, is followed with the values that it is given; one
that calls itself is followed a few times only. All other code is not read::

    def fetch(state, name): return state[f"{name}_notes"]
    fetch(ctx.state, "web")           # reads web_notes
"""

from __future__ import annotations

import ast
import inspect
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import BuiltinFunctionType, FunctionType

from graphflow.contracts.code import Code, code_of, plain
from graphflow.contracts.constants import constant, lift
from graphflow.contracts.evaluation import Evaluation
from graphflow.contracts.frames import Frame, Shape, arguments_of, bind, shape_of
from graphflow.contracts.values import (
    UNKNOWN,
    Atom,
    Flow,
    Function,
    Generating,
    Inner,
    Known,
    Listed,
    Made,
    Mapped,
    Me,
    Method,
    Pairs,
    Several,
    Super,
    Thing,
    Value,
    is_tracked,
    join,
)  # fmt: skip

_DEEPEST = 12
_SAME = 3
_RUNNING = frozenset({"gather", "wait_for", "shield", "timeout"})
_PASSING = frozenset({"aclosing", "closing"})
_LOOKING = frozenset({"isinstance", "type", "id", "callable", "hasattr"})
_KEEPING = frozenset(
    {"print", "len", "repr", "any", "all", "sum", "min", "max", "bool", "int", "float", "debug", "info", "warning"}
    | {"error", "exception", "critical", "log", "dumps", "deepcopy", "copy", "isinstance", "type", "id", "callable"}
)
"""Calls that leave containers as they are."""


@dataclass(slots=True)
class Arguments:
    """What a call is given: values in order, values by name, and whether there are others that are not known."""

    positional: list[Value] = field(default_factory=list)
    named: dict[str, Value] = field(default_factory=dict)
    more: bool = False

    @property
    def all(self) -> list[Value]:
        """All values that are known."""
        return [*self.positional, *self.named.values()]


class Calling(Evaluation):
    """Follows calls. `stack` has the functions that are followed now, outermost first."""

    stack: list[Frame]
    shapes: dict[ast.AST, Shape]
    events: bool = False

    @abstractmethod
    def body(self, frame: Frame, flow: Flow) -> Value:
        """Follow the body of a function to all its ends; give what it returns."""

    @abstractmethod
    def builtin(self, name: str, given: Arguments, node: ast.Call, flow: Flow) -> Value | None:
        """Follow the call of one of Python's own functions; None if nothing is known about it."""

    @abstractmethod
    def method(self, atom: Atom, name: str, given: Arguments, node: ast.Call, flow: Flow) -> Value:
        """Follow the call of a method of a value."""

    def call(self, node: ast.Call, flow: Flow, *, awaited: bool = False) -> Value:
        """See `Evaluation`."""
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name == "super" and isinstance(node.func, ast.Name):
            return self._super()
        called = self.evaluate(node.func, flow)
        given = self._arguments(node, flow, running=awaited and name in _RUNNING)
        if name == "run_async" and given.all == [(Known.CONTEXT,)]:
            return (Known.CHILD_EVENTS,)
        if name in _PASSING and len(given.all) == 1:
            return given.all[0]
        return self.each(called, flow, lambda atom, one: self.apply(atom, name, given, node, one, awaited=awaited))

    def _super(self) -> Value:
        frame: Frame | None = self.frame
        while frame is not None and frame.owner is None:
            frame = frame.parent
        return (Super(frame.me, frame.owner),) if frame and frame.owner and isinstance(frame.me, Me) else UNKNOWN

    def _arguments(self, node: ast.Call, flow: Flow, *, running: bool) -> Arguments:
        given = Arguments()
        for part in node.args:
            if isinstance(part, ast.Starred):
                value = self.evaluate(part.value, flow)
                items = self.items_of(value, flow)
                given.more |= items is None
                if items is None:
                    self.escape(value, part, flow)
                given.positional += items or []
            elif running and isinstance(part, ast.Call):
                given.positional.append(self.call(part, flow, awaited=True))
            else:
                given.positional.append(self.evaluate(part, flow))
        for keyword in node.keywords:
            value = self.evaluate(keyword.value, flow)
            if keyword.arg is not None:
                given.named[keyword.arg] = value
                continue
            pairs = self.pairs_of(value, flow)
            given.more |= pairs is None or bool(pairs.rest) or not all(there for _, there in pairs.items.values())
            if pairs is None:
                self.escape(value, keyword.value, flow)
            for key, (held, _) in (pairs.items if pairs is not None else {}).items():
                given.named[str(key.value)] = held
        return given

    def apply(
        self, atom: Atom, name: str, given: Arguments, node: ast.Call, flow: Flow, *, awaited: bool = False
    ) -> Value:
        """Follow the call of one alternative."""
        match atom:
            case Method(owner=owner, name=called):
                return self.method(owner, called, given, node, flow)
            case Inner(node=definition, frame=around):
                frame = Frame(around.code, definition, 0, self.shape(definition), around)
                return self.enter(frame, given, node, flow, awaited=awaited)
            case Function():
                return self._follow(atom, name, given, node, flow, awaited=awaited)
            case Thing(value=type() as kind) if kind.__name__ in ("Event", "EventActions"):
                return self._made(kind.__name__, given, node, flow)
            case Thing(value=value) if (function := self.function(value, None, None)) is not None:
                return self.each(
                    function, flow, lambda one, at: self.apply(one, name, given, node, at, awaited=awaited)
                )
            case Thing(value=value) if (
                isinstance(value, (type, BuiltinFunctionType)) and value.__module__ == "builtins"
            ):
                known = self.builtin(value.__name__, given, node, flow)
                if known is not None:
                    return known
            case Known.UNKNOWN if name in ("Event", "EventActions"):
                return self._made(name, given, node, flow)
            case _:
                pass
        return self.elsewhere(name, given, node, flow)

    def elsewhere(self, name: str, given: Arguments, node: ast.Call, flow: Flow) -> Value:
        """Follow a call of code that is not read."""
        if name in _LOOKING:
            return UNKNOWN
        for value in given.all:
            if name in _KEEPING and all(isinstance(atom, (Made, Several, Pairs)) for atom in value):
                self._looked_at(value, node, flow)
            else:
                self.escape(value, node, flow)
        return UNKNOWN

    def _looked_at(self, value: Value, node: ast.AST, flow: Flow) -> None:
        for item in (item for atom in value for item in self._inside(atom, flow)):
            if is_tracked(item) or any(isinstance(atom, (Inner, Generating)) for atom in item):
                self.escape(item, node, flow)

    def _inside(self, atom: Atom, flow: Flow) -> Sequence[Value]:
        content = flow.heap.get(atom.site) if isinstance(atom, Made) else None
        match atom, content:
            case _, Listed(items=items):
                return items
            case _, Mapped(items=pairs, rest=rest):
                return [*(held for held, _ in pairs.values()), rest]
            case Several(items=items), _:
                return items
            case _:
                return ()

    def _made(self, kind: str, given: Arguments, node: ast.Call, flow: Flow) -> Value:
        """Follow the making of an event, or of what it asks for."""
        named = dict(given.named)
        if kind == "EventActions":
            named = {**dict(zip(("state_delta", "escalate", "halt"), given.positional, strict=False)), **named}
        strange = given.more or (kind == "Event" and bool(given.positional))
        for name, value in named.items():
            if name not in ("actions", "state_delta", "escalate", "halt", "route"):
                self.escape(value, node, flow)
        items = {constant(name): (value, True) for name, value in named.items()}
        return self.make(Mapped(items, UNKNOWN if strange else (), kind), node, flow)

    def function(self, found: object, me: Atom | None, owner: type | None) -> Value | None:
        """See `Evaluation`."""
        if isinstance(found, FunctionType):
            return (Function(found, me, owner),)
        wrapped = inspect.getattr_static(found, "__wrapped__", None)
        return (Function(wrapped, me, owner),) if isinstance(wrapped, FunctionType) else None

    def _follow(
        self, atom: Function, name: str, given: Arguments, node: ast.Call, flow: Flow, *, awaited: bool
    ) -> Value:
        code = self._code(atom.func) if self._is_ours(atom.func) else None
        if code is None or given.more:
            return self.elsewhere(name, given, node, flow)
        frame = Frame(code, code.node, 0, self.shape(code.node), None, atom.owner, atom.me)
        if atom.me is not None:
            given = Arguments([(atom.me,), *given.positional], given.named)
        return self.enter(frame, given, node, flow, awaited=awaited)

    def _code(self, func: FunctionType) -> Code | None:
        return code_of(func)

    def _is_ours(self, func: FunctionType) -> bool:
        """Whether a function belongs to the same module or package as the one that is read."""
        target = plain(func)
        if target is None:
            return False
        here, there = self.stack[0].code.func.__globals__, target.__globals__
        names = [str(scope.get("__name__", "")).partition(".")[0] for scope in (here, there)]
        return here is there or names[1] == "graphflow" or (names[0] == names[1] != "")

    def shape(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> Shape:
        """Say what a function binds."""
        if node not in self.shapes:
            self.shapes[node] = shape_of(node)
        return self.shapes[node]

    def enter(self, frame: Frame, given: Arguments, node: ast.Call, flow: Flow, *, awaited: bool) -> Value:
        """Follow a function that is called; one that generates is followed when somebody asks for its items."""
        same = [each for each in self.stack if each.node is frame.node]
        frame.given = (given.positional, given.named)
        if any(each.given == frame.given for each in same) and not any(_is_made(value) for value in given.all):
            flow.asked |= self.asked  # what it does is followed already, further out
            return UNKNOWN
        if not self.has_room(frame) or given.more:
            if self.touches(given, frame):
                self.unknown("it calls `{}` again and again", node, node.func)
            return self.elsewhere("", given, node, flow)
        path, self.path = self.path, (*self.path, id(node))
        frame.number = hash((self.path, len(self.stack)))
        self._bind(frame, given, node, flow)
        try:
            if frame.shape.generates:
                return (Generating((*self.path, "items"), frame),)
            if isinstance(frame.node, ast.AsyncFunctionDef) and not awaited:
                before = flow.copy()
                value = self.body(frame, flow)
                flow.become(join([before, flow]))
                return value
            value = self.body(frame, flow)
            if not frame.shape.closes:
                for place in [place for place in flow.names if place[0] == frame.number]:
                    del flow.names[place]
            return value
        finally:
            self.path = path

    def has_room(self, frame: Frame) -> bool:
        """Whether a function can be followed once more inside those that are followed now."""
        same = sum(each.node is frame.node for each in self.stack)
        return len(self.stack) < _DEEPEST and same < _SAME

    def touches(self, given: Arguments, frame: Frame) -> bool:
        """Whether a function may do something to the state: it is given part of the context, or stands where one is."""
        return frame.parent is not None or any(is_tracked(value) for value in given.all)

    def _bind(self, frame: Frame, given: Arguments, node: ast.Call, flow: Flow) -> None:
        arguments = frame.node.args
        names = [each.arg for each in (*arguments.posonlyargs, *arguments.args)]
        bound = dict(zip(names, given.positional, strict=False))
        rest = given.positional[len(names) :]
        keywords = {**given.named}
        for name in (*names, *(each.arg for each in arguments.kwonlyargs)):
            if name in keywords:
                bound[name] = keywords.pop(name)
            elif name not in bound:
                bound[name] = self._default(frame, name)
        if arguments.vararg is not None:
            bound[arguments.vararg.arg] = (Several(tuple(rest)),)
        if arguments.kwarg is not None:
            items = {constant(name): (value, True) for name, value in keywords.items()}
            bound[arguments.kwarg.arg] = self.make(Mapped(items), arguments.kwarg, flow)
        if (rest and arguments.vararg is None) or (keywords and arguments.kwarg is None):
            for value in (*rest, *keywords.values()):
                self.escape(value, node, flow)
        for name, value in bound.items():
            if not bind(frame, name, value, flow):
                self.escape(value, node, flow)

    def _default(self, frame: Frame, name: str) -> Value:
        """Give the default of a parameter, of an inner function only where it is a constant."""
        arguments = frame.node.args
        names = [each.arg for each in (*arguments.posonlyargs, *arguments.args)]
        if frame.parent is None:
            func = frame.code.func
            values = dict(zip(names[::-1], (func.__defaults__ or ())[::-1], strict=False))
            values |= func.__kwdefaults__ or {}
            return lift(values[name]) if name in values else UNKNOWN
        nodes = dict(zip(names[::-1], arguments.defaults[::-1], strict=False))
        nodes |= {
            each.arg: node for each, node in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if node
        }
        default = nodes.get(name)
        return lift(default.value) if isinstance(default, ast.Constant) else UNKNOWN

    def let_run(self, inner: Inner | Generating, flow: Flow) -> None:
        """See `Handling`."""
        frame = inner.frame
        if isinstance(inner, Inner):
            frame = Frame(inner.frame.code, inner.node, 0, self.shape(inner.node), inner.frame)
        if any(each.node is frame.node for each in self.stack) or len(self.stack) >= _DEEPEST:
            return
        way = flow.copy()
        if isinstance(inner, Inner):
            path, self.path = self.path, (*self.path, id(inner.node))
            frame.number = hash((self.path, len(self.stack)))
            for argument in arguments_of(frame.node):
                way.names[frame.number, argument.arg] = UNKNOWN
            self.body(frame, way)
            self.path = path
        else:
            self.run(frame, way, lambda value, node, one: self.escape(value, node, one))
        flow.become(join([flow, way]))

    def run(self, frame: Frame, flow: Flow, taken: Callable[[Value, ast.AST, Flow], None]) -> None:
        """Follow a generator; `taken` says what is done with each value that it yields."""
        frame.taken = taken
        self.body(frame, flow)


def _is_made(value: Value) -> bool:
    return any(isinstance(atom, (Made, Inner, Generating)) for atom in value)
