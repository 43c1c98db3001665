"""The models of the research example: Python functions that really read what they are sent, so that it runs offline.

* `PLANNER` turns a question, or the gaps that an earlier round left, into queries: one for each part of the question, one
  for each gap;
* `REVIEWER` names as gaps the subjects of the question that no note mentions; what was looked for alone and not found is
  given up;
* `WRITER` writes the report from the notes, with its sources, and says what was not found.

Each gets nothing but its request, as a language model would. The same request always has the same answer.
"""

from __future__ import annotations

import json
import re

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from graphflow.examples.labelled import labelled_parts
from graphflow.examples.research_data import Note, stem, stems, subjects
from graphflow.models.base import ModelRequest
from graphflow.models.function import FunctionModel

_LABELS = ("Question", "Gaps", "Notes", "Not found")
_PART = re.compile(r"[?!.;,:]|\band\b|\bor\b", re.IGNORECASE)
_NOTES = TypeAdapter(list[Note])


class Plan(BaseModel):
    """What to look for: the queries of one round."""

    model_config = ConfigDict(frozen=True)

    queries: list[str]


class Gaps(BaseModel):
    """What the notes do not answer: subjects, none if they answer everything."""

    model_config = ConfigDict(frozen=True)

    subjects: list[str] = Field(default_factory=list)


def _plan(request: ModelRequest) -> Plan:
    parts = labelled_parts(request.text, _LABELS)
    gaps = _list(parts["Gaps"])
    if gaps:
        return Plan(queries=gaps)
    asked = (" ".join(subjects(part)) for part in _PART.split(parts["Question"]))
    return Plan(queries=list(dict.fromkeys(query for query in asked if query)))


def _review(request: ModelRequest) -> Gaps:
    parts = labelled_parts(request.text, _LABELS)
    known = stems(" ".join(f"{note.title} {note.text}" for note in _notes(parts["Notes"])))
    given_up = {stem(query) for query in _list(parts["Not found"])}
    missing = {stem(word): word for word in subjects(parts["Question"])}
    return Gaps(subjects=[word for root, word in missing.items() if root not in known | given_up])


def _report(request: ModelRequest) -> str:
    parts = labelled_parts(request.text, _LABELS)
    notes = _notes(parts["Notes"])
    missing = _list(parts["Not found"])
    lines = [f"{note.text} [{number}]" for number, note in enumerate(notes, 1)] or ["Nothing was found."]
    if missing:
        lines += ["", f"Not in the library: {', '.join(missing)}."]
    if notes:
        lines += ["", *(f"[{number}] {note.title}" for number, note in enumerate(notes, 1))]
    return "\n".join(lines)


PLANNER = FunctionModel(_plan, name="planner")
REVIEWER = FunctionModel(_review, name="reviewer")
WRITER = FunctionModel(_report, name="report-writer")


def _list(text: str) -> list[str]:
    """Read a list of strings, as templates write it; text that is none is an empty one."""
    try:
        data = json.loads(text)
    except ValueError:
        return []
    return [str(item) for item in data] if isinstance(data, list) else []


def _notes(text: str) -> list[Note]:
    try:
        return _NOTES.validate_json(text)
    except ValidationError:
        return []
