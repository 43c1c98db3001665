"""Each rule at the top level and nested two deep: severity, node, key, place, help, related places and path."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from graphflow import Diagnostic, Flow, Report, Settings
from graphflow.checker.engine import rule_of
from graphflow.checker.rules import ALL_RULES
from graphflow.errors import UsageError
from tests.checker.planted_control import PLANTED as CONTROL

HEAD = """from graphflow import *
from typing import *
STEP = {"func": lambda: {}, "reads": [], "writes": []}
"""
NESTED = """
flow = Flow(
    SequentialAgent("outer", [ParallelAgent("inner", [{root}])]), {options}
)
"""
FLAT = """
flow = Flow({root}, {options})
"""

# code -> (definitions, root, options, key, severity); the line that is flagged ends in "# here".
PLANTED: dict[str, tuple[str, str, str, str | None, str]] = {
    "GF101": (
        'a = LlmAgent(name="a", instruction="x")\nb = LlmAgent(name="a", instruction="x")  # here',
        'SequentialAgent("s", [a, b])', "", None, "error",
    ),
    "GF102": ('a = LlmAgent(name="a b", instruction="x")  # here', "a", "", None, "error"),
    "GF103": (
        'a = LlmAgent(name="a", instruction="x")  # here', 'SequentialAgent("s", [a, a])', "", None, "error",
    ),
    "GF104": (
        'a = FunctionAgent("a", **STEP)\nb = FunctionAgent("b", **STEP)  # here',
        'Workflow("w", [(START, a), (b, a)])', "", None, "error",
    ),
    "GF105": (
        'a = FunctionAgent("a", **STEP)  # here\nb = FunctionAgent("b", **STEP)',
        'Workflow("w", [(START, a, b), (b, a)])', "", None, "error",
    ),
    "GF106": (
        'a = FunctionAgent("a", **STEP)  # here\n@agent\ndef judge(): return "x"',
        'Workflow("w", [(START, (a, judge)), (a, judge), (judge, {"x": a, DEFAULT_ROUTE: END})])', "", None, "error",
    ),
    "GF107": ('e = ParallelAgent("e", [])  # here', "e", "", None, "warning"),
    "GF108": (
        'a = FunctionAgent("a", **STEP)  # here', 'Workflow("w", [(START, a, "bb")])', "", None, "error",
    ),
    "GF109": (
        '@agent  # here\ndef judge(): return "x"\na, b = FunctionAgent("a", **STEP), FunctionAgent("b", **STEP)',
        'Workflow("w", [(START, a, judge), (judge, {"x": a, DEFAULT_ROUTE: END}), (judge, b)])', "", None, "error",
    ),
    "GF204": (
        ('a = LlmAgent(name="a", instruction="x", output_key="k")  # here\n'
         'b = LlmAgent(name="b", instruction="y", output_key="k")'),
        'SequentialAgent("s", [a, b])', 'outputs=["k"]', "k", "warning",
    ),
    "GF206": (
        ('w = LlmAgent(name="w", instruction="x", output_key="k")\n'
         'c = ConditionalAgent("c", when=key("v"), then=w)\n'
         'r = LlmAgent(name="r", instruction="{k?}")  # here'),
        'SequentialAgent("s", [c, r])', 'inputs={"v": bool}, persist=["k"]', "k", "error",
    ),
    "GF207": (
        ('from pydantic import BaseModel\nclass State(BaseModel):\n    draft: str\n'
         'a = LlmAgent(name="a", instruction="{tone}", output_key="draft")  # here'),
        "a", "state=State", "tone", "error",
    ),
    "GF209": ('a = LlmAgent(name="a", instruction="{t?}")  # here', "a", 'inputs={"t": str}', "t", "info"),
    "GF210": (
        'a = FunctionAgent("a", lambda ctx: ctx.state.update(ctx.deps))  # here', "a", "", None, "info",
    ),
    "GF212": (
        'a = LlmAgent(name="a", instruction="x")  # here\nb = LlmAgent(name="b", instruction="y")',
        'SequentialAgent("s", [a, b])', "", None, "info",
    ),
    "GF214": (
        ('a = LlmAgent(name="a", instruction="Write.")\n'
         'def judge(node_input) -> Literal["pass", "fail"]: return "pass"\n'
         'b = LlmAgent(name="b", instruction="Publish the approved draft.")  # here'),
        'Workflow("w", [(START, a, judge), (judge, {"pass": b, "fail": END})])', "", None, "warning",
    ),
    "GF213": ('a = LlmAgent(name="a", instruction="{t?}")  # here', "a", "inputs={}", "t", "warning"),
    "GF201": ('a = LlmAgent(name="a", instruction="{topic}")  # here', "a", "inputs={}", "topic", "error"),
    "GF202": (
        ('w = LlmAgent(name="w", instruction="x", output_key="k")\n'
         'c = ConditionalAgent("c", when=key("v"), then=w)\n'
         'r = LlmAgent(name="r", instruction="{k}")  # here'),
        'SequentialAgent("s", [c, r])', 'inputs={"v": bool}', "k", "error",
    ),
    "GF203": ('a = LlmAgent(name="a", instruction="x", output_key="k")  # here', "a", "outputs=[]", "k", "warning"),
    "GF205": (
        ('w = LlmAgent(name="w", instruction="{c}", output_key="d")  # here\n'
         'c = LlmAgent(name="c", instruction="{d}", output_key="c")'),
        'LoopAgent("l", [w, c], max_iterations=2)', "inputs={}", "c", "error",
    ),
    "GF208": ('a = LlmAgent(name="a", instruction="x")', "a", 'inputs={"topic": str}', "topic", "warning"),
    "GF211": (
        'w = LlmAgent(name="w", instruction="x", output_key="k")',
        'ConditionalAgent("c", when=key("v"), then=w)', 'inputs={"v": bool}, outputs=["k"]', "k", "error",
    ),
    "GF301": (
        ('a = LlmAgent(name="a", instruction="x", output_key="k")\n'
         'b = LlmAgent(name="b", instruction="x", output_key="k")  # here'),
        'ParallelAgent("p", [a, b])', "", "k", "error",
    ),
    "GF302": (
        'a = LlmAgent(name="a", instruction="x", output_key="k")\nb = LlmAgent(name="b", instruction="{k}")  # here',
        'ParallelAgent("p", [a, b])', "", "k", "error",
    ),
    "GF303": (
        '@agent(writes="n")  # here\ndef find() -> list[str]: return []',
        "find", 'keys=[Key("n", list[str], merge=Merge.append)], outputs=["n"]', "n", "error",
    ),
    "GF304": (
        ("class Poller(BaseAgent):\n    _tries: int = 0\n    async def run(self, ctx): self._tries += 1\n"
         'p = Poller(name="p")  # here'),
        "p", "", None, "warning",
    ),
    "GF305": (
        "@agent  # here\ndef poll(ctx): ctx.actions.escalate = True\na = LlmAgent(name='a', instruction='x')",
        'LoopAgent("l", [ParallelAgent("p", [poll, a])], max_iterations=2)', "", None, "warning",
    ),
    "GF401": (
        '@agent(writes="n")\ndef count() -> str: return "1"\n@agent\ndef use(n: int) -> None: ...  # here',
        'SequentialAgent("s", [count, use])', "", "n", "error",
    ),
    "GF402": (
        ('@agent(writes="n")\ndef one() -> int: return 1\n'
         '@agent(writes="n")  # here\ndef two() -> str: return "two"\n'
         'c = ConditionalAgent("c", when=key("v"), then=one, otherwise=two)\n'
         'a = LlmAgent(name="a", instruction="{n}")'),
        'SequentialAgent("s", [c, a])', 'inputs={"v": bool}', "n", "error",
    ),
    "GF403": (
        'class Invoice(TypedDict): total: float\na = LlmAgent(name="a", instruction="{invoice.totl}")  # here',
        "a", 'inputs={"invoice": Invoice}', "invoice", "error",
    ),
    "GF404": (
        'a = LlmAgent(name="a", instruction="x", output_key="n")\n@agent\ndef use(n: int) -> None: ...  # here',
        'SequentialAgent("s", [a, use])', "", "n", "error",
    ),
    "GF405": (
        'g = Gate("g", require=key("n") == "3")  # here', "g", 'inputs={"n": int}', "n", "error",
    ),
    "GF501": (
        'a = LlmAgent(name="a", instruction="x")\nl = LoopAgent("l", [a])  # here', "l", "", None, "error",
    ),
    "GF503": (
        "@agent  # here\ndef poll(ctx): ctx.actions.escalate = True", "poll", "", None, "error",
    ),
    "GF504": (
        'a = LlmAgent(name="a", instruction="x")\nc = ConditionalAgent("c", on=key("k"), cases={True: a})  # here',
        "c", 'inputs={"k": bool}', "k", "error",
    ),
}  # fmt: skip
PLANTED |= CONTROL

Load = tuple[Flow, list[str]]


def load(tmp_path: Path, text: str) -> Load:
    """Run a program from a file of its own, as a user's module is, and give its flow and lines."""
    file = tmp_path / "pipeline.py"
    source = HEAD + textwrap.dedent(text)
    file.write_text(source, encoding="utf-8")
    scope: dict[str, object] = {"__name__": "pipeline"}
    exec(compile(source, str(file), "exec"), scope)
    flow = scope["flow"]
    assert isinstance(flow, Flow)
    return flow, source.splitlines()


