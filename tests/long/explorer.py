"""A campaign: random programs, checked, and run in all ways by the brute-force explorers of `tests.checker`.

    python -m tests.long.explorer --programs 200000 --seed 0 --jobs 2

The first difference ends the campaign, with the smallest program that shows it. Each batch is one run of Hypothesis with a seed
of its own, so a program is found again by `--first BATCH --programs 1`.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import UnsatisfiedAssumption
from hypothesis.strategies import SearchStrategy, tuples

from tests.checker import test_explorer, test_free_form

BATCH = 200
"""Programs of one run of Hypothesis, which remembers all that it has drawn."""


@dataclass(frozen=True)
class Kind:
    """One explorer: what is drawn, how it is compared, and how large it is, construct by construct."""

    drawn: tuple[SearchStrategy[Any], ...]
    compare: Callable[..., None]
    constructs: Callable[..., Counter[str]]


@dataclass
class Tally:
    """What was compared: programs, programs that had to be left out, sizes and constructs, and the first difference."""

    programs: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    sizes: Counter[int] = field(default_factory=Counter)
    constructs: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0
    difference: str = ""

    def add(self, other: Tally) -> None:
        self.programs += other.programs
        self.left_out += other.left_out
        self.sizes += other.sizes
        self.constructs += other.constructs
        self.slowest = max(self.slowest, other.slowest)


def _of_tree(program: Any) -> Counter[str]:
    """Constructs of a program that is made of named tuples, whatever it calls them."""
    found: Counter[str] = Counter()
    pending = [program]
    while pending:
        part = pending.pop()
        if isinstance(part, tuple):
            if hasattr(part, "_fields"):
                found[type(part).__name__] += 1
            pending.extend(part)
    del found["Program"]
    return found


def _of_graph(graph: Any, *_: Any) -> Counter[str]:
    found: Counter[str] = Counter(node=len(graph.nodes), fork=len(graph.start) > 1)
    order = {node.name: place for place, node in enumerate(graph.nodes)}
    for node in graph.nodes:
        found["fork"] += len(node.to) > 1
        found["router"] += bool(node.routes)
        found["several routes"] += node.many
        found["cycle"] += any(order.get(target, len(order)) <= order[node.name] for target in node.targets)
        found["join"] += sum(node.name in other.targets for other in graph.nodes) > 1
    return found


KINDS = {
    "trees": Kind((test_explorer.programs(),), test_explorer.assert_agrees, _of_tree),
    "free-form": Kind(
        (test_free_form.graphs(), test_free_form.some_keys, test_free_form.some_keys),
        lambda graph, inputs, outputs: test_free_form.assert_agrees(graph, inputs[:1], outputs),
        _of_graph,
    ),
}


def batch(name: str, start: str) -> Tally:
    """Compare one batch of programs; a difference is made as small as Hypothesis can."""
    kind, tally, shown = KINDS[name], Tally(), ""

    @seed(start)
    @settings(
        max_examples=BATCH,
        database=None,
        deadline=None,
        derandomize=False,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
    )
    @given(tuples(*kind.drawn))
    def compare(drawn: tuple[Any, ...]) -> None:
        nonlocal shown
        began = time.perf_counter()
        try:
            kind.compare(*drawn)
        except UnsatisfiedAssumption:
            tally.left_out[name] += 1
            raise
        except BaseException as error:
            shown = f"{', '.join(map(repr, drawn))}\n{type(error).__name__}: {error}"
            raise
        tally.slowest = max(tally.slowest, time.perf_counter() - began)
        constructs = kind.constructs(*drawn)
        tally.programs[name] += 1
        tally.sizes[constructs.total()] += 1
        tally.constructs += constructs

    try:
        compare()
    except BaseException as error:  # noqa: BLE001 - whatever it is, the program must be named
        tally.difference = f"{name}, batch {start}: {shown or f'{type(error).__name__}: {error}'}"
    return tally


def tallies(names: Sequence[str], options: argparse.Namespace) -> Iterator[Tally]:
    """Batches without end, the kinds in turn, a few ahead of the one that is read."""
    with ProcessPoolExecutor(options.jobs) as pool:
        waiting: list[Future[Tally]] = []
        number = options.first
        try:
            while True:
                while len(waiting) < 2 * options.jobs:
                    waiting.append(pool.submit(batch, names[number % len(names)], f"{options.seed}/{number}"))
                    number += 1
                yield waiting.pop(0).result()
        finally:
            for future in waiting:
                future.cancel()


def histogram(title: str, counts: Counter[Any], *, by_size: bool) -> str:
    """One line: how often each was there."""
    pairs = sorted(counts.items()) if by_size else counts.most_common()
    return f"{title}: " + ", ".join(f"{what} {count}" for what, count in pairs)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument(
        "--only", choices=sorted(KINDS), action="append", help="explorers to use; default: all, in turn"
    )
    parser.add_argument("--first", type=int, default=0, help="number of the first batch")
    options = parser.parse_args(arguments)
    total, began = Tally(), time.monotonic()
    shown = began
    for tally in tallies(options.only or list(KINDS), options):
        total.add(tally)
        count, passed = total.programs.total(), time.monotonic() - began
        if tally.difference:
            print(f"DIFFERENCE after {count} programs, seed {options.seed}: {tally.difference}")
            return 1
        done = count >= options.programs
        if done or time.monotonic() - shown > 10:
            shown = time.monotonic()
            print(f"{count} programs agree  [{passed:.0f}s, {count / passed:.0f}/s]", flush=True)
        if done:
            break
    print(f"seed {options.seed}; slowest program {total.slowest:.1f}s")
    print(histogram("programs", total.programs, by_size=False))
    print(
        histogram(
            "left out, as they are faulty in shape or too large to run in all ways", total.left_out, by_size=False
        )
    )
    print(histogram("sizes", total.sizes, by_size=True))
    print(histogram("constructs", total.constructs, by_size=False))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
