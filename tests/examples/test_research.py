"""`graphflow.examples.research`: rounds of looking things up, with and without success."""

from __future__ import annotations

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphflow.examples.research import flow, give_up, look_up, merge
from graphflow.examples.research_data import Note, found_in_library, library, stem, stems, subjects
from graphflow.examples.research_models import PLANNER, REVIEWER, WRITER, Gaps, Plan
from graphflow.models import FunctionModel, ScriptedModel
from graphflow.models.base import Message, ModelRequest
from graphflow.runtime.result import Result
from graphflow.schema import Failure

FIRST, SECOND = library()[:2]
MAP = "research/rounds/gather/search"


def exits(result: Result) -> list[object]:
    """How the rounds ended: None for each that goes on."""
    return [event.data["exit"] for event in result.events if event.kind == "loop"]


def looked_up(result: Result) -> list[str]:
    """How often something was looked up, and what came of it, in the order in which it ended."""
    ends = [e.kind for e in result.events if e.author == "look_up" and e.kind in ("task_committed", "task_failed")]
    return sorted(ends)


def test_nothing_is_found_in_it() -> None:
    """No finding of any severity."""
    assert not list(flow.check())


def test_one_round() -> None:
    """A question whose parts are all in the library: one round, a note with its source for each part."""
    result = flow.run_sync({"question": "What causes the tides, and what makes bread rise?"})
    assert exits(result) == ["until"]
    assert looked_up(result) == ["task_committed", "task_committed"]
    assert {"Tides for beginners", "Bread and yeast"} <= {note.title for note in result.state["notes"]}
    assert "[1] Tides for beginners" in result.outputs["report"].splitlines()
    assert "Not in the library" not in result.outputs["report"]


def test_a_failing_search() -> None:
    """What is not found fails alone: the other parts are answered, the gap is looked for once more and then given up."""
    result = flow.run_sync({"question": "What makes bread rise, and where did unicorns graze?"})
    assert result.status == "completed"
    assert exits(result) == [None, "until"]
    assert "Bread and yeast" in result.outputs["report"]
    assert "unicorns" in result.outputs["report"].partition("Not in the library: ")[2]
    assert result.state["failed"] == ["unicorns graze", "unicorns", "graze"]
    assert any(event.author == "give_up" for event in result.events), "the second round found nothing at all"


def test_nothing_is_found() -> None:
    """A round without any success does not fail the research."""
    result = flow.run_sync({"question": "unicorns?"})
    assert result.outputs["report"].startswith("Nothing was found.")
    assert result.state["failed"] == ["unicorns"]
    assert not any(event.author == "merge" for event in result.events)


def test_a_failure_keeps_its_place() -> None:
    """The list that `merge` reads has a failure where the instance failed, between the notes of the others."""
    plan = ScriptedModel({"*": {"queries": ["tides moon", "unicorns", "sourdough starter"]}})
    result = flow.run_sync({"question": "tides?"}, models={"plan": plan})
    kinds = [type(each).__name__ for each in result.state["results"]]
    assert kinds.count("Failure") == 1
    failure = next(each for each in result.state["results"] if isinstance(each, Failure))
    assert failure.index == 1
    assert "unicorns" in failure.error
    assert kinds[0] == kinds[-1] == "Note"


def test_an_empty_plan() -> None:
    """No queries, no notes: the lists are empty, and the report says so."""
    result = flow.run_sync({"question": "What is it?"})
    assert looked_up(result) == []
    assert result.outputs["report"] == "Nothing was found."


def test_the_rounds_are_bounded() -> None:
    """A reviewer that always finds gaps ends after three rounds; notes that come again are kept once."""
    never = ScriptedModel({"*": {"subjects": ["tides"]}})
    result = flow.run_sync({"question": "tides"}, models={"look_for_gaps": never})
    assert exits(result) == [None, None, "max_iterations"]
    assert len(result.state["notes"]) == len({note.title for note in result.state["notes"]})


