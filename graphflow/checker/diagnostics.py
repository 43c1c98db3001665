"""Findings as data. How they are written down is the business of `graphflow.checker.formats`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from graphflow.contracts.contract import Origin
from graphflow.errors import ContractError

Severity = Literal["error", "warning", "info"]
RANK: dict[str, int] = {"error": 0, "warning": 1, "info": 2}


@dataclass(frozen=True, slots=True)
class Related:
    """Another place that belongs to a finding: what it is, and where."""

    message: str
    node: str = ""
    origin: Origin | None = None

    def as_dict(self) -> dict[str, Any]:
        """Give it as plain JSON-able data."""
        return {"message": self.message, "node": self.node, **_place(self.origin)}


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding.

    Attributes:
        code: the rule's permanent code.
        name: the rule's name.
        severity: "error": some execution that the contracts allow goes wrong; "warning"; "info".
        message: what was found, one sentence.
        node: path of the agent concerned.
        key: the state key concerned, None if there is none.
        origin: where it is: the placeholder, parameter or line that reads the key, else where the agent was made.
        help: what to do, in the user's own names.
        related: other places that belong to it.
        path: node paths of one execution that shows it, the entry first; empty if no path is needed.
    """

    code: str
    name: str
    severity: Severity
    message: str
    node: str = ""
    key: str | None = None
    origin: Origin | None = None
    help: str = ""
    related: tuple[Related, ...] = ()
    path: tuple[str, ...] = ()

    @property
    def file(self) -> str | None:
        """File to which the finding points."""
        return self.origin.file if self.origin is not None else None

    @property
    def line(self) -> int | None:
        """1-based line."""
        return self.origin.line if self.origin is not None else None

    @property
    def column(self) -> int | None:
        """1-based column, None if it is not known."""
        return self.origin.column or None if self.origin is not None else None

    def as_dict(self) -> dict[str, Any]:
        """Give it as plain JSON-able data."""
        return {
            "code": self.code,
            "name": self.name,
            "severity": self.severity,
            "message": self.message,
            "node": self.node,
            "key": self.key,
            **_place(self.origin),
            "help": self.help,
            "related": [place.as_dict() for place in self.related],
            "path": list(self.path),
        }


def _place(origin: Origin | None) -> dict[str, Any]:
    if origin is None:
        return {"file": None, "line": None, "column": None}
    return {"file": origin.file, "line": origin.line, "column": origin.column or None}


@dataclass(frozen=True, slots=True)
class Report:
    """All findings about one flow.

    Attributes:
        flow: the flow's name.
        diagnostics: in canonical order of the nodes, then by code and key.
        suppressed: findings that the author asked not to see.
    """

    flow: str
    diagnostics: tuple[Diagnostic, ...] = ()
    suppressed: tuple[Diagnostic, ...] = ()

    def of(self, severity: Severity) -> list[Diagnostic]:
        """Give the findings of one severity."""
        return [finding for finding in self.diagnostics if finding.severity == severity]

    @property
    def errors(self) -> list[Diagnostic]:
        """The findings that stop a run."""
        return self.of("error")

    @property
    def warnings(self) -> list[Diagnostic]:
        """The findings worth a look."""
        return self.of("warning")

    @property
    def ok(self) -> bool:
        """Whether there is no error."""
        return not self.errors

    @property
    def codes(self) -> list[str]:
        """The codes found, in order, each as often as it was found."""
        return [finding.code for finding in self.diagnostics]

    def raise_if_errors(self) -> None:
        """Raise what a run would raise.

        Raises:
            ContractError: there is at least one error.
        """
        if self.errors:
            raise ContractError(self)

    def as_dict(self) -> dict[str, Any]:
        """Give it as plain JSON-able data."""
        return {"flow": self.flow, "diagnostics": [finding.as_dict() for finding in self.diagnostics]}

    def __iter__(self) -> Iterator[Diagnostic]:
        return iter(self.diagnostics)

    def __len__(self) -> int:
        return len(self.diagnostics)

    def __str__(self) -> str:
        """Give a short text: a count, then a line for each error and warning."""
        shown = [*self.errors, *self.warnings]
        notes = len(self.diagnostics) - len(shown)
        counts = ", ".join(
            f"{count} {word}{'' if count == 1 else 's'}"
            for count, word in ((len(self.errors), "error"), (len(self.warnings), "warning"), (notes, "note"))
        )
        lines = [f"flow `{self.flow}`: {counts}"]
        for finding in shown:
            where = f"{finding.origin}: " if finding.origin is not None else ""
            lines.append(f"  {where}{finding.severity} {finding.code} {finding.name}: {finding.message}")
            if finding.help:
                lines.append(f"    help: {finding.help}")
        return "\n".join(lines)
