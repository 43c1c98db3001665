"""`graphflow.contracts.following`: which keys a function surely writes, against all its ways."""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphflow.contracts.source import facts_of
from tests.contracts.sources import function

CASES = {
    "one after the other": ("w('a')\nw('b')", "ab"),
    "on both ways": ("if c():\n  w('a')\nelse:\n  w('a')\n  w('b')", "a"),
    "the other way raises": ("if c():\n  w('a')\nelse:\n  raise ValueError", "a"),
    "before a return": ("if c():\n  w('a')\n  return\nw('a')\nw('b')", "a"),
    "a loop that may not run": ("for _ in c():\n  w('a')", ""),
    "a return in a loop": ("w('a')\nfor _ in c():\n  return\nw('b')", "a"),
    "inside with": ("with c():\n  w('a')", "a"),
    "a handler that goes on": ("try:\n  w('a')\n  w('b')\nexcept ValueError:\n  w('b')", "b"),
    "a handler that raises": ("try:\n  w('a')\nexcept ValueError:\n  raise", "a"),
    "finally": ("try:\n  c()\nfinally:\n  w('a')", "a"),
    "every case": ("match c():\n  case 1:\n    w('a')\n  case _:\n    w('a')", "a"),
    "some cases": ("match c():\n  case 1:\n    w('a')", ""),
    "a function inside": ("def g():\n  w('a')\nw('b')", "b"),
    "always raises": ("w('a')\nraise ValueError", ""),
    "a loop over what is written out": ("for _ in (1, 2):\n  w('a')", "a"),
    "a loop over nothing": ("for _ in ():\n  w('a')", ""),
    "a loop that ends by break": ("while True:\n  w('a')\n  if c():\n    break", "a"),
    "a loop that never ends": ("while True:\n  w('a')", ""),
    "an early break": ("for _ in (1, 2):\n  if c():\n    break\n  w('a')", ""),
    "else of a loop": ("for _ in c():\n  pass\nelse:\n  w('a')", "a"),
    "finally before a return": ("try:\n  return c()\nfinally:\n  w('a')", "a"),
    "what a manager may swallow": ("with suppress(OSError):\n  c()\n  w('a')", ""),
    "a function that is called": ("def g():\n  w('a')\ng()", "a"),
    "a function that may be called": ("def g():\n  w('a')\nc(g)", ""),
    "a loop with continue": ("for x in (1, 2):\n  w('a')\n  if c():\n    continue\n  w('b')", "a"),
    "two loops": ("for x in (1, 2):\n  for y in (1, 2):\n    w('a')", "a"),
    "a comprehension": ("[ctx.state.update(a=x) for x in (1, 2)]", "a"),
    "a comprehension with a condition": ("[ctx.state.update(a=x) for x in (1, 2) if c()]", ""),
    "both ways of an expression": ("ctx.state.update(a=1) if c() else ctx.state.update(a=2)", "a"),
}


def sure(source: str) -> set[str]:
    body = source.replace("w('a')", "ctx.state['a'] = 1").replace("w('b')", "ctx.state['b'] = 1")
    found = facts_of(function("def body(ctx, c):\n" + textwrap.indent(body, "  ")), "ctx")
    assert not found.open
    return set(found.sure)


@pytest.mark.parametrize("name", CASES)
def test_each_statement(name: str) -> None:
    source, expected = CASES[name]

    assert sure(source) == set(expected)


def test_a_choice_inside_an_expression_is_not_sure() -> None:
    """A call that is only made under a condition writes nothing for sure."""
    assert sure("c() and ctx.state.update({'a': 1})\nctx.state.update({'b': 1})") == {"b"}


Statement = tuple[str, "Sequence[Statement]", "Sequence[Statement]"]

PROGRAMS = st.recursive(
    st.sampled_from([("w", [], []), ("v", [], []), ("return", [], []), ("raise", [], [])]),
    lambda inner: st.tuples(st.just("if"), st.lists(inner, max_size=3), st.lists(inner, max_size=3)),
    max_leaves=8,
)


def text(statements: Sequence[Statement], indent: str = "") -> str:
    lines = [f"{indent}pass"]
    for kind, first, second in statements:
        if kind in ("w", "v"):
            lines.append(f"{indent}w('{'a' if kind == 'w' else 'b'}')")
        elif kind == "if":
            lines += [f"{indent}if c():", text(first, indent + "  "), f"{indent}else:", text(second, indent + "  ")]
        else:
            lines.append(f"{indent}{kind}" + (" ValueError" if kind == "raise" else ""))
    return "\n".join(lines)


def ways(statements: Sequence[Statement], choices: Sequence[bool]) -> set[str] | None:
    """Run with these choices in order: what is written, None where it raises."""
    left = iter(choices)
    written: set[str] = set()

    def block(statements: Sequence[Statement]) -> str:
        for kind, first, second in statements:
            if kind in ("return", "raise"):
                return kind
            if kind == "if":
                end = block(first if next(left) else second)
                if end:
                    return end
            else:
                written.add("a" if kind == "w" else "b")
        return ""

    return None if block(statements) == "raise" else written


def branches(statements: Sequence[Statement]) -> int:
    return sum(1 + branches(first) + branches(second) for kind, first, second in statements if kind == "if")


@given(st.lists(PROGRAMS, max_size=4).filter(lambda program: branches(program) <= 6))
def test_sure_is_what_every_way_writes(program: Sequence[Statement]) -> None:
    """For programs of writes, returns, raises and branches it is exact."""
    ends = [ways(program, choices) for choices in itertools.product([True, False], repeat=branches(program))]
    kept = [end for end in ends if end is not None]

    assert sure(text(program)) == (set.intersection(*kept) if kept else set())
