"""`graphflow.checker.pages`: the committed pages are those that the rules make."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from graphflow.checker.pages import INDEX, index, page_of, pages
from graphflow.checker.rule import Rule
from graphflow.checker.rules import ALL_RULES
from graphflow.cli import main

COMMITTED = Path(__file__).parent.parent.parent / "docs" / "rules"
AGAIN = "write them again: `python -m graphflow explain --all -o docs/rules`"


def test_the_committed_pages_are_made_from_the_rules() -> None:
    """A rule whose text changes changes its page in the same commit."""
    committed = {path.name: path.read_text(encoding="utf-8") for path in COMMITTED.glob("*.md")}
    made = pages()
    different = sorted(name for name in committed.keys() | made.keys() if committed.get(name) != made.get(name))

    assert not different, AGAIN


@pytest.mark.parametrize("rule", ALL_RULES, ids=lambda rule: rule.code)
def test_a_page_shows_every_example(rule: Rule) -> None:
    """Fences are closed, and what the rule's tests run is what readers see."""
    page = page_of(rule)
    fenced = re.findall(r"^```py\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)

    assert page.startswith(rule.page().partition("```")[0])
    assert page.count("```") == 2 * len(fenced)
    for program in (*rule.invalid, *rule.valid):
        assert f"{program.strip()}\n" in fenced


def test_the_index_has_one_row_for_each_rule() -> None:
    """Code, name, severity, since and what it finds, in the order of the codes."""
    rows = [line for line in index().splitlines() if line.startswith("| [GF")]

    assert len(rows) == len(ALL_RULES)
    for row, rule in zip(rows, ALL_RULES, strict=True):
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]]
        assert cells[:4] == [f"[{rule.code}]({rule.code}.md)", rule.name, rule.severity, rule.since]
        assert cells[4].endswith(".")


def test_the_command_writes_the_pages(tmp_path: Path) -> None:
    """Pages of rules that are gone go; other files stay."""
    directory = tmp_path / "new" / "rules"
    directory.mkdir(parents=True)
    (directory / "GF000.md").write_text("gone", encoding="utf-8")
    (directory / "notes.md").write_text("mine", encoding="utf-8")
    result = CliRunner().invoke(main, ["explain", "--all", "-o", str(directory)])

    assert result.exit_code == 0, result.output
    assert {path.name for path in directory.iterdir()} == {*pages(), "notes.md"}
    assert (directory / INDEX).read_text(encoding="utf-8") == index()


def test_explain_prints_the_page() -> None:
    """By code in any case, or by name; all of them; a list without."""
    call = CliRunner().invoke

    for name in ("GF201", "gf201", "undefined-read"):
        assert call(main, ["explain", name]).output.rstrip() == page_of(rule("GF201")).rstrip()
    assert call(main, ["explain", "--all"]).output.count("\n## What it does\n") == len(ALL_RULES)
    assert len(call(main, ["explain"]).output.splitlines()) == len(ALL_RULES)


def rule(code: str) -> Rule:
    return next(one for one in ALL_RULES if one.code == code)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["GF999"], "no rule has the code `GF999`"),
        (["GF201", "--all"], "leave out `GF201`"),
        (["-o", "rules"], "goes with --all"),
        (["--all", "-o", "/dev/null/rules"], "cannot write"),
    ],
)
def test_what_cannot_be_explained(arguments: list[str], said: str) -> None:
    """One line and exit code 2."""
    result = CliRunner().invoke(main, ["explain", *arguments])

    assert result.exit_code == 2
    assert said in result.output
    assert len(result.output.splitlines()) == 1
