"""A project directory with pipelines in it, and the program to point at them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import graphflow
from graphflow.cli import main
from tests.cli.samples import BROKEN, GOOD

ROOT = str(Path(graphflow.__file__).parent.parent)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The current directory, with `good.py` and `broken.py`; what is imported from it is forgotten."""
    (tmp_path / "good.py").write_text(GOOD, encoding="utf-8")
    (tmp_path / "broken.py").write_text(BROKEN, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    path, modules = list(sys.path), set(sys.modules)
    yield tmp_path
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        file = getattr(sys.modules[name], "__file__", None) or ""
        if file.startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.fixture
def call() -> Callable[..., Result]:
    """Run a command in this process."""

    def call(*arguments: str, stdin: str | bytes | None = None) -> Result:
        result = CliRunner().invoke(main, list(arguments), input=stdin)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return call


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run the program in a process of its own."""
    monkeypatch.setenv("PYTHONPATH", ROOT)

    def program(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "graphflow", *arguments]
        return subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=60, check=False)

    return program
