"""`graphflow demo`: the three shipped invoices, and a file of one's own."""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import pytest
from click.testing import Result

from tests.cli.samples import one_line

Call = Callable[..., Result]


@pytest.fixture(autouse=True)
def _elsewhere(project: Path) -> None:
    """Pictures go to the current directory."""


def test_approved(project: Path, call: Call) -> None:
    """Contract, findings, progress, decision, calls per model, picture, and where the other samples are."""
    result = call("demo")
    assert result.exit_code == 0, result.output
    for word in (
        "Contract",
        "0 errors",
        "decision:",
        "Model calls",
        "4 in all",
        "--sample transposed",
        "--sample malformed",
    ):
        assert word in result.stdout, word
    assert "extract: started" in result.stderr
    assert "<svg" in (project / "invoice.svg").read_text(encoding="utf-8")
    assert str(project / "invoice.svg") in result.stdout
    assert max(map(len, result.stdout.replace(str(project), "").splitlines())) <= 80


def test_transposed(call: Call) -> None:
    """A wrong total halts at the gate: the reason names both sums, and only the first model was called."""
    result = call("demo", "--sample", "transposed")
    assert result.exit_code == 3
    for word in ("halted", "123.00", "132.00", "1 in all"):
        assert word in result.stdout, word
    assert "\ndecision:" not in result.stdout


def test_malformed(call: Call) -> None:
    """What cannot be read halts too."""
    result = call("demo", "--sample", "malformed")
    assert result.exit_code == 3
    assert "halted" in result.stdout


def test_a_file(project: Path, call: Call) -> None:
    """The same with a file, and by `run`."""
    text = files("graphflow.examples").joinpath("data", "invoice_approved.txt").read_text(encoding="utf-8")
    (project / "mail.txt").write_text(text, encoding="utf-8")
    shown = call("demo", "mail.txt", "-o", "mail.svg")
    assert shown.exit_code == 0
    assert "--sample" not in shown.stdout
    assert (project / "mail.svg").is_file()
    decision = next(line for line in shown.stdout.splitlines() if line.startswith("decision:"))
    for how in (["--message", "@mail.txt"], ["--input", "message=@mail.txt"]):
        assert call("run", "graphflow.examples.invoice:flow", *how).stdout.startswith(decision)


@pytest.mark.parametrize("name", ["missing.txt", "empty.txt", "latin.txt", "."])
def test_a_bad_file(project: Path, call: Call, name: str) -> None:
    """A file that is no text is one line, before anything is shown."""
    (project / "empty.txt").touch()
    (project / "latin.txt").write_bytes(b"caf\xe9")
    result = call("demo", name)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "the invoice" in one_line(result.stderr)
