"""A campaign: odd programs, whose steps fail, halt, escalate, stray and choose unknown routes. Each run has to end.

    python -m tests.long.odd_programs --programs 10000 --seed 0 --processes 2

A run ends well if its last event, and only that, is terminal, or if the program is refused before anything starts.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from random import Random

import anyio

from tests.programs.endings import ending_of_odd
from tests.programs.wild import wild_flow

BATCH = 100
"""Programs that one process is given at once."""


def batch(seed: int, start: int) -> tuple[Counter[str], str]:
    """Run some programs; give their endings, and the first that did not end well."""
    endings: Counter[str] = Counter()
    for number in range(start, start + BATCH):
        try:
            endings[anyio.run(ending_of_odd, wild_flow(Random(f"{seed}/{number}")))] += 1
        except BaseException as error:  # noqa: BLE001 - whatever it is, the seed must be named
            return endings, f"wild_flow(Random('{seed}/{number}')): {type(error).__name__}: {error}"
    return endings, ""


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args(arguments)
    began = time.monotonic()
    total: Counter[str] = Counter()
    with ProcessPoolExecutor(options.processes) as pool:
        waiting = [pool.submit(batch, options.seed, start) for start in range(0, options.programs, BATCH)]
        for future in as_completed(waiting):
            endings, fault = future.result()
            total += endings
            if fault:
                pool.shutdown(cancel_futures=True)
                print(f"NO GOOD END after {total.total()} programs: {fault}")
                return 1
            if total.total() % (10 * BATCH) == 0:
                print(f"{total.total()} programs ended  [{time.monotonic() - began:.0f}s]", flush=True)
    print("endings: " + ", ".join(f"{ending} {count}" for ending, count in total.most_common()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
