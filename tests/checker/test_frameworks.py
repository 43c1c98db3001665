"""The profile of another framework: what it changes, at every kind of place, and what it leaves as it is."""

from __future__ import annotations

import pytest

from graphflow import Flow, LlmAgent, Report, check
from graphflow.analysis.profiles import PROFILES, profile_named
from graphflow.errors import UsageError
from graphflow.ir.names import PROFILE_NAMES
from graphflow.ir.reading import parse_graph
from graphflow.ir.text import print_graph
from tests.checker.test_examples import flow_of

PRELUDE = """
class Runs(BaseAgent):
    a: object
    async def run(self, ctx):
        async for event in ctx.run(self.a):
            yield event
def ask(name, text="x", **more): return LlmAgent(name=name, instruction=text, model="gemini-2.5-flash", **more)
def poll(name="poll"): return FunctionAgent(name, escalates)
def escalates(ctx): ctx.actions.escalate = True
def escalates_perhaps(ctx, flag: bool):
    if flag: ctx.actions.escalate = True
def step(name): return FunctionAgent(name, lambda: {}, reads=[], writes=[])
def one(ctx): ctx.route = "a" if ctx.message else "b"
def judge(kind: Literal["x", "y"]) -> Literal["x", "y"]: return kind
def any_of(kinds: list[Literal["x", "y"]]) -> list[Literal["x", "y"]]: return kinds
a, b, c, d = (step(name) for name in ("a", "b", "c", "d"))
"""
INPUTS = '{"elements": list[str], "flag": bool, "kinds": list[Literal["x", "y"]], "kind": Literal["x", "y"]}'
PLACES = {
    "top": "flow = Flow(part, inputs={inputs})",
    "nested": 'flow = Flow(SequentialAgent("o", [ParallelAgent("p", [part])]), inputs={inputs})',
    "workflow": 'flow = Flow(Workflow("g", [(START, ask("first"), part)]), inputs={inputs})',
    "map": 'flow = Flow(MapAgent("m", over="elements", agent=part), inputs={inputs})',
    "sub-flow": 'flow = Flow(SubFlow("f", Flow(part, inputs={inputs})), inputs={inputs})',
    "custom": 'flow = Flow(Runs(name="k", a=part), inputs={inputs})',
}
AROUND = {"top": "", "nested": "o/p/", "workflow": "g/", "map": "m/", "sub-flow": "f/", "custom": "k/"}

LOOP = 'part = LoopAgent("out", [{}, ask("z")], max_iterations=2)'
# (code, definition of `part`, node)
FAULTS = [
    ("GF508", LOOP.format('LoopAgent("inn", [poll()], max_iterations=2)'), "out/inn/poll"),
    ("GF508", LOOP.format('LoopAgent("inn", [FunctionAgent("e", escalates_perhaps)], max_iterations=2)'), "out/inn/e"),
    ("GF508", LOOP.format('ParallelAgent("q", [LoopAgent("inn", [poll()], max_iterations=2), b])'), "out/q/inn/poll"),
    ("GF509", 'part = Workflow("w", [(START, one), (one, {"a": a, "b": b}), ((a, b), c)])', "w/c"),
    ("GF509", 'part = Workflow("w", [(START, any_of), (any_of, {"x": a, "y": b}), ((a, b), c)])', "w/c"),
    ("GF509", 'part = Workflow("w", [(START, one), (one, {"a": a, "b": c}), (a, c)])', "w/c"),
    ("GF509", 'part = Workflow("w", [(START, (a, one)), (one, {"a": b, "b": END}), ((a, b), c)])', "w/c"),
    (
        "GF509",
        'part = Workflow("w", [(START, one), (one, {"a": SequentialAgent("s", [a]), "b": b}), (("s", b), c)])',
        "w/c",
    ),
]
CORRECT = [
    ("GF508", 'part = LoopAgent("out", [poll()], max_iterations=2)'),
    ("GF508", LOOP.format('LoopAgent("inn", [a], max_iterations=2)')),
    ("GF508", LOOP.format('SubFlow("sub", Flow(LoopAgent("inn", [poll()], max_iterations=2)))')),
    ("GF508", LOOP.format('LoopAgent("inn", [FunctionAgent("e", lambda ctx: ctx.deps(ctx))], max_iterations=2)')),
    ("GF508", 'part = SequentialAgent("s", [LoopAgent("l", [poll()], max_iterations=2), Runs(name="r", a=a)])'),
    ("GF509", 'part = Workflow("w", [(START, (a, b), c)])'),
    ("GF509", 'part = Workflow("w", [(START, one), (one, {"a": a, "b": b})])'),
    ("GF509", 'part = Workflow("w", [(START, one), (one, {"a": (a, b), "b": d}), ((a, b), c)])'),
    ("GF509", 'part = Workflow("w", [(START, (a, b)), ((a, b), c), (c, one), (one, {"a": END, "b": d})])'),
    ("GF509", 'part = Workflow("w", [(START, a, one), (one, {"a": a, "b": b}), (b, (c, d))])'),
    (
        "GF509",
        ('k = ConditionalAgent("k", when=key("flag"), then=a, otherwise=b)\n'
         'part = Workflow("w", [(START, (k, d)), ((k, d), c)])'),
    ),
]  # fmt: skip


