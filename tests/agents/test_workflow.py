"""`Workflow` lowers free-form graphs to joins, forks, branches and headers around its nodes, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import pytest

from graphflow import (
    DEFAULT_ROUTE,
    END,
    START,
    ConditionalAgent,
    Context,
    Flow,
    LlmAgent,
    LoopAgent,
    ParallelAgent,
    SequentialAgent,
    SubFlow,
    Workflow,
    agent,
    key,
)
from graphflow.agents.base import Agent
from graphflow.ir.graph import Graph, verify
from graphflow.ir.nodes import Branch, Fault, Join, Task
from graphflow.ir.text import print_graph
from graphflow.workflow import Edge


def node(name: str) -> Callable[[], None]:
    """Make a function that does nothing."""

    def body() -> None: ...

    body.__name__ = name
    return body


a, b, c, d, e = map(node, "abcde")


@agent
def leaver(ctx: Context) -> None:
    """Ends the loop around it."""
    ctx.actions.escalate = True


def graph_of(root: Agent, **declared: Any) -> Graph:
    """Lower an agent; the graph has to be well made."""
    graph = Flow(root, **declared).graph
    verify(graph)
    return graph


def edges_of(graph: Graph) -> str:
    """Write the edges, one line each."""
    lines = print_graph(graph, state=False).splitlines()
    return "\n".join(line.removeprefix("edge ") for line in lines if line.startswith("edge "))


def lowered(*chains: Any) -> str:
    """Write the edges of a workflow `w`."""
    return edges_of(graph_of(Workflow("w", list(chains))))


def line_of(graph: Graph, start: str) -> str:
    """Give the one line of the printed graph that begins so."""
    (line,) = (line for line in print_graph(graph, state=False).splitlines() if line.startswith(start + " "))
    return line


def is_text(actual: str, expected: str) -> bool:
    """Compare line by line, whatever the indentation."""
    assert actual.splitlines() == [line.strip() for line in expected.strip().splitlines()]
    return True


def test_a_chain_is_a_sequence() -> None:
    assert is_text(
        lowered((START, a, b, END)),
        """
        @entry -> w/a
        w/a -> w/b
        w/b -> @exit
        """,
    )


def test_a_router_is_a_branch_with_an_arm_for_each_route() -> None:
    assert is_text(
        lowered((START, a, {"x": b, "y": (c, d), DEFAULT_ROUTE: END})),
        """
        @entry -> w/a
        w/a -> w/a#route
        w/a#route -> w/b [x]
        w/a#route -> w/a#out2 [y]
        w/a#route -> w#finish [default]
        w/a#out2 -> w/c
        w/a#out2 -> w/d
        w/b -> w#finish
        w/c -> w#finish
        w/d -> w#finish
        w#finish -> @exit
        """,
    )


def test_groups_fork_and_join() -> None:
    assert is_text(
        lowered((START, (a, b), c, (d, e))),
        """
        @entry -> w#start
        w#start -> w/a
        w#start -> w/b
        w/a -> w/c#in
        w/b -> w/c#in
        w/c#in -> w/c
        w/c -> w/c#out
        w/c#out -> w/d
        w/c#out -> w/e
        w/d -> w#finish
        w/e -> w#finish
        w#finish -> @exit
        """,
    )


def test_plain_edges_fork_beside_the_routes() -> None:
    assert is_text(
        lowered((START, a, b), (a, {"x": c})),
        """
        @entry -> w/a
        w/a -> w/a#out
        w/a#out -> w/b
        w/a#out -> w/a#route
        w/a#route -> w/c [x]
        w/b -> w#finish
        w/c -> w#finish
        w#finish -> @exit
        """,
    )


def test_a_loop_is_left_from_its_middle() -> None:
    """The header has no way out of its own; what leaves stands after the loop."""
    assert is_text(
        lowered((START, a, b, {"on": c, "out": d}), (c, a)),
        """
        @entry -> w/a#cycle
        w/a#cycle -> w/a [body]
        w/a -> w/b
        w/b -> w/b#route
        w/b#route -> w/c [on]
        w/b#route -> w/d [out]
        w/c -> w/a#cycle back
        w/d -> @exit
        """,
    )


def test_a_node_may_lead_to_itself() -> None:
    assert is_text(
        lowered((START, a, {"again": a, "on": b})),
        """
        @entry -> w/a#cycle
        w/a#cycle -> w/a [body]
        w/a -> w/a#route
        w/a#route -> w/a#cycle [again] back
        w/a#route -> w/b [on]
        w/b -> @exit
        """,
    )


def test_loops_nest() -> None:
    assert is_text(
        lowered((START, a, b, {"in": b, "on": c}), (c, {"out": a, "done": d})),
        """
        @entry -> w/a#cycle
        w/a#cycle -> w/a [body]
        w/a -> w/b#cycle
        w/b#cycle -> w/b [body]
        w/b -> w/b#route
        w/b#route -> w/b#cycle [in] back
        w/b#route -> w/c [on]
        w/c -> w/c#route
        w/c#route -> w/a#cycle [out] back
        w/c#route -> w/d [done]
        w/d -> @exit
        """,
    )


def test_a_header_is_entered_from_two_sides_through_a_join() -> None:
    assert is_text(
        lowered((START, (a, b), c, d, {"again": c, "stop": END})),
        """
        @entry -> w#start
        w#start -> w/a
        w#start -> w/b
        w/a -> w/c#in
        w/b -> w/c#in
        w/c#in -> w/c#cycle
        w/c#cycle -> w/c [body]
        w/c -> w/d
        w/d -> w/d#route
        w/d#route -> w/c#cycle [again] back
        w/d#route -> @exit [stop]
        """,
    )


def test_several_edges_that_go_round_join_before_the_header() -> None:
    """A header of two cycles begins one loop."""
    assert is_text(
        lowered((START, a, b, {"x": a, "y": c}), (c, {"x": a, "stop": END})),
        """
        @entry -> w/a#cycle
        w/a#cycle -> w/a [body]
        w/a -> w/b
        w/b -> w/b#route
        w/b#route -> w/a#back [x]
        w/b#route -> w/c [y]
        w/c -> w/c#route
        w/c#route -> w/a#back [x]
        w/c#route -> @exit [stop]
        w/a#back -> w/a#cycle back
        """,
    )


def test_an_edge_into_the_middle_of_a_loop_is_left_out_and_reported() -> None:
    graph = graph_of(Workflow("w", [(START, a, b, c, b), (a, c)]))

    assert graph.faults == (Fault("irreducible-cycle", "w/b", "w/c", ("w/a",)),)
    assert is_text(
        edges_of(graph),
        """
        @entry -> w/a
        w/a -> w/b#cycle
        w/b#cycle -> w/b [body]
        w/b -> w/c
        w/c -> w/b#cycle back
        """,
    )


def test_names_stand_for_nodes_and_unknown_ones_are_reported_once() -> None:
    graph = graph_of(Workflow("w", [("START", a, {"x": "nobody", "y": "b"}), ("zed", b, "END"), ("nobody", b)]))

    assert graph.faults == (Fault("unknown-target", "w/a", "nobody"), Fault("unknown-target", "w", "zed"))
    assert is_text(
        edges_of(graph),
        """
        @entry -> w/a
        w/a -> w/a#route
        w/a#route -> w/b [y]
        w/b -> @exit
        """,
    )


def test_unreachable_nodes_are_lowered() -> None:
    graph = graph_of(Workflow("w", [(START, a), (b, c, b)]))

    assert [id_ for id_ in graph.nodes if id_.count("/") == 1 and "#" not in id_] == ["w/a", "w/b", "w/c"]
    assert [edge.back for edge in graph.into("w/b#cycle")] == [True]


def test_without_a_beginning_nothing_runs() -> None:
    assert is_text(lowered(), "@entry -> @exit")
    assert "@entry -> w#finish" in lowered((a, b))


def test_edges_are_said_one_by_one_too() -> None:
    chains = lowered((START, a, {"x": b, "y": b, DEFAULT_ROUTE: c}))

    assert (
        lowered(Edge(START, a), Edge(a, b, route=["x", "y"]), Edge(from_node=a, to_node=c, route=DEFAULT_ROUTE))
        == chains
    )


def test_a_route_that_is_called_like_an_edge_of_the_graph_is_none() -> None:
    """In a loop an edge `escalate` would end it."""
    workflow = Workflow("w", [(START, a, {"escalate": b, "on": c, "call:x": d}), ((b, c, d), e)])
    graph = graph_of(LoopAgent("loop", [workflow], max_iterations=2))

    labels = [edge.label for edge in graph.out("loop/w/a#route")]
    assert labels == ["'escalate'", "on", "'call:x'"]
    assert all(edge.label == "next" for edge in graph.out("loop/w/e#in"))


# ---- what nodes hand to one another


def test_a_route_is_what_a_function_returns_sets_or_writes() -> None:
    @agent(writes="verdict")
    def writes() -> Literal["x", "y"]:
        return "x"

    @agent
    def returns() -> Literal["x", "y"]:
        return "x"

    @agent(writes="text")
    def sets(ctx: Context) -> None:
        ctx.route = "x" if ctx.iteration == 1 else "y"

    @agent
    def many() -> list[Literal["x", "y"]]:
        return ["x"]

    asks = LlmAgent(name="asks", instruction="?", output_key="mood")
    stages = [writes, returns, sets, many, asks]
    workflow = Workflow("w", [(START, *stages), *((stage, {"x": END}) for stage in stages)])
    graph = graph_of(workflow)

    found = {
        name: re.sub(".* reads ", "", line_of(graph, f"branch w/{name}#route"))
        for name in ("writes", "returns", "sets", "many", "asks")
    }
    assert found == {
        "writes": "verdict: Any",
        "returns": "route:returns: Any",
        "sets": "route:sets: Any",
        "many": "route:many: Any",
        "asks": "mood: Any",
    }
    tasks = {id_: node for id_, node in graph.nodes.items() if isinstance(node, Task)}
    assert tasks["w/writes"].route is None
    assert tasks["w/returns"].route == "route:returns"
    assert [write.type.text for write in tasks["w/sets"].contract.writes] == ["None", "Literal['x', 'y']"]
    assert [id_ for id_, node in graph.nodes.items() if isinstance(node, Branch) and node.multiple] == ["w/many#route"]


def test_composites_are_routed_by_their_last_stage_or_their_one_key() -> None:
    @agent
    def judge() -> bool:
        return True

    @agent(writes="kind")
    def left() -> Literal["x"]:
        return "x"

    @agent(writes="kind")
    def right() -> Literal["x"]:
        return "x"

    sequence = SequentialAgent("sequence", [left.clone({"name": "before"}), judge])
    either = ConditionalAgent("either", when=key("kind") == "x", then=left, otherwise=right)
    inner = Workflow("inner", [(START, a, judge.clone({"name": "inner_judge"}))])
    outer = Workflow("w", [(START, sequence, {True: either}), (either, {"x": inner}), (inner, {True: b})])
    graph = graph_of(outer)

    assert line_of(graph, "task w/sequence/judge").endswith("route=route:sequence writes route:sequence: bool")
    assert line_of(graph, "branch w/either#route").endswith("reads kind: Any")
    assert line_of(graph, "task w/inner/inner_judge").endswith("route=route:inner writes route:inner: bool")


def test_node_input_is_the_value_of_the_node_before() -> None:
    def count() -> int:
        return 1

    def double(node_input: int) -> int:
        return 2 * node_input

    graph = graph_of(Workflow("w", [(START, count, double)]))

    assert line_of(graph, "task w/count") == "task w/count code output=out:count writes out:count: int"
    assert line_of(graph, "task w/double") == "task w/double code reads out:count: int"


def test_after_a_join_node_input_is_a_mapping() -> None:
    def total(node_input: dict[str, int]) -> None: ...

    graph = graph_of(Workflow("w", [(START, (a, b), total)]))

    join = graph.nodes["w/total#in"]
    assert isinstance(join, Join)
    assert [(part.source, part.name, part.key) for part in join.gather] == [
        ("w/a", "a", "out:a"),
        ("w/b", "b", "out:b"),
    ]
    assert line_of(graph, "task w/total") == "task w/total code reads in:total: dict[str, int]"


def test_a_header_is_handed_the_value_of_each_side() -> None:
    """Before the loop the value of the node before it, then that of the node that goes round."""

    def refine(node_input: str) -> str:
        return node_input

    graph = graph_of(Workflow("w", [(START, a, refine, b, {"again": refine, "stop": END})]))

    assert line_of(graph, "task w/refine#first").endswith("reads out:a: Any writes in:refine: None")
    assert line_of(graph, "task w/refine#again").endswith("reads out:b: Any writes in:refine: None")
    assert line_of(graph, "task w/refine") == "task w/refine code reads in:refine: str"
    assert "w/refine#again -> w/refine#cycle back" in edges_of(graph)


def test_the_first_node_is_given_the_message_and_a_nested_one_what_its_workflow_is_given() -> None:
    def first(node_input: str) -> str:
        return node_input

    def then(node_input: str) -> None: ...

    inner = Workflow("inner", [(START, then)])
    graph = graph_of(Workflow("w", [(START, first, inner)]), inputs={"message": str})

    assert line_of(graph, "task w/first").endswith("reads message: str writes out:first: str")
    assert line_of(graph, "task w/inner/then") == "task w/inner/then code reads out:first: str"


def test_in_a_sub_flow_reserved_keys_are_those_of_the_sub_flow() -> None:
    def count() -> int:
        return 1

    def again(node_input: int) -> bool:
        return bool(node_input)

    inner = Workflow("iw", [(START, count, again, {True: again, False: END})])
    graph = graph_of(SubFlow("sub", Flow(inner, inputs={})))

    assert " reads sub/in:again: int " in line_of(graph, "task sub/iw/again")
    assert line_of(graph, "task sub/iw/again#first").endswith("reads sub/out:count: Any writes sub/in:again: int")
    assert line_of(graph, "branch sub/iw/again#route").endswith("reads sub/route:again: Any")


# ---- escalation in a loop around


def escalations(*chains: Any) -> list[str]:
    """The escalation edges of a workflow beside another branch in a loop."""
    loop = LoopAgent(
        "l", [ParallelAgent("p", [Workflow("w", list(chains)), agent(name="beside")(e)])], max_iterations=3
    )
    return [line for line in edges_of(graph_of(loop)).splitlines() if line.endswith("[escalate]")]


OUT = ["l/p#join -> l#exit [escalate]"]


@pytest.mark.parametrize(
    ("chains", "expected"),
    [
        ([(START, leaver, b)], ["l/p/w/leaver -> l/p#join [escalate]"]),
        (
            [(START, (leaver, b))],
            ["l/p/w/leaver -> l/p/w#finish [escalate]", "l/p/w#finish -> l/p#join [escalate]"],
        ),
        (
            [(START, (leaver, b), c, (d, a))],
            [
                "l/p/w/leaver -> l/p/w/c#in [escalate]",
                "l/p/w/c#in -> l/p/w#finish [escalate]",
                "l/p/w#finish -> l/p#join [escalate]",
            ],
        ),
        (
            [(START, a, (leaver, b)), ((leaver, b), a)],
            ["l/p/w/leaver -> l/p/w/a#back [escalate]", "l/p/w/a#back -> l/p#join [escalate]"],
        ),
        (
            [(START, (leaver, a)), ((leaver, a), b, c, {"again": b, "on": d})],
            ["l/p/w/leaver -> l/p/w/b#in [escalate]", "l/p/w/b#in -> l/p#join [escalate]"],
        ),
        (
            [(START, (leaver, a)), ((leaver, a), b, (c, d), e, {"again": b, "on": (node("f"), node("g"))})],
            [
                "l/p/w/leaver -> l/p/w/b#in [escalate]",
                "l/p/w/b#in -> l/p/w#finish [escalate]",
                "l/p/w#finish -> l/p#join [escalate]",
            ],
        ),
    ],
    ids=["alone", "end", "joins", "going round", "before a loop", "before a loop with a join"],
)
def test_an_escalation_goes_from_join_to_join(chains: list[Any], expected: list[str]) -> None:
    """What runs beside it runs to its join, and a loop that the way comes to is not entered."""
    assert escalations(*chains) == [*expected, *OUT]


def test_outside_of_a_loop_an_escalation_leads_nowhere() -> None:
    assert "escalate" not in lowered((START, (leaver, b), c))


# ---- the agent


def test_the_same_function_is_the_same_node_and_children_are_in_canonical_order() -> None:
    workflow = Workflow("w", [(d, e), (START, a, b), (a, c), ((b, c), d)])

    assert [child.name for child in workflow.children()] == ["a", "b", "c", "d", "e"]
    assert all(child.parent_agent is workflow for child in workflow.children())
    assert workflow.find_agent("c") in workflow.children()


def test_a_function_is_made_where_it_is_written() -> None:
    """Findings about one of many functions lead to it, not to the list of edges."""

    def alone() -> None: ...

    (child,) = Workflow("w", [(START, alone)]).children()

    assert child.origin is not None
    assert (child.origin.file, child.origin.line) == (__file__, alone.__code__.co_firstlineno)


def test_callables_are_the_same_node_where_they_are_equal() -> None:
    """Methods are made anew each time they are looked up; objects that cannot be hashed are told apart by identity."""

    class Desk:
        def open(self) -> None: ...

    @dataclass
    class Tidy:
        """Equal to others of its kind, so it cannot be hashed."""

        def __call__(self) -> None: ...

    desk, tidy = Desk(), Tidy()
    workflow = Workflow("w", [(START, desk.open, tidy), (desk.open, Tidy(), a), (tidy, b)])

    assert [child.name for child in workflow.children()] == ["open", "Tidy", "Tidy", "a", "b"]
    assert "w/open#out -> w/Tidy#2" in edges_of(graph_of(workflow))


def test_a_clone_has_one_copy_of_each_node() -> None:
    inner = SequentialAgent("inner", [agent(name="deep")(a)])
    workflow = Workflow("w", [(START, inner, b, {"x": inner, DEFAULT_ROUTE: END})])
    copy = workflow.clone({"name": "w2"})

    assert edges_of(graph_of(copy)) == edges_of(graph_of(workflow)).replace("w/", "w2/")
    assert not set(copy.children()) & set(workflow.children())
    assert copy.find_agent("deep") is not workflow.find_agent("deep")


@pytest.mark.parametrize(
    ("edges", "said"),
    [
        ((START, a, b), "edges are a list of chains"),
        ({"a": a}, "edges are a list of chains"),
        ([(START,)], "leads nowhere"),
        ([(START, 3)], "got 3"),
        ([(START, ())], "empty group"),
        ([(START, Workflow)], "`Workflow` is a class"),
        ([(a, START)], "no edge leads to START"),
        ([(a, {"x": START})], "no edge leads to START"),
        ([(START, a, END, b)], "no edge leaves END"),
        ([(START, {"x": a})], "before a routing dict stands the node"),
        ([({"x": a}, b)], "before a routing dict stands the node"),
        ([(START, a, {})], "names at least one route"),
        ([(START, a, {1.5: b})], "a route is a str"),
        ([(START, a, DEFAULT_ROUTE)], "DEFAULT_ROUTE is a key of a routing dict"),
        ([(START, a, {"x": None})], "got None"),
        ([(START, a, ((b, c), d))], "got (<function"),
    ],
)
def test_what_is_no_edge_is_refused_with_what_edges_look_like(edges: Any, said: str) -> None:
    with pytest.raises(TypeError, match=r"Workflow: parameter `edges`: .*" + re.escape(said)):
        Workflow("w", edges)
