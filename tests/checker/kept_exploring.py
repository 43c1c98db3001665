"""What the explorer's executions say about keys that are kept between runs, and about optional reads.

A run of a session finds a key that persists as the run before has left it. So, of a read of such a key, an execution shows
whether this run has written it before; where only some executions do, an earlier run's value may be taken for this one's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from tests.checker.exploring import (
    Cond,
    Explorer,
    Loop,
    Map,
    Observed,
    Par,
    Seq,
    Task,
    Tree,
    Tried,
    came_round,
    codes_of,
    writers_beside,
)

Place = tuple[str, str]


def parts(tree: Tree | None, place: str = "") -> Iterator[tuple[str, Tree]]:
    """Yield everything in a tree with its path."""
    if tree is None:
        return
    if isinstance(tree, Tried):
        yield (f"{place}/{tree.body.name}" if place else tree.body.name), tree
        yield from parts(tree.body, place)
        yield from parts(tree.handler if isinstance(tree.handler, Task) else None, place)
        return
    path = f"{place}/{tree.name}" if place else tree.name
    yield path, tree
    inside: Iterable[Tree | None] = ()
    match tree:
        case Seq(items=items) | Par(items=items):
            inside = items
        case Loop(items=items, exhausted=exhausted):
            inside = (*items, exhausted)
        case Cond(then=then, otherwise=otherwise):
            inside = (then, otherwise)
        case Map(body=body):
            inside = (body,)
    for item in inside:
        yield from parts(item, path)


def reading_writers(tree: Tree) -> set[Place]:
    """The writes (path, key) by what reads the same key: such a stage adds to what it finds."""
    found: set[Place] = set()
    for path, part in parts(tree):
        if isinstance(part, Task):
            found |= {(path, key) for key in {*part.reads, *part.optional} & {*part.writes, *part.may_write}}
        elif isinstance(part, Map):
            inner = {key for key, _ in part.lists}
            found |= {(path, outer) for _, outer in part.lists if outer in inner}
    return found


def unclear_keys(tree: Tree) -> set[str]:
    """Keys that fixed values stand in for: a write of them has the path of the stage that failed."""
    return {
        key
        for _, part in parts(tree)
        if isinstance(part, Tried) and isinstance(part.handler, tuple)
        for key in part.handler
    }


def kept_codes(
    explorer: Explorer, tree: Tree, persist: frozenset[str], given: frozenset[str]
) -> Mapping[Place, frozenset[str]]:
    """Say what has to be found at each read, notes about optional reads left out.

    Args:
        explorer: has run the tree.
        tree: the pipeline.
        persist: keys that are declared to be kept.
        given: the inputs.
    """
    adding, found = reading_writers(tree), {}
    for place, seen in explorer.reads.items():
        key = place[1]
        kept = key in persist and key not in given and bool(explorer.writers.get(key))
        found[place] = frozenset(_kept(explorer, place, seen, adding) if kept else codes_of(explorer, place, seen))
    return found


def _kept(explorer: Explorer, place: Place, seen: Observed, adding: set[Place]) -> Iterator[str]:
    path, key = place
    origins = {origin for value in seen.values for origin in value}
    condition = path in explorer.conditions or path in explorer.loops
    again = all(came_round(origin, path) for origin in origins)
    adds = key in explorer.merged or any((origin.writer, key) in adding for origin in origins)
    replaced = seen.absent and bool(origins) and not again and not adds
    if seen.required and seen.absent:
        yield "GF506" if condition else "GF206" if replaced else "GF202"
    elif replaced:
        yield "GF206"
    if "GF302" in codes_of(explorer, place, seen):
        yield "GF302"


FAULTS = frozenset({"GF201", "GF202", "GF205", "GF206", "GF506"})


def optional_codes(
    explorer: Explorer, tree: Tree, persist: frozenset[str], found: Mapping[Place, frozenset[str]]
) -> dict[Place, str]:
    """Say which optional reads find the key always (GF209) or never (GF213).

    Args:
        explorer: has run the tree.
        tree: the pipeline.
        persist: keys that are declared to be kept.
        found: what is wrong with the reads.
    """
    optional = {place: seen for place, seen in explorer.reads.items() if not seen.required}
    needed = {key for (_, key), seen in optional.items() if seen.absent}
    needed |= {key for (_, key), codes in found.items() if codes & FAULTS}
    needed |= {key for (_, key), seen in explorer.reads.items() if seen.required and not any(seen.values)}
    filled = {key for (_, key), seen in optional.items() if any(seen.values)}
    may = {(path, key) for path, part in parts(tree) if isinstance(part, Task) for key in part.may_write}
    result = {}
    for path, key in optional:
        if key not in needed:
            result[path, key] = "GF209"
        kept = key in persist and bool(explorer.writers.get(key))
        if key not in filled and not kept and (path, key) not in may and not writers_beside(explorer, path, key):
            result[path, key] = "GF213"
    return result
