"""Conditions from their text: what `text(condition, exact=True)` has written.

::

    same(parse_condition("(score < 0.8 and not approved)"), (key("score") < 0.8) & ~key("approved"))    # True

Functions and objects are not in a text: a function comes back as one that refuses to be called, a value of a class as
`Written`. Nothing is evaluated or imported, and what is nested too deep is refused. This module knows no graphs.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from typing import Any

from graphflow.conditions.functions import CallRead
from graphflow.conditions.scanning import Scanner, bracketed
from graphflow.conditions.tree import (
    And,
    Call,
    Compare,
    Condition,
    Exists,
    Is,
    Length,
    Literal,
    Matches,
    Not,
    Operand,
    Operator,
    Or,
    Ref,
)
from graphflow.conditions.values import OBJECT, Written
from graphflow.conditions.words import CALL, FIELD, FUNCTION, KEY, RESERVED
from graphflow.errors import UsageError

_OPERATORS: tuple[Operator, ...] = ("==", "!=", "<=", ">=", "<", ">", "not in", "in", "contains")
_STRING = re.compile(
    r"""(?P<quote>['"]) (?:(?!(?P=quote))[^\\\n] | \\(?:[\\'"nrt]|x[\da-f]{2}|u[\da-f]{4}|U[\da-f]{8}))*+ (?P=quote)""",
    re.VERBOSE | re.ASCII,
)
_BYTES = re.compile(
    r"""b(?P<quote>['"]) (?:(?!(?P=quote))[^\\\n] | \\(?:[\\'"nrt]|x[\da-f]{2}))*+ (?P=quote)""", re.VERBOSE | re.ASCII
)
_NUMBER = re.compile(
    r"-?(?:0x[0-9a-f]+|\d+(?P<fraction>\.\d+)?(?P<exponent>e[+-]?\d+)?|(?P<word>inf|nan))(?![\w.])", re.ASCII
)
_MEMBER = re.compile(r"[^\W\d]\w*\.[^\W\d]\w*")
_APART = re.compile(r'<[^<>"\n]*>')
_CONSTANTS = {"True": True, "False": False, "None": None}
_DEEPEST = 100


@dataclass(frozen=True)
class NamedFunction:
    """Stands for a function of which only the name was read.

    Attributes:
        name: its qualified name.
    """

    name: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "__qualname__", self.name)

    def __call__(self, *_: object, **__: object) -> Any:
        """Refuse to be called."""
        raise UsageError(
            f"the function `{self.name}` cannot be called: this graph was read from text, which holds names only; "
            "build the flow that the text was made from"
        )


@dataclass(slots=True)
class _Group:
    """What stands between two parentheses, as far as it was read; `nots` are those before the part that comes next."""

    parts: list[Condition] = field(default_factory=list)
    word: str = ""
    nots: int = 0


def parse_condition(text: str) -> Condition:
    """Read a condition.

    Args:
        text: as `text(condition, exact=True)` writes it; without the keys of functions they read nothing.

    Returns:
        The condition; printed again it gives the same text.

    Raises:
        UsageError: it is no text of a condition; the message says where.
    """
    scanner = Scanner(text, "condition")
    condition = scan_condition(scanner)
    if not scanner.done:
        raise scanner.unexpected("the end of the condition; join two by `and` or `or` in parentheses")
    return condition


def scan_condition(scanner: Scanner) -> Condition:
    """Read the condition that comes next, and stop behind it."""
    groups = [_Group()]
    while True:
        while scanner.take("not "):
            groups[-1].nots += 1
        if scanner.take("("):
            groups.append(_Group())
            if len(groups) > _DEEPEST:
                raise scanner.unexpected(f"parentheses nested at most {_DEEPEST} deep")
            continue
        if sum(group.nots for group in groups) > _DEEPEST:
            raise scanner.unexpected(f"at most {_DEEPEST} `not`, one within the other")
        condition = _scan_part(scanner)
        while True:
            group = groups[-1]
            for _ in range(group.nots):
                condition = Not(condition)
            group.nots = 0
            if len(groups) == 1:
                return condition
            group.parts.append(condition)
            if not scanner.take(")"):
                break
            condition = _joined(scanner, groups.pop())
        _next_word(scanner, group)


def _next_word(scanner: Scanner, group: _Group) -> None:
    for word in (group.word,) if group.word else ("and", "or"):
        if scanner.take(f" {word} "):
            group.word = word
            return
    raise scanner.unexpected(f"` {group.word or 'and'} ` or `)`; `and` and `or` never stand in the same parentheses")


def _joined(scanner: Scanner, group: _Group) -> Condition:
    if not group.word:
        raise scanner.unexpected("` and ` or ` or ` before the `)`; a single condition stands without parentheses")
    first, *rest = group.parts
    for part in rest:
        first = And(first, part) if group.word == "and" else Or(first, part)
    return first


def _scan_part(scanner: Scanner) -> Condition:
    if scanner.next_is(CALL):
        return _scan_call(scanner)
    operand = _scan_operand(scanner)
    for word in _OPERATORS:
        if scanner.take(f" {word} "):
            return Compare(word, operand, _scan_side(scanner, word))
    if isinstance(operand, Ref):
        if scanner.take(" exists"):
            return Exists(operand)
        if scanner.take(" is "):
            return Is(operand, scan_value(scanner))
        if scanner.take(" matches "):
            pattern = scan_value(scanner)
            if not isinstance(pattern, str):
                raise scanner.unexpected("a regular expression in quotes before this")
            return Matches(operand, pattern)
    return operand


