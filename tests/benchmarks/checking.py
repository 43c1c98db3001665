"""What the check of a pipeline costs: seconds of CPU to lower and check it, beside what making its agents costs.

Two sizes of each shape, so that growth shows; every graph is made, lowered and checked anew, in one run::

    python -m tests.benchmarks.checking
    python -m tests.benchmarks.checking chain layers
    python -m tests.benchmarks.checking chain --sizes 1000,100000
    shape        nodes   make s   lower s   check s   lower and check s   peak MB
"""

from __future__ import annotations

import argparse
import gc
import itertools
import resource
import time
from collections.abc import Callable

from graphflow import (
    ConditionalAgent,
    Flow,
    FunctionAgent,
    Key,
    LoopAgent,
    Merge,
    ParallelAgent,
    SequentialAgent,
    key,
)
from graphflow.agents.base import Agent
from graphflow.workflow import END, START, Workflow

READS = 3
WIDTH = 10


def body() -> int:
    """The body of every node."""
    return 1


def stage(number: int, reads: list[str], writes: str | None = None) -> FunctionAgent:
    """One node that reads some keys and writes one."""
    return FunctionAgent(name=f"n{number}", func=body, reads=reads, writes=writes or f"k{number}")


def before(number: int, count: int = READS) -> list[str]:
    """Name the keys that the nodes just before one write, the input where there are none."""
    return [f"k{other}" for other in range(max(0, number - count), number)] or ["seed"]


def chain(nodes: int) -> Flow:
    """Each node reads what the three before it wrote."""
    stages = [stage(number, before(number)) for number in range(nodes)]
    return Flow(SequentialAgent("chain", stages), inputs={"seed": int}, outputs=last(nodes))


def last(nodes: int) -> list[str]:
    """The keys that nobody reads on the way."""
    return [f"k{number}" for number in range(max(0, nodes - WIDTH), nodes)]


def above(number: int) -> list[int]:
    """Number the nodes of the layer above that a node comes after."""
    layer, place = divmod(number, WIDTH)
    return [(layer - 1) * WIDTH + (place + step) % WIDTH for step in range(READS)] if layer else []


def layers(nodes: int) -> Flow:
    """A free-form graph of layers: each node comes after three nodes of the layer above and reads what they wrote."""
    stages = [stage(number, [f"k{other}" for other in above(number)] or ["seed"]) for number in range(nodes)]
    edges: list[object] = [(START, stages[number]) for number in range(WIDTH)]
    edges += [(stages[other], stages[number]) for number in range(nodes) for other in above(number)]
    edges += [(stages[number], END) for number in range(nodes - WIDTH, nodes)]
    return Flow(Workflow("layers", edges=edges), inputs={"seed": int}, outputs=last(nodes))


def levels(nodes: int) -> Flow:
    """A sequence of parallels: each stage reads what three of the level above wrote."""
    stages = [stage(number, [f"k{other}" for other in above(number)] or ["seed"]) for number in range(nodes)]
    parts: list[Agent] = [
        ParallelAgent(f"level{start}", stages[start : start + WIDTH]) for start in range(0, nodes, WIDTH)
    ]
    return Flow(SequentialAgent("levels", parts), inputs={"seed": int}, outputs=last(nodes))


def fan(nodes: int) -> Flow:
    """One stage, many beside each other that all add to one key and read three, one that reads it."""
    first = FunctionAgent(name="first", func=body, writes=["a", "b", "c"])
    middle = [stage(number, ["a", "b", "c"], "all") for number in range(nodes)]
    end = FunctionAgent(name="end", func=body, reads=["all"], writes="end")
    root = SequentialAgent("fan", [first, ParallelAgent("middle", middle), end])
    return Flow(root, inputs={}, outputs=["end"], keys=[Key("all", int, merge=Merge.sum)])


def shared(nodes: int) -> Flow:
    """In a loop, every stage reads and writes one key."""
    stages = [stage(number, ["one"], "one") for number in range(nodes)]
    return Flow(
        LoopAgent("shared", stages, until=key("one") > 3, max_iterations=9), inputs={"one": int}, outputs=["one"]
    )


def maybe(nodes: int) -> Flow:
    """Every stage is skipped or not, and reads and writes one key: every write may reach every later read."""
    stages: list[Agent] = [
        ConditionalAgent(f"c{number}", when=key(f"v{number % 5}"), then=stage(number, ["one"], "one"))
        for number in range(nodes)
    ]
    inputs = {"one": int, **{f"v{number}": bool for number in range(5)}}
    return Flow(LoopAgent("maybe", stages, until=key("one") > 3, max_iterations=9), inputs=inputs, outputs=["one"])


def nested(nodes: int) -> Flow:
    """Loops, conditionals and parallels in turn, each in the one before."""
    agent: Agent = stage(0, ["seed"])
    for number in range(1, nodes):
        own = stage(number, [f"k{number - 1}?", "seed"])
        match number % 4:
            case 0:
                agent = LoopAgent(f"l{number}", [agent, own], max_iterations=2)
            case 1:
                agent = ConditionalAgent(f"c{number}", when=key("go"), then=agent, otherwise=own)
            case 2:
                agent = ParallelAgent(f"p{number}", [agent, own.clone({"reads": ["seed"]})])
            case _:
                agent = SequentialAgent(f"s{number}", [agent, own])
    return Flow(agent, inputs={"seed": int, "go": bool})


SHAPES: dict[str, tuple[Callable[[int], Flow], tuple[int, ...]]] = {
    "chain": (chain, (1000, 10_000)),
    "layers": (layers, (1000, 10_000)),
    "levels": (levels, (1000, 10_000)),
    "fan": (fan, (100, 1000)),
    "shared": (shared, (100, 1000)),
    "maybe": (maybe, (100, 1000)),
    "nested": (nested, (50, 100, 500)),
}


def measure(name: str, nodes: int) -> float:
    """Make, lower and check one program, print what each took, and give the time of the last two."""
    gc.collect()
    marks = [time.process_time()]
    flow = SHAPES[name][0](nodes)
    marks.append(time.process_time())
    edges = len(flow.graph.state)
    marks.append(time.process_time())
    report = flow.check()
    marks.append(time.process_time())
    assert not report.errors, report.errors[:3]
    make, lower, check = (later - earlier for earlier, later in itertools.pairwise(marks))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{name:10s} {nodes:8d} {make:8.2f} {lower:9.3f} {check:9.3f} {lower + check:19.3f} {peak:9.0f}"
        f"   {edges} state edges, {len(report.diagnostics)} findings",
        flush=True,
    )
    return lower + check


def main() -> None:
    """Measure the shapes asked for, each size in turn."""
    parser = argparse.ArgumentParser(description="What lowering and checking cost.")
    parser.add_argument("shapes", nargs="*", choices=[[], *SHAPES], help="which shapes; default: all")
    parser.add_argument("--sizes", help="numbers of nodes in place of the usual ones, with commas between")
    given = parser.parse_args()
    chain(10).check()
    print("shape         nodes   make s   lower s   check s   lower and check s   peak MB")
    for name in given.shapes or SHAPES:
        sizes = [int(size) for size in given.sizes.split(",")] if given.sizes else SHAPES[name][1]
        times = [measure(name, nodes) for nodes in sizes]
        if len(times) > 1:
            print(
                f"{name:10s} growth {times[-1] / times[0]:.1f}x for {sizes[-1] / sizes[0]:.0f}x the nodes", flush=True
            )


if __name__ == "__main__":
    main()
