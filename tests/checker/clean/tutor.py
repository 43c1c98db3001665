"""A tutor who remembers: the level and the mistakes of a pupil live on in the session, the name belongs to the user.

::

    greet -> recall (first lesson? place them) -> plan -> lesson (task -> [solve | hint] -> mark)* -> notes -> homework
"""

from __future__ import annotations

from typing import Annotated, Literal

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

Level = Literal["beginner", "middle", "advanced"]


class Mark(BaseModel):
    right: bool
    mistake: str | None = None


greet = LlmAgent(
    name="greet",
    instruction=(
        "Greet the pupil in one sentence, by name if you know it. Never mention marks in a greeting. If there "
        "was a lesson "
        "before, say what it was about."
    ),
    prompt="Pupil: {user:name?}\nLast lesson: {last_topic?}",
    output_key="greeting",
)
place = LlmAgent(
    name="place",
    instruction="Guess the level from what the pupil asks for: beginner, middle or advanced. When in doubt, go lower.",
    prompt="{wish}",
    output_key="level",
    output_schema=Level,
)
recall = ConditionalAgent(name="recall", when=~key("level").exists(), then=place)
plan = LlmAgent(
    name="plan",
    instruction=(
        "Plan a lesson of 20 min with one subject. Prefer what the pupil got wrong before, and stay within the level.\n"
        'Reply with the subject alone, for example "fractions with different denominators".'
    ),
    prompt="Wish: {wish}\nLevel: {level}\nMistakes so far: {mistakes}",
    output_key="subject",
)
pose = LlmAgent(
    name="pose",
    instruction="Set one task about the subject that takes 2 min. If the last answer was wrong, set an easier one.",
    prompt="{subject} ({level})\nLast answer: {mark?}",
    output_key="task",
)
solve = LlmAgent(
    name="solve",
    instruction="Solve the task step by step; a pupil will never see this.",
    prompt="{task}",
    output_key="solution",
)
hint = LlmAgent(
    name="hint",
    instruction="Write a hint that helps without giving the answer away. One sentence.",
    prompt="{task}",
    output_key="hint",
)
pupil = LlmAgent(
    name="pupil",
    instruction="You play the pupil of this level. You make about one mistake in three tasks.",
    prompt="Level: {level}\nTask: {task}\nHint: {hint}",
    output_key="attempt",
)
mark = LlmAgent(
    name="mark",
    instruction='Mark the attempt: {"right": false, "mistake": "forgot the minus sign"}; no mistake if it is right.',
    prompt="Task: {task}\nSolution: {solution}\nAttempt: {attempt}",
    output_key="mark",
    output_schema=Mark,
)


@agent(writes={"mistakes": str, "done": int}, blocking=False)
def remember(mark: Mark) -> dict[str, object]:
    """Notes the mistake, and counts the task."""
    return {"mistakes": mark.mistake or "none", "done": 1}


lesson = LoopAgent(
    name="lesson",
    sub_agents=[pose, ParallelAgent(name="prepare", sub_agents=[solve, hint]), pupil, mark, remember],
    until=key("mark").field("right"),
    max_iterations=5,
    exit_key="lesson_ended",
)


@agent(writes={"level": Level, "last_topic": str, "user:lessons": int}, blocking=False)
def advance(
    level: Level,
    subject: str,
    lesson_ended: Literal["until", "escalate", "max_iterations"],
    lessons: Annotated[int, Key("user:lessons")] = 0,
) -> dict[str, object]:
    """Who gets there in time moves up."""
    higher: dict[str, str] = {"beginner": "middle", "middle": "advanced", "advanced": "advanced"}
    reached = lesson_ended == "until"
    return {"level": higher[level] if reached else level, "last_topic": subject, "user:lessons": lessons + 1}


homework = LlmAgent(
    name="homework",
    instruction="Set three tasks as homework, the last one a little too hard. Say how long each takes (min).",
    prompt="{greeting}\nSubject: {subject}\nLevel now: {level}\nDone today: {done}",
    output_key="homework",
)

flow = Flow(
    SequentialAgent(name="tutor", sub_agents=[greet, recall, plan, lesson, advance, homework]),
    inputs={"wish": str, "level?": Level, "last_topic?": str, "user:name?": str},
    outputs=["homework"],
    keys=[
        Key("mistakes", list[str], default=[], merge=Merge.append, persist=True),
        Key("done", int, default=0, merge=Merge.sum),
        Key("level", Level, persist=True),
        Key("last_topic", str, persist=True),
    ],
    model="gemini-2.5-flash",
)
INPUTS = {"wish": "fractions"}
REPLIES = {
    "place": "beginner",
    "mark": [{"right": False, "mistake": "m"}, {"right": True}],
    "*": "text",
}
