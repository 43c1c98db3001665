"""`graphflow check`: exit codes, bad targets, and what a target may do to the process that imports it."""

from __future__ import annotations

import io
import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from graphflow.cli.options import wants_colour
from tests.cli.samples import GOOD, one_line

Call = Callable[..., Result]
Program = Callable[..., "subprocess.CompletedProcess[str]"]


def test_exit_codes(project: Path, call: Call) -> None:
    """0: nothing found; 1: something; 2: something not checked, all else still printed."""
    assert call("check", "good.py").exit_code == 0
    found = call("check", "broken.py")
    assert found.exit_code == 1
    assert "GF201" in found.stdout
    both = call("check", "missing.py", "broken.py")
    assert both.exit_code == 2
    assert "GF201" in both.stdout
    assert "missing.py" in one_line(both.stderr)


def test_a_finding_names_file_and_line(project: Path, call: Call) -> None:
    """The place is that of the parameter which reads the key, relative to the current directory."""
    lines = (project / "broken.py").read_text(encoding="utf-8").splitlines()
    line = next(number for number, text in enumerate(lines, 1) if text.startswith("def ") and "totl" in text)
    assert f"broken.py:{line}:" in call("check", "broken.py:flow").stdout


def test_json(project: Path, call: Call) -> None:
    """The JSON format has the findings of all targets."""
    document = json.loads(call("check", "good.py", "broken.py", "--format", "json").stdout)
    assert [target["target"] for target in document["targets"]] == ["good.py:flow", "broken.py:flow"]
    codes = {found["code"]: found for found in document["diagnostics"]}
    assert codes["GF201"]["target"] == "broken.py:flow"
    assert codes["GF201"]["key"] == "totl"
    assert codes["GF201"]["node"] == "sums/judge"


def test_select_ignore_and_fail_on(project: Path, call: Call) -> None:
    """Options choose what is reported and what counts."""
    assert call("check", "broken.py", "--ignore", "GF201").exit_code == 0
    assert call("check", "broken.py", "--select", "GF3,GF4").exit_code == 0
    assert call("check", "broken.py", "--select", "GF2").exit_code == 1
    unread = GOOD.replace("outputs=[", 'outputs=["total", ').replace('"note?": str', '"note?": str, "spare": int')
    (project / "spare.py").write_text(unread, encoding="utf-8")
    assert call("check", "spare.py").exit_code == 0
    assert call("check", "spare.py", "--strict").exit_code == 1
    assert call("check", "spare.py", "--fail-on", "warning").exit_code == 1
    one_line(call("check", "good.py", "--select", "GX1").stderr)


def test_configuration(project: Path, call: Call) -> None:
    """Without a target those of pyproject.toml are checked, relative to that file."""
    nothing = call("check")
    assert nothing.exit_code == 2
    assert "pyproject.toml" in one_line(nothing.stderr)
    (project / "pyproject.toml").write_text('[tool.graphflow]\ntargets = ["broken.py"]\n', encoding="utf-8")
    assert call("check").exit_code == 1
    (project / "pyproject.toml").write_text(
        '[tool.graphflow]\ntargets = ["broken.py"]\nseverity = { GF201 = "warning" }\nignore = ["GF203", "GF208"]\n',
        encoding="utf-8",
    )
    assert call("check").exit_code == 0
    (project / "pyproject.toml").write_text('[tool.graphflow]\ntargetz = ["broken.py"]\n', encoding="utf-8")
    assert "did you mean `targets`" in one_line(call("check").stderr)


def test_report_files(project: Path, call: Call) -> None:
    """`-o` writes reports beside what is printed, each in the format that its name says."""
    names = {
        "report.txt": "1 flow checked",
        "report.json": '"version": 1',
        "report.sarif": "sarif-schema-2.1.0",
        "report.xml": "<testsuites",
        "gl-code-quality-report.json": '"check_name"',
        "github:notes": "::error file=broken.py,",
        "json:report.txt.old": '"version": 1',
        "bare": "1 flow checked",
    }
    written = call("check", "broken.py", *(part for name in names for part in ("-o", name)))
    assert written.exit_code == 1
    assert written.stdout == (project / "report.txt").read_text(encoding="utf-8")
    for name, said in names.items():
        report = (project / name.rpartition(":")[2]).read_text(encoding="utf-8")
        assert "GF201" in report, name
        assert said in report, name


def test_a_report_file_may_differ_from_what_is_printed(project: Path, call: Call) -> None:
    """`--format` is for standard output, and for files whose name says nothing."""
    printed = call("check", "broken.py", "--format", "github", "-o", "report.json", "-o", "bare").stdout
    assert printed.startswith("::error file=broken.py,")
    assert json.loads((project / "report.json").read_text(encoding="utf-8"))["version"] == 1
    assert (project / "bare").read_text(encoding="utf-8") == printed


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("no-such-directory/x.txt", "no-such-directory"),
        ("report.pdf", "write FORMAT:report.pdf"),
        ("-", "names no file"),
        ("sarif:", "names no file"),
        ("json:-", "names no file"),
        ("a\0.txt", "cannot write"),
    ],
)
def test_bad_report_files(project: Path, call: Call, output: str, said: str) -> None:
    """What cannot be written is one line and exit code 2."""
    result = call("check", "good.py", "-o", output)
    assert result.exit_code == 2
    assert said in one_line(result.stderr)


