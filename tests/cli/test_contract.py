"""`graphflow contract`: the stage table and the key table, as text, Markdown and JSON."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result
from hypothesis import given
from hypothesis import strategies as st

from graphflow import Flow, FunctionAgent, Key, LlmAgent, SequentialAgent
from graphflow.checker.formats import printable
from graphflow.cli.contracts import CONTRACT_FORMATS
from graphflow.cli.stages import KeyRow, Touch, key_rows, stage_rows
from graphflow.cli.targets import Loaded
from graphflow.ir.graph import Graph
from graphflow.ir.nodes import agent_path
from tests.cli.schemas import validate
from tests.render.random_graphs import graphs

Call = Callable[..., Result]

WIDE = """\
from graphflow import (
    AskAgent, FunctionAgent, Flow, Gate, Key, LlmAgent, LoopAgent, MapAgent, Merge, SequentialAgent, SubFlow, key
)


def note(text: str) -> str:
    return text


inner = Flow(
    LlmAgent(name="again", instruction="Shorten {text}", output_key="summary"), inputs={"text": str}, outputs=["summary"]
)
flow = Flow(
    SequentialAgent("main", [
        LlmAgent(name="writer", model="tiny-1", instruction="About {topic} {tone?}", output_key="draft", retry=3, timeout=5),
        SubFlow("short", inner, inputs={"text": "draft"}, outputs={"summary": "short_draft"}),
        AskAgent("approve", prompt="{short_draft}?", output_key="approval", timeout=60, default="no"),
        Gate("agreed", require=key("approval") == "yes"),
        FunctionAgent(name="send", func=note, reads={"text": str}, writes={"sent": str}, effect="irreversible"),
    ]),
    inputs={"topic": str, "tone?": str, "limit": (int, 3), "text": str},
    outputs=["sent"],
    keys=[Key("log", list[str], default=[], merge=Merge.append, doc="what happened"), Key("seen", int, persist=True)],
)
"""


@pytest.fixture
def wide(project: Path) -> str:
    """A target with everything that a column can say."""
    (project / "wide.py").write_text(WIDE, encoding="utf-8")
    return "wide.py:flow"


def test_stages(wide: str, call: Call) -> None:
    """Kind, model, retry, time limit, question, gate and effect are in the row of their stage."""
    printed = call("contract", wide).stdout
    rows = {line.split()[0]: line for line in printed.splitlines() if not line.startswith(" ")}
    assert list(rows) == ["node", "writer", "short", "short/again", "approve", "agreed", "send"]
    assert "model tiny-1" in rows["writer"]
    assert "up to 3" in printed
    assert "after 60 s: 'no'" in printed
    assert rows["agreed"].split()[1] == "gate"
    assert rows["agreed"].endswith("halts")
    assert rows["send"].endswith("irreversible")
    assert max(map(len, printed.splitlines())) <= 80


def test_keys(wide: str, call: Call) -> None:
    """`--keys` adds what is known of each key."""
    printed = call("contract", wide, "--keys").stdout
    assert printed.startswith(call("contract", wide).stdout)
    table = printed.partition("\nkey ")[2]
    assert max(map(len, printed.splitlines())) <= 80
    for said in (
        "default 3",
        "merge append",
        "persist",
        "what happened",
        "in short",
        "short/again",
        "input?",
        "output",
    ):
        assert said in table


def test_key_rows() -> None:
    """Inputs come first; who may write or copes without is told apart from who does."""
    stage = FunctionAgent(name="a", func=lambda ctx: {}, reads=["x", "y?"], writes={"k": int}, may_write=["m"])
    other = FunctionAgent(name="b", func=lambda ctx: {}, reads=["k", "m?"], writes=[])
    declared = [Key("spare", int, default=None)]
    flow = Flow(SequentialAgent("s", [stage, other]), inputs={"y?": str}, outputs={"k": int}, keys=declared)
    rows = {row.key: row for row in key_rows(flow.graph)}
    assert list(rows) == ["y", "x", "k", "m", "spare"]
    a, b = Touch("s/a"), Touch("s/b")
    assert rows["k"] == KeyRow("k", "", "int", output="required", declared=True, writers=(a,), readers=(b,))
    assert rows["m"] == KeyRow("m", "", "Any", writers=(Touch("s/a", True),), readers=(Touch("s/b", True),))
    assert rows["y"] == KeyRow("y", "", "str", input="optional", declared=True, readers=(Touch("s/a", True),))
    assert rows["spare"] == KeyRow("spare", "", "int", declared=True, default=None)


def test_json(wide: str, call: Call) -> None:
    """The document is what docs/schemas/contract.json says; it always has the keys."""
    document = validate(call("contract", wide, "--format", "json").stdout, "contract.json")
    assert document == validate(call("contract", wide, "--format", "json", "--keys").stdout, "contract.json")
    (flow,) = document["flows"]
    stages = {stage["node"]: stage for stage in flow["stages"]}
    assert (stages["main/writer"]["attempts"], stages["main/writer"]["timeout"]) == (3, 5.0)
    assert stages["main/approve"]["timeout"] == 60.0
    assert stages["main/agreed"]["halts"]
    keys = {(key["scope"], key["key"]): key for key in flow["keys"]}
    assert keys["", "limit"]["default"] == 3
    assert "default" not in keys["", "topic"]
    assert keys["short", "text"]["readers"] == [{"node": "main/short/again", "optional": False}]


def test_several_flows(project: Path, call: Call) -> None:
    """A module's flows are told apart in every format."""
    (project / "wide.py").write_text(WIDE, encoding="utf-8")
    assert "again (wide.py:inner)\n" in call("contract", "wide.py").stdout
    assert "## `again` (`wide.py:inner`)\n" in call("contract", "wide.py", "--format", "markdown").stdout
    document = validate(call("contract", "wide.py", "--format", "json").stdout, "contract.json")
    assert [flow["target"] for flow in document["flows"]] == ["wide.py:inner", "wide.py:flow"]


