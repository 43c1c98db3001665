"""What can be computed of constants without running anything of the user's: text, attributes of classes, literal containers.

::

    lift(("a", "b"))                            # a tuple of two constants
    text_method("draft_{}", "format", ["x"])    # "draft_x"

Only methods of Python's own text are called; attributes are looked up without descriptors.
"""

from __future__ import annotations

import enum
import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from types import FunctionType, ModuleType
from typing import Any

from graphflow.contracts.values import UNKNOWN, Constant, Me, Pairs, Several, Thing, Value, unite

_PLAIN = (str, int, float, bool, bytes, type(None))
_TEXT_METHODS = frozenset(
    {"capitalize", "casefold", "format", "join", "lower", "lstrip", "removeprefix", "removesuffix", "replace", "rstrip"}
    | {"strip", "swapcase", "title", "upper", "zfill"}
)
_OWN_TEXT = (str.__str__, enum.Enum.__str__, int.__str__, int.__repr__)
_OWN_FORMAT = (str.__format__, enum.Enum.__format__, int.__format__)
MOST_ITEMS = 100
_MOST_TEXTS = 40
_LONGEST = 500
_WIDE = re.compile(r"\d{3}|\*")
"""A text that would fill in something very long."""
_MISSING = object()


def constant(value: object) -> Constant:
    """A constant of the value's own type."""
    return Constant(type(value), value)


def lift(value: object, depth: int = 3) -> Value:
    """Say what an object of the running program is to somebody who reads its source."""
    if isinstance(value, _PLAIN) and type(value) in _PLAIN:
        return (constant(value),)
    if isinstance(value, enum.Enum):
        return (Constant(type(value), value),) if _hashes(value) else UNKNOWN
    if depth and type(value) in (tuple, list) and len(value) <= MOST_ITEMS:  # type: ignore[arg-type]
        return (Several(tuple(lift(item, depth - 1) for item in value)),)  # type: ignore[attr-defined]
    if depth and type(value) in (set, frozenset) and len(value) <= MOST_ITEMS:  # type: ignore[arg-type]
        return (Several(tuple(lift(item, depth - 1) for item in value)),)  # type: ignore[attr-defined]
    if depth and type(value) is dict and len(value) <= MOST_ITEMS and all(type(key) is str for key in value):
        return (Pairs(tuple((constant(key), lift(item, depth - 1)) for key, item in value.items())),)
    return (Thing(value, id(value)),)


def _hashes(value: object) -> bool:
    try:
        hash(value)
    except Exception:  # noqa: BLE001 - an enumeration of the user's may do anything
        return False
    return True


def attribute(owner: object, name: str) -> Value:
    """Look up an attribute of a module, a class or an object, without running anything; UNKNOWN if it is computed."""
    module = vars(owner) if isinstance(owner, ModuleType) else None
    found = module.get(name, _MISSING) if module is not None else inspect.getattr_static(owner, name, _MISSING)
    if isinstance(owner, type) and issubclass(owner, enum.Enum):
        found = owner._member_map_.get(name, found)
    if found is _MISSING and not isinstance(owner, type):
        found = _default_of(owner, name)
    if isinstance(found, staticmethod):
        found = found.__func__
    if found is _MISSING or isinstance(found, (property, classmethod)):
        return UNKNOWN
    if not isinstance(found, (type, FunctionType)) and hasattr(type(found), "__get__"):
        return UNKNOWN
    return lift(found)


def _default_of(owner: object, name: str) -> object:
    fields: Mapping[str, Any] = getattr(type(owner), "model_fields", {}) or {}
    return getattr(fields.get(name), "default", _MISSING) if isinstance(fields, dict) else _MISSING


def own_attribute(me: Me, name: str) -> Value:
    """Look up an attribute of the object whose method is read: its own value, else its class's."""
    return attribute(me.owner if me.instance is None else me.instance, name)


def member(value: Constant, name: str) -> Value:
    """Look up an attribute of a constant: the name or the value of an enumeration's member."""
    if isinstance(value.value, enum.Enum) and name in ("name", "value"):
        return lift(value.value._value_ if name == "value" else value.value._name_)
    return UNKNOWN


