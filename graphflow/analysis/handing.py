"""Values that are lost on the way through a free-form graph: what a node gave, a judge looked at, and the next node lacks.

::

    (START, draft, judge), (judge, {"pass": publish, "fail": END})     # no key holds the draft: publish gets "pass"

`lost_values` finds three nodes in a row, source, judge and next, for which all of this holds:

- the source is a stage that hands on a value in no key: a model agent or a function that surely writes none, whose answer is
  neither nothing nor one of a few constants;
- the judge passes on something else: nothing (it returns None), or its own choice among routes of which one leads on and the
  others end the graph or go back. Routes that lead to several nodes are a dispatch, which asks for no value, and several routes
  at once are one. A judge that is given the value and writes a key other than its route may have kept it there;
- the next node has nothing else to go by. It asks for the value of the node before it, the judge alone, with a type that is no
  choice itself and takes what it gets (else the types are what is wrong), and after a choice it reads no key besides. Or, after
  a choice, it is a model agent that reads no key, has no tools and is sent no answers.

Nothing is said about a node whose contract is open, nor about composites, whose parts may do any of this.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from graphflow.analysis.facts import Facts
from graphflow.contracts.contract import Read
from graphflow.ir.nodes import IN, OUT, Branch, Edge, Node, Task, agent_path
from graphflow.schema import ANY, Type, assignable, closed_values


class LostValue(NamedTuple):
    """A value that does not arrive: `verdict` is whether a choice arrives in its place, or nothing."""

    source: Task
    judge: Task
    next: Task
    verdict: bool


def lost_values(facts: Facts) -> Iterator[LostValue]:
    """Yield the values that are lost, each next node once, in canonical order.

    Args:
        facts: about the graph.
    """
    for node in facts.graph.nodes.values():
        inside = isinstance(node, Task) and node.region in facts.free_form and not facts.unreachable(node.id)
        if isinstance(node, Task) and inside and _has_nothing_else(facts, node):
            judges = _before(facts, node)
            if len(judges) == 1 and isinstance(judges[0], Task) and judges[0].region == node.region:
                found = _lost(facts, judges[0], node)
                if found is not None:
                    yield found


def _lost(facts: Facts, judge: Task, following: Task) -> LostValue | None:
    verdict = _chooses(facts, judge) and not _reads_keys(facts, following)
    nothing = _gives_nothing(facts, judge) and following.kind != "model"
    taken = _input(facts, following)
    if judge.contract.open or not (verdict or nothing):
        return None
    if taken is not None and not assignable(_value(facts, judge), taken.type):
        return None
    route = _route_key(facts, judge)
    kept = [write.key for write in judge.contract.writes if write.key != route and not facts.reserved(write.key)]
    if kept and _input(facts, judge) is not None:
        return None
    before = [node for node in _before(facts, judge) if isinstance(node, Task) and node.region == judge.region]
    sources = [source for source in before if _hands_on(facts, source)]
    return LostValue(sources[0], judge, following, not nothing) if sources else None


def _hands_on(facts: Facts, source: Task) -> bool:
    """Whether a stage gives a value that no key holds."""
    if source.kind not in ("model", "code") or source.contract.open:
        return False
    if any(write.sure and not facts.reserved(write.key) for write in source.contract.writes):
        return False
    value = _value(facts, source)
    return value != ANY and closed_values(value) is None


def _chooses(facts: Facts, judge: Task) -> bool:
    """Whether what a stage hands on is its choice of a route, of which one leads on."""
    branch = _branch(facts, judge)
    if branch is None or branch.multiple or judge.kind not in ("model", "code"):
        return False
    if facts.set_routes(branch) and not _gives_nothing(facts, judge):
        return False
    onward = {target for edge in facts.graph.out(branch.id) for target in _targets(facts, edge)}
    return len(onward) == 1


def _gives_nothing(facts: Facts, judge: Task) -> bool:
    return judge.kind == "code" and closed_values(_value(facts, judge)) == (None,)


def _value(facts: Facts, task: Task) -> Type:
    declaration = facts.graph.declarations.get(agent_path(task.id))
    return declaration.notes.value if declaration is not None else ANY


def _branch(facts: Facts, judge: Task) -> Branch | None:
    node = facts.graph.nodes.get(f"{judge.id}#route")
    return node if isinstance(node, Branch) else None


def _route_key(facts: Facts, judge: Task) -> str:
    branch = _branch(facts, judge)
    return branch.contract.reads[0].key if branch is not None and branch.contract.reads else ""


def _input(facts: Facts, node: Task) -> Read | None:
    """Give the read by which a stage takes the value of the node before it."""
    reads = (read for read in node.contract.reads if not read.implicit)
    return next((read for read in reads if facts.local(read.key).startswith((OUT, IN))), None)


def _has_nothing_else(facts: Facts, node: Task) -> bool:
    """Whether a stage goes by what the node before it gives."""
    if node.contract.open:
        return False
    if node.kind != "model":
        taken = _input(facts, node)
        return taken is not None and closed_values(taken.type) is None
    declaration = facts.graph.declarations.get(agent_path(node.id))
    idle = declaration is not None and not declaration.notes.tools and not declaration.notes.sees_answers
    return idle and not _reads_keys(facts, node)


def _reads_keys(facts: Facts, node: Task) -> bool:
    return any(not read.implicit and not facts.reserved(read.key) for read in node.contract.reads)


def _before(facts: Facts, task: Task) -> Sequence[Node]:
    """Give the nodes of the graph that lead to one without going round, composites as the node that ends them."""
    found: dict[str, Node] = {}
    pending = [edge for edge in facts.graph.into(task.id) if not edge.back]
    while pending:
        source = facts.graph.nodes[pending.pop().source]
        if source.region == task.region and agent_path(source.id) != source.id:
            pending.extend(edge for edge in facts.graph.into(source.id) if not edge.back)
        else:
            found[source.id] = source
    return list(found.values())


def _targets(facts: Facts, edge: Edge) -> Iterator[str]:
    """Yield the nodes of the graph that an edge leads to without going round; its end is none."""
    region = facts.graph.nodes[edge.source].region
    pending = [edge]
    while pending:
        edge = pending.pop()
        target = facts.graph.nodes[edge.target]
        if edge.back or not target.id.startswith(f"{region}/") or agent_path(target.id) == region:
            continue
        if target.region == region and agent_path(target.id) != target.id:
            pending.extend(facts.graph.out(target.id))
        else:
            yield target.id
