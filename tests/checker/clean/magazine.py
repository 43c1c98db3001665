"""A magazine article: outlined, written and criticised until it is good, checked from three sides, laid out.

::

    outline -> refine (write -> critique -> tighten?) -> ready -> checks [facts | style | rights] -> headline -> lay_out
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

from graphflow import ConditionalAgent, Flow, Gate, LlmAgent, LoopAgent, ParallelAgent, SequentialAgent, agent, key


class Outline(BaseModel):
    title: str
    sections: list[str]


class Critique(BaseModel):
    score: int
    too_long: bool
    notes: list[str]


outline = LlmAgent(
    name="outline",
    instruction=(
        "You are the commissioning editor of a science magazine. Turn the assignment into an outline of three to five "
        "sections, each with a working title of at most eight words. Write for curious adults, not for specialists.\n"
        'Reply with JSON such as {"title": "Why the sea hums", "sections": ["A sound nobody made", "Listening"]}.'
    ),
    prompt="Assignment: {assignment}\nReaders: {readers?}",
    output_key="outline",
    output_schema=Outline,
)
write = LlmAgent(
    name="write",
    instruction=(
        "Write the article along the outline, about 900 words (5 to 6 minutes of reading). Give numbers with "
        "their units: "
        "12 km/h, 3 °C, 40 %. If there are notes from the critic, follow every one of them, and leave alone "
        "what they do "
        "not mention. Use the template {section} :: {text} for nothing but your own planning; it must not be "
        "in the text."
    ).replace("{section} :: {text}", "SECTION :: TEXT"),
    prompt="Outline: {outline.title}\n{outline.sections}\n\nNotes of the critic:\n{critique.notes?}",
    output_key="article",
)
critique = LlmAgent(
    name="critique",
    instruction=(
        "Judge the article as a strict but fair critic. The score goes from 1 to 10; 8 means that you would print it. "
        "Give at most three notes, each about one thing that can be changed.\n"
        'Reply with JSON: {"score": 7, "too_long": false, "notes": ["Section 2 repeats section 1"]}'
    ),
    prompt="Article:\n{article}",
    output_key="critique",
    output_schema=Critique,
)
tighten = LlmAgent(
    name="tighten",
    instruction="Shorten the article by a fifth. Keep every fact and every number; cut adjectives and asides first.",
    prompt="{article}",
    output_key="article",
)
refine = LoopAgent(
    name="refine",
    sub_agents=[
        write,
        critique,
        ConditionalAgent(name="if_long", when=key("critique").field("too_long"), then=tighten),
    ],
    max_iterations=4,
    until=key("critique").field("score") >= 8,
    exit_key="refined",
)
ready = Gate(
    name="ready",
    require=(key("refined") == "until") | (key("critique").field("score") >= 6),
    reason="the critic still gives {critique.score} of 10",
)
facts = LlmAgent(
    name="facts",
    instruction=(
        "List the claims of the article that a reader could check, one a line, each with the kind of source it needs."
    ),
    prompt="{article}",
    output_key="claims",
)
style = LlmAgent(
    name="style",
    instruction=(
        "Say which sentences break the house style: no passive openings, no sentence above 30 words, no jargon."
    ),
    prompt="{article}",
    output_key="style_notes",
)
rights = LlmAgent(
    name="rights",
    instruction="Does the article quote anybody at length, or describe a picture that would need a licence?",
    prompt="{article}",
    output_key="rights",
    output_schema=Literal["clear", "needs licence"],
)
headline = LlmAgent(
    name="headline",
    instruction=(
        "Write one headline of at most 60 characters. It must not promise what the article does not hold. The "
        "working title "
        "is only a hint."
    ),
    prompt="Working title: {outline.title}\nArticle:\n{article}",
    output_key="headline",
)


@agent(writes="page")
def lay_out(
    headline: str, article: str, claims: str, style_notes: str, rights: Literal["clear", "needs licence"]
) -> str:
    """Puts the page together; what is open goes into the margin."""
    margin = [f"check: {claims}", f"style: {style_notes}"] + ([] if rights == "clear" else ["ask the picture desk"])
    return "\n".join([headline.upper(), "", article, "", *margin])


flow = Flow(
    SequentialAgent(
        name="magazine",
        sub_agents=[
            outline,
            refine,
            ready,
            ParallelAgent(name="checks", sub_agents=[facts, style, rights]),
            headline,
            lay_out,
        ],
    ),
    inputs={"assignment": str, "readers?": str},
    outputs=["page"],
    model="gemini-2.5-flash",
)
INPUTS = {"assignment": "the hum of the sea"}
REPLIES = {
    "outline": {"title": "Why the sea hums", "sections": ["A sound", "Listening"]},
    "write": "A text.",
    "critique": [{"score": 5, "too_long": True, "notes": ["dull"]}, {"score": 9, "too_long": False, "notes": []}],
    "tighten": "A shorter text.",
    "rights": "clear",
    "*": "fine",
}
