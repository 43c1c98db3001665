"""Whether merges fit what they combine, and writes of one key each other.

::

    better_merge(facts, definition)     # "extend", where a list is written to a key that appends
    conflicts(facts)                    # count: str from one stage and int from another, and a template reads both

It knows types and which writes reach which reads.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from types import NoneType

from graphflow.analysis.effects import Definition
from graphflow.analysis.facts import Facts, Use
from graphflow.analysis.kinds import kind_of, members, orders
from graphflow.ir.glue import Crossing
from graphflow.ir.nodes import Task
from graphflow.schema import ANY, Key, Merge, Type, assignable, type_of
from graphflow.schema.types import bare, is_literal

_COMBINED = (
    (Merge.append, ("list", "tuple")),
    (Merge.extend, ("list", "tuple")),
    (Merge.union, ("list", "tuple", "set", "frozenset")),
    (Merge.sum, ("Number",)),
)
_EVERYBODYS = ("builtins", "pydantic.main", "enum", "typing", "abc", "collections.abc", "typing_extensions", "datetime")


def combines(merge: Merge, type_: Type) -> bool:
    """Say whether a merge is made for values of a type; of a union one member is enough."""
    if merge in (Merge.max, Merge.min):
        return orders(type_)
    combined = next((names for known, names in _COMBINED if known == merge), None)
    kinds = [kind_of(member) for member in members(type_)]
    return combined is None or any(kind is None or kind.__name__ in combined for kind in kinds)


def takes(key: Key, update: Type) -> bool:
    """Say whether the merge of a key without a type is made for updates of a type."""
    return key.merge is None or key.merge == Merge.append or combines(key.merge, update)


def better_merge(facts: Facts, definition: Definition) -> str | None:
    """Name the merge that a write which does not fit a key's merge was meant for, None if there is none."""
    key, written = facts.keys.get(definition.key), facts.types.written(definition)
    if key is None or key.merge is None or definition.node == facts.graph.entry or facts.types.replaces(definition):
        return None
    declared = type_of(key.type)
    if declared == ANY:
        lists = key.merge in (Merge.extend, Merge.union)
        return "append" if lists and written != ANY and not takes(key, written) else None
    if assignable(written, facts.types.asked(definition)) or not combines(key.merge, declared):
        return None
    if key.merge == Merge.append and assignable(written, declared):
        return "extend"
    element = Merge.append.update_type(declared)
    lists = key.merge in (Merge.extend, Merge.union) and element != ANY
    return "append" if lists and assignable(written, element) else None


def conflicts(facts: Facts) -> Iterator[tuple[str, Definition, Definition, Use]]:
    """Find keys that are written as types which have nothing in common, with a read that may find either.

    Yields:
        The key, two of its writes and the read; each key once. A declaration, or a reader with a type, decides what the
        type is, so such keys are left out.
    """
    uses: dict[str, list[Use]] = {}
    for use in facts.uses:
        if not _carries(use):
            uses.setdefault(use.read.key, []).append(use)
    for key, readers in uses.items():
        declared = facts.keys.get(key)
        typed = declared is not None and (type_of(declared.type) != ANY or declared.merge is not None)
        if typed or facts.reserved(key) or not _differ(facts, key):
            continue
        for use in readers:
            reaching = [] if facts.unknown(use.node.id, key) else facts.reaching(use.node.id, key)
            first = {facts.types.written(d): d for d in reversed(reaching)}
            pair = next((p for p in combinations(reversed(first.values()), 2) if _apart(facts, *p)), None)
            if pair is not None and not any(_types_both(facts, each, *pair) for each in readers):
                yield (key, *pair, use)
                break


def _differ(facts: Facts, key: str) -> bool:
    return len({facts.types.written(definition) for definition in facts.writers(key)}) > 1


def _carries(use: Use) -> bool:
    """Whether a read only carries a value over the border of a sub-flow."""
    node = use.node
    return isinstance(node, Task) and isinstance(node.body, Crossing) and use.read.key in node.body.keys.values()


def _types_both(facts: Facts, use: Use, left: Definition, right: Definition) -> bool:
    """Whether a read with a type may find either write: it says what the type is, and GF401 whom it does not fit."""
    if use.read.type == ANY or use.read.path:
        return False
    reaching = facts.reaching(use.node.id, use.read.key)
    return left in reaching and right in reaching


def _apart(facts: Facts, left: Definition, right: Definition) -> bool:
    ours, theirs = facts.types.written(left), facts.types.written(right)
    return not any(_related(one, other) for one in _parts(ours) for other in _parts(theirs))


def _parts(type_: Type) -> Iterator[Type]:
    """Yield what a type consists of, values of a Literal by their types, without None, which goes with everything."""
    parts = [part for part in members(type_) if kind_of(part) is not NoneType]
    if not parts:
        yield ANY
    for part in parts:
        values = bare(part.hint).__args__ if is_literal(bare(part.hint)) else ()
        yield from (type_of(type(value)) for value in values)
        if not values:
            yield part


def _related(left: Type, right: Type) -> bool:
    if assignable(left, right) or assignable(right, left):
        return True
    one, other = kind_of(left), kind_of(right)
    if one is None or other is None:
        return True
    shared = set(one.__mro__) & set(other.__mro__)
    return any(kind.__module__ not in _EVERYBODYS for kind in shared if kind.__name__ != "Number")
