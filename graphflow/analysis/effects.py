"""What each node does to the keys, by the way in which it is left: the sets of bits that the analyses of keys work on.

Every key and every write (a *definition*) has a number. What a node writes depends on its outcome: a failed task has written
nothing, a model agent that escalated has not answered, a map gives the item to its body only::

    effects.of("s/writer", "next")      # Effect(proved={topic}, sure={draft}, killed={draft}, made={writer's draft})

Nothing here knows paths.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import or_
from typing import NamedTuple

from graphflow.conditions import And, Condition, Not, Or
from graphflow.contracts.contract import Contract
from graphflow.contracts.template import condition_reads
from graphflow.ir.graph import Graph
from graphflow.ir.nodes import BODY, ERROR, ESCALATIONS, IN, OUT, ROUTE, Branch, Fork, Join, LoopHeader, Node, Task
from graphflow.ir.scoping import SHARED, local_key
from graphflow.schema import Type

RESERVED = (OUT, ROUTE, IN)


@dataclass(frozen=True, slots=True)
class Definition:
    """One write of one key by one node. `index` is its bit."""

    index: int
    node: str
    key: str
    type: Type
    sure: bool


class Effect(NamedTuple):
    """What leaving a node in one way does: keys as bits, except `made`, which are definitions.

    `proved` have been read, `sure` written, `killed` replaced (written and not merged); `ended` have gone out of scope.
    """

    proved: int = 0
    sure: int = 0
    killed: int = 0
    ended: int = 0
    made: int = 0


def outcome(label: str) -> str:
    """Give the outcome that an edge's label stands for: both kinds of escalation are one."""
    return "escalate" if label in ESCALATIONS else label