def test_the_cap_holds() -> None:
    """Three at a time: the graph says so."""
    fork = flow.graph.nodes[f"{MAP}#fork"]
    assert getattr(fork, "group").limit == 3  # noqa: B009 - the kind of node is not the point


WORDS = st.sampled_from(["tides", "moon", "bees", "unicorns", "and", "?", "why", "Question:", "\n", "Notes:\n[]", "é"])


@settings(max_examples=25, deadline=None)
@given(st.one_of(st.text(max_size=40), st.lists(WORDS, max_size=8).map(" ".join)))
def test_every_question_has_a_report(question: str) -> None:
    """Whatever is asked: the run completes, and every subject of the question is answered, or is said not to be there."""
    result = flow.run_sync({"question": question})
    assert result.status == "completed"
    assert result.outputs["report"]
    if ":" not in question:  # what looks like a label of the prompt is taken for one
        known = stems(" ".join(f"{note.title} {note.text}" for note in result.state["notes"]))
        missing = {stem(query) for query in result.state["failed"]}
        assert stems(question) <= known | missing


@given(st.lists(st.sampled_from([FIRST, SECOND, Failure(0, "x"), Failure(1, "x")]), max_size=6))
def test_merge_keeps_what_is_new(results: list[Note | Failure]) -> None:
    """Each new note once, in order, and the query of each failure."""
    out = merge(Plan(queries=["a", "b"]), results, [FIRST])
    assert out["notes"] == ([SECOND] if SECOND in results else [])
    assert out["failed"] == [["a", "b"][each.index] for each in results if isinstance(each, Failure)]


def test_stages_alone() -> None:
    """Stages are functions."""
    assert look_up("tides") == found_in_library("tides")
    with pytest.raises(LookupError, match="nothing about unicorns"):
        look_up("unicorns")
    assert give_up(Plan(queries=["x"])) == ["x"]


@given(st.sampled_from(library()), st.data())
def test_what_is_in_the_library_is_found(note: Note, data: st.DataObject) -> None:
    """Most of a note's words find it or one that has as many of them."""
    words = data.draw(st.lists(st.sampled_from(subjects(note.text)), min_size=2, max_size=4, unique=True))
    found = found_in_library(" ".join(words), most=len(library()))
    assert note in found
    assert len(found_in_library(" ".join(words), most=1)) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [("tide", "tides"), ("caused", "causes"), ("bee", "bees"), ("colony", "colonies"), ("dance", "dances")],
)
def test_forms_of_a_word(one: str, other: str) -> None:
    """Forms of one word are compared as equal."""
    assert stem(one) == stem(other)
    assert stems(one) == stems(f"the {other}")


def ask(model: FunctionModel, text: str) -> str:
    """Send one user turn and give the answer."""
    request = ModelRequest("", "research/node", "node", None, (Message("user", text),))
    return anyio.run(model.generate, request).text


def test_the_planner() -> None:
    """A query for each part of a question; for the gaps alone if there are any."""
    asked = Plan.model_validate_json(ask(PLANNER, "Question: How do bees dance, and who bakes bread?\nGaps:\n"))
    assert asked.queries == ["bees dance", "bakes bread"]
    gaps = Plan.model_validate_json(ask(PLANNER, 'Question: How do bees dance?\nGaps:\n["bees"]'))
    assert gaps.queries == ["bees"]


def test_the_reviewer() -> None:
    """Gaps are what neither a note mentions nor was looked for alone."""
    note = '[{"title": "Bees", "text": "They dance."}]'
    text = f'Question: Do bees dance with unicorns or dragons?\nNotes:\n{note}\nNot found:\n["dragons"]'
    assert Gaps.model_validate_json(ask(REVIEWER, text)).subjects == ["unicorns"]


@given(st.text(max_size=80))
def test_models_answer_whatever_they_are_sent(text: str) -> None:
    """Text without labels, and sections that are no JSON."""
    for prompt in (text, f"Question: {text}\nNotes:\n{text}\nNot found:\n{text}"):
        Plan.model_validate_json(ask(PLANNER, prompt))
        Gaps.model_validate_json(ask(REVIEWER, prompt))
        assert ask(WRITER, prompt)
