"""`graphflow.checker.formats`: findings as text and as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphflow.checker.formats import FORMATS, Checked, Layout, printable, summary

SOURCE = 'first = 1\nwriter = LlmAgent(name="writer", instruction="{topik}")\n'


def finding(**fields: Any) -> dict[str, Any]:
    """A finding as `Diagnostic.as_dict()` gives it."""
    return {
        "code": "GF201",
        "name": "undefined-read",
        "severity": "error",
        "message": "`writer` reads `topik`, which nothing writes",
        "node": "story/writer",
        "key": "topik",
        "file": None,
        "line": None,
        "column": None,
        "help": "did you mean `topic`?",
        "related": [],
        "path": [],
        **fields,
    }


def text_of(*findings: dict[str, Any], **options: Any) -> str:
    """The text format of one flow with these findings."""
    return FORMATS["text"]([Checked("story.py:flow", "story", tuple(findings))], Layout(**options))


def test_text_points_at_the_place(tmp_path: Path) -> None:
    """The source line is shown with the call underlined, the file relative to the directory asked for."""
    file = tmp_path / "story.py"
    file.write_text(SOURCE, encoding="utf-8")
    place = {"message": "written here", "node": "a", "file": str(file), "line": 1, "column": None}
    found = finding(file=str(file), line=2, column=10, related=[place], path=["entry", "story/writer"])
    assert text_of(found, root=str(tmp_path), width=100) == (
        "story (story.py:flow)\n"
        "\n"
        "story.py:2:10: error GF201 undefined-read: `writer` reads `topik`, which nothing writes\n"
        "      |\n"
        '    2 | writer = LlmAgent(name="writer", instruction="{topik}")\n'
        "      |          ^^^^^^^^\n"
        "    = help: did you mean `topic`?\n"
        "    = note: story.py:1: written here\n"
        "    = path: entry -> story/writer\n"
        "\n"
        "1 flow checked: 1 error, 0 warnings\n"
    )


def test_notes_are_counted_unless_asked_for() -> None:
    """One line says how many notes there are and how to see them."""
    note = finding(severity="info", code="GF209", message="needless")
    assert text_of(note) == "1 flow checked: 0 errors, 0 warnings\n1 note (--show info)\n"
    assert "needless" in text_of(note, show_info=True)
    assert "--show info" not in text_of(note, show_info=True)


def test_colour_only_adds_escapes() -> None:
    """Without its escapes coloured text is the plain text."""
    coloured = text_of(finding(), colour=True)
    plain = text_of(finding())
    for escape in ("\x1b[1;31m", "\x1b[1m", "\x1b[2m", "\x1b[0m"):
        coloured = coloured.replace(escape, "")
    assert coloured == plain


@given(st.text(), st.text(), st.lists(st.text(min_size=1), max_size=3), st.integers(40, 100))
def test_no_text_can_reach_the_terminal(message: str, name: str, path: list[str], width: int) -> None:
    """Whatever names and messages hold, only printable characters and our own line breaks come out, within the width."""
    report = FORMATS["text"](
        [Checked(name, name, (finding(message=message, help=name, path=path),))], Layout(width=width)
    )
    for line in report.splitlines():
        assert line == printable(line)
        assert len(line) <= width


def test_a_long_file_name_is_not_broken(tmp_path: Path) -> None:
    """A place that is wider than the page stays in one piece."""
    place = f"{tmp_path}/{'directory/' * 12}story.py"
    assert f"{place}:3:1:" in text_of(finding(file=place, line=3, column=1), width=60, root="/elsewhere").split()


@given(
    st.lists(
        st.sampled_from(["error", "warning", "info"]).map(
            lambda severity: finding(severity=severity, message="\x1b\u2028ä")
        )
    )
)
def test_json_holds_every_finding(findings: list[dict[str, Any]]) -> None:
    """JSON has all findings with their target, in ASCII, and counts them."""
    results = [
        Checked("a.py:flow", "a", tuple(findings), (finding(), finding())),
        Checked("b.py", error="there is no file `b.py`"),
    ]
    report = FORMATS["json"](results, Layout())
    assert report.isascii()
    document = json.loads(report)
    assert document["version"] == 1
    assert [target["checked"] for target in document["targets"]] == [True, False]
    assert [{k: v for k, v in f.items() if k != "target"} for f in document["diagnostics"]] == findings
    assert all(f["target"] == "a.py:flow" for f in document["diagnostics"])
    assert document["summary"] == summary(results)
    counted = document["summary"]
    assert counted["errors"] + counted["warnings"] + counted["info"] == len(findings)
    assert counted["suppressed"] == 2
    assert counted["unchecked"] == 1


@pytest.mark.parametrize(
    ("value", "shown"), [("a\x1b[31m", "a\\x1b[31m"), ("a\nb", "a\\nb"), ("\u202e", "\\u202e"), ("é", "é")]
)
def test_printable(value: str, shown: str) -> None:
    """Control characters and direction marks are escaped, letters are not."""
    assert printable(value) == shown


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), st.integers(1, 200))
def test_any_source_line_can_be_shown(tmp_path_factory: pytest.TempPathFactory, line: str, column: int) -> None:
    """Tabs, wide characters and columns beyond the end do no harm."""
    file = tmp_path_factory.mktemp("source") / "s.py"
    file.write_text(line, encoding="utf-8")
    report = text_of(finding(file=str(file), line=1, column=column), width=60, root=str(file.parent))
    assert all(line == printable(line) for line in report.splitlines())
