"""What makes two graphs the same program.

Everything that says what runs, when, and on which keys. Not: where the source stands, bodies, prompts, declared
descriptions, why a contract is open, and state edges, which follow from the rest. Types count by name, conditions by what
they ask, functions in conditions and merges by name, values of keys by their text::

    identity(node) == identity(replace(node, origin=None))      # True

This module knows parts of graphs, not graphs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass

from graphflow import conditions
from graphflow.conditions import Condition
from graphflow.schema import Key, Merge, Type, type_of
from graphflow.template import Template

_APART = frozenset({"origin", "doc"})


def identity(part: object) -> object:
    """Give what counts of a part of a graph, as plain data that compares.

    Args:
        part: a node, an edge, a region, an interface, or anything inside one.
    """
    match part:
        case Type() | str() | None:
            return part
        case Condition():
            return conditions.text(part, exact=True)
        case Template():
            return part.text, tuple(placeholder.name for placeholder in part.placeholders)
        case Merge():
            return part.name, part.commutative, getattr(Merge, part.name, None) is part
        case Key():
            text = conditions.value_text(part.default)
            return part.name, type_of(part.type), text, identity(part.merge), part.persist
        case tuple():
            return tuple(map(identity, part))
        case Mapping():
            return tuple((name, identity(value)) for name, value in part.items())
    if is_dataclass(part) and not isinstance(part, type):
        counted = [each.name for each in fields(part) if each.compare and each.name not in _APART]
        return type(part), *(_field(name, getattr(part, name)) for name in counted)
    return type(part), conditions.value_text(part)


def _field(name: str, value: object) -> object:
    return bool(value) if name == "open" else identity(value)
