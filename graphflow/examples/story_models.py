"""The models of the story example: Python functions that really read and write the text they are sent, so it runs offline.

* `AUTHOR` writes a first draft about any topic, a gloomy one about gloomy topics, unless it is told that the last one was;
* `CRITIC` names at most two weaknesses at a time: weak words, a figure without a name, a missing end;
* `REVISER` does what it is advised to do, and nothing else;
* `GRAMMARIAN` finds repeated words, `a` before a vowel and sentences that begin small;
* `LISTENER` weighs dark words against bright ones: `negative`, `neutral` or `positive`.

Each gets nothing but its request, as a language model would. The same request always has the same answer.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from itertools import pairwise
from typing import Literal
from zlib import crc32

from pydantic import BaseModel, ConfigDict

from graphflow.examples.labelled import labelled_parts
from graphflow.models.base import ModelRequest
from graphflow.models.function import FunctionModel

Tone = Literal["positive", "neutral", "negative"]

_LABELS = ("Topic", "Tone of the last story", "Story", "Criticism")
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_WEAK = ("really", "very", "quite", "suddenly")
_DARK_WORDS = (
    "alone ash autumn bitter blood broken burned cold cruel crying dark darkness dead death despair die died dying empty "
    "fear funeral ghost ghosts gloom grave graves grief hopeless hunger lonely loss lost mourning pain plague ruin ruins "
    "sad shadow shadows sorrow storm tears tomb war wars winter wreck"
)
_BRIGHT_WORDS = (
    "bright cheerful dance danced friend friends garden gift happy hope joy kind laughed laughter light love lucky merry "
    "morning music play shone sing singing smile smiled song spring summer sun warm wedding wonder"
)
_DARK = frozenset(_DARK_WORDS.split())
_BRIGHT = frozenset(_BRIGHT_WORDS.split())
_NAMES = ("Mara", "Tobias", "Ines", "Leopold", "Yusuf")
_PLACES = (
    "by the harbour",
    "at the edge of the moor",
    "under the railway bridge",
    "in the last house of the valley",
)
_TURNS = {
    "bright": (
        "One morning the answer was a song, and soon the whole street was singing it.",
        "In spring a stranger answered back, laughed, and stayed for supper as a friend.",
    ),
    "dark": (
        "Then winter came, the lamps went out, and nobody asked any more.",
        "But the letters stopped, and what was left was a cold room and an empty chair.",
    ),
}
_END = "And so"


class Criticism(BaseModel):
    """What a critic says of a story.

    Attributes:
        verdict: whether it can stay as it is.
        advice: what to change, one piece of advice a line; empty if nothing.
    """

    model_config = ConfigDict(frozen=True)

    verdict: Literal["good", "revise"]
    advice: str


def _draft(request: ModelRequest) -> str:
    parts = labelled_parts(request.text, _LABELS)
    topic = " ".join(parts["Topic"].split()).rstrip(".!?") or "nothing at all"
    dark = _count(topic, _DARK) > 0 and parts["Tone of the last story"] != "negative"
    about = f"There was somebody {_chosen(_PLACES, topic)} who could really think of nothing but {topic}."
    asked = (
        f"Every evening the neighbours asked what was so very special about {topic}, and every evening the answer was "
        "a little longer."
    )
    return f"{about} {asked} {_chosen(_TURNS['dark' if dark else 'bright'], topic)}"


def _criticise(request: ModelRequest) -> Criticism:
    found = list(_weaknesses(labelled_parts(request.text, _LABELS)["Story"]))
    return Criticism(verdict="revise" if found else "good", advice="\n".join(found[:2]))


def _weaknesses(story: str) -> Iterator[str]:
    weak = [word for word in _WEAK if re.search(rf"\b{word} ", story)]
    if weak:
        yield f"Strike the weak words: {', '.join(weak)}."
    if "somebody" in story:
        yield "Give the main figure a name."
    if not _sentences(story)[-1].startswith(_END):
        yield f"Give it an end that begins with `{_END}`."


def _revise(request: ModelRequest) -> str:
    parts = labelled_parts(request.text, _LABELS)
    story, advice = parts["Story"], parts["Criticism"]
    name = _chosen(_NAMES, story)
    if "weak words" in advice:
        story = re.sub(rf"\b(?:{'|'.join(_WEAK)}) ", "", story)
    if "a name" in advice:
        story = story.replace(
            "somebody", f"{_chosen(('a baker', 'a clockmaker', 'a ferryman'), story)} called {name}", 1
        )
        story = story.replace("somebody", name)
    if "an end" in advice:
        story = f"{story} {_END} it is still told there, whenever two people have time."
    return story


def _proofread(request: ModelRequest) -> str:
    return "\n".join(dict.fromkeys(_mistakes(labelled_parts(request.text, _LABELS)["Story"]))) or "Nothing to correct."


def _mistakes(story: str) -> Iterator[str]:
    for sentence in _sentences(story):
        if sentence[:1].islower():
            yield f"Begin with a capital letter: {sentence[:40]}..."
        words = _WORD.findall(sentence)
        for first, second in pairwise(words):
            if first.lower() == second.lower():
                yield f"Write it once: {first} {second}"
            if first.lower() == "a" and second[0].lower() in "aeio":
                yield f"Write `an`: {first} {second}"


def _listen(request: ModelRequest) -> Tone:
    story = labelled_parts(request.text, _LABELS)["Story"]
    dark, bright = _count(story, _DARK), _count(story, _BRIGHT)
    return "negative" if dark > bright else "positive" if bright > dark else "neutral"


AUTHOR = FunctionModel(_draft, name="story-author")
CRITIC = FunctionModel(_criticise, name="story-critic")
REVISER = FunctionModel(_revise, name="story-reviser")
GRAMMARIAN = FunctionModel(_proofread, name="grammarian")
LISTENER = FunctionModel(_listen, name="tone-listener")


def _sentences(story: str) -> list[str]:
    return _SENTENCE.split(story.strip())


def _count(text: str, words: Collection[str]) -> int:
    return sum(1 for word in _WORD.findall(text) if word.lower() in words)


def _chosen(options: tuple[str, ...], by: str) -> str:
    """Choose one; the same text always chooses the same."""
    return options[crc32(by.encode()) % len(options)]
