"""Graphs with every construct of the IR, put together node by node: pictures need no agents.

After a change of the looks, `python -m tests.render.shapes` draws the pictures of the documentation again.

::

    graph = Draft("root", {"root": "map"}).node(Fork(...)).way("@entry", "root#fork", ...).key("a", "b", "k", int).graph()
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Literal

from graphflow import key
from graphflow.conditions import Is
from graphflow.contracts.contract import NOTHING, Contract, Read, Write
from graphflow.contracts.retry import RetryPolicy
from graphflow.ir.glue import Constants, Crossing
from graphflow.ir.graph import Graph, verify
from graphflow.ir.nodes import (
    BODY,
    CALL,
    EMPTY,
    ERROR,
    ESCALATE,
    EXIT,
    Arm,
    Branch,
    Collect,
    Edge,
    Entry,
    Exit,
    Fork,
    Gathered,
    Group,
    Join,
    LoopHeader,
    Node,
    Over,
    Region,
    StateEdge,
    Task,
)
from graphflow.render import draw_graph
from graphflow.schema import ANY, type_of


def uses(reads: Mapping[str, object] | None = None, writes: Mapping[str, object] | None = None) -> Contract:
    """A contract of required reads and sure writes, key -> type."""
    return Contract(
        tuple(Read(name, type_of(type_)) for name, type_ in (reads or {}).items()),
        tuple(Write(name, type_of(type_)) for name, type_ in (writes or {}).items()),
    )


class Draft:
    """A graph in the making. Regions: id -> kind, those around first; state edges join what writes and reads one key."""

    def __init__(self, name: str, regions: Mapping[str, str], labels: Mapping[str, str] | None = None) -> None:
        self._name = name
        self._kinds = dict(regions)
        self._labels = labels or {}
        self._nodes: dict[str, Node] = {}
        self._edges: list[Edge] = []
        self._state: list[StateEdge] = []
        self.node(Entry("@entry", ""))

    def node(self, *nodes: Node) -> Draft:
        """Add nodes, in canonical order."""
        self._nodes |= {node.id: node for node in nodes}
        return self

    def task(self, id_: str, region: str, contract: Contract = NOTHING, kind: str = "code", **more: object) -> Draft:
        """Add a task."""
        return self.node(Task(id_, region, contract, None, kind, **more))  # type: ignore[arg-type]

    def way(self, *ids: str, label: str = "next", back: bool = False) -> Draft:
        """Add the edges of a way; the label is that of the first."""
        for index, (source, target) in enumerate(pairwise(ids)):
            self._edges.append(Edge(source, target, "next" if index else label, back))
        return self

    def key(self, writer: str, reader: str, name: str, type_: object = ANY) -> Draft:
        """Add a state edge."""
        self._state.append(StateEdge(writer, reader, name, ANY if type_ is ANY else type_of(type_)))
        return self

    def graph(self) -> Graph:
        """Put it together."""
        self.node(Exit("@exit", ""))
        items: dict[str, list[str]] = {"": [], **{id_: [] for id_ in self._kinds}}
        parents = {id_: self._parent(id_) for id_ in self._kinds}
        for id_, parent in parents.items():
            items[parent].append(id_)
        for node in self._nodes.values():
            items[node.region].append(node.id)
        regions = {"": Region("", "root", None, tuple(items[""]))}
        for id_, kind in self._kinds.items():
            regions[id_] = Region(id_, kind, parents[id_], tuple(items[id_]), None, self._labels.get(id_, ""))
        position = {id_: index for index, id_ in enumerate(self._nodes)}
        edges = tuple(sorted(self._edges, key=lambda edge: position[edge.source]))
        graph = Graph(self._name, self._nodes, edges, regions, state=tuple(self._state))
        verify(graph)
        return graph

    def _parent(self, id_: str) -> str:
        around = [other for other in self._kinds if other != id_ and id_ == f"{other}/{id_.rpartition('/')[2]}"]
        guard = f"{id_}#guard"
        if guard in self._kinds:
            return guard
        return around[0] if around else ""


def research() -> Graph:
    """A map with a cap whose failures are collected, over a field, between a model and a model."""
    over = Over("plan", ("queries",), "query")
    group = Group("research/each#join", over, failures="collect", limit=3)
    inner = {"query": str, "topic": str}
    return (
        Draft("research", {"research": "sequence", "research/each": "map", "research/each/look": "sequence"})
        .task("research/plan", "research", uses({"topic": str}, {"plan": dict}), "model", model="tiny-1")
        .node(Fork("research/each#fork", "research/each", uses({"plan": dict}, {"query": str}), group=group))
        .task("research/each/look/search", "research/each/look", uses(inner, {"hits": list}))
        .task("research/each/look/sum_up", "research/each/look", uses({"hits": list}, {"finding": str}), "model")
        .node(
            Join(
                "research/each#join",
                "research/each",
                uses({"finding": str}, {"findings": list[str]}),
                collect=(Collect("finding", "findings"),),
            )
        )
        .task("research/merge", "research", uses({"findings": list[str]}, {"report": str}), "model")
        .way("@entry", "research/plan", "research/each#fork")
        .way("research/each#fork", "research/each/look/search", label=BODY)
        .way("research/each#fork", "research/each#join", label=EMPTY)
        .way("research/each/look/search", "research/each/look/sum_up", "research/each#join", "research/merge", "@exit")
        .key("@entry", "research/plan", "topic", str)
        .key("research/plan", "research/each#fork", "plan", dict)
        .key("research/each#fork", "research/each/look/search", "query", str)
        .key("@entry", "research/each/look/search", "topic", str)
        .key("research/each/look/search", "research/each/look/sum_up", "hits", list)
        .key("research/each/look/sum_up", "research/each#join", "finding", str)
        .key("research/each#join", "research/merge", "findings", list[str])
        .graph()
    )


def short_drafts() -> Graph:
    """A sub-flow with an exit test, keys in and out, and its own scope."""
    scope = "main/short/"
    inner = {f"{scope}text": str}
    summary = {f"{scope}summary": str}
    crossing_in, crossing_out = Crossing({f"{scope}text": "draft"}), Crossing({"short_draft": f"{scope}summary"})
    loop = "main/short/again"
    return (
        Draft(
            "drafts",
            {"main": "sequence", "main/short": "subflow", loop: "loop"},
            {loop: "up to 3, until len(summary) < 200"},
        )
        .task("main/writer", "main", uses({}, {"draft": str}), "model", model="tiny-1")
        .task(
            "main/short#inputs",
            "main/short",
            uses({"draft": str}, inner),
            "glue",
            fresh=scope,
            body=crossing_in,
        )
        .node(LoopHeader(f"{loop}#header", loop, uses(summary), bound=3, until=key(f"{scope}summary").len() < 200))
        .task(f"{loop}/cut", loop, uses({**inner, **summary}, summary), "model", scope=scope)
        .node(Join(f"{loop}#exit", loop, exclusive=True))
        .task(
            "main/short#outputs",
            "main/short",
            uses(summary, {"short_draft": str}),
            "glue",
            fresh=scope,
            body=crossing_out,
        )
        .task("main/send", "main", uses({"short_draft": str, "draft": str}))
        .way("@entry", "main/writer", "main/short#inputs", f"{loop}#header")
        .way(f"{loop}#header", f"{loop}/cut", label=BODY)
        .way(f"{loop}/cut", f"{loop}#header", back=True)
        .way(f"{loop}#header", f"{loop}#exit", label=EXIT)
        .way(f"{loop}#exit", "main/short#outputs", "main/send", "@exit")
        .key("main/writer", "main/short#inputs", "draft", str)
        .key("main/short#inputs", f"{loop}/cut", f"{scope}text", str)
        .key(f"{loop}/cut", f"{loop}/cut", f"{scope}summary", str)
        .key(f"{loop}/cut", f"{loop}#header", f"{scope}summary", str)
        .key(f"{loop}/cut", "main/short#outputs", f"{scope}summary", str)
        .key("main/short#outputs", "main/send", "short_draft", str)
        .key("main/writer", "main/send", "draft", str)
        .graph()
    )


def story() -> Graph:
    """A custom agent whose code calls two models and a pair of checks side by side, then a stage that reads the result."""
    flow = "main/story"
    checks = f"{flow}/checks"
    draft = Draft("story", {"main": "sequence", flow: "custom", checks: "parallel"})
    draft.task(f"{flow}#code", flow, uses({"tone": str, "topic": str}), "custom")
    for child in ("generate", "revise"):
        draft.task(f"{flow}/{child}", flow, uses({"topic": str}, {"story": str}), "model", model="tiny-1")
        draft.node(Join(f"{flow}/{child}#return", flow, exclusive=True))
        draft.way(f"{flow}#code", f"{flow}/{child}", label=f"{CALL}{child}").way(
            f"{flow}/{child}", f"{flow}/{child}#return"
        )
        draft.way(f"{flow}/{child}#return", f"{flow}#code", back=True)
    draft.node(Fork(f"{checks}#fork", checks))
    draft.task(f"{checks}/grammar", checks, uses({"story": str}, {"faults": list[str]}), "model")
    draft.task(f"{checks}/mood", checks, uses({"story": str}, {"tone": str}), "model")
    draft.node(Join(f"{checks}#join", checks), Join(f"{flow}/checks#return", flow, exclusive=True))
    draft.task("main/print", "main", uses({"story": str, "faults": list[str]}))
    draft.way("@entry", f"{flow}#code", "main/print", "@exit")
    draft.way(f"{flow}#code", f"{checks}#fork", f"{checks}/grammar", f"{checks}#join", label=f"{CALL}checks")
    draft.way(f"{checks}#fork", f"{checks}/mood", f"{checks}#join", f"{flow}/checks#return")
    draft.way(f"{flow}/checks#return", f"{flow}#code", back=True)
    for child in ("generate", "revise"):
        draft.key("@entry", f"{flow}/{child}", "topic", str)
        draft.key(f"{flow}/{child}", f"{checks}/grammar", "story", str).key(
            f"{flow}/{child}", f"{checks}/mood", "story", str
        )
        draft.key(f"{flow}/{child}", "main/print", "story", str)
    draft.key("@entry", f"{flow}#code", "topic", str).key(f"{checks}/mood", f"{flow}#code", "tone", str)
    draft.key(f"{checks}/grammar", "main/print", "faults", list[str])
    return draft.graph()


def triage() -> Graph:
    """A graph: a router with a default and a way back, a fork, a join that gathers, a question, and two ends."""
    flow = "triage"
    kinds = Literal["BUG", "BILLING", "OTHER"]
    draft = Draft("triage", {flow: "workflow"})
    draft.node(LoopHeader(f"{flow}/classify#header", flow))
    draft.task(f"{flow}/classify", flow, uses({"message": str}, {"category": kinds}), "model", model="tiny-1")
    arms = (*(Arm(c, Is(key("category"), c)) for c in ("BUG", "BILLING", "AGAIN")), Arm("default"))
    draft.node(Branch(f"{flow}/classify#route", flow, uses({"category": kinds}), None, arms, None, "category", True))
    draft.task(f"{flow}/close", flow)
    draft.node(Fork(f"{flow}/classify#fork2", flow))
    draft.task(f"{flow}/search", flow, output="out:search").task(
        f"{flow}/blame", flow, output="out:blame", retry=RetryPolicy(3)
    )
    gathered = tuple(Gathered(f"{flow}/{name}", "next", name, f"out:{name}") for name in ("search", "blame"))
    contract = uses({"out:search": str, "out:blame": str}, {"in:answer": dict[str, str]})
    draft.node(Join(f"{flow}/answer#join", flow, contract, gather=gathered))
    draft.task(f"{flow}/answer", flow, uses({"in:answer": dict[str, str]}, {"answer": str}), "model", model="tiny-1")
    draft.task(
        f"{flow}/approve",
        flow,
        uses({"message": str}, {"approval": kinds}),
        "ask",
        output="out:approve",
    )
    draft.task(f"{flow}/refund", flow, uses({"out:approve": str}))
    draft.node(Join(f"{flow}#end", flow))
    draft.way("@entry", f"{flow}/classify#header")
    draft.way(f"{flow}/classify#header", f"{flow}/classify", f"{flow}/classify#route", label=BODY)
    draft.way(f"{flow}/classify#route", f"{flow}/classify#fork2", f"{flow}/search", f"{flow}/answer#join", label="BUG")
    draft.way(f"{flow}/classify#fork2", f"{flow}/blame", f"{flow}/answer#join", f"{flow}/answer", f"{flow}#end")
    draft.way(f"{flow}/classify#route", f"{flow}/approve", f"{flow}/refund", f"{flow}#end", label="BILLING")
    draft.way(f"{flow}/classify#route", f"{flow}/classify#header", label="AGAIN", back=True)
    draft.way(f"{flow}/classify#route", f"{flow}/close", f"{flow}#end", "@exit", label="default")
    draft.key("@entry", f"{flow}/classify", "message", str).key(
        f"{flow}/classify", f"{flow}/classify#route", "category", kinds
    )
    for name in ("search", "blame"):
        draft.key(f"{flow}/{name}", f"{flow}/answer#join", f"out:{name}", str)
    draft.key(f"{flow}/answer#join", f"{flow}/answer", "in:answer", dict[str, str])
    draft.key("@entry", f"{flow}/approve", "message", str).key(f"{flow}/approve", f"{flow}/refund", "out:approve", str)
    return draft.graph()


def guards() -> Graph:
    """A loop that is tried three times with another writer for the worst case, in parallel with a stage that has a fallback."""
    flow = "main/pair"
    loop, tried = f"{flow}/refine", f"{flow}/refine#guard"
    draft = Draft(
        "guards",
        {"main": "sequence", flow: "parallel", tried: "guard", loop: "loop"},
        {loop: "up to 2", tried: "up to 3 attempts"},
    )
    draft.node(Fork(f"{flow}#fork", flow, group=Group(f"{flow}#join", need=1, failures="collect", limit=2)))
    draft.node(Fork(f"{loop}#try", tried, group=Group(f"{loop}#end", retry=RetryPolicy(3), timeout=30.0)))
    draft.node(LoopHeader(f"{loop}#header", loop, bound=2))
    draft.task(f"{loop}/write", loop, uses({}, {"text": str}), "model", model="tiny-1")
    draft.task(f"{loop}/judge", loop, uses({"text": str}))
    draft.node(Join(f"{loop}#exit", loop, uses({}, {"how": str}), exclusive=True, exit_key="how"))
    draft.node(Join(f"{loop}#end", tried, exclusive=True))
    draft.task(f"{flow}/plain", flow, uses({}, {"text": str}), "model", model="tiny-0")
    draft.node(Join(f"{loop}#handled", flow, exclusive=True))
    draft.task(f"{flow}/score", flow, uses({}, {"score": int}), retry=RetryPolicy(5), timeout=2.5)
    draft.task(f"{flow}/score#fallback", flow, uses({}, {"score": int}), "glue", body=Constants({"score": 0}))
    draft.node(Join(f"{flow}/score#handled", flow, exclusive=True), Join(f"{flow}#join", flow))
    draft.task("main/show", "main", uses({"text": str, "score": int, "how": str}))
    draft.way("@entry", f"{flow}#fork", f"{loop}#try")
    draft.way(f"{loop}#try", f"{loop}#header", label=BODY).way(
        f"{loop}#header", f"{loop}/write", f"{loop}/judge", label=BODY
    )
    draft.way(f"{loop}/judge", f"{loop}#header", back=True).way(f"{loop}/judge", f"{loop}#exit", label=ESCALATE)
    draft.way(f"{loop}#header", f"{loop}#exit", f"{loop}#end", f"{loop}#handled", label=EXIT)
    draft.way(f"{loop}#end", f"{flow}/plain", f"{loop}#handled", f"{flow}#join", label=ERROR)
    draft.way(f"{flow}#fork", f"{flow}/score", f"{flow}/score#handled", f"{flow}#join")
    draft.way(f"{flow}/score", f"{flow}/score#fallback", f"{flow}/score#handled", label=ERROR)
    draft.way(f"{flow}#join", "main/show", "@exit")
    draft.key(f"{loop}/write", f"{loop}/judge", "text", str).key(f"{loop}/write", "main/show", "text", str)
    draft.key(f"{flow}/plain", "main/show", "text", str).key(f"{flow}/score", "main/show", "score", int)
    draft.key(f"{flow}/score#fallback", "main/show", "score", int).key(f"{loop}#exit", "main/show", "how", str)
    return draft.graph()


SHAPES = {"research": research, "drafts": short_drafts, "story": story, "triage": triage, "guards": guards}
"""Name -> what makes the graph."""

PICTURES = {"map": research, "subflow": short_drafts, "custom": story, "workflow": triage, "guards": guards}
"""Name of a picture in the documentation -> what makes its graph."""

if __name__ == "__main__":
    for name, make in PICTURES.items():
        draw_graph(make(), None, Path(__file__).parents[2] / "docs" / "pictures" / f"{name}.svg")