def report_of(text: str, place: str, profile: str = "adk") -> Report:
    """Check a part at a place."""
    return flow_of(f"{PRELUDE}{text}\n" + PLACES[place].replace("{inputs}", INPUTS)).check(profile=profile)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(("code", "text", "node"), FAULTS)
def test_a_fault_is_found_at_every_place(code: str, text: str, node: str, place: str) -> None:
    """Once, at its node, with the severity of the catalogue, a remedy and the other places."""
    report = report_of(text, place)
    (found,) = [each for each in report if each.code == code]
    assert (found.node, found.key) == (AROUND[place] + node, None)
    assert found.severity == ("warning" if code == "GF508" else "error")
    assert found.help
    assert found.related
    assert all(other.node.startswith(AROUND[place]) for other in found.related)
    assert [each.code for each in report.errors if each.code != code] == []


@pytest.mark.parametrize(("code", "text", "node"), FAULTS)
def test_graphflow_itself_has_neither_fault(code: str, text: str, node: str) -> None:
    """An escalation ends the nearest loop, and a join does not wait for a path that was not taken."""
    assert not {"GF508", "GF509"} & set(report_of(text, "top", "graphflow").codes), (code, node)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(("code", "text"), CORRECT)
def test_what_is_nearly_a_fault_is_none(code: str, text: str, place: str) -> None:
    """The look-alikes are silent."""
    assert code not in report_of(text, place).codes


def test_an_outer_loop_may_be_ended_by_an_inner_one() -> None:
    """Where an escalation crosses loops it is an exit of each, and what comes after the inner loop may be missing."""
    text = PRELUDE + (
        'inner = LoopAgent("inner", [poll()], max_iterations=2)\n'
        'flow = Flow(SequentialAgent("s", [LoopAgent("outer", [inner, ask("w", output_key="k")]), ask("r", "{k}")]))'
    )
    assert [(each.code, each.node) for each in flow_of(text).check().errors] == [("GF501", "s/outer")]
    report = flow_of(text).check(profile="adk")
    assert [(each.code, each.node, each.key) for each in report.errors] == [("GF202", "s/r", "k")]
    (missing,) = report.errors
    assert missing.path == ("s/outer", "s/outer/inner", "s/outer/inner/poll", "s/r")


@pytest.mark.parametrize(
    ("text", "ours", "theirs"),
    [
        ("{{topic}}", [], ["GF201"]),
        ("{ topic }", [], ["GF201"]),
        ('{"topic": {{topic}}}', [], ["GF201"]),
        ("{{topic?}}", [], []),
        ("{topic.name}", ["GF201"], []),
        ("${topic}", ["GF201"], []),
        ("\\\\{topic}", ["GF201"], []),
        ("{topic ?}", [], []),
        ("{user:topic}", ["GF201"], ["GF201"]),
        ("{other:topic}", [], []),
        ('{"name": "x"} .a { color: red } {0} {} {x!r}', [], []),
    ],
)
def test_each_framework_has_its_own_grammar_of_braces(text: str, ours: list[str], theirs: list[str]) -> None:
    """Double braces are text for graphflow and a placeholder for ADK; fields and dollars the other way round."""
    flow = flow_of(f'flow = Flow(LlmAgent(name="a", instruction=\'{text}\', model="gemini-2.5-flash"))')
    assert [found.code for found in flow.check() if found.code == "GF201"] == ours
    assert [found.code for found in flow.check(profile="adk") if found.code == "GF201"] == theirs


def test_every_name_has_a_profile() -> None:
    """The names that the text of a graph may hold are those there are, and ours is the default."""
    assert tuple(PROFILES) == PROFILE_NAMES
    assert profile_named("graphflow").dead_path_elimination


def test_an_unknown_profile_is_refused_with_the_closest() -> None:
    """Wherever it is named."""
    agent = LlmAgent(name="a", instruction="x")
    with pytest.raises(UsageError, match="there is no profile `adkk`; did you mean `adk`"):
        check(agent, profile="adkk")
    with pytest.raises(UsageError, match="there is no profile `crew`; there are `graphflow`, `adk`"):
        Flow(agent).check(profile="crew")


def test_the_text_of_a_graph_names_its_profile() -> None:
    """Two graphs under different profiles differ; the default is not written, as before there were profiles."""
    agent = LlmAgent(name="a", instruction="x")
    ours = print_graph(Flow(agent).graph)
    assert "profile" not in ours
    head, _, rest = ours.partition("\n")
    theirs = f"{head}\nprofile adk\n{rest}"
    graph = parse_graph(theirs)
    assert print_graph(graph) == theirs
    assert graph != parse_graph(ours)
    with pytest.raises(UsageError, match=r"line 2.*a profile: one of graphflow, adk"):
        parse_graph(theirs.replace("adk", "crew"))