def only(report: Report, code: str) -> Diagnostic:
    found = [finding for finding in report if finding.code == code]
    assert len(found) == 1, str(report)
    return found[0]


def test_every_rule_is_planted() -> None:
    assert set(PLANTED) == {rule.code for rule in ALL_RULES}


@pytest.mark.parametrize("shape", [FLAT, NESTED], ids=["flat", "nested"])
@pytest.mark.parametrize("code", PLANTED)
def test_the_planted_fault_is_found_with_its_place(code: str, shape: str, tmp_path: Path) -> None:
    definitions, root, options, key, severity = PLANTED[code]
    flow, lines = load(tmp_path, definitions + shape.format(root=root, options=options))
    report = flow.check(profile=rule_of(code).profile)
    found = only(report, code)
    assert (found.key, found.severity) == (key, severity)
    assert found.name == next(rule.name for rule in ALL_RULES if rule.code == code)
    assert found.message
    assert found.help
    assert found.help != found.message
    if code not in ("GF208", "GF211"):
        here = next(number for number, line in enumerate(lines, 1) if line.endswith("# here"))
        assert (Path(found.file or "").name, found.line) == ("pipeline.py", here)
        assert found.column is not None
        assert found.node in flow.graph.declarations
        assert ("outer/inner" in found.node) == (shape == NESTED)
    assert found.node == "" or not found.node.startswith("@") or code in ("GF208", "GF211")
    others = [other.code for other in report if other.severity == "error" and other.code != code]
    assert not others


