"""An incident is followed from many sides, and keys with merges put together what all of them say.

::

    alarm -> gather [logs | metrics | customers | changes] -> hunt (guess -> test)* -> tell [status | wake -> call] -> report
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

from graphflow import (
    ConditionalAgent,
    Flow,
    Key,
    LlmAgent,
    LoopAgent,
    Merge,
    Overwrite,
    ParallelAgent,
    SequentialAgent,
    agent,
    key,
)


class Sign(BaseModel):
    at: str
    what: str


class Guess(BaseModel):
    cause: str
    sure: float


alarm = LlmAgent(
    name="alarm",
    instruction='Read the alarm: {"at": "12:04:30Z", "what": "p99 latency 4.2 s"}. Times are UTC, durations in s.',
    prompt="{page}",
    output_key="timeline",
    output_schema=Sign,
)


@agent(writes={"systems": set[str], "severity": int}, blocking=False)
def logs(page: str) -> dict[str, object]:
    """Which systems complain."""
    return {"systems": {word for word in page.split() if word.endswith("-svc")}, "severity": 2}


read_metrics = LlmAgent(
    name="read_metrics",
    instruction="Say what the curves of the last 30 min show: requests/s, errors in %, p50 and p99 in ms. No guesses.",
    prompt="{page}",
    output_key="metrics",
)
judge_metrics = LlmAgent(
    name="judge_metrics",
    instruction="How bad is it, from 1 (nobody notices) to 5 (nothing works)? Reply with the number.",
    prompt="{metrics}",
    output_key="severity",
    output_schema=int,
)
customers = LlmAgent(
    name="customers",
    instruction="What do customers say? Give the first complaint with its time, in their words and without names.",
    prompt="{page}",
    output_key="timeline",
    output_schema=Sign,
)


@agent(writes={"timeline": Sign, "systems": set[str], "affected": int})
def changes(page: str) -> dict[str, object]:
    """The last change before the alarm, and what it touched."""
    return {"timeline": Sign(at="11:58:00Z", what="deploy"), "systems": {"pay-svc"}, "affected": len(page)}


gather = ParallelAgent(
    name="gather",
    sub_agents=[logs, SequentialAgent(name="curves", sub_agents=[read_metrics, judge_metrics]), customers, changes],
)
guess = LlmAgent(
    name="guess",
    instruction=(
        "Name the most likely cause that has not been ruled out yet, and how sure you are (0 to 1).\n"
        'Example: {"cause": "pool exhausted after deploy", "sure": 0.6}'
    ),
    prompt="Timeline: {timeline}\nSystems: {systems}\nRuled out: {ruled_out}",
    output_key="guess",
    output_schema=Guess,
)
test = LlmAgent(
    name="test",
    instruction="Which of the facts speaks against the cause? Reply with `none`, or with the fact.",
    prompt="Cause: {guess.cause}\nTimeline: {timeline}",
    output_key="objection",
)


@agent(writes="ruled_out", blocking=False)
def rule_out(guess: Guess, objection: str) -> list[str] | Overwrite:
    """What a fact speaks against is out; a sure guess clears the list."""
    if guess.sure > 0.9:
        return Overwrite([])
    return [] if objection == "none" else [guess.cause]


hunt = LoopAgent(
    name="hunt",
    sub_agents=[guess, test, rule_out],
    until=(key("objection") == "none") | (key("guess").field("sure") > 0.9),
    max_iterations=4,
    exit_key="hunt_ended",
)
status_page = LlmAgent(
    name="status_page",
    instruction=(
        "Write the line for the status page. No cause unless we are sure of it; say when the next update comes."
    ),
    prompt="Severity {severity} of 5, systems: {systems}",
    output_key="status_line",
)
wake = LlmAgent(
    name="wake",
    instruction=(
        "Write the text message that wakes the person on call: what, since when, what to look at first. 160 characters."
    ),
    prompt="{guess.cause}, severity {severity}, {affected} users",
    output_key="text_message",
)


@agent(writes="called", effect="irreversible")
def call(text_message: str) -> str:
    """Sends it."""
    return text_message[:160]


report = LlmAgent(
    name="report",
    instruction=(
        "Write the report without blame: timeline as a list, what was ruled out and why, what is still open. "
        "Say how the hunt "
        "for the cause ended."
    ),
    prompt="{timeline}\nCause: {guess}\nRuled out: {ruled_out}\nEnded: {hunt_ended}\nStatus: {status_line}",
    output_key="report",
    output_schema=str,
)

flow = Flow(
    SequentialAgent(
        name="incidents",
        sub_agents=[
            alarm,
            gather,
            hunt,
            ParallelAgent(
                name="tell",
                sub_agents=[
                    status_page,
                    ConditionalAgent(
                        name="if_bad",
                        when=key("severity") >= 4,
                        then=SequentialAgent(name="by_phone", sub_agents=[wake, call]),
                    ),
                ],
            ),
            report,
        ],
    ),
    inputs={"page": str},
    outputs={"report": str, "called?": str, "severity": Literal[1, 2, 3, 4, 5] | int},
    keys=[
        Key("timeline", list[Sign], default=[], merge=Merge.append),
        Key("systems", set[str], default=set(), merge=Merge.union),
        Key("severity", int, default=1, merge=Merge.max),
        Key("affected", int, default=0, merge=Merge.sum),
        Key("ruled_out", list[str], default=[], merge=Merge.extend),
    ],
    model="gemini-2.5-flash",
)
_SIGN = {"at": "12:00:00Z", "what": "slow"}
INPUTS = {"page": "cart-svc is slow"}
REPLIES = {
    "alarm": _SIGN,
    "customers": _SIGN,
    "judge_metrics": "4",
    "guess": [{"cause": "a", "sure": 0.5}, {"cause": "b", "sure": 0.8}],
    "test": ["a fact", "none"],
    "*": "text",
}