BAD_FILES = {
    "syntax.py": ("def x(:\n", "syntax.py:1: SyntaxError"),
    "needs.py": ("import no_such_module_here\n", "no_such_module_here"),
    "raises.py": ("x = 1\nraise RuntimeError('first\\nsecond')\n", "raises.py:2: RuntimeError: first"),
    "empty.py": ("", "no Flow and no `root_agent`"),
    "number.py": ("flow = 3\nroot_agent = 'text'\n", "is a str"),
    "exits.py": ("import sys\nsys.exit(0)\n", "exits.py:2"),
    "asks.py": ("name = input('who?')\n", "waits for input"),
    "dies.py": ("import os\nprint('bye', flush=True)\nos._exit(7)\n", "exit code 7"),
    "killed.py": ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n", "SIGKILL"),
    "control.py": ("raise RuntimeError('\\x1b[31mred')\n", "\\x1b[31m"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_files(project: Path, call: Call, name: str) -> None:
    """A file that cannot be imported is one line; the other targets are still checked."""
    source, said = BAD_FILES[name]
    (project / name).write_text(source, encoding="utf-8")
    result = call("check", name, "broken.py")
    assert result.exit_code == 2
    assert said in one_line(result.stderr)
    assert "GF201" in result.stdout


def test_files_that_are_no_text(project: Path, call: Call) -> None:
    """Bytes that are no UTF-8, and null bytes."""
    (project / "latin.py").write_bytes(b"name = '\xe9'\n")
    (project / "null.py").write_bytes(b"a = 1\0\n")
    for name in ("latin.py", "null.py"):
        result = call("check", name)
        assert result.exit_code == 2
        assert name in one_line(result.stderr)


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("missing.py", "there is no file `missing.py`"),
        ("goood.py", "did you mean `good.py`"),
        ("no_such_module_here:flow", "there is no module `no_such_module_here`"),
        ("good:flw", "did you mean `flow`"),
        ("good.py:nothing", "has no `nothing`"),
        ("good.py:add_up.func", "is a function"),
        ("good.py:Flow", "is the class Flow"),
        ("folder", "is a directory"),
        ("folder/", "is a directory"),
        (".", "is a directory"),
        ("notes.txt", "no Python file"),
        (":flow", "no target"),
        ("", "no target"),
        ("a b", "neither a file nor a module"),
    ],
)
def test_bad_targets(project: Path, call: Call, target: str, said: str) -> None:
    """Whatever is wrong with a target is one line that says what."""
    (project / "folder").mkdir()
    (project / "notes.txt").write_text("hello", encoding="utf-8")
    for command in ("run", "draw", "contract"):
        result = call(command, target)
        assert result.exit_code == 2
        assert said in one_line(result.stderr)


def test_several_bad_targets(project: Path, call: Call) -> None:
    """Each is one line, in the order given."""
    result = call("check", "missing.py", "good.py", "good:flw", ".")
    assert result.exit_code == 2
    assert "1 flow checked" in result.stdout
    told = [line.split(": ")[2] for line in result.stderr.splitlines()]
    assert told == ["missing.py", "good:flw", "."]


def test_an_import_cannot_disturb_the_report(project: Path, call: Call) -> None:
    """What a module prints is captured; its threads and children are not waited for."""
    noise = (
        "import sys, threading\n"
        "print('{\"noise\"')\n"
        "sys.stderr.write('more noise')\n"
        "threading.Thread(target=threading.Event().wait).start()\n"
    )
    (project / "noisy.py").write_text(noise + GOOD, encoding="utf-8")
    result = call("check", "noisy.py")
    assert (result.exit_code, result.stderr) == (0, "")
    assert "noise" not in result.stdout
    assert "noise" in call("check", "noisy.py", "--debug").stderr


def test_the_time_limit(project: Path, call: Call) -> None:
    """An import that does not end is ended."""
    (project / "hangs.py").write_text("import threading\nthreading.Event().wait()\n", encoding="utf-8")
    result = call("check", "hangs.py", "--time-limit", "1.5")
    assert result.exit_code == 2
    assert "time limit" in one_line(result.stderr)


