"""What a picture of a flow shows: which nodes, frames and lines, with which labels, tooltips and marks for findings.

A scene knows the graph and the findings and no way of drawing: no DOT, no SVG, no colours, no coordinates::

    scene = build_scene(graph, report)
    [(node.id, node.kind) for node in scene.nodes]      [("start", "start"), ("n_draft", "model"), ("end", "end")]

Names and types are shortened; the tooltips have them in full. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from graphflow.ir.graph import Graph
from graphflow.ir.nodes import Branch, Node, Region, Task
from graphflow.render.elements import (
    Badge,
    Finding,
    Findings,
    Line,
    Run,
    Scene,
    SceneCluster,
    SceneEdge,
    SceneNode,
    Style,
    clean,
    shorten,
)
from graphflow.render.keys import Carried, carried
from graphflow.render.looks import AGENTS, NAME_LENGTH, TEST_LENGTH, TYPE_LENGTH, Looks, typed
from graphflow.render.routes import BACK, CALLING, FAILURE, RETURN, Route, drawn_nodes, routes

BADGES = 3
_GIVEN = "gives"
"""Before the keys that a called agent gives to the code that called it."""


def build_scene(graph: Graph, findings: Findings | None = None) -> Scene:
    """Decide what the picture of a graph shows.

    Args:
        graph: a linked graph.
        findings: what the check found, to be marked on the nodes; None marks nothing.

    Returns:
        The scene. Equal graphs and findings give equal scenes.
    """
    return _Assembly(graph, findings).scene()


class _Assembly:
    """One use of `build_scene`: what is drawn, under which ids."""

    def __init__(self, graph: Graph, findings: Findings | None) -> None:
        self.graph = graph
        self.looks = Looks(graph)
        self.lines = routes(graph)
        self.nodes = [graph.nodes[id_] for id_ in drawn_nodes(graph, self.lines)]
        self.empty = _empty_regions(graph, {node.id for node in self.nodes})
        self.clusters = [region for region in graph.regions.values() if self._is_framed(region)]
        unknown = [fault for fault in graph.faults if fault.kind == "unknown-target"]
        self.missing = {f"{fault.node}#missing/{fault.subject}": fault for fault in unknown}
        self.ids = _identifiers("n", [*(node.id for node in self.nodes), *self.empty, *self.missing])
        self.ids |= {graph.entry: "start", graph.exit: "end"}
        self.frames = _identifiers("c", [region.id for region in self.clusters])
        self.marks = self._placed(findings.diagnostics if findings is not None else ())

    def _is_framed(self, region: Region) -> bool:
        """Frames say something: a sequence is one only where it stands beside something else, a graph where it is a part.

        How something is tried is said in its own frame, or at the node: a guard has none.
        """
        if region.parent is None or region.kind == "guard":
            return False
        if any(around.id in self.empty for around in self.graph.enclosing(region.id)):
            return False
        if region.kind not in {"sequence", "workflow"} or self.looks.guard(region.id):
            return True
        around = next(r for r in self.graph.enclosing(region.parent) if r.kind != "guard" or r.parent is None)
        if around.kind == "root" or region.kind == "workflow":
            return around.kind != "root"
        beside = [item for item in around.items if item in self.graph.regions or _is_agent(self.graph.nodes[item])]
        return len(region.items) > 1 and len(beside) > 1

    def _placed(self, findings: Sequence[Finding]) -> dict[str, list[Finding]]:
        """Give each finding, by id in the scene, to the drawn thing nearest to its agent."""
        marks: dict[str, list[Finding]] = {}
        for finding in findings:
            marks.setdefault(self._place(finding.node), []).append(finding)
        return marks

    def _place(self, path: str) -> str:
        """Find the agent itself, its first part, what is around it, or the start."""
        if not path:
            return self.ids[self.graph.entry]
        own = self.ids.get(path) or self.frames.get(path)
        inside = (id_ for known, id_ in self.ids.items() if known.startswith((f"{path}/", f"{path}#")))
        return own or next(inside, None) or self._place(path.rpartition("/")[0])

    def scene(self) -> Scene:
        """Put it all together."""
        edges = tuple(self._edges())
        empty = (self._empty(self.graph.regions[id_]) for id_ in self.empty)
        nodes = (*(self._node(node) for node in self.nodes), *empty, *self._missing())
        title = shorten(self.graph.name, 80) or "flow"
        count = sum(1 for node in nodes if node.kind in AGENTS)
        return Scene(
            _slug(self.graph.name) or "flow",
            f"Flow {title}",
            _description(title, count, nodes, [finding for part in self.marks.values() for finding in part]),
            "LR" if _ranks(self.lines, [node.id for node in self.nodes]) <= 8 else "TB",
            nodes,
            tuple(self._cluster(region) for region in self.clusters),
            edges,
            tuple(self._orders()),
        )

    def _orders(self) -> Iterator[tuple[str, str]]:
        """What comes after a custom agent stands after the ends of its children, to which its code leads as well."""
        onward: dict[str, list[str]] = {}
        for line in self.lines:
            if line.kind not in {BACK, RETURN, CALLING}:
                onward.setdefault(line.source, []).append(line.target)
        for line in self.lines:
            if line.kind == RETURN and line.source != line.target:
                yield from ((self.ids[line.source], self.ids[target]) for target in onward.get(line.target, ()))

    def _around(self, region: str | None) -> str:
        return next((self.frames[around.id] for around in self.graph.enclosing(region) if around.id in self.frames), "")

    def _holds(self, node: Node) -> str:
        """Find the frame that a node is in; the end of a guard is in the frame of what is tried."""
        region = self.graph.regions[node.region]
        tried = next((self.frames[item] for item in region.items if item in self.frames), "")
        return tried if region.kind == "guard" and tried else self._around(node.region)

    def _node(self, node: Node) -> SceneNode:
        id_ = self.ids[node.id]
        found = self.marks.get(id_, [])
        tooltip = "\n".join([*self.looks.facts(node), *_told(found)])
        return SceneNode(id_, self.looks.kind(node), self.looks.lines(node), tooltip, _badges(found), self._holds(node))

    def _empty(self, region: Region) -> SceneNode:
        found = self.marks.get(self.ids[region.id], [])
        lines: tuple[Line, ...] = (
            (Run(self.looks.name(region.id), "name"),),
            (Run(f"empty {region.kind}", "small"),),
        )
        tooltip = "\n".join([f"{clean(region.id)}: {region.kind} with nothing in it", *_told(found)])
        return SceneNode(self.ids[region.id], "empty", lines, tooltip, _badges(found), self._around(region.parent))

    def _missing(self) -> Iterator[SceneNode]:
        """What edges lead to that is not in the graph."""
        for place, fault in self.missing.items():
            name = Run(shorten(fault.subject, NAME_LENGTH) or "(no name)", "name")
            tooltip = f"{clean(fault.node)} leads to {clean(fault.subject)}, which is not in the graph"
            node = self.graph.nodes.get(fault.node)
            around = self._around(node.region if node is not None else self._region(fault.node))
            yield SceneNode(
                self.ids[place], "missing", ((name,), (Run("not in the graph", "small"),)), tooltip, cluster=around
            )

    def _region(self, path: str) -> str:
        return path if path in self.graph.regions else ""

    def _faulty(self) -> Iterator[SceneEdge]:
        """Lines for what could not be lowered: to what is missing, and the second way into a cycle."""
        for place, fault in self.missing.items():
            yield self._edge(self._first(fault.node), place, "fault", (), "")
        for fault in self.graph.faults:
            if fault.kind == "irreducible-cycle":
                source = self._first(fault.related[0] if fault.related else self.graph.entry)
                words = (Run("second way into a cycle", "failure"),)
                yield self._edge(source, self._first(fault.subject), "fault", words, words[0].text)

    def _first(self, path: str) -> str:
        """Find the node of an agent, or the first one drawn in it; the start if there is none."""
        inside = (known for known in self.ids if known.startswith((f"{path}/", f"{path}#")))
        found = path if path in self.ids else next(inside, self.graph.entry)
        return self.graph.entry if found in self.missing else found

    def _cluster(self, region: Region) -> SceneCluster:
        found = self.marks.get(self.frames[region.id], [])
        tooltip = "\n".join([self.looks.described(region), *_told(found)])
        return SceneCluster(
            self.frames[region.id],
            region.kind,
            self.looks.title(region),
            tooltip,
            _badges(found),
            self._around(region.parent),
        )

    def _edges(self) -> Iterator[SceneEdge]:
        placed = carried(self.graph, self.lines)
        for line in self.lines:
            if line.kind == RETURN:
                continue
            keys, back = placed.brought.get(line, ()), placed.given.get(line, ())
            style: Style = "failure" if line.kind == FAILURE else "control"
            words = (Run(shorten(label, TEST_LENGTH) or "?", style) for label in line.labels)
            runs = (*words, *(_key(item) for item in keys), *(_key(item, _GIVEN) for item in back))
            told = [*(clean(label) for label in line.labels), *(typed(i.key, i.type) for i in keys)]
            tooltip = "\n".join([*told, *(f"{_GIVEN} {typed(item.key, item.type)}" for item in back)])
            yield self._edge(line.source, line.target, line.kind, runs, tooltip, returns=line.kind == BACK)
        for own in placed.apart:
            runs = tuple(_key(item) for item in own.keys)
            tooltip = "\n".join(typed(item.key, item.type) for item in own.keys)
            yield self._edge(own.writer, own.reader, "data", runs, tooltip, returns=own.back)
        yield from {edge.id: edge for edge in self._faulty()}.values()

    def _edge(
        self, source: str, target: str, kind: str, runs: tuple[Run, ...], tooltip: str, *, returns: bool = False
    ) -> SceneEdge:
        start, end = self.ids[source], self.ids[target]
        return SceneEdge(f"{kind}__{start}__{end}", start, end, kind, runs, tooltip, returns)


def _is_agent(node: Node) -> bool:
    return (isinstance(node, Task) and node.kind != "glue") or (isinstance(node, Branch) and node.halt is not None)


def _key(item: Carried, before: str = "") -> Run:
    name = shorten(item.key, NAME_LENGTH) or "?"
    text = name if item.type == "Any" else f"{name}: {shorten(item.type, TYPE_LENGTH)}"
    return Run(f"{before} {text}".lstrip(), "key")


def _told(findings: Sequence[Finding]) -> list[str]:
    return [clean(f"{f.severity} {f.code}: {f.message}" + (f" Help: {f.help}" if f.help else "")) for f in findings]


def _badges(findings: Sequence[Finding]) -> tuple[Badge, ...]:
    """Mark errors, then warnings; notes are in the tooltip only."""
    counts: dict[tuple[str, str], int] = {}
    for severity in ("error", "warning"):
        for finding in findings:
            if finding.severity == severity:
                counts[finding.code, severity] = counts.get((finding.code, severity), 0) + 1
    badges = [Badge(clean(code) + (f" x{n}" if n > 1 else ""), severity) for (code, severity), n in counts.items()]
    rest = badges[BADGES:]
    return (*badges[:BADGES], *((Badge(f"+{len(rest)}", rest[0].severity),) if rest else ()))


def _description(title: str, count: int, nodes: Sequence[SceneNode], findings: Sequence[Finding]) -> str:
    names = [run.text for node in nodes if node.kind in AGENTS for run in node.lines[0]]
    listed = ", ".join(names[:40]) + (", and more" if len(names) > 40 else "")
    told = "; ".join(f"{f.severity} {f.code} at {clean(f.node) or title}" for f in findings if f.severity != "info")
    text = f"Graph of the flow {title} with {count} agents" + (f": {listed}." if listed else ".")
    return text + (f" Findings: {told}." if told else "")


def _empty_regions(graph: Graph, drawn: set[str]) -> list[str]:
    """Find the outermost regions that nothing drawn is in, in canonical order."""
    full = {around.id for id_ in drawn for around in graph.enclosing(graph.nodes[id_].region)}
    return [id_ for id_, region in graph.regions.items() if id_ not in full and region.parent in full]


def _ranks(lines: Sequence[Route], order: Sequence[str]) -> int:
    """Count the nodes on the longest way, back edges left out."""
    depth = dict.fromkeys(order, 1)
    onward: dict[str, list[str]] = {}
    for line in lines:
        if line.kind not in {BACK, RETURN}:
            onward.setdefault(line.source, []).append(line.target)
    return _longest(onward, depth)


def _longest(onward: dict[str, list[str]], depth: dict[str, int]) -> int:
    waiting = dict.fromkeys(depth, 0)
    for targets in onward.values():
        for target in targets:
            waiting[target] += 1
    ready = [id_ for id_, count in waiting.items() if not count]
    while ready:
        id_ = ready.pop()
        for target in onward.get(id_, ()):
            depth[target] = max(depth[target], depth[id_] + 1)
            waiting[target] -= 1
            if not waiting[target]:
                ready.append(target)
    return max(depth.values())


def _slug(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "_", text)[:60].strip("_")


def _identifiers(prefix: str, paths: Sequence[str]) -> dict[str, str]:
    """Give each path an id made of its letters and digits; equal ones are numbered in order."""
    counts: dict[str, int] = {}
    ids: dict[str, str] = {}
    for path in paths:
        base = f"{prefix}_{_slug(path)}"
        counts[base] = counts.get(base, 0) + 1
        ids[path] = base if counts[base] == 1 else f"{base}__{counts[base]}"
    return ids
