"""`graphflow.ir`: invariants, stable ids and text, and cost that grows with the size of the pipeline only."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from graphflow import ConditionalAgent, Flow, FunctionAgent, Gate, LoopAgent, ParallelAgent, SequentialAgent, key
from graphflow.agents import Agent
from graphflow.checker.engine import check_graph
from graphflow.errors import InternalError
from graphflow.ir.builder import build
from graphflow.ir.graph import Graph, verify
from graphflow.ir.nodes import Edge, Entry, Interface, agent_path
from graphflow.ir.text import print_graph
from graphflow.passes import run_passes


def stage(name: str, *reads: str, writes: str | None = None) -> Agent:
    return FunctionAgent(name, lambda ctx: None, reads=list(reads), writes=[writes] if writes else [], may_write=[])


def everything() -> Flow:
    loop = LoopAgent("loop", [stage("a", "n?", writes="n"), stage("b", "n")], until=key("n") > 2, max_iterations=3)
    pair = ParallelAgent("pair", [loop, ConditionalAgent("choose", when=key("v"), then=stage("c", writes="c"))])
    return Flow(SequentialAgent("root", [pair, Gate("gate", key("v")), stage("d", "n", "c?")]), inputs={"v": bool})


def planted(change: Callable[[Graph], Graph]) -> str:
    graph = everything().graph
    verify(graph)
    with pytest.raises(InternalError) as raised:
        verify(change(graph))
    return str(raised.value)


def without(graph: Graph, source: str, target: str) -> Graph:
    kept = tuple(edge for edge in graph.edges if (edge.source, edge.target) != (source, target))
    assert len(kept) == len(graph.edges) - 1
    return replace(graph, edges=kept)


def plus(graph: Graph, *edges: Edge) -> Graph:
    return replace(graph, edges=(*graph.edges, *edges))


FAULTS: dict[str, tuple[Callable[[Graph], Graph], str]] = {
    "an arm without an edge": (
        lambda g: without(g, "root/pair/choose#branch", "root/pair/choose/c"), "for arms",
    ),
    "a second edge for an arm": (
        lambda g: plus(g, Edge("root/pair/choose#branch", "root/d", "then")), "for arms",
    ),
    "an edge to nowhere": (lambda g: plus(g, Edge("root/d", "root/lost")), "ends nowhere"),
    "an edge from nowhere": (lambda g: plus(g, Edge("root/lost", "root/d")), "ends nowhere"),
    "an edge twice": (lambda g: plus(g, g.edges[0]), "stands twice"),
    "a back edge to a task": (
        lambda g: plus(g, Edge("root/d", "root/gate", back=True)), "does not end at a loop header",
    ),
    "a cycle that is not marked": (
        lambda g: replace(g, edges=tuple(replace(edge, back=False) for edge in g.edges)), "without a marked back edge",
    ),
    "a way out of the exit": (lambda g: plus(g, Edge("@exit", "root/d")), "has out-edges"),
    "a way into the entry": (lambda g: plus(g, Edge("root/d", "@entry")), "has in-edges"),
    "a join that ends": (lambda g: without(g, "root/pair#join", "root/gate"), "leads nowhere"),
    "two entries": (
        lambda g: replace(g, nodes={"@second": Entry("@second", ""), **g.nodes}), "2 Entry nodes",
    ),
    "no exit": (
        lambda g: replace(g, nodes={k: v for k, v in g.nodes.items() if k != "@exit"}), "0 Exit nodes",
    ),
    "a node under another id": (
        lambda g: replace(g, nodes={("x" if k == "root/d" else k): v for k, v in g.nodes.items()}), "is filed as",
    ),
    "a node in no region": (
        lambda g: replace(g, nodes={k: replace(v, region="q") if k == "root/d" else v for k, v in g.nodes.items()}),
        "unknown region",
    ),
    "a node that its region does not list": (
        lambda g: replace(g, regions={k: replace(v, items=v.items[:-1]) for k, v in g.regions.items()}),
        "do not hold each node once",
    ),
    "a node that is listed twice": (
        lambda g: replace(g, regions={k: replace(v, items=(*v.items, *v.items[-1:])) for k, v in g.regions.items()}),
        "do not hold each node once",
    ),
    "a region with an unknown parent": (
        lambda g: replace(g, regions={k: replace(v, parent="q") if k == "root" else v for k, v in g.regions.items()}),
        "unknown parent",
    ),
    "an order against the edges": (
        lambda g: replace(g, nodes=dict(reversed(g.nodes.items()))), "not topological",
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_verify_finds_a_planted_fault(fault: str) -> None:
    change, said = FAULTS[fault]
    assert said in planted(change)


def test_verify_names_all_faults_at_once() -> None:
    message = planted(lambda g: plus(g, Edge("@exit", "root/d"), Edge("root/d", "@entry")))
    assert "has out-edges" in message
    assert "has in-edges" in message


def test_the_same_program_gives_the_same_text() -> None:
    assert print_graph(everything().graph) == print_graph(everything().graph)
    assert print_graph(run_passes(everything().graph)) == print_graph(everything().graph)


def test_ids_are_paths_of_names_and_tell_places_apart() -> None:
    inner = [SequentialAgent("t", [stage("a")]) for _ in range(2)]
    twice = SequentialAgent("s", [stage("a"), stage("a"), *inner])
    ids = [id_ for id_ in Flow(twice).graph.nodes if not id_.startswith("@")]
    assert ids == ["s/a", "s/a#2", "s/t/a", "s/t#2/a"]
    assert [agent_path(id_) for id_ in ids] == ids
    assert agent_path("s/t#fork") == "s/t"


SCRIPT = """
from tests.ir.test_graph import everything
from graphflow.ir.text import print_graph
print(print_graph(everything().graph))
print(everything().check())
"""


def test_the_text_is_the_same_in_every_process() -> None:
    root = str(Path.cwd())
    texts = set()
    for seed in ("0", "1", "42"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": root}
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True
        )
        texts.add(done.stdout)
    assert len(texts) == 1
    assert print_graph(everything().graph) in texts.pop()


@pytest.mark.parametrize("kind", ["sequence", "parallel", "loop", "conditional", "mixed"])
def test_nesting_has_no_limit(kind: str) -> None:
    """500 deep, far beyond what recursion would allow; the innermost read is still checked."""
    around: dict[str, Callable[[str, Agent], Agent]] = {
        "sequence": lambda name, inner: SequentialAgent(name, [inner]),
        "parallel": lambda name, inner: ParallelAgent(name, [inner]),
        "loop": lambda name, inner: LoopAgent(name, [inner], max_iterations=2),
        "conditional": lambda name, inner: ConditionalAgent(name, when=key("v"), then=inner),
    }
    kinds = list(around) if kind == "mixed" else [kind]
    tree: Agent = stage("leaf", "missing")
    for depth in range(500):
        tree = around[kinds[depth % len(kinds)]](f"n{depth}", tree)
    flow = Flow(tree, inputs={"v": bool})
    verify(flow.graph)
    found = flow.check()
    assert [finding.key for finding in found if finding.code == "GF201"] == ["missing"]
    assert print_graph(flow.graph).count("\n") > 500


def chain(length: int) -> Agent:
    stages = [stage(f"s{i}", f"k{i - 1}" if i else "start", writes=f"k{i}") for i in range(length)]
    return SequentialAgent("chain", stages)


def wide(width: int) -> Agent:
    return SequentialAgent("root", [
        ParallelAgent("wide", [stage(f"s{i}", "start", writes=f"k{i}") for i in range(width)]),
        stage("end", *(f"k{i}" for i in range(width))),
    ])  # fmt: skip


def loop(length: int) -> Agent:
    return LoopAgent("loop", list(chain(length).children()), max_iterations=3)


def work(run: Callable[[], object]) -> int:
    """Count the calls, of Python and of built-in functions, that something takes."""
    calls = 0

    def profile(frame: object, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(profile)
    try:
        run()
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize("shape", [chain, wide, loop])
def test_the_work_grows_with_the_size(shape: Callable[[int], Agent]) -> None:
    """Four times the stages take about four times the calls, for lowering, linking and checking together."""

    def of(size: int) -> int:
        tree = shape(size)
        interface = Interface(inputs=Flow(tree, inputs={"start": str}).interface.inputs)
        return work(lambda: check_graph(run_passes(build(tree, interface))))

    small, large = of(250), of(1000)
    assert large < 5 * small, f"{small} calls for 250 stages, {large} for 1000"
