"""Pictures of flows: a graph and its findings as SVG or DOT.

    render_graph(graph, report)                     the SVG as text
    draw_graph(graph, report, Path("p.dot"))        writes a file, its format by its ending

Graph -> scene (`graphflow.render.scene`) -> text (one writer for each format in `RENDERERS`). No renderer knows an agent
or the checker: findings are whatever looks like `graphflow.render.elements.Findings`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from graphflow.errors import UsageError, closest
from graphflow.ir.graph import Graph
from graphflow.render.dot import dot_text
from graphflow.render.elements import Findings, Scene
from graphflow.render.scene import build_scene
from graphflow.render.svg import svg_text
from graphflow.render.theme import palette

__all__ = ["RENDERERS", "draw_graph", "render_graph"]


def _dot(scene: Scene, theme: str) -> str:
    return dot_text(scene, palette(theme))


RENDERERS: Mapping[str, Callable[[Scene, str], str]] = {"svg": svg_text, "dot": _dot}
"""Format -> its writer, given a scene and the name of a theme."""


def render_graph(graph: Graph, report: Findings | None = None, format: str = "svg", theme: str = "auto") -> str:  # noqa: A002
    """Draw a graph.

    Args:
        graph: a linked graph.
        report: the findings to mark; None marks nothing.
        format: "svg" or "dot".
        theme: "auto" (follows the reader's preference), "light" or "dark".

    Returns:
        The picture as text; the same text for the same graph and findings.

    Raises:
        UsageError: there is no such format or theme, or Graphviz cannot be run.
    """
    writer = RENDERERS.get(format)
    if writer is None:
        raise UsageError(f"unknown format `{format}`; {_instead(format)}")
    palette(theme)
    return writer(build_scene(graph, report), theme)


def draw_graph(
    graph: Graph,
    report: Findings | None,
    path: Path,
    format: str | None = None,  # noqa: A002
    theme: str = "auto",
) -> Path:
    """Draw a graph into a file.

    Args:
        graph: a linked graph.
        report: the findings to mark; None marks nothing.
        path: the file; it is replaced if it exists.
        format: "svg" or "dot"; None: by the file's ending, SVG if it has none.
        theme: "auto", "light" or "dark".

    Returns:
        The path.

    Raises:
        UsageError: there is no such format or theme, Graphviz cannot be run, or the file cannot be written.
    """
    if format is None:
        format = path.suffix.lstrip(".").lower() or "svg"  # noqa: A001
        if format not in RENDERERS:
            raise UsageError(f"the ending of `{path.name}` names no format; {_instead(format)}")
    text = render_graph(graph, report, format, theme)
    try:
        path.write_text(text, encoding="utf-8", newline="\n")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise UsageError(f"cannot write `{path}`: {reason}") from error
    return path


def _instead(format: str) -> str:  # noqa: A002
    similar = closest(format, RENDERERS)
    names = " or ".join(f"`{name}`" for name in RENDERERS)
    return f"did you mean `{similar}`?" if similar else f"use {names}"
