"""Faults of reads, of declared states and of answers at every kind of place, and look-alikes that are correct."""

from __future__ import annotations

import pytest

from graphflow import Report
from tests.checker.test_examples import flow_of

PRELUDE = """
from pydantic import BaseModel
class Runs(BaseAgent):
    a: object
    async def run(self, ctx):
        async for event in ctx.run(self.a):
            yield event
class State(BaseModel):
    draft: str
    drafts: list[str] = []
def ask(name, text="x", **more): return LlmAgent(name=name, instruction=text, **more)
def step(name, reads=(), writes=()): return FunctionAgent(name, lambda ctx: {}, reads=list(reads), writes=list(writes))
def seq(*parts): return SequentialAgent("s", list(parts))
def maybe(part): return ConditionalAgent("c", when=key("flag"), then=part)
def load(ctx): ctx.state.update(ctx.deps)
def judge(node_input) -> Literal["pass", "fail"]: return "pass"
def chooses(ctx) -> Literal["pass", "fail"]: return "pass"
def routes(ctx) -> str: return "pass"
def silent(node_input) -> None: print(node_input)
def keeps(node_input) -> str: return node_input
def drafts() -> str: return "a draft"
def takes(node_input) -> None: print(node_input)
def takes_verdict(node_input: Literal["pass", "fail"]) -> None: print(node_input)
def put(item: str, tool_context) -> str:
    "Put something into the cart."
    tool_context.state["cart"] = item
    return "done"
def look(tool_context) -> str:
    "Look into the cart."
    return tool_context.state.get("cart", "")
def graph(*edges): return Workflow("g", list(edges))
"""

PLACES = {
    "top": "flow = Flow(part, inputs={inputs}{more})",
    "nested": 'flow = Flow(SequentialAgent("o", [ParallelAgent("p", [part])]), inputs={inputs}{more})',
    "workflow": 'flow = Flow(Workflow("w", [(START, step("first"), part)]), inputs={inputs}{more})',
    "map": 'flow = Flow(MapAgent("m", over="elements", agent=part), inputs={inputs}{more})',
    "sub-flow": 'flow = Flow(SubFlow("f", Flow(part, inputs={inputs}{more})), inputs={inputs})',
    "custom": 'flow = Flow(Runs(name="k", a=part), inputs={inputs}{more})',
}
AROUND = {"top": "", "nested": "o/p/", "workflow": "w/", "map": "m/", "sub-flow": "f/", "custom": "k/"}
INPUTS = '{"elements": list[str], "flag": bool, "kind": str, "topic": str, "tone?": str}'
CLOSED = ", state=State"
KEPT = ', persist=["k"]'

