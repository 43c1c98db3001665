"""README shows what is so: the output it prints and the picture it holds are what its example gives."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def fence(language: str) -> str:
    """The first block of a language."""
    match = re.search(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    assert match is not None

    return match[1]


def test_the_findings_shown_are_the_findings_printed(tmp_path: Path) -> None:
    """A reader who types the example in sees what README shows."""
    (tmp_path / "pipeline.py").write_text(fence("python"), encoding="utf-8")
    result = subprocess.run(
        [sys.executable, "-m", "graphflow", "check", "pipeline.py"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "PATH": ""},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (result.stdout.strip(), result.returncode) == (fence("text").strip(), 1)


def test_the_picture_shown_is_the_picture_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The committed picture is what the example draws; after a change of the looks, draw it again."""
    monkeypatch.chdir(tmp_path)
    module = ModuleType("page")
    monkeypatch.setitem(sys.modules, "page", module)

    exec(compile(fence("python"), str(tmp_path / "pipeline.py"), "exec", dont_inherit=True), vars(module))

    committed = (ROOT / "docs" / "pictures" / "story.svg").read_text(encoding="utf-8")
    assert (tmp_path / "story.svg").read_text(encoding="utf-8") == committed
