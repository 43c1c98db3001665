"""What is wrong with each read: the one decision that the rules about reads share, so that no two speak about the same one.

Of a read of a key by an agent the first that applies is said::

    undeclared   the state of its flow is closed and has no such key                                 GF207
    (nothing)    an open contract may have written it before
    undefined    no write of this run reaches it, and nothing gives it                               GF201
    condition    some path lacks it, and a condition, gate or exit test reads it                     GF506
    stale        some path lacks it, where what an earlier run left is found in place of this run's  GF206
    round        every write that reaches it comes round a loop                                      GF205
    maybe        some path lacks it                                                                  GF202

Where a stage beside the reader writes a key that is not there, the rule about races speaks in place of "undefined" (GF302).
An optional read can be undeclared or stale only. Nothing here formats findings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from graphflow.ir.nodes import Branch, Exit, LoopHeader, agent_path

if TYPE_CHECKING:
    from graphflow.analysis.facts import Facts, Use

ReadFault = Literal["undeclared", "undefined", "condition", "stale", "round", "maybe"]


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
        if facts.undeclared(key):
            return "undeclared"
        if facts.unreachable(node) or facts.unknown(node, key):
            return None
        reaching, persists = facts.reaching(node, key), facts.persists(key)
        if not reaching and not persists and not use.read.optional:
            return None if facts.beside(node, key) else "undefined"
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
        if not facts.kept(key) or key in facts.effects.merged:
            return False
        if facts.persists(key):
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
