"""`graphflow.cli.config`: what a project says in pyproject.toml."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphflow.cli.config import Config, find_config
from graphflow.errors import UsageError


def write(directory: Path, text: str) -> None:
    """Write a pyproject.toml."""
    (directory / "pyproject.toml").write_text(text, encoding="utf-8")


def test_the_nearest_file_counts(tmp_path: Path) -> None:
    """A directory inherits from those above, up to the first file."""
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    write(
        tmp_path,
        '[tool.graphflow]\ntargets = ["p.py"]\nfail-on = "warning"\nseverity = { GF208 = "error" }\ntime-limit = 3\n',
    )
    assert find_config(inner) == Config(
        tmp_path, ("p.py",), severity={"GF208": "error"}, fail_on="warning", time_limit=3.0
    )
    write(inner, "[project]\nname = 'x'\n")
    assert find_config(inner) == Config(inner)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[tool.graphflow\n", "no valid TOML"),
        ("[tool.graphflow]\ntarget = []\n", "did you mean `targets`"),
        ("[tool.graphflow]\ntargets = 'p.py'\n", "a list of strings"),
        ("[tool.graphflow]\nfail-on = 'never'\n", "one of error, warning, info"),
        ("[tool.graphflow]\nseverity = { GF201 = 'high' }\n", "`GF201` is one of"),
        ("[tool.graphflow]\ntime-limit = true\n", "number of seconds"),
        ("[tool]\ngraphflow = 3\n", "table of options"),
    ],
)
def test_a_fault_is_named(tmp_path: Path, text: str, said: str) -> None:
    """Each fault names the file and what to write instead."""
    write(tmp_path, text)
    with pytest.raises(UsageError) as caught:
        find_config(tmp_path)
    assert said in str(caught.value)
    assert "pyproject.toml" in str(caught.value)


def test_text_that_is_not_utf8(tmp_path: Path) -> None:
    """A file in another encoding is a fault too."""
    (tmp_path / "pyproject.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="no valid TOML"):
        find_config(tmp_path)


def test_a_project_names_the_profile_that_it_is_checked_under(tmp_path: Path) -> None:
    """`profile` is one of those there are; anything else is refused with the closest one."""
    write(tmp_path, '[tool.graphflow]\nprofile = "adk"\n')
    assert find_config(tmp_path).profile == "adk"

    write(tmp_path, '[tool.graphflow]\nprofile = "adkk"\n')
    with pytest.raises(UsageError, match="`profile`: there is no profile `adkk`; did you mean `adk`"):
        find_config(tmp_path)
