"""Graphviz' SVG made fit to be shown: real text, a style sheet, light and dark, words for screen readers.

Graphviz gives the geometry; texts, classes, ids and titles come from the scene::

    svg_text(scene, "auto")     '<svg xmlns="http://www.w3.org/2000/svg" class="graphflow graphflow-auto" role="img" ...'

The result is one self-contained element: no script, no reference to anything outside, the same bytes for the same scene.
This module knows scenes, not graphs.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence

from graphflow.errors import UsageError
from graphflow.render.dot import BOLD, SIZES, dot_text, run_graphviz, stand_in
from graphflow.render.elements import Badge, Line, Run, Scene, SceneCluster, SceneEdge, SceneNode
from graphflow.render.theme import FONTS, TEXTS, css, palette

_SHAPES = {"path", "polygon", "ellipse", "polyline"}
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_Part = SceneNode | SceneCluster | SceneEdge


def svg_text(scene: Scene, theme: str) -> str:
    """Draw a scene.

    Args:
        scene: what to draw.
        theme: "auto" (follows the reader's preference), "light" or "dark".

    Returns:
        An SVG element.

    Raises:
        UsageError: there is no such theme, or Graphviz cannot be run or gives no such drawing.
    """
    colours = palette(theme)
    drawing = run_graphviz(dot_text(scene, colours, stand_in))
    try:
        root = ET.fromstring(drawing)  # noqa: S314 - written by Graphviz from text of ours without entities
    except ET.ParseError as error:
        raise UsageError(f"Graphviz gave no SVG ({error}); is GRAPHFLOW_DOT set to a `dot` program?") from error
    return _Finisher(scene, theme, colours).finish(root)


class _Finisher:
    """What the drawing of one scene needs to become a picture."""

    def __init__(self, scene: Scene, theme: str, colours: Mapping[str, str]) -> None:
        self._scene = scene
        self._theme = theme
        self._colours = colours
        self._parts: dict[str, _Part] = {part.id: part for part in (*scene.nodes, *scene.clusters, *scene.edges)}

    def finish(self, root: ET.Element) -> str:
        """Turn Graphviz' tree into the final text."""
        for element in root.iter():
            element.tag = element.tag.rpartition("}")[2]
        drawing = root.find("g")
        if drawing is None:
            raise UsageError("Graphviz gave an SVG without a drawing; is GRAPHFLOW_DOT set to a `dot` program?")
        result = self._root(root)
        group = ET.SubElement(result, "g", {"transform": drawing.get("transform", "")})
        for element in drawing:
            part = self._parts.get(element.get("id", ""))
            if part is not None:
                group.append(self._group(element, part))
            elif element.tag == "polygon":
                group.append(_surface(element, self._colours))
        ET.indent(result, " ", 0)
        return ET.tostring(result, encoding="unicode") + "\n"

    def _root(self, root: ET.Element) -> ET.Element:
        ids = {name: f"{self._scene.id}-{name}" for name in ("title", "desc")}
        result = ET.Element(
            "svg",
            {
                "xmlns": "http://www.w3.org/2000/svg",
                "class": f"graphflow graphflow-{self._theme}",
                "role": "img",
                "aria-labelledby": f"{ids['title']} {ids['desc']}",
                "width": root.get("width", "").replace("pt", ""),
                "height": root.get("height", "").replace("pt", ""),
                "viewBox": root.get("viewBox", ""),
                "font-family": FONTS,
                "style": "max-width:100%;height:auto",
            },
        )
        ET.SubElement(result, "title", {"id": ids["title"]}).text = self._scene.title
        ET.SubElement(result, "desc", {"id": ids["desc"]}).text = self._scene.description
        ET.SubElement(result, "style").text = css(self._theme)
        return result

    def _group(self, element: ET.Element, part: _Part) -> ET.Element:
        sort = {SceneNode: "node", SceneCluster: "cluster", SceneEdge: "edge"}[type(part)]
        group = ET.Element("g", {"id": f"{self._scene.id}-{part.id}", "class": f"{sort} {part.kind}"})
        if part.tooltip:
            ET.SubElement(group, "title").text = part.tooltip
        badges = () if isinstance(part, SceneEdge) else part.badges
        self._shapes(group, element, part, badges)
        shapes = [shape for shape in group if shape.tag in _SHAPES]
        texts = list(element.iter("text"))
        lines = _lines(part)
        expected = sum(len(line) for line in lines) + len(badges)
        if len(texts) != expected:
            raise UsageError(f"Graphviz drew {len(texts)} texts where {expected} were asked for; try it without GRAPHFLOW_DOT")
        for line in lines:
            group.append(self._text(line, texts[: len(line)], part, shapes[0] if shapes else None))
            del texts[: len(line)]
        for badge, text, pill in zip(badges, texts, shapes[len(shapes) - len(badges) :], strict=True):
            group.append(self._badge(badge, text, pill))
        return group

    def _shapes(self, group: ET.Element, element: ET.Element, part: _Part, badges: Sequence[Badge]) -> None:
        """Name the shapes: Graphviz draws the part itself first, the badges last."""
        shapes = [shape for shape in element.iter() if shape.tag in _SHAPES]
        own = shapes[: len(shapes) - len(badges)]
        for index, shape in enumerate(own):
            if isinstance(part, SceneEdge):
                shape.set("class", "path" if shape.tag == "path" else "tip")
            elif part.kind == "end" and index:
                shape.set("class", "core")
            else:
                shape.set("class", "body")
        if part.kind == "end":
            _ring(own, self._colours)
        for badge, pill in zip(badges, shapes[len(own) :], strict=True):
            pill.set("class", f"badge-{badge.severity}")
        group.extend(shapes)

    def _text(self, line: Line, drawn: Sequence[ET.Element], part: _Part, body: ET.Element | None) -> ET.Element:
        """Write one line where Graphviz put it; in a node, centred whatever the reader's font."""
        first = drawn[0]
        anchor, x = first.get("text-anchor", "start"), first.get("x", "0")
        if isinstance(part, SceneNode) and body is not None:
            anchor, x = "middle", _number(_middle(body))
        element = ET.Element("text", {"text-anchor": anchor, "x": x, "y": first.get("y", "0")})
        if isinstance(part, SceneCluster):
            element.set("class", "label")
        if len(line) == 1:
            self._run(element, line[0])
            return element
        for index, run in enumerate(line):
            self._run(ET.SubElement(element, "tspan", {"dx": "7"} if index else {}), run)
        return element

    def _run(self, element: ET.Element, run: Run) -> None:
        names = [name for name in (element.get("class"), f"text-{run.style}") if name]
        element.set("class", " ".join(names))
        element.set("font-size", str(SIZES[run.style]))
        if run.style in BOLD:
            element.set("font-weight", "bold")
        element.set("fill", self._colours[TEXTS[run.style]])
        element.text = run.text

    def _badge(self, badge: Badge, drawn: ET.Element, pill: ET.Element) -> ET.Element:
        attributes = {
            "class": "badge-text",
            "text-anchor": "middle",
            "x": _number(_middle(pill)),
            "y": drawn.get("y", "0"),
            "font-size": str(SIZES["badge"]),
            "font-weight": "bold",
            "fill": self._colours["badge"],
        }
        element = ET.Element("text", attributes)
        element.text = badge.text
        return element


def _lines(part: _Part) -> tuple[Line, ...]:
    match part:
        case SceneNode():
            return part.lines
        case SceneCluster():
            return (part.title,)
        case SceneEdge():
            return tuple((run,) for run in part.lines)


def _surface(polygon: ET.Element, colours: Mapping[str, str]) -> ET.Element:
    return ET.Element(
        "polygon", {"class": "surface", "fill": colours["background"], "points": polygon.get("points", "")}
    )


def _ring(shapes: Sequence[ET.Element], colours: Mapping[str, str]) -> None:
    """Make a double circle a ring around a dot (Graphviz draws the inner circle first)."""
    circles = sorted((shape for shape in shapes if shape.tag == "ellipse"), key=lambda s: -float(s.get("rx", "0")))
    for circle, name, fill in zip(circles, ("body", "core"), ("background", "start"), strict=False):
        circle.set("class", name)
        circle.set("fill", colours[fill])


def _middle(shape: ET.Element) -> float:
    """Give the x of the middle of a shape."""
    if shape.tag == "ellipse":
        return float(shape.get("cx", "0"))
    numbers = [float(number) for number in _NUMBER.findall(shape.get("points") or shape.get("d", ""))]
    return (min(numbers[::2]) + max(numbers[::2])) / 2


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
