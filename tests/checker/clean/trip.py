"""A trip is planned in Python: agents in fields, one of them asked again until the budget holds, the others as needed.

::

    wishes -> planner (custom: ideas -> (route -> cost)* -> weather? -> hotels) -> budget -> letter
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

from pydantic import BaseModel

from graphflow import (
    BaseAgent,
    ConditionalAgent,
    Context,
    Event,
    EventActions,
    Flow,
    LlmAgent,
    ParallelAgent,
    SequentialAgent,
    agent,
    key,
)


class Wishes(BaseModel):
    city: str
    days: int
    budget: float
    outdoors: bool


wishes = LlmAgent(
    name="wishes",
    instruction=(
        "Read what the traveller wants. The budget is for everybody and everything, in EUR.\n"
        'Example: {"city": "Porto", "days": 4, "budget": 900, "outdoors": true}'
    ),
    prompt="{request}",
    output_key="wishes",
    output_schema=Wishes,
)
ideas = LlmAgent(
    name="ideas",
    instruction="Name ten things to do in the city, with how long each takes (h) and what it costs (EUR per person).",
    prompt="{wishes.city}, {wishes.days} days",
)
route = LlmAgent(
    name="route",
    instruction=(
        "Order the ideas into days of at most 8 h each; leave out what does not fit. If an earlier route was "
        "too expensive, "
        "drop its most expensive part first."
    ),
    prompt="Days: {wishes.days}\nEarlier route and why not:\n{complaint?}",
    output_key="route",
)
cost = LlmAgent(
    name="cost",
    instruction=(
        "Add up what the route costs, in EUR, tickets and local transport included. Reply with the number alone."
    ),
    prompt="{route?}",
    output_schema=float,
)
weather = LlmAgent(
    name="weather",
    instruction="Say what the weather is usually like, in °C and mm of rain per month, and what to pack.",
    prompt="{wishes.city}",
)
hotels = LlmAgent(
    name="hotels",
    instruction=(
        "Suggest three places to stay, cheap, middling and lovely, each within 2 km of the first stop of the route."
    ),
    prompt="{wishes.city}",
    output_key="hotels",
)
food = hotels.clone(
    {"name": "food", "instruction": "Suggest three places to eat where tourists do not go.", "output_key": "food"}
)


class Planner(BaseAgent):
    """Asks for routes until one is within the budget, three times at most."""

    ideas: LlmAgent
    route: LlmAgent
    cost: LlmAgent
    weather: LlmAgent
    comforts: ParallelAgent
    writes: Any = ("spent", "plan")
    may_write: Any = ("complaint",)

    async def run(self, ctx: Context) -> AsyncGenerator[Event, None]:
        wanted = ctx.state["wishes"]
        thoughts = await ctx.run(self.ideas)
        spent, plan = 0.0, ""
        for _ in range(3):
            plan = await ctx.run(self.route)
            spent = await ctx.run(self.cost)
            if spent <= wanted.budget:
                break
            yield Event(author=self.name, actions=EventActions(state_delta={"complaint": f"{plan}: {spent} EUR"}))
        notes = [await ctx.run(self.weather)] if wanted.outdoors else []
        async for event in ctx.run(self.comforts):
            yield event
        text = "\n".join([thoughts, plan, *notes])
        yield Event(author=self.name, actions=EventActions(state_delta={"spent": spent, "plan": text}))


planner = Planner(
    name="planner",
    ideas=ideas,
    route=route,
    cost=cost,
    weather=weather,
    comforts=ParallelAgent(name="comforts", sub_agents=[hotels, food]),
    reads={"wishes": Wishes},
)


@agent(writes="left", blocking=False)
def budget(wishes: Wishes, spent: float) -> float:
    """What is left for ice cream."""
    return wishes.budget - spent


letter = LlmAgent(
    name="letter",
    instruction="Write the plan as a letter to a friend, day by day. Mention where to stay and eat if that is known.",
    prompt="{plan}\nTo stay: {hotels?}\nTo eat: {food?}",
    output_key="letter",
)
warn = LlmAgent(
    name="warn",
    instruction="Say kindly that the money will not do, by how much (EUR), and what could be left out.",
    prompt="{plan}\nMissing: {left}",
    output_key="letter",
)

flow = Flow(
    SequentialAgent(
        name="trip",
        sub_agents=[
            wishes,
            planner,
            budget,
            ConditionalAgent(name="affordable", when=key("left") >= 0, then=letter, otherwise=warn),
        ],
    ),
    inputs={"request": str},
    outputs=["letter"],
    model="gemini-2.5-flash",
)
INPUTS = {"request": "four days in Porto, 900 EUR"}
REPLIES = {
    "wishes": {"city": "Porto", "days": 4, "budget": 900, "outdoors": True},
    "cost": ["1000", "800"],
    "*": "text",
}
