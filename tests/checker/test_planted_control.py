"""Faults of control, prompts, tools and cost at every kind of place, and look-alikes that are correct."""

from __future__ import annotations

import pytest

from graphflow import Report
from tests.checker.test_examples import flow_of

PRELUDE = """
import time
from graphflow.tools import FunctionTool
class Runs(BaseAgent):
    a: object
    async def run(self, ctx):
        async for event in ctx.run(self.a):
            yield event
def ask(name, text="x", **more): return LlmAgent(name=name, instruction=text, **more)
def send(name="send"): return FunctionAgent(name, lambda: {}, reads=[], effect="irreversible")
def halts(ctx): ctx.actions.halt = "no"
def halts_perhaps(ctx, flag: bool):
    if flag: ctx.actions.halt = "no"
def escalates(ctx): ctx.actions.escalate = True
async def fetch(ctx):
    time.sleep(1)
def find(email: str) -> str: return ""
def untyped(email) -> str: return ""
async def sends_and_asks(ctx):
    print("mail")
    await ctx.ask("Refund?")
async def asks_and_sends(ctx):
    text = ", ".join(sorted(["a"]))
    if len(text) > 9:
        print("no")
        return
    if await ctx.ask(text): print("mail")
def good(ctx): ctx.route = "good"
"""

PLACES = {
    "top": "flow = Flow(part, inputs={inputs})",
    "nested": 'flow = Flow(SequentialAgent("o", [ParallelAgent("p", [part])]), inputs={inputs})',
    "workflow": 'flow = Flow(Workflow("w", [(START, ask("first"), part)]), inputs={inputs})',
    "map": 'flow = Flow(MapAgent("m", over="elements", agent=part), inputs={inputs})',
    "sub-flow": 'flow = Flow(SubFlow("f", Flow(part, inputs={inputs})), inputs={inputs})',
    "custom": 'flow = Flow(Runs(name="c", a=part), inputs={inputs})',
}
AROUND = {"top": "", "nested": "o/p/", "workflow": "w/", "map": "m/", "sub-flow": "f/", "custom": "c/"}
INPUTS = '{"elements": list[str], "flag": bool, "wanted": str, "kind": Literal["x", "y"], "topic": str}'

# code -> (definition of `part`, node, key)
FAULTS: dict[str, tuple[str, str, str | None]] = {
    "GF502": ('part = LoopAgent("l", [ask("a", output_key="d")], until=key("wanted") == "good")', "l", "wanted"),
    "GF505": (
        'part = ConditionalAgent("b", on=key("kind"), cases={"x": ask("a"), "z": ask("z")}, default=PASS)', "b", "kind",
    ),
    "GF506": (
        ('c = ConditionalAgent("b", when=key("flag"), then=ask("a", output_key="k"))\n'
         'part = SequentialAgent("s", [c, Gate("g", require=key("k") == "ok")])'),
        "s/g", "k",
    ),
    "GF507": ('part = SequentialAgent("s", [send(), Gate("g", require=key("flag"))])', "s/send", None),
    "GF510": ('part = LoopAgent("l", [ask("a")], max_iterations=0)', "l", None),
    "GF511": ('part = SequentialAgent("s", [FunctionAgent("h", halts), ask("a")])', "s/a", None),
    "GF512": ('part = LoopAgent("l", [ask("a")], max_iterations=3)', "l", None),
    "GF513": (
        ('l = LoopAgent("l", [ask("a", output_key="v")], until=key("v") == "good", max_iterations=3)\n'
         'part = SequentialAgent("s", [l, send()])'),
        "s/l", None,
    ),
    "GF514": ('part = FunctionAgent("e", sends_and_asks)', "e", None),
    "GF601": ('part = ask("a", "{topic} or {topic[0]}")', "a", "topic"),
    "GF602": ('part = ask("a", "{topic} or {{topic}}")', "a", "topic"),
    "GF603": ('part = ask("a", model="gemni-2.5-flash")', "a", None),
    "GF606": ('part = ask("a", tools=[untyped])', "a", None),
    "GF607": ('part = ask("a", tools=[find, find])', "a", None),
    "GF608": ('part = FunctionAgent("e", fetch)', "e", None),
    "GF609": ('part = ask("a", "Think about state[\'topic\'].")', "a", "topic"),
    "GF702": (
        ('part = SequentialAgent("s", [ask("a", output_key="k"), ask("b", output_key="j"), ask("r", "{k} {j}")])'),
        "s/b", None,
    ),
}  # fmt: skip

