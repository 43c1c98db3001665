"""What the source of a custom agent says: its use of the state, the events it yields, the children it runs.

Besides what `contracts.source` reads, an event that is written out counts: `state_delta` with literal keys as writes,
`escalate`, `halt` and `route` as what they say. Methods of the agent that are handed the context are read too. A body that
yields the events of a child on passes the child's escalations on::

    async def run(self, ctx):
        async for event in self.poller.run_async(ctx):
            yield event
        yield Event(author=self.name, actions=EventActions(state_delta={"polled": True}))
    # surely writes polled, forwards

An event that is made elsewhere makes the contract open. Nothing is executed: the source is parsed.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from graphflow.contracts.definite import sure_writes
from graphflow.contracts.source import SourceFacts, facts_in, tree_of

Function = ast.FunctionDef | ast.AsyncFunctionDef
_CHILD_RUNS = frozenset({"run", "run_async"})
_ELSEWHERE = "__other__"
"""Stands for the context where it is used in a way that says nothing about the state."""


@dataclass(slots=True)
class CodeFacts:
    """What was found.

    Attributes:
        facts: reads, writes and requests.
        sure: the keys that are written however the body ends.
        forwards: whether events of children are yielded on.
    """

    facts: SourceFacts = field(default_factory=SourceFacts)
    sure: frozenset[str] = frozenset()
    forwards: bool = False


def code_facts(owner: type, method: str) -> CodeFacts:
    """Read the body of a custom agent.

    Args:
        owner: its class.
        method: name of the method that is the body; its second parameter is the context.

    Returns:
        The facts. Source that cannot be found or parsed gives an open contract.
    """
    return _read(owner, inspect.unwrap(getattr(owner, method)), 1, frozenset())


def _read(owner: type, func: Callable[..., object], place: int, seen: frozenset[str]) -> CodeFacts:
    tree = tree_of(func)
    definition = next((node for node in ast.walk(tree) if isinstance(node, Function)), None) if tree else None
    if tree is None or definition is None:
        return CodeFacts(SourceFacts(open={"its source cannot be read": None}))
    names = [argument.arg for argument in (*definition.args.posonlyargs, *definition.args.args)]
    if len(names) <= place:
        return CodeFacts(SourceFacts(open={f"`{definition.name}` takes no context": None}))
    code = _Code(owner, definition, names[0], names[place], seen | {definition.name})
    code.look_at_events()
    tree = ast.fix_missing_locations(code.visit(tree))
    facts, written = facts_in(tree, func, names[place])
    _add(facts, code.found)
    return CodeFacts(facts, sure_writes(definition.body, written), code.forwards)


def _add(facts: SourceFacts, more: SourceFacts) -> None:
    for key, optional in more.reads.items():
        facts.reads[key] = facts.reads.get(key, False) or optional
    facts.writes |= more.writes
    facts.open |= more.open
    facts.escalates |= more.escalates
    facts.halts |= more.halts
    facts.routes += [route for route in more.routes if route not in facts.routes]
    facts.any_route |= more.any_route


class _Code(ast.NodeTransformer):
    """Rewrites a body so that all it does to the state is done through its context, and notes what cannot be so written."""

    def __init__(self, owner: type, definition: Function, me: str, context: str, seen: frozenset[str]) -> None:
        self.owner = owner
        self.definition = definition
        self.me = me
        self.context = context
        self.seen = seen
        self.found = SourceFacts()
        self.forwards = False
        self.actions: set[str] = set()

    def look_at_events(self) -> None:
        """Look at what is yielded: events that are written out, or those of children."""
        made, passed = self._names_of_events()
        self.actions = self._names_of_actions()
        for node in _own_nodes(self.definition):
            if not isinstance(node, (ast.Yield, ast.YieldFrom)):
                continue
            value = node.value
            if isinstance(value, ast.Name) and value.id in passed:
                self.forwards = True
            elif not (_is_call_of(value, "Event") or (isinstance(value, ast.Name) and value.id in made)):
                what = ast.unparse(value) if value is not None else "nothing"
                self.found.open[f"it yields `{what}`, whose making cannot be read"] = None

    def _names_of_events(self) -> tuple[set[str], set[str]]:
        made: set[str] = set()
        passed: set[str] = set()
        for node in _own_nodes(self.definition):
            if isinstance(node, ast.Assign) and _is_call_of(node.value, "Event"):
                made |= {target.id for target in node.targets if isinstance(target, ast.Name)}
            elif isinstance(node, ast.AsyncFor) and isinstance(node.target, ast.Name) and self._runs(node.iter):
                passed.add(node.target.id)
        return made, passed

    def _names_of_actions(self) -> set[str]:
        given: dict[str, list[ast.expr]] = {}
        for node in _own_nodes(self.definition):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    if isinstance(target, ast.Name):
                        given.setdefault(target.id, []).append(node.value)
        return {name for name, values in given.items() if all(_is_call_of(each, "EventActions") for each in values)}

    def _runs(self, node: ast.AST) -> bool:
        """Whether an expression gives the events of a child, or of a method of the agent that is read as well."""
        calls = (inner for inner in ast.walk(node) if isinstance(inner, ast.Call))
        return any(
            isinstance(call.func, ast.Attribute) and (call.func.attr in _CHILD_RUNS or self._method(call) is not None)
            for call in calls
        )

    def _method(self, call: ast.Call) -> Callable[..., object] | None:
        """The method of the agent that is called and handed the context."""
        func = call.func
        if not (isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id == self.me):
            return None
        handed = any(isinstance(argument, ast.Name) and argument.id == self.context for argument in call.args)
        method = inspect.unwrap(getattr(self.owner, func.attr, None) or (lambda: None))
        return method if handed and inspect.isfunction(method) and func.attr not in _CHILD_RUNS else None

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if node.attr == "run" and isinstance(node.value, ast.Name) and node.value.id == self.context:
            return ast.copy_location(ast.Attribute(self._name(_ELSEWHERE), "run", node.ctx), node)
        if (
            node.attr in ("escalate", "halt")
            and isinstance(node.ctx, ast.Store)
            and not self._is_own_actions(node.value)
        ):
            self.found.escalates |= node.attr == "escalate"
            self.found.halts |= node.attr == "halt"
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        if (
            isinstance(node.ctx, ast.Store)
            and isinstance(node.value, ast.Attribute)
            and node.value.attr == "state_delta"
        ):
            node.value = self._state()
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        method = self._method(node)
        if method is not None:
            return self._read_method(node, method)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "run_async":
            node.args = [each for each in node.args if not (isinstance(each, ast.Name) and each.id == self.context)]
        if _is_call_of(node, "EventActions"):
            self.generic_visit(node)
            return self._actions(node)
        if _is_call_of(node, "Event"):
            self._event(node)
        match node.func:
            case ast.Attribute(value=ast.Attribute(attr="state_delta"), attr="update") as update:
                update.value = self._state()
        self.generic_visit(node)
        return node

    def _event(self, node: ast.Call) -> None:
        for keyword in node.keywords:
            if keyword.arg == "route":
                value = keyword.value
                if isinstance(value, ast.Constant) and isinstance(value.value, (str, bool, int)):
                    self.found.routes += [value.value] if value.value not in self.found.routes else []
                else:
                    self.found.any_route = True
            elif keyword.arg == "actions" and not self._is_written_out(keyword.value):
                self.found.open[f"it yields actions `{ast.unparse(keyword.value)}` that are made elsewhere"] = None
            elif keyword.arg is None:
                self.found.open["it yields an event whose parts are not written out"] = None

    def _is_written_out(self, value: ast.expr) -> bool:
        """Whether actions are made in place, or are a name that is given nothing but such."""
        return _is_call_of(value, "EventActions") or (isinstance(value, ast.Name) and value.id in self.actions)

    def _actions(self, node: ast.Call) -> ast.AST:
        """Turn the making of actions into writes of the context's state, in the same place."""
        delta = next((keyword.value for keyword in node.keywords if keyword.arg == "state_delta"), None)
        for keyword in node.keywords:
            off = isinstance(keyword.value, ast.Constant) and not keyword.value.value
            self.found.escalates |= keyword.arg == "escalate" and not off
            self.found.halts |= keyword.arg == "halt" and not off
            if keyword.arg is None:
                self.found.open["it yields actions that are not written out"] = None
        if delta is None:
            return node
        written = self._literal(delta)
        if written is None:
            self.found.open[f"it yields the writes `{ast.unparse(delta)}`, whose keys are not written out"] = None
            return node
        return ast.copy_location(ast.Call(ast.Attribute(self._state(), "update", ast.Load()), [written], []), node)

    def _literal(self, value: ast.expr) -> ast.Dict | None:
        """The mapping that is written out, or that a name stands for which is given nothing else."""
        match value:
            case ast.Dict():
                return value
            case ast.Call(func=ast.Name(id="dict"), args=[], keywords=keywords) if all(each.arg for each in keywords):
                return ast.Dict([ast.Constant(each.arg) for each in keywords], [each.value for each in keywords])
            case ast.Name():
                return self._named(value)
            case _:
                return None

    def _named(self, value: ast.Name) -> ast.Dict | None:
        uses = [node for node in _own_nodes(self.definition) if isinstance(node, ast.Name) and node.id == value.id]
        given = [
            node.value
            for node in _own_nodes(self.definition)
            if isinstance(node, ast.Assign) and any(target in uses for target in node.targets)
        ]
        return given[0] if len(uses) == 2 and len(given) == 1 and isinstance(given[0], ast.Dict) else None

    def _read_method(self, node: ast.Call, method: Callable[..., object]) -> ast.AST:
        """Read a method that is handed the context; what it surely writes is written where it is called."""
        self.generic_visit(node)
        place = next(i for i, each in enumerate(node.args) if isinstance(each, ast.Name) and each.id == self.context)
        node.args[place] = ast.copy_location(self._name(_ELSEWHERE), node.args[place])
        if method.__name__ in self.seen:
            return node
        inner = _read(self.owner, method, place + 1, self.seen)
        _add(self.found, inner.facts)
        self.forwards |= inner.forwards
        update = ast.Call(
            ast.Attribute(self._state(), "update", ast.Load()),
            [ast.Dict([ast.Constant(key) for key in sorted(inner.sure)], [ast.Constant(None) for _ in inner.sure])],
            [],
        )
        node.keywords.append(ast.keyword(None, ast.copy_location(update, node)))
        return node

    def _is_own_actions(self, node: ast.expr) -> bool:
        """Whether an expression is the context's own actions, which are read elsewhere."""
        return (
            isinstance(node, ast.Attribute)
            and node.attr == "actions"
            and isinstance(node.value, ast.Name)
            and node.value.id == self.context
        )

    def _name(self, name: str) -> ast.Name:
        return ast.Name(name, ast.Load())

    def _state(self) -> ast.Attribute:
        return ast.Attribute(self._name(self.context), "state", ast.Load())


def _own_nodes(definition: Function) -> Iterator[ast.AST]:
    """The nodes of a function, without those of functions inside it."""
    pending: list[ast.AST] = list(definition.body)
    while pending:
        node = pending.pop(0)
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            pending.extend(ast.iter_child_nodes(node))


def _is_call_of(node: ast.AST | None, name: str) -> bool:
    if not isinstance(node, ast.Call):
        return False
    func = node.func
    return (isinstance(func, ast.Name) and func.id == name) or (isinstance(func, ast.Attribute) and func.attr == name)
