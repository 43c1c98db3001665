"""Values that are declared besides a type: defaults of keys and inputs, of a flow and of the sub-flows in it.

::

    wrong_defaults(facts)       # WrongDefault("@entry", "limit", "expected int, got str ('3')", Type("int"))

Such a run is refused before it starts, or the sub-flow fails where it begins.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from graphflow.analysis.facts import Facts
from graphflow.ir.glue import Crossing
from graphflow.ir.nodes import Task
from graphflow.schema import ANY, MISSING, Type, TypeMismatch, type_of, validator


@dataclass(frozen=True, slots=True)
class WrongDefault:
    """A default that its own type does not hold.

    Attributes:
        node: where the value is put into the state.
        key: the key.
        why: what is wrong with it.
        type: the type declared.
    """

    node: str
    key: str
    why: str
    type: Type


def wrong_defaults(facts: Facts) -> Iterator[WrongDefault]:
    """Find defaults that are no values of the type declared beside them, each key once."""
    interface, entry = facts.graph.interface, facts.graph.entry
    found = [(entry, name, default, type_) for name, type_, _, default in interface.inputs or ()]
    known = {name for _, name, default, _ in found if default is not MISSING}
    found += [(entry, k.name, k.default, type_of(k.type)) for k in interface.keys if k.name not in known]
    for node in facts.graph.nodes.values():
        if isinstance(node, Task) and isinstance(node.body, Crossing):
            types = {write.key: write.type for write in node.contract.writes}
            found += [
                (node.id, name, value, types[name]) for name, value in node.body.defaults.items() if name in types
            ]
    for place, name, default, type_ in found:
        if default is MISSING or type_ == ANY:
            continue
        try:
            validator(type_)(default)
        except TypeMismatch as error:
            yield WrongDefault(place, name, str(error), type_)
