"""Faults of merges, types and shared state at every kind of place, and look-alikes that are correct."""

from __future__ import annotations

import linecache

import pytest

from graphflow import Flow, Report

PRELUDE = """
from graphflow import *
from typing import *
import asyncio, dataclasses, enum, json
from pydantic import BaseModel
class Line(BaseModel):
    text: str
    price: float = 0.0
class Invoice(BaseModel):
    total: float
    lines: list[Line]
    note: Optional[str] = None
@dataclasses.dataclass
class Parcel:
    weight: int
class Memo(TypedDict, total=False): title: str
class Kind(enum.Enum): BUG = "bug"; WISH = "wish"
class Level(enum.StrEnum): LOW = "low"; HIGH = "high"
Score = NewType("Score", int)
class Runs(BaseAgent):
    a: object
    async def run(self, ctx):
        async for event in ctx.run(self.a):
            yield event
def stage(name, reads=(), writes=(), func=lambda ctx: {}):
    return FunctionAgent(name, func, reads=reads if isinstance(reads, dict) else list(reads),
        writes=writes if isinstance(writes, dict) else list(writes))
def ask(name, text="x", **more): return LlmAgent(name=name, instruction=text, **more)
def escalating(ctx): ctx.actions.escalate = True
"""

PLACES = {
    "top": "flow = Flow(part, {options})",
    "nested": 'flow = Flow(SequentialAgent("o", [ParallelAgent("p", [part])]), {options})',
    "workflow": 'flow = Flow(Workflow("w", [(START, stage("first"), part)]), {options})',
    "map": 'flow = Flow(MapAgent("m", over="elements", agent=part), {options})',
    "sub-flow": 'flow = Flow(SubFlow("f", Flow(part, {options})), {options})',
    "custom": 'flow = Flow(Runs(name="c", a=part), {options})',
}
AROUND = {"top": "", "nested": "o/p/", "workflow": "w/", "map": "m/", "sub-flow": "f/", "custom": "c/"}

# code -> (definition of `part`, node, key, options)
FAULTS: dict[str, tuple[str, str, str | None, str]] = {
    "GF303": ('part = stage("w", (), {"notes": list[str]})', "w", "notes", "KEYS"),
    "GF304": (
        ('class Counts(BaseAgent):\n    _n: int = 0\n    async def run(self, ctx): self._n += 1\n'
         'part = Counts(name="n")'),
        "n", None, "",
    ),
    "GF305": (
        'part = LoopAgent("l", [ParallelAgent("q", [stage("e", func=escalating), ask("b")])], max_iterations=2)',
        "l/q/e", None, "",
    ),
    "GF401": ('part = SequentialAgent("s", [stage("w", (), {"k": str}), stage("r", {"k": int})])', "s/r", "k", ""),
    "GF402": (
        ('part = SequentialAgent("s", [ConditionalAgent("c", when=lambda v: v, then=stage("a", (), {"k": int}), '
         'otherwise=stage("b", (), {"k": str})), ask("r", "{k}")])'),
        "s/c/b", "k", "",
    ),
    "GF403": (
        'part = SequentialAgent("s", [stage("w", (), {"k": Invoice}), ask("r", "{k.totl}")])', "s/r", "k", "",
    ),
    "GF404": ('part = SequentialAgent("s", [ask("w", output_key="k"), ask("r", "{k.total}")])', "s/r", "k", ""),
    "GF405": (
        'part = SequentialAgent("s", [stage("w", (), {"k": Kind}), Gate("g", key("k") == "bugg")])', "s/g", "k", "",
    ),
}  # fmt: skip


def check(text: str) -> Report:
    """Check a program whose annotations are evaluated, as they are in most modules."""
    program = PRELUDE + text
    linecache.cache["<planted>"] = (len(program), None, program.splitlines(keepends=True), "<planted>")
    scope: dict[str, object] = {"__name__": "planted"}
    exec(compile(program, "<planted>", "exec", dont_inherit=True), scope)
    flow = scope["flow"]
    assert isinstance(flow, Flow)
    return flow.check()


