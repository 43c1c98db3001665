"""The SVG: complete, well-formed whatever the names are, the same each time, and nothing but a picture."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphflow import Flow, SequentialAgent
from graphflow.agents import Agent
from graphflow.render import render_graph
from graphflow.render.elements import clean
from graphflow.render.scene import build_scene
from graphflow.render.svg import svg_text
from graphflow.render.theme import THEMES
from tests.render.flows import Finding, Findings, code, ids_of, invoice, support, trees

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = (
    '"><script>alert(1)</script>',
    "a & b < c > d",
    "\x00\x1b[31m\n\t",
    "]]>",
    "\ud800",
    "\u202eabc",
    "名前" * 20,
    "-->",
)


def picture(text: str) -> ET.Element:
    return ET.fromstring(text)


def words(root: ET.Element) -> list[str]:
    return ["".join(element.itertext()) for element in root.iter(f"{SVG}text")]


@given(trees(st.one_of(st.text(min_size=1, max_size=40), st.sampled_from(HOSTILE))))
def test_complete(root: Agent) -> None:
    """Each node, frame and line of the scene is in the picture exactly once, and each label with its whole text."""
    scene = build_scene(Flow(root, inputs={"topic": str}).graph)
    tree = picture(svg_text(scene, "auto"))
    ids = [element.get("id", "") for element in tree.iter(f"{SVG}g") if element.get("id")]
    assert sorted(ids) == sorted(f"{scene.id}-{id_}" for id_ in ids_of(scene))
    expected = [run.text for edge in scene.edges for run in edge.lines]
    expected += ["".join(run.text for run in line) for node in scene.nodes for line in node.lines]
    expected += ["".join(run.text for run in cluster.title) for cluster in scene.clusters]
    assert sorted(words(tree)) == sorted(expected)


@given(trees(st.one_of(st.text(min_size=1, max_size=40), st.sampled_from(HOSTILE))))
def test_only_a_picture(root: Agent) -> None:
    """No element but shapes and text, no event handlers, no references."""
    tree = picture(render_graph(Flow(root).graph))
    allowed = {"svg", "title", "desc", "style", "g", "path", "polygon", "polyline", "ellipse", "rect", "text", "tspan"}
    for element in tree.iter():
        assert element.tag.removeprefix(SVG) in allowed
        assert not any(name.startswith("on") or "href" in name for name in element.attrib)
        assert not any("url(" in value for value in element.attrib.values())
    sheet = tree.findtext(f"{SVG}style") or ""
    assert "url(" not in sheet
    assert "@import" not in sheet


@pytest.mark.parametrize("flow", [invoice(), support()])
@pytest.mark.parametrize("theme", list(THEMES))
def test_same_bytes(flow: Flow, theme: str) -> None:
    """The same flow gives the same bytes."""
    assert render_graph(flow.graph, None, "svg", theme) == render_graph(flow.graph, None, "svg", theme)


def test_each_key() -> None:
    """Each key that somebody reads is in the picture with its type."""
    tree = picture(render_graph(support().graph))
    for text in (
        "message: str",
        "draft: str",
        "feedback: str",
        "score: float",
        "hits: str",
        "answer: str",
        "receipt: str",
    ):
        assert text in words(tree)


def test_findings() -> None:
    """A finding is a badge with its code on its node, its message in the tooltip, and named for screen readers."""
    found = Findings((Finding("GF201", "error", "invoice/validate"), Finding("GF203", "warning", "invoice/enrich")))
    tree = picture(render_graph(invoice().graph, found))
    node = next(group for group in tree.iter(f"{SVG}g") if group.get("id") == "invoice-n_invoice_validate")
    assert [element.get("class") for element in node if element.tag == f"{SVG}rect"] == ["badge-error"]
    assert "GF201" in words(node)
    assert "error GF201: something is wrong" in (node.findtext(f"{SVG}title") or "")
    badges = [element.get("class") for element in tree.iter(f"{SVG}rect")]
    assert sorted(str(badge) for badge in badges) == ["badge-error", "badge-warning"]
    assert "error GF201 at invoice/validate" in (tree.findtext(f"{SVG}desc") or "")


def test_for_screen_readers() -> None:
    """The picture is one image with a title and a description."""
    tree = picture(render_graph(invoice().graph))
    assert tree.get("role") == "img"
    ids = {element.get("id"): element.text for element in tree if element.tag in {f"{SVG}title", f"{SVG}desc"}}
    assert list(ids) == (tree.get("aria-labelledby") or "").split()
    assert ids["invoice-title"] == "Flow invoice"
    assert "5 agents" not in str(ids["invoice-desc"])
    assert "6 agents: extract, validate, adds_up, risk, order, decide." in str(ids["invoice-desc"])


def test_themes() -> None:
    """`auto` follows the reader, the others do not; each has the colours in the drawing itself as well."""
    graph = invoice().graph
    auto, light, dark = (render_graph(graph, None, "svg", theme) for theme in ("auto", "light", "dark"))
    assert "prefers-color-scheme" in auto
    assert "prefers-color-scheme" not in light + dark
    surface = [next(picture(text).iter(f"{SVG}polygon")).get("fill") for text in (auto, light, dark)]
    assert surface == [THEMES["light"]["background"], THEMES["light"]["background"], THEMES["dark"]["background"]]


def test_styles_stay_inside() -> None:
    """Every rule of the sheet is about this picture: a page may hold several, in different themes."""
    for theme in THEMES:
        sheet = picture(render_graph(invoice().graph, None, "svg", theme)).findtext(f"{SVG}style") or ""
        selectors = [
            line.split("{")[0] for line in sheet.replace("@media (prefers-color-scheme: dark){", "").splitlines()
        ]
        assert all(selector.startswith(f".graphflow-{theme}") for selector in selectors)


def test_long_name() -> None:
    """A name of ten thousand characters is cut in the picture and whole in the tooltip."""
    name = "very_long_" * 1000
    tree = picture(render_graph(Flow(SequentialAgent("s", [code(name)])).graph))
    assert max(len(text) for text in words(tree)) <= 32
    assert any(name in (element.text or "") for element in tree.iter(f"{SVG}title"))


def test_names_are_shown_as_they_are() -> None:
    """Markup and letters that Graphviz cannot measure arrive unchanged."""
    names = ['<b>&amp;"\\N', "批評家", "d\u00e9j\u00e0 vu"]
    tree = picture(render_graph(Flow(SequentialAgent("s", [code(name) for name in names])).graph))
    assert [text for text in words(tree) if text in names] == names
    assert clean("a\x00b") == "ab"


def labels(tree: ET.Element) -> list[tuple[float, float, float, float]]:
    """Boxes of the words on lines: left, top, right, bottom, for letters of average width."""
    boxes = []
    for group in tree.iter(f"{SVG}g"):
        if (group.get("class") or "") in {"label control", "label back", "label data", "label escalate"}:
            for text in group.iter(f"{SVG}text"):
                x, y, half = float(text.get("x", "0")), float(text.get("y", "0")), 2.2 * len(text.text or "")
                boxes.append((x - half, y - 7, x + half, y + 2))
    return boxes


@pytest.mark.parametrize("flow", [invoice(), support()])
def test_labels_keep_apart(flow: Flow) -> None:
    """No label lies on another one."""
    boxes = labels(picture(render_graph(flow.graph)))
    assert len(boxes) > 5
    for index, (left, top, right, bottom) in enumerate(boxes):
        for other in boxes[index + 1 :]:
            assert right <= other[0] or other[2] <= left or bottom <= other[1] or other[3] <= top