def test_a_report_is_kept_for_each_profile() -> None:
    """Checking twice gives the same report, and one profile does not hide the other."""
    flow = Flow(LlmAgent(name="a", instruction="{{topic}}", model="gemini-2.5-flash"))
    assert flow.check(profile="adk") is flow.check(profile="adk")
    assert flow.check() is flow.check(profile="graphflow")
    assert flow.check().codes != flow.check(profile="adk").codes


BESIDE = (
    'flow = Flow(SequentialAgent("s", [{first}ParallelAgent("p", [ask("w", output_key="k"), ask("r", "{read}")])]))'
)


@pytest.mark.parametrize(
    ("text", "ours", "theirs"),
    [
        # code -> severity of what is said about the key, under either profile
        (BESIDE.format(first="", read="{k}"), {"GF302": "error"}, {"GF302": "error"}),
        (BESIDE.format(first='ask("f", output_key="k"), ', read="{k}"), {"GF302": "warning"}, {"GF302": "error"}),
        (BESIDE.format(first="", read="{k?}"), {"GF302": "warning"}, {"GF302": "warning"}),
        (
            'flow = Flow(ParallelAgent("p", [ask("w", output_key="k"), ask("v", output_key="k")]))',
            {"GF301": "error"},
            {"GF301": "error"},
        ),
        (
            'flow = Flow(Workflow("w", [(START, judge), (judge, {"x": a})]), inputs={"kind": Literal["x", "y"]})',
            {"GF504": "error"},
            {"GF504": "warning"},
        ),
        (
            'flow = Flow(Workflow("w", [(START, one), (one, {"a": a})]))',
            {"GF108": "error"},
            {"GF108": "warning"},
        ),
        ('flow = Flow(ask("w", output_key="k"), outputs=[])', {"GF203": "warning"}, {"GF203": "info"}),
        ('flow = Flow(ask("w", output_key="k"))', {"GF203": "info"}, {"GF203": "info"}),
        ('flow = Flow(ask("w", "{topic} {{topic}}"), inputs={"topic": str})', {"GF602": "warning"}, {}),
        ('flow = Flow(ask("w", "{topic} { topic }"), inputs={"topic": str})', {"GF602": "warning"}, {}),
        ('flow = Flow(ask("w", "{topic} ${topic}"), inputs={"topic": str})', {"GF602": "warning"}, {"GF602": "error"}),
        ('flow = Flow(ask("w", "{topic} {topic.name}"), inputs={"topic": str})', {}, {"GF602": "error"}),
        (
            'flow = Flow(ask("w", "{topic} ${topic.name}"), inputs={"topic": str})',
            {"GF602": "warning"},
            {"GF602": "error"},
        ),
        ('flow = Flow(ask("w", "{topic} {other.name} ${other}"), inputs={"topic": str})', {}, {}),
        ('flow = Flow(ask("w", "{topic} \\\\{topic} { color: red }"), inputs={"topic": str})', {}, {}),
        ('flow = Flow(ask("w", "{topic} {topic[0]}"), inputs={"topic": str})', {"GF601": "error"}, {"GF601": "error"}),
    ],
)
def test_a_finding_weighs_what_it_costs_there(text: str, ours: dict[str, str], theirs: dict[str, str]) -> None:
    """The same fault is graver, lighter or none in another framework."""
    for profile, expected in (("graphflow", ours), ("adk", theirs)):
        report = flow_of(PRELUDE + text).check(profile=profile)
        wanted = {"GF301", "GF302", "GF504", "GF108", "GF203", "GF601", "GF602"} & {*ours, *theirs, "GF602"}
        assert {each.code: each.severity for each in report if each.code in wanted} == expected, profile


def test_a_type_is_no_key_with_fields() -> None:
    """`{City.name}` names a type that some stage writes, and ADK leaves it as it is."""
    text = (
        "class City(TypedDict):\n    name: str\n"
        'flow = Flow(SequentialAgent("s", [ask("w", output_key="k", output_schema=City), ask("r", "{City.name} {k}")]))'
    )
    (found,) = flow_of(PRELUDE + text).check(profile="adk").errors
    assert (found.code, found.node, found.key) == ("GF602", "s/r", "City")


FLAG = 'flow = Flow(LoopAgent("l", [{body}], max_iterations=3))'
SETS = "FunctionAgent('f', lambda ctx: ctx.state.update(done=True))"


@pytest.mark.parametrize(
    ("body", "severity"),
    [
        (SETS, "warning"),
        (f"SequentialAgent('q', [{SETS}])", "warning"),
        (f"{SETS}, poll()", "info"),
        ("FunctionAgent('f', lambda ctx: ctx.state.update(done='yes'))", "info"),
        ("ask('f', output_key='done')", "info"),
    ],
)
def test_an_exit_flag_that_ends_nothing_is_more_than_a_note(body: str, severity: str) -> None:
    """Under ADK a key that nothing reads is a note, but not a truth value set in a loop that only its bound ends."""
    report = flow_of(PRELUDE + FLAG.format(body=body)).check(profile="adk")
    assert [each.severity for each in report if each.code == "GF203"] == [severity]
