"""A graph compiled for execution: integer indexes, in-degrees, loops, validators, and the fingerprint.

The machine touches no graph: it walks these tables. A *loop* is the natural loop of a header [Aho et al., Compilers,
9.6.6]: the nodes that reach a back edge without passing the header. Edges out of it are its *leaving* edges::

    plan = compile_plan(graph)
    plan.nodes[3].outs          # (Out(target=4, slot=0, label="next", back=False), ...)

Pure: no clock, no I/O.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from graphflow.analysis.regions import Strands
from graphflow.conditions import Condition, compile_condition
from graphflow.ir.graph import Graph
from graphflow.ir.nodes import EXHAUSTED, EXIT, Branch, LoopHeader, Node
from graphflow.ir.text import print_graph
from graphflow.schema import ANY, Key, Merge, Type, type_of, validator

ROOT = -1
"""Index of the frame that is no loop."""

Test = Callable[[Callable[[str], object]], bool]


@dataclass(frozen=True, slots=True)
class Out:
    """A control edge as its source sees it.

    Attributes:
        edge: index of the edge in the plan.
        target: index of the target node.
        slot: place among the target's forward in-edges; -1 for a back edge.
        label: outcome under which it fires.
        back: whether it closes a loop.
    """

    edge: int
    target: int
    slot: int
    label: str
    back: bool


@dataclass(frozen=True, slots=True)
class KeySpec:
    """How writes of one key are checked and combined: the value's type, one update's type, the merge."""

    name: str
    type: Type
    update: Type
    merge: Merge | None
    validate: Callable[[object], object]
    validate_update: Callable[[object], object]


@dataclass(slots=True)
class PlanNode:
    """One node, compiled.

    Attributes:
        index: its place in the canonical order.
        id: its path.
        node: the IR node.
        loop: index of the header of the innermost loop around it, ROOT if there is none.
        strand: the innermost parallel branch around it, "" if there is none.
        outs: its out-edges.
        arity: how many forward in-edges it has.
        sure: keys that it must write.
        required: keys that must be there before its body runs.
        allowed: keys that it may write, None for an open contract.
        readable: keys that it may read, None for an open contract.
        writes: key -> how a write of it is checked.
        tests: for a branch, one compiled condition (or None) for each arm; for a header, its exit test.
    """

    index: int
    id: str
    node: Node
    loop: int
    strand: str
    outs: tuple[Out, ...] = ()
    arity: int = 0
    tests: tuple[Test | None, ...] = ()
    sure: frozenset[str] = frozenset()
    required: tuple[str, ...] = ()
    allowed: frozenset[str] | None = None
    readable: frozenset[str] | None = None
    writes: Mapping[str, KeySpec] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Loop:
    """One loop: how many nodes an iteration settles, and the edges that leave it (source index, edge)."""

    header: int
    members: int
    leaving: tuple[Out, ...]


@dataclass(frozen=True)
class Plan:
    """A compiled program. Immutable, shared by all runs.

    Attributes:
        graph: what was compiled.
        nodes: by index, in canonical order.
        loops: header index -> loop.
        keys: specs of the keys that are declared or have one type.
        headers: loop region id -> header index.
        fingerprint: hash of structure and contracts; bodies, prompts and models do not count.
    """

    graph: Graph
    nodes: tuple[PlanNode, ...]
    loops: Mapping[int, Loop]
    keys: Mapping[str, KeySpec]
    headers: Mapping[str, int]
    fingerprint: str
    entry: int
    exit: int


def compile_plan(graph: Graph) -> Plan:
    """Compile a verified graph.

    Args:
        graph: the program.

    Returns:
        The plan. Cost: linear in nodes and edges, times the depth of nested loops.
    """
    position = graph.position
    names = list(graph.nodes)
    members = _loop_members(graph)
    innermost = _innermost(members, len(names))
    strands = Strands(graph)
    declared = {key.name: key for key in graph.interface.keys}
    nodes = tuple(_node(graph, names[i], i, innermost[i], strands, declared) for i in range(len(names)))
    outs, arity = _edges(graph)
    for node in nodes:
        node.outs, node.arity = tuple(outs[node.index]), arity[node.index]
    leaving = _leaving(members, outs)
    loops = {h: Loop(h, sum(1 for m in innermost if m == h), tuple(leaving[h])) for h in members}
    headers = {graph.nodes[names[h]].region: h for h in members}
    text = print_graph(graph, state=False, models=False)
    return Plan(
        graph,
        nodes,
        loops,
        {name: _key_spec(name, type_of(key.type), key) for name, key in declared.items()},
        headers,
        hashlib.sha256(text.encode()).hexdigest(),
        position[graph.entry],
        position[graph.exit],
    )


def _edges(graph: Graph) -> tuple[list[list[Out]], list[int]]:
    position = graph.position
    outs: list[list[Out]] = [[] for _ in graph.nodes]
    arity = [0] * len(outs)
    for index, edge in enumerate(graph.edges):
        target = position[edge.target]
        slot = -1 if edge.back else arity[target]
        arity[target] += not edge.back
        outs[position[edge.source]].append(Out(index, target, slot, edge.label, edge.back))
    return outs, arity


def _loop_members(graph: Graph) -> dict[int, set[int]]:
    """Natural loops: header index -> indexes of the nodes inside, the header left out, nested headers included."""
    position, names = graph.position, list(graph.nodes)
    members: dict[int, set[int]] = {}
    for edge in graph.edges:
        if not edge.back:
            continue
        header = position[edge.target]
        inside = members.setdefault(header, set())
        pending = [position[edge.source]]
        while pending:
            index = pending.pop()
            if index == header or index in inside:
                continue
            inside.add(index)
            pending.extend(position[into.source] for into in graph.into(names[index]))
    return members


def _innermost(members: Mapping[int, set[int]], count: int) -> list[int]:
    innermost = [ROOT] * count
    for header in sorted(members, key=lambda h: -len(members[h])):
        for index in members[header]:
            innermost[index] = header
    return innermost


def _leaving(members: Mapping[int, set[int]], outs: list[list[Out]]) -> dict[int, list[Out]]:
    found: dict[int, list[Out]] = {}
    for header, inside in members.items():
        edges = [
            o
            for index in sorted(inside)
            for o in outs[index]
            if o.target not in inside and not (o.back and o.target == header)
        ]
        edges += [o for o in outs[header] if o.label in (EXIT, EXHAUSTED)]
        found[header] = edges
    return found


def _node(graph: Graph, id_: str, index: int, loop: int, strands: Strands, declared: Mapping[str, Key]) -> PlanNode:
    node = graph.nodes[id_]
    strand = strands.of(id_)
    contract = node.contract
    tests: tuple[Test | None, ...] = ()
    match node:
        case Branch():
            tests = tuple(_compiled(arm.condition) for arm in node.arms)
        case LoopHeader():
            tests = (_compiled(node.until),)
        case _:
            pass
    open_ = bool(contract.open)
    return PlanNode(
        index,
        id_,
        node,
        loop,
        strand[-1][1] if strand else "",
        tests=tests,
        sure=frozenset(write.key for write in contract.writes if write.sure),
        required=tuple(dict.fromkeys(read.key for read in contract.reads if not (read.optional or read.implicit))),
        allowed=None if open_ else frozenset(write.key for write in contract.writes),
        readable=None if open_ else frozenset(read.key for read in contract.reads),
        writes={w.key: _key_spec(w.key, w.type, declared.get(w.key)) for w in contract.writes},
    )


def _compiled(condition: Condition | None) -> Test | None:
    return None if condition is None else compile_condition(condition)


def _key_spec(name: str, written: Type, key: Key | None) -> KeySpec:
    declared = type_of(key.type) if key is not None else ANY
    type_ = declared if declared != ANY else written
    merge = key.merge if key is not None else None
    update = merge.update_type(declared) if merge is not None else type_
    return KeySpec(name, type_, update, merge, validator(type_), validator(update))