@pytest.mark.parametrize("shape", [FLAT, NESTED], ids=["flat", "nested"])
def test_related_places_name_the_other_side(shape: str, tmp_path: Path) -> None:
    for code in ("GF101", "GF103", "GF202", "GF205", "GF301", "GF302", "GF401"):
        definitions, root, options, *_ = PLANTED[code]
        flow, _ = load(tmp_path, definitions + shape.format(root=root, options=options))
        found = only(flow.check(), code)
        assert found.related, code
        for place in found.related:
            assert place.message
            assert place.node in flow.graph.declarations
            assert place.origin is not None, code


@pytest.mark.parametrize("shape", [FLAT, NESTED], ids=["flat", "nested"])
def test_a_path_leads_from_the_start_to_the_reader(shape: str, tmp_path: Path) -> None:
    for code in ("GF202", "GF205"):
        definitions, root, options, *_ = PLANTED[code]
        flow, _ = load(tmp_path, definitions + shape.format(root=root, options=options))
        found = only(flow.check(), code)
        assert found.path[-1] == found.node
        assert all(node in flow.graph.declarations for node in found.path)
        writer = found.related[0].node
        assert writer not in found.path[:-1], "the path is one on which the key is not written"


@pytest.mark.parametrize("code", sorted(set(PLANTED) - {"GF208", "GF211"}))
def test_findings_are_suppressed_where_the_agent_is_made(code: str, tmp_path: Path) -> None:
    definitions, root, options, *_ = PLANTED[code]
    comment = f"# graphflow: ignore[{code}] it is meant"
    flow, _ = load(tmp_path, definitions.replace("# here", comment) + FLAT.format(root=root, options=options))
    report = flow.check(profile=rule_of(code).profile)
    assert code not in report.codes
    assert [finding.code for finding in report.suppressed] == [code]