Fault = tuple[str, str, str, str, str | None]
# code, definition of `part`, options of its flow, node, key
FAULTS: list[Fault] = [
    ("GF206", 'part = seq(maybe(ask("v", output_key="k")), ask("r", "{k?}"))', KEPT, "s/r", "k"),
    ("GF206", 'part = seq(maybe(ask("v", output_key="k")), ask("r", "{k}"))', KEPT, "s/r", "k"),
    ("GF207", 'part = ask("a", "{topic} {drafd?}")', CLOSED, "a", "drafd"),
    ("GF207", 'part = ask("a", "{topic}", output_key="drafd")', CLOSED, "a", "drafd"),
    ("GF207", 'part = FunctionAgent("a", lambda ctx: ctx.state.get("drafd"))', CLOSED, "a", "drafd"),
    ("GF207", 'part = Gate("a", require=key("drafd") == "x", reason="no")', CLOSED, "a", "drafd"),
    ("GF207", 'part = ConditionalAgent("a", on=key("drafd"), cases={"x": ask("b")}, default=PASS)', CLOSED, "a", "drafd"),
    ("GF207", 'part = LoopAgent("a", [ask("b")], until=key("flag"), max_iterations=2, exit_key="drafd")', CLOSED, "a", "drafd"),
    ("GF207", 'part = MapAgent("a", over="drafd", agent=ask("b", "{item}"))', CLOSED, "a", "drafd"),
    ("GF207", 'part = MapAgent("a", over="elements", agent=ask("b", output_key="draft"), collect={"draft": "drafd"})', CLOSED,
     "a", "drafd"),
    ("GF207", 'part = SubFlow("a", Flow(ask("b", "{t}"), inputs={"t": str}), inputs={"t": "drafd"})', CLOSED, "a", "drafd"),
    ("GF207", 'part = ask("a", tools=[put])', CLOSED, "a", "cart"),
    ("GF207", 'part = ask("a", on_error={"drafd": ""}, output_key="draft")', CLOSED, "a", "drafd"),
    ("GF209", 'part = ask("a", "{topic?}")', "", "a", "topic"),
    ("GF209", 'part = seq(ask("v", output_key="k"), step("r", ["k?"]))', "", "s/r", "k"),
    ("GF210", 'part = FunctionAgent("a", load)', "", "a", None),
    ("GF210", 'part = ConditionalAgent("a", on=key("kind"), cases={"x": ask("b")})', "", "a", None),
    ("GF210", 'part = graph((START, FunctionAgent("r", routes)), ("r", {"pass": ask("b")}))', "", "g/r", None),
    ("GF212", 'part = seq(ask("a"), ask("b", output_key="k"))', "", "s/a", None),
    ("GF213", 'part = ask("a", "{topik?}")', "", "a", "topik"),
    ("GF213", 'part = FunctionAgent("a", lambda topik="": None)', "", "a", "topik"),
    ("GF213", 'part = FunctionAgent("a", lambda ctx: ctx.state.get("topik"))', "", "a", "topik"),
    ("GF213", 'part = ask("a", tools=[look])', "", "a", "cart"),
    ("GF213", 'part = ConditionalAgent("a", when=key("topik").exists(), then=ask("b"))', "", "a", "topik"),
    ("GF213", 'part = seq(ask("a", "{k?}"), ask("b", output_key="k"))', "", "s/a", "k"),
    ("GF214", 'part = graph((START, ask("a"), judge), (judge, {"pass": ask("b"), "fail": END}))', "", "g/b", None),
    ("GF214", 'part = graph((START, ask("a"), judge), (judge, {"pass": takes, "fail": END}))', "", "g/takes", None),
    ("GF214", 'part = graph((START, ask("a"), chooses), (chooses, {"pass": ask("b"), "fail": "a"}))', "", "g/b", None),
    ("GF214", 'part = graph((START, ask("a"), silent, takes))', "", "g/takes", None),
    ("GF214", 'part = graph((START, drafts, judge), (judge, {"pass": ask("b"), "fail": END}))', "", "g/b", None),
    (
        "GF214",
        ('v = ask("v", output_schema=Literal["pass", "fail"])\n'
         'part = graph((START, ask("a"), v), (v, {"pass": ask("b"), "fail": END}))'),
        "", "g/b", None,
    ),
]  # fmt: skip
# (code, place) -> why it is not said there
NOWHERE = {
    ("GF206", "sub-flow"): "it begins afresh",
    ("GF212", "custom"): "its code is given the answer",
    ("GF213", "custom"): "a child may run again, and then the key is there",
}

