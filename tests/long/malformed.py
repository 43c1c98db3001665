"""A campaign: malformed programs, graphs and texts of graphs. The check of each gives a report and raises nothing.

    python -m tests.long.malformed --programs 10000 --seed 0 --processes 2

A third of what is looked at are programs, the rest are graphs and texts of graphs in which something was changed.
"""

from __future__ import annotations

import sys
from collections import Counter
from random import Random

from graphflow.ir.text import print_graph
from tests.checker.fuzzing import malformed_flow, malformed_graph, malformed_text
from tests.checker.test_fuzz import assert_reported, is_graph_sound, is_text_read
from tests.long.batches import campaign

BATCH = 50
"""Programs that one process is given at once."""


def batch(seed: int, start: int) -> tuple[Counter[str], str]:
    """Check some programs and texts; give the codes that were found, and the first that raised."""
    seen: Counter[str] = Counter()
    for number in range(start, start + BATCH):
        random = Random(f"{seed}/{number}")
        try:
            flow = malformed_flow(random)
            if number % 3 == 0:
                seen.update({"programs", *assert_reported(flow).codes})
            elif number % 3 == 1:
                seen["graphs checked"] += is_graph_sound(malformed_graph(random, flow.graph))
            else:
                seen["texts read"] += is_text_read(malformed_text(random, print_graph(flow.graph)))
        except BaseException as error:  # noqa: BLE001 - whatever it is, the seed must be named
            what = ("program", "graph", "text")[number % 3]
            return seen, f"{what} of malformed_flow(Random('{seed}/{number}')): {type(error).__name__}: {error}"
    return seen, ""


if __name__ == "__main__":
    sys.exit(campaign(batch, BATCH, __doc__, sys.argv[1:]))
