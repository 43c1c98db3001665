"""What each rule says, word for word: severity, node, key, place, message, help, related places and path.

`findings/CODE.txt` holds all that is said of the rule's own examples, and of its planted program alone and inside a sub-flow.
`pytest tests/golden --update-data` rewrites them. Read every changed line before committing.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from graphflow import Flow
from graphflow.checker.engine import rule_of
from graphflow.checker.rules import ALL_RULES
from tests.checker.test_table import planted
from tests.golden.test_cases import flow_of

FINDINGS = Path(__file__).parent / "findings"
CODES = [rule.code for rule in ALL_RULES]


def said_of(flow: Flow, profile: str) -> Iterator[str]:
    """Write all findings about a flow."""
    for found in flow.check(profile=profile):
        inside = found.line is not None and (found.file or "").startswith("<")
        place = f"{found.line}:{found.column or '-'}" if inside else "-"
        yield f"{found.severity} {found.code} {found.node or '-'} {found.key or '-'} {place}: {found.message}"
        yield f"  help: {found.help}"
        yield from (f"  related: {place.node}: {place.message}" for place in found.related)
        if found.path:
            yield f"  path: {' -> '.join(found.path)}"


def text_of(code: str) -> str:
    """Write what is said of all programs about a rule."""
    rule = rule_of(code)
    programs = [
        *((f"valid {n}", text) for n, text in enumerate(rule.valid)),
        *((f"invalid {n}", text) for n, text in enumerate(rule.invalid)),
    ]
    flows = [(title, flow_of(text, f"<{code} {title}>")) for title, text in programs]
    flows += [(f"planted, {place}", planted(code, place)) for place in ("top level", "sub-flow")]
    return "\n".join(line for title, flow in flows for line in (f"== {title}", *said_of(flow, rule.profile), ""))


@pytest.mark.parametrize("code", CODES)
def test_what_is_said(code: str, request: pytest.FixtureRequest) -> None:
    path, now = FINDINGS / f"{code}.txt", text_of(code)
    if request.config.getoption("--update-data", default=False):
        FINDINGS.mkdir(exist_ok=True)
        path.write_text(now, encoding="utf-8")
    else:
        assert now == path.read_text(encoding="utf-8")


def test_there_is_a_text_for_each_rule_and_no_other() -> None:
    assert sorted(path.stem for path in FINDINGS.glob("*.txt")) == CODES
