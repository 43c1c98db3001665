"""Checks targets in a child process, so that nothing which a user's module does at import can harm this one.

The child has a time limit and no standard input; what it prints is captured. When a target ends the child (a crash, an
`os._exit`, the time limit), that target is reported as not checked and a new child goes on with the rest.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphflow.checker.engine import Settings
from graphflow.checker.formats import Checked, printable
from graphflow.ir.names import GRAPHFLOW

_START = (
    "import json, sys; request = json.load(open(sys.argv[1], encoding='utf-8')); sys.path[:] = request['path']; "
    "from graphflow.cli.child import main; main(request)"
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the child processes gave.

    Attributes:
        results: one for each flow or unchecked target, in the order of the targets.
        output: all that the user's modules printed, tracebacks included.
    """

    results: tuple[Checked, ...]
    output: str


def check_targets(
    targets: Sequence[str], directory: Path, settings: Settings, time_limit: float, profile: str = GRAPHFLOW
) -> Outcome:
    """Import and check targets elsewhere.

    Args:
        targets: see `graphflow.cli.targets`.
        directory: where paths start.
        settings: which findings to report.
        time_limit: seconds for one child process.
        profile: name of the meanings to check under.

    Returns:
        The results and what was printed.
    """
    results: list[Checked] = []
    output: list[str] = []
    remaining = list(targets)
    while remaining:
        request = {
            "path": sys.path,
            "directory": str(directory),
            "settings": {"select": settings.select, "ignore": settings.ignore, "severity": dict(settings.severity)},
            "profile": profile,
            "targets": remaining,
        }
        with tempfile.TemporaryDirectory(prefix="graphflow-") as scratch:
            child = _Child(Path(scratch), time_limit)
            end = child.run(request)
            answered = child.answers()
            output.append(child.output())
        for answer in answered:
            results += [_checked(one) for one in answer["results"]]
        remaining = remaining[len(answered) :]
        if remaining:
            results.append(Checked(remaining.pop(0), error=f"{end}{_last_line(output[-1])}"))
    return Outcome(tuple(results), "".join(output))


def _checked(one: Mapping[str, Any]) -> Checked:
    return Checked(**{**one, "diagnostics": tuple(one["diagnostics"]), "suppressed": tuple(one["suppressed"])})


@dataclass(frozen=True, slots=True)
class _Child:
    """One child process; its files are in a directory of its own, so that no pipe can fill up or stay open."""

    scratch: Path
    time_limit: float

    def run(self, request: Mapping[str, Any]) -> str:
        """Run to the end; say how it ended, in words that fit a target which was not answered."""
        answer, asked = self.scratch / "answer", self.scratch / "request"
        answer.touch()
        asked.write_text(json.dumps({**request, "answer": str(answer)}), encoding="utf-8")
        with (self.scratch / "output").open("wb") as output:
            process = subprocess.Popen(  # noqa: S603 - our own interpreter and our own code
                [sys.executable, "-P", "-c", _START, str(asked)],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},  # `path` has it
            )
            try:
                code = process.wait(self.time_limit)
            except subprocess.TimeoutExpired:
                return f"it took longer than the time limit of {self.time_limit:g} s; see `time-limit`"
            finally:
                _end(process)
        if code < 0:
            with contextlib.suppress(ValueError):
                return f"its process was ended by {signal.Signals(-code).name}"
        return f"its process ended by itself with exit code {code}"

    def answers(self) -> list[dict[str, Any]]:
        """Give the answers that are complete."""
        lines = (self.scratch / "answer").read_text(encoding="utf-8").splitlines(keepends=True)
        return [parsed for line in lines if line.endswith("\n") and "results" in (parsed := json.loads(line))]

    def output(self) -> str:
        """Give what was printed."""
        return (self.scratch / "output").read_text(encoding="utf-8", errors="replace")


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the child and whatever it has started in its session."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.wait()


def _last_line(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return f" after printing: {printable(lines[-1])}" if lines else ""