# code, definition of `part`, options of its flow: nearly the fault
CORRECT: list[tuple[str, str, str]] = [
    ("GF206", 'part = seq(maybe(ask("v", output_key="k")), ask("r", "{k?}"))', ""),
    ("GF206", 'part = seq(ask("r", "{k?}"), maybe(ask("v", output_key="k")))', KEPT),
    ("GF206", 'part = seq(ask("v", "{k?}", output_key="k"), ask("r", "{k}"))', KEPT),
    ("GF206", 'part = seq(maybe(ask("v", "{k?}", output_key="k")), ask("r", "{k?}"))', KEPT),
    ("GF206", 'part = LoopAgent("l", [ask("r", "{k?}"), ask("v", output_key="k")], max_iterations=2)', KEPT),
    ("GF206", 'part = seq(maybe(step("v", [], ["k"])), ask("r", "{k?}"))',
     ', keys=[Key("k", list[str], merge=Merge.extend, persist=True)]'),
    ("GF206", 'part = seq(maybe(ask("v", output_key="k")), ask("r", "{k}"))',
     ', keys=[Key("k", str, default="", persist=True)]'),
    ("GF206", 'part = seq(maybe(ask("w", output_key="tone")), ask("r", "{tone?}"))', ', persist=["tone"]'),
    ("GF207", 'part = ask("a", "{topic} {tone?}", output_key="draft")', CLOSED),
    ("GF207", 'part = ask("a", "{user:tier?} {app:name?}")', CLOSED),
    ("GF207", 'part = seq(ask("a", output_key="temp:x"), ask("b", "{temp:x}"))', CLOSED),
    ("GF207", 'part = ask("a", output_key="extra")', CLOSED + ', keys=[Key("extra", str)]'),
    ("GF207", 'part = ask("a", output_key="extra")', CLOSED + ', persist=["extra"]'),
    ("GF207", 'part = MapAgent("a", over="elements", agent=ask("b", "{item} {n}"), index="n")', CLOSED),
    ("GF207", 'part = MapAgent("a", over="elements", agent=ask("b", output_key="draft"), collect={"draft": "drafts"})', CLOSED),
    ("GF207", 'part = SubFlow("a", Flow(ask("b", "{t}", output_key="u"), inputs={"t": str}), inputs={"t": "topic"})', CLOSED),
    ("GF207", 'part = graph((START, ask("a"), judge), (judge, {"pass": ask("b"), "fail": END}))', CLOSED),
    ("GF207", 'part = ask("a", \'{"drafd": 1} {topic}\')', CLOSED),
    ("GF209", 'part = ask("a", "{tone?}")', ""),
    ("GF209", 'part = seq(maybe(ask("v", output_key="k")), ask("r", "{k?}"))', ""),
    ("GF209", 'part = FunctionAgent("a", lambda topic="": None)', ""),
    ("GF209", 'part = FunctionAgent("a", lambda ctx: ctx.state.get("topic"))', ""),
    ("GF209", 'part = LoopAgent("l", [ask("a", "{k?}", output_key="j"), ask("b", "{j}", output_key="k")], max_iterations=2)',
     ""),
    ("GF209", 'part = seq(step("r", ["k?"]), ask("v", output_key="k"), step("r2", ["k?"]))', ""),
    ("GF210", 'part = FunctionAgent("a", load, reads=[], writes=["k"])', ""),
    ("GF210", 'part = ConditionalAgent("a", on=key("kind"), cases={"x": ask("b")}, default=PASS)', ""),
    ("GF210", 'part = ConditionalAgent("a", on=key("flag"), cases={True: ask("b"), False: ask("c")})', ""),
    ("GF210", 'part = graph((START, FunctionAgent("r", routes)), ("r", {"pass": ask("b"), DEFAULT_ROUTE: END}))', ""),
    ("GF212", 'part = seq(ask("a", output_key="k"), ask("b", "{k}"))', ""),
    ("GF212", 'part = ParallelAgent("q", [ask("a"), ask("b")])', ""),
    ("GF212", 'part = LoopAgent("l", [step("a"), ask("b")], max_iterations=2)', ""),
    ("GF212", 'part = ask("a", on_error=ask("b"))', ""),
    ("GF212", 'part = seq(ask("a", tools=[put]), step("b"))', ""),
    ("GF213", 'part = ask("a", "{tone?}")', ""),
    ("GF213", 'part = ask("a", "{app:tone?}")', ""),
    ("GF213", 'part = ask("a", tools=[put, look])', ""),
    ("GF213", 'part = ask("a", "{user:topic?}")', ""),
    ("GF213", 'part = seq(FunctionAgent("l", load), ask("a", "{topik?}"))', ""),
    ("GF213", 'part = LoopAgent("l", [ask("a", "{k?}"), ask("b", output_key="k")], max_iterations=2)', ""),
    (
        "GF213",
        ('v = ask("v", "{notes?}", output_key="draft")\n'
         'l = LoopAgent("l", [ask("c", "{draft}", output_key="notes"), v.clone({"name": "again"})], max_iterations=2)\n'
         'part = seq(v, l)'),
        "",
    ),
    ("GF214", 'part = graph((START, ask("a", output_key="k"), judge), (judge, {"pass": ask("b", "{k}"), "fail": END}))', ""),
    ("GF214", 'part = graph((START, ask("a"), keeps, takes))', ""),
    ("GF214", 'part = graph((START, ask("a"), judge), (judge, {"pass": ask("b"), "fail": ask("c")}))', ""),
    ("GF214", 'part = graph((START, ask("a"), judge), (judge, {"pass": takes_verdict, "fail": END}))', ""),
    ("GF214", 'part = graph((START, ask("a"), judge), (judge, {"pass": ask("b", "{topic}"), "fail": END}))', ""),
    ("GF214", 'part = graph((START, ask("a"), judge), (judge, {"pass": ask("b", tools=[put]), "fail": END}))', ""),
    ("GF214", 'part = graph((START, judge), (judge, {"pass": ask("b"), "fail": END}))', ""),
    ("GF214", 'part = graph((START, ask("a"), silent, ask("b")))', ""),
    (
        "GF214",
        ('c = ask("c", output_schema=Literal["x", "y"])\n'
         'part = graph((START, c, judge), (judge, {"pass": ask("b"), "fail": END}))'),
        "",
    ),
    ("GF214", 'part = graph((START, ask("a"), judge), (START, "a", takes), (judge, {"pass": takes, "fail": END}))', ""),
]  # fmt: skip


