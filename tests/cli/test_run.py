"""`graphflow run`, `draw`, `contract`, `explain`: results, refusals and exit codes."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from tests.cli.samples import one_line

Call = Callable[..., Result]
Program = Callable[..., "subprocess.CompletedProcess[str]"]
NUMBERS = "numbers=[1, 2]"


def test_outputs(project: Path, call: Call) -> None:
    """A completed run prints its outputs and nothing else on standard output."""
    result = call("run", "good.py", "--input", NUMBERS, "--input", "note=5")
    assert (result.exit_code, result.stdout) == (0, "verdict: 3 5\n")
    assert "add_up: started" in result.stderr


def test_json(project: Path, call: Call) -> None:
    """The whole result as JSON."""
    document = json.loads(call("run", "good.py", "--input", NUMBERS, "--json").stdout)
    assert document["status"] == "completed"
    assert document["outputs"] == {"verdict": "3 -"}
    assert document["state"]["total"] == 3
    assert [span["node"] for span in document["timeline"]] == ["sums/add_up", "sums/judge"]
    halted = call("run", "good.py", "--input", "numbers=[1]", "--json")
    assert halted.exit_code == 3
    assert json.loads(halted.stdout)["halt"]["values"] == {"total": 1}


def test_halt(project: Path, call: Call) -> None:
    """A halted run says so, with the reason, and exits with 3."""
    result = call("run", "good.py", "--input", "numbers=[1]")
    assert result.exit_code == 3
    assert "halted" in result.stdout
    assert "only 1" in result.stdout


def test_failure(project: Path, call: Call) -> None:
    """A failed run gives the reason on one line and exits with 1."""
    source = (project / "good.py").read_text(encoding="utf-8").replace("return sum(numbers)", "return 1 // 0")
    (project / "fails.py").write_text(source, encoding="utf-8")
    result = call("run", "fails.py", "--input", NUMBERS)
    assert result.exit_code == 1
    assert "ZeroDivisionError" in result.stderr
    assert "Traceback" not in result.stderr
    assert "Traceback" in call("run", "fails.py", "--input", NUMBERS, "--debug").stderr


def test_files_and_standard_input(project: Path, call: Call) -> None:
    """`@FILE` and `-` stand for text from elsewhere."""
    (project / "numbers.json").write_text("[1, 2, 3]", encoding="utf-8")
    assert call("run", "good.py", "--input", "numbers=@numbers.json").stdout == "verdict: 6 -\n"
    assert call("run", "good.py", "--input", "numbers=-", stdin="[4]").stdout == "verdict: 4 -\n"
    assert call("run", "good.py", "--input", NUMBERS, "--input", "note=-", stdin="hé").stdout == "verdict: 3 hé\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "`numbers`"),
        (["--input", "numbers=x"], "list[int]"),
        (["--input", 'numbers=["a"]'], "list[int]"),
        (["--input", "numbers"], "NAME=VALUE"),
        (["--input", "=1"], "NAME=VALUE"),
        (["--input", NUMBERS, "--input", NUMBERS], "twice"),
        (["--input", NUMBERS, "--input", "nmbers=1"], "did you mean `numbers`"),
        (["--input", "numbers=@missing.json"], "there is no file `missing.json`"),
        (["--input", "numbers=@."], "is a directory"),
        (["--input", "numbers=@latin.txt"], "no UTF-8"),
        (["--input", "numbers=@empty.txt"], "is empty"),
        (["--message", "@empty.txt"], "is empty"),
        (["--message", "@missing.txt"], "there is no file `missing.txt`"),
        (["--message", "@bad\0name"], "cannot be read"),
        (["--message", "-", "--input", "numbers=-"], "only once"),
        (["--message", "-"], "is empty"),
        (["--input", NUMBERS, "--model", "judge=nothing"], "no model agent"),
        (["--input", NUMBERS, "--model", "=x"], "NODE=NAME"),
        (["--input", f"numbers={'[' * 5000}"], "list[int]"),
    ],
)
def test_what_cannot_start(project: Path, call: Call, arguments: list[str], said: str) -> None:
    """Wrong, missing and unreadable inputs are one line and exit code 2."""
    (project / "latin.txt").write_bytes(b"caf\xe9")
    (project / "empty.txt").touch()
    result = call("run", "good.py", *arguments, stdin="")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert said in one_line(result.stderr)


def test_findings_refuse_a_run(project: Path, call: Call) -> None:
    """The check comes first: its errors are shown and nothing starts."""
    result = call("run", "broken.py", "--input", NUMBERS)
    assert result.exit_code == 2
    assert "GF201" in result.stderr
    assert "add_up: started" not in result.stderr
    assert "Traceback" not in result.stderr


def test_interruption(project: Path, call: Call) -> None:
    """Ctrl-C while a stage runs: one line, exit code 130."""
    source = (project / "good.py").read_text(encoding="utf-8").replace("return sum(numbers)", "raise KeyboardInterrupt")
    (project / "stops.py").write_text(source, encoding="utf-8")
    result = call("run", "stops.py", "--input", NUMBERS)
    assert result.exit_code == 130
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("blocking", [True, False])
def test_a_stage_that_ends_the_program(project: Path, call: Call, blocking: bool) -> None:
    """`sys.exit` in a stage fails the run; it does not choose the exit code."""
    (project / "exits.py").write_text(
        "import sys\nfrom graphflow import Flow, agent\n"
        f"@agent(writes='a', blocking={blocking})\ndef leave() -> int:\n    sys.exit(0)\n"
        "flow = Flow(leave, inputs={}, outputs=['a'])\n",
        encoding="utf-8",
    )
    result = call("run", "exits.py")
    assert result.exit_code == 1
    assert "sys.exit" in result.stderr
    assert "Traceback" not in result.stderr


def test_an_abandoned_thread_does_not_hold_the_program(project: Path, program: Program) -> None:
    """A run that failed beside a function that never returns still ends the program."""
    (project / "stuck.py").write_text(
        "import threading\n"
        "from graphflow import Flow, ParallelAgent, agent\n"
        "began = threading.Event()\n"
        "@agent(writes='a')\n"
        "def waits() -> int:\n"
        "    began.set()\n"
        "    threading.Event().wait()\n"
        "    return 1\n"
        "@agent(writes='b')\n"
        "def fails() -> int:\n"
        "    began.wait()\n"
        "    raise RuntimeError('no')\n"
        "flow = Flow(ParallelAgent('both', [waits, fails]), inputs={}, outputs=['a', 'b'])\n",
        encoding="utf-8",
    )
    result = program("run", "stuck.py")
    assert result.returncode == 1
    assert "RuntimeError" in result.stderr


def test_draw(project: Path, call: Call) -> None:
    """A picture goes to a file named after the flow, to one that is named, or to standard output."""
    assert call("draw", "good.py").stdout == "wrote sums.svg\n"
    assert "<svg" in (project / "sums.svg").read_text(encoding="utf-8")
    assert call("draw", "good.py", "-o", "x.dot").exit_code == 0
    assert "digraph" in (project / "x.dot").read_text(encoding="utf-8")
    assert "<svg" in call("draw", "good.py", "-o", "-").stdout
    for bad in (["--format", "sgv"], ["--theme", "drak"], ["-o", "missing/x.svg"]):
        result = call("draw", "good.py", *bad)
        assert result.exit_code == 2
        one_line(result.stderr)


def test_contract(project: Path, call: Call) -> None:
    """The stage table names every stage and key, within 80 columns."""
    table = call("contract", "good.py").stdout
    assert max(map(len, table.splitlines())) <= 80
    for word in ("add_up", "numbers: list[int]", "total: int", "enough", "gate", "note?: str", "verdict: str"):
        assert word in table


def test_explain(project: Path, call: Call) -> None:
    """A rule's page by its code or name; a list; the closest code to a wrong one."""
    page = call("explain", "gf201").stdout
    assert "undefined-read" in page
    assert "Why is this bad?" in page
    assert call("explain", "undefined-read").stdout == page
    assert "GF301" in call("explain").stdout
    wrong = call("explain", "GF2O1")
    assert wrong.exit_code == 2
    assert "did you mean `GF201`" in one_line(wrong.stderr)


def test_help_and_version(call: Call) -> None:
    """Every command has help with an example."""
    assert call("--version").stdout.startswith("graphflow ")
    for command in ("check", "run", "draw", "contract", "explain", "demo"):
        page = call(command, "--help").stdout
        assert "Example" in page, command
        assert "graphflow" in page, command
    assert call("chekc").exit_code == 2


def test_json_stays_json_whatever_the_target_prints(project: Path, program: Program) -> None:
    """What a module and a stage print goes to standard error."""
    (project / "loud.py").write_text(
        "from graphflow import Flow, agent\n"
        "print('at import')\n"
        "@agent(writes='a')\n"
        "def shouts() -> int:\n"
        "    print('in a stage')\n"
        "    return 1\n"
        "flow = Flow(shouts, inputs={}, outputs=['a'])\n",
        encoding="utf-8",
    )
    result = program("run", "loud.py", "--json")
    assert json.loads(result.stdout)["outputs"] == {"a": 1}
    assert "at import" in result.stderr
    assert "in a stage" in result.stderr
