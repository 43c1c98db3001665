"""Agent trees as plain data, and what their leaves do: a pure function of what they are and what they see.

::

    Seq("seq1", (Leaf("leaf2", writes=("a",)), Map("map3", over="few", body=Leaf("leaf4", reads=("item",)))))

It knows no agent and no graph; `trees` makes programs of it, `interpreter` says what they mean.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal
from zlib import crc32

from graphflow import Key, Merge, Overwrite, key
from graphflow.schema import Failure

Mood = Literal["plain", "escalates", "fails", "halts"]
PLAIN = ("a", "b", "c", "d", "e")
MERGED = ("log", "bag", "total", "chain")
LISTS = ("found", "many")
INPUTS: dict[str, Any] = {"a": 2, "d": 1}


def chained(old: int, new: int) -> int:
    """A merge that depends on the order of updates."""
    return (old * 3 + new) % 1009


KEYS = [
    Key("b", int, default=1),
    Key("log", list[int], merge=Merge.append),
    Key("bag", list[int], default=[0], merge=Merge.extend),
    Key("total", int, merge=Merge.sum),
    Key("chain", int, merge=Merge.of(chained)),
]


@dataclass(frozen=True)
class Test:
    """`key op value`, over a plain key."""

    key: str
    op: Literal["eq", "lt", "exists"]
    value: int = 0

    def condition(self) -> Any:
        subject = key(self.key)
        return {"eq": subject == self.value, "lt": subject < self.value, "exists": subject.exists()}[self.op]


@dataclass(frozen=True)
class Leaf:
    name: str
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    may: tuple[str, ...] = ()
    mood: Mood = "plain"
    overwrites: bool = False
    mode: Literal["async", "inline"] = "async"
    irreversible: bool = False


@dataclass(frozen=True)
class Ask:
    """A person is asked about the value of a key; the answer goes to another."""

    name: str
    about: str
    to: str


@dataclass(frozen=True)
class Seq:
    name: str
    items: tuple[Tree, ...]


@dataclass(frozen=True)
class Par:
    """`need`: so many successes end it; `collects`: failures of branches are put up with; `cap`: stages at once."""

    name: str
    items: tuple[Tree, ...]
    need: int | None = None
    collects: bool = False
    cap: int | None = None


@dataclass(frozen=True)
class Map:
    """`over`: a key, or `key.field`; `lists`: (key of an instance, key of the list, joined) for what is collected."""

    name: str
    over: str
    body: Tree
    lists: tuple[tuple[str, str, bool], ...] = ()
    index: bool = False
    collects: bool = False
    cap: int | None = None


@dataclass(frozen=True)
class Loop:
    name: str
    items: tuple[Tree, ...]
    bound: int
    until: Test | None = None
    exit_key: str | None = None
    exhausted: Leaf | Literal["continue", "fail"] = "continue"


@dataclass(frozen=True)
class Cases:
    """`default`: a tree, None for PASS, "missing" for none at all."""

    name: str
    on: str
    arms: tuple[tuple[int, Tree | None], ...]
    default: Tree | Literal["missing"] | None = None


@dataclass(frozen=True)
class When:
    name: str
    test: Test
    then: Tree
    otherwise: Tree | None = None


@dataclass(frozen=True)
class Guard:
    name: str
    test: Test


@dataclass(frozen=True)
class Sub:
    """A flow of its own. Both: (key inside, key outside); `?` at the end of what is read: it may be absent."""

    name: str
    body: Tree
    inputs: tuple[tuple[str, str], ...] = ()
    outputs: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Call:
    """Run a child; `caught`: key that is written if it fails (None: the failure goes on); `forward`: yield its events."""

    child: int
    caught: str | None = None
    forward: bool = False


@dataclass(frozen=True)
class Together:
    """Run two children side by side; what fails is raised when both are done, the first child's failure first."""

    children: tuple[int, int]


@dataclass(frozen=True)
class Put:
    """Write a key: a number, or the number added to a key's value; `direct`: into `ctx.state`, not by an event."""

    key: str
    number: int
    of: str | None = None
    direct: bool = False


@dataclass(frozen=True)
class Once:
    """Write what a step gives."""

    key: str


@dataclass(frozen=True)
class Query:
    """Write what a person answers."""

    key: str


@dataclass(frozen=True)
class Leave:
    """Ask the loop around to end."""


Op = Call | Together | Put | Once | Query | Leave


@dataclass(frozen=True)
class Own:
    """A custom agent whose code does one thing after another."""

    name: str
    children: tuple[Tree, ...]
    script: tuple[Op, ...]


@dataclass(frozen=True)
class Tried:
    """An agent with attempts, and something else for when they have all failed; it is called what the agent is called."""

    inner: Tree
    attempts: int = 1
    handler: Tree | tuple[tuple[str, int], ...] | None = None


Tree = Leaf | Ask | Seq | Par | Map | Loop | Cases | When | Guard | Sub | Own | Tried


def name_of(tree: Tree) -> str:
    """The agent's name."""
    return name_of(tree.inner) if isinstance(tree, Tried) else tree.name


def is_task(tree: Tree) -> bool:
    """Whether an agent's attempts are those of one task."""
    return isinstance(tree, (Leaf, Ask, Own))


def parts_of(tree: Tree) -> Iterator[Tree]:
    """An agent and all inside it."""
    yield tree
    for each in fields(tree):
        value = getattr(tree, each.name)
        for part in value if isinstance(value, tuple) else (value,):
            inner = part[1] if isinstance(part, tuple) and len(part) == 2 else part
            if isinstance(inner, Tree):
                yield from parts_of(inner)


def seen(value: object) -> object:
    """A value as programs and readers compare it: of a failure its place and kind."""
    if isinstance(value, Failure):
        return ("failure", value.index, value.error.partition(":")[0])
    if isinstance(value, list):
        return [seen(item) for item in value]
    return value


def number_for(name: str, turns: tuple[int, ...], what: object) -> int:
    """A small number that depends on everything: what a person answers, what a step gives."""
    return crc32(repr((name, turns, what)).encode()) % 4


def written(key: str, number: int) -> object:
    """A value that fits a key."""
    return number % 4 if key in PLAIN else [number] if key == "bag" else number


def behaviour(
    leaf: Leaf, turns: tuple[int, ...], view: Mapping[str, object], attempt: int = 1
) -> tuple[dict[str, object], bool]:
    """What a leaf writes when it sees this, and whether it does what its mood says."""
    sees = (leaf.name, turns, sorted(view.items()))
    digest = crc32(repr(sees if attempt == 1 else (*sees, attempt)).encode())
    keys = [*leaf.writes, *(name for name in leaf.may if digest >> 3 & 1)]
    delta: dict[str, object] = {}
    for place, name in enumerate(keys):
        number = (digest >> place) % 97
        value = written(name, number)
        if leaf.overwrites:
            value = Overwrite([number] if name == "log" else value)
        delta[name] = value
    return delta, (digest >> 5) % 3 == 0
