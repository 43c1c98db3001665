"""Runs of this process that wait for people: what is kept of them, and the answers they are given.

::

    result = flow.run_sync(inputs)                                   # paused
    flow.resume_sync(result.run_id, {result.pending[0].id: "approve"})

A question whose time has passed is answered by its default; one without a default fails its stage.
"""

from __future__ import annotations

from collections.abc import Mapping
from time import monotonic
from typing import Any

from graphflow.errors import UsageError, closest
from graphflow.runtime.journal import Asked
from graphflow.runtime.messages import Resume
from graphflow.runtime.result import Pending
from graphflow.runtime.scheduler import Driver
from graphflow.schema import Type, TypeMismatch, freeze, from_json, validator


class PausedRuns:
    """The paused runs of one flow in this process, run id -> driver and when it paused."""

    def __init__(self) -> None:
        self._runs: dict[str, tuple[Driver, float]] = {}

    def keep(self, driver: Driver) -> None:
        """Keep a run that has paused."""
        self._runs[driver.machine.run_id] = (driver, monotonic())

    def take(self, run_id: str, answers: Mapping[str, Any] | None) -> tuple[Driver, Resume]:
        """Take a run out, with what it is told.

        Args:
            run_id: the run.
            answers: request id -> answer.

        Raises:
            UsageError: no such run, an answer to what was not asked, or one that does not fit the question; the run stays.
        """
        if run_id not in self._runs:
            known = ", ".join(f"`{name}`" for name in self._runs) or "none"
            raise UsageError(f"no run `{run_id}` of this flow waits in this process; there is {known}")
        driver, paused_at = self._runs[run_id]
        resume = _resume(driver, dict(answers or {}), monotonic() - paused_at)
        del self._runs[run_id]
        return driver, resume


def _resume(driver: Driver, answers: dict[str, Any], waited: float) -> Resume:
    questions = driver.machine.tasks.questions
    faults: list[str] = []
    checked: dict[str, object] = {}
    for request, answer in answers.items():
        question = questions.get(request)
        if question is None:
            near = closest(str(request), questions)
            faults.append(
                f"nobody asked `{request}`; "
                + (f"did you mean `{near}`" if near else f"it waits for {', '.join(questions)}")
            )
            continue
        try:
            checked[request] = freeze(_read(answer, question.schema), question.schema)
        except TypeMismatch as error:
            faults.append(f"`{request}` takes {question.schema.text}: {error}")
    if faults:
        raise UsageError(f"run `{driver.machine.run_id}` cannot go on: " + "; ".join(faults))
    now = driver.journal.times[-1] + waited
    late = {
        request: question
        for request, question in questions.items()
        if request not in checked and question.deadline is not None and question.deadline <= now
    }
    by_default = {request: question.default for request, question in late.items() if question.default is not None}
    expired = frozenset(request for request in late if request not in by_default)
    return Resume({**checked, **by_default}, frozenset(by_default), expired)


def _read(answer: object, schema: Type) -> object:
    """Take an answer as it is, or as JSON of what was asked for: a person's answer comes from a form or a file.

    Raises:
        TypeMismatch: it is neither.
    """
    try:
        return validator(schema)(answer)
    except TypeMismatch as mismatch:
        try:
            return from_json(answer, schema)
        except (TypeMismatch, ValueError):
            raise mismatch from None


def pending_of(driver: Driver) -> tuple[Pending, ...]:
    """List the questions that a run waits for, the first asked first."""
    asked = {
        record.request: time
        for record, time in zip(driver.journal.records, driver.journal.times, strict=True)
        if isinstance(record, Asked)
    }
    return tuple(
        Pending(
            request,
            question.task.node.id,
            question.prompt,
            question.schema.text,
            asked[request],
            question.deadline,
            question.default,
        )
        for request, question in driver.machine.tasks.questions.items()
    )
