"""What is wrong with each read: the one decision that the rules about reads share, so that no two speak about the same one.

Of a read of a key by an agent the first that applies is said::

    undeclared   the state of its flow is closed and has no such key                                 GF207
    (nothing)    an open contract may have written it before
    raced        no write of this run reaches it, but one is made beside it, and nothing gives it    GF302
    undefined    no write of this run reaches it, and nothing gives it                               GF201
    condition    some path lacks it, and a condition, gate or exit test reads it                     GF506
    stale        some path lacks it, where what an earlier run left is found in place of this run's  GF206
    round        every write that reaches it comes round a loop                                      GF205
    maybe        some path lacks it                                                                  GF202

The rule about races speaks of other reads too, where an earlier value may be there. An optional read can be undeclared or
stale only. Nothing here formats findings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from graphflow.ir.nodes import Branch, Exit, Fork, LoopHeader, agent_path
from graphflow.ir.scoping import SHARED, declared_names

if TYPE_CHECKING:
    from graphflow.analysis.facts import Facts, Use

ReadFault = Literal["undeclared", "raced", "undefined", "condition", "stale", "round", "maybe"]
OTHER_SCOPES = (*SHARED, "temp:")
"""Prefixes of keys that are not a flow's own."""


class Reads:
    """The faults of the reads of a graph, each read judged once.

    Args:
        facts: about the graph.
    """

    def __init__(self, facts: Facts) -> None:
        self._facts = facts

    def faulty(self, fault: ReadFault) -> Sequence[Use]:
        """Give the reads with a fault, in canonical order: of each key of each agent the first that has any fault."""
        return self._faults.get(fault, ())

    @cached_property
    def closed(self) -> Mapping[str, frozenset[str]]:
        """Prefix of each key scope whose flow has a closed state ("" for the flow itself) -> the keys that it has."""
        graph = self._facts.graph
        inner = {f"{path}/": each.notes.keys for path, each in graph.declarations.items()}
        found = {prefix: names for prefix, names in inner.items() if names is not None}
        return {"": declared_names(graph.interface), **found} if graph.interface.closed else found

    def undeclared(self, key: str) -> bool:
        """Say whether the flow that a key belongs to has a closed state without it.

        No state model can name keys that belong to a user, to the application or to one run (`user:`, `app:`, `temp:`):
        they are none of it. Nor is what a map gives to its instances.
        """
        facts = self._facts
        name, names = facts.local(key), self.closed.get(facts.effects.scope_of(key))
        if names is None or name in names or facts.reserved(key) or name.startswith(OTHER_SCOPES):
            return False
        writers = [d.node for d in facts.writers(key) if d.node != facts.graph.entry]
        return not writers or not all(isinstance(facts.graph.nodes[node], Fork) for node in writers)

    def persists(self, key: str) -> bool:
        """Say whether the flow writes a key that it declares to be kept for later runs; an input is what this run was given."""
        declared = self._facts.keys.get(key)
        return declared is not None and declared.persist and self._produces(key)

    def kept(self, key: str) -> bool:
        """Say whether a run may find the value that an earlier run of its session wrote."""
        return self.persists(key) or (self._facts.profile.keeps_state and self._produces(key))

    def _produces(self, key: str) -> bool:
        graph = self._facts.graph
        given = any(name == key for name, *_ in graph.interface.inputs or ())
        return not given and not self._facts.inner(key) and any(d.node != graph.entry for d in self._facts.writers(key))

    @cached_property
    def faulty_keys(self) -> frozenset[str]:
        """The keys that some read finds absent on some path or other."""
        found = (use.read.key for fault, uses in self._faults.items() if fault != "undeclared" for use in uses)
        return frozenset(found)

    @cached_property
    def _faults(self) -> Mapping[ReadFault, Sequence[Use]]:
        found: dict[ReadFault, list[Use]] = {}
        seen: set[tuple[str, str]] = set()
        for use in self._facts.uses:
            place = (agent_path(use.node.id), use.read.key)
            if isinstance(use.node, Exit) or self._facts.reserved(use.read.key) or place in seen:
                continue
            fault = self._fault(use)
            if fault is not None:
                seen.add(place)
                found.setdefault(fault, []).append(use)
        return found

    def _fault(self, use: Use) -> ReadFault | None:
        facts, node, key = self._facts, use.node.id, use.read.key
        if self.undeclared(key):
            return "undeclared"
        if facts.unreachable(node) or facts.unknown(node, key):
            return None
        reaching, persists = facts.reaching(node, key), self.persists(key)
        if not reaching and not persists and not use.read.optional:
            return "raced" if facts.beside(node, key) else "undefined"
        if facts.surely(node, key):
            return None
        if isinstance(use.node, (Branch, LoopHeader)) and not use.read.optional:
            return "condition"
        if self._is_stale(use):
            return "stale"
        if use.read.optional:
            return None
        comes_round = reaching and not persists and facts.paths.comes_round(node, reaching)
        return "round" if comes_round else "maybe"

    def _is_stale(self, use: Use) -> bool:
        """Whether a read may find what an earlier run left where this run was to replace it.

        A read before every write of this run is what keys are kept for, in the first iteration of a loop too. A stage that
        reads what it writes, and a merge, go on from the earlier value, so it is as good.

        Where a framework keeps all keys without being asked to, nobody means an earlier run's value, but nobody says either
        which writes have to come first. There it is said of optional reads only (the first run of a session fails at others),
        of keys that every writer surely writes, and not of values of the iteration before.
        """
        facts, node, key = self._facts, use.node.id, use.read.key
        reaching = facts.reaching(node, key)
        if not self.kept(key) or key in facts.effects.merged:
            return False
        if self.persists(key):
            adds = any(read.key == key for d in reaching for read in facts.graph.nodes[d.node].contract.reads)
            return bool(reaching) and not adds and not facts.paths.comes_round(node, reaching)
        around, writers = set(facts.loops_around[node]), facts.writers(key)
        readers = {node, *(d.node for d in writers)}
        adds = any(read.key == key for id_ in readers - {node} for read in facts.graph.nodes[id_].contract.reads)
        return (
            use.read.optional
            and not adds
            and not any(d.node == node or not d.sure or around & set(facts.loops_around[d.node]) for d in writers)
        )
