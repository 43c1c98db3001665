"""Runs the rules over a graph and turns what they find into a report.

Every rule is asked, none stops another; findings are filtered by what the author suppressed, given their place and
sorted. A suppression is `ignore=["GF203"]` on an agent or a comment on the line where it is made::

    notes = LlmAgent(...)  # graphflow: ignore[GF203] kept for the archive
"""

from __future__ import annotations

import linecache
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from graphflow.analysis.facts import Facts
from graphflow.checker.diagnostics import RANK, Diagnostic, Related, Report, Severity
from graphflow.checker.rule import Finding, Rule
from graphflow.checker.rules import ALL_RULES
from graphflow.contracts.contract import Origin
from graphflow.errors import UsageError, closest
from graphflow.ir.graph import Graph
from graphflow.ir.nodes import Declaration, agent_path

_COMMENT = re.compile(r"#\s*graphflow:\s*ignore(?:\[([A-Z0-9,\s]*)\])?")

_ABOUT_OPTIONAL = frozenset({"GF209", "GF213"})
_ABOUT_FIELDS = frozenset({"GF403"})
_ABOUT_READS = (
    _ABOUT_OPTIONAL | _ABOUT_FIELDS | {"GF201", "GF202", "GF205", "GF206", "GF207", "GF302", "GF401", "GF404"}
)
"""Findings that point at the read they are about, where that is written apart from the agent."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Which findings are reported, and how severe they are.

    Attributes:
        select: codes or prefixes (`GF3`) that are reported; empty means all.
        ignore: codes or prefixes that are not.
        severity: code -> severity in place of the catalogue's.

    Raises:
        UsageError: a code that no rule has, or a severity that does not exist.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    severity: Mapping[str, Severity] = field(default_factory=dict)

    def __post_init__(self) -> None:
        codes = [rule.code for rule in ALL_RULES]
        for code in (*self.select, *self.ignore, *self.severity):
            if not any(known.startswith(code) for known in codes) or not code:
                near = closest(code, codes)
                raise UsageError(f"no rule has the code `{code}`" + (f"; did you mean `{near}`" if near else ""))
        for code, severity in self.severity.items():
            if severity not in RANK:
                raise UsageError(f"severity of `{code}` is error, warning or info, got `{severity}`")

    def reports(self, code: str) -> bool:
        """Say whether findings with this code are reported."""
        return (not self.select or code.startswith(self.select)) and not (self.ignore and code.startswith(self.ignore))


def check_graph(graph: Graph, settings: Settings | None = None) -> Report:
    """Check one graph.

    Args:
        graph: a linked graph.
        settings: which findings to report; default: all, with the catalogue's severities.

    Returns:
        The report. Never raises for what is in the graph.
    """
    facts = Facts.of(graph)
    found = [(rule, finding) for rule in ALL_RULES for finding in rule.check(facts)]
    kept: list[Diagnostic] = []
    suppressed: list[Diagnostic] = []
    for rule, finding in _without_absorbed(found):
        diagnostic = _diagnostic(facts, rule, finding, settings or Settings())
        declaration = _declaration(graph, diagnostic.node)
        if settings is not None and not settings.reports(rule.code):
            continue
        (suppressed if _is_suppressed(rule.code, declaration, diagnostic.origin) else kept).append(diagnostic)
    order = _order(graph)
    kept.sort(key=lambda d: (order.get(d.node, -1), d.code, d.key or "", d.message))
    return Report(graph.name, tuple(kept), tuple(suppressed))


def rule_of(code: str) -> Rule:
    """Find a rule by its code, whatever its case.

    Raises:
        UsageError: no rule has it; the message names the closest.
    """
    wanted = code.strip().upper()
    for rule in ALL_RULES:
        if wanted in (rule.code, rule.name.upper()):
            return rule
    near = closest(wanted, [rule.code for rule in ALL_RULES])
    known = f"did you mean `{near}`" if near else f"there are {', '.join(rule.code for rule in ALL_RULES)}"
    raise UsageError(f"no rule has the code `{code}`; {known}")


def _without_absorbed(found: list[tuple[Rule, Finding]]) -> Iterable[tuple[Rule, Finding]]:
    """One cause, one finding: what another finding absorbs becomes a related place of it."""
    absorbed = {place for _, finding in found for place in finding.absorbs}
    causes = {(rule.code, finding.key or ""): (rule, finding) for rule, finding in found}
    for rule, finding in found:
        if (rule.code, finding.key) in absorbed:
            continue
        related = [
            Related(f"{other.message} ({cause.code})", agent_path(other.node))
            for place in finding.absorbs
            if place in causes
            for cause, other in [causes[place]]
        ]
        yield rule, replace(finding, related=(*finding.related, *related))


def _diagnostic(facts: Facts, rule: Rule, finding: Finding, settings: Settings) -> Diagnostic:
    graph, node = facts.graph, agent_path(finding.node)
    declaration = _declaration(graph, node)
    severity: Severity = finding.severity or rule.severity
    related = tuple(
        replace(place, origin=origin.origin)
        if place.origin is None and (origin := _declaration(graph, place.node))
        else place
        for place in finding.related
    )
    return Diagnostic(
        rule.code,
        rule.name,
        settings.severity.get(rule.code, severity),
        finding.message,
        node,
        finding.key,
        finding.origin
        or _read_place(facts, rule.code, finding)
        or (declaration.origin if declaration is not None else None),
        finding.help,
        related,
        finding.path,
    )


def _read_place(facts: Facts, code: str, finding: Finding) -> Origin | None:
    """Find the place of the read that a finding is about; only here are files parsed for it."""
    node = facts.graph.nodes.get(finding.node)
    if node is None or code not in _ABOUT_READS:
        return None
    reads = [read for read in node.contract.reads if facts.local(read.key) == finding.key]
    wanted = [
        read
        for read in reads
        if read.optional is (code in _ABOUT_OPTIONAL) and (read.path or code not in _ABOUT_FIELDS)
    ]
    places = (read.place() for read in (*wanted, *reads))
    return next((place for place in places if place is not None), None)


def _declaration(graph: Graph, path: str) -> Declaration | None:
    if path in graph.declarations:
        return graph.declarations[path]
    return next(iter(graph.declarations.values()), None) if path in ("", "@entry", "@exit") else None


def _is_suppressed(code: str, declaration: Declaration | None, origin: Origin | None) -> bool:
    """Whether the author asked not to see a finding: at the agent, where it is made, or where the finding points."""
    if declaration is None:
        return False
    places = {place for place in (declaration.origin, origin) if place is not None}
    return code in declaration.ignore or any(_is_commented(code, place) for place in places)


def _is_commented(code: str, place: Origin) -> bool:
    linecache.checkcache(place.file)
    match = _COMMENT.search(linecache.getline(place.file, place.line))
    if match is None:
        return False
    return match[1] is None or code in [part.strip() for part in match[1].split(",")]


def _order(graph: Graph) -> dict[str, int]:
    return {path: index for index, path in enumerate(graph.declarations)}
