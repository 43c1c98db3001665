"""Questions about control that rules put to several facts at once: what a loop changes, what may still stop the run.

::

    written_in(facts, "story/refine#header")      # {"draft", "critique"}
    ends_of(facts, loop)                          # what may end a loop, besides its bound

Everything is a function of `Facts`; nothing is kept here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from graphflow import conditions
from graphflow.analysis.facts import Facts
from graphflow.contracts.bodies import always_ends
from graphflow.ir.nodes import ERROR, ESCALATIONS, Branch, LoopHeader, Node, Task, agent_path


def loop_headers(facts: Facts) -> Iterator[LoopHeader]:
    """Yield the headers of loops that count and test, those of cycles of free-form graphs left out."""
    for node in facts.graph.nodes.values():
        if isinstance(node, LoopHeader) and node.region not in facts.free_form:
            yield node


def written_in(facts: Facts, header: str) -> frozenset[str] | None:
    """Name the keys that something in a loop may write; None if that cannot be known.

    Args:
        facts: about the graph.
        header: id of the loop's header.
    """
    loop = facts.loops.get(header)
    members = loop.members if loop is not None else frozenset()
    if any(isinstance(facts.graph.nodes[id_], Task) and facts.graph.nodes[id_].contract.open for id_ in members):
        return None
    return frozenset(definition.key for id_ in members for definition in facts.effects.made_by(id_))


def tested_keys(header: LoopHeader) -> frozenset[str]:
    """Name the keys that the exit test of a loop reads."""
    return frozenset(name for name, _, _ in conditions.reads(header.until)) if header.until is not None else frozenset()


def may_escalate(facts: Facts, header: LoopHeader) -> bool:
    """Say whether something in a loop may end it by an escalation, be it one that an open contract makes possible."""
    return bool(facts.escalations_of(f"{header.region}#exit"))


def may_halt(node: Node) -> bool:
    """Say whether a node may end the whole run."""
    return isinstance(node, (Branch, Task)) and node.contract.halts


def after(facts: Facts, node_id: str) -> frozenset[str]:
    """Give the nodes that may run after a node, itself included where a loop leads back to it."""
    pending = [edge.target for edge in facts.graph.out(node_id)]
    found = set(pending)
    while pending:
        for edge in facts.graph.out(pending.pop()):
            if edge.target not in found:
                found.add(edge.target)
                pending.append(edge.target)
    return frozenset(found)


def stops_after(facts: Facts, task: Task) -> Sequence[Node]:
    """Give the nodes that may halt the run when a task has run or is running, in canonical order.

    Those in other instances of a map around it are among them: instances run side by side.
    """
    later = after(facts, task.id)
    around = {id_ for span in facts.maps_around[task.id] for id_ in span.inside}
    return [
        node
        for node in facts.graph.nodes.values()
        if node.id != task.id
        and may_halt(node)
        and not facts.unreachable(node.id)
        and (node.id in later or node.id in around or facts.concurrency.concurrent(task.id, node.id))
    ]


def repeated_by(facts: Facts, task: Task) -> LoopHeader | None:
    """Give the innermost loop that may run a task again, None if there is none."""
    for id_ in reversed(facts.loops_around[task.id]):
        header = facts.graph.nodes[id_]
        if isinstance(header, LoopHeader) and header.bound != 1:
            return header
    return None


def always_ending(facts: Facts) -> Iterator[tuple[Task, str]]:
    """Yield the tasks that always escalate or always halt the run, as far as their source tells, and which of both."""
    for node in facts.graph.nodes.values():
        if not isinstance(node, Task) or not (node.contract.escalates or node.contract.halts):
            continue
        declaration = facts.graph.declarations.get(node.id)
        for function in declaration.notes.functions if declaration is not None else ():
            how = always_ends(function)
            if (how == "escalate" and facts.ends_loop(node.id)) or how == "halt":
                yield node, how


def lost_after(facts: Facts, task: Task) -> Sequence[str]:
    """Give the agents that no run gets to if a task always ends something: outermost ones, in canonical order."""
    ways = {ERROR} | ESCALATIONS
    pending, found = [facts.graph.entry], {facts.graph.entry}
    while pending:
        id_ = pending.pop()
        edges = facts.graph.out(id_)
        for edge in edges if id_ != task.id else [edge for edge in edges if edge.label in ways]:
            if edge.target not in found:
                found.add(edge.target)
                pending.append(edge.target)
    reached = {path for id_ in found for path in _paths_to(agent_path(id_))}
    before = {path for id_ in facts.graph.nodes if not facts.unreachable(id_) for path in _paths_to(agent_path(id_))}
    lost = [path for path in facts.graph.declarations if path in before and path not in reached]
    return [path for path in lost if path.rpartition("/")[0] not in lost]


def _paths_to(path: str) -> Iterator[str]:
    """Yield a path and those of the agents around it."""
    while path:
        yield path
        path = path.rpartition("/")[0]
