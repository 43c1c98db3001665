"""What the campaigns over seeded programs share: their options, and batches spread over processes until one finds a fault."""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed

Batch = Callable[[int, int], tuple[Counter[str], str]]
"""(seed, number of the first program) -> what was seen how often, and the first fault ("" for none)."""


def campaign(batch: Batch, size: int, description: str | None, arguments: Sequence[str]) -> int:
    """Run a campaign from the command line.

    Args:
        batch: looks at `size` programs.
        size: programs that one process is given at once.
        description: text of the help.
        arguments: of the command line.

    Returns:
        The exit code: 1 if a fault was found.
    """
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args(arguments)
    began = time.monotonic()
    total: Counter[str] = Counter()
    with ProcessPoolExecutor(options.processes) as pool:
        waiting = [pool.submit(batch, options.seed, start) for start in range(0, options.programs, size)]
        for done, future in enumerate(as_completed(waiting), 1):
            seen, fault = future.result()
            total += seen
            if fault:
                pool.shutdown(cancel_futures=True)
                print(f"FAULT after {done * size} programs: {fault}")
                return 1
            if done % 10 == 0:
                print(f"{done * size} programs  [{time.monotonic() - began:.0f}s]", flush=True)
    print(", ".join(f"{what} {count}" for what, count in total.most_common()))
    return 0
