"""What order and size cost: stages that wait for nothing, texts that are sent again and again.

::

    idle_orders(facts)      # [(web, papers)]: neighbours with no data between them
    resent(facts)           # [("handbook", 4000, [...])]: a text of 4,000 tokens in several prompts

Sizes are known only of texts that are written down: defaults of keys and inputs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from graphflow.analysis.effects import Definition
from graphflow.analysis.facts import Facts
from graphflow.ir.glue import Crossing
from graphflow.ir.nodes import NEXT, LoopHeader, Node, Task
from graphflow.models.base import estimate_tokens

LARGE = 1_000
"""Tokens from which a text is large."""
SEVERAL = 3
"""Prompts in which a large text is many times too much."""


class Resent(NamedTuple):
    """A large text: its key, its size in tokens, the tasks whose prompts hold it, the tokens it comes to in a run."""

    key: str
    tokens: int
    tasks: tuple[str, ...]
    total: int


def idle_orders(facts: Facts) -> Iterator[Sequence[Task]]:
    """Yield runs of neighbouring model stages that could run side by side.

    Args:
        facts: about the graph.

    Yields:
        Two or more tasks, in order: none of them reads or writes what another one writes, and none has an effect, may halt,
        escalate, or do what cannot be known.
    """
    taken: set[str] = set()
    for node in facts.graph.nodes.values():
        if node.id in taken or not _movable(node):
            continue
        assert isinstance(node, Task)
        group = [node]
        while (following := _next(facts, group[-1])) is not None and all(_apart(one, following) for one in group):
            group.append(following)
        if len(group) > 1 and all(_is_of_use(facts, task) for task in group):
            taken.update(task.id for task in group)
            yield group


def _movable(node: Node) -> bool:
    if not isinstance(node, Task) or node.kind != "model" or node.contract.effect != "none":
        return False
    contract = node.contract
    return bool(contract.writes) and not (contract.open or contract.halts or contract.escalates)


def _next(facts: Facts, task: Task) -> Task | None:
    """The stage right after a stage, None if anything else is there."""
    edges = facts.graph.out(task.id)
    if len(edges) != 1 or edges[0].label != NEXT or edges[0].back:
        return None
    node = facts.graph.nodes[edges[0].target]
    alone = len(facts.graph.into(node.id)) == 1 and node.region == task.region and _movable(node)
    return node if alone and isinstance(node, Task) else None


def _is_of_use(facts: Facts, task: Task) -> bool:
    """Whether a stage has all it needs, and is needed: where a key is misspelt nobody knows what was to wait for what."""
    needed = [read.key for read in task.contract.reads if not read.optional]
    used = any(facts.is_read(definition) for definition in facts.effects.made_by(task.id))
    return used and all(facts.surely(task.id, key) for key in needed)


def _apart(first: Task, second: Task) -> bool:
    def keys(task: Task) -> tuple[set[str], set[str]]:
        return {read.key for read in task.contract.reads}, {write.key for write in task.contract.writes}

    (read, written), (reads, writes) = keys(first), keys(second)
    return not (written & (reads | writes) or writes & read)


def resent(facts: Facts) -> Iterator[Resent]:
    """Yield the large texts that several prompts hold.

    Args:
        facts: about the graph.

    Yields:
        The texts, in the order in which they are declared; each is counted for every iteration that is sure to be allowed.
    """
    interface = facts.graph.interface
    texts = {name: default for name, _, _, default in interface.inputs or ()}
    texts |= {key.name: key.default for key in interface.keys}
    texts |= _texts_inside(facts)
    models = [node for node in facts.graph.nodes.values() if isinstance(node, Task) and node.kind == "model"]
    for key, text in texts.items():
        tokens = estimate_tokens(text) if isinstance(text, str) else 0
        if tokens < LARGE:
            continue
        tasks = [task for task in models if any(read.key == key and not read.path for read in task.contract.reads)]
        times = sum(_times(facts, task) for task in tasks)
        if times >= SEVERAL and all(_is_default(facts, d) for d in facts.writers(key)):
            yield Resent(key, tokens, tuple(task.id for task in tasks), tokens * times)


def _is_default(facts: Facts, definition: Definition) -> bool:
    node = facts.graph.nodes[definition.node]
    return definition.node == facts.graph.entry or (
        isinstance(node, Task) and node.fresh is not None and facts.given(definition)
    )


def _texts_inside(facts: Facts) -> dict[str, object]:
    """The defaults of keys of sub-flows that nothing is carried to."""
    bodies = (node.body for node in facts.graph.nodes.values() if isinstance(node, Task) and node.fresh)
    crossings = [body for body in bodies if isinstance(body, Crossing)]
    return {key: value for body in crossings for key, value in body.defaults.items() if key not in body.keys}


def _times(facts: Facts, task: Task) -> int:
    times = 1
    for id_ in facts.loops_around[task.id]:
        header = facts.graph.nodes[id_]
        times *= header.bound or 1 if isinstance(header, LoopHeader) else 1
    return times
