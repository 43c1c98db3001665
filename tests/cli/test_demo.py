"""`graphflow demo`: the three shipped invoices, and a file of one's own."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import pytest
from click.testing import Result

from graphflow.testing import Answer, GeminiRequest, GeminiServer, Refusal
from tests.cli.samples import one_line

Call = Callable[..., Result]
Program = Callable[..., subprocess.CompletedProcess[str]]


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


LINES = [{"sku": "BOLT-8", "quantity": 10, "unit_price": 12.3, "amount": None}]
INVOICE = {"vendor": "Acme", "po_number": "PO-1", "currency": "USD", "lines": LINES, "total": 123}


def gemini(request: GeminiRequest) -> Answer:
    """Answer the four stages of the pipeline as a language model might."""
    if request.schema is not None:
        return INVOICE
    instruction = request.system or ""
    for words, answer in (("Vendors:", "LOW: known"), ("Purchase orders", "MATCH: as ordered")):
        if words in instruction:
            return answer
    return "APPROVE: all is in order."


def test_with_gemini(program: Program, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each stage asks the model over the wire; the decision is the model's, and the table says who answered."""
    monkeypatch.delenv("GOOGLE_API_KEY", raising=False)
    monkeypatch.setenv("GEMINI_API_KEY", "a-key")
    with GeminiServer(gemini) as server:
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.url)
        result = program("demo", "--model", "gemini-2.5-flash")
    assert result.returncode == 0, result.stderr
    assert "decision: APPROVE: all is in order." in result.stdout
    assert result.stdout.count("gemini-2.5-flash") == 4
    assert "4 in all" in result.stdout
    assert "a-key" not in result.stdout + result.stderr
    assert [request.model for request in server.requests] == ["gemini-2.5-flash"] * 4
    assert server.requests[0].schema is not None
    assert "INVOICE" in server.requests[0].text.upper()
    told = "\n".join(request.system or "" for request in server.requests)
    for row in ("Fabrikam Components,MEDIUM", "PO-1004,Fabrikam Components,USD,RELAY-24V,250,2.15"):
        assert row in told, "the model cannot look up what it is not told"
    assert "LOW: known" in server.requests[3].text
    assert "MATCH: as ordered" in server.requests[3].text
    assert (project / "invoice.svg").is_file()


def test_gemini_refuses(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run fails with what the server said and what to do."""
    monkeypatch.setenv("GEMINI_API_KEY", "a-key")
    with GeminiServer(Refusal(429, "quota exceeded", retry_after=30)) as server:
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.url)
        result = program("demo", "--model", "gemini-2.5-flash")
    assert result.returncode == 1
    assert "Traceback" not in result.stderr
    assert "429: quota exceeded; wait, ask less at a time, or raise the quota" in result.stderr
    assert len(server.requests) == 1


def test_gemini_without_a_key(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line that names the variables, before anything is shown."""
    for variable in ("GEMINI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    result = call("demo", "--model", "gemini-2.5-flash")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "set GEMINI_API_KEY or GOOGLE_API_KEY" in one_line(result.stderr)


def test_a_model_that_there_is_not(call: Call) -> None:
    """The same for a name that nobody provides."""
    result = call("demo", "--model", "lama-3")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "no provider accepts model `lama-3`" in one_line(result.stderr)
