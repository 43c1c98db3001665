"""What a node costs: microseconds of CPU per node of a chain of async function agents, beside a plain loop of awaits.

::

    python -m tests.benchmarks.chain
    nodes   us/node   plain us/node   ratio
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import anyio

from graphflow import Flow, FunctionAgent, SequentialAgent

SIZES = (10, 100, 1000)
ROUNDS = 15


async def increment(x: int) -> int:
    """The body of every node."""
    return x + 1


def chain(nodes: int) -> Flow:
    """A sequence of nodes that each read and write the same key."""
    stages = [FunctionAgent(name=f"n{number}", func=increment, writes="x") for number in range(nodes)]
    return Flow(SequentialAgent("chain", stages), inputs={"x": int})


async def plain(nodes: int) -> dict[str, Any]:
    """The same by hand."""
    state = {"x": 0}
    for _ in range(nodes):
        state = {**state, "x": await increment(state["x"])}
    return state


async def seconds(work: Callable[[], Awaitable[object]], repeat: int) -> float:
    """CPU time of some executions."""
    started = time.process_time()
    for _ in range(repeat):
        await work()
    return time.process_time() - started


async def main() -> None:
    """Measure each size, the chain and the plain loop in turn."""
    print("nodes   us/node   plain us/node   ratio")
    for nodes in SIZES:
        flow = chain(nodes)
        result = await flow.run({"x": 0})
        assert result.state["x"] == nodes
        assert await plain(nodes) == result.state
        repeat = max(1, 1000 // nodes)
        works = (partial(flow.run, {"x": 0}), partial(plain, nodes))
        times = [[await seconds(work, repeat) for work in works] for _ in range(ROUNDS)]
        each = [statistics.median(column) / (nodes * repeat) * 1e6 for column in zip(*times, strict=True)]
        print(f"{nodes:5d}   {each[0]:7.1f}   {each[1]:13.3f}   {each[0] / each[1]:5.0f}")


if __name__ == "__main__":
    anyio.run(main)
