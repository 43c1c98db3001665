"""Graphs drawn at random: any node kinds, labels, groups, regions, keys and names, as far as the invariants allow."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from graphflow import key
from graphflow.contracts.contract import Contract
from graphflow.contracts.retry import RetryPolicy
from graphflow.ir.glue import Constants
from graphflow.ir.graph import Graph, verify
from graphflow.ir.nodes import (
    Arm,
    Branch,
    Edge,
    Entry,
    Exit,
    Fault,
    Fork,
    Group,
    Join,
    LoopHeader,
    Node,
    Over,
    Region,
    StateEdge,
    Task,
)
from graphflow.schema import type_of
from graphflow.template import parse
from tests.render.shapes import uses

KINDS = ("sequence", "parallel", "loop", "conditional", "gate", "guard", "map", "subflow", "custom", "workflow")
TASKS = ("model", "code", "custom", "ask", "glue")
LABELS = ("next", "next", "body", "exit", "exhausted", "error", "call:child", "empty", "escalate", "escalate?")
PLAIN = ("next", "body", "error", "call:child")
NAMES = ("a", "b", "a/b", '"><script>', "x & y", "\u202e\x00", "out:a", "route:a", "in:a", "scope/k", "批評家" * 12)


@st.composite
def graphs(draw: st.DrawFn, labels: tuple[str, ...] = LABELS) -> Graph:
    """A graph of up to a dozen nodes in up to four regions, with any state edges forward or round a loop."""
    names = st.one_of(st.sampled_from(NAMES), st.text(max_size=8))
    regions = ["", *(f"r{index}/{draw(names)}" for index in range(draw(st.integers(0, 4))))]
    count = draw(st.integers(1, 10))
    ids = [
        f"n{index}{draw(st.sampled_from(('', '#route', '#return', '#fork2')))}/{draw(names)}" for index in range(count)
    ]
    at = [draw(st.sampled_from(["task", "task", "branch", "gate", "fork", "join", "header"])) for _ in ids]
    order = ["@entry", *ids, "@exit"]
    edges = {Edge("@entry", draw(st.sampled_from(order[1:])))}
    for index, (id_, kind) in enumerate(zip(ids, at, strict=True), start=1):
        ways = 1 if kind in {"gate", "header"} else draw(st.integers(0 if kind == "task" else 1, 3))
        for way in range(ways):
            label = {"branch": f"arm{way}", "gate": "pass", "header": "body"}.get(kind) or draw(st.sampled_from(labels))
            edges.add(Edge(id_, draw(st.sampled_from(order[index + 1 :])), label))
    joins = [id_ for id_, kind in zip(ids, at, strict=True) if kind == "join"]
    nodes: dict[str, Node] = {"@entry": Entry("@entry", "")}
    for id_, kind in zip(ids, at, strict=True):
        arms = tuple(edge.label for edge in edges if edge.source == id_)
        nodes[id_] = _node(draw, id_, kind, draw(st.sampled_from(regions)), arms, joins)
    nodes["@exit"] = Exit("@exit", "")
    returns = [id_ for id_, node in nodes.items() if _is_header(node) or _is_code(node)]
    for target in returns:
        if draw(st.booleans()):
            source = draw(st.sampled_from([id_ for id_ in ids if not isinstance(nodes[id_], Branch)] or [target]))
            if not isinstance(nodes[source], Branch) and order.index(source) >= order.index(target) + _is_header(
                nodes[target]
            ):
                if _is_code(nodes[target]) and isinstance(nodes[source], Join):
                    edges -= {edge for edge in edges if edge.source == source}
                edges.add(Edge(source, target, "next", back=True))
                if _is_header(nodes[target]):
                    leaving = draw(st.sampled_from(["exit", "exhausted"]))
                    edges.add(Edge(target, draw(st.sampled_from(order[order.index(target) + 1 :])), leaving))
    ends = st.tuples(st.sampled_from(order[:-1]), st.sampled_from(order[1:]), names)
    state = tuple(StateEdge(a, b, name or "k", type_of(str)) for a, b, name in draw(st.lists(ends, max_size=8)))
    return _assembled(nodes, edges, regions, [draw(st.sampled_from(KINDS)) for _ in regions], state)


def _is_header(node: Node) -> bool:
    return isinstance(node, LoopHeader)


def _is_code(node: Node) -> bool:
    return isinstance(node, Task) and node.kind == "custom"


def _node(draw: st.DrawFn, id_: str, kind: str, region: str, arms: tuple[str, ...], joins: list[str]) -> Node:
    some = st.sampled_from(NAMES)
    contract = uses({draw(some): str}, {draw(some): str}) if draw(st.booleans()) else Contract(open=("any",))
    match kind:
        case "task":
            task: dict[str, Any] = {
                "retry": draw(st.sampled_from([None, RetryPolicy(2)])),
                "timeout": draw(st.sampled_from([None, 0.5, 90.0])),
                "fresh": draw(st.sampled_from([None, "scope/"])),
                "scope": draw(st.sampled_from(["", "scope/"])),
                "body": draw(st.sampled_from([None, Constants({"k": "v"})])),
            }
            return Task(id_, region, contract, None, draw(st.sampled_from(TASKS)), **task)
        case "branch" | "gate":
            halt = parse("no {k}") if kind == "gate" else None
            tests = tuple(Arm(label, key("scope/k") == 1) for label in arms)
            return Branch(id_, region, contract, None, tests, halt, draw(some), multiple=draw(st.booleans()))
        case "fork":
            over = draw(st.sampled_from([None, Over("scope/k", ("f",), "i", "n")]))
            need, limit = (draw(st.sampled_from([None, 1, 2])) for _ in range(2))
            group = Group(draw(st.sampled_from(joins)), over, need, "collect", limit) if joins else None
            return Fork(id_, region, contract, group=group)
        case "join":
            return Join(id_, region, contract)
        case _:
            until = draw(st.sampled_from([None, key("scope/k") == 1]))
            return LoopHeader(id_, region, contract, bound=draw(st.sampled_from([None, 2])), until=until)


def _assembled(
    nodes: dict[str, Node], edges: set[Edge], ids: list[str], kinds: list[str], state: tuple[StateEdge, ...]
) -> Graph:
    items = {id_: [node.id for node in nodes.values() if node.region == id_] for id_ in ids}
    regions = {"": Region("", "root", None, (*items[""], *ids[1:2]))}
    for index, (id_, kind) in enumerate(zip(ids, kinds, strict=True)):
        if index:
            inside = (*items[id_], *ids[index + 1 : index + 2])
            regions[id_] = Region(id_, kind, ids[index - 1], inside, None, "a label")
    order = {id_: place for place, id_ in enumerate(nodes)}
    ordered = sorted(edges, key=lambda edge: (order[edge.source], order[edge.target], edge.label, edge.back))
    ids = list(nodes)
    faults = (
        Fault("unknown-target", ids[len(ids) // 2], ids[0]),
        Fault("irreducible-cycle", "none", ids[1], (ids[-1],)),
    )
    graph = Graph("random", nodes, tuple(ordered), regions, state=state, faults=faults[: len(ids) % 3])
    verify(graph)
    return graph
