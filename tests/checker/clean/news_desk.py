"""A news desk in a hurry: the first wire that answers counts, two of three checkers have to agree, a slow archive may fail.

::

    wires any[a | b | c] -> story -> checks 2 of [source | image | law] -> context collect[archive | map | people] -> piece
"""

from __future__ import annotations

from typing import Literal

from graphflow import ConditionalAgent, Flow, Gate, Key, LlmAgent, Merge, ParallelAgent, SequentialAgent, agent, key


def wire(name: str, style: str) -> LlmAgent:
    """A wire service: all of them write one key, as only the first counts."""
    return LlmAgent(
        name=f"wire_{name}",
        instruction=f"Report what happened, {style}. Who, what, where, when; give times as HH:MM UTC. No adjectives.",
        prompt="Event: {event}",
        output_key="dispatch",
        timeout=30.0,
    )


wires = ParallelAgent(
    name="wires",
    sub_agents=[
        wire("north", "in three sentences"),
        wire("south", "as bullet points"),
        wire("east", "as one paragraph"),
    ],
    join="any",
)
story = LlmAgent(
    name="story",
    instruction=(
        "Turn the dispatch into a first version of at most 150 words. Mark each claim that needs a check with "
        "[?], and never "
        "use braces like {this} for it."
    ).replace("{this}", "the ones of JSON"),
    prompt="{dispatch}",
    output_key="story",
)


def checker(name: str, question: str) -> LlmAgent:
    """One of three who check; two are enough."""
    return LlmAgent(
        name=name,
        instruction=f"{question} Reply with one line that begins with OK or STOP.",
        prompt="{story}",
        output_key="objections",
        output_schema=list[str],
    )


checks = ParallelAgent(
    name="checks",
    sub_agents=[
        checker("source", "Is there a named source for each claim that is marked?"),
        checker("image", "Would the picture that the story describes mislead anybody?"),
        checker("law", "Is anybody accused who has not been heard?"),
    ],
    join=2,
)


@agent(writes="stops", blocking=False)
def count(objections: list[str]) -> int:
    """How many say STOP."""
    return sum(line.startswith("STOP") for line in objections)


may_go_out = Gate(name="may_go_out", require=key("stops") == 0, reason="{stops} of the checkers say stop: {objections}")
archive = LlmAgent(
    name="archive",
    instruction="What did we write about this before? Give at most three headlines with their dates (YYYY-MM-DD).",
    prompt="{story}",
    output_key="background",
)
atlas = LlmAgent(
    name="atlas",
    instruction="Describe where it happened so that a map can be drawn: place, country, the next large city, km to it.",
    prompt="{dispatch}",
    output_key="place",
)
people = LlmAgent(
    name="people",
    instruction="Who is mentioned, and in which role? One line each.",
    prompt="{story}",
    output_key="people",
)
context = ParallelAgent(name="context", sub_agents=[archive, atlas, people], on_error="collect")
urgency = LlmAgent(
    name="urgency",
    instruction="Is this a flash, a bulletin or routine? A flash is what people will remember in ten years.",
    prompt="{story}",
    output_key="urgency",
    output_schema=Literal["flash", "bulletin", "routine"],
)
flash = LlmAgent(
    name="flash",
    instruction="Write the flash: one sentence of at most 90 characters in capital letters.",
    prompt="{story}",
    output_key="push",
)
piece = LlmAgent(
    name="piece",
    instruction=(
        "Write the piece. Use what is known about the background, the place and the people; do not mention "
        "what is not known."
    ),
    prompt="{story}\nBackground: {background?}\nPlace: {place?}\nPeople: {people?}\nUrgency: {urgency}",
    output_key="piece",
)

flow = Flow(
    SequentialAgent(
        name="news_desk",
        sub_agents=[
            wires,
            story,
            checks,
            count,
            may_go_out,
            context,
            urgency,
            ConditionalAgent(name="if_flash", when=key("urgency") == "flash", then=flash),
            piece,
        ],
    ),
    inputs={"event": str},
    outputs=["piece", "push?"],
    keys=[Key("objections", list[str], merge=Merge.extend)],
    model="gemini-2.5-flash",
)
INPUTS = {"event": "a bridge has been opened"}
REPLIES = {
    **{name: [["OK"]] for name in ("source", "image", "law")},
    "archive": RuntimeError("the archive is closed"),
    "urgency": "flash",
    "*": "text",
}
