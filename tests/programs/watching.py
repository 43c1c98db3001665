"""What holds for every run, whatever its program means: caps are kept, and a run pauses only when nothing can go on.

::

    assert crowds(plan, records) == []
    assert hasty_pauses(plan, records) == []
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from graphflow.ir.nodes import Fork
from graphflow.runtime.journal import Asked, Cancelled, Record, RunEnded, TaskCommitted, TaskFailed, TaskStarted
from graphflow.runtime.plan import Plan

Place = tuple[str, tuple[int, ...]]


def bodies(plan: Plan, records: Sequence[Record]) -> Iterator[tuple[Record, dict[Place, bool]]]:
    """Each record, and the bodies that run after it: node and turns -> whether it is code that mostly waits for children."""
    waits = {node.id: bool(node.calls) for node in plan.nodes}
    running: dict[Place, bool] = {}
    for record in records:
        match record:
            case TaskStarted(node=node, turns=turns):
                running[node, turns] = waits[node]
            case TaskCommitted(partial=True):
                pass
            case TaskCommitted(node=node, turns=turns) | TaskFailed(node=node, turns=turns):
                running.pop((node, turns), None)
            case Cancelled(node=node, turns=turns) | Asked(node=node, turns=turns):
                running.pop((node, turns), None)
            case _:
                pass
        yield record, running


def crowds(plan: Plan, records: Sequence[Record]) -> list[str]:
    """Where and when more bodies ran at once than a cap allows."""
    caps: list[tuple[str, int, int]] = []
    for node in plan.nodes:
        fork = node.node
        if isinstance(fork, Fork) and fork.group is not None and fork.group.limit is not None:
            caps.append((f"{fork.region}/", len(node.kinds), fork.group.limit))
    found: list[str] = []
    for _, running in bodies(plan, records) if caps else ():
        for region, depth, cap in caps:
            inside = (
                turns[:depth] for (node, turns), waits in running.items() if node.startswith(region) and not waits
            )
            found += [f"{count} in {region} {turns}" for turns, count in Counter(inside).items() if count > cap]
    return found


def hasty_pauses(plan: Plan, records: Sequence[Record]) -> list[str]:
    """What still ran when the run paused; code that waits for its children is put aside."""
    return [
        node
        for record, running in bodies(plan, records)
        if isinstance(record, RunEnded) and record.status == "paused"
        for (node, _), waits in running.items()
        if not waits
    ]