def found(report: Report, *codes: str) -> list[tuple[str, str, str | None]]:
    return [(f.code, f.node, f.key) for f in report if f.code in codes or (not codes and f.severity != "info")]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("code", FAULTS)
def test_a_planted_fault_is_found_wherever_it_is(code: str, place: str) -> None:
    part, node, key, keys = FAULTS[code]
    options = 'keys=[Key("notes", list[str], merge=Merge.append)]' if keys else ""
    report = check(f"{part}\n{PLACES[place].format(options=options)}")
    assert found(report, *FAULTS) == [(code, AROUND[place] + node, key)]


def read_back(hint: str, text: str) -> str:
    return f'flow = Flow(SequentialAgent("s", [stage("w", (), {{"k": {hint}}}), {text}]))'


@pytest.mark.parametrize(
    ("hint", "template", "fault"),
    [
        ("Invoice", "{k.total} {k.note} {k.lines}", False),
        ("Invoice | None", "{k.total}", False),
        ("Invoice | None", "{k.sum}", True),
        ("Invoice | Parcel", "{k.total}", True),
        ("Invoice | Parcel", "{k.total?}", False),
        ("Parcel", "{k.weight}", False),
        ("Parcel", "{k.wait}", True),
        ("Memo", "{k.title}", False),
        ("Memo", "{k.tilte}", True),
        ("dict[str, Line]", "{k.anything.price}", False),
        ("dict[str, Line]", "{k.anything.prize}", True),
        ("list[Line]", "{k.text}", True),
        ("int", "{k.bit_length}", True),
        ("Level", "{k.value}", True),
        ("Any", "{k.what.ever}", False),
        ("Annotated[Invoice, 'paid']", "{k.totals}", True),
    ],
)
def test_fields_are_looked_up_member_by_member(hint: str, template: str, fault: bool) -> None:
    report = check(read_back(hint, f'ask("r", "{template}")'))
    assert found(report, "GF403", "GF404") == ([("GF403", "s/r", "k")] if fault else [])


def test_a_field_that_copes_with_absence_is_always_empty() -> None:
    report = check(read_back("Invoice", 'ask("r", "{k.totl?}")'))
    assert [(f.code, f.severity) for f in report if f.code == "GF403"] == [("GF403", "warning")]
    assert "`total`" in report.diagnostics[0].help


def test_a_condition_tells_types_apart() -> None:
    text = 'ConditionalAgent("c", when=key("k").field("total").exists(), then=ask("r", "{k.total}"))'
    assert found(check(read_back("Invoice | Parcel", text)), "GF403") == []
    assert found(check(read_back("Parcel", text)), "GF403") == [("GF403", "s/c", "k"), ("GF403", "s/c/r", "k")]


@pytest.mark.parametrize(("over", "fault"), [("lines", []), ("lnes", ["GF403"]), ("total", ["GF401"])])
def test_what_a_map_runs_over_is_looked_up(over: str, fault: list[str]) -> None:
    report = check(read_back("Invoice", f'MapAgent("m", over=key("k").field("{over}"), agent=ask("r", "{{item}}"))'))
    assert found(report, "GF401", "GF403") == [(code, "s/m", "k") for code in fault]


def test_the_element_of_a_field_has_its_type() -> None:
    text = 'MapAgent("m", over=key("k").field("lines"), agent=ask("r", "{item.prise}"))'
    assert found(check(read_back("Invoice", text)), "GF403") == [("GF403", "s/m/r", "item")]


