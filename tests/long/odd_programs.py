"""A campaign: odd programs, whose steps fail, halt, escalate, stray and choose unknown routes. Each run has to end.

    python -m tests.long.odd_programs --programs 10000 --seed 0 --processes 2

A run ends well if its last event, and only that, is terminal, or if the program is refused before anything starts.
"""

from __future__ import annotations

import sys
from collections import Counter
from random import Random

import anyio

from tests.long.batches import campaign
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


if __name__ == "__main__":
    sys.exit(campaign(batch, BATCH, __doc__, sys.argv[1:]))
