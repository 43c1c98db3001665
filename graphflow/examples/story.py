"""A story is drafted, criticised and revised, checked twice at once, and written anew if its tone is negative.

::

    story_generator -> refine (critic -> reviser, up to 3 times) -> checks [grammar_check | tone_check]
                    -> tone negative? -> regenerate

It is here twice. `flow` says it with agents only: what happens next is a `ConditionalAgent` over the tone, which the checker
follows and the picture shows. `custom_flow` says it in Python, as a `BaseAgent` with its children in fields: the way to go
where the order of the steps is more than agents can say. Both give the same story for the same topic::

    graphflow run graphflow.examples.story:flow --input topic="a lighthouse that hums"
    graphflow run graphflow.examples.story:custom_flow --input topic="a funeral in the rain"

The second topic is a gloomy one: its story is written twice. The models are functions (`story_models`), so it works
offline; `--model gemini-2.5-flash` puts a language model in their place.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator

from graphflow.agents import BaseAgent, ConditionalAgent, LlmAgent, LoopAgent, ParallelAgent, SequentialAgent
from graphflow.agents.invocation_context import InvocationContext
from graphflow.conditions import key
from graphflow.events import Event
from graphflow.examples.story_models import AUTHOR, CRITIC, GRAMMARIAN, LISTENER, REVISER, Criticism, Tone
from graphflow.flow import Flow

OUTPUTS = {"story": str, "grammar": str, "tone": Tone}

story_generator = LlmAgent(
    name="story_generator",
    model=AUTHOR,
    description="Writes the first draft.",
    instruction=(
        "Write a story of three sentences about what the user names. If the last story was negative, write a cheerful one."
    ),
    prompt="Topic: {topic}",
    output_key="story",
)

critic = LlmAgent(
    name="critic",
    model=CRITIC,
    description="Says what could be better.",
    instruction=(
        "Criticise the story: give at most two pieces of advice, each on a line of its own. If it is good as it is, say "
        "so and advise nothing."
    ),
    prompt="Story:\n{story}",
    output_key="criticism",
    output_schema=Criticism,
)

reviser = LlmAgent(
    name="reviser",
    model=REVISER,
    description="Follows the advice.",
    instruction="Revise the story as the criticism advises; leave alone what it does not mention. Reply with the story.",
    prompt="Story:\n{story}\nCriticism:\n{criticism.advice}",
    output_key="story",
)

grammar_check = LlmAgent(
    name="grammar_check",
    model=GRAMMARIAN,
    description="Finds mistakes.",
    instruction="List the mistakes in grammar and spelling with their corrections, one a line.",
    prompt="Story:\n{story}",
    output_key="grammar",
)

tone_check = LlmAgent(
    name="tone_check",
    model=LISTENER,
    description="Judges the tone.",
    instruction="Say whether the tone of the story is positive, neutral or negative.",
    prompt="Story:\n{story}",
    output_key="tone",
    output_schema=Tone,
)

refine = LoopAgent(
    name="refine",
    sub_agents=[critic, reviser],
    max_iterations=3,
    until=key("criticism").field("verdict") == "good",
)

checks = ParallelAgent(name="checks", sub_agents=[grammar_check, tone_check])

regenerate = story_generator.clone(
    {"name": "regenerate", "prompt": "Topic: {topic}\nTone of the last story: {tone}", "description": "Starts anew."}
)

flow = Flow(
    SequentialAgent(
        name="story",
        sub_agents=[
            story_generator,
            refine,
            checks,
            ConditionalAgent(name="brighten", when=key("tone") == "negative", then=regenerate),
        ],
    ),
    inputs={"topic": str},
    outputs=OUTPUTS,
)


class StoryFlow(BaseAgent):
    """The same in Python: the generator runs once more if the story turns out gloomy.

    Attributes:
        generator: writes the draft; what it is told about the last story's tone is empty at first.
        refine: the loop of critic and reviser.
        checks: grammar and tone, side by side.
    """

    generator: LlmAgent
    refine: LoopAgent
    checks: ParallelAgent

    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        async for event in self.generator.run_async(ctx):
            yield event
        async for event in self.refine.run_async(ctx):
            yield event
        async for event in self.checks.run_async(ctx):
            yield event
        if ctx.session.state.get("tone") == "negative":
            async for event in self.generator.run_async(ctx):
                yield event


custom_flow = Flow(
    StoryFlow(
        name="story_flow",
        generator=story_generator.clone({"prompt": "Topic: {topic}\nTone of the last story: {tone?}"}),
        refine=refine.clone(),
        checks=checks.clone(),
    ),
    inputs={"topic": str},
    outputs=OUTPUTS,
)
