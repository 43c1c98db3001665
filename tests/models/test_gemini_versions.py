"""Gemini works with each major version of google-genai that graphflow says it works with.

The one that is installed is tested by `test_gemini`; here that file runs again in environments with the others.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CLIENT = "google-genai"
PINNED = next(requirement for requirement in PROJECT["dependencies"] if requirement.startswith(CLIENT))
OTHERS = {
    "oldest": ["google-genai==1.75.*"],
    "with another HTTP library": ["google-genai>=2,<3", "aiohttp"],  # which the client would prefer to its own
}


def environment(directory: Path, *requirements: str) -> Path:
    """Make an environment with the dependencies of graphflow and its tests, and give its Python."""
    subprocess.run([sys.executable, "-m", "venv", directory], stdin=subprocess.DEVNULL, check=True)
    python = directory / ("Scripts" if os.name == "nt" else "bin") / "python"
    wanted = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["test"], *requirements]
    command = [python, "-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check", *wanted]
    installed = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert installed.returncode == 0, installed.stderr
    return python


def test_the_versions_are_those_that_graphflow_allows() -> None:
    """Whoever widens the range in `pyproject.toml` widens it here."""
    assert PINNED == "google-genai>=1.75,<4"


@pytest.mark.needs_environments
@pytest.mark.parametrize("requirements", OTHERS.values(), ids=OTHERS)
def test_other_versions(requirements: list[str], tmp_path: Path) -> None:
    """All of `test_gemini` passes there too."""
    python = environment(tmp_path / "environment", *requirements)
    tests = subprocess.run(
        [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/models/test_gemini.py"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert tests.returncode == 0, tests.stdout + tests.stderr
    assert " passed" in tests.stdout
    assert "skipped" not in tests.stdout
