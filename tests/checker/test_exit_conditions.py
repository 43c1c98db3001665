"""The conditions under which a stage escalates: which keys decide, and what is said if nothing in the loop writes them."""

from __future__ import annotations

import linecache

import pytest

from graphflow import Report
from graphflow.contracts.escalating import escalation_keys
from tests.checker.test_examples import flow_of

ENDS = "ctx.actions.escalate = True"


def function(body: str, parameters: str = "ctx") -> object:
    """Make a function whose source can be read."""
    text = f"def leave({parameters}):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    name = f"<leave {hash(text)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    scope: dict[str, object] = {}
    exec(compile(text, name, "exec"), scope)
    return scope["leave"]


@pytest.mark.parametrize(
    ("body", "keys"),
    [
        (f'if ctx.state.get("done"): {ENDS}', {"done"}),
        (f'if ctx.state["score"] > 8 and not ctx.state.get("open", 0): {ENDS}', {"score", "open"}),
        (f'if "done" in ctx.state: {ENDS}', {"done"}),
        (f'said = ctx.state.get("said")\nif said == "ok": {ENDS}', {"said"}),
        (f'print("x")\nif ctx.state.get("a"):\n    if ctx.state.get("b"): {ENDS}', {"a", "b"}),
        (f'if ctx.state.get("a"): pass\nelse: {ENDS}', {"a"}),
        (f'if ctx.state.get("a"): {ENDS}\nif ctx.state.get("b"): {ENDS}', {"a", "b"}),
        (ENDS, None),
        ("pass", None),
        (f'if ctx.iteration > 3 and ctx.state.get("a"): {ENDS}', None),
        (f'if good(ctx.state.get("a")): {ENDS}', None),
        (f'if ctx.state.get("a"): return\n{ENDS}', None),
        (f'for _ in ctx.state["all"]: {ENDS}', None),
        (f'said = ctx.state.get("said")\nsaid = "x"\nif said: {ENDS}', None),
        ('ctx.emit(EventActions(escalate=ctx.state["a"]))', None),
    ],
)
def test_the_keys_that_decide(body: str, keys: set[str] | None) -> None:
    """Only where nothing else has a say."""
    assert escalation_keys(function(body)) == keys  # type: ignore[arg-type]


def test_a_parameter_is_a_key() -> None:
    """Functions read keys by their parameters too, unless they give them another value."""
    assert escalation_keys(function(f"if done: {ENDS}", "ctx, done")) == {"done"}  # type: ignore[arg-type]
    assert escalation_keys(function(f"done = 1\nif done: {ENDS}", "ctx, done")) is None  # type: ignore[arg-type]


PRELUDE = f"""
def ask(name, text="x", **more): return LlmAgent(name=name, instruction=text, model="gemini-2.5-flash", **more)
def leave(ctx):
    if ctx.state.get("done"): {ENDS}
def demands(ctx):
    if ctx.state["done"]: {ENDS}
def sets(ctx): ctx.state["done"] = True
def any_key(ctx): ctx.state[ctx.message] = True
def step(name, func): return FunctionAgent(name, func)
"""


def report_of(text: str, profile: str = "graphflow") -> Report:
    return flow_of(PRELUDE + text).check(profile=profile)


@pytest.mark.parametrize(
    ("text", "severity"),
    [
        ('flow = Flow(LoopAgent("l", [ask("a"), step("e", leave)]))', "error"),
        ('flow = Flow(LoopAgent("l", [ask("a"), step("e", leave)], max_iterations=3))', "warning"),
        ('flow = Flow(LoopAgent("l", [ask("a", tools=[exit_loop]), step("e", leave)]))', "warning"),
        ('flow = Flow(SequentialAgent("s", [step("b", sets), LoopAgent("l", [ask("a"), step("e", leave)])]))', "error"),
        ('flow = Flow(LoopAgent("l", [ask("a"), step("e", demands)]), inputs={"done": bool})', "error"),
    ],
)
def test_an_exit_over_keys_that_nothing_in_the_loop_writes(text: str, severity: str) -> None:
    """It is found at the stage, with the key, and no other rule speaks of the key."""
    report = report_of("from graphflow.tools import exit_loop\n" + text)
    found = [each for each in report if each.key == "done" and each.severity != "info"]
    assert [(each.code, each.severity, (each.node or "").rpartition("/")[2]) for each in found] == [
        ("GF502", severity, "e")
    ]


@pytest.mark.parametrize(
    "text",
    [
        'flow = Flow(LoopAgent("l", [step("b", sets), step("e", leave)]))',
        'flow = Flow(LoopAgent("l", [step("e", leave), step("b", sets)]))',
        'flow = Flow(LoopAgent("l", [ask("a", tools=[sets]), step("e", leave)]))',
        'flow = Flow(LoopAgent("l", [step("b", any_key), step("e", leave)]))',
        'flow = Flow(LoopAgent("l", [ParallelAgent("p", [step("b", sets), step("e", leave)])], max_iterations=2))',
        'flow = Flow(LoopAgent("l", [ask("a"), step("e", demands)]), inputs={})',
    ],
)
def test_an_exit_that_something_decides(text: str) -> None:
    """Silent where the loop writes the key, may write it, or where there is no value at all (GF201)."""
    assert "GF502" not in report_of(text).codes


def test_where_state_is_live_a_neighbour_may_end_the_loop() -> None:
    """What runs beside the loop sets the flag: seen in ADK only."""
    text = 'flow = Flow(ParallelAgent("p", [step("b", sets), LoopAgent("l", [ask("a"), step("e", leave)], max_iterations=3)]))'
    assert "GF502" in report_of(text).codes
    assert "GF502" not in report_of(text, "adk").codes