@pytest.mark.parametrize(
    ("hint", "test", "fault"),
    [
        ("int", 'key("k") == 3', False),
        ("int", 'key("k") == "3"', True),
        ("int", 'key("k") == 3.5', False),
        ("int", 'key("k") == True', False),
        ("bool", 'key("k") == "true"', True),
        ("bool", 'key("k") == 1', False),
        ("Score", 'key("k") > 8', False),
        ("Score", 'key("k") > "8"', True),
        ("str", 'key("k") > 8', True),
        ("str | int", 'key("k") > 8', False),
        ("str | None", 'key("k") == None', False),
        ("str", 'key("k") != None', True),
        ("Literal['good', 'bad']", 'key("k") == "good"', False),
        ("Literal['good', 'bad']", 'key("k").in_(["good", "fine"])', True),
        ("Literal['good', 'bad'] | int", 'key("k") == 7', False),
        ("Kind", 'key("k") == Kind.BUG', False),
        ("Kind", 'key("k") == "bug"', True),
        ("Level", 'key("k") == "low"', False),
        ("Level", 'key("k") == "lowest"', True),
        ("list[str]", 'key("k").contains("a")', False),
        ("list[str]", 'key("k").contains(1)', True),
        ("int", 'key("k").contains(1)', True),
        ("str", 'key("k").contains("a")', False),
        ("str", 'key("k").contains(1)', True),
        ("str", 'key("k").matches("a+")', False),
        ("int", 'key("k").matches("a+")', True),
        ("list[int]", 'key("k").len() > 3', False),
        ("list[int]", 'key("k").len() == "3"', True),
        ("float", 'key("k").len() > 3', True),
        ("Invoice", 'key("k") == "paid"', True),
        ("Invoice", 'key("k").field("total") > 100', False),
        ("Invoice", 'key("k").field("total") == "100"', True),
        ("Invoice", 'key("k").field("note") == "x"', False),
        ("Memo", 'key("k").field("title") == 3', True),
        ("Any", 'key("k") == object', False),
        ("dict[str, Any]", 'key("k").field("a") == 3', False),
        ("int", '(key("k") > 3) | (key("k") == "x")', True),
        ("int", '(key("k") > "x") | (key("k") > "x")', True),
    ],
)
def test_conditions_are_compared_with_what_a_key_can_hold(hint: str, test: str, fault: bool) -> None:
    report = check(read_back(hint, f'Gate("g", {test})'))
    assert found(report, "GF405") == ([("GF405", "s/g", "k")] if fault else [])


def test_an_exit_test_is_compared_with_what_the_body_writes() -> None:
    loop = 'flow = Flow(LoopAgent("l", [ask("w", output_key="k"{})], until=key("k") >= 8, max_iterations=3))'
    assert found(check(loop.format("")), "GF405") == [("GF405", "l", "k")]
    assert found(check(loop.format(", output_schema=int")), "GF405") == []


def test_keys_are_compared_with_keys() -> None:
    two = 'flow = Flow(Gate("g", key("a") == key("b")), inputs={{"a": int, "b": {}}})'
    assert found(check(two.format("str")), "GF405") == [("GF405", "g", "a")]
    assert found(check(two.format("float")), "GF405") == []


@pytest.mark.parametrize(
    ("merge", "declared", "written", "fault"),
    [
        ("append", "list[str]", "str", ""),
        ("append", "list[str]", "list[str]", "GF303"),
        ("append", "list[list[str]]", "list[str]", ""),
        ("append", "list[str]", "int", "GF401"),
        ("append", "set[str]", "str", "GF303"),
        ("append", None, "list[str]", ""),
        ("extend", "list[str]", "list[str]", ""),
        ("extend", "list[str]", "str", "GF303"),
        ("extend", None, "str", "GF303"),
        ("extend", "list[float]", "list[int]", ""),
        ("union", "set[str]", "set[str]", ""),
        ("union", "str", "str", "GF303"),
        ("sum", "float", "int", ""),
        ("sum", "Score", "Score", ""),
        ("sum", "str", "str", "GF303"),
        ("sum", None, "str", "GF303"),
        ("max", "str", "str", ""),
        ("max", "dict[str, int]", "dict[str, int]", "GF303"),
        ("max", "Invoice", "Invoice", "GF303"),
        ("last", "Invoice", "Invoice", ""),
        ("extend", "list[str] | None", "list[str]", ""),
        ("append", "list[str]", "str | Overwrite", ""),
        ("append", "list[str]", "Overwrite", ""),
    ],
)
def test_a_merge_fits_its_key_and_its_updates(merge: str, declared: str | None, written: str, fault: str) -> None:
    type_ = f", {declared}" if declared else ""
    text = 'flow = Flow(stage("w", (), {{"k": {}}}), keys=[Key("k"{}, merge=Merge.{})], outputs=["k"])'
    report = check(text.format(written, type_, merge))
    assert found(report) == ([(fault, "w", "k")] if fault else [])


