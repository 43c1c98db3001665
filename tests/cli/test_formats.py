"""`graphflow.checker.formats`: findings as text for people, and in the formats of other programs."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from graphflow.checker.formats import FORMATS, Checked, Layout, format_of, printable, summary
from graphflow.checker.formats.results import LONGEST_TEXT, shortened
from tests.cli.reporting import COMMITTED, FILES, reports_of, results_in
from tests.cli.schemas import validate

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


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The reports of a real flow with findings of every severity, format -> text."""
    directory = tmp_path_factory.mktemp("project").resolve()
    return reports_of(results_in(directory), directory)


@pytest.mark.parametrize("name", FORMATS)
def test_the_reports_are_those_committed(real: dict[str, str], name: str) -> None:
    """A change of a format or of what these rules say is seen; `python -m tests.cli.reporting` writes them again."""
    assert real[name] == (COMMITTED / FILES[name]).read_text(encoding="utf-8")


def test_every_severity_is_in_the_reports(real: dict[str, str]) -> None:
    """The program of the committed reports has what they are to show."""
    document = validate(real["json"], "report.json")
    assert {found["severity"] for found in document["diagnostics"]} == {"error", "warning", "info"}
    assert document["summary"]["suppressed"] == 1
    assert document["summary"]["unchecked"] == 1
    assert any(found["related"] for found in document["diagnostics"])
    assert any(found["path"] for found in document["diagnostics"])


def test_what_is_committed_has_no_machine_in_it() -> None:
    """Paths are those of the project."""
    for file in FILES.values():
        text = (COMMITTED / file).read_text(encoding="utf-8")
        assert os.sep + "tmp" not in text
        assert str(Path.home()) not in text.replace("/project", "")


def test_fingerprints_stay_when_lines_move(tmp_path: Path) -> None:
    """Empty lines above a flow change no identity; another key does; twins are told apart."""

    def identities(program: str) -> list[str]:
        directory = tmp_path / str(len(list(tmp_path.iterdir())))
        directory.mkdir()
        (directory / "story.py").write_text(program, encoding="utf-8")
        results = [
            Checked("s", "s", (finding(file=str(directory / "story.py"), line=line, key=key),))
            for line, text in enumerate(program.splitlines(), 1)
            if (key := text.partition("read ")[2])
        ]
        layout = Layout(root=str(directory))
        log = json.loads(FORMATS["sarif"](results, layout))
        prints = [result["partialFingerprints"]["graphflow/v1"] for result in log["runs"][0]["results"]]
        assert prints == [entry["fingerprint"] for entry in json.loads(FORMATS["gitlab"](results, layout))]
        return prints

    before = identities("read a\nread b\nread a\n")
    assert len(set(before)) == 3
    assert identities("\n\nread a\n\nread b\n\n\nread a\n") == before
    assert identities("read a\nread c\nread a\n")[1] not in before


def test_sarif_names_its_rules(real: dict[str, str]) -> None:
    """Each result points at its rule; places that belong to it and what was suppressed are there."""
    (run,) = json.loads(real["sarif"])["runs"]
    rules = run["tool"]["driver"]["rules"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    assert [result["ruleId"] for result in run["results"] if "suppressions" in result] == ["GF203"]
    assert any(result.get("relatedLocations") for result in run["results"])
    assert not run["invocations"][0]["executionSuccessful"]


def test_sarif_has_the_pages_of_the_rules() -> None:
    """Help comes along; a rule that is not known here is named only."""
    results = [Checked("t", "f", (finding(), finding(code="GF999", name="of-tomorrow")))]
    rules = json.loads(FORMATS["sarif"](results, Layout()))["runs"][0]["tool"]["driver"]["rules"]
    assert "## Why is this bad?" in rules[0]["help"]["markdown"]
    assert rules[1] == {"id": "GF999", "name": "of-tomorrow"}


def test_sarif_places(tmp_path: Path) -> None:
    """Below the root a relative URI; elsewhere an absolute one; none for what is no file."""
    places = [str(tmp_path / "a b" / "ü.py"), "/elsewhere/x.py", "<stdin>", None]
    results = [Checked("t", "f", tuple(finding(file=place, line=1, column=5) for place in places))]
    found = json.loads(FORMATS["sarif"](results, Layout(root=str(tmp_path))))["runs"][0]["results"]
    located = [result["locations"][0].get("physicalLocation", {}).get("artifactLocation") for result in found]
    assert located == [
        {"uri": "a%20b/%C3%BC.py", "uriBaseId": "SRCROOT"},
        {"uri": "file:///elsewhere/x.py"},
        None,
        None,
    ]


@pytest.mark.needs_sarif_schema
def test_sarif_keeps_to_its_schema(real: dict[str, str]) -> None:
    """OASIS SARIF 2.1.0."""
    import jsonschema

    schema = json.loads(_schema("sarif-2.1.0-rtm.5.json").read_text(encoding="utf-8"))
    strange = [Checked(HOSTILE, HOSTILE, (hostile(HOSTILE),), (hostile(HOSTILE),)), Checked("t", error=HOSTILE)]
    for text in (real["sarif"], FORMATS["sarif"]([], Layout()), FORMATS["sarif"](strange, Layout())):
        jsonschema.validators.validator_for(schema)(schema).validate(json.loads(text))


@pytest.mark.needs_junit_schema
def test_junit_keeps_to_its_schema(real: dict[str, str]) -> None:
    """The schema of Jenkins' JUnit plugin."""
    import xmlschema

    schema = xmlschema.XMLSchema(str(_schema("jenkins-junit.xsd")))
    strange = [Checked(HOSTILE, HOSTILE, (hostile(HOSTILE),)), Checked("t", error=HOSTILE)]
    for text in (real["junit"], FORMATS["junit"]([], Layout()), FORMATS["junit"](strange, Layout())):
        schema.validate(text)


def _schema(name: str) -> Path:
    return Path(os.environ["GRAPHFLOW_SCHEMAS"]) / name


def test_junit_fails_what_the_check_fails() -> None:
    """`--fail-on` decides; the rest are tests that pass."""
    results = [Checked("t", "f", (finding(), finding(severity="warning"), finding(severity="info")))]
    for fail_on, failures in (("error", 1), ("warning", 2), ("info", 3)):
        root = ElementTree.fromstring(FORMATS["junit"](results, Layout(fail_on=fail_on)))
        assert root.get("failures") == str(failures)
        assert len(root.findall(".//failure")) == failures
        assert len(root.findall(".//testcase")) == 3


def test_github_shows_notes_only_when_asked() -> None:
    """A pull request has room for few annotations."""
    results = [Checked("t", "f", (finding(severity="info"),))]
    assert FORMATS["github"](results, Layout()) == ""
    assert FORMATS["github"](results, Layout(show_info=True)).startswith("::notice title=")


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("a/report.sarif", "sarif"),
        ("report.sarif.json", "sarif"),
        ("REPORT.JSON", "json"),
        ("out/gl-code-quality-report.json", "gitlab"),
        ("t.xml", "junit"),
        ("t.txt", "text"),
        ("t.html", None),
        ("t", None),
    ],
)
def test_the_ending_says_the_format(file: str, name: str | None) -> None:
    """The longest ending counts."""
    assert format_of(file) == name


