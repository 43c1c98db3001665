"""What the planted programs of the rules do not show: the less common form of a finding, and what keeps one from being made."""

from __future__ import annotations

import pytest

from graphflow import Diagnostic
from tests.checker.test_examples import flow_of

PRELUDE = """
import enum, time
class Kind(enum.Enum): BUG = "bug"
def ask(name, text="x", **more): return LlmAgent(name=name, instruction=text, **more)
def step(name, reads=(), writes=(), **more):
    return FunctionAgent(name, lambda ctx: {}, reads=list(reads), writes=list(writes), **more)
"""


def found(program: str, code: str, profile: str = "graphflow") -> list[Diagnostic]:
    report = flow_of(PRELUDE + program).check(profile=profile)
    return [finding for finding in report if finding.code == code]


def test_a_case_is_shadowed_whatever_the_type_of_the_key() -> None:
    text = 'c = ConditionalAgent("c", on=key("k"), cases={Kind.BUG: ask("a"), "bug": ask("b")}, default=PASS)\n'
    (finding,) = found(text + 'flow = Flow(c, inputs={"k": str})', "GF505")
    assert "before it takes the same" in finding.message
    assert finding.help == "take it out, or correct its value"
    assert [place.node for place in finding.related] == ["c/b"]


def test_a_case_that_no_value_has_is_told_the_values() -> None:
    text = 'c = ConditionalAgent("c", on=key("k"), cases={"bug": ask("a"), "bag": ask("b")}, default=PASS)\n'
    (finding,) = found(text + 'flow = Flow(c, inputs={"k": Literal["bug", "wish"]})', "GF505")
    assert finding.help == "take it out, or correct its value to one of 'bug', 'wish'"


def test_a_call_that_blocks_is_found_through_what_is_called() -> None:
    text = """
def wait(): time.sleep(1)
async def body(ctx):
    wait()
    wait()
flow = Flow(FunctionAgent("a", body))
"""
    first, second = found(text, "GF608")
    assert "calls `time.sleep` through `wait`" in first.message
    assert [place.message for place in first.related] == ["it blocks here"]
    assert second.line == (first.line or 0) + 1
    (direct,) = found("async def body(ctx): time.sleep(1)\nflow = Flow(FunctionAgent('a', body))", "GF608")
    assert "through" not in direct.message
    assert direct.related == ()


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_what_is_inside_a_shared_agent_is_not_said_to_be_named_twice(depth: int) -> None:
    text = 's = ask("a")\n' + "".join(f's = SequentialAgent("s{n}", [s])\n' for n in range(depth))
    text += 'flow = Flow(SequentialAgent("o", [s, SequentialAgent("p", [s])]))'
    assert len(found(text, "GF103")) == 1
    assert found(text, "GF101") == []


def test_an_effect_that_never_happens_needs_no_gate() -> None:
    send = 'send = step("send", effect="irreversible")\ngate = Gate("g", require=key("ok"))\n'
    graph = 'flow = Flow(Workflow("w", [(START, {}, gate), (send, gate)]), inputs={{"ok": bool}})'
    assert found(send + graph.format('step("a")'), "GF507") == []
    assert len(found(send + graph.format("send"), "GF507")) == 1


@pytest.mark.parametrize(("outputs", "reader"), [('outputs=["n"]', "the declared outputs"), ("outputs=[]", "`s/r`")])
def test_writers_that_disagree_name_who_may_find_either(outputs: str, reader: str) -> None:
    text = """
c = ConditionalAgent("c", when=key("v"), then=FunctionAgent("a", lambda: 1, writes={"n": int}),
                     otherwise=FunctionAgent("b", lambda: "", writes={"n": str}))
flow = Flow(SequentialAgent("s", [c, %s]), inputs={"v": bool}, %s)
"""
    read = 'ask("r", "{n}")' if reader == "`s/r`" else 'ask("r")'
    (finding,) = found(text % (read, outputs), "GF402")
    assert f"; {reader} may find either" in finding.message
    assert [place.message for place in finding.related][1:] == (["it is read here"] if reader == "`s/r`" else [])


def test_only_what_is_persisted_is_advised_to_be_taken_out() -> None:
    text = """
c = ConditionalAgent("c", when=key("v"), then=ask("w", output_key="k"))
flow = Flow(SequentialAgent("s", [c, ask("r", "{k?}")]), inputs={"v": bool}, %s)
"""
    (declared,) = found(text % 'keys=[Key("k", str)]', "GF206", "adk")
    assert declared.help == "write `k` on the other path too"
    (persisted,) = found(text % 'persist=["k"]', "GF206")
    assert persisted.help.endswith("or take it out of persist: 'k'")


def test_a_persistent_key_that_nobody_ever_writes_is_always_empty() -> None:
    assert len(found('flow = Flow(ask("a", "{k?}"), persist=["k"])', "GF213")) == 1
    assert (
        found('flow = Flow(SequentialAgent("s", [ask("a", "{k?}"), step("b", (), ["k"])]), persist=["k"])', "GF213")
        == []
    )
    text = 'flow = Flow(SequentialAgent("s", [ask("a", "{k?}"), step("b", (), ["k"])]))'
    (late,) = found(text, "GF213")
    assert "is written by `s/b`, which does not run before it" in late.help


