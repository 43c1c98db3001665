"""What the check says about maps, sub-flows, custom agents, free-form graphs and policies, by hand."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from graphflow import (
    DEFAULT_ROUTE,
    END,
    START,
    AskAgent,
    BaseAgent,
    Flow,
    FunctionAgent,
    Key,
    LoopAgent,
    MapAgent,
    Merge,
    ParallelAgent,
    Report,
    SequentialAgent,
    SubFlow,
    Workflow,
)
from graphflow.agents import Agent


def nothing(ctx):
    return {}


def escalating(ctx):
    ctx.actions.escalate = True


def stage(name: str, reads: Any = (), writes: Any = (), may_write: Any = (), func: Any = nothing) -> FunctionAgent:
    return FunctionAgent(
        name, func, reads=reads if isinstance(reads, dict) else list(reads),
        writes=writes if isinstance(writes, dict) else list(writes), may_write=list(may_write),
    )  # fmt: skip


def found(report: Report, *codes: str) -> list[tuple[str, str, str | None]]:
    return [(f.code, f.node, f.key) for f in report if f.severity != "info" and (not codes or f.code in codes)]


def mapped(body: Agent, *after: Agent, collect: dict[str, Any], **options: Any) -> Report:
    each = MapAgent("m", over="queries", agent=body, collect=collect, **options)
    return Flow(SequentialAgent("s", [each, *after]), inputs={"queries": list[str]}).check()


def test_a_map_leaves_its_lists_and_nothing_else() -> None:
    report = mapped(stage("a", ["item"], ["found"]), stage("b", ["all", "found"]), collect={"found": "all"})
    assert found(report) == [("GF201", "s/b", "found")]
    assert "add it to its `collect`" in report.diagnostics[0].help


def test_a_collected_key_is_written_on_every_path_of_the_body() -> None:
    report = mapped(stage("a", ["item"], (), ["found"]), stage("b", ["all"]), collect={"found": "all"})
    assert found(report) == [("GF202", "s/m", "found")]


def test_the_item_ends_with_the_map() -> None:
    report = mapped(stage("a", ["item"], ["found"]), stage("b", ["all", "item"]), collect={"found": "all"})
    assert found(report) == [("GF201", "s/b", "item")]


def test_instances_of_maps_do_not_race_with_each_other_nor_with_what_is_outside() -> None:
    maps = [MapAgent(f"m{n}", over="queries", agent=stage(f"a{n}", ["item"], ["k"])) for n in (1, 2)]
    flow = Flow(ParallelAgent("p", [*maps, stage("c", (), ["k"])]), inputs={"queries": list[str]})
    assert found(flow.check(), "GF301", "GF302") == []
    lists = [MapAgent(f"m{n}", over="queries", agent=stage(f"a{n}", (), ["k"]), collect={"k": "all"}) for n in (1, 2)]
    assert found(Flow(ParallelAgent("p", lists), inputs={"queries": list[str]}).check(), "GF301") == [
        ("GF301", "p/m2", "all")
    ]


def test_updates_of_merged_keys_leave_a_map() -> None:
    flow = Flow(
        SequentialAgent(
            "s", [MapAgent("m", over="q", agent=stage("a", ["item"], {"log": str})), stage("b", {"log": list[str]})]
        ),
        inputs={"q": list[str]}, keys=[Key("log", list[str], merge=Merge.append)],
    )  # fmt: skip
    assert found(flow.check()) == [("GF202", "s/b", "log")], "a list may be empty"


@pytest.mark.parametrize(
    ("asked", "on_error", "fits"),
    [(list[int], "fail", True), (list[str], "fail", False), (list[int], "collect", False)],
)
def test_the_list_of_a_map_has_the_elements_that_instances_write(asked: Any, on_error: Any, fits: bool) -> None:
    body = stage("a", {"item": str}, {"found": int})
    report = mapped(body, stage("b", {"all": asked}), collect={"found": "all"}, on_error=on_error)
    assert found(report) == ([] if fits else [("GF401", "s/b", "all")])
    wrong = stage("a", {"item": int}, {"found": int})
    assert found(mapped(wrong, collect={"found": "all"}), "GF401") == [("GF401", "s/m/a", "item")]


def test_findings_in_a_sub_flow_use_its_own_names() -> None:
    inner = Flow(
        SequentialAgent("in", [stage("x", ["topic"], ["draft"]), stage("y", ["draaft"], ["out"])]),
        inputs={"topic": str, "tone": str}, outputs=["out"],
    )  # fmt: skip
    sub = SubFlow("p", inner, inputs={"topic": "subject", "tone": "subject"}, outputs={"out": "result"})
    report = Flow(SequentialAgent("s", [sub, stage("r", ["result", "draft"])]), inputs={"subject": str}).check()
    assert found(report) == [("GF208", "s/p", "tone"), ("GF201", "s/p/in/y", "draaft"), ("GF201", "s/r", "draft")]
    texts = " ".join(f"{f.message} {f.help}" for f in report)
    assert "did you mean `draft`" in texts
    assert "p/draft" not in texts


def test_a_sub_flow_begins_afresh_in_each_iteration() -> None:
    inner = Flow(SequentialAgent("in", [stage("x", ["k"]), stage("y", (), ["k"])]), inputs={})
    report = Flow(LoopAgent("l", [SubFlow("p", inner)], max_iterations=2), inputs={}).check()
    assert ("GF201", "l/p/in/x", "k") in found(report)


def test_two_sub_flows_side_by_side_do_not_race() -> None:
    inner = Flow(stage("x", (), ["k"]), inputs={}, outputs=["k"])
    subs = [SubFlow(f"p{n}", inner, outputs={"k": f"k{n}"}) for n in (1, 2)]
    report = Flow(ParallelAgent("p", subs), inputs={}, outputs=["k1", "k2"]).check()
    assert found(report) == []


class Both(BaseAgent):
    """Runs its children, and lets what the second one says out."""

    a: Any
    b: Any

    async def run(self, ctx):
        await ctx.run(self.a)
        async for event in ctx.run(self.b):
            yield event


def test_what_children_of_a_custom_agent_write_is_neither_sure_nor_missing() -> None:
    custom = Both(name="c", a=stage("a", ["kb", "nope"], ["ka"]), b=stage("b", ["ka"], (), ["kb"]))
    report = Flow(SequentialAgent("s", [custom, stage("d", ["ka", "kb", "never"])]), inputs={}).check()
    assert found(report) == [("GF201", "s/c/a", "nope"), ("GF201", "s/d", "never")]


def test_children_of_a_custom_agent_do_not_race_but_with_what_runs_beside_it() -> None:
    custom = Both(name="c", a=stage("a", (), ["k"]), b=stage("b", (), ["k"]))
    assert found(Flow(custom, inputs={}).check(), "GF301") == []
    report = Flow(ParallelAgent("p", [custom, stage("d", (), ["k"])]), inputs={}).check()
    assert found(report, "GF301") == [("GF301", "p/d", "k")]


def test_a_failed_stage_has_written_nothing() -> None:
    tried = stage("a", (), ["k"]).clone({"on_error": stage("h")})
    assert found(Flow(SequentialAgent("s", [tried, stage("r", ["k"])]), inputs={}).check()) == [("GF202", "s/r", "k")]
    tried = stage("a", (), ["k"]).clone({"on_error": {"k": 1}})
    assert found(Flow(SequentialAgent("s", [tried, stage("r", ["k"])]), inputs={}).check()) == []
    region = SequentialAgent("q", [stage("a", (), ["k"]), stage("b", ["k"])], on_error=stage("h", ["k"]))
    assert found(Flow(region, inputs={}).check()) == [("GF201", "h", "k")]


@pytest.mark.parametrize(
    ("join", "on_error", "wanted"),
    [
        (None, "fail", [("GF301", "s/p/b", "k")]),
        (1, "fail", [("GF202", "s/r", "x")]),
        (2, "fail", [("GF301", "s/p/b", "k"), ("GF202", "s/r", "x")]),
        (None, "collect", [("GF301", "s/p/b", "k"), ("GF202", "s/r", "x")]),
    ],
)
def test_what_a_parallel_with_a_policy_leaves(join: Any, on_error: Any, wanted: list[tuple[str, str, str]]) -> None:
    branches = [stage("a", (), ["k", "x"]), stage("b", (), ["k"]), stage("c", (), ["k"])]
    parallel = ParallelAgent("p", branches, join=join, on_error=on_error)
    assert found(Flow(SequentialAgent("s", [parallel, stage("r", ["k", "x"])]), inputs={}).check()) == wanted


def test_escalation_ends_at_the_border_of_a_sub_flow_and_out_of_a_custom_agent_by_its_code() -> None:
    def poll(name: str) -> FunctionAgent:
        return stage(name, func=escalating)

    def loop(*items: Agent) -> Report:
        return Flow(LoopAgent("l", list(items))).check()

    assert found(loop(MapAgent("m", over="q", agent=poll("a"))), "GF501", "GF503") == []
    assert found(loop(Both(name="c", a=stage("a"), b=poll("b")))) == []
    assert found(loop(SubFlow("p", Flow(poll("a"))))) == [("GF501", "l", None), ("GF503", "l/p/a", None)]
    outside = Flow(SequentialAgent("s", [MapAgent("m", over="q", agent=poll("a"))]), inputs={"q": list})
    assert found(outside.check()) == [("GF503", "s/m/a", None)]


def test_a_cycle_is_no_loop_for_an_escalation() -> None:
    cycle = Workflow("w", [(START, stage("a", func=escalating), {"x": "a", DEFAULT_ROUTE: END})])
    report = Flow(cycle, inputs={}).check()
    assert found(report) == [("GF503", "w/a", None)]
    assert "route" in report.diagnostics[0].help
    assert found(Flow(LoopAgent("l", [cycle.clone()], max_iterations=2), inputs={}).check()) == []


def test_what_a_node_does_not_give_is_not_taken() -> None:
    def judge() -> Literal["a", "b"]:
        return "a"

    def use(node_input: int) -> None: ...

    assert found(Flow(Workflow("w", [(START, judge, use)]), inputs={}).check()) == [("GF401", "w/use", None)]
    report = Flow(Workflow("w", [(START, judge, {"a": stage("x")})]), inputs={}).check()
    assert found(report) == [("GF504", "w/judge", None)]
    assert "'b'" in report.diagnostics[0].message
    assert "DEFAULT_ROUTE" in report.diagnostics[0].help


def test_only_loops_that_are_reached_and_wrong_themselves_are_reported() -> None:
    endless = Workflow("w", [(START, stage("a"), stage("b")), ("b", "a")])
    report = Flow(SequentialAgent("s", [endless, stage("c", ["nothing"])]), inputs={}).check()
    assert found(report) == [("GF105", "s/w/a", None)]
    nested = Workflow("w", [(START, stage("a"), LoopAgent("l", [stage("b")]), stage("c"))])
    assert found(Flow(nested, inputs={}).check()) == [("GF501", "w/l", None)]


def test_a_question_reads_its_prompt_and_writes_its_answer() -> None:
    ask = AskAgent("ask", prompt="Is {draft} good?", output_key="ok", output_schema=bool)
    report = Flow(SequentialAgent("s", [ask, stage("r", {"ok": int})]), inputs={"draft": str}).check()
    assert found(report) in ([], [("GF401", "s/r", "ok")])
    report = Flow(SequentialAgent("s", [ask.clone(), stage("r", {"ok": list})]), inputs={}).check()
    assert found(report) == [("GF201", "s/ask", "draft"), ("GF401", "s/r", "ok")]


def test_a_map_that_reads_and_collects_one_key_is_told_once() -> None:
    report = Flow(MapAgent("m", over="a", agent=stage("b"), collect={"a": "c"}), inputs={}).check()
    assert found(report, "GF201", "GF202") == [("GF201", "m", "a")]


def test_an_escalation_in_a_graph_in_a_loop_skips_what_is_after_its_join_only() -> None:
    a, b, c = stage("a", (), ["x"], func=escalating), stage("b", (), ["y"]), stage("c", (), ["k"])
    loop = LoopAgent("l", [Workflow("w", [(START, (a, b), c)])], max_iterations=2)
    report = Flow(SequentialAgent("s", [loop, stage("r", ["x", "y", "k"])]), inputs={}).check()
    assert found(report) == [("GF202", "s/r", "k")]


def test_a_join_beside_a_cycle_knows_what_every_way_out_has_written() -> None:
    draft, check = stage("draft", (), ["d"]), stage("check", ["d"], func=nothing)
    fine, poor = stage("fine", (), ["v"]), stage("poor", (), ["w"])

    def judge() -> Literal["again", "good", "bad"]:
        return "good"

    edges: list[Any] = [
        (START, draft, judge),
        (judge, {"again": draft, "good": fine, "bad": poor}),
        ((fine, poor), check),
    ]
    report = Flow(Workflow("w", edges), inputs={}, outputs=["d", "v"]).check()
    assert [(code, key) for code, _, key in found(report)] == [("GF211", "v"), ("GF203", "w")]


def test_large_graphs_are_checked_in_one_pass() -> None:
    """Each join is solved once: work grows with joins times what is upstream of them, not with paths."""
    stages = [stage(f"n{n}", [f"k{n - 1}"] if n else [], [f"k{n}"]) for n in range(120)]
    edges: list[Any] = [(START, stages[0])]
    edges += [(stages[n - step], stages[n]) for n in range(1, 120) for step in (1, 2, 3) if n >= step]
    assert found(Flow(Workflow("w", edges), inputs={}, outputs=["k119"]).check()) == []
