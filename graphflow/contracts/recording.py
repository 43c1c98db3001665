"""What is found in a function's source, and the taking down of it while the source is followed.

A read of what the function has surely written itself is none. A read is optional where its absence is coped with: it was asked
for before (`in`, `.get`), a `try` around it catches its absence, or only some iterations come to it. A read that every way
comes to without asking is required, whatever is asked for later::

    if "draft" in ctx.state: return ctx.state["draft"]       # draft, optional

It knows nothing of syntax trees but their places.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from graphflow.contracts.code import Code
from graphflow.contracts.constants import is_off, keys_of
from graphflow.contracts.contract import Origin, Read, Write
from graphflow.contracts.values import Constant, Flow, Value, join

_LONGEST = 60
_AFTER_OPEN = 2_000
"""How many steps are worth it when the contract is open already."""


@dataclass(slots=True)
class SourceFacts:
    """What was found in a function's source; `open` says what could not be known.

    Attributes:
        reads: key read -> whether its absence is coped with.
        writes: key written -> whether it is written whichever way the function ends.
        places: key read -> where it is read first.
        open: what makes the contract open: one reason, the first that the function comes to; empty if it is complete.
        escalates: the body may end the nearest loop.
        halts: the body may halt the run.
        forwards: events of children are yielded on.
        routes: constants that it sets its route to, each once.
        any_route: it sets its route to something that cannot be known.
        always_routes: it sets its route whichever way it ends.
        returns: it returns a value somewhere.
    """

    reads: dict[str, bool] = field(default_factory=dict)
    writes: dict[str, bool] = field(default_factory=dict)
    places: dict[str, Origin] = field(default_factory=dict)
    open: tuple[str, ...] = ()
    escalates: bool = False
    halts: bool = False
    forwards: bool = False
    routes: list[object] = field(default_factory=list)
    any_route: bool = False
    always_routes: bool = False
    returns: bool = False

    @property
    def sure(self) -> frozenset[str]:
        """The keys that are written whichever way the function ends."""
        return frozenset(key for key, sure in self.writes.items() if sure)

    def as_reads(self) -> tuple[Read, ...]:
        """The keys read, in order of appearance."""
        return tuple(Read(key, optional=optional, origin=self.places.get(key)) for key, optional in self.reads.items())

    def as_writes(self) -> tuple[Write, ...]:
        """The keys written, in order of appearance."""
        return tuple(Write(key, sure=sure) for key, sure in self.writes.items())


def open_facts(reason: str) -> SourceFacts:
    """Facts about a function of which nothing can be known."""
    return SourceFacts(open=(reason,))


class TooLong(Exception):
    """A function takes too many steps to follow."""


class Recording:
    """Takes down what a function does to the state.

    Args:
        code: the function.
        most_steps: how many statements and expressions are followed.

    Attributes:
        facts: what was found so far.
        asked: keys that were asked for.
        coping: how many `try`s around that catch the absence of a key, or conditions about the iteration.
    """

    def __init__(self, code: Code, most_steps: int) -> None:
        self.facts = SourceFacts()
        self.coping = 0
        self.code = code
        self._left = most_steps
        self._unguarded: set[str] = set()
        self.asked: set[str] = set()

    def spend(self) -> None:
        """Count a step.

        Raises:
            TooLong: it was the last.
        """
        self._left -= 1
        if self._left < 0:
            raise TooLong

    def unknown(self, what: str, node: ast.AST, shown: ast.AST | None = None) -> None:
        """Take down that something cannot be known: `what`, with the place of a part of the tree and its text."""
        if self.facts.open:
            return
        self._left = min(self._left, _AFTER_OPEN)
        text = _text(shown if shown is not None else node)
        self.facts.open = (f"{what.format(text)} in line {getattr(node, 'lineno', 0)}",)

    def read(
        self, key: Value, node: ast.AST, flow: Flow, *, optional: bool = False, shown: ast.AST | None = None
    ) -> None:
        """Take down a read of the key that a value names."""
        names = keys_of(key)
        if names is None:
            self.unknown("it uses `{}`", node, shown)
        else:
            self._each(names, flow, lambda name, one: self._read(name, node, one, optional=optional))

    def write(self, key: Value, node: ast.AST, flow: Flow, *, sure: bool = True, shown: ast.AST | None = None) -> None:
        """Take down a write of the key that a value names."""
        names = keys_of(key)
        if names is None:
            self.unknown("it uses `{}`", node, shown)
            return
        for name in names:
            self.facts.writes.setdefault(name, False)
        if sure and len(names) == 1:
            flow.written |= {names[0]}

    def route(self, value: Value, flow: Flow) -> None:
        """Take down what the route is set to."""
        flow.routed = not any(isinstance(atom, Constant) and atom.value is None for atom in value)
        for atom in value:
            if not isinstance(atom, Constant) or not isinstance(atom.value, (str, bool, int, Enum, type(None))):
                self.facts.any_route = True
            elif atom.value is not None and not any(
                type(known) is atom.kind and known == atom.value for known in self.facts.routes
            ):
                self.facts.routes.append(atom.value)

    def request(self, name: str, value: Value) -> None:
        """Take down that the body asks for an escalation or a halt, unless the value says that it does not."""
        if not is_off(value):
            self.facts.escalates |= name == "escalate"
            self.facts.halts |= name == "halt"

    def finish(self, end: Flow) -> SourceFacts:
        """Decide what is sure, when all is known about the end of the function."""
        for key in self.facts.writes:
            self.facts.writes[key] = not end.dead and key in end.written
        for key in self.facts.reads:
            required = key in self._unguarded and (key in end.proved or key not in self.asked)
            self.facts.reads[key] = not required
        self.facts.always_routes = end.routed and not end.dead
        return self.facts

    def _read(self, key: str, node: ast.AST, flow: Flow, *, optional: bool) -> None:
        if key in flow.written:
            return
        if key not in self.facts.reads:
            self.facts.reads[key] = True
            self.facts.places[key] = self.code.origin(node)
        if optional or self.coping:
            flow.asked |= {key}
            self.asked.add(key)
        else:
            self._unguarded.add(key)
            if key not in flow.asked:
                flow.proved |= {key}

    def _each(self, names: Sequence[str], flow: Flow, act: Callable[[str, Flow], None]) -> None:
        if len(names) == 1:
            act(names[0], flow)
            return
        ways = []
        for name in names:
            way = flow.copy()
            act(name, way)
            ways.append(way)
        flow.become(join(ways))


def without_sure(facts: SourceFacts) -> SourceFacts:
    """The same facts about a function that could not be followed to its end: nothing is sure."""
    return replace(facts, writes=dict.fromkeys(facts.writes, False), reads=dict.fromkeys(facts.reads, True))


def _text(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."
