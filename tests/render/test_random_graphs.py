"""Whatever the graph is, it is drawn: completely, without an error, and with the ways that control has."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from hypothesis import given

from graphflow.ir.graph import Graph
from graphflow.ir.nodes import Branch, Task
from graphflow.render import render_graph
from graphflow.render.routes import routes
from graphflow.render.scene import build_scene
from tests.render.flows import Finding, Findings, ids_of
from tests.render.random_graphs import PLAIN, graphs
from tests.render.test_routes import reachable

SVG = "{http://www.w3.org/2000/svg}"


@given(graphs())
def test_scene(graph: Graph) -> None:
    """Each task and gate is drawn once, lines join what is drawn, frames are known, and nothing is without an id."""
    scene = build_scene(graph, Findings((Finding("GF999", "error", "n0"),)))
    ids = ids_of(scene)
    assert len(set(ids)) == len(ids)
    nodes = {item.id for item in scene.nodes}
    assert {end for edge in scene.edges for end in (edge.source, edge.target)} | set(sum(scene.orders, ())) <= nodes
    bodies = [n for n in graph.nodes.values() if isinstance(n, Task) or (isinstance(n, Branch) and n.halt is not None)]
    kinds = {"model", "code", "ask", "glue", "port", "gate"}
    assert len([item for item in scene.nodes if item.kind in kinds]) == len(bodies)
    known = {""}
    for cluster in scene.clusters:
        assert cluster.parent in known
        known.add(cluster.id)
    assert {item.cluster for item in scene.nodes} <= known
    assert all(run.text for item in scene.nodes for words in item.lines for run in words)


@given(graphs())
def test_picture(graph: Graph) -> None:
    """The picture is well-formed and has every part of the scene."""
    scene = build_scene(graph)
    tree = ET.fromstring(render_graph(graph))
    ids = [element.get("id", "") for element in tree.iter(f"{SVG}g") if element.get("id")]
    assert sorted(ids) == sorted(f"{scene.id}-{id_}" for id_ in ids_of(scene))


@given(graphs(PLAIN))
def test_ways(graph: Graph) -> None:
    """From each task the lines, returns of called agents included, lead to exactly those tasks that control leads to."""
    lines = routes(graph)
    tasks = {id_ for id_, node in graph.nodes.items() if isinstance(node, Task)} | {"@exit"}
    for id_ in ["@entry", *sorted(tasks)]:
        expected = reachable(id_, ((edge.source, edge.target) for edge in graph.edges))
        found = reachable(id_, ((line.source, line.target) for line in lines))
        assert found & tasks == expected & tasks
