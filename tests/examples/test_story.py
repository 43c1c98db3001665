"""`graphflow.examples.story`: the same story from the graph and from the Python code, whatever it is about."""

from __future__ import annotations

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphflow.events import Event
from graphflow.examples.story import custom_flow, flow
from graphflow.examples.story_models import AUTHOR, CRITIC, GRAMMARIAN, LISTENER, REVISER, Criticism
from graphflow.flow import Flow
from graphflow.models import FunctionModel, ScriptedModel
from graphflow.models.base import Message, ModelRequest
from graphflow.runtime.result import Result

BOTH = pytest.mark.parametrize("version", [flow, custom_flow], ids=["agents", "custom"])
GLOOMY = "a funeral in the rain"
CHEERFUL = "a lighthouse that hums"


def stages(result: Result) -> list[str]:
    """Which stages ran, in order of their start; those that run side by side in the order of their names."""
    names = [event.author for event in result.events if event.kind == "task_started" and event.author != "story_flow"]
    at = names.index("grammar_check") if "grammar_check" in names else names.index("tone_check")
    at = min(at, names.index("tone_check"))
    return [*names[:at], *sorted(names[at : at + 2]), *names[at + 2 :]]


@BOTH
def test_only_its_bound_is_noted(version: Flow) -> None:
    """A note, which is right: a story that used up its rounds is an output too."""
    assert [(found.code, found.severity) for found in version.check()] == [("GF513", "info")]


@BOTH
def test_a_story(version: Flow) -> None:
    """Drafted, revised until the critic is content, checked, and left alone as it is not negative."""
    result = version.run_sync({"topic": CHEERFUL})
    assert result.status == "completed"
    assert CHEERFUL in result.outputs["story"]
    assert result.outputs["tone"] in ("positive", "neutral")
    assert "somebody" not in result.outputs["story"]
    rounds = ["critic", "reviser"] * 3
    assert stages(result) == ["story_generator", *rounds, "grammar_check", "tone_check"]


@BOTH
def test_a_negative_story_is_written_anew(version: Flow) -> None:
    """The checks found it negative, so the generator ran once more, was told so, and its story is the outcome."""
    asked: list[ModelRequest] = []

    def author(request: ModelRequest) -> str:
        asked.append(request)
        return f"story {len(asked)}"

    result = version.run_sync(
        {"topic": GLOOMY},
        models={
            "*": FunctionModel(author),
            "critic": CRITIC,
            "reviser": ScriptedModel("A cold grave."),
            "grammar_check": GRAMMARIAN,
            "tone_check": LISTENER,
        },
    )
    assert result.outputs == {"story": "story 2", "grammar": "Nothing to correct.", "tone": "negative"}
    first, second = (request.text for request in asked)
    assert "negative" not in first
    assert second == f"Topic: {GLOOMY}\nTone of the last story: negative"
    assert result.events[-2].node in ("story/regenerate", "story/brighten/regenerate", "story_flow#code")


def test_the_arm_taken() -> None:
    """In the graph the decision is a branch, and it says which arm it took."""
    for topic, arm in ((CHEERFUL, "otherwise"), (GLOOMY, "then")):
        taken = [event for event in flow.run_sync({"topic": topic}).events if event.kind == "branch"]
        assert [(event.author, event.data["case"]) for event in taken] == [("brighten", arm)]


@BOTH
def test_the_loop_is_bounded(version: Flow) -> None:
    """A critic that is never content does not hold up the story."""
    never = ScriptedModel({"*": {"verdict": "revise", "advice": "Once more."}})
    result = version.run_sync({"topic": CHEERFUL}, models={"critic": never})
    assert len(never.calls) == 3
    assert [event.data["exit"] for event in result.events if event.kind == "loop"] == [None, None, "max_iterations"]


@BOTH
def test_a_failing_check_fails_the_story(version: Flow) -> None:
    """No story without its checks: the failure comes out of the custom agent's code too."""
    events: list[Event] = []

    async def watch(event: Event) -> None:
        events.append(event)

    with pytest.raises(Exception, match="no reply") as raised:
        version.run_sync({"topic": "x"}, models={"tone_check": ScriptedModel({"nobody": ""})}, on_event=watch)
    assert "tone_check" in str(raised.value)
    assert [event.kind for event in events if event.terminal] == ["failed"]


WORDS = st.sampled_from(
    ["a", "umbrella", "old", "old", "very", "grave", "song", "somebody", "Story:", "Zoë", "\n", "."]
)
TOPICS = st.one_of(st.text(max_size=40), st.lists(WORDS, max_size=8).map(" ".join))


@settings(max_examples=25, deadline=None)
@given(TOPICS)
def test_both_tell_the_same(topic: str) -> None:
    """Whatever the topic: no failure, and the same outcome from both."""
    outcomes = [version.run_sync({"topic": topic}) for version in (flow, custom_flow)]
    assert outcomes[0].outputs == outcomes[1].outputs
    assert stages(outcomes[0]) == [
        name if name != "story_generator" or at == 0 else "regenerate" for at, name in enumerate(stages(outcomes[1]))
    ]


def ask(model: FunctionModel, text: str) -> str:
    """Send one user turn and give the answer."""
    request = ModelRequest("", "story/node", "node", None, (Message("user", text),))
    return anyio.run(model.generate, request).text


@pytest.mark.parametrize(
    ("story", "tone"),
    [
        ("The sun shone on the wedding.", "positive"),
        ("The grave was cold, and the sun was gone.", "negative"),
        ("He took the train.", "neutral"),
        ("", "neutral"),
    ],
)
def test_the_tone_is_heard(story: str, tone: str) -> None:
    """Dark words against bright ones."""
    assert ask(LISTENER, f"Story:\n{story}") == tone


@pytest.mark.parametrize(
    ("story", "mistake"),
    [
        ("He he laughed.", "Write it once: He he"),
        ("It was a owl.", "Write `an`: a owl"),
        ("It rained. then it stopped.", "Begin with a capital letter: then it stopped...."),
        ("It was an owl.", "Nothing to correct."),
    ],
)
def test_mistakes_are_found(story: str, mistake: str) -> None:
    """And nothing where there are none."""
    assert ask(GRAMMARIAN, f"Story:\n{story}") == mistake


@given(st.lists(st.sampled_from(["somebody", "very", "tired", "went", "home.", "Then"]), min_size=1, max_size=12))
def test_advice_that_is_followed_is_not_given_again(words: list[str]) -> None:
    """Critic and reviser come to an end with each other, two pieces of advice at a time."""
    story = " ".join(words)
    for _ in range(3):
        criticism = Criticism.model_validate_json(ask(CRITIC, f"Story:\n{story}"))
        if criticism.verdict == "good":
            return
        assert 1 <= len(criticism.advice.splitlines()) <= 2
        story = ask(REVISER, f"Story:\n{story}\nCriticism:\n{criticism.advice}")
    assert Criticism.model_validate_json(ask(CRITIC, f"Story:\n{story}")).verdict == "good"


def test_the_author_minds_the_tone() -> None:
    """A gloomy topic gives a gloomy story, unless the last one was."""
    assert ask(LISTENER, f"Story:\n{ask(AUTHOR, 'Topic: a grave')}") == "negative"
    again = ask(AUTHOR, "Topic: a grave\nTone of the last story: negative")
    assert again != ask(AUTHOR, "Topic: a grave")
