"""What a rule is: a code, a page of text, examples that are its tests, and a question put to the facts.

A rule is about fifteen lines that ask `Facts` and yield `Finding`s; the engine adds code, name, severity and place::

    class EmptyComposite(Rule):
        \"\"\"...What it does / Why is this bad? / Example / Use instead...\"\"\"

        code, name, severity = "GF107", "empty-composite", "warning"

        def check(self, facts):
            for region in ...:
                yield Finding(region.id, f"`{region.id}` has nothing in it")
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from graphflow.analysis.facts import Facts
from graphflow.checker.diagnostics import Related, Severity
from graphflow.contracts.contract import Origin
from graphflow.ir.names import GRAPHFLOW


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule found; see `Diagnostic` for the fields that are the same.

    Attributes:
        node: id of a node or region; findings name the agent it belongs to.
        severity: only where it differs from the rule's own.
        absorbs: findings with the same cause, (code, key): they are not made, but named as related.
        origin: where it is, if that is not where the agent is made.
    """

    node: str
    message: str
    key: str | None = None
    help: str = ""
    related: tuple[Related, ...] = ()
    path: tuple[str, ...] = ()
    severity: Severity | None = None
    absorbs: tuple[tuple[str, str], ...] = ()
    origin: Origin | None = None


class Rule(ABC):
    """One rule of the catalogue. The docstring is its page.

    Attributes:
        code: permanent, never re-used.
        name: names the pattern that it flags.
        severity: the default.
        since: the version that brought it.
        profile: the profile that its programs are checked under; rules about other frameworks need one.
        valid: programs that it is silent on, invalid: programs that it flags. Each defines `flow`.
    """

    code: ClassVar[str]
    name: ClassVar[str]
    severity: ClassVar[Severity]
    since: ClassVar[str] = "0.1"
    profile: ClassVar[str] = GRAPHFLOW
    valid: ClassVar[tuple[str, ...]] = ()
    invalid: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def check(self, facts: Facts) -> Iterator[Finding]:
        """Yield what is found in one graph."""

    def page(self) -> str:
        """Give the rule's page as Markdown."""
        text = inspect.cleandoc(type(self).__doc__ or "")
        only = "" if self.profile == GRAPHFLOW else f' Checked under `profile="{self.profile}"`.'
        return f"# {self.code} {self.name}\n\nSeverity: {self.severity}. Since {self.since}.{only}\n\n{text}\n"
