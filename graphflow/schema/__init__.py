"""Keys, types, merges and values: what the state is made of.

The bottom of everything that knows what a value is; it knows no agents, no graphs and no runs::

    type_of(list[str]).text                                # "list[str]"
    validator(type_of(int))("3")                           # TypeMismatch: expected int, got str ('3')
    Merge.extend.apply(["a"], ["b"])                       # ["a", "b"]
    assignable(type_of(list[int]), type_of(list[float]))   # True
"""

from __future__ import annotations

from graphflow.schema.adapters import validator
from graphflow.schema.assign import assignable
from graphflow.schema.failure import Failure
from graphflow.schema.merges import Key, Merge, Overwrite, as_merge
from graphflow.schema.mismatch import TypeMismatch
from graphflow.schema.text import parse_text, render_text
from graphflow.schema.types import ANY, MISSING, Missing, Type, closed_values, fields_of, type_of
from graphflow.schema.values import freeze, from_json, thaw, to_json

__all__ = [
    "ANY",
    "MISSING",
    "Failure",
    "Key",
    "Merge",
    "Missing",
    "Overwrite",
    "Type",
    "TypeMismatch",
    "as_merge",
    "assignable",
    "closed_values",
    "fields_of",
    "freeze",
    "from_json",
    "parse_text",
    "render_text",
    "thaw",
    "to_json",
    "type_of",
    "validator",
]
