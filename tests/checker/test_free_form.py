"""Concurrency and the state rules on free-form graphs say exactly what a brute-force explorer finds."""

from __future__ import annotations

from itertools import combinations

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from graphflow import DEFAULT_ROUTE, END, START, Flow, FunctionAgent, Key, Merge, Workflow
from graphflow.analysis.facts import Facts
from tests.checker.free_exploring import Explored, Graph, Node, Shape, codes, executions, races

KEYS = ("a", "b", "m")
MERGED = frozenset({"m"})
MOST = 1500


def plain(ctx):
    return {}


def routed(ctx):
    ctx.route = ctx.node
    return {}


def several() -> list[str]:
    return []


def flow_of(graph: Graph, inputs: tuple[str, ...] = (), outputs: tuple[str, ...] = ()) -> Flow:
    """Build the flow that the graph describes."""
    agents = {}
    for node in graph.nodes:
        body = several if node.many else routed if node.routes else plain
        agents[node.name] = FunctionAgent(
            node.name, body, reads=[*node.reads, *(f"{key}?" for key in node.optional)],
            writes=list(node.writes), may_write=list(node.may_write),
        )  # fmt: skip
    agents["END"] = END
    edges = [(START, agents[target]) for target in graph.start]
    for node in graph.nodes:
        edges += [(agents[node.name], agents[target]) for target in node.to]
        ways = [tuple(agents[target] for target in route) for route in node.routes]
        names = [f"r{n}" if n or node.many else DEFAULT_ROUTE for n in range(len(ways))]
        if ways:
            routes = {name: way if len(way) > 1 else way[0] for name, way in zip(names, ways, strict=True)}
            edges.append((agents[node.name], routes))
    keys = [Key(name, list, merge=Merge.extend) for name in sorted(MERGED)]
    return Flow(
        Workflow("w", edges), inputs=dict.fromkeys(inputs, str), outputs=list(outputs), keys=keys,
    )  # fmt: skip


def dominates(graph: Graph, first: str, second: str) -> bool:
    """Whether every path from the start to `second` leads through `first`."""
    nodes = {node.name: node for node in graph.nodes}
    pending = [name for name in graph.start if name != first]
    seen = set(pending)
    while pending:
        for target in nodes[pending.pop()].targets:
            if target not in (first, "END", *seen):
                seen.add(target)
                pending.append(target)
    return second not in seen


some_keys = st.lists(st.sampled_from(KEYS), max_size=2, unique=True).map(tuple)


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Draw a graph whose nodes are all reached and whose cycles are natural loops."""
    count = draw(st.integers(2, 7))
    names = [f"n{index}" for index in range(count)]
    first = draw(st.integers(0, 3)) == 0
    start = tuple(dict.fromkeys(["n0", *([draw(st.sampled_from(names[1:]))] if first else [])]))
    sources = [draw(st.integers(0, index - 1)) for index in range(1, count)]
    onward: dict[str, list[str]] = {name: [] for name in names}
    for index, source in enumerate(sources, 1):
        onward[names[source]].append(names[index])
    for _ in range(draw(st.integers(0, count))):
        low, high = sorted(draw(st.lists(st.integers(0, count - 1), min_size=2, max_size=2, unique=True)))
        onward[names[low]].append(names[high])
    nodes = [Node(name, to=tuple(dict.fromkeys(onward[name]))) for name in names]
    graph = Graph(start, tuple(nodes))
    for _ in range(draw(st.sampled_from([0, 1, 1, 2]))):
        high = draw(st.integers(0, count - 1))
        headers = [low for low in range(high + 1) if dominates(graph, names[low], names[high])]
        low = draw(st.sampled_from(headers)) if headers else high
        if headers and names[low] not in nodes[high].to:
            nodes[high] = nodes[high]._replace(to=(*nodes[high].to, names[low]))
            graph = Graph(start, tuple(nodes))
    return Graph(start, tuple(_detailed(draw, node, names) for node in nodes))


def _detailed(draw: st.DrawFn, node: Node, names: list[str]) -> Node:
    """Give a node reads and writes, and make routes of some of its edges."""
    targets = [*node.to, *(["END"] if draw(st.integers(0, 3)) == 0 and node.to else [])]
    order = {name: index for index, name in enumerate(names)}
    routed_ones = [t for t in targets if draw(st.booleans()) or order.get(t, 99) <= order[node.name]]
    routes: list[tuple[str, ...]] = []
    for target in routed_ones:
        if routes and draw(st.integers(0, 3)) == 0:
            routes[-1] = (*routes[-1], target)
        else:
            routes.append((target,))
    if len(routes) == 1:
        routes.append(("END",) if "END" not in routes[0] or not node.to else node.to[:1])
    to = tuple(target for target in targets if target not in routed_ones)
    many = bool(routes) and draw(st.integers(0, 4)) == 0
    reads, writes = draw(some_keys), draw(some_keys) if not many else ()
    split = draw(st.booleans())
    return node._replace(
        reads=reads[:1] if split else (), optional=reads[1:] if split else reads,
        writes=writes[:1], may_write=writes[1:], to=to, routes=tuple(routes), many=many,
    )  # fmt: skip


STATE = ("GF201", "GF202", "GF205", "GF302")


def assert_agrees(graph: Graph, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> None:
    flow = flow_of(graph, inputs, outputs)
    report = flow.check()
    assume(not {"GF104", "GF105", "GF106"} & set(report.codes))
    found = executions(graph, inputs, MERGED, MOST)
    assume(found is not None)
    assert isinstance(found, Explored)
    assert ("GF109" in report.codes) == found.torn
    assume(not found.torn and found.ends)
    ran = {name for pair in found.beside for name in pair}
    facts = Facts(flow.graph)
    for left, right in combinations([node.name for node in graph.nodes], 2):
        said = facts.concurrency.concurrent(f"w/{left}", f"w/{right}")
        assert said == (frozenset({left, right}) in found.beside), (left, right, said, ran)
    raced = races(graph, found, MERGED)
    assert {f.key for f in report if f.code == "GF301"} == raced
    codes_found: dict[tuple[str, str], set[str]] = {}
    for finding in report:
        if finding.code in STATE and finding.key not in raced:
            codes_found.setdefault((finding.node.removeprefix("w/"), finding.key or ""), set()).add(finding.code)
    wanted = {place: some for place, some in codes(graph, found).items() if place[1] not in raced}
    assert {place: frozenset(some) for place, some in codes_found.items()} == wanted
    missing = {key for key in outputs if any(key not in end for end in found.ends)}
    assert {f.key for f in report if f.code == "GF211"} == missing


@settings(max_examples=120)
@given(graphs(), some_keys, some_keys)
def test_the_checker_says_what_the_explorer_finds(
    graph: Graph, inputs: tuple[str, ...], outputs: tuple[str, ...]
) -> None:
    assert_agrees(graph, inputs[:1], outputs)


def test_the_explorer_runs_loops_and_forks() -> None:
    """What everything else here rests on, by hand."""
    graph = Graph(
        ("a",),
        (
            Node("a", writes=("a",), to=("b", "c")),
            Node("b", writes=("b",), routes=(("b",), ("d",))),
            Node("c", reads=("a",), to=("d",)),
            Node("d", reads=("b",)),
        ),
    )
    found = executions(graph, (), MERGED, MOST)
    assert found is not None
    assert Shape(graph).loops == {"b": {"b"}}
    assert found.beside == {frozenset({"b", "c"})}
    assert codes(graph, found) == {}
