"""Codecs of single values: names, types, conditions, labels, policies, merges.

::

    TYPE.write(list[int])               # list[int]
    TYPE.read(Scanner("str | None = None", "graph"))    # Type("str | None")

What cannot be in a text comes back as a stand-in: types by name only, functions that refuse to be called, exceptions of
the right name. Nothing here knows the words of a graph; `lines` does.
"""

from __future__ import annotations

import builtins
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import get_args, get_type_hints

from graphflow import conditions
from graphflow.conditions.parsing import NamedFunction, scan_condition, scan_value
from graphflow.conditions.scanning import Scanner, bracketed, name_text
from graphflow.conditions.words import CALL, FIELD
from graphflow.contracts.retry import RetryPolicy
from graphflow.ir.nodes import Fault
from graphflow.ir.words import Clause, Pair, Record, Several
from graphflow.schema import Merge, Type, type_of
from graphflow.template import Template, parse

_OUTERMOST = "-"
_WORD = re.compile(r"[^\W\d][\w.]*")
_MERGES: Mapping[str, Merge] = MappingProxyType(
    {
        merge.name: merge
        for merge in (Merge.append, Merge.extend, Merge.union, Merge.sum, Merge.max, Merge.min, Merge.last)
    }
)


def _read_path(scanner: Scanner) -> tuple[str, tuple[str, ...]]:
    key = scanner.name("a key")
    path = []
    while scanner.take("."):
        step = scanner.match(FIELD)
        path.append(step[0] if step is not None else scanner.string())
    return key, tuple(path)


def _path_text(value: tuple[str, tuple[str, ...]]) -> str:
    key, path = value
    return ".".join((name_text(key), *(step if FIELD.fullmatch(step) else json.dumps(step) for step in path)))


def _type_end(text: str, at: int) -> int | None:
    """Find the end of a type that begins here: `Name`, `Name[...]` or several with ` | ` in between."""
    while True:
        word = _WORD.match(text, at)
        if word is None:
            return None
        at = word.end()
        if text[at : at + 1] == "[":
            end = bracketed(text, at)
            if end is None:
                return None
            at = end
        if text[at : at + 3] != " | ":
            return at
        at += 3


def _type_text(hint: object) -> str:
    text = type_of(hint).text
    return text if text.isprintable() and _type_end(text, 0) == len(text) else json.dumps(text)


def _read_type(scanner: Scanner) -> Type:
    if scanner.next_is('"'):
        return Type(scanner.string())
    end = _type_end(scanner.text, scanner.at)
    if end is None:
        raise scanner.unexpected("a type, as `str`, `list[int]` or `str | None`; any other in double quotes")
    start, scanner.at = scanner.at, end
    return Type(scanner.text[start:end])


def _label_text(label: str) -> str:
    return json.dumps(label)[1:-1].replace("]", "\\u005d") + "]"


def _read_label(scanner: Scanner) -> str:
    end = scanner.text.find("]", scanner.at)
    try:
        label = json.loads(f'"{scanner.text[scanner.at : end]}"') if end >= 0 else None
    except ValueError:
        label = None
    if not isinstance(label, str):
        raise scanner.unexpected("a label and `]`, with the escapes of JSON")
    scanner.at = end + 1
    return label


def _read_opened(scanner: Scanner) -> str:
    scanner.at -= 1
    return scanner.string()


def _read_number(scanner: Scanner) -> float:
    start = scanner.at
    value = scan_value(scanner)
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        scanner.at = start
        raise scanner.unexpected("a number")
    return value


def _read_count(scanner: Scanner) -> int:
    start = scanner.at
    value = _read_number(scanner)
    if not isinstance(value, int):
        scanner.at = start
        raise scanner.unexpected("a whole number")
    return value


NAME = Pair(name_text, Scanner.name)
TEXT = Pair(json.dumps, Scanner.string)
OPENED = Pair(lambda text: json.dumps(text)[1:], _read_opened)
"""Text whose first quote belongs to the clause's opening."""
PATH = Pair(_path_text, _read_path)
TYPE = Pair(_type_text, _read_type)
VALUE = Pair(conditions.value_text, scan_value)
NUMBER = Pair(conditions.value_text, _read_number)
COUNT = Pair(conditions.value_text, _read_count)
LABEL = Pair(_label_text, _read_label)
"""Text up to `]`; the `[` belongs to the clause's opening."""
CONDITION = Pair(lambda condition: conditions.text(condition, exact=True), scan_condition)