def cells(row: str) -> list[str]:
    """The cells of a row, as GitHub splits them: at each `|` that no backslash, itself not escaped, is before."""
    return re.findall(r"((?:\\.|[^|\\]|\\$)*)(?:\||$)", row)[1:-1]


def outside_code(text: str) -> str:
    """What is left of a line of Markdown without its code spans."""
    return re.sub(r"(?<!`)(`+)(?!`)(.*?)(?<!`)\1(?!`)", "", text)


def test_markdown(wide: str, call: Call) -> None:
    """Two tables, each row with all columns."""
    printed = call("contract", wide, "--keys", "--format", "markdown").stdout
    rows = [line for line in printed.splitlines() if line.startswith("|")]
    assert {len(cells(row)) for row in rows} == {5}
    assert "| `writer` | `model tiny-1`<br>`up to 3 attempts, 5 s each` |" in printed
    assert sum(row.startswith("|---|") for row in rows) == 2


@given(graphs())
def test_any_graph(graph: Graph) -> None:
    """Every stage and key of any graph is in the rows, and the rows name no key of graphflow's own."""
    rows = key_rows(graph)
    nodes = {agent_path(id_) for id_ in graph.nodes}
    assert {row.node for row in stage_rows(graph)} <= nodes
    assert all(touch.node in nodes for row in rows for touch in (*row.writers, *row.readers))
    assert len({(row.scope, row.key) for row in rows}) == len(rows)


HOSTILE = st.one_of(
    st.text(min_size=1, max_size=20).filter(str.strip),
    st.sampled_from(
        [
            "a|b",
            "a\\|b",
            "``` `",
            "<script>",
            "\x1b[31mred",
            "a\nb",
            "::error::x",
            "](x)",
            "k" * 10_000,
            "`",
            "\u202e",
            "a\\",
        ]
    ),
)


@given(HOSTILE, HOSTILE, HOSTILE)
def test_hostile_names(name: str, key: str, text: str) -> None:
    """Whatever agents, keys, defaults and documentation are called, rows stay rows and nothing becomes mark-up."""
    agents = [
        FunctionAgent(name=name, func=lambda ctx: {}, reads=[key.rstrip("?") or "k"], writes={key: str}),
        LlmAgent(name="reader", instruction="x", model=text),
    ]
    flow = Flow(SequentialAgent(text, agents), keys=[Key(key, str, default=text, doc=text)])
    loaded = [Loaded(text, flow)]
    shape = {"width": 80, "colour": False}

    for line in CONTRACT_FORMATS["text"](loaded, keys=True, layout=shape).splitlines():
        assert line == printable(line)
        assert len(line) <= 80 or line.isascii() is False
    for line in CONTRACT_FORMATS["markdown"](loaded, keys=True, layout=shape).splitlines():
        assert line == printable(line)
        left = outside_code(line)
        assert not re.search(r"[^-|# ()<>br\w]|<(?!br>)", left), left
        if line.startswith("|"):
            assert len(cells(line)) == 5
    document = validate(CONTRACT_FORMATS["json"](loaded, keys=True, layout=shape), "contract.json")
    assert document["flows"][0]["flow"] == flow.name