def test_a_comment_names_the_codes_it_means(tmp_path: Path) -> None:
    text = 'a = LlmAgent(name="a", instruction="x", output_key="k"){}\nflow = Flow(a, outputs=[])'
    silent = ["  # graphflow: ignore[GF203] kept", "  # graphflow: ignore[GF101, GF203]", "  # graphflow: ignore"]
    for comment in silent:
        assert load(tmp_path, text.format(comment))[0].check().codes == [], comment
    for comment in ["  # graphflow: ignore[GF101]", "  # graphflow: ignore[]", "  # ignore[GF203]"]:
        assert load(tmp_path, text.format(comment))[0].check().codes == ["GF203"], comment


def test_a_comment_speaks_for_all_lines_of_a_call(tmp_path: Path) -> None:
    text = (
        'a = LlmAgent(  # graphflow: ignore[GF203] kept\n    name="a",\n    instruction="x",\n    output_key="k",\n)\n'
    )
    assert load(tmp_path, text + "flow = Flow(a, outputs=[])")[0].check().codes == []


def test_the_ignore_field_silences_its_agent_only(tmp_path: Path) -> None:
    text = """
    a = LlmAgent(name="a", instruction="x", output_key="k", ignore=["GF203"])
    b = LlmAgent(name="b", instruction="x", output_key="l")
    flow = Flow(SequentialAgent("s", [a, b]), outputs=[])
    """
    report = load(tmp_path, text)[0].check()
    assert [(finding.node, finding.key) for finding in report] == [("s/b", "l")]
    assert [(finding.node, finding.key) for finding in report.suppressed] == [("s/a", "k")]


def test_settings_select_ignore_and_regrade(tmp_path: Path) -> None:
    text = """
    a = LlmAgent(name="a", instruction="{nothing}", output_key="k")
    flow = Flow(a, inputs={"unused": str}, outputs=[])
    """
    flow, _ = load(tmp_path, text)
    assert sorted(flow.check().codes) == ["GF201", "GF203", "GF208"]
    assert flow.check(Settings(select=("GF201",))).codes == ["GF201"]
    assert sorted(flow.check(Settings(ignore=("GF201", "GF208"))).codes) == ["GF203"]
    assert flow.check(Settings(select=("GF2",), ignore=("GF20",))).codes == []
    report = flow.check(Settings(severity={"GF201": "info", "GF203": "error"}))
    assert {finding.code: finding.severity for finding in report} == {
        "GF201": "info", "GF203": "error", "GF208": "warning",
    }  # fmt: skip
    with pytest.raises(UsageError, match="GF999"):
        Settings(select=("GF999",))
    with pytest.raises(UsageError, match="fatal"):
        Settings(severity={"GF201": "fatal"})  # type: ignore[dict-item]


def test_one_cause_is_one_finding(tmp_path: Path) -> None:
    """A misspelt read takes the finding about the key that it meant."""
    text = """
    w = LlmAgent(name="w", instruction="{topic}", output_key="draft")
    r = LlmAgent(name="r", instruction="{draaft} {tone}", output_key="out")
    flow = Flow(SequentialAgent("s", [w, r]), inputs={"topic": str, "tones": str}, outputs=["out"])
    """
    report = load(tmp_path, text)[0].check()
    assert [(finding.code, finding.key) for finding in report] == [("GF201", "draaft"), ("GF201", "tone")]
    draft, tone = report
    assert "`draft`" in draft.help
    assert any("GF203" in place.message and place.node == "s/w" for place in draft.related)
    assert "`tones`" in tone.help
    assert any("GF208" in place.message for place in tone.related)


