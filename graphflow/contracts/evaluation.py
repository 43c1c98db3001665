"""Follows expressions: what they evaluate to, and what they do to the state on the way.

Each kind of expression has a method; what has none is evaluated part by part and is not known. Calls and statements are the
business of the classes that build on this one::

    ctx.state["draft_" + kind]        # reads draft_a and draft_b, where kind is one of "a" and "b"
"""

from __future__ import annotations

import ast
from abc import abstractmethod
from collections.abc import Callable
from typing import ClassVar

from graphflow.contracts import constants
from graphflow.contracts.constants import combined, constant, lift
from graphflow.contracts.frames import Frame, bind, resolve
from graphflow.contracts.parts import Parts
from graphflow.contracts.values import (
    UNKNOWN,
    Constant,
    Flow,
    Inner,
    Known,
    Listed,
    Mapped,
    Several,
    Value,
    is_tracked,
    join,
    unite,
)  # fmt: skip


class Evaluation(Parts):
    """Follows expressions in the frame `frame`."""

    frame: Frame

    @abstractmethod
    def call(self, node: ast.Call, flow: Flow, *, awaited: bool = False) -> Value:
        """Follow a call."""

    @abstractmethod
    def iterate(self, items: Value, flow: Flow, step: Callable[[Value, Flow], None], site: ast.AST) -> None:
        """Follow what is done with each item of a value."""

    @abstractmethod
    def yielded(self, value: Value, node: ast.AST, flow: Flow) -> None:
        """Follow a `yield`."""

    def evaluate(self, node: ast.expr | None, flow: Flow) -> Value:
        """Follow an expression.

        Args:
            node: the expression; None stands for a part that is left out.
            flow: what is known before; it becomes what is known afterwards.

        Returns:
            What it may be.
        """
        if node is None or flow.dead:
            return UNKNOWN
        self.spend()
        follow = self._KINDS.get(type(node))
        if follow is not None:
            return follow(self, node, flow)
        for part in ast.iter_child_nodes(node):
            if isinstance(part, ast.expr):
                self.escape(self.evaluate(part, flow), part, flow)
        return UNKNOWN

    def truth(self, node: ast.expr, flow: Flow) -> Value:
        """Follow an expression that decides something: whether the state has keys at all cannot be known."""
        value = self.evaluate(node, flow)
        if Known.STATE in value:
            self.unknown("it uses `{}`", node)
        return value

    def part(self, test: ast.expr, flow: Flow) -> Flow:
        """Part the ways behind a condition: `flow` becomes that on which it holds; the other is given back."""
        other, decided = flow.copy(), self._decided(test, flow)
        flow.dead |= decided is False
        other.dead |= decided is True
        return other

    def _decided(self, test: ast.expr, flow: Flow) -> bool | None:
        """What a condition about nothing but literals and variables surely says; None where that is open.

        Names of the module do not count: what they stand for may be another thing where the program runs.
        """
        match test:
            case ast.Constant(value=literal):
                return bool(literal)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                inner = self._decided(operand, flow)
                return None if inner is None else not inner
            case ast.Name() if test.id in self.frame.shape.names:
                value = resolve(self.frame, test.id, flow)
                return True if constants.is_on(value) else False if constants.is_off(value) else None
            case ast.Compare(ast.Name() as left, [ast.Eq() | ast.NotEq() as how], [ast.Constant() as right]):
                value = resolve(self.frame, left.id, flow) if left.id in self.frame.shape.names else UNKNOWN
                if len(value) == 1 and isinstance(value[0], Constant) and value[0].kind in (str, int, bool):
                    return bool(value[0].value == right.value) is isinstance(how, ast.Eq)
        return None

    def assign(self, target: ast.expr, value: Value, flow: Flow) -> None:
        """Follow the binding of a target."""
        match target:
            case ast.Name(id=name):
                if not bind(self.frame, name, value, flow):
                    self.escape(value, target, flow)
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                self._unpack(targets, value, flow)
            case ast.Starred(value=inner):
                self.assign(inner, value, flow)
            case ast.Attribute(value=owner, attr=name):
                self.each(self.evaluate(owner, flow), flow, lambda atom, one: self.set(atom, name, value, target, one))
            case ast.Subscript(value=owner, slice=index):
                holder, key = self.evaluate(owner, flow), self.evaluate(index, flow)
                weak = len(holder) > 1
                self.each(holder, flow, lambda atom, one: self.put(atom, key, value, target, one, weak=weak))

    def _unpack(self, targets: list[ast.expr], value: Value, flow: Flow) -> None:
        rows = [self.items_of((atom,), flow) for atom in value]
        known = [row for row in rows if row is not None and len(row) == len(targets)]
        exact = 0 < len(known) == len(rows) and not any(isinstance(target, ast.Starred) for target in targets)
        some = self.some_of(value, flow)
        for place, target in enumerate(targets):
            self.assign(target, unite(*(row[place] for row in known)) if exact else some, flow)

    def _constant(self, node: ast.Constant, flow: Flow) -> Value:  # noqa: ARG002 - one signature for all kinds
        return lift(node.value)

    def _name(self, node: ast.Name, flow: Flow) -> Value:
        return resolve(self.frame, node.id, flow)

    def _named(self, node: ast.NamedExpr, flow: Flow) -> Value:
        value = self.evaluate(node.value, flow)
        self.assign(node.target, value, flow)
        return value

    def _lambda(self, node: ast.Lambda, flow: Flow) -> Value:
        for default in (*node.args.defaults, *filter(None, node.args.kw_defaults)):
            self.escape(self.evaluate(default, flow), default, flow)
        return (Inner(node, self.frame),)

    def _choice(self, node: ast.IfExp, flow: Flow) -> Value:
        before = self.turns
        self.truth(node.test, flow)
        coping = self.turns > before
        self.coping += coping
        other = self.part(node.test, flow)
        value = unite(self.evaluate(node.body, flow), self.evaluate(node.orelse, other))
        self.coping -= coping
        flow.become(join([flow, other]))
        return value

    def _either(self, node: ast.BoolOp, flow: Flow) -> Value:
        found = [self.truth(node.values[0], flow)]
        ends = []
        for part in node.values[1:]:
            ends.append(flow.copy())
            found.append(self.evaluate(part, flow))
        flow.become(join([*ends, flow]))
        return unite(*found)

    def _compare(self, node: ast.Compare, flow: Flow) -> Value:
        left_node, left = node.left, self.evaluate(node.left, flow)
        for operator, right_node in zip(node.ops, node.comparators, strict=True):
            right = self.evaluate(right_node, flow)
            if isinstance(operator, (ast.In, ast.NotIn)):
                self.escape(left, left_node, flow)
                if Known.STATE in right:
                    self.read(left, node, flow, optional=True)
            elif not isinstance(operator, (ast.Is, ast.IsNot)):
                self.escape(left, left_node, flow)
                self.escape(right, right_node, flow)
            left_node, left = right_node, right
        return UNKNOWN

    def _binary(self, node: ast.BinOp, flow: Flow) -> Value:
        left, right = self.evaluate(node.left, flow), self.evaluate(node.right, flow)
        made = self.operate(node.op, left, right, flow, node)
        if made == UNKNOWN:
            self.escape(left, node.left, flow)
            self.escape(right, node.right, flow)
        return made

    def operate(self, operator: ast.operator, left: Value, right: Value, flow: Flow, node: ast.AST) -> Value:
        """Give what an operation on two values makes."""
        if isinstance(operator, ast.Add):
            first, second = self.items_of(left, flow), self.items_of(right, flow)
            if first is not None and second is not None and not isinstance(left[0], Constant):
                return (Several((*first, *second)),)
            return combined([left, right], constants.added)
        if isinstance(operator, ast.Mult) and not isinstance(left[0] if left else None, (Constant, Known)):
            return self.make(Listed((self.some_of(left, flow),), exact=False), node, flow)
        if isinstance(operator, ast.Mod):
            row = self.items_of(right, flow) if any(isinstance(atom, Several) for atom in right) else None
            return combined([left, *(row or [right])], constants.filled)
        if isinstance(operator, ast.BitOr):
            merged = [self.pairs_of(each, flow) for each in (left, right)]
            if merged[0] is not None and merged[1] is not None:
                both = {**merged[0].items, **merged[1].items}
                return self.make(Mapped(both, unite(merged[0].rest, merged[1].rest)), node, flow)
        return UNKNOWN

    def _unary(self, node: ast.UnaryOp, flow: Flow) -> Value:
        value = self.truth(node.operand, flow) if isinstance(node.op, ast.Not) else self.evaluate(node.operand, flow)
        return combined([value], lambda number: -number) if isinstance(node.op, ast.USub) else UNKNOWN

    def _text(self, node: ast.JoinedStr, flow: Flow) -> Value:
        parts = [self.evaluate(part, flow) for part in node.values]
        return combined(parts, lambda *texts: "".join(texts))

    def _formatted(self, node: ast.FormattedValue, flow: Flow) -> Value:
        value = self.evaluate(node.value, flow)
        self.escape(value, node.value, flow)
        style = self.evaluate(node.format_spec, flow) if node.format_spec is not None else (constant(""),)
        return combined([value, style], lambda shown, how: constants.plain_text(shown, how, node.conversion))

    def _await(self, node: ast.Await, flow: Flow) -> Value:
        if isinstance(node.value, ast.Call):
            value = self.call(node.value, flow, awaited=True)
            return UNKNOWN if Known.CHILD_EVENTS in value else value
        self.evaluate(node.value, flow)
        return UNKNOWN

    def _yield(self, node: ast.Yield, flow: Flow) -> Value:
        value = self.evaluate(node.value, flow) if node.value is not None else ()
        if not flow.dead:
            self.yielded(value, node, flow)
        return UNKNOWN

    def _yield_from(self, node: ast.YieldFrom, flow: Flow) -> Value:
        self.iterate(self.evaluate(node.value, flow), flow, lambda item, one: self.yielded(item, node, one), node)
        return UNKNOWN

    def _row(self, node: ast.Tuple | ast.List | ast.Set, flow: Flow) -> Value:
        found: list[Value] = []
        exact = True
        for part in node.elts:
            if isinstance(part, ast.Starred):
                value = self.evaluate(part.value, flow)
                self._whole(value, part, flow)
                items = self.items_of(value, flow)
                exact = exact and items is not None
                found += items if items is not None else [self.some_of(value, flow)]
            else:
                found.append(self.evaluate(part, flow))
        if isinstance(node, ast.Tuple) and exact:
            return (Several(tuple(found)),)
        exact = exact and (isinstance(node, ast.List) or len(found) < 2)
        return self.make(Listed(tuple(found), exact), node, flow)

    def _whole(self, value: Value, node: ast.AST, flow: Flow) -> None:  # noqa: ARG002 - one signature for all
        """Whatever looks at all of the state."""
        if is_tracked(value) and not any(isinstance(atom, Several) for atom in value):
            self.unknown("it uses `{}`", node)

    def _mapping(self, node: ast.Dict, flow: Flow) -> Value:
        made = Mapped()
        for key_node, value_node in zip(node.keys, node.values, strict=True):
            key = self.evaluate(key_node, flow) if key_node is not None else ()
            value = self.evaluate(value_node, flow)
            if key_node is None:
                self._whole(value, value_node, flow)
            made = self.with_item(made, key, value, flow)
        return self.make(made, node, flow)

    def _attribute(self, node: ast.Attribute, flow: Flow) -> Value:
        owner = self.evaluate(node.value, flow)
        return self.each(owner, flow, lambda atom, one: self.attribute_of(atom, node.attr, node, one))

    def _subscript(self, node: ast.Subscript, flow: Flow) -> Value:
        holder, index = self.evaluate(node.value, flow), self.evaluate(node.slice, flow)
        if isinstance(node.slice, ast.Slice) and not any(isinstance(atom, (Constant, Known)) for atom in holder):
            return self.make(Listed((self.some_of(holder, flow),), exact=False), node, flow)
        return self.each(holder, flow, lambda atom, one: self.item_of(atom, index, node, one))

    def _starred(self, node: ast.Starred, flow: Flow) -> Value:
        value = self.evaluate(node.value, flow)
        self._whole(value, node, flow)
        return UNKNOWN

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, flow: Flow) -> Value:
        listed: list[Value] = []
        state = {"made": Mapped(), "sure": True}

        def element(one: Flow) -> None:
            if isinstance(node, ast.DictComp):
                key, value = self.evaluate(node.key, one), self.evaluate(node.value, one)
                state["made"] = self.with_item(state["made"], key, value, one, sure=bool(state["sure"]))  # type: ignore[arg-type]
            else:
                listed.append(self.evaluate(node.elt, one))

        def inside(place: int, one: Flow) -> None:
            if place == len(node.generators):
                element(one)
                return
            part = node.generators[place]
            items = self.evaluate(part.iter, one)
            exact = self.items_of(items, one) is not None and not part.ifs
            state["sure"] = state["sure"] and exact

            def step(item: Value, here: Flow) -> None:
                self.assign(part.target, item, here)
                ends = []
                for test in part.ifs:
                    self.truth(test, here)
                    ends.append(here.copy())
                inside(place + 1, here)
                here.become(join([*ends, here]))

            self.iterate(items, one, step, part.iter)

        before = flow.copy()
        inside(0, flow)
        self._forget(node, before, flow)
        if isinstance(node, ast.GeneratorExp):
            flow.become(join([before, flow]))
        if isinstance(node, ast.DictComp):
            made = state["made"]
            return self.make(made, node, flow) if isinstance(made, Mapped) else UNKNOWN
        exact = bool(state["sure"]) and len(listed) <= constants.MOST_ITEMS
        return self.make(Listed(tuple(listed)) if exact else Listed((unite(*listed),), exact=False), node, flow)

    def _forget(self, node: ast.AST, before: Flow, flow: Flow) -> None:
        """Give the variables of a comprehension back the values that they have around it."""
        targets = [part.target for part in ast.walk(node) if isinstance(part, ast.comprehension)]
        for name in (each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)):
            place = (self.frame.number, name)
            if place in before.names:
                flow.names[place] = before.names[place]
            else:
                flow.names.pop(place, None)

    _KINDS: ClassVar[dict[type[ast.expr], Callable[..., Value]]] = {
        ast.Constant: _constant, ast.Name: _name, ast.NamedExpr: _named, ast.Lambda: _lambda, ast.IfExp: _choice,
        ast.BoolOp: _either, ast.Compare: _compare, ast.BinOp: _binary, ast.UnaryOp: _unary, ast.JoinedStr: _text,
        ast.FormattedValue: _formatted, ast.Await: _await, ast.Yield: _yield, ast.YieldFrom: _yield_from,
        ast.Tuple: _row, ast.List: _row, ast.Set: _row, ast.Dict: _mapping, ast.Attribute: _attribute,
        ast.Subscript: _subscript, ast.Starred: _starred, ast.ListComp: _comprehension, ast.SetComp: _comprehension,
        ast.GeneratorExp: _comprehension, ast.DictComp: _comprehension,
    }  # fmt: skip

    def _call(self, node: ast.Call, flow: Flow) -> Value:
        return self.call(node, flow)

    _KINDS[ast.Call] = _call
