"""A scene as DOT, and the program that lays DOT out.

Only ids of the scene (letters, digits and `_`) become DOT names, and every other text is a quoted label, so no name can
break out::

    dot_text(scene, palette("light"))     'digraph "story" {', '  graph [...];', '  "n_draft" [id="n_draft" shape="box" ...];'
    run_graphviz(text)                    b"<?xml ..."

Graphviz measures text by fixed tables that know ASCII in Helvetica only; for layout every other character is therefore
replaced by a letter about as wide (`stand_in`), and the SVG writer puts the real text back. This module knows scenes,
not graphs.
"""

from __future__ import annotations

import html
import os
import shutil
import subprocess
import sysconfig
import unicodedata
from collections.abc import Callable, Iterator, Mapping

from graphflow.errors import UsageError
from graphflow.render.elements import Badge, Line, Run, Scene, SceneCluster, SceneEdge, SceneNode
from graphflow.render.theme import FILLS, LINES, TEXTS

EXECUTABLE = "graphviz-pure"
VARIABLE = "GRAPHFLOW_DOT"
TIMEOUT = 30.0
"""Seconds that the layout may take."""

LARGE = 120
"""Number of nodes above which less time is spent on a tidy layout (500 nodes: 3 s in place of 25)."""

FONT = "Helvetica"
SIZES: Mapping[str, int] = {
    "name": 13,
    "title": 12,
    "kind": 12,
    "small": 10,
    "control": 10,
    "failure": 10,
    "key": 10,
    "badge": 9,
}
"""Style of a text -> its size in points."""

BOLD = frozenset({"name", "kind"})
_SHAPES: Mapping[str, Mapping[str, str]] = {
    "start": {"shape": "circle", "style": "filled", "width": "0.22", "height": "0.22", "fixedsize": "true"},
    "end": {"shape": "doublecircle", "style": "filled", "width": "0.16", "height": "0.16", "fixedsize": "true"},
    "model": {"shape": "box", "style": "rounded,filled", "margin": "0.22,0.1"},
    "code": {"shape": "box", "style": "rounded,filled", "margin": "0.22,0.1"},
    "ask": {"shape": "box", "style": "rounded,filled", "margin": "0.4,0.1"},
    "glue": {"shape": "box", "style": "rounded,filled,dashed", "margin": "0.14,0.05", "height": "0.3", "penwidth": "1"},
    "branch": {"shape": "diamond", "style": "filled", "margin": "0.02,0.02"},
    "test": {"shape": "diamond", "style": "filled", "margin": "0.02,0.02"},
    "gate": {"shape": "hexagon", "style": "filled", "margin": "0.04,0.03"},
    "empty": {"shape": "box", "style": "rounded,filled,dashed", "margin": "0.22,0.1"},
    "missing": {"shape": "box", "style": "rounded,filled,dashed", "margin": "0.22,0.1"},
    "point": {"shape": "circle", "style": "filled", "width": "0.09", "height": "0.09", "fixedsize": "true"},
    "each": {
        "shape": "box",
        "style": "filled",
        "width": "0.14",
        "height": "0.36",
        "fixedsize": "true",
        "penwidth": "1.1",
    },
    "port": {"shape": "box", "style": "filled", "width": "0.12", "height": "0.12", "fixedsize": "true"},
}
_FRAMES: Mapping[str, str] = {"loop": "rounded,filled,dashed", "sequence": "rounded,filled,dotted"}
_STROKES: Mapping[str, Mapping[str, str]] = {
    "control": {"penwidth": "1.2", "weight": "3"},
    "call": {"penwidth": "1.2", "weight": "2", "dir": "both", "arrowtail": "dot"},
    "back": {"penwidth": "1.3", "style": "dashed", "weight": "1"},
    "error": {"penwidth": "1.2", "style": "dashed", "weight": "1"},
    "escalate": {"penwidth": "1.2", "style": "dashed", "weight": "1"},
    "fault": {"penwidth": "1.2", "style": "dotted", "weight": "1"},
    "data": {"penwidth": "1.1", "style": "dotted", "weight": "0", "arrowsize": "0.5"},
}


def stand_in(text: str) -> str:
    """Replace whatever Graphviz cannot measure, or reads as markup, by letters about as wide.

    Args:
        text: a text of a scene.

    Returns:
        A text of ASCII letters, digits, blanks and harmless punctuation, never empty.
    """
    return "".join(_measured(character) for character in text) or "n"


