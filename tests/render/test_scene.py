"""A scene shows every agent, frame, key and finding, and only text that can be shown."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphflow import Flow, LoopAgent, ParallelAgent, SequentialAgent
from graphflow.agents import Agent
from graphflow.ir.nodes import Branch, Task
from graphflow.render.elements import Badge, Run, Scene, SceneNode, clean, shorten
from graphflow.render.scene import build_scene
from tests.render.flows import Finding, Findings, code, ids_of, invoice, model, support, trees


def node(scene: Scene, id_: str) -> SceneNode:
    return next(item for item in scene.nodes if item.id == id_)


def texts(scene: Scene) -> list[str]:
    lines = [line for item in scene.nodes for line in item.lines] + [item.title for item in scene.clusters]
    runs = [run for line in lines for run in line] + [run for edge in scene.edges for run in edge.lines]
    return [run.text for run in runs]


@given(st.text(), st.integers(1, 50))
def test_clean(text: str, length: int) -> None:
    """Nothing unprintable is left, and no text is longer than asked for; what is fit is untouched."""
    shown = shorten(text, length)
    assert len(shown) <= length
    assert all(c == " " or unicodedata.category(c)[0] not in "CZ" for c in shown)
    assert shown == clean(text) or shown.endswith("\u2026")


@given(trees(st.text(min_size=1, max_size=60)))
def test_parts(root: Agent) -> None:
    """Ids are unique and plain, lines join nodes, frames come before what is in them, no text is empty."""
    scene = build_scene(Flow(root).graph)
    ids = ids_of(scene)
    assert len(set(ids)) == len(ids)
    assert all(id_.replace("_", "a").isalnum() and id_.isascii() for id_ in ids)
    nodes = {item.id for item in scene.nodes}
    assert {end for edge in scene.edges for end in (edge.source, edge.target)} <= nodes
    known = {""}
    for cluster in scene.clusters:
        assert cluster.parent in known
        known.add(cluster.id)
    assert {item.cluster for item in scene.nodes} <= known
    assert all(texts(scene))


@given(trees())
def test_every_agent(root: Agent) -> None:
    """Each leaf is drawn once, and each composite is a frame, a sequence or said to be empty."""
    graph = Flow(root).graph
    scene = build_scene(graph)
    leaves = [n for n in graph.nodes.values() if isinstance(n, Task) or (isinstance(n, Branch) and n.halt is not None)]
    assert len([item for item in scene.nodes if item.kind in {"model", "code", "gate"}]) == len(leaves)
    kinds = [region.kind for region in graph.regions.values() if region.kind not in {"root", "sequence"}]
    framed = [cluster.kind for cluster in scene.clusters if cluster.kind != "sequence"]
    assert len(framed) <= len(kinds)
    assert len(framed) == len(kinds) or any(item.kind == "empty" for item in scene.nodes)


@given(trees())
def test_each_finding_marked(root: Agent) -> None:
    """A finding about any path whatever is on exactly one thing in the picture."""
    graph = Flow(root).graph
    paths = ["", "no/such/agent", *graph.declarations, "@exit"]
    for path in paths:
        scene = build_scene(graph, Findings((Finding("GF999", "error", path),)))
        marked = [(item.badges, item.tooltip) for item in scene.nodes if item.badges]
        marked += [(cluster.badges, cluster.tooltip) for cluster in scene.clusters if cluster.badges]
        assert [badges for badges, _ in marked] == [(Badge("GF999", "error"),)]
        assert "error GF999: something is wrong" in marked[0][1]
        assert "GF999" in scene.description


def test_finding_on_its_agent() -> None:
    """A finding is on its own agent, on the frame of its composite, or on the start if it is about the flow."""
    found = Findings(
        (
            Finding("GF201", "error", "support/route/bug_path/research/refine/draft", help="write it first"),
            Finding("GF501", "warning", "support/route/bug_path/research/refine"),
            Finding("GF208", "warning", ""),
        )
    )
    scene = build_scene(support().graph, found)
    draft = node(scene, "n_support_route_bug_path_research_refine_draft")
    assert draft.badges == (Badge("GF201", "error"),)
    assert draft.tooltip.endswith("error GF201: something is wrong Help: write it first")
    assert [c.badges for c in scene.clusters if c.kind == "loop"] == [(Badge("GF501", "warning"),)]
    assert node(scene, "start").badges == (Badge("GF208", "warning"),)


def test_badges() -> None:
    """Errors come first, equal codes are counted, notes are only in the tooltip, and there are never many."""
    codes = [("GF203", "warning"), ("GF201", "error"), ("GF201", "error"), ("GF209", "info")]
    one = Flow(code("only")).graph
    scene = build_scene(one, Findings(tuple(Finding(c, s, "only") for c, s in codes)))
    assert node(scene, "n_only").badges == (Badge("GF201 x2", "error"), Badge("GF203", "warning"))
    assert "info GF209" in node(scene, "n_only").tooltip
    scene = build_scene(one, Findings(tuple(Finding(f"GF20{i}", "error", "only") for i in range(6))))
    assert [badge.text for badge in node(scene, "n_only").badges] == ["GF200", "GF201", "GF202", "+3"]


def test_looks() -> None:
    """Kinds, names and models of the nodes, and the titles of the frames."""
    scene = build_scene(support().graph)
    assert node(scene, "n_support_classify").kind == "model"
    assert node(scene, "n_support_classify").lines == ((Run("classify", "name"),), (Run("tiny-1", "small"),))
    assert node(scene, "n_support_send").kind == "code"
    assert [node.kind for node in scene.nodes].count("branch") == 1
    assert [" ".join(run.text for run in cluster.title) for cluster in scene.clusters] == [
        "conditional route",
        "sequence bug_path",
        "parallel research",
        "loop refine up to 3, until score > 0.8",
    ]


def test_direction() -> None:
    """Short flows go from left to right, long ones from top to bottom."""
    assert build_scene(invoice().graph).direction == "LR"
    steps = [code(name) for name in "abcdefgh"]
    assert build_scene(Flow(SequentialAgent("short", steps[:6])).graph).direction == "LR"
    assert build_scene(Flow(SequentialAgent("long", steps)).graph).direction == "TB"


def test_implicit_reads_are_not_drawn() -> None:
    """A model agent is sent the message without having asked for it: that is no line."""
    flow = Flow(SequentialAgent("s", [code("a", {}, {"k": str}), model("b", "{k}", "c")]), inputs={"message": str})
    scene = build_scene(flow.graph)
    assert [run.text for edge in scene.edges for run in edge.lines] == ["k: str"]


def test_long_texts() -> None:
    """Names and types are cut in the picture and whole in the tooltip."""
    name, key_name = "n" * 10_000, "k" * 100
    long = dict[str, dict[str, dict[str, list[int]]]]
    flow = Flow(SequentialAgent("s", [code(name, {}, {key_name: long}), code("b", {key_name: long})]))
    scene = build_scene(flow.graph)
    assert max(len(text) for text in texts(scene)) < 80
    assert any(name in item.tooltip for item in scene.nodes)
    assert any(edge.tooltip == f"{key_name}: dict[str, dict[str, dict[str, list[int]]]]" for edge in scene.edges)


def test_empty_composite() -> None:
    """A composite with nothing in it is there to be seen, in the frame around it."""
    root = ParallelAgent("p", [code("a"), LoopAgent("nothing", [])])
    scene = build_scene(Flow(root).graph)
    empty = node(scene, "n_p_nothing")
    assert (empty.kind, empty.cluster) == ("empty", "c_p")
    assert empty.lines == ((Run("nothing", "name"),), (Run("empty loop", "small"),))


@pytest.mark.parametrize("names", [("a b", "a_b", "a-b"), ("\u00e9", "\u00e8", ""), ("region x", "x", "start")])
def test_similar_names(names: tuple[str, ...]) -> None:
    """Names that look alike as ids are still different nodes."""
    scene = build_scene(Flow(SequentialAgent("s", [code(name) for name in names])).graph)
    assert len({item.id for item in scene.nodes}) == len(names) + 2
