"""`graphflow.checker.rules`: each rule's own examples are what it says, and its page has the headings of a page."""

from __future__ import annotations

import linecache
import re
import typing

import pytest

import graphflow
from graphflow import Flow
from graphflow.checker.diagnostics import RANK
from graphflow.checker.rule import Rule
from graphflow.checker.rules import ALL_RULES

HEADINGS = ["What it does", "Why is this bad?", "Example", "Use instead"]


def flow_of(program: str) -> Flow:
    """Run a program that defines `flow`, where its source can be read."""
    linecache.cache["<example>"] = (len(program), None, program.splitlines(keepends=True), "<example>")
    scope: dict[str, object] = {name: getattr(typing, name) for name in ("Annotated", "Any", "Literal", "TypedDict")}
    scope |= {name: getattr(graphflow, name) for name in graphflow.__all__}
    exec(compile(program, "<example>", "exec"), scope)
    flow = scope["flow"]
    assert isinstance(flow, Flow)
    return flow


VALID = [pytest.param(rule, text, id=f"{rule.code}-{i}") for rule in ALL_RULES for i, text in enumerate(rule.valid)]
INVALID = [pytest.param(rule, text, id=f"{rule.code}-{i}") for rule in ALL_RULES for i, text in enumerate(rule.invalid)]


@pytest.mark.parametrize(("rule", "program"), VALID)
def test_the_rule_is_silent_on_its_valid_programs(rule: Rule, program: str) -> None:
    report = flow_of(program).check(profile=rule.profile)
    assert rule.code not in report.codes
    assert report.ok, str(report)


@pytest.mark.parametrize(("rule", "program"), INVALID)
def test_the_rule_flags_its_invalid_programs(rule: Rule, program: str) -> None:
    report = flow_of(program).check(profile=rule.profile)
    found = [finding for finding in report if finding.code == rule.code]
    assert len(found) == 1
    others = [finding for finding in report if finding.severity == "error" and finding.code != rule.code]
    assert not others, "one cause, one finding"


@pytest.mark.parametrize("rule", ALL_RULES, ids=lambda rule: rule.code)
def test_each_rule_has_a_page_and_examples_of_both_kinds(rule: Rule) -> None:
    assert rule.valid
    assert rule.invalid
    assert rule.severity in RANK
    page = rule.page()
    assert re.findall(r"^## (.+)$", page, re.MULTILINE) in (HEADINGS, [*HEADINGS, "Options"])
    assert page.startswith(f"# {rule.code} {rule.name}\n")
    assert page.count("```") % 2 == 0
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", rule.name)


def test_codes_and_names_are_unique_and_the_table_is_sorted() -> None:
    codes = [rule.code for rule in ALL_RULES]
    assert codes == sorted(set(codes))
    assert len({rule.name for rule in ALL_RULES}) == len(ALL_RULES)
    assert all(re.fullmatch(r"GF\d{3}", code) for code in codes)