def _parent_text(parent: str | None) -> str:
    return _OUTERMOST if parent is None else name_text(parent)


def _read_parent(scanner: Scanner) -> str | None:
    return None if scanner.take(_OUTERMOST) else scanner.name("a region")


def _halt_text(halt: Template) -> str:
    names = [placeholder.name for placeholder in halt.placeholders]
    renamed = names != [placeholder.name for placeholder in parse(halt.text).placeholders]
    text = f" {TEXT.write(halt.text)}" if halt.text else ""
    return text + (f" from {', '.join(map(name_text, names))}" if renamed else "")


def _read_halt(scanner: Scanner) -> Template:
    text = ""
    if scanner.next_is(' "'):
        scanner.expect(" ")
        text = scanner.string()
    halt = parse(text)
    if not scanner.take(" from "):
        return halt
    names = list(Several(NAME).read(scanner))
    if len(names) != len(halt.placeholders):
        raise scanner.unexpected(f"{len(halt.placeholders)} keys behind `from`, one for each placeholder")
    return halt.renamed(lambda _: str(names.pop(0)))  # in the order of the placeholders


@dataclass(frozen=True, slots=True)
class _Retry:
    """A retry policy, as a record."""

    attempts: int
    backoff: float = 1.0
    factor: float = 2.0
    max_backoff: float = 60.0
    jitter: float = 1.0
    catches: tuple[str, ...] = ("Exception",)


_RETRY = Record(
    _Retry(0),
    Clause("attempts", codec=COUNT, always=True),
    Clause("backoff", " backoff=", NUMBER),
    Clause("factor", " factor=", NUMBER),
    Clause("max_backoff", " max_backoff=", NUMBER),
    Clause("jitter", " jitter=", NUMBER),
    Clause("catches", " on ", Several(NAME, ",")),
)


def _retry_text(policy: RetryPolicy) -> str:
    fields = (policy.attempts, policy.backoff, policy.factor, policy.max_backoff, policy.jitter, policy.catches)
    return _RETRY.write(_Retry(*fields))


def _read_retry(scanner: Scanner) -> RetryPolicy:
    read = _RETRY.read(scanner)
    kinds = tuple(map(_exception, read.catches))
    return RetryPolicy(read.attempts, read.backoff, read.factor, read.max_backoff, read.jitter, kinds)


def _exception(name: str) -> type[BaseException]:
    """Give the built-in exception of a name, for any other name a class that nothing is an instance of."""
    known = getattr(builtins, name, None)
    return known if isinstance(known, type) and issubclass(known, BaseException) else _unknown_exception(name)


def _unknown_exception(name: str) -> type[BaseException]:
    try:
        return type(name, (Exception,), {})
    except ValueError as error:  # a name that no class can have
        raise TypeError(str(error)) from error


def _merge_text(merge: Merge) -> str:
    if _MERGES.get(merge.name) is merge:
        return name_text(merge.name)
    return CALL + name_text(merge.name) + (" commutative" if merge.commutative else "")


def _read_merge(scanner: Scanner) -> Merge:
    start = scanner.at
    if scanner.take(CALL):
        name = scanner.name("a function")
        return Merge(name, NamedFunction(name), commutative=scanner.take(" commutative"))
    merge = _MERGES.get(scanner.name("a merge"))
    if merge is None:
        scanner.at = start
        raise scanner.unexpected(f"one of {', '.join(_MERGES)}, or `call:` and the name of a function")
    return merge


def _read_fault(scanner: Scanner) -> str:
    kinds = get_args(get_type_hints(Fault)["kind"])
    found = next((kind for kind in kinds if scanner.take(kind)), None)
    if found is None:
        raise scanner.unexpected(f"one of {', '.join(kinds)}")
    return str(found)


PARENT = Pair(_parent_text, _read_parent)
HALT = Pair(_halt_text, _read_halt)
RETRY = Pair(_retry_text, _read_retry)
MERGE = Pair(_merge_text, _read_merge)
FAULT_KIND = Pair(str, _read_fault)