# code -> definitions of `part` that are nearly the fault
CORRECT: dict[str, tuple[str, ...]] = {
    "GF502": (
        'part = LoopAgent("l", [ask("a", output_key="d")], until=key("d") == key("wanted"))',
        'part = LoopAgent("l", [FunctionAgent("a", lambda ctx: ctx.state.update(ctx.deps))], until=key("wanted") == "x")',
    ),
    "GF505": (
        'part = ConditionalAgent("b", on=key("kind"), cases={"x": ask("a"), "y": ask("z")}, default=PASS)',
        'part = ConditionalAgent("b", on=key("topic"), cases={"x": ask("a"), "z": ask("z")}, default=PASS)',
    ),
    "GF506": (
        ('c = ConditionalAgent("b", when=key("flag"), then=ask("a", output_key="k"))\n'
        'part = SequentialAgent("s", [c, Gate("g", require=~key("k").exists() | (key("k") == "ok"), reason="no")])'),
    ),
    "GF507": (
        'part = SequentialAgent("s", [send(), ConditionalAgent("b", when=key("flag"), then=ask("a"))])',
        'part = LoopAgent("l", [send()], max_iterations=1)',
        'part = SequentialAgent("s", [send(), send("again")])',
    ),
    "GF510": ('part = LoopAgent("l", [ask("a")], max_iterations=1)',),
    "GF511": (
        'part = SequentialAgent("s", [FunctionAgent("h", halts_perhaps), ask("a")])',
        'part = SequentialAgent("s", [ConditionalAgent("b", when=key("flag"), then=FunctionAgent("h", halts)), ask("a")])',
        'part = SequentialAgent("s", [LoopAgent("l", [FunctionAgent("h", escalates)], max_iterations=2), ask("a")])',
    ),
    "GF512": ('part = LoopAgent("l", [ask("a"), FunctionAgent("h", escalates)], max_iterations=3)',),
    "GF513": (
        ('l = LoopAgent("l", [ask("a", output_key="v")], until=key("v") == "good", max_iterations=3)\n'
        'part = SequentialAgent("s", [l, Gate("g", require=key("v") == "good"), send()])'),
        ('l = LoopAgent("l", [ask("a", output_key="v")], until=key("v") == "x", max_iterations=3, on_exhausted="fail")\n'
        'part = SequentialAgent("s", [l, send()])'),
    ),
    "GF514": ('part = FunctionAgent("e", asks_and_sends)',),
    "GF601": ('part = ask("a", \'{"topic": "{topic}", "n": [1], topics } .topic { color: red }\')',),
    "GF602": ('part = ask("a", "{topic} {{other}} { color: red } $5 {topic}")',),
    "GF603": ('part = ask("a", model="gemini-9-flash")',),
    "GF606": ('part = ask("a", tools=[find])',),
    "GF607": ('part = ask("a", tools=[find, FunctionTool(find, name="find_again")])',),
    "GF608": ('def blocking(): time.sleep(1)\npart = FunctionAgent("e", blocking)',),
    "GF609": ('part = ask("a", "Think about state[\'topic\'], {topic}. The primary key is state[\'other\'].")',),
    "GF702": (
        'part = SequentialAgent("s", [ask("a", output_key="k"), ask("b", "{k}", output_key="j"), ask("r", "{k} {j}")])',
        'part = ParallelAgent("s", [ask("a", output_key="k"), ask("b", output_key="j")])',
    ),
}  # fmt: skip


def report_of(part: str, place: str) -> Report:
    return flow_of(f"{PRELUDE}\n{part}\n{PLACES[place].format(inputs=INPUTS)}").check()


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("code", FAULTS)
def test_the_fault_is_found_wherever_it_is(code: str, place: str) -> None:
    part, node, key = FAULTS[code]
    report = report_of(part, place)
    assert [(f.node, f.key) for f in report if f.code == code] == [(AROUND[place] + node, key)], str(report)
    assert not [f for f in report.errors if f.code != code], str(report)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(("code", "part"), [(code, part) for code, parts in CORRECT.items() for part in parts])
def test_what_looks_alike_is_left_alone(code: str, part: str, place: str) -> None:
    report = report_of(part, place)
    assert not [found for found in report if found.code == code], str(report)
    assert report.ok, str(report)


def test_a_gate_in_a_map_may_refuse_what_another_instance_has_done() -> None:
    """Instances run side by side, so a gate before the effect is not before all effects."""
    report = report_of('part = SequentialAgent("s", [Gate("g", require=key("flag")), send()])', "map")
    assert [found.node for found in report if found.code == "GF507"] == ["m/s/send"]
    assert (
        "GF507" not in report_of('part = SequentialAgent("s", [Gate("g", require=key("flag")), send()])', "top").codes
    )


def test_routes_of_a_graph_are_cases_too() -> None:
    program = (
        PRELUDE
        + """
flow = Flow(Workflow("w", [(START, good), (good, {"good": ask("a"), "bad": ask("b")})]))
"""
    )
    found = [(each.code, each.node, each.key) for each in flow_of(program).check() if each.code in ("GF504", "GF505")]
    assert found == [("GF505", "w/good", None)]