HOSTILE = (
    "a\"b'c\x1b[31m\x00\r\n::error file=x::y\n"
    "##[error]z \u202e\ud800\ufffe</failure>]]>&lt;<!-- %0A `|` ,:{0} [l](http://x)"
)
ODD = st.one_of(
    st.text(st.characters(), max_size=30),
    st.lists(
        st.sampled_from(["::error::x", "##[error]y", "\n", "\r", "%0A", ",", ":", "\x1b[1m", "]]>", "<a>", "&", " "])
    ).map("".join),
    st.just("::" * 5_000),
    st.just(HOSTILE),
    st.just("100%0A or 5%25"),
)


def hostile(text: str) -> dict[str, Any]:
    """A finding in which everything that comes from a user's program is this text."""
    related = [{"message": text, "node": text, "file": text or None, "line": 1, "column": 1}]
    places = {"file": text or None, "line": 3, "column": 2}
    return finding(message=text, node=text, key=text, help=text, related=related, path=[text], **places)


@given(ODD, st.integers(40, 100))
@example(HOSTILE, 40)
@example("100%0A or 5%25", 80)
@example("x" * 10_000, 80)
@settings(max_examples=40)
def test_hostile_names(text: str, width: int) -> None:
    """No format breaks, and none lets a name speak for itself: in a terminal, an annotation, a document."""
    results = [Checked(text, text, (hostile(text), hostile(text)), (hostile(text),)), Checked(text, error=text or "x")]
    layout = Layout(show_info=True, width=width, root="/project")
    written = {name: write(results, layout) for name, write in FORMATS.items()}

    for line in written["text"].splitlines():
        assert line == printable(line)
        assert not line.lstrip().startswith("::")
        assert "##[" not in line
    commands = written["github"].splitlines()
    assert len(commands) == 3
    for command in commands:
        match = re.fullmatch(r"::(error) ((?:(?:file|line|col|endColumn|title)=[^:,\n]+,?)+)::(.*)", command)
        assert match is not None, command
        assert printable(match[3]) == match[3]
    told = re.sub("%(0D|0A|25)", lambda code: chr(int(code[1], 16)), commands[0].rpartition("::")[2])
    if "::" not in text:
        assert told.split("\n")[0] == shortened(text, LONGEST_TEXT)
    validate(written["json"], "report.json")
    assert json.loads(written["json"])["diagnostics"][0]["message"] == text
    log = json.loads(written["sarif"])
    assert [result["level"] for result in log["runs"][0]["results"]] == ["error"] * 3
    for result in log["runs"][0]["results"]:
        assert "](" not in result["message"]["text"]
        assert not re.search(r"(?<!\{)\{\d+\}", result["message"]["text"])
    suites = ElementTree.fromstring(written["junit"])
    assert [child.tag for child in suites] == ["testsuite"] * 2
    assert {child.tag for child in suites.iter()} == {"testsuites", "testsuite", "testcase", "failure", "error"}
    assert len(suites.findall(".//testcase")) == 3
    entries = json.loads(written["gitlab"])
    assert len({entry["fingerprint"] for entry in entries}) == len(entries) == 3
    assert all(entry["location"]["path"] for entry in entries)
