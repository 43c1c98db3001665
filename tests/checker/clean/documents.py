"""A folder of documents is read in parallel: chunks are mapped, summaries reduced, what fails is told.

::

    split -> each_document (chunks -> each_chunk (read -> extract) -> combine -> shorten?) -> sort -> reduce -> open questions
"""

from __future__ import annotations

from pydantic import BaseModel

from graphflow import (
    ConditionalAgent,
    Failure,
    Flatten,
    Flow,
    LlmAgent,
    MapAgent,
    ParallelAgent,
    RetryPolicy,
    SequentialAgent,
    agent,
    key,
)


class Document(BaseModel):
    name: str
    text: str


class Fact(BaseModel):
    statement: str
    page: int = 1


class Summary(BaseModel):
    name: str
    text: str
    facts: list[Fact]


@agent(writes="documents", blocking=False)
def split(folder: str) -> list[Document]:
    """One document for each heading."""
    parts = [part.strip() for part in folder.split("# ") if part.strip()]
    return [Document(name=part.split("\n")[0], text=part) for part in parts]


@agent(writes="chunks", blocking=False)
def cut(document: Document) -> list[str]:
    """Pieces of at most 2000 characters."""
    return [document.text[start : start + 2000] for start in range(0, len(document.text), 2000)]


skim = LlmAgent(
    name="skim",
    instruction=(
        "Summarise this piece of a longer document in at most 3 sentences. It may begin and end in the middle "
        "of a sentence: "
        "say nothing about that. Keep all numbers, with their units (kg, m², USD)."
    ),
    prompt="Piece {number} (counted from 0):\n{chunk}",
    output_key="gist",
)
extract = LlmAgent(
    name="extract",
    instruction=(
        "Extract the facts that this piece states. A fact is a sentence that can be true or false on its own.\n"
        'Reply with a list such as [{"statement": "The bridge is 312 m long.", "page": 4}], or [] if there is none.'
    ),
    prompt="{chunk}",
    output_key="found",
    output_schema=list[Fact],
)
each_chunk = MapAgent(
    name="each_chunk",
    over="chunks",
    item="chunk",
    index="number",
    agent=ParallelAgent(name="look", sub_agents=[skim, extract]),
    collect={"gist": "gists", "found": Flatten("facts")},
    max_concurrency=4,
)
combine = LlmAgent(
    name="combine",
    instruction="Write one summary of the whole document from the summaries of its pieces, which are in order.",
    prompt="{document.name}\n\n{gists}",
    output_key="text",
    retry=RetryPolicy(attempts=2, backoff=0.0, jitter=0.0),
)
shorten = LlmAgent(
    name="shorten",
    instruction="Bring the summary below 150 words without losing a number.",
    prompt="{text}",
    output_key="text",
)


@agent(writes="summary", blocking=False)
def pack(document: Document, text: str, facts: list[Fact]) -> Summary:
    """Puts what is known about one document together."""
    return Summary(name=document.name, text=text, facts=facts)


each_document = MapAgent(
    name="each_document",
    over="documents",
    item="document",
    agent=SequentialAgent(
        name="one",
        sub_agents=[
            cut,
            each_chunk,
            combine,
            ConditionalAgent(name="if_long", when=key("text").len() > 900, then=shorten),
            pack,
        ],
    ),
    collect={"summary": "summaries"},
    on_error="collect",
)


@agent(writes={"readable": list[Summary], "unreadable": list[str]}, blocking=False)
def sort_out(documents: list[Document], summaries: list[Summary | Failure]) -> dict[str, object]:
    """Parts what was read from what failed."""
    good = [each for each in summaries if isinstance(each, Summary)]
    failed = [documents[each.index].name for each in summaries if isinstance(each, Failure)]
    return {"readable": good, "unreadable": failed}


reduce = LlmAgent(
    name="reduce",
    instruction=(
        "Compare the documents: where they agree, where they contradict each other, and which of them is the "
        "most recent. Name "
        "each document by its title in quotes."
    ),
    prompt="{readable}",
    output_key="comparison",
)
ask_back = LlmAgent(
    name="ask_back",
    instruction=(
        "Write three questions that the documents leave open. If documents could not be read, ask for them first."
    ),
    prompt="Comparison:\n{comparison}\nNot readable: {unreadable}",
    output_key="questions",
    output_schema=list[str],
)

flow = Flow(
    SequentialAgent(name="documents", sub_agents=[split, each_document, sort_out, reduce, ask_back]),
    inputs={"folder": str},
    outputs=["comparison", "questions"],
    model="gemini-2.5-flash",
)
INPUTS = {"folder": "# A\nlong text\n# B\n" + "word " * 600}
REPLIES = {
    "extract": [[{"statement": "s"}]] * 9,
    "combine": ["short", "long " * 200],
    "ask_back": [["why?", "when?"]],
    "*": "text",
}
