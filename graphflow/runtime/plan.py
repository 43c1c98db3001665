"""A graph compiled for execution: integer indexes, in-degrees, loops, validators, and the fingerprint.

The machine touches no graph: it walks these tables. What runs in activations of its own (iterations, instances, calls) is in
`scopes`; edges out of a loop are its *leaving* edges::

    plan = compile_plan(graph)
    plan.nodes[3].outs          # (Out(target=4, slot=0, label="next", back=False), ...)

Pure: no clock, no I/O.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from graphflow.conditions import Condition, compile_condition
from graphflow.ir.graph import Graph
from graphflow.ir.nodes import EMPTY, EXHAUSTED, EXIT, Branch, Fork, Join, LoopHeader, Node, Task
from graphflow.ir.text import print_graph
from graphflow.runtime.refusal import refuse
from graphflow.runtime.scopes import ROOT, Scope, Scopes, find_scopes, reachable
from graphflow.schema import ANY, Key, Merge, Type, type_of, validator

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


@dataclass(frozen=True, slots=True)
class NodeKeys:
    """What a node may do to the state.

    Attributes:
        sure: keys that it must write.
        required: keys that must be there before its body runs.
        allowed: keys that it may write, None for an open contract.
        readable: keys that it may read, None for an open contract.
        writes: key -> how a write of it is checked.
        given: keys that a map around it gives to each instance; nobody writes them.
    """

    sure: frozenset[str] = frozenset()
    required: tuple[str, ...] = ()
    allowed: frozenset[str] | None = None
    readable: frozenset[str] | None = None
    writes: Mapping[str, KeySpec] = field(default_factory=dict)
    given: frozenset[str] = frozenset()


@dataclass(slots=True)
class PlanNode:
    """One node, compiled.

    Attributes:
        index: its place in the canonical order.
        id: its path.
        node: the IR node.
        keys: what it may do to the state.
        strand: the innermost parallel branch around it, "" if there is none.
        tests: for a branch, one compiled condition (or None) for each arm; for a header, its exit test.
        scope: index of the header of the innermost scope around it, ROOT if there is none.
        kinds: what the turns of its executions are: "loop", "group" (index in a map) or "call", outermost first.
        outs: its out-edges, without those by which activations begin.
        arity: how many forward in-edges it has.
        parts: for a join that gathers: slot of an in-edge -> (name, key) of what it brings.
        calls: whether it is the code of a custom agent with children.
    """

    index: int
    id: str
    node: Node
    keys: NodeKeys
    strand: str
    tests: tuple[Test | None, ...] = ()
    scope: int = ROOT
    kinds: tuple[str, ...] = ()
    outs: tuple[Out, ...] = ()
    arity: int = 0
    parts: Mapping[int, tuple[str, str]] = field(default_factory=dict)
    calls: bool = False


@dataclass(frozen=True)
class Plan:
    """A compiled program. Immutable, shared by all runs.

    Attributes:
        graph: what was compiled.
        nodes: by index, in canonical order.
        scopes: header index -> scope.
        ways: header index -> way in -> the edges by which an activation begins.
        leaving: header index of a loop -> the edges that leave it.
        keys: specs of the keys that are declared or have one type.
        headers: loop region id -> header index.
        fingerprint: hash of structure and contracts; bodies, prompts and models do not count.
    """

    graph: Graph
    nodes: tuple[PlanNode, ...]
    scopes: Mapping[int, Scope]
    ways: Mapping[int, Mapping[str, tuple[Out, ...]]]
    leaving: Mapping[int, tuple[Out, ...]]
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
        The plan. Cost: linear in nodes and edges, times the depth of nested scopes.

    Raises:
        ContractViolation: the graph cannot be run; see `refuse`.
    """
    refuse(graph)
    position, names = graph.position, list(graph.nodes)
    scopes = find_scopes(graph)
    declared = {key.name: key for key in graph.interface.keys}
    kinds = _kinds(graph, scopes)
    nodes = tuple(_node(graph, id_, index, declared) for index, id_ in enumerate(names))
    alive = reachable(graph)
    outs, arity = _edges(graph, alive)
    inner = {index for scope in scopes.by_header.values() for way in scope.ways.values() for index in way}
    inner |= {index for index, edge in enumerate(graph.edges) if edge.label == EMPTY}
    for node in nodes:
        node.scope, node.kinds = scopes.innermost[node.index], kinds[node.index]
        node.outs = tuple(out for out in outs[node.index] if out.edge not in inner or not _begins(node.node))
        node.arity = arity[node.index]
        node.parts = _parts(graph, node.node, alive)
        node.calls = node.index in scopes.by_header and isinstance(node.node, Task)
    for header in scopes.by_header:
        _give(nodes, nodes[header].node, scopes.inside[header])
    by_edge = {out.edge: out for way in outs for out in way}
    return Plan(
        graph,
        nodes,
        scopes.by_header,
        {
            header: {way: tuple(by_edge[index] for index in edges) for way, edges in scope.ways.items()}
            for header, scope in scopes.by_header.items()
        },
        {
            header: _leaving(header, scopes.inside[header], outs)
            for header, scope in scopes.by_header.items()
            if scope.kind == "loop"
        },
        {name: _key_spec(name, type_of(key.type), key) for name, key in declared.items()},
        {graph.nodes[names[header]].region: header for header in scopes.by_header},
        hashlib.sha256(print_graph(graph, state=False, models=False).encode()).hexdigest(),
        position[graph.entry],
        position[graph.exit],
    )


