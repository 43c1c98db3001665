"""Bug reports in a free-form graph: reproduced up to a few times, worked on from two sides, reviewed, sent round again.

::

    START -> read -> classify --BUG--> reproduce <-> judge --yes--> (patch, tests) -> review --again--> ... -> announce
                              --QUESTION--> answer
                              --DEFAULT--> park
"""

from __future__ import annotations

import enum
from typing import Literal

from pydantic import BaseModel

from graphflow import DEFAULT_ROUTE, END, START, Flow, LlmAgent, Workflow, agent


class Kind(enum.StrEnum):
    BUG = "BUG"
    QUESTION = "QUESTION"
    NOISE = "NOISE"


class Report(BaseModel):
    title: str
    version: str
    steps: list[str]


read = LlmAgent(
    name="read",
    instruction=(
        "Read the bug report. The version has the form 1.2.3; write 0.0.0 if there is none. Give the steps in "
        "the order in "
        'which the reporter took them: {"title": "Crash on save", "version": "1.4.0", "steps": ["open", "save"]}'
    ),
    prompt="{issue}",
    output_key="report",
    output_schema=Report,
)
classify = LlmAgent(
    name="classify",
    instruction="Is it a BUG, a QUESTION, or NOISE? A wish for something new is NOISE here; it has a board of its own.",
    prompt="{report.title}\n{report.steps}",
    output_key="kind",
    output_schema=Kind,
)
reproduce = LlmAgent(
    name="reproduce",
    instruction=(
        "Write a script that shows the fault, at most 30 lines, with an assertion that fails. If an earlier "
        "attempt is given "
        "write another one that differs in more than names."
    ),
    prompt="Version {report.version}\nSteps: {report.steps}\nEarlier attempt:\n{script?}",
    output_key="script",
)


@agent(writes={"tries": int, "shown": Literal["yes", "no", "give up"]})
def try_out(script: str, tries: int = 0) -> dict[str, object]:
    """Runs the script in a sandbox; three times at most."""
    done = tries + 1
    return {"tries": done, "shown": "yes" if "assert" in script else "give up" if done >= 3 else "no"}


@agent
def judge(shown: Literal["yes", "no", "give up"]) -> Literal["yes", "no", "give up"]:
    """Where it goes from here."""
    return shown


@agent
def fork(shown: str) -> None:
    """Where work on the bug starts, and starts again."""


patch = LlmAgent(
    name="patch",
    instruction=(
        "Write the smallest patch that makes the script pass, as a unified diff (--- a/x.py, +++ b/x.py, @@ -1 "
        "+1 @@). Change no "
        "public name. If a review is given do what it asks for."
    ),
    prompt="Script:\n{script}\nReview:\n{review.notes?}",
    output_key="patch",
)
tests = LlmAgent(
    name="tests",
    instruction=(
        "Write a regression test from the script. It must fail without the patch; you do not see the patch on purpose."
    ),
    prompt="Script:\n{script}",
    output_key="tests",
)


class Review(BaseModel):
    again: bool
    notes: list[str]


review = LlmAgent(
    name="review",
    instruction='Review patch and test together: {"again": true, "notes": ["The test passes without the patch"]}.',
    prompt="Patch:\n{patch}\nTest:\n{tests}",
    output_key="review",
    output_schema=Review,
)


@agent
def accepted(review: Review) -> bool:
    """Whether it can go out."""
    return not review.again


announce = LlmAgent(
    name="announce",
    instruction="Thank the reporter, say in which version it is mended, and link the patch. No more than 80 words.",
    prompt="{report.title}\nPatch:\n{patch}\nReview: {review.notes}",
    output_key="reply",
)
answer = LlmAgent(
    name="answer",
    instruction="Answer the question from the handbook; name the chapter.",
    prompt="{report.title}\n{report.steps}",
    output_key="reply",
)
park = LlmAgent(
    name="park",
    instruction="Say kindly that nothing will be done now, and what would help: a script, a version, a screenshot.",
    prompt="{report.title}",
    output_key="reply",
)

flow = Flow(
    Workflow(
        name="triage",
        edges=[
            (START, read, classify),
            (classify, {Kind.BUG: reproduce, Kind.QUESTION: answer, DEFAULT_ROUTE: park}),
            (reproduce, try_out, judge),
            (judge, {"no": reproduce, "yes": fork, "give up": park}),
            (fork, (patch, tests), review, accepted),
            (accepted, {True: announce, False: fork}),
            (announce, END),
        ],
    ),
    inputs={"issue": str},
    outputs=["reply"],
    model="gemini-2.5-pro",
)
INPUTS = {"issue": "It crashes."}
REPLIES = {
    "read": {"title": "Crash", "version": "1.0.0", "steps": ["open"]},
    "classify": "BUG",
    "reproduce": ["print(1)", "assert 0"],
    "review": [{"again": True, "notes": ["n"]}, {"again": False, "notes": []}],
    "*": "text",
}