@pytest.mark.parametrize(
    ("merge", "written", "asked", "fits"),
    [
        ("append", "str", "list[str]", True),
        ("append", "str", "list[int]", False),
        ("append", "str", "str", False),
        ("extend", "list[str]", "list[str]", True),
        ("sum", "bool", "int", True),
        ("sum", "int", "str", False),
        ("max", "int", "float", True),
    ],
)
def test_readers_of_a_merged_key_are_compared_with_its_value(merge: str, written: str, asked: str, fits: bool) -> None:
    text = 'flow = Flow(SequentialAgent("s", [stage("w", (), {{"k": {}}}), stage("r", {{"k": {}}})]), {})'
    report = check(text.format(written, asked, f'keys=[Key("k", merge=Merge.{merge})]'))
    assert found(report) == ([] if fits else [("GF401", "s/r", "k")])


def test_a_merged_key_is_carried_into_a_sub_flow_as_its_value() -> None:
    inner = 'Flow(stage("r", {"log": list[str]}), inputs={"log": list[str]}, keys=[Key("log", list[str], merge=Merge.append)])'
    text = 'flow = Flow(SubFlow("f", %s, inputs={"log": "given"}), inputs={"given": %s})'
    assert found(check(text % (inner, "list[str]"))) == []
    assert [code for code, *_ in found(check(text % (inner, "list[int]")))] == ["GF401"]


@pytest.mark.parametrize(
    ("one", "two", "apart"),
    [
        ("int", "str", True),
        ("int", "float", False),
        ("bool", "int", False),
        ("int", "None", False),
        ("int | None", "str", True),
        ("Literal['a']", "Literal['b']", False),
        ("Literal['a']", "Literal[1]", True),
        ("Invoice", "Parcel", True),
        ("list[int]", "list[str]", True),
        ("list", "list[str]", False),
        ("Invoice", "dict[str, Any]", True),
        ("Any", "int", False),
        ("Score", "int", False),
        ("Level", "str", False),
        ("Kind", "str", True),
    ],
)
def test_writers_disagree_only_if_their_types_have_nothing_in_common(one: str, two: str, apart: bool) -> None:
    text = """
c = ConditionalAgent("c", when=key("v"), then=stage("a", (), {"k": %s}), otherwise=stage("b", (), {"k": %s}))
flow = Flow(SequentialAgent("s", [c, ask("r", "{k}")]), inputs={"v": bool}%s)
"""
    assert found(check(text % (one, two, ""))) == ([("GF402", "s/c/b", "k")] if apart else [])
    if one != "Any":
        declared = f', keys=[Key("k", {one} | {two})]'
        assert found(check(text % (one, two, declared))) == [], "a declaration decides"


