"""Small functions that use a state in random ways, as text, and what they do when they are run.

Every key is one of a few constants, but is reached in many ways: through names, loops, containers, functions inside,
generators, conditional expressions. Choices that a reader of the source cannot know are made by `c()`.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

KEYS = ("a", "b", "c", "d")
MOST_STEPS = 60

keys = st.sampled_from(KEYS)
names = st.sampled_from(("x", "y", "z"))
"""Variables that hold a key."""


class Enough(BaseException):
    """A run has taken more steps than it should."""


@dataclass
class Choices:
    """What `c()` answers, one after the other; then True for a while, so that loops end by `not c()`."""

    answers: list[bool]
    steps: int = 0

    def __call__(self, *_: object) -> bool:
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise Enough
        return self.answers.pop(0) if self.answers else self.steps % 2 == 0


@dataclass
class Observed(MutableMapping[str, Any]):
    """A state that takes down what is done to it."""

    held: dict[str, Any]
    delta: dict[str, Any] = field(default_factory=dict)
    reads: set[str] = field(default_factory=set)
    missed: set[str] = field(default_factory=set)

    def __getitem__(self, key: str) -> Any:
        if key in self.delta:
            return self.delta[key]
        self.reads.add(key)
        if key not in self.held:
            self.missed.add(key)
            raise KeyError(key)
        return self.held[key]

    def __setitem__(self, key: str, value: object) -> None:
        self.delta[key] = value

    def __delitem__(self, key: str) -> None:
        raise TypeError(key)

    def __iter__(self) -> Iterator[str]:
        raise AssertionError("the state is never looked at as a whole")

    def __len__(self) -> int:
        raise AssertionError("the state is never looked at as a whole")


@st.composite
def key_texts(draw: st.DrawFn) -> str:
    """An expression that is a key."""
    kind = draw(st.integers(0, 8))
    key = draw(keys)
    match kind:
        case 0:
            return f'("{key}" if c() else "{draw(keys)}")'
        case 1 | 2:
            return draw(names)
        case 3:
            return f'("{key}" + "")'
        case 4:
            return f'f"{{{draw(names)}}}"'
        case 5:
            return f'"-{key}".removeprefix("-")'
        case 6:
            return f'("{key}", "{draw(keys)}")[{draw(st.integers(0, 1))}]'
        case _:
            return f'"{key}"'


STATES = st.sampled_from(("ctx.state", "s", "ctx.session.state"))


@st.composite
def accesses(draw: st.DrawFn) -> str:
    """A simple statement that does something to the state, or to what later statements use for it."""
    state, key, name = draw(STATES), draw(key_texts()), draw(names)
    other, first = draw(key_texts()), draw(keys)
    return draw(
        st.sampled_from(
            [
                f"{state}[{key}] = 1", f"v = {state}[{key}]", f"v = {state}.get({key}, 0)", f"{state}.setdefault({key}, 1)",
                f"v = {key} in {state}", f"{state}.update({{{key}: 1, {other}: 2}})", f"{state}.update({first}=1)",
                f"{state}[{key}], v = 1, 2", f"{state}[{key}] = {state}[{other}]", f"{name} = {key}", f"{name} = {key}",
                f"v = c() and {state}[{key}]", f"v = {state}[{key}] if c() else {state}.get({other})", "h()", f"w({key})",
                f"v = [{state}.get(q) for q in ({key}, {other})]",
                f"m[{key}] = 1", f"m = {{{key}: 1}}", f"{state}.update(m)",
                f"{state}.update({{q: 1 for q in ({key}, {other})}})", f"r.append({key})", f"r = [{key}]", "n = dict(m)",
                f"for q in r: {state}[q] = 1",
                f"w(({name} := {key}))", f"v = (lambda q: {state}[q])({key})", "f = h if c() else w",
                f"{state}.update(zip(({key},), (1,)))", f"t = {state}; t[{key}] = 1", "v = list(map(w, r))", f"w(q={key})",
                f"for q, _ in m.items(): {state}[q] = 1", f"v = {state}.pop({key}, 1)", "k(m)",
                f"{state}[{key}] = lambda: h()",
                f"e = ({state}.get(q) for q in ({key}, {other})); any(e)", "r += [" + key + "]", f"m.update({first}=1)",
                f"v = sum(1 for q in ({key}, {other}) if q in {state} and {state}[q])", f"n = {{**m, {key}: 1}}; k(n)",
            ]
        )
    )  # fmt: skip


@st.composite
def blocks(draw: st.DrawFn, depth: int, *, loop: bool = False, yields: bool = False) -> str:
    """Statements, as lines."""
    lines = []
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(st.integers(0, 15)) if depth else 0
        inner = blocks(depth - 1, loop=loop, yields=yields)
        again = blocks(depth - 1, loop=True, yields=yields)
        simple = ["pass", "return", "return 1", "raise ValueError", *(["break", "continue"] * loop)]
        match kind:
            case 1 | 2:
                lines += ["if c():", _in(draw(inner))]
                lines += draw(st.sampled_from([[], ["else:", _in(draw(inner))]]))
            case 3:
                lines += [f"if {draw(key_texts())} in s:", _in(draw(inner)), "else:", _in(draw(inner))]
            case 4:
                lines += [f"for {draw(names)} in ({draw(key_texts())}, {draw(key_texts())}):", _in(draw(again))]
                lines += draw(st.sampled_from([[], ["else:", _in(draw(inner))]]))
            case 5:
                lines += ["while c():", _in(draw(again))]
            case 6:
                lines += ["while True:", "    if c(): break", _in(draw(again))]
            case 7:
                kind_of = draw(st.sampled_from(["KeyError", "ValueError", "Exception"]))
                lines += ["try:", _in(draw(inner)), f"except {kind_of}:", _in(draw(inner))]
                lines += draw(st.sampled_from([[], ["else:", _in(draw(inner))], ["finally:", _in(draw(accesses()))]]))
            case 8:
                lines += ["try:", _in(draw(inner)), "finally:", _in(draw(accesses()))]
            case 9:
                kind_of = draw(st.sampled_from(["KeyError", "ValueError"]))
                lines += [f"with suppress({kind_of}):", _in(draw(inner))]
            case 10:
                lines += ["match c():", "    case True:", _in(_in(draw(inner)))]
                lines += draw(st.sampled_from([[], ["    case _:", _in(_in(draw(inner)))]]))
            case 11:
                lines += [f"for {draw(names)} in g():", _in(draw(again))]
            case 12:
                lines += [f"for {draw(names)} in sorted([{draw(key_texts())}] * c()):", _in(draw(again))]
            case 13:
                lines.append(draw(st.sampled_from(simple)))
            case 14 if yields:
                lines.append(f"yield {draw(key_texts())}")
            case _:
                lines.append(draw(accesses()))
    return "\n".join(lines)


@st.composite
def programs(draw: st.DrawFn) -> str:
    """A function `body(ctx, c)`: names of keys, three functions inside, and statements."""
    start = "x, y, z, q, v, m, r = 'a', 'b', 'c', 'd', 0, {}, []"
    return "\n".join(
        [
            "def body(ctx, c):",
            "    s = ctx.state",
            f"    {start}",
            "    def h():",
            f"        {start}",
            _in(_in(draw(blocks(1)).replace("in g():", f"in ('{draw(keys)}',):"))),
            "    def w(q='a'):",
            "        s[q] = 1",
            "    def k(n):",
            "        s.update(n)",
            "    def g():",
            f"        {start}",
            _in(_in(draw(blocks(2, yields=True)).replace("in g():", f"in ('{draw(keys)}',):"))),
            f"        yield '{draw(keys)}'",
            _in(draw(blocks(3))),
        ]
    )


def _in(text: str) -> str:
    return textwrap.indent(text, "    ")
