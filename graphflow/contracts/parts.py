"""Follows the parts of values: items, attributes, the methods of an object, what hangs on the context.

::

    ctx.session.state            # the state
    ctx.iteration                # is counted: what a condition about it guards happens in some iterations only

It knows no syntax but the places of what it takes down.
"""

from __future__ import annotations

import ast
from abc import abstractmethod
from collections.abc import Callable

from graphflow.contracts.constants import attribute, elements, member, own_attribute
from graphflow.contracts.handling import Handling
from graphflow.contracts.values import (
    UNKNOWN,
    Atom,
    Constant,
    Flow,
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
    unite,
)  # fmt: skip

_TURNS = frozenset({"iteration", "iterations", "attempt"})
_HARMLESS = frozenset(
    {"agent_name", "branch", "deps", "emit", "idempotency_key", "invocation_id", "ask", "message", "node", "now"}
    | {"output", "random", "run_id", "step", "uuid", "run", "user_id", "app_name", "user_content"}
)
_OF_SESSION = frozenset({"id", "app_name", "user_id"})
_METHODS_OF_CONTEXT = frozenset({"emit", "ask", "now", "random", "step", "uuid", "run"})


class Parts(Handling):
    """Gives parts of values. `turns` counts how often the iteration was asked for."""

    turns: int = 0

    def each(self, value: Value, flow: Flow, act: Callable[[Atom, Flow], Value]) -> Value:
        """Do something with each alternative, as ways of which one is taken."""
        if len(value) == 1:
            return act(value[0], flow)
        found, ways = [], []
        for atom in value:
            way = flow.copy()
            found.append(act(atom, way))
            ways.append(way)
        flow.become(join(ways))
        return unite(*found)

    def items_of(self, value: Value, flow: Flow) -> list[Value] | None:
        """Give the items of a value, in order; None if they are not known exactly."""
        if len(value) == 1 and isinstance(value[0], Made):
            match flow.heap.get(value[0].site):
                case Listed(items=items, exact=True):
                    return list(items)
                case Mapped(items=pairs, rest=(), kind="dict") if all(sure for _, sure in pairs.values()):
                    return [(key,) for key in pairs]
                case _:
                    return None
        return elements(value)

    def some_of(self, value: Value, flow: Flow) -> Value:
        """Give what an item of a value may be."""
        found: list[Value] = []
        for atom in value:
            items = self.items_of((atom,), flow)
            content = flow.heap.get(atom.site) if isinstance(atom, Made) else None
            if items is not None:
                found += items
            elif isinstance(content, Listed):
                found += content.items
            elif isinstance(content, Mapped) and content.kind == "dict":
                found += [*((key,) for key in content.items), *([UNKNOWN] if content.rest else [])]
            else:
                found.append((Known.CHILD_EVENT,) if atom is Known.CHILD_EVENTS else UNKNOWN)
        return unite(*found) or UNKNOWN

    def attribute_of(self, atom: Atom, name: str, node: ast.AST, flow: Flow) -> Value:
        """Give an attribute of one alternative."""
        match atom:
            case Known():
                return self._part(atom, name, node)
            case Made(site=site):
                content = flow.heap.get(site)
                if isinstance(content, Mapped) and content.kind != "dict":
                    return self.field_of(site, content, name, flow)
                return (Method(atom, name),)
            case Constant():
                return (
                    member(atom, name)
                    if not isinstance(atom.value, str) or name in ("name", "value")
                    else (Method(atom, name),)
                )
            case Several() | Pairs():
                return (Method(atom, name),)
            case Me(owner=owner):
                if name == "__class__":
                    return (Thing(owner, id(owner)),)
                return self.bound(atom, owner, name) or own_attribute(atom, name)
            case Super(me=me, after=after):
                order = me.owner.__mro__
                rest = order[order.index(after) + 1 :] if after in order else ()
                kind = next((each for each in rest if name in vars(each)), None)
                return (self.bound(me, kind, name) if kind is not None else None) or UNKNOWN
            case Thing(value=value):
                return (Method(atom, name),) if value is dict and name == "fromkeys" else attribute(value, name)
            case _:
                return UNKNOWN

    def _part(self, atom: Known, name: str, node: ast.AST) -> Value:
        """Give a part of the context, or take down that it is not known what is done with it."""
        match atom, name:
            case Known.CONTEXT, "state":
                return (Known.STATE,)
            case Known.CONTEXT, "session":
                return (Known.SESSION,)
            case Known.CONTEXT, "actions":
                return (Known.ACTIONS,)
            case Known.CONTEXT, "route":
                return UNKNOWN
            case Known.CONTEXT, _ if name in _TURNS:
                self.turns += 1
                return (Known.TURN,)
            case Known.CONTEXT, _ if name in _HARMLESS:
                return (Method(atom, name),) if name in _METHODS_OF_CONTEXT else UNKNOWN
            case Known.SESSION, "state":
                return (Known.STATE,)
            case ((Known.STATE | Known.DELTA), _):
                return (Method(atom, name),)
            case Known.ACTIONS, "state_delta":
                return (Known.DELTA,)
            case ((Known.CHILD_EVENT | Known.CHILD_ACTIONS), _):
                return (Known.CHILD_ACTIONS,) if name == "actions" else UNKNOWN
        if (atom is Known.SESSION and name in _OF_SESSION) or (atom is Known.ACTIONS and name in ("escalate", "halt")):
            return UNKNOWN
        if is_tracked((atom,)):
            self.unknown("it uses `{}`", node)
        return UNKNOWN

    def bound(self, me: Me, kind: type, name: str) -> Value | None:
        """Find a method of an object in a class or those behind it; None if there is no such."""
        for each in kind.__mro__:
            found = vars(each).get(name)
            if found is None:
                continue
            if isinstance(found, staticmethod):
                return self.function(found.__func__, None, each)
            if isinstance(found, classmethod):
                return self.function(found.__func__, Thing(me.owner, id(me.owner)), each)
            return self.function(found, me, each)
        return None

    @abstractmethod
    def function(self, found: object, me: Atom | None, owner: type | None) -> Value | None:
        """Give a function of the program as a value; None if it is none."""

    def item_of(self, atom: Atom, index: Value, node: ast.AST, flow: Flow) -> Value:
        """Give what stands under an index of one alternative."""
        if atom is Known.STATE:
            self.read(index, node, flow)
            return UNKNOWN
        if isinstance(atom, Made) and isinstance(content := flow.heap.get(atom.site), Mapped):
            found = [content.items[key][0] for key in index if isinstance(key, Constant) and key in content.items]
            return unite(*found, content.rest, *([UNKNOWN] if len(found) < len(index) else []))
        if isinstance(atom, Pairs):
            held = dict(atom.items)
            return unite(*(held.get(key, UNKNOWN) if isinstance(key, Constant) else UNKNOWN for key in index))
        items = self.items_of((atom,), flow)
        if items is not None and len(index) == 1 and isinstance(index[0], Constant) and type(index[0].value) is int:
            place = index[0].value
            return items[place] if -len(items) <= place < len(items) else UNKNOWN
        if isinstance(atom, (Several, Made)):
            return unite(self.some_of((atom,), flow), UNKNOWN)
        return UNKNOWN