def test_writers_that_reach_no_read_in_common_may_disagree() -> None:
    text = """
flow = Flow(SequentialAgent("s", [
    stage("a", (), {"k": int}), ask("r", "{k}"), stage("b", (), {"k": str}), ask("t", "{k}"),
]))
"""
    assert found(check(text)) == []
    typed = 'c = ConditionalAgent("c", when=key("v"), then=stage("a", (), {"k": int}), otherwise=stage("b", (), {"k": str}))'
    both = 'flow = Flow(SequentialAgent("s", [c, stage("r", {"k": int | str}), ask("t", "{k}")]), inputs={"v": bool})'
    assert found(check(f"{typed}\n{both}")) == []
    one = both.replace("int | str", "int")
    assert found(check(f"{typed}\n{one}")) == [("GF401", "s/r", "k")]


PARSES = """
@agent(writes="n")
def parse(raw: str) -> float:
    %s
flow = Flow(SequentialAgent("s", [ask("w", output_key="raw"%s), parse]), outputs=["n"])
"""


@pytest.mark.parametrize(
    ("body", "schema", "fault"),
    [
        ('return json.loads(raw)["n"]', "", True),
        ('return json.loads(raw.strip())["n"]', "", True),
        ('text = raw.strip(); return json.loads(text)["n"]', "", True),
        ("return Invoice.model_validate_json(raw).total", "", False),
        ("return Invoice.model_validate(json.loads(raw)).total", "", False),
        ("return float(len(raw))", "", False),
    ],
)
def test_a_function_that_parses_text_itself_is_warned_of(body: str, schema: str, fault: bool) -> None:
    report = check(PARSES % (body, schema))
    assert found(report) == ([("GF404", "s/parse", "raw")] if fault else [])
    assert all(finding.severity == "warning" for finding in report if finding.code == "GF404")


def test_text_is_followed_through_maps_and_sub_flows() -> None:
    mapped = 'MapAgent("m", over="q", agent=ask("w", output_key="t"), collect={"t": "all"})'
    text = f'flow = Flow(SequentialAgent("s", [{mapped}, stage("r", {{"all": list[%s]}})]), inputs={{"q": list[str]}})'
    assert found(check(text % "Invoice")) == [("GF404", "s/r", "all")]
    assert found(check(text % "str")) == []
    sub = 'SubFlow("f", Flow(ask("w", output_key="t"), outputs=["t"]), outputs={"t": "k"})'
    text = f'flow = Flow(SequentialAgent("s", [{sub}, stage("r", {{"k": %s}})]))'
    assert found(check(text % "Invoice")) == [("GF404", "s/r", "k")]
    assert found(check(text % "str")) == []


@pytest.mark.parametrize(
    ("wrap", "fault"),
    [
        ("ParallelAgent('p', [e, b])", True),
        ("ParallelAgent('p', [e])", False),
        ("ParallelAgent('p', [e, b], join='any')", False),
        ("ParallelAgent('p', [e, b], join=2)", True),
        ("MapAgent('m', over='q', agent=e)", True),
        ("SequentialAgent('t', [e, ParallelAgent('p', [b])])", False),
        ("ParallelAgent('p', [LoopAgent('i', [e], max_iterations=2), b])", False),
        ("ParallelAgent('p', [Runs(name='c', a=e), b])", True),
        ("Workflow('w', [(START, (e, b))])", False),
    ],
)
def test_an_escalation_beside_others(wrap: str, fault: bool) -> None:
    text = f'e, b = stage("e", func=escalating), ask("b")\nflow = Flow(LoopAgent("l", [{wrap}], max_iterations=3))'
    assert [code for code, *_ in found(check(text), "GF305")] == ["GF305"] * fault


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ("self._n += 1", True),
        ("self._seen.append(1)", True),
        ("self._seen[0] = 1", True),
        ("self._note()", True),
        ("n = self._n + 1", False),
        ("seen = []; seen.append(1)", False),
        ("async with self._lock: self._n += 1", False),
        ("ctx.state['n'] = 1", False),
        ("self._client.update('x')", False),
    ],
)
def test_what_code_keeps_in_its_agent(body: str, fault: bool) -> None:
    text = f"""
class Client:
    def update(self, what): ...
class Keeps(BaseAgent):
    _n: int = 0
    _seen: list = []
    _lock: object = asyncio.Lock()
    _client: object = Client()
    async def run(self, ctx):
        {body}
    def _note(self): self._n = 2
flow = Flow(Keeps(name="k"))
"""
    assert [code for code, *_ in found(check(text), "GF304")] == ["GF304"] * fault


