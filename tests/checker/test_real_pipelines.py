"""The structures of real pipelines: exactly what a careful reader says about each, and for four of five nothing."""

from __future__ import annotations

import importlib.util

import pytest

from graphflow import LlmAgent, Report, SequentialAgent
from graphflow.checker.rules import ALL_RULES
from tests.checker.real_pipelines import INEXPRESSIBLE, MEANS, PIPELINES, REPRODUCERS, Pipeline
from tests.checker.sketches import program_of
from tests.checker.test_examples import flow_of

NEEDS = {
    "AgentTool(": ("agents as tools", importlib.util.find_spec("graphflow.tools.agent_tool") is not None),
    " sub_agents=[": ("transfers", "sub_agents" in LlmAgent.model_fields),
    "_agent_callback=": ("callbacks of agents", "after_agent_callback" in SequentialAgent.model_fields),
    "input_schema=": ("input schemas", "input_schema" in LlmAgent.model_fields),
}
"""What a program is written with that not every version has: part of its text -> what it is, whether it is there."""


def report_of(pipeline: Pipeline) -> Report:
    """Check a pipeline under the profile of the framework that it was written for."""
    return flow_of(program_of(pipeline.sketch, pipeline.given)).check(profile="adk")


def wanted_of(pipeline: Pipeline) -> list[str]:
    return sorted(pipeline.verdict)


def got_of(pipeline: Pipeline) -> list[str]:
    """Give what is said above a note, in the letters of the verdict; what none of them means stands for itself."""
    found = []
    for each in report_of(pipeline):
        letters = [said for said in pipeline.verdict if each.code in MEANS[said.split()[0]]]
        letter = letters[0].split()[0] if letters else each.code
        if each.severity != "info":
            found.append(f"{letter} {each.key or '-'}")
    return sorted(found)


def missing(pipeline: Pipeline) -> str:
    """Say what a pipeline needs that is not there yet, "" if nothing."""
    text = program_of(pipeline.sketch, pipeline.given)
    model = "\n".join(line for line in text.splitlines() if "LlmAgent(" in line)
    for part, (what, there) in NEEDS.items():
        if part in (model if part == " sub_agents=[" else text) and not there:
            return what
    codes = {rule.code for rule in ALL_RULES}
    lacking = [said for said in pipeline.verdict if not MEANS[said.split()[0]] & codes]
    return f"a rule for {', '.join(lacking)}" if lacking else ""


def cases(pipelines: tuple[Pipeline, ...]) -> list[object]:
    marks = {each.id: missing(each) for each in pipelines}
    return [
        pytest.param(
            each,
            id=each.id,
            marks=pytest.mark.skip(reason=f"needs {marks[each.id]}") if marks[each.id] else (),
        )
        for each in pipelines
    ]


@pytest.mark.parametrize("pipeline", cases(REPRODUCERS))
def test_a_known_fault_is_found_and_nothing_else(pipeline: Pipeline) -> None:
    """As small as it can be; its correct neighbour is silent."""
    assert got_of(pipeline) == wanted_of(pipeline), str(report_of(pipeline))


@pytest.mark.parametrize("pipeline", cases(PIPELINES))
def test_a_real_pipeline_is_judged_as_by_a_careful_reader(pipeline: Pipeline) -> None:
    """Everything that is wrong with it, and nothing that is not."""
    assert got_of(pipeline) == wanted_of(pipeline), str(report_of(pipeline))


def test_most_real_pipelines_are_correct() -> None:
    """Four of five deserve no warning; none is left out without a reason."""
    assert len({each.id for each in PIPELINES} | set(INEXPRESSIBLE)) == len(PIPELINES) + len(INEXPRESSIBLE) == 59
    assert all(INEXPRESSIBLE.values())
    assert sum(not each.verdict for each in PIPELINES) >= len(PIPELINES) * 4 // 5
    assert {said.split()[0] for each in REPRODUCERS for said in each.verdict} >= set(MEANS) - {"L1", "N1"}


def test_the_table_of_verdicts() -> None:
    """Name, expected, found: one line each (`-s` shows them), those that cannot be checked with the reason."""
    rows = []
    for pipeline in (*REPRODUCERS, *PIPELINES):
        lacking = missing(pipeline)
        got = f"needs {lacking}" if lacking else ", ".join(got_of(pipeline)) or "nothing"
        rows.append((pipeline.id, ", ".join(wanted_of(pipeline)) or "nothing", got))
    rows += [(id_, "not expressible", reason) for id_, reason in INEXPRESSIBLE.items()]
    table = "\n".join(f"{name:<16} {expected:<28} {got}" for name, expected, got in rows)
    print(table)
    judged = [row for row in rows if row[1] != "not expressible" and not row[2].startswith("needs ")]
    assert [row for row in judged if row[1] != row[2]] == []
    assert len(judged) >= 60
