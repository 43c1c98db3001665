"""Posts are moderated: plain functions decide where to go, a list of routes asks several experts, effects come last.

::

    normalise -> spam -> experts [hate | harm | copyright] by need -> weigh -> act {remove | warn | keep}
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

from graphflow import PASS, START, ConditionalAgent, Flow, Gate, Key, LlmAgent, Merge, SequentialAgent, Workflow, agent


class Finding(BaseModel):
    rule: str
    weight: float


Expert = Literal["hate", "harm", "copyright", "nobody"]


@agent(writes="text", blocking=False)
def normalise(post: str) -> str:
    """One kind of space, no invisible characters."""
    return " ".join(post.replace("\u200b", "").split())


spam = LlmAgent(
    name="spam",
    instruction=(
        "Is this advertising for something the author sells? yes or no. Mentioning a product is not advertising."
    ),
    prompt="{text}",
    output_key="is_spam",
    output_schema=Literal["yes", "no"],
)


def no_spam(is_spam: str) -> bool:
    """Whether it is worth looking at."""
    return is_spam == "no"


@agent
def needed(text: str) -> list[Expert]:
    """Which experts have to look at it."""
    words: dict[str, Expert] = {"hate": "hate", "hurt": "harm", "song": "copyright"}
    found = [expert for word, expert in words.items() if word in text]
    return found or ["nobody"]


hate = LlmAgent(
    name="hate",
    instruction=(
        "Does the post attack people for what they are? Quoting an attack in order to reject it is allowed.\n"
        'Reply with a list of findings: [{"rule": "3.1", "weight": 0.8}], or [].'
    ),
    prompt="{text}",
    output_key="findings",
    output_schema=list[Finding],
)
harm = LlmAgent(
    name="harm",
    instruction="Is somebody in danger? Give rule 9 with a weight from 0 to 1. Never quote the post in your answer.",
    prompt="{text}",
    output_key="findings",
    output_schema=list[Finding],
)
look_up = LlmAgent(
    name="look_up",
    instruction="Name the work that the post copies from, with author and year, or say `none`.",
    prompt="{text}",
    output_key="work",
)
copyright_ = LlmAgent(
    name="copyright",
    instruction="Is the part that was copied longer than a quotation may be (about 15 %)? Findings are under rule 5.",
    prompt="{text}\nWork: {work}",
    output_key="findings",
    output_schema=list[Finding],
)


@agent(writes="looked_at", blocking=False)
def collected(text: str) -> int:
    """Where all that were asked come together."""
    return len(text)


experts = Workflow(
    name="experts",
    edges=[
        (START, needed),
        (needed, {"hate": hate, "harm": harm, "copyright": look_up, "nobody": collected}),
        (look_up, copyright_, collected),
        ((hate, harm), collected),
    ],
)


@agent(writes={"score": float, "rules": list[str]}, blocking=False)
def weigh(findings: list[Finding]) -> dict[str, object]:
    """The heaviest finding counts."""
    return {"score": max((each.weight for each in findings), default=0.0), "rules": [each.rule for each in findings]}


@agent(writes="action", blocking=False)
def decide(score: float) -> Literal["remove", "warn", "keep"]:
    """From 0.8 on a post goes."""
    return "remove" if score >= 0.8 else "warn" if score >= 0.4 else "keep"


def is_long(text: str) -> bool:
    """Whether a summary helps whoever looks at an appeal."""
    return len(text) > 500


summarise = LlmAgent(
    name="summarise",
    instruction="Summarise the post for whoever decides on an appeal, without judging it.",
    prompt="{text}",
    output_key="summary",
)
explain = LlmAgent(
    name="explain",
    instruction="Tell the author which rules the post breaks, and how to appeal within 14 days. No irony.",
    prompt="Rules: {rules}\nSummary: {summary?}",
    output_key="notice",
)


@agent(writes="removed", effect="irreversible")
def remove(text: str, notice: str) -> int:
    """Takes the post down and tells its author."""
    return len(text) + len(notice)


warn = LlmAgent(
    name="warn",
    instruction="Write a friendly warning of at most two sentences that names the rule.",
    prompt="{rules}",
    output_key="notice",
)
act = ConditionalAgent(
    name="act",
    on="action",
    cases={
        "remove": SequentialAgent(
            name="take_down",
            sub_agents=[ConditionalAgent(name="if_long", when=is_long, then=summarise), explain, remove],
        ),
        "warn": warn,
        "keep": PASS,
    },
)

flow = Flow(
    SequentialAgent(
        name="moderation",
        sub_agents=[
            normalise,
            spam,
            Gate(name="worth_it", require=no_spam, reason="spam"),
            experts,
            weigh,
            decide,
            act,
        ],
    ),
    inputs={"post": str},
    outputs=["action", "looked_at", "notice?", "removed?"],
    keys=[Key("findings", list[Finding], default=[], merge=Merge.extend)],
    model="gemini-2.5-flash",
)
INPUTS = {"post": "I hate this song"}
REPLIES = {
    "spam": "no",
    "hate": [[{"rule": "3.1", "weight": 0.9}]],
    "copyright": [[]],
    "*": "text",
}