def _give(nodes: Sequence[PlanNode], header: Node, inside: frozenset[int]) -> None:
    """Note which keys a map gives to what is inside of it."""
    if not isinstance(header, Fork) or header.group is None or header.group.over is None:
        return
    over = header.group.over
    given = {over.item} | ({over.index} if over.index is not None else set())
    for index in inside:
        keys = nodes[index].keys
        nodes[index].keys = replace(keys, given=keys.given | given)


def _begins(node: Node) -> bool:
    """Whether some ways out of a node begin activations instead of going on."""
    return (isinstance(node, Fork) and node.group is not None) or isinstance(node, Task)


def _kinds(graph: Graph, scopes: Scopes) -> list[tuple[str, ...]]:
    """What each number in the turns of a node means."""
    of_header: dict[int, tuple[str, ...]] = {ROOT: ()}
    names = list(graph.nodes)

    def inside(header: int) -> tuple[str, ...]:
        if header not in of_header:
            node = graph.nodes[names[header]]
            counted = not isinstance(node, Fork) or (node.group is not None and node.group.over is not None)
            own = (scopes.by_header[header].kind,) if counted else ()
            of_header[header] = (*inside(scopes.innermost[header]), *own)
        return of_header[header]

    return [inside(header) for header in scopes.innermost]


def _edges(graph: Graph, alive: frozenset[str]) -> tuple[list[list[Out]], list[int]]:
    position = graph.position
    outs: list[list[Out]] = [[] for _ in graph.nodes]
    arity = [0] * len(outs)
    for index, edge in enumerate(graph.edges):
        if edge.source not in alive:
            continue
        target = position[edge.target]
        slot = -1 if edge.back else arity[target]
        arity[target] += not edge.back
        outs[position[edge.source]].append(Out(index, target, slot, edge.label, edge.back))
    return outs, arity


def _leaving(header: int, inside: frozenset[int], outs: list[list[Out]]) -> tuple[Out, ...]:
    edges = [
        out
        for index in sorted(inside)
        for out in outs[index]
        if out.target not in inside and not (out.back and out.target == header)
    ]
    return (*edges, *(out for out in outs[header] if out.label in (EXIT, EXHAUSTED)))


def _strand(graph: Graph, id_: str) -> str:
    """Name the innermost branch of a parallel region that a node is in."""
    item, region = id_, graph.nodes[id_].region
    while region:
        record = graph.regions[region]
        if record.kind == "parallel" and not item.startswith(f"{region}#"):
            return item
        item, region = region, record.parent or ""
    return ""


def _node(graph: Graph, id_: str, index: int, declared: Mapping[str, Key]) -> PlanNode:
    node = graph.nodes[id_]
    contract = node.contract
    tests: tuple[Test | None, ...] = ()
    match node:
        case Branch():
            tests = tuple(_compiled(arm.condition) for arm in node.arms)
        case LoopHeader():
            tests = (_compiled(node.until),)
        case _:
            pass
    known = not contract.open
    keys = NodeKeys(
        frozenset(write.key for write in contract.writes if write.sure),
        tuple(dict.fromkeys(read.key for read in contract.reads if not (read.optional or read.implicit))),
        frozenset(write.key for write in contract.writes) if known else None,
        frozenset(read.key for read in contract.reads) if known else None,
        {w.key: _key_spec(w.key, w.type, declared.get(w.key)) for w in contract.writes},
    )
    return PlanNode(index, id_, node, keys, _strand(graph, id_), tests)


def _parts(graph: Graph, node: Node, alive: frozenset[str]) -> dict[int, tuple[str, str]]:
    if not isinstance(node, Join) or not node.gather:
        return {}
    named = {(part.source, part.label): (part.name, part.key) for part in node.gather}
    into = [edge for edge in graph.into(node.id) if not edge.back and edge.source in alive]
    return {slot: named[e.source, e.label] for slot, e in enumerate(into) if (e.source, e.label) in named}


def _compiled(condition: Condition | None) -> Test | None:
    return None if condition is None else compile_condition(condition)


def _key_spec(name: str, written: Type, key: Key | None) -> KeySpec:
    declared = type_of(key.type) if key is not None else ANY
    type_ = declared if declared != ANY else written
    merge = key.merge if key is not None else None
    update = merge.update_type(declared) if merge is not None else type_
    return KeySpec(name, type_, update, merge, validator(type_), validator(update))
