"""Follows calls to their end, and loops until nothing new is found.

A loop over items that are written out is followed item by item. A generator is followed where its items are asked for: what is
done with an item is followed where the generator yields it. Any other loop is followed from what is known before it or after
one of its turns, until that says nothing new::

    for name in ("web", "news"): ...       # twice
    for name in found: ...                 # until what is known at its head stays as it is
"""

from __future__ import annotations

import ast
from abc import abstractmethod
from collections.abc import Callable, Sequence

from graphflow.contracts.code import Code
from graphflow.contracts.constants import is_on
from graphflow.contracts.frames import Frame, Loop
from graphflow.contracts.methods import Methods
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

MOST_STEPS = 10_000
_ROUNDS = 12
_PLAIN_ROUNDS = 3


class Looping(Methods):
    """Follows a function.

    Args:
        code: its source.
        events: whether what it yields are events that ask for something.
    """

    def __init__(self, code: Code, *, events: bool = False) -> None:
        super().__init__(code, MOST_STEPS)
        self.events = events
        self.stack: list[Frame] = []
        self.shapes = {}
        self.tries: list[list[Flow]] = []

    @abstractmethod
    def block(self, statements: Sequence[ast.stmt], flow: Flow) -> None:
        """Follow statements one after the other."""

    def body(self, frame: Frame, flow: Flow) -> Value:
        """See `Calling`."""
        before, stack = (getattr(self, "frame", None), self.code), self.stack
        stack.append(frame)
        self.frame, self.code = frame, frame.code
        frame.returns, frame.values, frame.loops = [], [], []
        try:
            if isinstance(frame.node, ast.Lambda):
                return self.evaluate(frame.node.body, flow)
            self.block(frame.node.body, flow)
            through = NONE if not flow.dead else ()
            flow.become(join([*frame.returns, flow]))
            return unite(*frame.values, through) or NONE
        finally:
            stack.pop()
            self.stack = stack
            if before[0] is not None:
                self.frame, self.code = before[0], before[1]

    def yielded(self, value: Value, node: ast.AST, flow: Flow) -> None:
        """See `Evaluation`."""
        if self.frame.taken is not None:
            self.frame.taken(value, node, flow)
        elif self.events and self.frame is self.stack[0]:
            self.take(value, node, flow)
        else:
            self.escape(value, node, flow)

    def iterate(self, items: Value, flow: Flow, step: Callable[[Value, Flow], None], site: ast.AST) -> None:
        """See `Evaluation`."""
        if is_tracked(items) and any(isinstance(atom, Known) for atom in items):
            self.unknown("it uses `{}`", site)
        row = self.items_of(items, flow)
        if row is not None and len(row) <= 100:
            path = self.path
            for place, item in enumerate(row):
                self.path = (*path, place)
                if not flow.dead:
                    step(item, flow)
            self.path = path
        elif len(items) == 1 and isinstance(items[0], Generating):
            self._generate(items[0], flow, step)
        else:
            collected = self._collected(items, flow)
            some = unite(self.some_of(items, flow), *collected)
            self._until_nothing_new(flow, lambda one: step(some, one), site)

    def _collected(self, items: Value, flow: Flow) -> list[Value]:
        """What the generators among some alternatives may yield."""
        found: list[Value] = []
        for atom in items:
            if isinstance(atom, Generating):
                way = flow.copy()
                self.run(atom.frame, way, lambda value, _node, _flow: found.append(value))
                flow.become(join([flow, way]))
        return found

    def _generate(self, items: Generating, flow: Flow, step: Callable[[Value, Flow], None]) -> None:
        """Follow a generator; each item that it yields is dealt with where it yields it, in the frame that asked."""
        if not self.has_room(items.frame):
            self._until_nothing_new(flow, lambda one: step(UNKNOWN, one), items.frame.node)
            return
        frame, code, path, stack = self.frame, self.code, self.path, [*self.stack]

        def taken(value: Value, node: ast.AST, one: Flow) -> None:
            inner = (self.frame, self.code, self.path, self.stack)
            self.frame, self.code, self.path, self.stack = frame, code, (*path, *self.path, id(node)), [*stack]
            step(value, one)
            self.frame, self.code, self.path, self.stack = inner

        self.run(items.frame, flow, taken)

    def _until_nothing_new(self, flow: Flow, step: Callable[[Flow], None], site: ast.AST) -> None:
        head = flow.copy()
        for turn in range(_ROUNDS):
            one = head.copy()
            step(one)
            met = join([head, one])
            if met == head:
                break
            if turn >= _PLAIN_ROUNDS:
                _widen(head, met)
            head = met
        else:
            self.unknown("it changes too much in a loop: `{}`", site)
        flow.become(head)

    def follow_for(self, node: ast.For | ast.AsyncFor, flow: Flow) -> None:
        """Follow a loop over items."""
        items = self.evaluate(node.iter, flow)
        loop, frame = Loop(), self.frame
        frame.loops.append(loop)

        def step(item: Value, one: Flow) -> None:
            self.assign(node.target, item, one)
            self.block(node.body, one)
            one.become(join([one, *loop.continues]))
            loop.continues.clear()

        self.iterate(items, flow, step, node.iter)
        frame.loops.pop()
        self.block(node.orelse, flow)
        flow.become(join([flow, *loop.breaks]))

    def follow_while(self, node: ast.While, flow: Flow) -> None:
        """Follow a loop with a condition."""
        loop = Loop()
        self.frame.loops.append(loop)
        ends: list[Flow] = []
        always = isinstance(node.test, ast.Constant) and is_on(self.evaluate(node.test, flow))

        def step(one: Flow) -> None:
            coping = self.test(node.test, one)
            ends[:] = [] if always else [one.copy()]
            self.coping += coping
            self.block(node.body, one)
            self.coping -= coping
            one.become(join([one, *loop.continues]))
            loop.continues.clear()

        self._until_nothing_new(flow, step, node)
        self.frame.loops.pop()
        flow.become(join(ends))
        self.block(node.orelse, flow)
        flow.become(join([flow, *loop.breaks]))

    def test(self, node: ast.expr, flow: Flow) -> bool:
        """Follow a condition; say whether it is about the iteration, so that what it guards is for some only."""
        before = self.turns
        self.truth(node, flow)
        return self.turns > before


def _widen(before: Flow, after: Flow) -> None:
    """Of variables and containers that still change, say only what cannot change further."""
    for name, value in after.names.items():
        if before.names.get(name) != value:
            after.names[name] = (
                *(atom for atom in value if isinstance(atom, (Inner, Made, Known))),
                *UNKNOWN,
            )
    for site, content in after.heap.items():
        old = before.heap.get(site)
        if old != content:
            if isinstance(content, Listed):
                after.heap[site] = Listed((unite(*content.items, UNKNOWN),), exact=False)
            elif isinstance(old, Mapped):
                items = {
                    key: (unite(held, UNKNOWN), False) for key, (held, _) in content.items.items() if key in old.items
                }
                after.heap[site] = Mapped(items, unite(content.rest, UNKNOWN), content.kind)
