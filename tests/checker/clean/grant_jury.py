"""A jury argues in rounds until it agrees: a free-form graph in a loop, which its chair ends from inside.

::

    read -> rounds (hearing: START -> (optimist, pessimist, realist 2 of 3) -> vote -> chair (escalates))* -> minutes -> letter
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

from graphflow import (
    START,
    AskAgent,
    ConditionalAgent,
    Context,
    Flow,
    Key,
    LlmAgent,
    LoopAgent,
    Merge,
    ParallelAgent,
    SequentialAgent,
    Workflow,
    agent,
    key,
)


class Proposal(BaseModel):
    title: str
    sum: int
    months: int


class Vote(BaseModel):
    who: str
    grant: bool
    why: str


read = LlmAgent(
    name="read",
    instruction=(
        'Read the proposal: {"title": "...", "sum": 120000, "months": 18}. The sum is in EUR, overheads included.'
    ),
    prompt="{proposal_text}",
    output_key="proposal",
    output_schema=Proposal,
)


def juror(name: str, temper: str) -> LlmAgent:
    """A member of the jury with a temper."""
    return LlmAgent(
        name=name,
        instruction=(
            f"You are a juror who {temper}. Speak for at most 100 words; answer what the others said in the "
            f"last round, if "
            "anything was said. Never repeat yourself."
        ),
        prompt="{proposal.title}: {proposal.sum} EUR for {proposal.months} months\nSo far:\n{minutes}",
        output_key="said",
        output_schema=list[str],
        timeout=60.0,
    )


hearing = ParallelAgent(
    name="hearing",
    sub_agents=[
        juror("optimist", "sees what could come of it"),
        juror("pessimist", "sees what could go wrong"),
        juror("realist", "asks who will do the work"),
    ],
    join=2,
)


@agent(writes="minutes", blocking=False)
def write_down(said: list[str]) -> list[str]:
    """What has been said in all rounds."""
    return said


vote = LlmAgent(
    name="vote",
    instruction='Let each juror vote: [{"who": "optimist", "grant": true, "why": "..."}]. Three votes, no abstentions.',
    prompt="{minutes}",
    output_key="votes",
    output_schema=list[Vote],
)


@agent(writes={"agreed": bool, "grants": int}, blocking=False)
def tally(votes: list[Vote]) -> dict[str, object]:
    """Whether all want the same."""
    grants = sum(each.grant for each in votes)
    return {"agreed": grants in (0, len(votes)), "grants": grants}


@agent(blocking=False)
def chair(agreed: bool, ctx: Context) -> None:
    """Closes the hearing when there is nothing left to argue about."""
    if agreed:
        ctx.actions.escalate = True


rounds = LoopAgent(
    name="rounds",
    sub_agents=[Workflow(name="round", edges=[(START, hearing, write_down, vote, tally, chair)])],
    max_iterations=3,
    exit_key="closed_by",
)
president = AskAgent(
    name="president",
    prompt="The jury does not agree on {proposal.title} ({grants} of 3 would grant it). Your vote?",
    output_key="casting_vote",
    output_schema=Literal["grant", "deny"],
)


@agent(writes="casting_vote", blocking=False)
def unanimous(grants: int) -> Literal["grant", "deny"]:
    """The vote of a jury that agrees."""
    return "grant" if grants else "deny"


settle = ConditionalAgent(name="settle", when=key("closed_by") == "max_iterations", then=president, otherwise=unanimous)
grant = LlmAgent(
    name="grant",
    instruction="Write the letter of award with sum, term in months and the first report's date (month 6).",
    prompt="{proposal}",
    output_key="letter",
)
deny = LlmAgent(
    name="deny",
    instruction="Write the letter of refusal, with the two strongest arguments of the jury and no names.",
    prompt="{proposal.title}\n{minutes}",
    output_key="letter",
)
file = LlmAgent(
    name="file",
    instruction="Write the minutes for the file: who said what, how the vote ended, on one page.",
    prompt="{minutes}\n{votes}\nClosed by: {closed_by}",
    output_key="record",
)

flow = Flow(
    SequentialAgent(
        name="grant_jury",
        sub_agents=[
            read,
            rounds,
            settle,
            ConditionalAgent(name="answer", on="casting_vote", cases={"grant": grant, "deny": deny}),
            file,
        ],
    ),
    inputs={"proposal_text": str},
    outputs=["letter", "record"],
    keys=[Key("said", list[str], default=[], merge=Merge.extend), Key("minutes", list[str], default=[])],
    model="gemini-2.5-pro",
)
_VOTE = {"who": "w", "why": "y"}
INPUTS = {"proposal_text": "A telescope"}
REPLIES = {
    "read": {"title": "A telescope", "sum": 1, "months": 2},
    **{name: [["a"]] * 3 for name in ("optimist", "pessimist", "realist")},
    "vote": [[{**_VOTE, "grant": True}, {**_VOTE, "grant": False}], [{**_VOTE, "grant": True}] * 2],
    "*": "text",
}
