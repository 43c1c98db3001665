"""What conditions and templates do with values: look up a field, compare with a case, print.

Only declared fields can be reached, so that neither a template nor a condition runs code of the value's class::

    field_of(invoice, ("vendor", "name"))     # 'Ada Ltd'
    field_of(invoice, ("__class__",))         # MISSING
    is_case(Kind.BUG, "BUG")                  # True: members of an Enum are their value too
    is_case(True, 1)                          # False: the type counts
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterable, Mapping
from enum import Enum

from pydantic import BaseModel

from graphflow.errors import GraphflowError
from graphflow.schema import MISSING

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


class ConditionError(GraphflowError):
    """A condition cannot be evaluated for the values found.

    Attributes:
        condition: text of the condition.
        types: names of the types of the values that do not fit.
    """

    def __init__(self, condition: str, problem: str, *values: object) -> None:
        self.condition = condition
        self.types = tuple(type(value).__name__ for value in values)
        super().__init__(
            f"condition `{condition}`: {problem} {' and '.join(self.types)}; "
            "look at what writes the key, and declare the key's type to find it before a run"
        )


def field_of(value: object, path: Iterable[str]) -> object:
    """Follow field names into a value.

    Args:
        value: where to start.
        path: names of items of mappings and of fields of pydantic models (extra ones included) and dataclasses; never
            of methods, properties, private or class attributes.

    Returns:
        What is found there, MISSING if a field is not there.
    """
    for name in path:
        value = _field(value, name)
        if value is MISSING:
            return MISSING
    return value


def _field(value: object, name: str) -> object:
    if isinstance(value, Mapping):
        return value.get(name, MISSING)
    if name.startswith("_") or isinstance(value, type):
        return MISSING
    if isinstance(value, BaseModel):
        declared = name in type(value).model_fields
        return getattr(value, name, MISSING) if declared else (value.model_extra or {}).get(name, MISSING)
    if dataclasses.is_dataclass(value) and any(field.name == name for field in dataclasses.fields(value)):
        return getattr(value, name, MISSING)
    return MISSING


def is_case(value: object, case: object) -> bool:
    """Say whether a value is a case: equal and of one type; a member of an Enum is its value too.

    Args:
        value: what the key holds.
        case: what the case names.
    """
    if isinstance(value, Enum) and isinstance(case, Enum):
        return value is case
    value = value.value if isinstance(value, Enum) else value
    case = case.value if isinstance(case, Enum) else case
    return type(value) is type(case) and bool(value == case)


def value_text(value: object) -> str:
    """Print a value the same way on every machine: sets are sorted, an Enum's member is `Class.MEMBER`."""
    if isinstance(value, Enum):
        return f"{type(value).__name__}.{value.name}"
    if isinstance(value, list):
        return f"[{', '.join(map(value_text, value))}]"
    if type(value) is tuple:
        return f"({', '.join(map(value_text, value))}{',' * (len(value) == 1)})"
    if isinstance(value, (set, frozenset)):
        return f"{{{', '.join(map(value_text, in_order(value)))}}}" if value else "set()"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{value_text(name)}: {value_text(item)}' for name, item in value.items())}}}"
    if isinstance(value, str):
        return str.__repr__(value)
    return " ".join(_ADDRESS.sub("", repr(value)).split())


def in_order(values: Iterable[object]) -> list[object]:
    """Put the members of a set into an order that does not change from run to run: numbers by size, else by text."""
    return sorted(values, key=lambda value: (*_size(value), type(value).__name__, value_text(value)))


def _size(value: object) -> tuple[int, float]:
    return (0, value) if isinstance(value, (int, float)) and not math.isnan(value) else (1, 0)