def _measured(character: str) -> str:
    if character.isascii():
        return {"<": "+", ">": "+", "&": "m", '"': "r", "'": "i", "\\": "i"}.get(character, character)
    if unicodedata.category(character) in {"Mn", "Me"}:
        return ""
    return "W" if unicodedata.east_asian_width(character) in {"W", "F"} or character == "\u2026" else "w"


def dot_text(scene: Scene, colours: Mapping[str, str], text: Callable[[str], str] = str) -> str:
    """Write a scene as DOT.

    Args:
        scene: what to draw.
        colours: role -> colour.
        text: what to do to each piece of text; `stand_in` for layout.

    Returns:
        The DOT text, one statement a line.
    """
    return "\n".join(_Writer(colours, text).lines(scene)) + "\n"


class _Writer:
    """The colours and the treatment of text, for one scene."""

    def __init__(self, colours: Mapping[str, str], text: Callable[[str], str]) -> None:
        self._colours = colours
        self._text = text
        self._points: frozenset[str] = frozenset()
        self._upright = False

    def lines(self, scene: Scene) -> Iterator[str]:
        """Write the statements of a scene."""
        wide = scene.direction == "LR"
        self._upright = not wide
        self._points = frozenset(node.id for node in scene.nodes if node.kind == "point")
        yield f"digraph {_quoted(scene.id)} {{"
        graph = {
            "rankdir": scene.direction,
            "nodesep": "0.42" if wide else "0.5",
            "ranksep": "0.45" if wide else "0.42",
            "pad": "0.3",
            **({"mclimit": "4"} if len(scene.nodes) <= LARGE else {"mclimit": "0.5", "nslimit": "1"}),
            "forcelabels": "true",
            "bgcolor": self._colours["background"],
            "fontname": FONT,
            "labeljust": "l",
        }
        yield f"  graph {_attributes(graph)};"
        yield f"  node {_attributes({'fontname': FONT, 'penwidth': '1.4', 'height': '0.42'})};"
        edge = {"fontname": FONT, "fontsize": str(SIZES["key"]), "arrowhead": "vee", "arrowsize": "0.65"}
        yield f"  edge {_attributes(edge)};"
        yield from self._tree(scene)
        for line in scene.edges:
            yield "  " + self._edge(line)
        for first, second in scene.orders:
            yield f"  {_quoted(first)} -> {_quoted(second)} {_attributes({'style': 'invis', 'weight': '2'})};"
        yield "}"

    def _tree(self, scene: Scene) -> Iterator[str]:
        inside: dict[str, list[SceneNode | SceneCluster]] = {"": []}
        for cluster in scene.clusters:
            inside[cluster.id] = []
        for node in scene.nodes:
            inside[node.cluster].append(node)
        for cluster in scene.clusters:
            inside[cluster.parent].append(cluster)
        stack = [iter(inside[""])]
        while stack:
            indent = "  " * len(stack)
            match next(stack[-1], None):
                case None:
                    stack.pop()
                    if stack:
                        yield indent[2:] + "}"
                case SceneNode() as item:
                    yield indent + self._node(item)
                case SceneCluster() as frame:
                    yield from (indent + line for line in self._cluster(frame))
                    stack.append(iter(inside[frame.id]))

    def _node(self, node: SceneNode) -> str:
        fill, line = (self._colours[role] for role in FILLS[node.kind])
        shape = _SHAPES[node.kind]
        if node.kind == "each" and self._upright:
            shape = {**shape, "width": shape["height"], "height": shape["width"]}
        attributes = {"id": node.id, **shape, "fillcolor": fill, "color": line}
        rows = [self._line(line) for line in node.lines]
        label = f"<{'<BR/>'.join(rows)}>" if rows else '""'
        if node.badges and rows:
            cells = "".join(f"<TR><TD>{row}</TD></TR>" for row in rows)
            label = f"<{_table(cells + f'<TR><TD>{self._badges(node.badges)}</TD></TR>')}>"
        elif node.badges:
            beside = f"<{self._badges(node.badges)}>"
            return f"{_quoted(node.id)} {_attributes(attributes, label=label, xlabel=beside)};"
        return f"{_quoted(node.id)} {_attributes(attributes, label=label)};"

    def _cluster(self, cluster: SceneCluster) -> Iterator[str]:
        fill, line = FILLS[cluster.kind]
        yield f"subgraph {_quoted(f'cluster_{cluster.id}')} {{"
        attributes = {
            "id": cluster.id,
            "style": _FRAMES.get(cluster.kind, "rounded,filled"),
            "fillcolor": self._colours[fill],
            "color": self._colours[line],
            "penwidth": "1.1",
            "margin": "12",
        }
        label = self._line(cluster.title)
        if cluster.badges:
            label = _table(f"<TR><TD>{label}</TD><TD>{self._badges(cluster.badges)}</TD></TR>")
        yield f"  graph {_attributes(attributes, label=f'<{label}>')};"

    def _line(self, line: Line) -> str:
        return "".join(self._run(run, "&#160;&#160;" if index else "") for index, run in enumerate(line))

    def _run(self, run: Run, gap: str) -> str:
        content = gap + _escaped(self._text(run.text))
        content = f"<B>{content}</B>" if run.style in BOLD else content
        return f'<FONT POINT-SIZE="{SIZES[run.style]}" COLOR="{self._colours[TEXTS[run.style]]}">{content}</FONT>'

    def _badges(self, badges: tuple[Badge, ...]) -> str:
        cells = "".join(
            f'<TD BGCOLOR="{self._colours[badge.severity]}" STYLE="rounded" CELLPADDING="3">'
            f'<FONT POINT-SIZE="{SIZES["badge"]}" COLOR="{self._colours["badge"]}">'
            f"<B>{_escaped(self._text(badge.text))}</B></FONT></TD>"
            for badge in badges
        )
        return _table(f"<TR>{cells}</TR>", spacing=3)

    def _edge(self, edge: SceneEdge) -> str:
        attributes = {"id": edge.id, **_STROKES[edge.kind], "color": self._colours[LINES[edge.kind]]}
        source, target = edge.source, edge.target
        if edge.returns and source != target:
            # Written the other way round, a line that leads back never turns the order of the ranks around.
            source, target = target, source
            attributes |= {"dir": "back", "arrowtail": "vee"}
        if edge.target in self._points and not edge.returns:
            attributes["arrowhead"] = "none"
        if edge.lines:
            attributes["label"] = "\n".join(f" {self._text(run.text)} " for run in edge.lines)
            attributes["fontcolor"] = self._colours[TEXTS[edge.lines[0].style]]
        return f"{_quoted(source)} -> {_quoted(target)} {_attributes(attributes)};"


