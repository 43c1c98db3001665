"""A newsletter as a free-form graph: values are handed from node to node, two loops go round, a nested graph joins.

::

    START -> collect -> pick -> (teaser, body <-> proof) -> assemble -> legal --ok--> send
                                                              ^---- mend <---no--+
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel

from graphflow import DEFAULT_ROUTE, END, START, Flow, LlmAgent, Workflow, agent


class Item(BaseModel):
    title: str
    link: str


collect = LlmAgent(
    name="collect",
    instruction=(
        "Collect what readers of this newsletter care about, from the notes of the week. Five items at most.\n"
        'Reply with a list: [{"title": "New parser", "link": "https://example.org/p"}]'
    ),
    prompt="{week}",
    output_key="items",
    output_schema=list[Item],
)


def pick(node_input: list[Item]) -> Item:
    """The first is the one that everybody will open."""
    return node_input[0]


@agent(writes="lead", blocking=False)
def keep(node_input: Item) -> Item:
    """Remembers it for the graphs that follow."""
    return node_input


teaser = LlmAgent(
    name="teaser",
    instruction="Write the subject line: at most 50 characters, no exclamation mark, no emoji.",
    prompt="{lead.title}",
    output_key="subject",
)
body = LlmAgent(
    name="body",
    instruction=(
        "Write 120 words about the item for people who read on a phone. End with the link on a line of its "
        "own. If a proof "
        "reader has complained, mend exactly that."
    ),
    prompt="{lead.title}: {lead.link}\nComplaint: {complaint?}",
    output_key="body",
)
proof = LlmAgent(
    name="proof",
    instruction="Say `fine`, or name the one sentence that is hardest to read.",
    prompt="{body}",
    output_key="complaint",
)


@agent
def readable(complaint: str) -> bool:
    """Whether the proof reader is content."""
    return complaint == "fine"


writing = Workflow(
    name="writing",
    edges=[
        (START, (teaser, body)),
        (body, proof, readable),
        (readable, {False: body, True: END}),
        (teaser, END),
    ],
)


@agent(writes="letter", blocking=False)
def assemble(subject: str, body: str, items: list[Item]) -> str:
    """Puts the parts together; the other items become a list of links."""
    return "\n".join([subject, body, *(f"- {item.title} <{item.link}>" for item in items[1:])])


legal = LlmAgent(
    name="legal",
    instruction=(
        "Does the letter hold what the law asks for: who sends it, and how to unsubscribe? ok, imprint or link."
    ),
    prompt="{letter}",
    output_key="legal",
    output_schema=Literal["ok", "imprint", "link"],
)
mend = LlmAgent(
    name="mend",
    instruction="Add what is missing at the end of the letter, in small words; change nothing else.",
    prompt="Missing: {legal}\n\n{letter}",
    output_key="letter",
)


@agent
def group(letter: str) -> Literal["all", "some"]:
    """A long letter goes to those only who asked for long ones."""
    return "some" if len(letter) > 5000 else "all"


@agent(writes="sent", effect="irreversible")
def send_all(letter: str) -> int:
    """Sends it to everybody."""
    return len(letter)


@agent(writes="sent", effect="irreversible")
def send_some(letter: str) -> int:
    """Sends it to some."""
    return -len(letter)


@agent(writes="archived", effect="idempotent")
def archive(letter: str) -> str:
    """Puts it on the web page."""
    return f"archive/{len(letter)}"


@agent(writes="log", blocking=False)
def log(node_input: dict[str, Any], archived: str) -> str:
    """One line about what was done, whichever way it went."""
    return f"{sorted(node_input)} {archived}"


flow = Flow(
    Workflow(
        name="newsletter",
        edges=[
            (START, collect, pick, keep, writing, assemble, legal),
            (legal, {"ok": group, DEFAULT_ROUTE: mend}),
            (mend, legal),
            (group, {"all": send_all, "some": send_some}),
            (group, archive),
            ((send_all, send_some, archive), log, END),
        ],
    ),
    inputs={"week": str},
    outputs=["sent", "log"],
    model="gemini-2.5-flash",
)
_ITEM = {"title": "t", "link": "l"}
INPUTS = {"week": "a new parser"}
REPLIES = {
    "collect": [[_ITEM, _ITEM]],
    "proof": ["the first one", "fine"],
    "legal": ["imprint", "ok"],
    "*": "text",
}
