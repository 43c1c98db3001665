"""Correct pipelines of realistic size: the check says nothing above info about them, and each runs to its end.

Each module of `tests/checker/clean` defines `flow`, `INPUTS` and `REPLIES` (what models answer), and where it is needed
`ANSWERS` (what people answer) and `REFUSED` (why it cannot run yet). Notes that the check may make are named here one by
one, with the reason why each is deserved.
"""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType

import pytest

from graphflow import Result, ScriptedModel, UsageError
from tests.checker import clean

NAMES = sorted(module.name for module in pkgutil.iter_modules(clean.__path__))
FEWEST = 20

# pipeline -> (code, node, key) of the notes that it deserves
NOTES: dict[str, set[tuple[str, str, str | None]]] = {
    # the prompt is published whether it has withstood the attacks or not
    "prompt_tuner": {("GF513", "prompt_tuner/stress", None)},
    # both keys have a default, so that they are always there
    "help_center": {
        ("GF209", "help_center/gather/researcher", "notes"),
        ("GF209", "help_center/gather/researcher", "searched"),
    },
}


def pipeline(name: str) -> ModuleType:
    return importlib.import_module(f"tests.checker.clean.{name}")


def run(module: ModuleType) -> Result:
    """Run a pipeline to its end, answering the questions that it asks."""
    result: Result = module.flow.run_sync(
        module.INPUTS, models={"*": ScriptedModel(module.REPLIES)}, deps=getattr(module, "DEPS", None)
    )
    answers = dict(getattr(module, "ANSWERS", {}))
    while result.status == "paused":
        told = {pending.id: answers.pop(pending.node) for pending in result.pending}
        result = module.flow.resume_sync(result.run_id, told)
    assert not answers, "questions that were expected were not asked"
    return result


def test_there_are_enough_and_they_are_large() -> None:
    assert len(NAMES) >= FEWEST
    for name in NAMES:
        tasks = [path for path in pipeline(name).flow.graph.declarations if path]
        assert len(tasks) >= 8, name


# pipeline -> what the check does not understand yet
WAITING = {"tutor": "a condition that asks whether a key exists proves it"}
CASES = [
    pytest.param(name, marks=pytest.mark.xfail(reason=WAITING[name], strict=True) if name in WAITING else ())
    for name in NAMES
]


@pytest.mark.parametrize("name", CASES)
def test_nothing_above_info_is_said(name: str) -> None:
    report = pipeline(name).flow.check()
    assert [finding for finding in report if finding.severity != "info"] == [], str(report)
    notes = {(finding.code, finding.node, finding.key) for finding in report}
    assert notes == NOTES.get(name, set()), str(report)


@pytest.mark.parametrize("name", CASES)
def test_it_is_really_correct(name: str) -> None:
    module = pipeline(name)
    if hasattr(module, "REFUSED"):
        with pytest.raises(UsageError, match=module.REFUSED):
            run(module)
        return
    result = run(module)
    assert result.status == "completed", result.reason
    owed = [key for key, _, required in module.flow.interface.outputs or () if required]
    assert owed
    assert set(owed) <= set(result.outputs)