def report_of(part: str, place: str, more: str) -> Report:
    return flow_of(f"{PRELUDE}\n{part}\n" + PLACES[place].replace("{inputs}", INPUTS).replace("{more}", more)).check()


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    ("code", "part", "more", "node", "key"), FAULTS, ids=[f"{i}-{f[0]}" for i, f in enumerate(FAULTS)]
)
def test_the_fault_is_found_wherever_it_is(
    code: str, part: str, more: str, node: str, key: str | None, place: str
) -> None:
    """Once, at its node and key, with a remedy, and no other error besides."""
    report = report_of(part, place, more)
    nowhere = (code, place) in NOWHERE and (code != "GF213" or 'output_key="k"' in part)
    wanted = [] if nowhere else [(AROUND[place] + node, key)]
    assert [(f.node, f.key) for f in report if f.code == code] == wanted, str(report)
    assert all(f.help for f in report if f.code == code)
    assert not [f for f in report.errors if f.code != code and wanted], str(report)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(("code", "part", "more"), CORRECT, ids=[f"{i}-{f[0]}" for i, f in enumerate(CORRECT)])
def test_what_looks_alike_is_left_alone(code: str, part: str, more: str, place: str) -> None:
    assert code not in report_of(part, place, more).codes, str(report_of(part, place, more))


def test_a_misspelt_write_is_the_one_cause() -> None:
    """Of a closed state: neither the read that then finds nothing nor the write that nobody reads is said besides."""
    part = 'part = seq(ask("w", output_key="drafd"), ask("r", "{draft}"))'
    assert report_of(part, "top", CLOSED + ", outputs=[]").codes.count("GF207") == 1
    assert not {"GF201", "GF203"} & set(report_of(part, "top", CLOSED + ", outputs=[]").codes)


def test_a_flow_inside_has_the_keys_of_its_own_state() -> None:
    """And the flow around it those of its own: what is carried over the border is checked on either side."""
    program = PRELUDE + (
        'inner = Flow(ask("i", "{text}", output_key="summary"), state=Inner, inputs={"text": str}, outputs=["summary"])\n'
        'flow = Flow(SubFlow("f", inner, inputs={"text": "topic"}, outputs={"summary": "%s"}),\n'
        '            state=State, inputs={"topic": str}, outputs=["draft?"])\n'
    )
    program = program.replace("inner =", "class Inner(BaseModel):\n    text: str\n    summary: str = ''\ninner =")
    assert [f.code for f in flow_of(program % "draft").check() if f.severity != "info"] == []
    (wrong,) = [f for f in flow_of(program % "drafft").check() if f.severity == "error"]
    assert (wrong.code, wrong.node, wrong.key, wrong.help) == ("GF207", "f", "drafft", "did you mean `draft`?")
    twice = (program % "draft").replace('{"text": "topic"}', '{"txt": "topic", "text": "topic"}')
    (mapped,) = [f for f in flow_of(twice).check() if f.severity == "error"]
    assert (mapped.node, mapped.key, mapped.help) == ("f", "txt", "did you mean `text`?")


@pytest.mark.parametrize(("profile", "stale"), [("graphflow", []), ("adk", ["s/r"])])
@pytest.mark.parametrize("part", ['seq(ask("r", "{k?}"), ask("v", output_key="k"))',
                                  'seq(maybe(ask("v", output_key="k")), ask("r", "{k?}"))'])  # fmt: skip
def test_a_framework_that_keeps_all_keys_may_give_those_of_the_run_before(
    part: str, profile: str, stale: list[str]
) -> None:
    flow = flow_of(f"{PRELUDE}\nflow = Flow({part}, inputs={INPUTS})")
    assert [f.node for f in flow.check(profile=profile) if f.code == "GF206"] == stale


@pytest.mark.parametrize(
    "part",
    [
        'LoopAgent("l", [ask("r", "{k?}"), ask("v", output_key="k")], max_iterations=2)',
        'FunctionAgent("f", lambda ctx: ctx.state.update(k=ctx.state.get("k", 0)))',
        'seq(ask("r", "{k?}"), ask("t", tools=[put]))',
    ],
)
def test_values_of_the_iteration_before_and_counters_are_meant(part: str) -> None:
    flow = flow_of(f"{PRELUDE}\nflow = Flow({part}, inputs={INPUTS})")
    assert "GF206" not in flow.check(profile="adk").codes


def test_what_is_open_names_the_reads_that_come_after_it() -> None:
    """Each open stage those that it may have written for, none that is before it or surely there."""
    loads = [f'FunctionAgent("{name}", load)' for name in ("l", "m")]
    part = f'part = seq(ask("a", "{{q?}}"), {loads[0]}, ask("b", "{{x}} {{topic}}"), {loads[1]}, ask("c", "{{y}}"))'
    first, second = [f for f in report_of(part, "top", "") if f.code == "GF210"]
    assert first.message.endswith("not checked therefore: `x`, `y`")
    assert second.message.endswith("not checked therefore: `y`")
    assert [place.node for place in first.related] == ["s/b", "s/c"]
