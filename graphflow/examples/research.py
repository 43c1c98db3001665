"""A question is answered from a library: plan, look everything up at once, look for gaps, again, write the report.

::

    rounds (plan -> search, once for each query -> merge -> look_for_gaps, up to 3 times, until there are no gaps) -> report

`search` is a map: it runs once for each query of the plan, three at a time, and joins the lists of notes that it finds. A
query that finds nothing fails, which fails nothing else: a `Failure` stands in the list in its place, `merge` keeps it apart
from the notes, and the plan of the next round looks for the parts that are missing. Notes and failures add up over the
rounds, as their keys have a merge::

    graphflow run graphflow.examples.research:flow --input question="What causes tides, and how do bees find flowers?"

It works offline: the models are functions (`research_models`) and the library is a file (`research_data`). Any model can
take the place of a function; `search` would then ask a search engine.
"""

from __future__ import annotations

from graphflow.agents import Flatten, LlmAgent, LoopAgent, MapAgent, SequentialAgent, agent
from graphflow.conditions import key
from graphflow.examples.research_data import Note, found_in_library
from graphflow.examples.research_models import PLANNER, REVIEWER, WRITER, Gaps, Plan
from graphflow.flow import Flow
from graphflow.schema import Failure, Key, Merge

plan = LlmAgent(
    name="plan",
    model=PLANNER,
    description="Decides what to look for.",
    instruction=(
        "Give the queries that have to be looked up to answer the question, one for each part of it. If gaps are listed, "
        "give queries for these alone."
    ),
    prompt="Question: {question}\nGaps:\n{gaps.subjects?}",
    output_key="plan",
    output_schema=Plan,
)


@agent(writes="found", blocking=False)
def look_up(query: str) -> list[Note]:
    """Looks one query up in the library; what is not there is an error."""
    notes = found_in_library(query)
    if not notes:
        raise LookupError(f"nothing about {query}")
    return notes


search = MapAgent(
    name="search",
    over=key("plan").field("queries"),
    item="query",
    agent=look_up,
    collect={"found": Flatten("results")},
    max_concurrency=3,
    on_error="collect",
)


@agent(writes={"notes": list[Note], "failed": list[str]}, blocking=False)
def merge(plan: Plan, results: list[Note | Failure], notes: list[Note]) -> dict[str, object]:
    """Adds what is new to the notes, and the queries that found nothing to those that failed."""
    found = dict.fromkeys(each for each in results if isinstance(each, Note))
    failures = [each for each in results if isinstance(each, Failure)]
    return {
        "notes": [note for note in found if note not in notes],
        "failed": [plan.queries[failure.index] for failure in failures],
    }


@agent(writes="failed", blocking=False)
def give_up(plan: Plan) -> list[str]:
    """Stands in when not one query of a round has found anything, which fails the search."""
    return plan.queries


gather = SequentialAgent(name="gather", sub_agents=[search, merge], on_error=give_up)

look_for_gaps = LlmAgent(
    name="look_for_gaps",
    model=REVIEWER,
    description="Says what the notes leave open.",
    instruction=(
        "List the subjects of the question that no note covers. Leave out what was looked for alone and not found. List "
        "nothing if the notes answer the question."
    ),
    prompt="Question: {question}\nNotes:\n{notes}\nNot found:\n{failed}",
    output_key="gaps",
    output_schema=Gaps,
)

rounds = LoopAgent(
    name="rounds",
    sub_agents=[plan, gather, look_for_gaps],
    max_iterations=3,
    until=key("gaps").field("subjects").len() == 0,
)

report = LlmAgent(
    name="report",
    model=WRITER,
    description="Writes the report.",
    instruction=(
        "Answer the question from the notes alone, with the number of a source after each statement and the sources at the "
        "end. Say what was not found."
    ),
    prompt="Question: {question}\nNotes:\n{notes}\nNot found:\n{failed}",
    output_key="report",
)

flow = Flow(
    SequentialAgent(name="research", sub_agents=[rounds, report]),
    inputs={"question": str},
    outputs=["report"],
    keys=[
        Key("notes", list[Note], default=[], merge=Merge.extend),
        Key("failed", list[str], default=[], merge=Merge.extend),
    ],
)