def test_a_method_as_a_stage_keeps_nothing_in_its_object() -> None:
    text = """
class Service:
    def __init__(self): self.calls = 0
    def count(self, topic: str) -> int:
        self.calls += 1
        return self.calls
    def size(self, topic: str) -> int: return len(topic)
flow = Flow(FunctionAgent("f", Service().%s, writes="n"), inputs={"topic": str}, outputs=["n"])
"""
    assert found(check(text % "count")) == [("GF304", "f", None)]
    assert found(check(text % "size")) == []


def test_what_one_tool_writes_and_another_reads_is_read() -> None:
    text = """
def note(what: str, tool_context: ToolContext) -> str:
    tool_context.state["note"] = what
    return "noted"
def recall(tool_context: ToolContext) -> str: return tool_context.state.get("note", "")
flow = Flow(ask("a", tools=[%s]), outputs=[])
"""
    text = "from graphflow.tools.tool_context import ToolContext\n" + text
    assert found(check(text % "note, recall"), "GF203") == []
    assert found(check(text % "note"), "GF203") == [("GF203", "a", "note")]


@pytest.mark.parametrize(
    ("declared", "fault"),
    [
        ('keys=[Key("k", int, default="3")]', True),
        ('keys=[Key("k", int, default=3)]', False),
        ('keys=[Key("k", list[str], default=[], merge=Merge.append)]', False),
        ('keys=[Key("k", list[str], default="", merge=Merge.append)]', True),
        ('inputs={"k": (int, "3")}', True),
        ('inputs={"k": (float, 3)}', False),
    ],
)
def test_a_default_is_of_its_type(declared: str, fault: bool) -> None:
    inner = f'stage("r", ["k"]), {declared}'
    assert found(check(f"flow = Flow({inner})")) == ([("GF401", "@entry", "k")] if fault else [])
    assert found(check(f'flow = Flow(SubFlow("f", Flow({inner})))'), "GF401") == (
        [("GF401", "f", "k")] if fault else []
    )


def test_the_types_of_a_state_model_count() -> None:
    text = """
class State(BaseModel):
    n: int = 0
    notes: Annotated[list[str], Merge.extend] = []
    invoice: Invoice | None = None
flow = Flow(SequentialAgent("s", [stage("w", (), {"n": %s, "notes": %s}), ask("r", "{n} {notes} {invoice.%s?}")]), state=State)
"""
    assert found(check(text % ("int", "list[str]", "total"))) == []
    assert found(check(text % ("str", "list[str]", "total"))) == [("GF401", "s/w", "n")]
    assert found(check(text % ("int", "str", "total"))) == [("GF303", "s/w", "notes")]
    assert found(check(text % ("int", "list[str]", "totals"))) == [("GF403", "s/r", "invoice")]


@pytest.mark.parametrize(
    ("before", "asked", "fault"),
    [
        ('stage("w", (), {"invoice": Invoice})', "Invoice", False),
        ('stage("w", (), {"invoice": Invoice | None})', "Invoice", True),
        ('stage("w", (), {"invoice": None})', "Invoice", True),
        ('stage("w", (), {"invoice": Any})', "Invoice", True),
        ('stage("w", (), ["other"])', "Invoice", True),
        ('ConditionalAgent("c", when=lambda other: other, then=stage("w", (), {"invoice": Invoice}))', "Invoice", True),
        ('stage("w", (), {"invoice": Invoice})', "Parcel", True),
    ],
)
def test_a_declared_union_is_what_is_left_of_it_by_the_writes_before(before: str, asked: str, fault: bool) -> None:
    text = """
class State(BaseModel):
    invoice: Invoice | None = None
    other: int = 0
flow = Flow(SequentialAgent("s", [%s, stage("r", {"invoice": %s}), ask("t", "{other}")]), state=State)
"""
    assert found(check(text % (before, asked)), "GF401") == ([("GF401", "s/r", "invoice")] if fault else [])


