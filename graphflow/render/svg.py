"""Graphviz' SVG made fit to be shown: real text, a style sheet, light and dark, words for screen readers.

Graphviz gives the geometry; texts, classes, ids and titles come from the scene::

    svg_text(scene, "auto")     '<svg xmlns="..." class="graphflow graphflow-auto" role="img" ...'

The result is one element by itself: no script, no reference to anything outside, the same bytes for the same scene.
This module knows scenes, not graphs.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence

from graphflow.errors import UsageError
from graphflow.render.dot import BOLD, SIZES, dot_text, run_graphviz, stand_in
from graphflow.render.elements import Badge, Line, Run, Scene, SceneCluster, SceneEdge, SceneNode
from graphflow.render.theme import FILLS, FONTS, TEXTS, css, palette

_SHAPES = frozenset({"path", "polygon", "ellipse", "polyline"})
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
        self._parts: dict[str, _Part] = {node.id: node for node in scene.nodes}
        self._parts |= {cluster.id: cluster for cluster in scene.clusters}
        self._parts |= {edge.id: edge for edge in scene.edges}

    def finish(self, root: ET.Element) -> str:
        """Turn Graphviz' tree into the final text."""
        for element in root.iter():
            element.tag = element.tag.rpartition("}")[2]
        drawing = root.find("g")
        if drawing is None:
            raise UsageError("Graphviz gave an SVG without a drawing; is GRAPHFLOW_DOT set to a `dot` program?")
        result = self._root(root)
        layers = [ET.Element("g") for _ in range(4)]
        for element in drawing:
            part = self._parts.get(element.get("id", ""))
            if part is not None:
                self._place(element, part, layers)
            elif element.tag == "polygon":
                layers[0].append(_surface(element, self._colours))
        group = ET.SubElement(result, "g", {"transform": drawing.get("transform", "")})
        group.extend(element for layer in layers for element in layer)
        for element in result.iter():
            if element.tag not in {"tspan", "title", "desc"}:  # a line break inside words would be a blank
                element.tail = "\n"
        return ET.tostring(result, encoding="unicode")

    def _place(self, element: ET.Element, part: _Part, layers: Sequence[ET.Element]) -> None:
        """Draw frames, then lines, then nodes, then the words that lines could cross."""
        shapes, words = self._groups(element, part)
        match part:
            case SceneNode():
                shapes.extend(words)
                layers[2].append(shapes)
                return
            case SceneCluster():
                layers[0].append(shapes)
            case SceneEdge():
                layers[1].append(shapes)
        if words:
            label = ET.SubElement(layers[3], "g", {"class": f"label {part.kind}", **_halo(self._colours)})
            _titled(label, part)
            label.extend(words)

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

    def _groups(self, element: ET.Element, part: _Part) -> tuple[ET.Element, list[ET.Element]]:
        """Give the shapes of a part as a group with its id, and its words."""
        sort = {SceneNode: "node", SceneCluster: "cluster", SceneEdge: "edge"}[type(part)]
        group = ET.Element("g", {"id": f"{self._scene.id}-{part.id}", "class": f"{sort} {part.kind}"})
        _titled(group, part)
        badges = () if isinstance(part, SceneEdge) else part.badges
        shapes = [shape for shape in element.iter() if shape.tag in _SHAPES]
        own, pills = shapes[: len(shapes) - len(badges)], shapes[len(shapes) - len(badges) :]
        self._name_shapes(own, part)
        group.extend(_behind(own[:1]) if part.kind == "map" else ())
        group.extend(own)
        group.extend(_details(part, own, self._colours))
        texts = list(element.iter("text"))
        lines = _lines(part)
        expected = sum(len(line) for line in lines) + len(badges)
        if isinstance(part, SceneEdge) and own and not texts:
            texts = _beside(own[0], len(lines))
        if len(texts) != expected or not own:
            raise UsageError(
                f"Graphviz drew {len(texts)} texts where {expected} were asked for; unset GRAPHFLOW_DOT, "
                "or name a `dot` program that knows HTML-like labels"
            )
        words: list[ET.Element] = []
        for line in lines:
            words.append(self._text(line, texts[: len(line)], part, own[0]))
            del texts[: len(line)]
        for badge, text, pill in zip(badges, texts, pills, strict=True):
            words += [_pill(badge, pill), self._badge(badge, text, pill)]
        return group, words

    def _name_shapes(self, shapes: list[ET.Element], part: _Part) -> None:
        if part.kind == "end":
            # A ring around a dot, the larger circle below; Graphviz draws the smaller one first.
            shapes.sort(key=lambda shape: -float(shape.get("rx", "0")))
        for index, shape in enumerate(shapes):
            if isinstance(part, SceneEdge):
                shape.set("class", "path" if shape.tag == "path" else "tip")
                if part.kind == "data" and shape.tag == "path":
                    shape.set("stroke-dasharray", "2,3")
            elif part.kind == "end":
                shape.set("class", "core" if index else "body")
                shape.set("fill", self._colours["start" if index else "background"])
            else:
                shape.set("class", "body")

    def _text(self, line: Line, drawn: Sequence[ET.Element], part: _Part, body: ET.Element) -> ET.Element:
        """Write one line where Graphviz put it; in a node, centred whatever the reader's font."""
        first = drawn[0]
        anchor, x = first.get("text-anchor", "start"), first.get("x", "0")
        if isinstance(part, SceneNode):
            anchor, x = "middle", _number(_middle(body))
        y = float(first.get("y", "0"))
        if isinstance(part, SceneEdge) and self._scene.direction == "LR":
            y -= 3  # beside a level line Graphviz leaves no room below the letters
        element = ET.Element("text", {"text-anchor": anchor, "x": x, "y": _number(y)})
        if len(line) == 1:
            self._run(element, line[0])
            return element
        for index, run in enumerate(line):
            self._run(ET.SubElement(element, "tspan", {"dx": "7"} if index else {}), run)
        return element

    def _run(self, element: ET.Element, run: Run) -> None:
        element.set("class", f"text-{run.style}")
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
            "stroke": "none",
        }
        element = ET.Element("text", attributes)
        element.text = badge.text
        return element


