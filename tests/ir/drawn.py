"""Random parts of graphs, and random graphs that hold all invariants, with every field of every node drawn.

What is drawn survives being text without loss: plain values, types by name, functions by name. So `bare` compares a graph
with what was read from its text field by field, without the product's own notion of equality::

    assert bare(parse_graph(print_graph(graph))) == bare(graph)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from hypothesis import strategies as st

from graphflow.conditions import (
    And,
    Call,
    CallRead,
    Compare,
    Condition,
    Exists,
    Is,
    Length,
    Literal,
    Matches,
    Not,
    Or,
    Ref,
)
from graphflow.conditions.parsing import NamedFunction
from graphflow.contracts.contract import Contract, Origin, Read, Write
from graphflow.contracts.retry import RetryPolicy
from graphflow.ir.graph import Graph
from graphflow.ir.nodes import (
    Arm,
    Branch,
    Collect,
    Edge,
    Entry,
    Exit,
    Fault,
    Fork,
    Gathered,
    Group,
    Interface,
    Join,
    LoopHeader,
    Over,
    Region,
    StateEdge,
    Task,
)
from graphflow.schema import MISSING, Key, Merge, Type, type_of
from graphflow.template import Template, parse

ODD = [
    "",
    " ",
    "-",
    "a b",
    "a?",
    "a:",
    "a.b",
    'a"b',
    "a, b",
    "a]",
    "a -> b",
    "é",
    "\u2028",
    "\ud800",
    "x\ny",
    "\\",
    "1",
]
WORDS = ["not", "exists", "key", "None", "inf", "reads", "writes", "within", "open", "back", "call:f", "or", "len"]
NICE = ["a", "draft", "user:tier", "out:wf/n", "main/short/text", "score_2", "wf/n#join", "@x", "s/a#2"]
NAMES = st.sampled_from([*NICE * 4, *WORDS, *ODD]) | st.text(max_size=6)
TEXTS = st.sampled_from(["", "next", "up to 3, until a > 2", "only {score}", "a] back", '"', "]"]) | st.text(max_size=8)
FIELDS = st.lists(st.sampled_from(["total", "net", "a b", "x.y", "0", ""]), max_size=2).map(tuple)
TYPES = st.sampled_from(
    [
        type_of(hint)
        for hint in (str, int, list[str], dict[str, int | None], str | None, Any, tuple[()], tuple[int, ...])
    ]
    + [
        Type(text)
        for text in ("Literal['a, b', 'x]']", 'Literal["it\'s"]', "a writes b", "list[", "", "x |", "Box[int]")
    ]
    + [
        Type(text)
        for text in ("Callable[[int], str]", "str implicit", "Literal[b'x', -1, Kind.A]", "é.É", "x\ny", "a: b")
    ]
)
NUMBERS = st.integers(-(10**20), 10**20) | st.floats(allow_nan=False)
PLAIN = st.one_of(NUMBERS, st.booleans(), st.none(), st.text(max_size=8), st.binary(max_size=4), st.just(10**4000))
VALUES = st.recursive(
    PLAIN,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(st.text(max_size=3) | st.integers(), inner, max_size=2),
        st.frozensets(st.text(max_size=2) | st.integers() | st.booleans(), max_size=3),
        st.sets(st.text(max_size=2) | st.floats(allow_nan=False) | st.none(), max_size=3),
    ),
    max_leaves=5,
)
REFS = st.builds(Ref, NAMES, FIELDS)
OPERANDS = REFS | st.builds(Length, REFS)
LITERALS = VALUES.map(Literal)
CALLS = st.builds(
    Call,
    st.sampled_from(["fits", "Box.<locals>.<lambda>", "two words", ""]).map(NamedFunction),
    st.lists(st.builds(CallRead, NAMES, NAMES, st.booleans()), max_size=3).map(tuple),
)
QUESTIONS = st.one_of(
    OPERANDS,
    CALLS,
    st.builds(Compare, st.sampled_from(["==", "!=", "<", "<=", ">", ">=", "contains"]), OPERANDS, OPERANDS | LITERALS),
    st.builds(
        Compare,
        st.sampled_from(["in", "not in"]),
        OPERANDS,
        OPERANDS | st.lists(VALUES, max_size=3).map(tuple).map(Literal),
    ),
    st.builds(Exists, REFS),
    st.builds(Is, REFS, VALUES),
    st.builds(Matches, REFS, st.text(max_size=5)),
)
CONDITIONS: st.SearchStrategy[Condition] = st.recursive(
    QUESTIONS,
    lambda inner: st.builds(And, inner, inner) | st.builds(Or, inner, inner) | st.builds(Not, inner),
    max_leaves=4,
)
ORIGINS = st.none() | st.builds(Origin, st.text(max_size=3), st.integers(1, 9))
READS = st.builds(Read, NAMES, TYPES, st.booleans(), FIELDS, st.booleans(), ORIGINS)
WRITES = st.builds(Write, NAMES, TYPES, st.booleans())
CONTRACTS = st.builds(
    Contract,
    st.lists(READS, max_size=2).map(tuple),
    st.lists(WRITES, max_size=2).map(tuple),
    st.sampled_from([(), (), ("computed",)]),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["none", "idempotent", "irreversible"]),
)
SECONDS = st.integers(0, 99) | st.floats(0, 1e9)
FAILURES = [Exception, ValueError, TimeoutError, type("Busy", (Exception,), {}), type("two, words", (Exception,), {})]
POLICIES = st.builds(
    RetryPolicy,
    st.integers(1, 9),
    SECONDS,
    SECONDS,
    SECONDS,
    SECONDS,
    st.lists(st.sampled_from(FAILURES), min_size=1, max_size=2).map(tuple),
)
OVERS = st.builds(Over, NAMES, FIELDS, NAMES, st.none() | NAMES)
KEYS = st.builds(
    Key,
    NAMES.filter(str.strip),
    TYPES,
    VALUES | st.just(MISSING),
    merge=st.sampled_from(
        [None, Merge.append, Merge.sum, Merge.of(max), Merge.of(min, commutative=True, name="append")]
    ),
    persist=st.booleans(),
    doc=st.text(max_size=3),
)
INTERFACES = st.builds(
    Interface,
    st.none() | st.lists(st.tuples(NAMES, TYPES, st.booleans(), VALUES | st.just(MISSING)), max_size=2).map(tuple),
    st.none() | st.lists(st.tuples(NAMES, TYPES, st.booleans()), max_size=2).map(tuple),
    st.lists(KEYS, max_size=2).map(tuple),
    st.booleans(),
)
FAULTS = st.builds(
    Fault,
    st.sampled_from(["unknown-target", "irreducible-cycle", "unexpected-edge"]),
    NAMES,
    TEXTS,
    st.lists(NAMES, max_size=2).map(tuple),
)
NONE_OR_NAME = st.none() | NAMES


def renamed(text: str, prefix: str) -> Template:
    return parse(text).renamed(prefix.__add__)


HALTS = st.none() | st.builds(renamed, TEXTS, st.sampled_from(["", "", "wf/s/", " "]))
TASKS = st.builds(
    Task,
    st.just(""),
    st.just(""),
    CONTRACTS,
    ORIGINS,
    st.sampled_from(["model", "code", "custom", "ask", "glue"]),
    st.none() | TEXTS,
    st.none() | POLICIES,
    st.none() | SECONDS,
    NONE_OR_NAME,
    NONE_OR_NAME,
    NONE_OR_NAME,
    NAMES,
    st.just(object()),
)
BRANCHES = st.builds(
    Branch,
    st.just(""),
    st.just(""),
    CONTRACTS,
    arms=st.lists(st.builds(Arm, TEXTS, st.none() | CONDITIONS), max_size=3, unique_by=lambda arm: arm.label).map(
        tuple
    ),
    halt=HALTS,
    subject=TEXTS,
    cases=st.booleans(),
    multiple=st.booleans(),
)
JOINS = st.builds(
    Join,
    st.just(""),
    st.just(""),
    CONTRACTS,
    exclusive=st.booleans(),
    exit_key=NONE_OR_NAME,
    collect=st.lists(st.builds(Collect, NAMES, NAMES, st.booleans()), max_size=2).map(tuple),
    gather=st.lists(st.builds(Gathered, NAMES, TEXTS, NAMES, NAMES), max_size=2).map(tuple),
)
LOOPS = st.builds(
    LoopHeader,
    st.just(""),
    st.just(""),
    CONTRACTS,
    bound=st.none() | st.integers(),
    until=st.none() | CONDITIONS,
    exhausted=st.sampled_from(["continue", "fail"]),
)
INNER = st.one_of(TASKS, BRANCHES, JOINS, LOOPS, st.builds(Fork, st.just(""), st.just(""), CONTRACTS))


@dataclass
class _Drawn:
    """A graph that is being drawn."""

    draw: Any

    def graph(self) -> Graph:
        count = self.draw(st.integers(0, 4))
        names = NAMES.filter(lambda name: name not in ("", "top"))
        ids = self.draw(st.lists(names, min_size=count + 4, max_size=count + 4, unique=True))
        regions = self.regions(ids[count + 2 :])
        nodes: list[Any] = [Entry("", "", self.draw(CONTRACTS)), *(self.draw(INNER) for _ in range(count))]
        nodes.append(Exit("", "", self.draw(CONTRACTS)))
        homes = [self.draw(st.sampled_from(sorted(regions))) for _ in nodes]
        nodes = [replace(node, id=ids[at], region=homes[at]) for at, node in enumerate(nodes)]
        nodes = [self.grouped(node, nodes) for node in nodes]
        edges = self.edges(nodes)
        held = {id_: self.items(id_, nodes, regions) for id_ in regions}
        return Graph(
            self.draw(TEXTS),
            {node.id: node for node in nodes},
            tuple(edges),
            {id_: replace(region, items=held[id_]) for id_, region in regions.items()},
            interface=self.draw(INTERFACES),
            state=tuple(self.state(nodes) for _ in range(self.draw(st.integers(0, 2)))),
            faults=tuple(self.draw(st.lists(FAULTS, max_size=1))),
        )

    def regions(self, ids: list[str]) -> dict[str, Region]:
        outermost = self.draw(st.sampled_from(["", "", "top"]))
        found = {outermost: Region(outermost, self.draw(st.sampled_from(["root", "sequence"])), None)}
        for id_ in ids:
            if id_ not in found:
                parent = self.draw(st.sampled_from(sorted(found)))
                label = self.draw(TEXTS)
                found[id_] = Region(id_, self.draw(st.sampled_from(["loop", "map", "x y"])), parent, label=label)
        return found

    def grouped(self, node: Any, nodes: list[Any]) -> Any:
        joins = [each.id for each in nodes if isinstance(each, Join)]
        if not isinstance(node, Fork) or not joins or self.draw(st.booleans()):
            return node
        group = Group(
            self.draw(st.sampled_from(joins)),
            self.draw(st.none() | OVERS),
            self.draw(st.none() | st.integers(1, 3)),
            self.draw(st.sampled_from(["fail", "collect"])),
            self.draw(st.none() | st.integers(1, 3)),
            self.draw(st.none() | POLICIES),
            self.draw(st.none() | SECONDS),
        )
        return replace(node, group=group)

    def edges(self, nodes: list[Any]) -> list[Edge]:
        found: dict[Edge, None] = {}
        for at, node in enumerate(nodes[:-1]):
            later = st.sampled_from([each.id for each in nodes[at + 1 :]])
            labels = [arm.label for arm in node.arms] if isinstance(node, Branch) else [self.draw(TEXTS), "next"]
            found |= {Edge(node.id, self.draw(later), label): None for label in labels}
            headers = [each.id for each in nodes[: at + 1] if isinstance(each, LoopHeader) or _is_code(each)]
            if headers and not isinstance(node, Branch):
                found[Edge(node.id, self.draw(st.sampled_from(headers)), self.draw(TEXTS), back=True)] = None
        return list(found)

    def items(self, region: str, nodes: list[Any], regions: dict[str, Region]) -> tuple[str, ...]:
        inside = [node.id for node in nodes if node.region == region]
        inside += [each.id for each in regions.values() if each.parent == region]
        return tuple(self.draw(st.permutations(inside)) if self.draw(st.booleans()) else inside)

    def state(self, nodes: list[Any]) -> StateEdge:
        ends = st.sampled_from([node.id for node in nodes])
        return StateEdge(self.draw(ends), self.draw(ends), self.draw(NAMES), self.draw(TYPES))


def _is_code(node: object) -> bool:
    return isinstance(node, Task) and node.kind == "custom"


@st.composite
def graphs(draw: Any) -> Graph:
    """Draw a graph that `verify` accepts."""
    return _Drawn(draw).graph()


def bare(part: Any, name: str = "") -> Any:
    """Take a graph, or a part of one, apart into plain data, without origins, bodies, docs and declarations."""
    if name in ("origin", "body", "doc", "declarations", "exceptions"):
        return None
    if name == "open":
        return bool(part)
    if isinstance(part, Merge):
        return part.name, part.commutative, part.start
    if name == "type" or isinstance(part, Type):
        return type_of(part).text
    if isinstance(part, Condition):
        return (type(part), *(bare(getattr(part, each)) for each in part.__slots__))
    if is_dataclass(part) and not isinstance(part, type):
        return (type(part), *(bare(getattr(part, each.name), each.name) for each in fields(part)))
    if isinstance(part, Mapping):
        return dict, [(bare(key), bare(value)) for key, value in part.items()]
    if isinstance(part, (list, tuple)):
        return type(part), [bare(each) for each in part]
    if isinstance(part, (set, frozenset)):
        return type(part), {bare(each) for each in part}
    return type(part), part
