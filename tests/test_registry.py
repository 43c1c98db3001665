"""A registry gives the first row that matches, imports it only then, and says what to write for a wrong name."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from graphflow.errors import UsageError, closest
from graphflow.registry import Registry, load


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A distribution with entry points and a module; gives the group's name."""
    group = f"registry_test_{tmp_path.name}"
    info = tmp_path / "extras-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: extras\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{group}]\nyaml = extra_formats:yaml\njson = extra_formats:json\n")
    (tmp_path / "extra_formats.py").write_text("yaml = 'their yaml'\njson = 'their json'\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "extra_formats", raising=False)
    return group


def test_objects_and_places_are_rows_alike() -> None:
    registry: Registry[object] = Registry("thing", {"object": closest, "place": "graphflow.errors:closest"})
    assert registry.resolve("object") is registry.resolve("place") is closest


def test_nothing_is_imported_before_it_is_asked_for(installed: str) -> None:
    registry: Registry[str] = Registry("format", {"own": "extra_formats:yaml"}, entry_points=installed)
    assert registry.names() == ("own", "json", "yaml")
    assert "extra_formats" not in sys.modules
    assert registry.resolve("own") == "their yaml"


def test_entry_points_add_rows_and_replace_none(installed: str) -> None:
    registry: Registry[str | int] = Registry("format", {"json": 1}, entry_points=installed)
    assert registry.resolve("yaml") == "their yaml"
    assert registry.resolve("json") == 1
    assert registry.names() == ("json", "yaml")


def test_a_group_that_nobody_adds_to_is_empty() -> None:
    assert Registry("format", {}, entry_points="registry_test_nobody").names() == ()


def test_the_first_matching_row_counts_and_added_rows_go_first() -> None:
    registry = Registry("provider", {"gemini-*": 1, "gemini-pro": 2, "*/small": 3, "odd[name]": 4})
    assert [registry.resolve(name) for name in ("gemini-pro", "local/small", "odd[name]")] == [1, 3, 4]
    extended = registry.extended({"gemini-pro": 5, "*/small": 6})
    assert [extended.resolve(name) for name in ("gemini-pro", "local/small", "gemini-x")] == [5, 6, 1]
    assert extended.names() == ("gemini-pro", "*/small", "gemini-*", "odd[name]")
    assert registry.resolve("gemini-pro") == 1, "the registry that was extended is as it was"


def test_case_counts_in_patterns() -> None:
    with pytest.raises(UsageError):
        Registry("provider", {"gemini-*": 1}).resolve("Gemini-x")


def test_an_unknown_name_is_answered_with_the_closest_and_all_names() -> None:
    with pytest.raises(UsageError) as raised:
        Registry("report format", {"json": 1, "text": 2}).resolve("jsom")
    message = str(raised.value)
    assert "unknown report format `jsom`" in message
    assert "did you mean `json`?" in message
    assert "`json`, `text`" in message
    with pytest.raises(UsageError, match="There are: none"):
        Registry("report format", {}).resolve("json")


def test_load_follows_dots_of_the_attribute() -> None:
    assert load("graphflow.registry:Registry.resolve") is Registry.resolve


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("graphflow.errors", "write `package.module:attribute`"),
        ("graphflow.errors:", "write `package.module:attribute`"),
        (":closest", "write `package.module:attribute`"),
        ("graphflow/errors.py:closest", "write `package.module:attribute`"),
        ("no_such_package.errors:closest", "there is no module `no_such_package`"),
        ("graphflow.no_such_module:closest", "there is no module `graphflow.no_such_module`"),
        ("graphflow.errors:closets", "did you mean `closest`?"),
    ],
)
def test_load_says_what_is_wrong(spec: str, message: str) -> None:
    with pytest.raises(UsageError) as raised:
        load(spec)
    assert spec in str(raised.value)
    assert message in str(raised.value)


def test_load_names_the_missing_requirement_of_a_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "needs_more.py").write_text("import not_installed_anywhere\n")
    (tmp_path / "needs_name.py").write_text("from graphflow.errors import nothing_of_that_name\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UsageError, match="it needs the module `not_installed_anywhere`"):
        load("needs_more:thing")
    with pytest.raises(UsageError, match="nothing_of_that_name"):
        load("needs_name:thing")
