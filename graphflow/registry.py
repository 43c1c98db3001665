"""Tables of what can be chosen by name: report formats, renderers, providers of models.

A table is a literal in the package that owns it, from a name or a pattern to an object or to the place it is imported
from; third parties add rows by entry points. Nothing is imported before it is chosen::

    FORMATS = Registry("report format", {"json": "graphflow.checker.formats:json"}, entry_points="graphflow.formats")
    FORMATS.resolve("json")         # imports graphflow.checker.formats
    FORMATS.resolve("jsom")         # UsageError: unknown report format `jsom`; did you mean `json`?

This module knows nothing of what its tables hold.
"""

from __future__ import annotations

import importlib
import importlib.metadata
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cache
from types import MappingProxyType
from typing import Generic, TypeVar, cast

from graphflow.errors import UsageError, closest

T = TypeVar("T")


def load(spec: str) -> object:
    """Import an object.

    Args:
        spec: where it is, as `package.module:attribute`; the attribute may have dots.

    Raises:
        UsageError: the spec is malformed, the module is not there or fails, or it lacks the attribute.
    """
    module_name, _, attributes = spec.partition(":")
    if not all(part.isidentifier() for part in (*module_name.split("."), *attributes.split("."))):
        raise UsageError(f"`{spec}` names no object; write `package.module:attribute`")
    try:
        found: object = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        what = "there is no module" if module_name.startswith(str(error.name)) else "it needs the module"
        raise UsageError(f"`{spec}` cannot be imported: {what} `{error.name}`; install what provides it") from error
    except ImportError as error:
        raise UsageError(f"`{spec}` cannot be imported: {error}") from error
    for attribute in attributes.split("."):
        if not hasattr(found, attribute):
            near = closest(attribute, dir(found))
            raise UsageError(f"`{spec}`: there is no `{attribute}`" + (f"; did you mean `{near}`?" if near else ""))
        found = getattr(found, attribute)
    return found


class Registry(Generic[T]):
    """A table from names, or patterns of names, to objects that are imported when they are asked for.

    Args:
        kind: what the table holds, for messages ("report format").
        table: name, or pattern with `*`, `?` and `[...]`, -> object or `package.module:attribute`. The first
            row that matches counts.
        entry_points: group of entry points that add rows behind those of the table; None: there are none.
    """

    def __init__(self, kind: str, table: Mapping[str, str | T], *, entry_points: str | None = None) -> None:
        self.kind = kind
        self._table = dict(table)
        self._group = entry_points

    def extended(self, table: Mapping[str, str | T]) -> Registry[T]:
        """Make a registry that looks at further rows before its own.

        Args:
            table: as in the constructor.
        """
        rest = {name: row for name, row in self._table.items() if name not in table}
        return Registry(self.kind, {**table, **rest}, entry_points=self._group)

    def names(self) -> tuple[str, ...]:
        """List the names and patterns, in the order in which they are tried."""
        return tuple(dict.fromkeys(name for name, _ in self._rows()))

    def resolve(self, name: str) -> T:
        """Give what a name stands for, importing it if need be. Entry points are looked up only if the table lacks it.

        Args:
            name: an exact name, or one that a pattern matches.

        Raises:
            UsageError: nothing has that name, or it cannot be imported.
        """
        for rows in (self._table, self._installed):
            for known, row in rows.items():
                if known == name or fnmatchcase(name, known):
                    return cast("T", load(row)) if isinstance(row, str) else row
        near = closest(name, self.names())
        hint = f"did you mean `{near}`? " if near else ""
        there = ", ".join(f"`{each}`" for each in self.names()) or "none"
        raise UsageError(f"unknown {self.kind} `{name}`; {hint}There are: {there}")

    def _rows(self) -> Iterator[tuple[str, str | T]]:
        yield from self._table.items()
        yield from self._installed.items()

    @property
    def _installed(self) -> Mapping[str, str | T]:
        return _installed(self._group) if self._group is not None else {}


@cache
def _installed(group: str) -> Mapping[str, str]:
    """List the entry points of a group by name; what is installed does not change while a program runs."""
    points = importlib.metadata.entry_points(group=group)
    return MappingProxyType({point.name: point.value for point in sorted(points, key=lambda point: point.name)})
