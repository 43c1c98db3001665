"""The two functions of the package: formats, themes and files."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphflow import UsageError
from graphflow.render import RENDERERS, draw_graph, render_graph
from tests.render.flows import invoice


@pytest.mark.parametrize(
    ("format_", "message"),
    [("svgz", "unknown format `svgz`; did you mean `svg`?"), ("png", "unknown format `png`; use `svg` or `dot`")],
)
def test_unknown_format(format_: str, message: str) -> None:
    """An unknown format is refused with the nearest one, or all."""
    with pytest.raises(UsageError) as caught:
        render_graph(invoice().graph, None, format_)
    assert str(caught.value) == message


@pytest.mark.parametrize("format_", list(RENDERERS))
@pytest.mark.parametrize(
    ("theme", "message"),
    [
        ("darkk", "unknown theme `darkk`; did you mean `dark`?"),
        ("x", "unknown theme `x`; use one of `auto`, `light`, `dark`"),
    ],
)
def test_unknown_theme(format_: str, theme: str, message: str) -> None:
    """An unknown theme is refused in every format."""
    with pytest.raises(UsageError) as caught:
        render_graph(invoice().graph, None, format_, theme)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("name", "format_", "start"),
    [("p.svg", None, "<svg"), ("p.DOT", None, "digraph"), ("p", None, "<svg"), ("p.txt", "dot", "digraph")],
)
def test_file(tmp_path: Path, name: str, format_: str | None, start: str) -> None:
    """The format follows the ending unless it is given; the file replaces an older one."""
    path = tmp_path / name
    path.write_text("old", encoding="utf-8")
    assert draw_graph(invoice().graph, None, path, format_) == path
    assert path.read_text(encoding="utf-8").startswith(start)


def test_unknown_ending(tmp_path: Path) -> None:
    """An ending that names no format is refused, and no file is left."""
    with pytest.raises(UsageError, match=r"the ending of `p.png` names no format; use `svg` or `dot`"):
        draw_graph(invoice().graph, None, tmp_path / "p.png")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["missing/p.svg", "p\0.svg"])
def test_unwritable(tmp_path: Path, name: str) -> None:
    """A file that cannot be written is named."""
    with pytest.raises(UsageError, match=r"cannot write `.*p.*svg`: "):
        draw_graph(invoice().graph, None, tmp_path / name)


def test_directory(tmp_path: Path) -> None:
    """A directory is no file."""
    with pytest.raises(UsageError, match="Is a directory"):
        draw_graph(invoice().graph, None, tmp_path, "svg")
