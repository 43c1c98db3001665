"""The DOT text, and what happens when it cannot be laid out."""

from __future__ import annotations

import stat
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphflow import Flow, UsageError
from graphflow.agents import Agent
from graphflow.render import dot as dot_module
from graphflow.render import render_graph
from graphflow.render.dot import dot_text, run_graphviz, stand_in
from graphflow.render.scene import build_scene
from graphflow.render.theme import palette
from tests.render.flows import Finding, Findings, code, invoice, support, trees

GOLDEN = Path(__file__).parent / "golden"
FOUND = Findings(
    (
        Finding("GF201", "error", "support/route/bug_path/research/refine/draft"),
        Finding("GF504", "warning", "support/route"),
        Finding("GF208", "warning", ""),
    )
)


@pytest.mark.parametrize(("name", "flow", "found"), [("invoice", invoice(), None), ("support", support(), FOUND)])
def test_golden(name: str, flow: Flow, found: Findings | None) -> None:
    """The text of two flows, line by line; after a change that is meant, write it anew and read every line."""
    expected = (GOLDEN / f"{name}.dot").read_text(encoding="utf-8")
    assert render_graph(flow.graph, found, "dot") == expected


@given(st.text())
def test_stand_in(text: str) -> None:
    """What is measured is ASCII without markup, and plain names are themselves."""
    shown = stand_in(text)
    assert shown
    assert shown.isascii()
    assert not set(shown) & set("<>&\"'\\")
    assert stand_in("draft_2: list[str]") == "draft_2: list[str]"


@given(trees(st.text(min_size=1)))
def test_any_name(root: Agent) -> None:
    """Graphviz reads the text whatever the names are."""
    text = render_graph(Flow(root).graph, None, "dot")
    assert run_graphviz(text).startswith(b"<?xml")


def test_hostile_label() -> None:
    """Quotes, backslashes and entities in a label are text, not syntax: Graphviz gives them back as they are."""
    name = 'k\\N"&lt;\\"];x'
    flow = Flow(code(name, {name: str}), inputs={name: str})
    drawing = ET.fromstring(run_graphviz(render_graph(flow.graph, None, "dot")))
    words = [element.text for element in drawing.iter("{http://www.w3.org/2000/svg}text")]
    assert words == [name, f" {name}: str "]


def test_program_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that is not there is named, with what to do."""
    monkeypatch.setenv("GRAPHFLOW_DOT", "/no/such/dot")
    with pytest.raises(UsageError, match=r"cannot run Graphviz \(`/no/such/dot`\).*graphviz-pure.*GRAPHFLOW_DOT"):
        run_graphviz("digraph {}")


def program(path: Path, body: str) -> str:
    path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def test_program_fails(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A program that fails is quoted."""
    monkeypatch.setenv("GRAPHFLOW_DOT", program(tmp_path / "dot", "cat > /dev/null; echo 'no luck' >&2; exit 3"))
    with pytest.raises(UsageError, match="status 3: no luck"):
        run_graphviz("digraph {}")


@pytest.mark.parametrize("answer", ["cat > /dev/null; echo hello", "cat > /dev/null; echo '<svg/>'", "cat > /dev/null"])
def test_program_draws_nonsense(answer: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A program that is no Graphviz is found out."""
    monkeypatch.setenv("GRAPHFLOW_DOT", program(tmp_path / "dot", answer))
    with pytest.raises(UsageError, match="GRAPHFLOW_DOT"):
        render_graph(invoice().graph)


def test_program_too_slow(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A layout that does not end is given up."""
    monkeypatch.setattr(dot_module, "TIMEOUT", 0.05)
    monkeypatch.setenv("GRAPHFLOW_DOT", program(tmp_path / "dot", "exec tail -f /dev/null"))
    with pytest.raises(UsageError, match=r"did not lay the picture out in 0\.05 s"):
        run_graphviz("digraph {}")


def test_colours() -> None:
    """The colours are those of the palette."""
    scene = build_scene(invoice().graph)
    assert palette("dark")["model-fill"] in dot_text(scene, palette("dark"))
    assert palette("light")["model-fill"] not in dot_text(scene, palette("dark"))
