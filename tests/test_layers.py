"""Imports point down: every contract of `.importlinter` holds."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LINT = "import sys; from importlinter.cli import lint_imports_command; sys.exit(lint_imports_command())"


def lint(directory: Path) -> subprocess.CompletedProcess[str]:
    # A process of its own: import-linter configures itself globally and scans what is importable from its directory.
    return subprocess.run(
        [sys.executable, "-c", LINT, "--no-cache", "--no-logo"],
        cwd=directory,
        env={**os.environ, "NO_COLOR": "1", "COLUMNS": "120", "PYTHONPATH": str(directory)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.needs_import_linter
def test_every_layer_contract_is_kept() -> None:
    """No module imports upwards, sideways or what its layer must not know."""
    result = lint(ROOT)

    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.needs_import_linter
def test_an_upward_import_breaks_the_contract(tmp_path: Path) -> None:
    """The layer test can fail: the contract file, over a package whose errors import its schema, is broken."""
    contracts = (ROOT / ".importlinter").read_text(encoding="utf-8")
    head, layers = contracts.split("[importlinter:contract:layers]")
    only_layers = layers.split("[importlinter:contract:")[0].replace("exhaustive = true", "")
    (tmp_path / ".importlinter").write_text(f"{head}[importlinter:contract:layers]{only_layers}", encoding="utf-8")
    package = tmp_path / "graphflow"
    package.mkdir()
    for layer in only_layers.split("layers =")[1].replace("|", " ").split():
        (package / f"{layer.strip('()')}.py").write_text("", encoding="utf-8")
    (package / "__init__.py").write_text("", encoding="utf-8")
    (package / "errors.py").write_text("import graphflow.schema\n", encoding="utf-8")

    result = lint(tmp_path)

    assert result.returncode == 1, result.stderr
    assert "graphflow.errors is not allowed to import graphflow.schema" in result.stdout
