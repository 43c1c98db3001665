"""What conditions and templates do with values: look up a field, compare with a case, print.

Only declared fields can be reached, so that neither a template nor a condition runs code of the value's class::

    field_of(invoice, ("vendor", "name"))     # 'Ada Ltd'
    field_of(invoice, ("__class__",))         # MISSING
    is_case(Kind.BUG, "BUG")                  # True: members of an Enum are their value too
    is_case(True, 1)                          # False: the type counts
"""

from __future__ import annotations

import dataclasses
import json
import math
import re
from collections.abc import Iterable, Mapping
from enum import Enum

from pydantic import BaseModel

from graphflow.conditions.scanning import bracketed
from graphflow.conditions.words import RESERVED
from graphflow.errors import GraphflowError
from graphflow.schema import MISSING

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_MEMBER = re.compile(r"[^\W\d]\w*\.[^\W\d]\w*")
_PLAIN = re.compile(r'[^<>"\n]*')
_LONG = 10_000
OBJECT = re.compile(r"([^\W\d][\w.]*)\(")
"""How the text of an object begins: `Class(`."""


@dataclasses.dataclass(frozen=True, slots=True)
class Written:
    """A value of which only the text is known: it was read, and its class is not at hand."""

    text: str

    def __repr__(self) -> str:
        return self.text


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
    """Print a value the same way on every machine, on one line, and such that `parse_condition` finds its end.

    Args:
        value: any value. Plain ones are written as in Python, sets sorted, an Enum's member as `Class.MEMBER`, models and
            dataclasses by their fields; of anything else its `repr` is all there is.
    """
    if isinstance(value, Enum):
        member = f"{type(value).__name__}.{value.name}"
        plain = _MEMBER.fullmatch(member) and type(value).__name__ not in RESERVED
        return member if plain else _set_apart(member)
    if isinstance(value, list):
        return f"[{', '.join(map(value_text, value))}]"
    if type(value) is tuple:
        return f"({', '.join(map(value_text, value))}{',' * (len(value) == 1)})"
    if isinstance(value, (set, frozenset)):
        members = f"{{{', '.join(map(value_text, in_order(value)))}}}" if value else ""
        return f"frozenset({members})" if isinstance(value, frozenset) else members or "set()"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{value_text(name)}: {value_text(item)}' for name, item in value.items())}}}"
    if isinstance(value, str):
        return str.__repr__(value)
    return _object_text(value)


def _object_text(value: object) -> str:
    if value is None or isinstance(value, bool):
        return repr(value)
    if isinstance(value, (float, bytes)):
        return float.__repr__(value) if isinstance(value, float) else bytes.__repr__(value)
    if isinstance(value, int):
        return int.__repr__(value) if value.bit_length() < _LONG else hex(value)
    if isinstance(value, Written):
        return value.text
    parts = _parts(value)
    written = " ".join(_ADDRESS.sub("", repr(value)).split()) if parts is None else ""
    if parts is not None:
        written = f"{type(value).__name__}({', '.join(f'{name}={value_text(part)}' for name, part in parts)})"
    return written if _reads_back(written) else _set_apart(written)


def _parts(value: object) -> list[tuple[str, object]] | None:
    """Give name and value of what an object is made of, None if that is not known."""
    if isinstance(value, type):
        return None
    if isinstance(value, BaseModel):
        shown = [name for name, info in type(value).model_fields.items() if info.repr]
        return [*((name, getattr(value, name)) for name in shown), *(value.model_extra or {}).items()]
    if dataclasses.is_dataclass(value):
        return [(field.name, getattr(value, field.name, None)) for field in dataclasses.fields(value) if field.repr]
    names = getattr(value, "_fields", None)
    return list(zip(names, value, strict=True)) if isinstance(value, tuple) and isinstance(names, tuple) else None


def _reads_back(written: str) -> bool:
    head = OBJECT.match(written)
    if head is None or head[1] in RESERVED or not written.isprintable():
        return False
    return bracketed(written, head.end() - 1) == len(written)


def _set_apart(written: str) -> str:
    inner = written[1:-1] if written[:1] == "<" and written[-1:] == ">" else written
    return f"<{inner}>" if _PLAIN.fullmatch(inner) and inner.isprintable() else f"<{json.dumps(written)}>"


def in_order(values: Iterable[object]) -> list[object]:
    """Put the members of a set into an order that does not change from run to run: numbers by size, else by text."""
    return sorted(values, key=lambda value: (*_size(value), type(value).__name__, value_text(value)))


def _size(value: object) -> tuple[int, float]:
    return (0, value) if isinstance(value, (int, float)) and not math.isnan(value) else (1, 0)
