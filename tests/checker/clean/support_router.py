"""Customer mail: read, routed to one of five desks with a default, answered in the tone of the house, logged.

::

    clean -> language -> read -> desk {billing | delivery | returns | technical (diagnose -> fix) | default} -> tone -> log
"""

from __future__ import annotations

from typing import Literal, TypedDict

from pydantic import BaseModel, Field

from graphflow import PASS, ConditionalAgent, Flow, LlmAgent, ParallelAgent, SequentialAgent, agent, key

Topic = Literal["billing", "delivery", "returns", "technical", "other"]


class Ticket(BaseModel):
    topic: Topic
    order: str | None = None
    mood: Literal["calm", "upset", "angry"]
    summary: str = Field(description="one sentence")


class Entry(TypedDict):
    topic: str
    answered: bool


@agent(writes="text", blocking=False)
def clean(mail: str) -> str:
    """Cuts quoted lines and signatures off."""
    return "\n".join(line for line in mail.splitlines() if not line.startswith(">"))


language = LlmAgent(
    name="language",
    instruction=(
        "Name the language of the mail as a code of two letters, such as en, de or fr. Reply with nothing else."
    ),
    prompt="{text}",
    output_key="language",
)
read = LlmAgent(
    name="read",
    instruction=(
        "Read the mail and fill in the ticket. The order number has the form AB-12345; leave it out if there "
        "is none. If the "
        "mail is about several things take the one that the customer minds most.\n"
        'Example: {"topic": "delivery", "order": "AB-12345", "mood": "upset", "summary": "Parcel is a week late."}'
    ),
    prompt="{text}",
    output_key="ticket",
    output_schema=Ticket,
)
billing = LlmAgent(
    name="billing",
    instruction=(
        "Explain the invoice. Never promise a refund above 50 EUR; say that a colleague will call within 24 h "
        "instead. Ask for "
        "the order number if it is missing."
    ),
    prompt="{ticket.summary}\nOrder: {ticket.order?}\n\n{text}",
    output_key="answer",
)
delivery = LlmAgent(
    name="delivery",
    instruction=(
        "Say where the parcel is and when it will arrive. Apologise once, not more, if it is more than 2 days late."
    ),
    prompt="{ticket.summary}\nOrder: {ticket.order?}",
    output_key="answer",
)
returns = LlmAgent(
    name="returns",
    instruction=(
        "Explain how to send things back: 30 days, unused, in any box up to 31.5 kg. Attach the label LABEL.PDF."
    ),
    prompt="{ticket.summary}\n\n{text}",
    output_key="answer",
)
diagnose = LlmAgent(
    name="diagnose",
    instruction="Find the most likely cause of the fault. Name the error code if the customer gave one (E01 to E42).",
    prompt="{ticket.summary}\n\n{text}",
    output_key="cause",
)
fix = LlmAgent(
    name="fix",
    instruction=(
        "Write at most five steps that the customer can do without tools. Number them. End with the offer of a call."
    ),
    prompt="Cause: {cause}\nWhat the customer wrote:\n{text}",
    output_key="answer",
)
general = LlmAgent(
    name="general",
    instruction="Answer in a friendly way, and say who in the house knows more.",
    prompt="{text}",
    output_key="answer",
)
desk = ConditionalAgent(
    name="desk",
    on=key("ticket").field("topic"),
    cases={
        "billing": billing,
        "delivery": delivery,
        "returns": returns,
        "technical": SequentialAgent(name="technical", sub_agents=[diagnose, fix]),
    },
    default=general,
)
soothe = LlmAgent(
    name="soothe",
    instruction=(
        "Rewrite the answer for somebody who is angry: first what we do about it, then why it happened, no excuses."
    ),
    prompt="{answer}",
    output_key="answer",
)
calm = ConditionalAgent(
    name="calm",
    on=key("ticket").field("mood"),
    cases={"angry": soothe, "upset": soothe.clone({"name": "soften"}), "calm": PASS},
)
translate = LlmAgent(
    name="translate",
    instruction=(
        "Translate the answer into the language with this code; keep order numbers and error codes as they are."
    ),
    prompt="Language: {language}\n\n{answer}",
    output_key="reply",
)


@agent(writes="entry", effect="idempotent")
def log(ticket: Ticket, reply: str) -> Entry:
    """Notes what was answered."""
    return {"topic": ticket.topic, "answered": bool(reply)}


flow = Flow(
    SequentialAgent(
        name="support_router",
        sub_agents=[
            clean,
            ParallelAgent(name="understand", sub_agents=[language, read]),
            desk,
            calm,
            translate,
            log,
        ],
    ),
    inputs={"mail": str},
    outputs=["reply", "entry"],
    model="gemini-2.5-flash",
)
INPUTS = {"mail": "> old\nIt is broken, E07."}
REPLIES = {
    "language": "en",
    "read": {"topic": "technical", "mood": "angry", "summary": "Broken."},
    "*": "text",
}