class Effects:
    """The keys and definitions of a graph, numbered, and what its nodes do to them.

    Args:
        graph: the program.

    Attributes:
        key_bit: key -> its bit.
        definitions: all writes, in canonical order.
        unknown: key -> the bit, past those of the definitions, that stands for a write of an open contract.
        of_key: key -> its definitions, the unknown one included.
        merged: keys with a merge.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.merged = {key.name for key in graph.interface.keys if key.merge is not None}
        names: dict[str, None] = {}
        self.definitions: list[Definition] = []
        self._of_node: dict[str, list[Definition]] = {}
        for node in graph.nodes.values():
            names.update(dict.fromkeys(read.key for read in node.contract.reads))
            names.update(dict.fromkeys(write.key for write in node.contract.writes))
            for write in node.contract.writes:
                definition = Definition(len(self.definitions), node.id, write.key, write.type, write.sure)
                self.definitions.append(definition)
                self._of_node.setdefault(node.id, []).append(definition)
        self.key_bit = {name: 1 << index for index, name in enumerate(names)}
        self.unknown = {name: 1 << (len(self.definitions) + index) for index, name in enumerate(names)}
        self.of_key = dict(self.unknown)
        for definition in self.definitions:
            self.of_key[definition.key] |= 1 << definition.index
        self._names = list(names)
        self._known: dict[tuple[str, str], Effect] = {}
        self._definitions: dict[int, int] = {}
        self._keys: dict[int, int] = {}

    @property
    def all_keys(self) -> int:
        """The bits of all keys."""
        return (1 << len(self._names)) - 1

    def of(self, node_id: str, label: str) -> Effect:
        """Say what leaving a node by an edge with this label does."""
        place = (node_id, outcome(label))
        if place not in self._known:
            self._known[place] = self._effect(self.graph.nodes[node_id], outcome(label))
        return self._known[place]

    def definitions_of(self, keys: int) -> int:
        """Give the definitions of keys, as bits for bits."""
        found = self._definitions.get(keys)
        if found is None:
            found = self._definitions[keys] = reduce(or_, (self.of_key[name] for name in self.names(keys)), 0)
        return found

    def keys_of(self, made: int) -> int:
        """Give the keys of definitions, as bits for bits."""
        found = self._keys.get(made)
        if found is None:
            known = [d.key for d in self.definitions if made >> d.index & 1]
            unknown = (
                [name for name, bit in self.unknown.items() if made & bit] if made >> len(self.definitions) else []
            )
            found = self._keys[made] = self.bits([*known, *unknown])
        return found

    def names(self, keys: int) -> Iterable[str]:
        """Yield the names of keys given as bits."""
        while keys:
            lowest = keys & -keys
            yield self._names[lowest.bit_length() - 1]
            keys ^= lowest

    def bits(self, names: Iterable[str]) -> int:
        """Give the bits of keys."""
        return reduce(or_, (self.key_bit[name] for name in names), 0)

    def made_by(self, node_id: str) -> list[Definition]:
        """Give the writes of a node."""
        return self._of_node.get(node_id, [])

    @cached_property
    def scopes(self) -> tuple[str, ...]:
        """The prefixes of the sub-flows, longest first."""
        found = {node.fresh for node in self.graph.nodes.values() if isinstance(node, Task) and node.fresh}
        return tuple(sorted(found, key=lambda prefix: (-len(prefix), prefix)))

    def scope_of(self, name: str) -> str:
        """Give the prefix of the sub-flow that a key belongs to, "" for none."""
        bare = next((name.removeprefix(p) for p in self.scopes if name.startswith(p)), name)
        return name[: len(name) - len(bare)]

    def local(self, name: str) -> str:
        """Give the name that a key has where it is used."""
        return local_key(name, self.scope_of(name))

    def visible(self, scope: str) -> int:
        """Give the keys that a body in a scope may know."""
        found = self._visible.get(scope)
        if found is None:
            seen = [name for name in self._names if self.scope_of(name) == scope or name.startswith(SHARED)]
            found = self._visible[scope] = self.bits(name for name in seen if not is_reserved(local_key(name, scope)))
        return found

    @cached_property
    def _visible(self) -> dict[str, int]:
        return {}

    def tested(self, node: LoopHeader) -> int:
        """Give the keys that the exit test of a loop proves."""
        return self.bits(always_read(node.until)) if node.until is not None else 0

    def _effect(self, node: Node, way: str) -> Effect:
        proved = self.bits(self._proved(node))
        contract = node.contract
        ended = made = 0
        match node:
            case Task(fresh=fresh, scope=scope):
                if way == ERROR or (way == "escalate" and not contract.answers_when_escalating):
                    return Effect(proved)
                if fresh:
                    ended = self.bits(name for name in self._names if name.startswith(fresh))
                if contract.open:
                    made = sum(self.unknown[name] for name in self.names(self.visible(scope)))
            case Fork() if way != BODY:
                return Effect(proved)
            case _:
                pass
        unsure = isinstance(node, Join) and bool(node.collect) and way == "escalate"
        sure, killed = (0, 0) if unsure else self._surely(contract)
        for definition in self.made_by(node.id):
            made |= 1 << definition.index
        return Effect(proved, sure, killed, ended, made)

    def _surely(self, contract: Contract) -> tuple[int, int]:
        written = [write.key for write in contract.writes if write.sure]
        return self.bits(written), self.bits(key for key in written if key not in self.merged)

    def _proved(self, node: Node) -> Iterable[str]:
        if isinstance(node, Branch):
            first = node.arms[0].condition if node.arms else None
            return always_read(first) if first is not None else ()
        if isinstance(node, LoopHeader) or (isinstance(node, Join) and node.collect):
            return ()
        return [read.key for read in node.contract.reads if not read.optional]


def is_reserved(name: str) -> bool:
    """Say whether a key is one that graphflow keeps for itself."""
    return name.startswith(RESERVED)


def always_read(condition: Condition) -> Iterable[str]:
    """Give the keys that evaluating a condition reads whatever the values: the left side of `&` and `|`."""
    while isinstance(condition, (And, Or, Not)):
        condition = condition.operand if isinstance(condition, Not) else condition.left
    return [read.key for read in condition_reads([condition]) if not read.optional]
