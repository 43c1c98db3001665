"""A merge request is reviewed by the same small flow from two sides, each with keys of its own, and summed up.

::

    diff -> size -> reviews [security: SubFlow(scan -> argue -> grade) | clarity: SubFlow(...)] -> verdict -> comment
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

from graphflow import (
    ConditionalAgent,
    Flow,
    Gate,
    LlmAgent,
    LoopAgent,
    ParallelAgent,
    SequentialAgent,
    SubFlow,
    agent,
    key,
)


class Remark(BaseModel):
    file: str
    line: int
    text: str
    blocking: bool = False


class Opinion(BaseModel):
    remarks: list[Remark]
    grade: Literal["A", "B", "C"]


def reviewer(side: str, question: str) -> Flow:
    """One reviewer, who argues with an advocate of the author before grading."""
    scan = LlmAgent(
        name="scan",
        instruction=(
            f"You review {side} and nothing else. {question} Point at lines, not at people.\n"
            'Reply with a list: [{"file": "a.py", "line": 12, "text": "f-string in SQL", "blocking": true}]'
        ),
        prompt="{change}\n\nWhat the author says: {defence?}",
        output_key="remarks",
        output_schema=list[Remark],
    )
    defend = LlmAgent(
        name="defend",
        instruction="You are the author's advocate. Which remarks are wrong? Quote the lines of the diff that show it.",
        prompt="Remarks:\n{remarks}\n\nDiff:\n{change}",
        output_key="defence",
    )
    settle = LlmAgent(
        name="settle",
        instruction="Is there still a remark that both see differently? Say settled or open, and nothing else.",
        prompt="{remarks}\n{defence}",
        output_key="state_of_debate",
        output_schema=Literal["settled", "open"],
    )
    grade = LlmAgent(
        name="grade",
        instruction=(
            "Grade the change: A (merge), B (merge after small changes), C (do not merge). Keep the remarks "
            "that survived.\n"
            'Example: {"remarks": [], "grade": "A"}'
        ),
        prompt="Remarks: {remarks}\nDefence: {defence}\nDebate: {ended}",
        output_key="opinion",
        output_schema=Opinion,
    )
    debate = LoopAgent(
        name="debate",
        sub_agents=[scan, defend, settle],
        until=key("state_of_debate") == "settled",
        max_iterations=3,
        exit_key="ended",
    )
    return Flow(
        SequentialAgent(name="reviewer", sub_agents=[debate, grade]),
        inputs={"change": str},
        outputs={"opinion": Opinion},
    )


@agent(writes="diff", blocking=False)
def normalise(patch: str) -> str:
    """Cuts generated files and trailing white space out of the patch."""
    return "\n".join(line.rstrip() for line in patch.splitlines() if not line.startswith("GENERATED"))


small_enough = Gate(name="small_enough", require=key("diff").len() < 60_000, reason="split it: more than 60 kB of diff")
security = SubFlow(
    name="security",
    flow=reviewer("security", "Look for injection, secrets, unsafe defaults and missing checks of permissions."),
    inputs={"change": "diff"},
    outputs={"opinion": "security_opinion"},
)
clarity = SubFlow(
    name="clarity",
    flow=reviewer(
        "clarity", "Would a new colleague understand this in five minutes? Names, structure, comments, tests."
    ),
    inputs={"change": "diff"},
    outputs={"opinion": "clarity_opinion"},
)


@agent(writes="merge", blocking=False)
def conclude(security_opinion: Opinion, clarity_opinion: Opinion) -> bool:
    """Nobody gives a C and nothing blocks."""
    both = (security_opinion, clarity_opinion)
    return all(each.grade != "C" and not any(remark.blocking for remark in each.remarks) for each in both)


welcome = LlmAgent(
    name="welcome",
    instruction="Write the comment that accepts the change. Thank the author; list what could be done some other day.",
    prompt="{security_opinion.remarks}\n{clarity_opinion.remarks}",
    output_key="comment",
)
refuse = LlmAgent(
    name="refuse",
    instruction="Write the comment that asks for changes: at most five, the blocking ones first, each with file:line.",
    prompt="{security_opinion.remarks}\n{clarity_opinion.remarks}",
    output_key="comment",
)

flow = Flow(
    SequentialAgent(
        name="code_review",
        sub_agents=[
            normalise,
            small_enough,
            ParallelAgent(name="reviews", sub_agents=[security, clarity]),
            conclude,
            ConditionalAgent(name="answer", when=key("merge"), then=welcome, otherwise=refuse),
        ],
    ),
    inputs={"patch": str},
    outputs=["comment", "merge"],
    model="gemini-2.5-pro",
)
INPUTS = {"patch": "+ x = 1"}
REPLIES = {
    "scan": [[]] * 4,
    "settle": ["open", "open", "settled", "settled"],
    "grade": {"remarks": [], "grade": "A"},
    "*": "fine",
}
