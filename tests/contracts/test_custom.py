"""`graphflow.contracts.source.code_facts`: what the code of a custom agent does, read off its source."""

from __future__ import annotations

from random import shuffle

from graphflow import Event, EventActions
from graphflow.contracts.source import SourceFacts, code_facts

STATUS = "status"


def facts(owner: type) -> SourceFacts:
    return code_facts(owner, "run")


def test_events_that_are_written_out() -> None:
    """Literal keys, constants and `dict(...)` are writes; those on every way are sure."""

    class Owner:
        async def run(self, ctx):
            yield Event(author="a", actions=EventActions(state_delta={"first": 1, STATUS: 2}))
            if ctx.state["go"]:
                yield Event(actions=EventActions(state_delta=dict(second=1)))  # noqa: C408 - as users may write it
            delta = {"third": 3}
            actions = EventActions(state_delta=delta)
            yield Event(actions=actions)

    found = facts(Owner)

    assert list(found.writes) == ["first", "status", "second", "third"]
    assert found.reads == {"go": False}
    assert not found.open
    assert {"first", "status", "third"} == found.sure


def test_requests() -> None:
    """What an event asks for is asked for, unless it is a constant that asks for nothing."""

    class Asks:
        async def run(self, ctx):
            yield Event(actions=EventActions(escalate=ctx.state["done"]), route="left")
            yield Event(actions=EventActions(halt="enough"), route="right")

    class AsksNothing:
        async def run(self, ctx):
            yield Event(actions=EventActions(escalate=False, halt=None))

    class AsksLater:
        async def run(self, ctx):
            event = Event()
            event.actions.escalate = True
            yield event

    asks, nothing, later = facts(Asks), facts(AsksNothing), facts(AsksLater)

    assert (asks.escalates, asks.halts, asks.routes) == (True, True, ["left", "right"])
    assert (nothing.escalates, nothing.halts, nothing.open) == (False, False, ())
    assert (later.escalates, later.open) == (True, ())


def test_what_is_made_elsewhere_is_open() -> None:
    """An event, actions or a delta that are not written out may write anything."""

    class Made:
        async def run(self, ctx):
            yield self.make()

    class Actions:
        async def run(self, ctx):
            yield Event(actions=self.actions())

    class Delta:
        async def run(self, ctx):
            yield Event(actions=EventActions(state_delta=self.delta()))

    class Parts:
        async def run(self, ctx):
            yield Event(**self.parts())

    class Changed:
        async def run(self, ctx):
            delta = {"a": 1}
            shuffle(delta)
            yield Event(actions=EventActions(state_delta=delta))

    class HandedOn:
        async def run(self, ctx):
            yield Event(actions=EventActions(state_delta={"a": print(ctx)}))

    for owner in (Made, Actions, Delta, Parts, Changed, HandedOn):
        assert facts(owner).open, owner.__name__


def test_children() -> None:
    """Running a child says nothing about the state; yielding its events on passes them on."""

    class Runs:
        async def run(self, ctx):
            await ctx.run(self.child)
            async for event in self.child.run_async(ctx):
                print(event)

    class Passes:
        async def run(self, ctx):
            async for event in ctx.run(self.child):
                yield event

    assert not facts(Runs).open
    assert not facts(Runs).forwards
    assert not facts(Passes).open
    assert facts(Passes).forwards


def test_methods_that_are_handed_the_context() -> None:
    """Their reads and writes are the agent's; what they surely write is written where they are awaited."""

    class Owner:
        async def part(self, note, ctx):
            ctx.state["note"] = note
            if note:
                ctx.state["maybe"] = ctx.state["source"]

        async def events(self, ctx):
            yield Event(actions=EventActions(escalate=True))

        async def again(self, ctx):
            await self.again(ctx)

        async def run(self, ctx):
            await self.part(ctx.node, ctx)
            await self.again(ctx)
            async for event in self.events(ctx):
                yield event

    found = facts(Owner)

    assert found.reads == {"source": False}
    assert list(found.writes) == ["note", "maybe"]
    assert found.sure == {"note"}
    assert found.escalates
    assert not found.open


def test_the_session_is_another_way_to_the_state() -> None:
    """`ctx.session.state` is the state."""

    class Owner:
        async def run(self, ctx):
            if "story" not in ctx.session.state or not ctx.session.state["story"]:
                return
            ctx.session.state["tone"] = ctx.session.state.get("mood")

    found = facts(Owner)

    assert found.reads == {"story": True, "mood": True}
    assert list(found.writes) == ["tone"]
    assert not found.sure
