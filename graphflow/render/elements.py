"""The parts of a picture as plain data, and what text may be in them.

A `Scene` is what `graphflow.render.scene` builds and what the writers draw. It has no coordinates and no colours::

    SceneNode("n_draft", "model", ((Run("draft", "name"),), (Run("gemini", "small"),)), tooltip="story/draft ...")

Every text in it is fit to be shown: see `clean` and `shorten`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

Style = Literal["name", "small", "title", "kind", "control", "key", "failure"]
Direction = Literal["LR", "TB"]


class Finding(Protocol):
    """What a picture asks of a finding."""

    @property
    def code(self) -> str:
        """The rule's code."""

    @property
    def severity(self) -> str:
        """One of "error", "warning", "info"."""

    @property
    def message(self) -> str:
        """What was found."""

    @property
    def node(self) -> str:
        """Path of the agent concerned."""

    @property
    def help(self) -> str:
        """What to do; may be empty."""


class Findings(Protocol):
    """What a picture asks of a report."""

    @property
    def diagnostics(self) -> Sequence[Finding]:
        """The findings, in the order in which they are reported."""


@dataclass(frozen=True, slots=True)
class Run:
    """A piece of a line of text, and what it is."""

    text: str
    style: Style


Line = tuple[Run, ...]


@dataclass(frozen=True, slots=True)
class Badge:
    """A mark for findings: its text and their severity."""

    text: str
    severity: str


@dataclass(frozen=True, slots=True)
class SceneNode:
    """A thing in the picture.

    Attributes:
        id: unique in the scene; letters, digits and `_` only.
        kind: start, end, model, code, ask (of a person), glue (added by graphflow), branch, gate, test (a loop's),
            point, each (an end of a map), port (an end of a sub-flow), empty (a composite with nothing in it), or missing
            (an edge leads to it, and the graph has no such node).
        lines: the text in it; empty for start, end, point, each and port.
        tooltip: all that is known, in full; lines separated by newlines.
        badges: marks for findings, errors first.
        cluster: id of the cluster around it; "" for none.
    """

    id: str
    kind: str
    lines: tuple[Line, ...]
    tooltip: str
    badges: tuple[Badge, ...] = ()
    cluster: str = ""


@dataclass(frozen=True, slots=True)
class SceneCluster:
    """A frame around nodes and clusters. `parent` is the id of the frame around it, or ""."""

    id: str
    kind: str
    title: Line
    tooltip: str
    badges: tuple[Badge, ...] = ()
    parent: str = ""


@dataclass(frozen=True, slots=True)
class SceneEdge:
    """A line from one node to another.

    Attributes:
        id: unique in the scene.
        source: id of the node it leaves.
        target: id of the node it enters.
        kind: "control", "call", "back", "escalate", "error", "data" (a key that no control line brings), or "fault" (an edge
            that could not be lowered).
        lines: its label, one run each.
        tooltip: the label in full.
        returns: it leads to an earlier place.
    """

    id: str
    source: str
    target: str
    kind: str
    lines: tuple[Run, ...]
    tooltip: str
    returns: bool = False


@dataclass(frozen=True, slots=True)
class Scene:
    """A whole picture. Clusters come after those around them, nodes in canonical order.

    Attributes:
        orders: pairs of ids of nodes of which the first is to stand before the second, though no line says so.
    """

    id: str
    title: str
    description: str
    direction: Direction
    nodes: tuple[SceneNode, ...]
    clusters: tuple[SceneCluster, ...]
    edges: tuple[SceneEdge, ...]
    orders: tuple[tuple[str, str], ...] = ()


def clean(text: str) -> str:
    """Drop what no picture can hold: control, format, surrogate and unassigned characters; runs of blanks are one.

    Args:
        text: any text.
    """
    kept = ("" if unicodedata.category(c) in {"Cc", "Cf", "Cs", "Cn", "Co"} and not c.isspace() else c for c in text)
    return " ".join("".join(kept).split())


def shorten(text: str, length: int) -> str:
    """Clean a text and cut it to at most `length` characters, the last one an ellipsis.

    Args:
        text: any text.
        length: the most characters, at least 1.
    """
    shown = clean(text)
    return shown if len(shown) <= length else shown[: length - 1].rstrip() + "\u2026"
