"""The text of each construct as it is, what the reader says to what it cannot read, and what stands in for what is lost."""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest
from pydantic import BaseModel, Field

from graphflow.checker.engine import check_graph
from graphflow.conditions import ConditionError, Is, Ref, as_condition, evaluate, key, parse_condition, text
from graphflow.conditions.parsing import NamedFunction
from graphflow.contracts.contract import Contract, Origin, Read, Write
from graphflow.contracts.retry import RetryPolicy
from graphflow.errors import UsageError
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
    Task,
)
from graphflow.ir.reading import parse_graph
from graphflow.ir.text import print_graph
from graphflow.schema import Key, Merge, type_of
from graphflow.template import parse

STR = type_of(str)
HANDLED = RetryPolicy(attempts=3, backoff=0.5, exceptions=(TimeoutError, ValueError))


def over_budget(spent: int, limit: int = 3) -> bool:
    return spent > limit


def graph_of(*middle: Any, regions: tuple[Region, ...] = (), **more: Any) -> Graph:
    """A graph with these nodes between entry and exit, one after the other."""
    nodes = [Entry("@entry", ""), *middle, Exit("@exit", "")]
    edges = tuple(Edge(a.id, b.id) for a, b in pairwise(nodes) if not isinstance(a, Branch))
    edges += tuple(
        Edge(node.id, "@exit", arm.label) for node in middle if isinstance(node, Branch) for arm in node.arms
    )
    inside: dict[str, list[str]] = {"": [], **{region.id: [] for region in regions}}
    for item, region in [*((node.id, node.region) for node in nodes), *((r.id, r.parent or "") for r in regions)]:
        inside[region].append(item)
    held = {r.id: replace(r, items=tuple(inside[r.id])) for r in (Region("", "root", None), *regions)}
    return Graph("g", {node.id: node for node in nodes}, edges, held, **more)


