"""Declarations of keys, and how several writes of one key become one value.

A merge combines what is there with what a task contributes; it changes neither::

    Merge.append.apply(["a"], "b")               # ["a", "b"]
    Merge.extend.apply(MISSING, ["a"])           # ["a"]
    Merge.max.apply(3, 2)                        # 3
    Merge.of(lambda old, new: old | new, commutative=True)

This module knows how values are combined, not when: that is the runtime's.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from numbers import Number
from typing import Any, ClassVar

from graphflow.schema.mismatch import TypeMismatch, shown
from graphflow.schema.types import ANY, MISSING, Type, bare, is_union, type_of
from graphflow.schema.values import thaw

Combine = Callable[[Any, Any], Any]


@dataclass(frozen=True, slots=True)
class Merge:
    """How an update is combined with the value before it.

    `append` adds one element, `extend` and `union` a collection (`union` without duplicates), `sum` a number, `max` and
    `min` keep the extreme, `last` keeps the update; `Merge.of(f)` combines by `f(old, new)`.

    Attributes:
        name: how the merge is written in graphs and messages.
        function: new value from the value before and the update.
        commutative: whether the order of updates does not matter (for `union`: but for the order of the list).
        start: what the first update is combined with, MISSING where that update is the value; a list as a tuple.
    """

    append: ClassVar[Merge]
    extend: ClassVar[Merge]
    union: ClassVar[Merge]
    sum: ClassVar[Merge]
    max: ClassVar[Merge]
    min: ClassVar[Merge]
    last: ClassVar[Merge]

    name: str
    function: Combine = field(repr=False)
    commutative: bool = False
    start: object = field(default=MISSING, repr=False)

    @classmethod
    def of(cls, func: Combine, *, commutative: bool = False, name: str | None = None) -> Merge:
        """Make a merge from a function.

        Args:
            func: a pure function `f(old, new)`; it is handed copies.
            commutative: whether the order of updates does not matter to it.
            name: how it is written; None: the function's name.

        Returns:
            The merge; the first update of an absent key becomes the value without a call.

        Raises:
            TypeError: `func` is no function.
        """
        if not callable(func):
            raise TypeError(f"`Merge.of` takes a function f(old, new), got {func!r}")
        written: str = getattr(func, "__name__", type(func).__name__)
        return cls(name or written, _Isolated(func), commutative)

    def identity(self) -> object:
        """Give the value that leaves every update as it is, MISSING if the merge has none."""
        return list(self.start) if isinstance(self.start, tuple) else self.start

    def apply(self, old: object, update: object) -> object:
        """Combine.

        Args:
            old: the value before, MISSING if there is none; not changed.
            update: what is contributed; not changed.

        Returns:
            The new value.

        Raises:
            TypeMismatch: the merge is not made for such values.
        """
        before = self.identity() if old is MISSING else old
        return update if before is MISSING else self.function(before, update)

    def update_type(self, value_type: Type) -> Type:
        """Give the type of one update.

        Args:
            value_type: the type of the key.

        Returns:
            For `append` the type of an element (`Any` if it is not known), else the key's type.
        """
        if self != Merge.append:
            return value_type
        hint = bare(value_type.hint)
        lists = [each for each in (typing.get_args(hint) if is_union(hint) else (hint,)) if _is_sequence(each)]
        arguments = typing.get_args(bare(lists[0])) if len(lists) == 1 else ()
        return type_of(arguments[0]) if arguments else ANY


@dataclass(frozen=True, slots=True)
class _Isolated:
    """A function of a user, kept from changing the values it is handed or keeping hold of its result."""

    function: Combine

    def __call__(self, old: object, update: object) -> object:
        return thaw(self.function(thaw(old), thaw(update)))


def _is_sequence(hint: object) -> bool:
    kind = typing.get_origin(bare(hint)) or bare(hint)
    return isinstance(kind, type) and issubclass(kind, Sequence) and not issubclass(kind, (str, bytes))


def _items(name: str, value: object) -> list[Any] | tuple[Any, ...]:
    if isinstance(value, (list, tuple)):
        return value
    raise TypeMismatch(f"merge `{name}` combines lists, got {shown(value)}")


def _joined(old: Sequence[Any], update: Sequence[Any], items: list[Any]) -> object:
    """Give a tuple where values and updates are tuples."""
    return tuple(items) if isinstance(update, tuple) and (isinstance(old, tuple) or not old) else items


def _append(old: object, update: object) -> object:
    before = _items("append", old)
    return _joined(before, before, [*before, update])


def _extend(old: object, update: object) -> object:
    before, items = _items("extend", old), _items("extend", update)
    return _joined(before, items, [*before, *items])


def _union(old: object, update: object) -> object:
    if isinstance(update, (set, frozenset)) and (isinstance(old, (set, frozenset)) or old == []):
        return type(update)((*old, *update)) if isinstance(old, (set, frozenset)) else type(update)(update)
    before, items = _items("union", old), _items("union", update)
    return _joined(before, items, _distinct([*before, *items]))


def _distinct(items: Iterable[object]) -> list[object]:
    """Drop repetitions; `1`, `1.0` and `True` are different values, as they are in JSON."""
    found: list[object] = []
    seen: set[tuple[type, Hashable]] = set()
    for item in items:
        try:
            known = (type(item), item) in seen
            seen.add((type(item), item))
        except TypeError:  # an unhashable item
            known = any(type(each) is type(item) and each == item for each in found)
        if not known:
            found.append(item)
    return found


def _sum(old: Any, update: Any) -> object:
    for value in (old, update):
        if not isinstance(value, Number):
            raise TypeMismatch(f"merge `sum` adds numbers, got {shown(value)}")
    if type(old) is int and old == 0:
        return update  # as it is: adding would round a long Decimal
    try:
        return old + update
    except TypeError as error:
        raise TypeMismatch(f"merge `sum` cannot add {shown(update)} to {shown(old)}") from error


def _max(old: Any, update: Any) -> object:
    return update if _less("max", old, update) else old


def _min(old: Any, update: Any) -> object:
    return update if _less("min", update, old) else old


def _less(name: str, left: Any, right: Any) -> bool:
    try:
        return bool(left < right)
    except TypeError as error:
        raise TypeMismatch(f"merge `{name}` cannot compare {shown(left)} with {shown(right)}") from error


def _last(_old: object, update: object) -> object:
    return update


Merge.append = Merge("append", _append, start=())
Merge.extend = Merge("extend", _extend, start=())
Merge.union = Merge("union", _union, commutative=True, start=())
Merge.sum = Merge("sum", _sum, commutative=True, start=0)
Merge.max = Merge("max", _max, commutative=True)
Merge.min = Merge("min", _min, commutative=True)
Merge.last = Merge("last", _last)


def as_merge(value: object) -> Merge | None:
    """Take what may stand where a merge is asked for.

    Args:
        value: a merge, None, or a function `f(old, new)`.

    Returns:
        The merge, None for None.

    Raises:
        TypeError: anything else.
    """
    if value is None or isinstance(value, Merge):
        return value
    if callable(value) and not isinstance(value, type):
        return Merge.of(value)
    raise TypeError(f"a merge is Merge.append, Merge.extend, ... or a function f(old, new), got {value!r}")


@dataclass(frozen=True, slots=True)
class Overwrite:
    """What a task returns to replace the value of a key that has a merge.

    Attributes:
        value: the new value, of the key's type.
    """

    value: object


@dataclass(frozen=True, slots=True, init=False)
class Key:
    """The declaration of a state key.

    Attributes:
        name: the key; the prefixes `user:`, `app:` and `temp:` say how long it lives.
        type: the annotation of its values, or a `Type`.
        default: its value before any write of a run, MISSING if it has none.
        merge: how several writes are combined, None if they are not.
        persist: whether the next run of the session may read the value before writing it.
        doc: what the key means, for readers.
    """

    name: str
    type: Any = Any
    default: Any = MISSING
    merge: Merge | None = None
    persist: bool = False
    doc: str = ""

    def __init__(
        self,
        name: str,
        type: Any = Any,  # noqa: A002 - a public name
        default: Any = MISSING,
        *,
        merge: Merge | Combine | None = None,
        persist: bool = False,
        doc: str = "",
    ) -> None:
        given = (("name", name, str), ("persist", persist, bool), ("doc", doc, str))
        for argument, value, kind in given:
            if not isinstance(value, kind):
                raise TypeError(f"Key({name!r}): `{argument}` takes a {kind.__name__}, got {value!r}")
        if not name.strip():
            raise TypeError("Key: `name` is empty; name the key")
        try:
            type_of(type)
            combined = as_merge(merge)
        except TypeError as error:
            raise TypeError(f"Key({name!r}): {error}") from error
        fields = {"name": name, "type": type, "default": default, "merge": combined, "persist": persist, "doc": doc}
        for attribute, value in fields.items():
            object.__setattr__(self, attribute, value)

    def __hash__(self) -> int:
        return hash(self.name)  # defaults may be lists, and metadata of `Annotated` must be hashable
