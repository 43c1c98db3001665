"""`graphflow.contracts.places`: findings point at the placeholder, parameter or access that reads a key."""

from __future__ import annotations

import linecache
import textwrap
from pathlib import Path

import pytest

from graphflow import Flow
from graphflow.checker.diagnostics import Diagnostic, Report

HEAD = """\
from __future__ import annotations
import inspect, textwrap
from graphflow import *
"""


def report(folder: Path, text: str) -> tuple[Report, str]:
    """Check the flow that a text defines; also give the text."""
    file = folder / "pipeline.py"
    source = HEAD + textwrap.dedent(text)
    file.write_text(source, encoding="utf-8")
    names: dict[str, object] = {"__name__": "pipeline"}
    exec(compile(source, str(file), "exec"), names)
    flow = names["flow"]
    assert isinstance(flow, Flow)
    return flow.check(), source


def shown(found: Diagnostic) -> str:
    """What stands at the place to which a finding points."""
    assert found.file is not None
    assert found.line is not None
    assert found.column is not None
    return linecache.getline(found.file, found.line)[found.column - 1 :].rstrip("\n")


@pytest.mark.parametrize(
    "instruction",
    [
        '"About {topic}"',
        "'About {topic}'",
        'r"\\d {topic}"',
        '"""Several\n    lines, {topic}"""',
        '("In " "two pieces: "\n        "{topic}")',
        '("In " + "two pieces: " + "{topic}")',
        'textwrap.dedent("""\n        About\n          {topic}\n    """)',
        'inspect.cleandoc("""\n        About\n          {topic}\n    """)',
        '"\\tAn \\N{DIGIT ONE} escape \\x41 \\u00e9\\\n {topic}"',
        '"ümläut {topic}"',
        '"{{no}} {topic} and {topic}"',
        '"JSON {\\"a\\": 1} {topic}"',
    ],
)
def test_a_placeholder(tmp_path: Path, instruction: str) -> None:
    """However the text is written out, the column is that of the opening brace."""
    found, _ = report(tmp_path, f'flow = Flow(LlmAgent(name="ä",\n    instruction={instruction}), inputs={{}})')

    assert found.codes.count("GF201") == 1
    assert shown(found.diagnostics[0]).startswith("{topic}")


@pytest.mark.parametrize("instruction", ['f"About {{topic}}{1}"', "TEXT", '"About {topic}".replace("x", "{topic} y")'])
def test_what_is_not_written_out_is_at_the_agent(tmp_path: Path, instruction: str) -> None:
    """Names, f-strings and whatever else makes another text."""
    found, _ = report(
        tmp_path, f'TEXT = "{{topic}}"\nflow = Flow(LlmAgent(name="a", instruction={instruction}), inputs={{}})'
    )

    assert shown(found.diagnostics[0]).startswith("LlmAgent(")


def test_the_prompt_and_the_instruction(tmp_path: Path) -> None:
    """The text that is the template, of two with the same placeholders; the required mention, of several."""
    found, _ = report(tmp_path, 'flow = Flow(LlmAgent(name="a", prompt="p {x}", instruction="i {y?} {y}"), inputs={})')

    assert [(each.key, shown(each)[:4]) for each in found.diagnostics if each.code == "GF201"] == [
        ("x", '{x}"'),
        ("y", '{y}"'),
    ]


def test_parameters_and_accesses(tmp_path: Path) -> None:
    """Functions and custom agents: where they name the key."""
    found, _ = report(
        tmp_path,
        """
        @agent(writes="made")
        def code(ctx, size: int) -> str:
            return ctx.state["size_" "unit"]

        class Custom(BaseAgent):
            async def run(self, ctx):
                value = ctx.state.get("seen"), ctx.session.state["näme"], ctx.state["other"]

        flow = Flow(SequentialAgent("s", [code, Custom("custom")]), inputs={})
        """,
    )

    places = {each.key: shown(each) for each in found.diagnostics if each.code in ("GF201", "GF213")}
    assert places["size"] == "size: int) -> str:"
    assert places["size_unit"].startswith('ctx.state["size_"')
    assert places["näme"].startswith('ctx.session.state["näme"]')
    assert places["other"] == 'ctx.state["other"]'


def test_a_comment_is_looked_for_at_both_places(tmp_path: Path) -> None:
    """Where the agent is made, and where the finding points."""
    text = 'flow = Flow(LlmAgent(name="a",{}\n    instruction="{{topic}}",{}\n    output_key="k"), inputs={{}}, outputs=["k"])'
    comment = "  # graphflow: ignore[GF201] elsewhere"

    for first, second in ((comment, ""), ("", comment)):
        found, _ = report(tmp_path, text.format(first, second))
        assert [each.code for each in found.suppressed] == ["GF201"]
    assert report(tmp_path, text.format("", ""))[0].codes == ["GF201"]


def test_nothing_is_searched_for_where_nothing_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A flow without findings is checked without parsing its file."""
    from graphflow.contracts import places

    def refuse(file: str) -> tuple[str, ...]:
        raise AssertionError(file)

    monkeypatch.setattr(places, "lines_of", refuse)
    found, _ = report(
        tmp_path, 'flow = Flow(LlmAgent(name="a", instruction="{x}", output_key="k"), inputs={"x": str}, outputs=["k"])'
    )
    assert found.codes == []