@pytest.mark.parametrize(("bound", "count"), [("", 0), (", max_iterations=2", 1)])
def test_what_comes_after_a_loop_without_end_is_not_spoken_of(bound: str, count: int) -> None:
    text = """
first = LoopAgent("l", [step("a")]%s)
stages = [step("b", (), ["k"]), ask("r", "{k?}"), step("send", effect="irreversible"), Gate("g", require=key("ok"))]
flow = Flow(SequentialAgent("s", [first, *stages]), inputs={"ok": bool}, outputs=[])
"""
    assert len(found(text % bound, "GF209")) == count
    assert len(found(text % bound, "GF507")) == count
    assert found(text % bound, "GF208") == []


def test_a_key_whose_merge_does_not_fit_is_one_finding() -> None:
    text = """
a, b = step("a", (), []), FunctionAgent("b", lambda ctx: {}, reads=[], writes={"n": int})
flow = Flow(SequentialAgent("s", [a, b]), keys=[Key("n", str, merge=Merge.extend)], outputs=["n"])
"""
    (finding,) = found(text, "GF303")
    assert finding.node == "s/b"


def test_a_case_that_leads_nowhere_has_no_agent_to_name() -> None:
    text = 'flow = Flow(ConditionalAgent("c", on=key("k"), cases={"a": ask("a"), "z": PASS}, default=PASS), inputs={})'
    (finding,) = found(text.replace("inputs={}", 'inputs={"k": Literal["a", "b"]}'), "GF505")
    assert finding.related == ()


def test_a_called_function_that_blocks_twice_is_one_finding() -> None:
    text = "def wait():\n    time.sleep(1)\n    time.sleep(2)\nasync def body(ctx):\n    wait()\n"
    assert len(found(text + 'flow = Flow(FunctionAgent("a", body))', "GF608")) == 1


def test_fields_of_one_key_are_one_read_beside_a_writer() -> None:
    text = 'flow = Flow(ParallelAgent("p", [ask("a", "{k.x} {k.y} {k}"), step("b", (), ["k"])]), inputs={"k": dict})'
    assert len(found(text, "GF302")) == 1


@pytest.mark.parametrize(("field", "severity"), [("{k.total}", "error"), ("{k.total?}", "warning")])
def test_a_field_of_text_that_may_be_absent_fails_nothing(field: str, severity: str) -> None:
    text = f'flow = Flow(SequentialAgent("s", [ask("w", output_key="k"), ask("r", "{field}")]))'
    assert [finding.severity for finding in found(text, "GF404")] == [severity]


@pytest.mark.parametrize(
    ("name", "advice"),
    [("fact check", "`fact_check`"), ("1st", "`agent_1st`"), ("if ", "`agent_if`"), ("a-b", "`a_b`"), ("", "`agent`")],
)
def test_a_name_is_advised_that_is_one(name: str, advice: str) -> None:
    (finding,) = found(f"flow = Flow(ask({name!r}))", "GF102")
    assert finding.help == f"use {advice}"


def test_a_misspelt_output_is_told_what_was_meant() -> None:
    text = 'flow = Flow(ask("a", output_key="draft"), outputs=["%s"])'
    (finding,) = found(text % "draaft", "GF211")
    assert "`draft`" in finding.help
    assert found(text % "draaft", "GF203") == [], "one cause, one finding"
    (other,) = found(text % "receipt", "GF211")
    assert "draft" not in other.help


def test_a_misspelt_key_of_the_user_is_found_though_others_may_give_it() -> None:
    text = 'flow = Flow(SequentialAgent("s", [step("a", (), ["user:tone"]), ask("b", "{user:%s?}")]))'
    (finding,) = found(text % "tonne", "GF213")
    assert finding.help == "did you mean `user:tone`?"
    assert found(text % "weather", "GF213") == []


def test_a_stage_that_writes_what_it_reads_is_told_so() -> None:
    (own,) = found('flow = Flow(ask("a", "{k}", output_key="k"), inputs={})', "GF201")
    assert own.help.startswith("`a` itself writes `k`")
    (other,) = found('flow = Flow(SequentialAgent("s", [ask("a", "{k}"), step("b", (), ["k"])]), inputs={})', "GF201")
    assert other.help.startswith("`k` is written by `s/b`")


@pytest.mark.parametrize(("model", "severity"), [("acme-large", ["error"]), ("gemini-2.5-flash", []), ("gemini-9", [])])
def test_a_model_that_no_provider_has_is_found_though_no_name_is_near(model: str, severity: list[str]) -> None:
    assert [each.severity for each in found(f'flow = Flow(ask("a", model="{model}"))', "GF603")] == severity


@pytest.mark.parametrize(("bound", "count"), [("", 0), (", max_iterations=2", 1)])
def test_cases_after_a_loop_without_end_are_not_spoken_of(bound: str, count: int) -> None:
    text = """
cases = ConditionalAgent("c", on=key("k"), cases={"a": ask("x"), "z": ask("y")}, default=PASS)
flow = Flow(SequentialAgent("s", [LoopAgent("l", [step("a")]%s), cases]), inputs={"k": Literal["a", "b"]})
"""
    assert len(found(text % bound, "GF505")) == count


@pytest.mark.parametrize(("handler", "count"), [("", 1), (', on_exhausted=ask("h")', 0), (', on_exhausted="fail"', 0)])
def test_a_loop_whose_bound_is_handled_is_looked_at(handler: str, count: int) -> None:
    text = """
loop = LoopAgent("l", [ask("a", output_key="v")], until=key("v") == "good", max_iterations=3%s)
flow = Flow(SequentialAgent("s", [loop, step("send", effect="irreversible")]))
"""
    assert len(found(text % handler, "GF513")) == count