def test_an_open_world_softens_undefined_reads_only(tmp_path: Path) -> None:
    reader = 'flow = Flow(LlmAgent(name="a", instruction="{topic}"), {})'
    assert only(load(tmp_path, reader.replace("{}", "inputs=None"))[0].check(), "GF201").severity == "warning"
    assert only(load(tmp_path, reader.replace("{}", "inputs={}"))[0].check(), "GF201").severity == "error"
    typo = """
    flow = Flow(SequentialAgent("s", [
        LlmAgent(name="a", instruction="x", output_key="draft"), LlmAgent(name="b", instruction="{draaft}"),
    ]))
    """
    assert only(load(tmp_path, typo)[0].check(), "GF201").severity == "error"
    later = """
    flow = Flow(SequentialAgent("s", [
        LlmAgent(name="a", instruction="{facts}"), LlmAgent(name="b", instruction="x", output_key="facts"),
    ]))
    """
    found = only(load(tmp_path, later)[0].check(), "GF201")
    assert found.severity == "error"
    assert "`s/b`" in found.help
    user = 'flow = Flow(LlmAgent(name="a", instruction="{user:tier}"), inputs={})'
    assert only(load(tmp_path, user)[0].check(), "GF201").severity == "warning"


def test_an_open_contract_silences_what_rests_on_it(tmp_path: Path) -> None:
    text = """
    def everything(state): state[input()] = 1
    @agent
    def opaque(ctx): everything(ctx.state)
    a = LlmAgent(name="a", instruction="{topic}", output_key="k")
    %s
    """
    before = 'flow = Flow(SequentialAgent("s", [opaque, a]), inputs={}, outputs=["k", "l"])'
    assert load(tmp_path, text % before)[0].check().codes == ["GF210"]
    after = 'flow = Flow(SequentialAgent("s", [a, opaque]), inputs={}, outputs=[])'
    assert load(tmp_path, text % after)[0].check().codes == ["GF201", "GF210"], "it comes too late, and it may read `k`"
    loop = 'flow = Flow(LoopAgent("l", [opaque]), inputs={})'
    assert load(tmp_path, text % loop)[0].check().codes == ["GF210"], "it may escalate"
    alone = 'flow = Flow(SequentialAgent("s", [opaque]), inputs={})'
    assert load(tmp_path, text % alone)[0].check().codes == ["GF210"], "nobody says that it does"


def test_a_race_beside_an_open_contract_is_not_reported(tmp_path: Path) -> None:
    text = """
    @agent
    def opaque(ctx): print(ctx.state)
    a = LlmAgent(name="a", instruction="{k}")
    flow = Flow(SequentialAgent("s", [opaque, ParallelAgent("p", [a, LlmAgent(name="b", instruction="x", output_key="k")])]))
    """
    assert "GF302" not in load(tmp_path, text)[0].check().codes


def test_reads_beside_a_concurrent_write_by_what_they_find(tmp_path: Path) -> None:
    text = """
    r = LlmAgent(name="r", instruction="{k%s}")
    w = LlmAgent(name="w", instruction="x", output_key="k")
    flow = Flow(ParallelAgent("p", [r, w]), inputs=%s)
    """
    error, warning = (load(tmp_path, text % pair)[0].check() for pair in (("", "{}"), ("", '{"k": str}')))
    assert only(error, "GF302").severity == "error"
    assert "GF201" not in error.codes
    assert only(warning, "GF302").severity == "warning"
    optional = only(load(tmp_path, text % ("?", "{}"))[0].check(), "GF302")
    assert optional.severity == "warning"
    assert "earlier value" not in optional.message


def test_an_open_contract_in_a_branch_is_seen_after_the_join(tmp_path: Path) -> None:
    text = """
    @agent
    def opaque(ctx): print(ctx.state)
    @agent
    def use(k: int) -> None: ...
    other = LlmAgent(name="other", instruction="x")
    flow = Flow(SequentialAgent("s", [ParallelAgent("p", [opaque, other]), use]), inputs={"k": str})
    """
    assert "GF401" not in load(tmp_path, text)[0].check().codes
    silent = text.replace("[opaque, other]", "[other]")
    assert "GF401" in load(tmp_path, silent)[0].check().codes
