"""One mechanism, two directions: how a piece of data is written as text and read again.

A `Codec` writes a value and reads it. A `Record` is the codec of a data class, made of clauses in order; each clause has
an opening (a word, a sign) and a codec, and is left out where its attribute has the default::

    EDGE = Record(Edge("", ""), Clause("source", codec=NAME, always=True), Clause("back", " back", YES), ...)
    EDGE.write(edge)          # "a -> b back"
    EDGE.read(scanner)        # Edge("a", "b", back=True)

Nothing here knows which words a graph has; `lines` does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Protocol

from graphflow.conditions.scanning import Scanner


class Codec(Protocol):
    """Writes values of one kind and reads them."""

    def fits(self, value: Any) -> bool:
        """Say whether it can write this value."""
        ...

    def write(self, value: Any) -> str:
        """Give the text of a value."""
        ...

    def read(self, scanner: Scanner) -> Any:
        """Read the value that comes next, and stop behind it."""
        ...


@dataclass(frozen=True, slots=True)
class Pair:
    """A codec made of two functions."""

    write: Callable[[Any], str]
    read: Callable[[Scanner], Any]

    def fits(self, _: object) -> bool:
        """Every value fits."""
        return True


@dataclass(frozen=True, slots=True)
class Flag:
    """A fixed value, of which nothing but the clause's opening is written."""

    value: object

    def fits(self, value: object) -> bool:
        """Say whether it is the fixed value."""
        return type(value) is type(self.value) and value == self.value

    def write(self, _: object) -> str:
        """Write nothing."""
        return ""

    def read(self, _: Scanner) -> object:
        """Give the fixed value."""
        return self.value


YES = Flag(value=True)
NO = Flag(value=False)


@dataclass(frozen=True, slots=True)
class Several:
    """A tuple of values with a separator in between."""

    codec: Codec
    separator: str = ", "

    def fits(self, _: object) -> bool:
        """Every tuple fits; an empty one is left out."""
        return True

    def write(self, value: Iterable[object]) -> str:
        """Give the texts, joined."""
        return self.separator.join(map(self.codec.write, value))

    def read(self, scanner: Scanner) -> tuple[object, ...]:
        """Read values as long as the separator comes next."""
        found = [self.codec.read(scanner)]
        while scanner.take(self.separator):
            found.append(self.codec.read(scanner))
        return tuple(found)


@dataclass(frozen=True, slots=True)
class Clause:
    """One part of a record.

    Attributes:
        names: the attribute, dotted if it is one of a part (`contract.reads`); several, written together, with spaces.
        opening: what stands before the value.
        codec: writes and reads the value, of several attributes a tuple.
        always: it is never left out.
        default: the value where it is left out, from the record without it; None: that of the record's blank.
    """

    names: str
    opening: str = ""
    codec: Codec = YES
    always: bool = False
    default: Callable[[Any], object] | None = None


class Record:
    """The codec of a data class.

    Attributes:
        blank: a record in which everything has its default.
        clauses: what is written, in order.
    """

    def __init__(self, blank: Any, *clauses: Clause) -> None:
        self.blank = blank
        self.clauses = clauses

    def fits(self, value: object) -> bool:
        """Say whether it is of the data class."""
        return isinstance(value, type(self.blank))

    def write(self, value: Any) -> str:
        """Give the text: each clause that does not have its default."""
        return "".join(self._clause_text(clause, value) for clause in self.clauses)

    def _clause_text(self, clause: Clause, record: Any) -> str:
        value = _value(record, clause.names)
        default = _value(self.blank, clause.names) if clause.default is None else clause.default(record)
        if (not clause.always and _equal(value, default)) or not clause.codec.fits(value):
            return ""
        return clause.opening + clause.codec.write(value)

    def read(self, scanner: Scanner) -> Any:
        """Read a record."""
        record = self.blank
        left_out: list[Clause] = []
        found: set[str] = set()
        for clause in self.clauses:
            if clause.always:
                scanner.expect(clause.opening)
            elif not scanner.take(clause.opening):
                left_out.append(clause)
                continue
            record = _read_into(record, clause, scanner)
            found.add(clause.names)
        for clause in left_out:
            if clause.default is not None and clause.names not in found:
                record = _with(record, clause.names, clause.default(record))
        return record


def _read_into(record: Any, clause: Clause, scanner: Scanner) -> Any:
    start = scanner.at
    try:
        return _with(record, clause.names, clause.codec.read(scanner))
    except TypeError as error:  # what a data class refuses
        scanner.at = start
        raise scanner.unexpected(f"something else: {error}") from error


def _value(record: Any, names: str) -> Any:
    found = []
    for name in names.split():
        value = record
        for step in name.split("."):
            value = getattr(value, step)
        found.append(value)
    return tuple(found) if len(found) > 1 else found[0]


def _with(record: Any, names: str, value: Any) -> Any:
    several = names.split()
    for name, each in zip(several, value if len(several) > 1 else (value,), strict=True):
        first, _, rest = name.partition(".")
        record = replace(record, **{first: _with(getattr(record, first), rest, each) if rest else each})
    return record


def _equal(value: object, default: object) -> bool:
    """Say whether a value is the default: by type and value; conditions, which do not compare, never are."""
    if value is default:
        return True
    return type(value) is type(default) and isinstance(value, (str, int, float, tuple)) and value == default
