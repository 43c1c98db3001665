"""The values that names may have while a function's source is followed, and what is known at one point of it.

A value is a tuple of alternatives: constants that are known, the context and its parts, containers that the function makes,
functions, or something that is not known::

    key = "a" if ok else "b"          # (Constant(str, "a"), Constant(str, "b"))
    state = ctx.state                 # (Known.STATE,)

Where two ways meet, alternatives are united. This module knows no syntax of statements and nothing of contracts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from types import FunctionType
from typing import Any

MOST_CONSTANTS = 40
Site = tuple[object, ...]
"""Where a container is made: the place in the tree, the calls and the iterations that lead to it."""


class Known(Enum):
    """What stands for one thing, or for something that is not known further."""

    UNKNOWN = auto()
    CONTEXT = auto()
    STATE = auto()
    SESSION = auto()
    ACTIONS = auto()
    DELTA = auto()
    TURN = auto()
    CHILD_EVENTS = auto()
    CHILD_EVENT = auto()
    CHILD_ACTIONS = auto()


TRACKED = frozenset({Known.CONTEXT, Known.STATE, Known.SESSION, Known.ACTIONS, Known.DELTA})
"""What a function must not hand to code that is not read."""


@dataclass(frozen=True, slots=True)
class Constant:
    """A constant; the type tells `True` from 1."""

    kind: type
    value: Any


@dataclass(frozen=True, slots=True)
class Thing:
    """An object of the running program: a function, a class, a module. It counts by identity."""

    value: Any = field(compare=False)
    identity: int


@dataclass(frozen=True, slots=True)
class Several:
    """A tuple, or a list that exists already."""

    items: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Pairs:
    """A mapping that exists already."""

    items: tuple[tuple[Constant, Value], ...]


@dataclass(frozen=True, slots=True)
class Made:
    """A list, mapping, event or actions that the function makes; what is in it is in `Flow.heap`."""

    site: Site


@dataclass(frozen=True, slots=True)
class Method:
    """A method of one of the values above, not called yet."""

    owner: Atom
    name: str


@dataclass(frozen=True, slots=True)
class Me:
    """The object whose method is followed."""

    owner: type
    instance: object = field(compare=False)


@dataclass(frozen=True, slots=True)
class Super:
    """The classes behind one of an object's."""

    me: Me
    after: type


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the program, bound to an object or not."""

    func: FunctionType
    me: Atom | None = None
    owner: type | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Inner:
    """A function inside the function; it sees the names of the frame in which it is made."""

    node: Any
    frame: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Inner) and hash(self) == hash(other)

    def __hash__(self) -> int:
        return hash((id(self.node), self.frame.number))


@dataclass(frozen=True, slots=True)
class Generating:
    """A generator that was made and not run yet."""

    site: Site
    frame: Any = field(compare=False)


Atom = Known | Constant | Thing | Several | Pairs | Made | Method | Me | Super | Function | Inner | Generating
Value = tuple[Atom, ...]

UNKNOWN: Value = (Known.UNKNOWN,)
NONE: Value = (Constant(type(None), None),)


@dataclass(frozen=True, slots=True)
class Listed:
    """What is in a list or set; where it is not exact, any number of the items in any order."""

    items: tuple[Value, ...] = ()
    exact: bool = True

    def united(self, other: Content) -> Content:
        """Either this or the other."""
        if not isinstance(other, Listed):
            return Listed((UNKNOWN,), exact=False)
        if self.exact and other.exact and len(self.items) == len(other.items):
            return Listed(tuple(unite(*pair) for pair in zip(self.items, other.items, strict=True)))
        return Listed((unite(*self.items, *other.items),), exact=False)


@dataclass(frozen=True, slots=True)
class Mapped:
    """What is in a mapping, or in the fields of an event or of actions.

    Attributes:
        items: key -> value, and whether it is surely there.
        rest: values under keys that are not known; empty if there are none.
        kind: "dict", "Event" or "EventActions".
    """

    items: Mapping[Constant, tuple[Value, bool]] = field(default_factory=dict)
    rest: Value = ()
    kind: str = "dict"

    def united(self, other: Content) -> Content:
        """Either this or the other."""
        if not isinstance(other, Mapped):
            return Mapped(rest=UNKNOWN)
        items: dict[Constant, tuple[Value, bool]] = {}
        for key in dict.fromkeys([*self.items, *other.items]):
            here, there = self.items.get(key), other.items.get(key)
            if here is None or there is None:
                items[key] = ((here or there or (UNKNOWN, False))[0], False)
            else:
                items[key] = (unite(here[0], there[0]), here[1] and there[1])
        return replace(self, items=items, rest=unite(self.rest, other.rest))

    def put(self, key: Constant, value: Value, *, sure: bool) -> Mapped:
        """With a value under a key, in place of the old one or besides it."""
        old, was_sure = self.items.get(key, ((), False))
        kept = value if sure else unite(old, value)
        return replace(self, items={**self.items, key: (kept, sure or was_sure)})

    def get(self, name: str) -> Value:
        """The value under a text; empty if there is none."""
        found = self.items.get(Constant(str, name))
        return unite(*([found[0]] if found is not None else []), self.rest)


Content = Listed | Mapped


@dataclass(slots=True)
class Flow:
    """What is known at one point of a function.

    Attributes:
        names: name of a variable, with the number of its frame -> its value.
        heap: what is in the containers made.
        shared: sites that may stand for several containers.
        written: keys surely written.
        proved: keys surely read without having been asked for.
        asked: keys that may have been asked for.
        routed: whether a route was surely set.
        dead: no way leads here.
    """

    names: dict[tuple[int, str], Value] = field(default_factory=dict)
    heap: dict[Site, Content] = field(default_factory=dict)
    shared: frozenset[Site] = frozenset()
    written: frozenset[str] = frozenset()
    proved: frozenset[str] = frozenset()
    asked: frozenset[str] = frozenset()
    routed: bool = False
    dead: bool = False

    def copy(self) -> Flow:
        """Another point where the same is known."""
        return replace(self, names=dict(self.names), heap=dict(self.heap))

    def become(self, other: Flow) -> None:
        """Know what is known at another point."""
        for name in self.__slots__:
            setattr(self, name, getattr(other, name))

    def reaches(self, site: Site) -> bool:
        """Whether some variable leads to a container."""
        seen: set[Site] = set()
        pending = [atom for value in self.names.values() for atom in value]
        while pending:
            atom = pending.pop()
            if isinstance(atom, Made):
                if atom.site == site:
                    return True
                if atom.site not in seen:
                    seen.add(atom.site)
                    pending += [inner for value in contents(self.heap.get(atom.site)) for inner in value]
            elif isinstance(atom, Several):
                pending += [inner for value in atom.items for inner in value]
            elif isinstance(atom, Method):
                pending.append(atom.owner)
            elif isinstance(atom, (Inner, Generating)):
                continue  # what they see are variables
        return False


def contents(content: Content | None) -> list[Value]:
    """The values in a container."""
    match content:
        case Listed(items=items):
            return list(items)
        case Mapped(items=pairs, rest=rest):
            return [*(value for value, _ in pairs.values()), rest]
        case _:
            return []


def unite(*values: Value) -> Value:
    """Any of the values; of very many constants only that they are not known."""
    atoms = dict.fromkeys(atom for value in values for atom in value)
    if len(atoms) > MOST_CONSTANTS:
        kept = dict.fromkeys(a for a in atoms if not isinstance(a, (Constant, Several, Pairs, Thing)))
        plain = [atom for atom in atoms if isinstance(atom, (Several, Pairs, Thing)) and is_tracked((atom,))]
        return (*kept, *plain, *(() if Known.UNKNOWN in kept else UNKNOWN))
    return tuple(atoms)


def is_tracked(value: Value) -> bool:
    """Whether a value may be, or hold, part of the context; containers that the function makes are not looked into."""
    for atom in value:
        match atom:
            case Known():
                found = atom in TRACKED
            case Method(owner=owner):
                found = is_tracked((owner,))
            case Several(items=items):
                found = any(is_tracked(item) for item in items)
            case _:
                found = False
        if found:
            return True
    return False


def join(flows: Iterable[Flow]) -> Flow:
    """What is known where ways meet; a dead flow if none of them gets there."""
    alive = [flow for flow in flows if not flow.dead]
    if not alive:
        return Flow(dead=True)
    first, *others = alive
    met = first.copy()
    for other in others:
        for name, value in other.names.items():
            old = met.names.get(name)
            met.names[name] = value if old is None or old == value else unite(old, value)
        for site, content in other.heap.items():
            here = met.heap.get(site)
            met.heap[site] = content if here is None or here == content else here.united(content)
        met.shared |= other.shared
        met.written &= other.written
        met.proved &= other.proved
        met.asked |= other.asked
        met.routed = met.routed and other.routed
    return met
