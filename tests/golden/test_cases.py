"""Every construct from end to end: program, graph, state edges, findings and runs, as golden text.

A case is a file of `cases/`: a sentence, then sections. `==== program` is Python that defines `flow`; `==== graph` is the
printed graph; `==== findings` has one line for each; each `==== run INPUTS` is one run: status, order of the tasks with
their iterations, state. `pytest tests/golden --update-data` rewrites all but the programs and inputs.
"""

from __future__ import annotations

import ast
import linecache
import re
import typing
from collections.abc import Iterator
from pathlib import Path

import pytest

import graphflow
from graphflow import Flow, Result, RunFailed
from graphflow.ir.text import print_graph

CASES = sorted((Path(__file__).parent / "cases").glob("*.txt"))
MARK = re.compile(r"^==== (.+)$", re.MULTILINE)


def sections_of(text: str) -> list[tuple[str, str]]:
    """Split a case into its first sentence (title "") and its sections."""
    first, *rest = MARK.split(text)
    return [("", first), *zip(rest[::2], rest[1::2], strict=True)]


def flow_of(program: str, name: str) -> Flow:
    """Run a program that defines `flow`, where its source can be read."""
    linecache.cache[name] = (len(program), None, program.splitlines(keepends=True), name)
    scope: dict[str, object] = {name: getattr(typing, name) for name in ("Annotated", "Any", "Literal", "TypedDict")}
    scope |= {name: getattr(graphflow, name) for name in graphflow.__all__}
    exec(compile(program, name, "exec", dont_inherit=True), scope)
    flow = scope["flow"]
    assert isinstance(flow, Flow)
    return flow


def findings_text(flow: Flow) -> str:
    """Write the findings, one line each, and the path that shows one."""
    lines = []
    for found in flow.check():
        lines.append(f"{found.code} {found.severity} {found.node or '-'} {found.key or '-'}: {found.message}")
        lines += [f"  path: {' -> '.join(found.path)}"] if found.path else []
    return "\n".join(lines or ["none"])


def run_text(flow: Flow, inputs: dict[str, object]) -> str:
    """Run once, whatever the findings, and write what became of it."""
    try:
        result = flow.run_sync(inputs, check="off")
    except RunFailed as error:
        result = typing.cast(Result, error.result)
    return "\n".join(_run_lines(result))


def _run_lines(result: Result) -> Iterator[str]:
    yield result.status + (f": {result.reason}" if result.reason else "")
    for event in result.events:
        if event.kind == "task_started":
            yield f"  {event.node}" + "".join(f" [{index}]" for index in event.iterations)
    for key, value in sorted(result.state.items()):
        yield f"{key} = {value!r}"


def actual(text: str, name: str) -> str:
    """Write the case as the product has it."""
    parts = []
    flow: Flow | None = None
    for title, body in sections_of(text):
        kind, _, argument = title.partition(" ")
        if kind == "program":
            flow = flow_of(body, name)
        if kind in ("", "program"):
            parts.append((f"==== {title}\n" if title else "") + body.strip("\n"))
            continue
        assert flow is not None, "the program comes first"
        if kind == "graph":
            now = print_graph(flow.graph)
        elif kind == "findings":
            now = findings_text(flow)
        else:
            assert kind == "run", title
            now = run_text(flow, ast.literal_eval(argument or "{}"))
        parts.append(f"==== {title}\n{now.strip(chr(10))}")
    return "\n\n".join(parts) + "\n"


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_case(path: Path, request: pytest.FixtureRequest) -> None:
    text = path.read_text(encoding="utf-8")
    now = actual(text, path.name)
    if request.config.getoption("--update-data", default=False):
        path.write_text(now, encoding="utf-8")
    else:
        assert now == text


def test_every_case_has_every_section() -> None:
    """A case without a graph, findings or a run would show nothing."""
    assert CASES
    for path in CASES:
        kinds = {title.partition(" ")[0] for title, _ in sections_of(path.read_text(encoding="utf-8"))}
        assert kinds == {"", "program", "graph", "findings", "run"}, path.name