def test_numbers_of_a_declared_union_stay_what_they_become() -> None:
    """An int that is written to a float is a float when it is read."""
    text = 'stages = [stage("w", (), {"k": int}), stage("r", {"k": int})]\n'
    text += 'flow = Flow(SequentialAgent("s", stages), keys=[Key("k", float | None)])'
    assert found(check(text), "GF401") == [("GF401", "s/r", "k")]


def test_text_that_is_handed_over_is_no_structure_either() -> None:
    text = """
def use(node_input: %s) -> None: ...
flow = Flow(Workflow("w", [(START, ask("a"%s), use)]))
"""
    assert found(check(text % ("Invoice", ""))) == [("GF404", "w/use", None)]
    assert found(check(text % ("str", ""))) == []
    assert found(check(text % ("Invoice", ", output_schema=Invoice"))) == []


CORRECT = {
    "a critic with a score": """
class Review(BaseModel):
    score: int
    notes: list[str]
writer = ask("writer", "Write about {topic}. {review.notes?}", output_key="draft")
critic = ask("critic", "{draft}", output_key="review", output_schema=Review)
flow = Flow(LoopAgent("l", [writer, critic], until=key("review").field("score") >= 8, max_iterations=4),
            inputs={"topic": str}, outputs=["draft", "review"])
""",
    "a list of findings from many": """
class Finding(BaseModel):
    source: str
    text: str
class Plan(BaseModel): queries: list[str]
plan = ask("plan", "{topic}", output_key="plan", output_schema=Plan)
look = ask("look", "{item}", output_key="finding", output_schema=Finding)
each = MapAgent("each", over=key("plan").field("queries"), agent=look, collect={"finding": "findings"}, on_error="collect")
@agent(writes="report")
def merge(findings: list[Finding | Failure]) -> str: return ""
flow = Flow(SequentialAgent("s", [plan, each, merge]), inputs={"topic": str}, outputs={"report": str})
""",
    "side by side into one list": """
web = stage("web", ["topic"], {"notes": list[str]})
papers = stage("papers", ["topic"], {"notes": list[str]})
flow = Flow(SequentialAgent("s", [ParallelAgent("p", [web, papers]), ask("sum", "{notes}", output_key="report")]),
            inputs={"topic": str}, keys=[Key("notes", list[str], merge=Merge.extend)], outputs=["report"])
""",
    "a fallback in place of an answer": """
judge = ask("judge", "{text}", output_key="score", output_schema=float, on_error={"score": 0})
gate = Gate("gate", require=key("score") > 0.5, reason="{score}")
flow = Flow(SequentialAgent("s", [judge, gate, ask("a", "{text}", output_key="k")]), inputs={"text": str}, outputs=["k"])
""",
    "a person decides": """
question = AskAgent("question", prompt="Pay {invoice.total}?", output_key="ok", output_schema=Literal["yes", "no"])
extract = ask("extract", "{mail}", output_key="invoice", output_schema=Invoice)
paid = ConditionalAgent("c", when=key("ok") == "yes", then=stage("pay", {"invoice": Invoice}, {"receipt": str}))
flow = Flow(SequentialAgent("s", [extract, question, paid]), inputs={"mail": str}, outputs=["receipt?"])
""",
}


@pytest.mark.parametrize("name", CORRECT)
def test_correct_pipelines_are_silent(name: str) -> None:
    assert found(check(CORRECT[name])) == []
