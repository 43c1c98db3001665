"""A help centre whose models call tools: they look things up, keep notes in the state and end a loop when they are done.

::

    identify -> gather (researcher with tools)* -> [answer | follow-ups] -> review -> ticket? -> reply
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel

from graphflow import (
    ConditionalAgent,
    Flow,
    Key,
    LlmAgent,
    LoopAgent,
    Merge,
    ParallelAgent,
    SequentialAgent,
    agent,
    key,
)
from graphflow.tools import exit_loop
from graphflow.tools.tool_context import ToolContext


class Customer(BaseModel):
    id: str
    plan: Literal["free", "pro"]


class Article(BaseModel):
    title: str
    text: str


def find_customer(email: str) -> dict[str, Any]:
    """Finds a customer by e-mail address.

    Args:
        email: the address, in lower case.
    """
    return {"id": "C1", "plan": "pro", "email": email}


def search_articles(query: str, tool_context: ToolContext, limit: int = 3) -> list[dict[str, str]]:
    """Searches the knowledge base.

    Args:
        query: two to five words.
        limit: at most so many articles.
    """
    tool_context.state["searched"] = [query]
    return [{"title": query, "text": "Turn it off and on."}][:limit]


def note(text: str, tool_context: ToolContext) -> str:
    """Keeps a finding for the answer.

    Args:
        text: one sentence.
    """
    plan = tool_context.state["customer"].plan
    tool_context.state["notes"] = [f"[{plan}] {text}"]
    return "noted"


async def open_ticket(title: str, urgent: bool, tool_context: ToolContext) -> str:
    """Opens a ticket for a person to look at.

    Args:
        title: at most 80 characters.
        urgent: whether somebody has to look at it today.
    """
    tool_context.state["ticket"] = f"{title} ({'urgent' if urgent else 'normal'})"
    return "opened"


identify = LlmAgent(
    name="identify",
    instruction=(
        "Find out who is asking. Use the tool with the address in the mail; the plan is `free` if there is none."
    ),
    prompt="{mail}",
    tools=[find_customer],
    output_key="profile",
)
read_profile = LlmAgent(
    name="read_profile",
    instruction='Write what is known about the customer as JSON: {"id": "C1", "plan": "pro"}.',
    prompt="{profile}",
    output_key="customer",
    output_schema=Customer,
)
researcher = LlmAgent(
    name="researcher",
    instruction=(
        "Search the knowledge base for what the mail asks, and note each finding that answers a part of it. Do "
        "not search for "
        "the same words twice: {searched?}. When every part is answered, or three searches found nothing, end the loop."
    ),
    prompt="{mail}\nNoted so far: {notes?}",
    tools=[search_articles, note, exit_loop],
)
gather = LoopAgent(name="gather", sub_agents=[researcher], max_iterations=4)
answer = LlmAgent(
    name="answer",
    instruction=(
        "Answer from the notes alone. If they do not answer the question, say so and promise a reply within 24 h."
    ),
    prompt="{mail}\nNotes:\n{notes}",
    output_key="draft",
)
follow_up = LlmAgent(
    name="follow_up",
    instruction="Which two questions will the customer ask next? One line each.",
    prompt="{mail}",
    output_key="follow_up",
)
review = LlmAgent(
    name="review",
    instruction="Does the draft answer the mail? Say answered or open. A polite refusal is open.",
    prompt="{mail}\n\n{draft}",
    output_key="verdict",
    output_schema=Literal["answered", "open"],
)
escalate_to_people = LlmAgent(
    name="escalate_to_people",
    instruction=(
        "Open a ticket with a title that a colleague understands without the mail. Urgent for customers of pro only."
    ),
    prompt="{mail}\nPlan: {customer.plan}\nDraft: {draft}",
    tools=[open_ticket],
    output_key="handed_over",
)


@agent(writes="reply", blocking=False)
def compose(draft: str, follow_up: str, ticket: str | None = None, handed_over: str | None = None) -> str:
    """The mail that goes out."""
    return "\n".join(filter(None, [draft, follow_up, ticket, handed_over]))


flow = Flow(
    SequentialAgent(
        name="help_center",
        sub_agents=[
            identify,
            read_profile,
            gather,
            ParallelAgent(name="write", sub_agents=[answer, follow_up]),
            review,
            ConditionalAgent(name="if_open", when=key("verdict") == "open", then=escalate_to_people),
            compose,
        ],
    ),
    inputs={"mail": str},
    outputs=["reply"],
    keys=[
        Key("notes", list[str], default=[], merge=Merge.extend),
        Key("searched", list[str], default=[], merge=Merge.extend),
    ],
    model="gemini-2.5-flash",
)
REFUSED = "not called yet"
INPUTS = {"mail": "It is broken. kim@example.org"}
REPLIES = {"read_profile": {"id": "C1", "plan": "pro"}, "review": "answered", "*": "text"}