def test_targets_do_not_see_each_other(project: Path, call: Call) -> None:
    """Two files with the same name, each with a module of the same name beside it."""
    for name, good in (("one", True), ("two", False)):
        (project / name).mkdir()
        (project / name / "common.py").write_text(f"KEY = {'total' if good else 'lost'!r}\n", encoding="utf-8")
        source = GOOD.replace('writes="total"', "writes=common.KEY")
        (project / name / "flow.py").write_text(f"import common\n{source}", encoding="utf-8")
    document = json.loads(call("check", "one/flow.py", "two/flow.py", "--format", "json").stdout)
    assert {found["target"] for found in document["diagnostics"] if found["severity"] == "error"} == {
        "two/flow.py:flow"
    }


def test_packages(project: Path, call: Call) -> None:
    """A file in a package is imported as part of it; a module is found in the current directory."""
    package = project / "shop" / "flows"
    package.mkdir(parents=True)
    (project / "shop" / "__init__.py").touch()
    (package / "__init__.py").touch()
    (project / "shop" / "names.py").write_text("KEY = 'total'\n", encoding="utf-8")
    source = GOOD.replace('writes="total"', "writes=KEY")
    (package / "sums.py").write_text(f"from ..names import KEY\n{source}", encoding="utf-8")
    for target in ("shop/flows/sums.py", "shop.flows.sums:flow", "shop.flows.sums"):
        assert call("check", target).exit_code == 0, target


def test_a_file_named_like_an_installed_module(project: Path, call: Call) -> None:
    """The file that is named is the one that is checked."""
    (project / "json.py").write_text(GOOD, encoding="utf-8")
    assert "1 flow checked" in call("check", "json.py").stdout


def test_root_agent_and_several_flows(project: Path, call: Call) -> None:
    """Without an object: the module's flows, else its `root_agent`."""
    rest = GOOD.partition("flow = ")[0]
    (project / "bare.py").write_text(f'{rest}root_agent = SequentialAgent("sums", [add_up, judge])\n', encoding="utf-8")
    assert "1 flow checked" in call("check", "bare.py").stdout
    (project / "twice.py").write_text(
        f"{GOOD}\nother = Flow(flow.root, inputs={{'numbers': list[int]}})\n", encoding="utf-8"
    )
    assert "2 flows checked" in call("check", "twice.py").stdout
    assert "`twice.py:other`" in one_line(call("run", "twice.py").stderr)


def test_as_a_program(project: Path, program: Program) -> None:
    """The same from a shell: exit codes, no traceback, one only with --debug."""
    assert program("check", "good.py").returncode == 0
    assert program("check", "broken.py").returncode == 1
    (project / "raises.py").write_text("raise RuntimeError('no')\n", encoding="utf-8")
    failed = program("check", "raises.py")
    assert failed.returncode == 2
    one_line(failed.stderr)
    assert "Traceback" in program("check", "raises.py", "--debug").stderr


CI = (Path(__file__).parent.parent.parent / "docs" / "ci.md").read_text(encoding="utf-8")
STEPS = re.findall(r"^ *- (?:run: )?graphflow (check .+)$", CI, re.MULTILINE)


def test_there_are_steps_to_run() -> None:
    """One for each build server of the page."""
    assert len(STEPS) == CI.count("```yaml")


@pytest.mark.parametrize("step", STEPS)
def test_the_steps_of_build_servers(project: Path, call: Call, step: str) -> None:
    """What docs/ci.md has a build server run does what the page says: targets from pyproject.toml, files that are uploaded."""
    configuration = '[tool.graphflow]\ntargets = ["good.py", "broken.py"]\n'
    (project / "pyproject.toml").write_text(configuration, encoding="utf-8")
    recipe = next(block for block in CI.split("```yaml")[1:] if step in block).partition("```")[0]
    files = step.split(" -o ")[1:]

    result = call(*step.split())

    assert result.exit_code == 1
    assert "GF201" in result.stdout
    for file in files:
        assert "GF201" in (project / file).read_text(encoding="utf-8")
        assert recipe.count(file) == 2


def test_colours_are_for_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not for files and pipes, not for dumb terminals, not if NO_COLOR is set."""

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert wants_colour(Terminal())
    assert not wants_colour(io.StringIO())
    monkeypatch.setenv("NO_COLOR", "1")
    assert not wants_colour(Terminal())
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert not wants_colour(Terminal())


def test_the_profile_of_a_check(project: Path, call: Call) -> None:
    """`--profile` wins over pyproject.toml; both reach the process in which the flows are checked."""
    (project / "text.py").write_text(
        'from graphflow import *\nroot_agent = LlmAgent(name="a", model="gemini-2.5-flash", instruction="{{word}}")\n',
        encoding="utf-8",
    )
    assert "GF201" not in call("check", "text.py").stdout
    assert "GF201" in call("check", "text.py", "--profile", "adk").stdout
    (project / "pyproject.toml").write_text('[tool.graphflow]\nprofile = "adk"\n', encoding="utf-8")
    assert "GF201" in call("check", "text.py").stdout
    assert "GF201" not in call("check", "text.py", "--profile", "graphflow").stdout
    assert "adkk" in call("check", "text.py", "--profile", "adkk").stderr
