"""Every construct of the graph is drawn: what stands for it, what is written on it, and what is left out."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from graphflow import key
from graphflow.contracts.retry import RetryPolicy
from graphflow.ir.graph import Graph
from graphflow.ir.nodes import CALL, Arm, Branch, Fault, Fork, Group, Join, Task
from graphflow.render import render_graph
from graphflow.render.elements import Scene, SceneCluster, SceneEdge, SceneNode
from graphflow.render.labels import guard_text
from graphflow.render.scene import build_scene
from graphflow.render.theme import THEMES
from graphflow.template import parse
from tests.render.flows import ids_of
from tests.render.shapes import PICTURES, SHAPES, Draft, guards, research, short_drafts, story, triage, uses

SVG = "{http://www.w3.org/2000/svg}"


def node(scene: Scene, id_: str) -> SceneNode:
    return next(item for item in scene.nodes if item.id == f"n_{id_}")


def frame(scene: Scene, kind: str) -> SceneCluster:
    return next(cluster for cluster in scene.clusters if cluster.kind == kind)


def line(scene: Scene, source: str, target: str) -> SceneEdge:
    found = [edge for edge in scene.edges if edge.source.endswith(source) and edge.target.endswith(target)]
    assert len(found) == 1, [edge.id for edge in scene.edges]
    return found[0]


def words(part: SceneNode | SceneCluster | SceneEdge) -> list[str]:
    match part:
        case SceneNode():
            return [run.text for line in part.lines for run in line]
        case SceneCluster():
            return [run.text for run in part.title]
        case _:
            return [run.text for run in part.lines]


@pytest.mark.parametrize("make", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("theme", THEMES)
def test_complete(make: Callable[[], Graph], theme: str) -> None:
    """Each part of the scene is in the picture once, all words are, and the same graph gives the same bytes."""
    scene = build_scene(make())
    text = render_graph(make(), None, "svg", theme)
    tree = ET.fromstring(text)
    ids = [element.get("id", "") for element in tree.iter(f"{SVG}g") if element.get("id")]
    assert sorted(ids) == sorted(f"{scene.id}-{id_}" for id_ in ids_of(scene))
    shown = ["".join(element.itertext()) for element in tree.iter(f"{SVG}text")]
    expected = ["".join(run.text for run in line) for item in scene.nodes for line in item.lines]
    expected += ["".join(words(cluster)) for cluster in scene.clusters]
    assert sorted(shown) == sorted([*expected, *(word for edge in scene.edges for word in words(edge))])
    assert text == render_graph(make(), None, "svg", theme)


@pytest.mark.parametrize("name", PICTURES)
def test_documentation(name: str) -> None:
    """The pictures of the documentation are what is drawn."""
    committed = Path(__file__).parents[2] / "docs" / "pictures" / f"{name}.svg"
    assert committed.read_text(encoding="utf-8") == render_graph(PICTURES[name]())


def test_map() -> None:
    """A map is a pile of frames that says what it runs over, with an end on either side; the empty list has no line."""
    graph = research()
    scene = build_scene(graph)
    assert words(frame(scene, "map")) == ["map", "each", "each query of plan.queries, 3 at once, failures collected"]
    ends = [item for item in scene.nodes if item.kind == "each"]
    assert [item.cluster for item in ends] == [frame(scene, "map").id] * 2
    assert words(line(scene, "plan", "each_fork")) == ["plan: dict"]
    assert words(line(scene, "each_fork", "search")) == ["query: str"]
    assert words(line(scene, "sum_up", "each_join")) == ["finding: str"]
    assert words(line(scene, "each_join", "merge")) == ["findings: list[str]"]
    assert not [edge for edge in scene.edges if edge.source.endswith("each_fork") and edge.target.endswith("each_join")]
    tree = ET.fromstring(render_graph(graph))
    pile = next(element for element in tree.iter(f"{SVG}g") if element.get("class") == "cluster map")
    assert [shape.get("transform") for shape in pile if shape.tag != f"{SVG}title"] == ["translate(5,5)", None]
    cells = [element for element in tree.iter(f"{SVG}path") if element.get("class") == "detail"]
    assert len(cells) == 4


def test_map_beside_a_key() -> None:
    """A key from before the map goes past its end to whoever reads it inside, on a line of its own."""
    assert line(build_scene(research()), "start", "search").kind == "data"


def test_map_with_a_cap_and_an_index() -> None:
    """The frame names the key with the place of an element."""
    graph = research()
    fork = graph.nodes["research/each#fork"]
    assert isinstance(fork, Fork)
    assert fork.group is not None
    assert fork.group.over is not None
    group = replace(fork.group, over=replace(fork.group.over, path=(), index="place"), limit=None, failures="fail")
    scene = build_scene(replace(graph, nodes={**graph.nodes, fork.id: replace(fork, group=group)}))
    assert words(frame(scene, "map"))[2] == "each query (place) of plan"


def test_subflow() -> None:
    """A sub-flow is a frame with a port for what goes in and one for what comes out; inside, keys have their own names."""
    scene = build_scene(short_drafts())
    assert [item.kind for item in scene.nodes if item.cluster == frame(scene, "subflow").id] == ["port", "port"]
    assert words(line(scene, "writer", "short_inputs")) == ["draft: str"]
    assert words(line(scene, "short_inputs", "cut")) == ["text: str"]
    assert words(line(scene, "short_outputs", "send")) == ["short_draft: str"]
    assert words(next(item for item in scene.nodes if item.kind == "test")) == ["len(summary) < 200"]
    assert "main/short/" not in "".join(word for edge in scene.edges for word in (*words(edge), edge.tooltip))
    assert "reads text: str" in node(scene, "main_short_again_cut").tooltip


def test_custom_agent() -> None:
    """The code calls its children; what they get and give is on the line of the call, and nobody draws the way back."""
    graph = story()
    scene = build_scene(graph)
    assert words(frame(scene, "custom")) == ["custom", "story"]
    assert words(node(scene, "main_story_code")) == ["code"]
    calls = {edge.target: words(edge) for edge in scene.edges if edge.kind == "call"}
    assert calls == {
        "n_main_story_generate": ["topic: str", "gives story: str"],
        "n_main_story_revise": ["topic: str", "gives story: str"],
        "n_main_story_checks_grammar": ["story: str", "gives faults: list[str]"],
        "n_main_story_checks_mood": ["story: str", "gives tone: str"],
    }
    assert words(line(scene, "story_code", "print")) == ["story: str", "faults: list[str]"]
    assert words(line(scene, "start", "story_code")) == ["topic: str"]
    assert not [edge for edge in scene.edges if edge.kind in {"data", "back"} or edge.target == "n_main_story_code"][1:]
    assert {second for _, second in scene.orders} == {"n_main_print"}
    assert {first for first, _ in scene.orders} == set(calls)


def test_graph() -> None:
    """Routes are on the lines that leave their node; a way back is one line; what goes straight on has no label."""
    scene = build_scene(triage())
    assert not [item for item in scene.nodes if item.kind == "branch"]
    assert words(line(scene, "classify", "close")) == ["default"]
    assert words(line(scene, "classify", "approve")) == ["BILLING"]
    again = line(scene, "classify", "triage_classify")
    assert (again.kind, again.returns, words(again)) == ("back", True, ["AGAIN"])
    dot = next(item for item in scene.nodes if item.kind == "point")
    assert words(line(scene, "classify", dot.id)) == ["BUG"]
    assert words(line(scene, dot.id, "search")) == []
    assert len([edge for edge in scene.edges if edge.target == "end"]) == 3


def test_values_between_nodes() -> None:
    """What nodes give to the next is a value on the lines between them, also where several come together."""
    scene = build_scene(triage())
    assert words(line(scene, "approve", "refund")) == ["value: str"]
    assert words(line(scene, "search", "answer")) == words(line(scene, "blame", "answer")) == ["value: str"]
    shown = [part for edge in scene.edges for part in (*words(edge), edge.tooltip)]
    shown += [item.tooltip for item in scene.nodes]
    assert not [text for text in shown if "out:" in text or "in:" in text or "route:" in text]


def test_router_behind_a_guard() -> None:
    """Where two nodes lead to one choice, the choice stays."""
    graph = triage()
    handler = Task("triage/other", "triage")
    nodes = {**graph.nodes, handler.id: handler}
    edges = [*graph.edges, replace(graph.edges[0], target=handler.id)]
    edges.append(replace(graph.edges[0], source=handler.id, target="triage/classify#route"))
    scene = build_scene(replace(graph, nodes=nodes, edges=tuple(edges)))
    assert words(next(item for item in scene.nodes if item.kind == "branch")) == ["category"]


def test_several_routes() -> None:
    """A node that may take several routes at once says so."""
    graph = triage()
    branch = graph.nodes["triage/classify#route"]
    assert isinstance(branch, Branch)
    scene = build_scene(replace(graph, nodes={**graph.nodes, branch.id: replace(branch, multiple=True)}))
    assert words(node(scene, "triage_classify")) == ["classify", "tiny-1", "one or more routes"]


def test_inner_graph() -> None:
    """A graph is framed where it is a part of something."""
    graph = Draft("outer", {"main": "sequence", "main/inner": "workflow"}).task("main/a", "main")
    graph.task("main/inner/b", "main/inner").task("main/inner/c", "main/inner").way("@entry", "main/a", "main/inner/b")
    scene = build_scene(graph.way("main/inner/b", "main/inner/c", "@exit").graph())
    assert words(frame(scene, "workflow")) == ["workflow", "inner"]
    assert not build_scene(triage()).clusters


def test_question() -> None:
    """A question to a person looks like one."""
    scene = build_scene(triage())
    assert node(scene, "triage_approve").kind == "ask"
    assert words(node(scene, "triage_approve")) == ["approve"]
    tree = ET.fromstring(render_graph(triage()))
    asks = [element for element in tree.iter(f"{SVG}g") if element.get("class") == "node ask"]
    assert len([path for path in asks[0] if path.get("class") == "detail"]) == 2
    assert "7 agents" in scene.description


def test_guards() -> None:
    """How something is tried is in its frame or node; what runs on failure hangs on a line of its own kind."""
    scene = build_scene(guards())
    assert [cluster.kind for cluster in scene.clusters] == ["parallel", "loop"]
    assert words(frame(scene, "loop")) == ["loop", "refine", "up to 2; up to 3 attempts, 30 s each"]
    assert words(frame(scene, "parallel"))[2] == "first of 2, 2 at once, failures collected"
    assert words(node(scene, "main_pair_score")) == ["score", "up to 5 attempts, 2.5 s each"]
    failures = {(edge.source, edge.target): words(edge) for edge in scene.edges if edge.kind == "error"}
    assert failures == {
        ("n_main_pair_refine_end", "n_main_pair_plain"): ["on error"],
        ("n_main_pair_score", "n_main_pair_score_fallback"): ["on error"],
    }
    end = node(scene, "main_pair_refine_end")
    assert (end.kind, end.cluster) == ("point", frame(scene, "loop").id)
    fallback = node(scene, "main_pair_score_fallback")
    assert (fallback.kind, words(fallback)) == ("glue", ["fallback", "score = 0"])


def test_tried_gate() -> None:
    """How a gate is tried is said at the gate."""
    draft = Draft("gate", {"ok#guard": "guard"})
    draft.node(Fork("ok#try", "ok#guard", group=Group("ok#end", retry=RetryPolicy(2))))
    draft.node(Branch("ok", "ok#guard", uses({"k": bool}), None, (Arm("pass", key("k")),), parse("no"), "k"))
    draft.node(Join("ok#end", "ok#guard", exclusive=True)).way("@entry", "ok#try", "ok")
    scene = build_scene(draft.way("ok", "ok#end", "@exit", label="pass").key("@entry", "ok", "k", bool).graph())
    assert words(node(scene, "ok")) == ["ok", "k", "up to 2 attempts"]
    assert {item.id for item in scene.nodes} == {"start", "n_ok", "end"}


@pytest.mark.parametrize(
    ("attempts", "seconds", "text"),
    [
        (None, None, ""),
        (3, None, "up to 3 attempts"),
        (None, 0.25, "at most 0.25 s"),
        (None, 60, "at most 1 min"),
        (None, 90, "at most 90 s"),
        (None, 7200, "at most 2 h"),
        (2, 600.0, "up to 2 attempts, 10 min each"),
    ],
)
def test_guard_text(attempts: int | None, seconds: float | None, text: str) -> None:
    """How something is tried, in words, with the largest unit that is exact."""
    assert guard_text(None if attempts is None else RetryPolicy(attempts), seconds) == text


def test_exit_key() -> None:
    """The key that says how a loop ended comes from where it ends."""
    scene = build_scene(guards())
    assert [edge.source for edge in scene.edges if "how: str" in words(edge)] == ["n_main_pair_refine_end"]


@pytest.mark.parametrize(
    ("need", "failures", "limit", "text"),
    [(None, "fail", 3, "3 at once"), (2, "fail", None, "2 of 2"), (None, "collect", None, "failures collected")],
)
def test_policies(need: int | None, failures: str, limit: int | None, text: str) -> None:
    """How branches are run is in the frame, and nothing is if they are simply run."""
    graph = guards()
    fork = graph.nodes["main/pair#fork"]
    assert isinstance(fork, Fork)
    assert fork.group is not None
    group = replace(fork.group, need=need, failures=failures, limit=limit)  # type: ignore[arg-type]
    scene = build_scene(replace(graph, nodes={**graph.nodes, fork.id: replace(fork, group=group)}))
    assert words(frame(scene, "parallel")) == ["parallel", "pair", text]
    scene = build_scene(replace(graph, nodes={**graph.nodes, fork.id: replace(fork, group=None)}))
    assert words(frame(scene, "parallel")) == ["parallel", "pair"]


def test_faults() -> None:
    """A graph with parts that could not be lowered is drawn without them, what no way leads to included."""
    draft = Draft("broken", {"wf": "workflow"}).task("wf/a", "wf", uses({}, {"k": int})).task("wf/lost", "wf")
    draft.node(Join("wf/lost#join", "wf"), Fork("wf/lost#fork", "wf"))
    draft.task("wf/deep", "wf", uses({"k": int}))
    draft.way("wf/lost", "wf/lost#join", "wf/lost#fork", "wf/deep").way("@entry", "wf/a", "@exit").key(
        "wf/a", "wf/deep", "k", int
    )
    faults = (Fault("unknown-target", "wf/a", "nobody"), Fault("irreducible-cycle", "wf/deep", "wf/lost", ("wf/a",)))
    scene = build_scene(replace(draft.graph(), faults=faults))
    assert {item.id for item in scene.nodes} == {
        "start",
        "n_wf_a",
        "n_wf_lost",
        "n_wf_deep",
        "end",
        "n_wf_a_missing_nobody",
    }
    assert words(line(scene, "wf_a", "wf_deep")) == ["k: int"]
    assert words(node(scene, "wf_a_missing_nobody")) == ["nobody", "not in the graph"]
    assert line(scene, "wf_a", "wf_a_missing_nobody").kind == "fault"
    assert words(line(scene, "wf_a", "wf_lost")) == ["second way into a cycle"]
    assert ET.fromstring(render_graph(replace(draft.graph(), faults=faults))) is not None


def test_key_deep_in_a_child() -> None:
    """What something deep in a child reads is on the line of the call as well: no second line leads from the code into it."""
    draft = Draft("deep", {"own": "custom", "own/steps": "sequence"}).task("own#code", "own", kind="custom")
    draft.task("own/steps/a", "own/steps").task("own/steps/b", "own/steps", uses({"k": int}, {"n": int}))
    draft.node(Join("own/steps#return", "own", exclusive=True)).way("own/steps#return", "own#code", back=True)
    draft.way("own#code", "own/steps/a", "own/steps/b", "own/steps#return", label=f"{CALL}steps")
    draft.way("@entry", "own#code", "@exit").key("@entry", "own/steps/b", "k", int).key(
        "own/steps/b", "@exit", "n", int
    )
    graph = draft.graph()
    end = replace(graph.nodes["@exit"], contract=uses({"n": int}))
    scene = build_scene(replace(graph, nodes={**graph.nodes, end.id: end}))
    assert words(line(scene, "own_code", "steps_a")) == ["k: int", "gives n: int"]
    assert words(line(scene, "own_code", "end")) == ["n: int"]
    assert not [edge for edge in scene.edges if edge.kind == "data"]