def _scan_operand(scanner: Scanner) -> Operand:
    if scanner.take("len("):
        ref = _scan_ref(scanner)
        scanner.expect(")")
        return Length(ref)
    return _scan_ref(scanner)


def _scan_ref(scanner: Scanner) -> Ref:
    if scanner.take("key("):
        name = scanner.string()
        scanner.expect(")")
    else:
        start = scanner.at
        found = scanner.match(KEY)
        if found is None or found[0] in RESERVED or found[0].startswith(CALL):
            scanner.at = start
            raise scanner.unexpected('a key; one with other characters, or named as a word, is written key("...")')
        name = found[0]
    path = []
    while scanner.take("."):
        step = scanner.match(FIELD)
        path.append(step[0] if step is not None else scanner.string())
    return Ref(name, tuple(path))


def _scan_side(scanner: Scanner, word: Operator) -> Operand | Literal:
    if scanner.next_is("len(") or scanner.next_is("key("):
        return _scan_operand(scanner)
    if _MEMBER.match(scanner.text, scanner.at) is None and OBJECT.match(scanner.text, scanner.at) is None:
        found = KEY.match(scanner.text, scanner.at)
        if found is not None and found[0] not in RESERVED and not _BYTES.match(scanner.text, scanner.at):
            return _scan_ref(scanner)
    value = scan_value(scanner)
    return Literal(tuple(value) if word in ("in", "not in") and isinstance(value, list) else value)


def _scan_call(scanner: Scanner) -> Call:
    scanner.expect(CALL)
    found = scanner.match(FUNCTION)
    name = found[0] if found is not None else scanner.string()
    reads: list[CallRead] = []
    if scanner.take("("):
        while not scanner.take(")"):
            if reads:
                scanner.expect(", ")
            parameter = scanner.name("a parameter")
            key = scanner.name("a key") if scanner.take("=") else parameter
            reads.append(CallRead(parameter, key, scanner.take("?")))
    return Call(NamedFunction(name), tuple(reads))


def scan_value(scanner: Scanner, depth: int = 0) -> object:
    """Read the value that comes next, as `value_text` writes it, and stop behind it."""
    if depth > _DEEPEST:
        raise scanner.unexpected(f"values nested at most {_DEEPEST} deep")
    start = scanner.at
    found = scanner.match(_STRING) or scanner.match(_BYTES)
    if found is not None:
        try:
            return ast.literal_eval(found[0])
        except (ValueError, SyntaxError) as error:
            scanner.at = start
            raise scanner.unexpected("text in quotes, with the escapes of Python") from error
    number = scanner.match(_NUMBER)
    if number is not None:
        return _number(scanner, number)
    for word, constant in _CONSTANTS.items():
        if scanner.take(word):
            return constant
    try:
        return _scan_collection(scanner, depth)
    except TypeError as error:  # a member that cannot be hashed
        raise scanner.unexpected("a collection whose members or names are no lists, sets or mappings") from error


def _number(scanner: Scanner, found: re.Match[str]) -> int | float:
    try:
        if found["fraction"] or found["exponent"] or found["word"]:
            return float(found[0])
        return int(found[0], 16 if "x" in found[0] else 10)
    except ValueError as error:  # more digits than Python reads
        raise scanner.unexpected("a shorter number before this") from error


def _scan_collection(scanner: Scanner, depth: int) -> object:
    if scanner.take("["):
        return _scan_items(scanner, "]", depth)
    if scanner.take("set()"):
        return set()
    if scanner.take("frozenset("):
        inner = scan_value(scanner, depth + 1) if not scanner.next_is(")") else set()
        scanner.expect(")")
        return frozenset(inner) if isinstance(inner, set) else frozenset((inner,))
    if scanner.take("{"):
        return _scan_braces(scanner, depth)
    if scanner.take("("):
        items = _scan_items(scanner, ")", depth)
        return tuple(items)
    return _scan_object(scanner)


def _scan_items(scanner: Scanner, closing: str, depth: int) -> list[object]:
    items: list[object] = []
    while not scanner.take(closing):
        if items:
            scanner.expect(",")
            if closing == ")" and len(items) == 1 and scanner.take(closing):
                break
            scanner.expect(" ")
        items.append(scan_value(scanner, depth + 1))
    return items


def _scan_braces(scanner: Scanner, depth: int) -> object:
    if scanner.take("}"):
        return {}
    members: set[object] = set()
    mapping: dict[object, object] = {}
    while True:
        first = scan_value(scanner, depth + 1)
        if not members and scanner.take(": "):
            mapping[first] = scan_value(scanner, depth + 1)
        elif not mapping:
            members.add(first)
        else:
            raise scanner.unexpected("`: ` and a value, as for the first name")
        if scanner.take("}"):
            return mapping or members
        scanner.expect(", ")


def _scan_object(scanner: Scanner) -> Written:
    start = scanner.at
    if scanner.next_is('<"'):
        scanner.expect("<")
        scanner.string()
        scanner.expect(">")
        return Written(scanner.text[start : scanner.at])
    if scanner.match(_APART) is not None:
        return Written(scanner.text[start : scanner.at])
    found = OBJECT.match(scanner.text, scanner.at)
    end = bracketed(scanner.text, found.end() - 1) if found is not None and found[1] not in RESERVED else None
    if end is not None:
        scanner.at = end
    elif scanner.match(_MEMBER) is None:
        raise scanner.unexpected(
            "a value: text, a number, True, False, None, a collection, `Class.MEMBER`, `Class(...)`"
        )
    return Written(scanner.text[start : scanner.at])