def key_of(value: Constant) -> str | None:
    """Give the key of the state that a constant names, None if it names none."""
    if isinstance(value.value, enum.Enum):
        return str(value.value._value_) if isinstance(value.value, str) else None
    return value.value if type(value.value) is str else None


def keys_of(value: Value) -> list[str] | None:
    """Give the keys that a value may name; None if one of its alternatives is not known, or no text."""
    found = [key_of(atom) if isinstance(atom, Constant) else None for atom in value]
    keys = [key for key in found if key is not None]
    return keys if keys and len(keys) == len(found) else None


def combined(parts: Sequence[Value], make: Callable[..., object]) -> Value:
    """Compute one constant of each combination of constants; UNKNOWN if one of them is not known or it cannot be done."""
    count = 1
    for part in parts:
        count *= len(part)
        if count > _MOST_TEXTS or not all(isinstance(atom, Constant) for atom in part):
            return UNKNOWN
    found: list[Value] = []
    for choice in product(*parts):
        try:
            made = make(*(atom.value for atom in choice if isinstance(atom, Constant)))
        except Exception:  # noqa: BLE001 - whatever Python says about these constants, the value is not known
            return UNKNOWN
        if type(made) not in _PLAIN or (isinstance(made, (str, bytes)) and len(made) > _LONGEST):
            return UNKNOWN
        found.append((constant(made),))
    return unite(*found)


def plain_text(value: object, style: str = "", conversion: int = -1) -> str:
    """Put a constant into an f-string, or give its `str`.

    Raises:
        TypeError: its text is made by code of the user's.
    """
    kind: Any = type(value)
    if kind not in _PLAIN and (
        kind.__str__ not in _OWN_TEXT or kind.__format__ not in _OWN_FORMAT or conversion == 114
    ):
        raise TypeError(f"the text of {kind.__name__} is computed")
    shown = str(value) if conversion == 115 else repr(value) if conversion == 114 else value
    if len(style) > 3 or conversion == 97:
        raise TypeError("an unusual format")
    return format(shown, style)


def added(left: object, right: object) -> object:
    """Join texts, or add small numbers.

    Raises:
        TypeError: they are something else.
    """
    if type(left) is str and type(right) is str:
        return left + right
    if type(left) is int and type(right) is int:
        return left + right
    raise TypeError("neither texts nor numbers")


def filled(pattern: object, *given: object) -> object:
    """Fill in `pattern % given`.

    Raises:
        TypeError: it is no text, or what is filled in is no plain constant.
    """
    if type(pattern) is str and all(type(each) in _PLAIN for each in given) and not _WIDE.search(pattern):
        return pattern % (given[0] if len(given) == 1 else given)
    raise TypeError("no text")


def text_method(value: Constant, name: str, arguments: Sequence[Value]) -> Value:
    """Call one of text's own methods on a constant."""
    if type(value.value) is not str or name not in _TEXT_METHODS:
        return UNKNOWN
    if name == "join":
        items = elements(arguments[0]) if len(arguments) == 1 else None
        return combined(items, lambda *texts: value.value.join(texts)) if items is not None else UNKNOWN
    return combined(arguments, lambda *given: _called(value.value, name, given))


def _called(text: str, name: str, given: Iterable[object]) -> object:
    values = list(given)
    if not all(type(each) in _PLAIN for each in values) or (name == "zfill" and values > [99]) or _WIDE.search(text):
        raise TypeError("not plain")
    return getattr(text, name)(*values)


def elements(value: Value) -> list[Value] | None:
    """Give the items of a tuple, in order; None if they are not known."""
    if len(value) != 1:
        return None
    match value[0]:
        case Several(items=items):
            return list(items)
        case Pairs(items=pairs):
            return [(key,) for key, _ in pairs]
        case Constant(value=str() as text) if type(text) is str and len(text) <= MOST_ITEMS:
            return [(constant(letter),) for letter in text]
        case _:
            return None


def is_off(value: Value) -> bool:
    """Whether a value is surely false: `None`, `False`, 0, an empty text."""
    return all(isinstance(atom, Constant) and isinstance(atom.value, _PLAIN) and not atom.value for atom in value)


def is_on(value: Value) -> bool:
    """Whether a value is surely true."""
    return all(isinstance(atom, Constant) and isinstance(atom.value, _PLAIN) and bool(atom.value) for atom in value)
