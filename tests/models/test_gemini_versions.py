"""Gemini works with each major version of google-genai that graphflow says it works with.

The one that is installed is tested by `test_gemini`; here that file runs again in environments with the others.
"""

from __future__ import annotations

import os
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CLIENT = "google-genai"
PINNED = next(requirement for requirement in PROJECT["dependencies"] if requirement.startswith(CLIENT))
OTHERS = {"genai-1": "1.75.", "genai-2": "2."}
"""Environment, made by `.ci/run` -> what the version of its client begins with."""


def test_the_versions_are_those_that_graphflow_allows() -> None:
    """Whoever widens the range in `pyproject.toml` widens it here."""
    assert PINNED == "google-genai>=1.75,<4"


@pytest.mark.needs_environments
@pytest.mark.parametrize("name", OTHERS)
def test_other_versions(name: str) -> None:
    """All of `test_gemini` passes there too."""
    python = Path(os.environ["GRAPHFLOW_ENVIRONMENTS"]) / name / ("Scripts" if os.name == "nt" else "bin") / "python"
    tests = _run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/models/test_gemini.py")
    version = _run(python, "-c", "from importlib.metadata import version; print(version('google-genai'))")

    assert version.stdout.startswith(OTHERS[name])
    assert tests.returncode == 0, tests.stdout + tests.stderr
    assert " passed" in tests.stdout
    assert "skipped" not in tests.stdout


def _run(python: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [python, *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
