"""A campaign: random free-form graphs, contracted by a reader and run by the machine in random orders of completion.

    python -m tests.long.free_form --runs 200000 --seed 0 --processes 2

Each graph is run with several behaviours of its steps, and each of these in several orders. A run that is none of those the
reader expects ends the campaign and names the seed that shows it.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from random import Random

from graphflow import Flow
from tests.programs.comparing import agree
from tests.programs.contracting import Account, Endless, contracted
from tests.programs.drawing import sound_graph
from tests.programs.graphs import GraphProgram
from tests.programs.hand import by_hand

SALTS, ORDERS = 5, 4
BATCH = 100
"""Graphs that one process is given at once."""


@dataclass
class Tally:
    """What a batch has seen: runs, graphs, endings, and the first disagreement."""

    runs: int = 0
    graphs: int = 0
    endings: Counter[str] = field(default_factory=Counter)
    fault: str = ""


def run_by_hand(
    program: GraphProgram, flow: Flow, inputs: dict[str, object], order: int
) -> tuple[str, dict[str, object]]:
    """Run once without an event loop, tasks completing in an order of chance."""
    program.ran.clear()
    machine = by_hand(flow, inputs, Random(order), check=lambda *_: None)
    ending = type(machine.error).__name__ if machine.status == "failed" else str(machine.status)
    return ending, machine.root.plain()


def account_of(program: GraphProgram, inputs: dict[str, object]) -> Account | None:
    """Read a program; None for one whose loops hardly end."""
    try:
        return contracted(program.graph, inputs, salt=program.salt)
    except Endless:
        return None


def batch(seed: int, start: int) -> Tally:
    """Run some graphs."""
    tally = Tally()
    for number in range(start, start + BATCH):
        program = GraphProgram(sound_graph(Random(f"{seed}/{number}"), tame=number % 3 == 0), None)
        flow = program.flow()
        tally.graphs += 1
        inputs: dict[str, object] = {"a": 2, "d": 1} if number % 2 else {"a": 2}
        values = {key.name: key.default for key in flow.interface.keys if key.name in ("b", "bag")} | inputs
        for program.salt in range(SALTS):
            account = account_of(program, inputs)
            if account is None:
                continue
            for order in range(ORDERS):
                try:
                    ending, state = run_by_hand(program, flow, values, order)
                    agree(account, ending, state, program.ran)
                except Exception as error:  # noqa: BLE001 - whatever it is, the seed must be named
                    tally.fault = (
                        f"sound_graph(Random('{seed}/{number}'), tame={number % 3 == 0}), salt {program.salt}, "
                        f"order {order}, inputs {inputs}: {type(error).__name__}: {error}"
                    )
                    return tally
                tally.runs += 1
                tally.endings[ending] += 1
    return tally


def tallies(seed: int, processes: int) -> Iterator[Tally]:
    """Batches without end, in order, a few ahead of the one that is read."""
    with ProcessPoolExecutor(processes) as pool:
        waiting = [pool.submit(batch, seed, place * BATCH) for place in range(2 * processes)]
        place = len(waiting)
        try:
            while True:
                yield waiting.pop(0).result()
                waiting.append(pool.submit(batch, seed, place * BATCH))
                place += 1
        finally:
            for future in waiting:
                future.cancel()


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args(arguments)
    total = Tally()
    began = shown = time.monotonic()
    for tally in tallies(options.seed, options.processes):
        total.runs += tally.runs
        total.graphs += tally.graphs
        total.endings += tally.endings
        if tally.fault:
            print(f"DISAGREEMENT after {total.runs} runs: {tally.fault}")
            return 1
        done = total.runs >= options.runs
        if done or time.monotonic() - shown > 10:
            shown = time.monotonic()
            print(f"{total.runs} runs of {total.graphs} graphs agree  [{shown - began:.0f}s]", flush=True)
        if done:
            print("endings: " + ", ".join(f"{ending} {count}" for ending, count in total.endings.most_common()))
            return 0
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