def _behind(shapes: Sequence[ET.Element]) -> list[ET.Element]:
    """Draw the frame of a map as the first of several."""
    return [ET.Element(shape.tag, {**shape.attrib, "transform": "translate(5,5)"}) for shape in shapes]


def _details(part: _Part, shapes: Sequence[ET.Element], colours: Mapping[str, str]) -> list[ET.Element]:
    """Draw what Graphviz has no shape for: the cells at the ends of a map, a person at a question."""
    if part.kind not in {"each", "ask"}:
        return []
    left, top, right, bottom = _box(shapes[0])
    ways: tuple[str, ...] = ()
    if part.kind == "each":
        thirds = [(left + (right - left) * n / 3, top + (bottom - top) * n / 3) for n in (1, 2)]
        upright = bottom - top > right - left
        ways = tuple(
            f"M{_number(left)},{_number(y)}H{_number(right)}"
            if upright
            else f"M{_number(x)},{_number(top)}V{_number(bottom)}"
            for x, y in thirds
        )
    elif part.kind == "ask":
        x, y = _number(left + 15), (top + bottom) / 2
        ways = (
            f"M{x},{_number(y - 7)}a3.2,3.2 0 1 1 0,6.4a3.2,3.2 0 1 1 0,-6.4z",
            f"M{_number(left + 9.4)},{_number(y + 7)}c0,-7.6 11.2,-7.6 11.2,0",
        )
    line = colours[FILLS[part.kind][1]]
    return [ET.Element("path", {"class": "detail", "d": way, "fill": "none", "stroke": line}) for way in ways]


def _lines(part: _Part) -> tuple[Line, ...]:
    match part:
        case SceneNode():
            return part.lines
        case SceneCluster():
            return (part.title,)
        case SceneEdge():
            return tuple((run,) for run in part.lines)


def _titled(group: ET.Element, part: _Part) -> None:
    if part.tooltip:
        ET.SubElement(group, "title").text = part.tooltip


def _halo(colours: Mapping[str, str]) -> dict[str, str]:
    """Keep words readable where a line passes below them."""
    return {"paint-order": "stroke", "stroke": colours["background"], "stroke-width": "3", "stroke-linejoin": "round"}


def _surface(polygon: ET.Element, colours: Mapping[str, str]) -> ET.Element:
    return ET.Element(
        "polygon", {"class": "surface", "fill": colours["background"], "points": polygon.get("points", "")}
    )


def _beside(path: ET.Element, count: int) -> list[ET.Element]:
    """Give places for the words of a line that Graphviz found none for: at the middle of the line."""
    numbers = [float(number) for number in _NUMBER.findall(path.get("d", ""))]
    middle = len(numbers) // 4 * 2
    x, y = (numbers[middle], numbers[middle + 1]) if numbers else (0.0, 0.0)
    size = SIZES["key"] * 1.2
    return [
        ET.Element("text", {"text-anchor": "middle", "x": _number(x), "y": _number(y + size * index)})
        for index in range(count)
    ]


def _pill(badge: Badge, cell: ET.Element) -> ET.Element:
    """Draw the surface of a badge: as wide as its text, however far Graphviz stretched the cell."""
    left, top, right, bottom = _box(cell)
    width = min(right - left, 0.62 * SIZES["badge"] * len(badge.text) + 9)
    return ET.Element(
        "rect",
        {
            "class": f"badge-{badge.severity}",
            "fill": cell.get("fill", ""),
            "stroke": "none",
            "x": _number((left + right - width) / 2),
            "y": _number(top),
            "width": _number(width),
            "height": _number(bottom - top),
            "rx": "4",
        },
    )


def _middle(shape: ET.Element) -> float:
    """Give the x of the middle of a shape."""
    left, _, right, _ = _box(shape)
    return (left + right) / 2


def _box(shape: ET.Element) -> tuple[float, float, float, float]:
    """Give left, top, right and bottom of a polygon or path."""
    numbers = [float(number) for number in _NUMBER.findall(shape.get("points", "") or shape.get("d", ""))]
    return min(numbers[::2]), min(numbers[1::2]), max(numbers[::2]), max(numbers[1::2])


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