def _table(rows: str, spacing: int = 1) -> str:
    return f'<TABLE BORDER="0" CELLBORDER="0" CELLPADDING="0" CELLSPACING="{spacing}">{rows}</TABLE>'


def _escaped(text: str) -> str:
    """Make a text part of an HTML-like label, in which a backslash begins an escape as well."""
    return html.escape(text, quote=False).replace("\\", "\\\\")


def _quoted(text: str) -> str:
    """Quote a text so that Graphviz shows exactly it: no escapes, no entities (graphviz.org/doc/info/lang.html)."""
    plain = text.replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"')
    return '"' + plain.replace("\n", "\\n") + '"'


def _attributes(values: Mapping[str, str], **markup: str) -> str:
    parts = [*(f"{name}={_quoted(value)}" for name, value in values.items()), *(f"{n}={v}" for n, v in markup.items())]
    return f"[{' '.join(parts)}]"


def run_graphviz(text: str) -> bytes:
    """Lay DOT out as SVG: with the program that the environment variable GRAPHFLOW_DOT names, else the one that came along.

    Args:
        text: DOT.

    Returns:
        What the program wrote.

    Raises:
        UsageError: there is no such program, it failed, or it took longer than `TIMEOUT`.
    """
    program = _program()
    try:
        done = subprocess.run(  # noqa: S603 - a program that the user or the installation named, no shell
            [program, "-Tsvg"], input=text.encode(), capture_output=True, timeout=TIMEOUT, check=True
        )
    except OSError as error:
        raise UsageError(
            f"cannot run Graphviz (`{program}`): {error.strerror or error}; "
            f"install the package `graphviz-pure`, or set {VARIABLE} to the path of a `dot` program"
        ) from error
    except subprocess.TimeoutExpired as error:
        raise UsageError(
            f"Graphviz (`{program}`) did not lay the picture out in {TIMEOUT:g} s; draw a part of the flow, "
            'or take the text with format="dot"'
        ) from error
    except subprocess.CalledProcessError as error:
        told = error.stderr.decode(errors="replace").strip().splitlines()
        raise UsageError(
            f"Graphviz (`{program}`) failed with status {error.returncode}" + (f": {told[-1]}" if told else "")
        ) from error
    return done.stdout


def _program() -> str:
    named = os.environ.get(VARIABLE)
    if named:
        return named
    scripts = sysconfig.get_path("scripts")
    return shutil.which(EXECUTABLE, path=scripts) or shutil.which(EXECUTABLE) or EXECUTABLE