NODES = {
    'task wf/n model "big" retry 3 backoff=0.5 on TimeoutError,ValueError timeout=2.5 output=out:n route=route:n '
    "reads topic: str writes draft?: str idempotent": Task(
        "wf/n", "wf", Contract((Read("topic", STR),), (Write("draft", STR, sure=False),), answers_when_escalating=False,
        effect="idempotent"), None, "model", "big", HANDLED, 2.5, "out:n", "route:n",
    ),
    "task wf/s#outputs glue fresh=wf/s/ scope=main/ reads wf/s/x?: Any": Task(
        "wf/s#outputs", "wf/s", Contract((Read("wf/s/x", optional=True),)), kind="glue", fresh="wf/s/", scope="main/",
    ),
    "task wf/c#code custom reads a.b.c: Any, now: Any implicit escalates unanswered open": Task(
        "wf/c#code", "wf/c", Contract(
            (Read("a", path=("b", "c")), Read("now", implicit=True)), (), ("computed",), escalates=True,
            answers_when_escalating=False,
        ), kind="custom",
    ),
    "task wf/m model escalates answered": Task("wf/m", "wf", Contract(escalates=True), kind="model"),
    "fork wf/x#try ends wf/x#end retry 2 timeout=30 within wf/x#guard": Fork(
        "wf/x#try", "wf/x#guard", group=Group("wf/x#end", retry=RetryPolicy(2), timeout=30),
    ),
    "fork wf/p#fork ends wf/p#join need=1 collects limit=4": Fork(
        "wf/p#fork", "wf/p", group=Group("wf/p#join", need=1, failures="collect", limit=4),
    ),
    "fork wf/m#fork ends wf/m#join over gaps.queries item=query index=i reads gaps.queries: Any writes query: Any": Fork(
        "wf/m#fork", "wf/m", Contract((Read("gaps", path=("queries",)),), (Write("query"),)),
        group=Group("wf/m#join", Over("gaps", ("queries",), "query", "i")),
    ),
    "join wf/m#join collects result -> results, notes -> found flatten reads result: Any": Join(
        "wf/m#join", "wf/m", Contract((Read("result"),)),
        collect=(Collect("result", "results"), Collect("notes", "found", flatten=True)),
    ),
    "join wf/n#join gathers wf/a -> a from out:a, wf/r#route [x \\u005d] -> b from out:b writes in:n: Any": Join(
        "wf/n#join", "wf/n", Contract(writes=(Write("in:n"),)),
        gather=(Gathered("wf/a", "next", "a", "out:a"), Gathered("wf/r#route", "x ]", "b", "out:b")),
    ),
    "join wf/l#exit exclusive exit_key=how": Join("wf/l#exit", "wf/l", exclusive=True, exit_key="how"),
    "loop wf/n#header": LoopHeader("wf/n#header", "wf/n"),
    "loop wf/l#header bound=3 until (score > 5 and not done) or fail reads score: Any": LoopHeader(
        "wf/l#header", "wf/l", Contract((Read("score"),)), bound=3, until=(key("score") > 5) & ~key("done"),
        exhausted="fail",
    ),
    'branch wf/n#route multiple reads route:n: Any\n  arm "a" when route:n is \'A\'\n  arm "default"': Branch(
        "wf/n#route", "wf/n", Contract((Read("route:n"),)), arms=(Arm("a", Is(Ref("route:n"), "A")), Arm("default")),
        subject="route:n", cases=True, multiple=True,
    ),
    'branch wf/g halt "only {score}" from wf/s/score about "quality"\n  arm "pass" when call:over_budget(spent, limit?)':
        Branch(
            "wf/g", "wf", arms=(Arm("pass", as_condition(over_budget)),), halt=parse("only {score}").renamed("wf/s/".__add__),
            subject="quality",
        ),
    'task "two words" code reads "a b"."x.y": "odd, type"': Task(
        "two words", "", Contract((Read("a b", type_of("odd, type"), path=("x.y",)),)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("line", NODES)
def test_each_construct_has_its_line(line: str) -> None:
    node = NODES[line]
    regions = [Region("wf", "workflow", "")] * node.region.startswith("wf")
    regions += [Region(node.region, "custom", "wf")] * (node.region not in ("", "wf"))
    ends = [Join(node.group.join, node.region)] if isinstance(node, Fork) and node.group else []
    graph = graph_of(node, *ends, regions=tuple(regions))
    assert f"\n{line}\n" in print_graph(graph)
    assert parse_graph(print_graph(graph)) == graph


INTERFACE = Interface(
    (("topic", STR, True, "-"), ("limit", type_of(int), False, 3)),
    (),
    (
        Key("notes", list[str], default=["it's"], merge=Merge.append, persist=True),
        Key("best", int, merge=Merge.of(max, commutative=True)),
        Key("sum", merge=Merge.of(sum)),
        Key("user:tags", set[str], default={"b", "a"}),
    ),
    closed=True,
)


def test_a_whole_graph_as_text() -> None:
    empty = Region("wf/none", "sequence", "wf", label="nothing")
    graph = graph_of(
        Task("wf/a", "wf"),
        regions=(Region("wf", "workflow", "", label="up to 3"), empty),
        interface=replace(INTERFACE, inputs=None),
        faults=(Fault("unknown-target", "wf/a", "gone", ("wf/b",)),),
    )
    assert print_graph(graph) == (
        'graphflow-ir 1 "g"\n'
        "inputs open\n"
        'key notes: list[str] = ["it\'s"] merge=append persist\n'
        "key best: int merge=call:max commutative\n"
        "key sum: Any merge=call:sum\n"
        "key user:tags: set[str] = {'a', 'b'}\n"
        "keys closed\n"
        "outputs none\n"
        'region "" root items @entry, @exit, wf\n'
        'region wf workflow "up to 3"\n'
        'region wf/none sequence "nothing"\n'
        "entry @entry\n"
        "task wf/a code\n"
        "exit @exit\n"
        "edge @entry -> wf/a\n"
        "edge wf/a -> @exit\n"
        'fault unknown-target wf/a "gone" with wf/b\n'
    )
    assert parse_graph(print_graph(graph)) == graph


def test_declared_inputs_have_lines() -> None:
    printed = print_graph(graph_of(interface=INTERFACE))
    assert "\ninput topic: str = '-'\ninput limit?: int = 3\n" in printed
    assert parse_graph(printed).interface.inputs == INTERFACE.inputs


# --- what counts ------------------------------------------------------------------------------------------------------

TASK = Task("wf", "", Contract((Read("a", STR),), open=("computed",)), kind="model", model="big")


def test_what_does_not_change_the_program_does_not_count() -> None:
    graph = graph_of(TASK)
    reads = (Read("a", STR, origin=Origin("f.py", 3)),)
    other = replace(TASK, contract=Contract(reads, open=("other",)), origin=Origin("f.py", 1), body=print)
    assert graph_of(other) == graph
    assert hash(graph_of(other)) == hash(graph)
    assert print_graph(graph_of(other)) == print_graph(graph)
    assert graph.with_state(()) == graph
    assert graph != print_graph(graph)


@pytest.mark.parametrize(
    "other",
    [
        replace(TASK, model="small"),
        replace(TASK, retry=RetryPolicy(2)),
        replace(TASK, kind="code"),
        replace(TASK, contract=replace(TASK.contract, open=())),
        replace(TASK, contract=replace(TASK.contract, reads=(Read("a", type_of(int)),))),
        replace(TASK, timeout=1),
    ],
    ids=str,
)
def test_what_changes_the_program_counts(other: Task) -> None:
    assert graph_of(other) != graph_of(TASK)
    assert print_graph(graph_of(other)) != print_graph(graph_of(TASK))


def test_models_and_reasons_do_not_count_for_the_fingerprint() -> None:
    gate = Branch("wf/g", "", arms=(Arm("pass", key("ok")),), halt=parse("no {a}"), subject="ok")
    first, second = graph_of(TASK, gate), graph_of(replace(TASK, model=None), replace(gate, halt=parse("never")))
    assert print_graph(first, models=False) == print_graph(second, models=False)
    assert print_graph(first) != print_graph(second)
    assert print_graph(first, models=False) != print_graph(graph_of(TASK, replace(gate, halt=None)), models=False)


# --- what stands in ---------------------------------------------------------------------------------------------------


class Kind(enum.Enum):
    BUG = "bug"


class Perm(enum.Flag):
    READ = 1
    WRITE = 2


@dataclass
class Point:
    tags: set[str]
    note: str = "it's (1"


class Invoice(BaseModel):
    total: Decimal
    secret: str = Field("s", repr=False)


class Silent:
    """It has no text of its own."""


class Odd:
    def __repr__(self) -> str:
        return 'Odd(" or <fail'


VALUES = {
    "x == Kind.BUG": Kind.BUG,
    "x == <Perm.READ|WRITE>": Perm.READ | Perm.WRITE,
    "x == Decimal('1.50')": Decimal("1.50"),
    "x == Point(tags={'a', 'b', 'c'}, note=\"it's (1\")": Point({"c", "b", "a"}),
    "x == Invoice(total=Decimal('1'))": Invoice(total=Decimal(1)),
    "x == <Silent object>": Silent(),
    'x == <"Odd(\\" or <fail">': Odd(),
    "x == [Kind.BUG, (None,), {1: {'a'}}, frozenset(), set()]": [Kind.BUG, (None,), {1: {"a"}}, frozenset(), set()],
    "x == <class 'int'>": int,
    "x == -inf": float("-inf"),
}


@pytest.mark.parametrize("expected", VALUES)
def test_values_of_classes_keep_their_text(expected: str) -> None:
    value = VALUES[expected]
    printed = text(key("x") == value)
    assert printed.replace("test_lines.", "").replace("tests.ir.", "") == expected
    loop = LoopHeader("wf#header", "", Contract((Read("x"),)), bound=2, until=key("x") == value, exhausted="fail")
    graph = graph_of(loop, interface=Interface(keys=(Key("x", default=value, persist=True),)))
    assert parse_graph(print_graph(graph)) == graph
    assert text(parse_condition(printed)) == printed


def test_a_field_on_the_right_is_no_member_of_an_enum() -> None:
    field = key("x") == key("Kind").field("BUG")
    assert text(field) == 'x == key("Kind").BUG'
    assert text(parse_condition(text(field))) == text(field)
    assert text(key("x") == Kind.BUG) == "x == Kind.BUG"


def test_a_function_that_was_read_refuses_to_be_called() -> None:
    condition = parse_condition(text(as_condition(over_budget), exact=True))
    with pytest.raises(UsageError, match="function `over_budget` cannot be called"):
        evaluate(condition, {"spent": 4}.get)
    with pytest.raises(UsageError, match="`max` cannot be called"):
        parse_graph(print_graph(graph_of(interface=INTERFACE))).interface.keys[1].merge.apply(1, 2)  # type: ignore[union-attr]
    assert NamedFunction("f") == NamedFunction("f")
    assert not isinstance(UsageError("x"), ConditionError)


def test_a_graph_that_was_read_can_be_checked() -> None:
    graph = graph_of(Task("wf", "", Contract((Read("missing", STR),))), interface=Interface(()))
    found = check_graph(parse_graph(print_graph(graph)))
    assert [(each.code, each.key) for each in found] == [("GF201", "missing")]


# --- what is refused --------------------------------------------------------------------------------------------------

HEAD = 'graphflow-ir 1 "g"\n'
BODY = "entry @entry\ntask a code\nexit @exit\nedge @entry -> a\nedge a -> @exit\n"
REFUSED = {
    "": "line 1, column 1: found the end of the line, expected `graphflow-ir 1`",
    'graphflow-ir 2 "g"': 'line 1, column 14: found `2 "g"`, expected format 1, the only one',
    "graphflow-ir 1 g": "expected text in double quotes",
    HEAD + "stage a": "line 2, column 1: found `stage a`, expected a line that begins with one of branch, ",
    HEAD + "task a code reads x": "line 2, column 20: found the end of the line, expected `:`",
    HEAD + "task a code reads x: 3": "expected a type, as `str`",
    HEAD + "task a code timeout=x": "expected a value",
    HEAD + "task a code timeout='x'": "column 21: found `'x'`, expected a number",
    HEAD + "task a code retry 0": "expected something else: RetryPolicy: `attempts` is a number of at least 1, got 0",
    HEAD + "task a code retries": "found `retries`, expected the end of the line, or the next part of it in the order",
    HEAD + "task a b/code writes x: int reads y: int": "found `reads y: int`, expected the end of the line",
    HEAD + 'key " ": int': "expected something else: Key: `name` is empty; name the key",
    HEAD + "key a: int merge=product": "expected one of append, extend, ",
    HEAD + "task b/a code": "expected a line for the region `b` before that of `b/a` inside it",
    HEAD + "region a/b loop": "expected a line for the region `a` before that of `a/b` inside it",
    HEAD + BODY + "task a code": "line 7, column 6: found `a code`, expected another id",
    HEAD + BODY + "edge a -> b": "expected an edge between nodes with lines above; there is none for `b`",
    HEAD + BODY + "fault lost a": "expected one of unknown-target, irreducible-cycle",
    HEAD + "branch a\n  arm x": "line 3, column 7: found `x`, expected text in double quotes",
    HEAD + 'branch a\n  arm "x" when (a and b or c)': "`and` and `or` never stand in the same parentheses",
    HEAD + 'branch a\n  arm "x" when (a)': "a single condition stands without parentheses",
    HEAD + 'branch a\n  arm "x" when not': 'written key("...")',
    HEAD + 'branch a halt "{a} {b}" from x': "expected 2 keys behind `from`, one for each placeholder",
    HEAD + BODY + "edge a -> @entry": "the text was read, but it is no graph that can be: malformed graph `g`",
    HEAD + BODY.replace("exit @exit", "entry @exit"): "2 Entry nodes",
}


@pytest.mark.parametrize("refused", REFUSED)
def test_what_is_refused_is_refused_with_a_reason(refused: str) -> None:
    with pytest.raises(UsageError) as raised:
        parse_graph(refused)
    assert REFUSED[refused] in str(raised.value)


def test_spaces_at_the_ends_and_empty_lines_do_not_count() -> None:
    graph = graph_of(TASK)
    assert parse_graph("\r\n".join(print_graph(graph).split("\n")).replace("\r", " \r") + "\n\n") == graph
