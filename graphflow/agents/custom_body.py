"""What a custom agent's task executes: the code that its author wrote, event by event.

An event that the code made does what it asks for when it is yielded; one that came from a child only lets an escalation
out::

    yield Event(author="poller", actions=EventActions(state_delta={"status": "done"}, escalate=True))

It knows the context, never the runtime behind it.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from graphflow.context import Context, Mode
from graphflow.events import Event

if TYPE_CHECKING:
    from graphflow.agents.base import Agent


@dataclass(frozen=True, slots=True)
class CustomBody:
    """Runs the code of a custom agent.

    Attributes:
        agent: the agent.
        method: its method that is the code; "" if it has none.
        node: path of the task.
        children: identity of a child -> label of the edge that leads to it.
    """

    agent: Agent
    method: str
    node: str
    children: Mapping[int, str]
    mode: Mode = "async"

    @property
    def call(self) -> Callable[[Context], Awaitable[Mapping[str, object]]]:
        """Run once and give the writes, key -> value."""
        return self._run

    async def _run(self, ctx: Context) -> Mapping[str, object]:
        ctx.calls = self.children
        started = getattr(self.agent, self.method)(ctx) if self.method else None
        if isinstance(started, AsyncIterator):
            await self._obey(ctx, started)
        elif inspect.isawaitable(started):
            ctx.output = await started
        elif started is not None:
            raise TypeError(
                f"`{self.node}`: `{self.method}` gave {type(started).__name__}; write it as `async def {self.method}`, "
                "yielding events or returning a value"
            )
        return dict(ctx.state.delta)

    async def _obey(self, ctx: Context, events: AsyncIterator[Any]) -> None:
        async with aclosing(_closable(events)) as ended:
            async for event in ended:
                await self._take(ctx, event)
                if ctx.actions.halt is not None:
                    return

    async def _take(self, ctx: Context, event: object) -> None:
        if not isinstance(event, Event):
            raise TypeError(f"`{self.node}` yielded {type(event).__name__}; it yields Event(...)")
        ctx.actions.escalate |= event.actions.escalate
        if event.node:
            return
        if event.actions.halt is not None:
            ctx.actions.halt = event.actions.halt
        if event.route is not None:
            ctx.route = event.route
        if event.output is not None:
            ctx.output = event.output
        if event.actions.state_delta:
            await self._write(ctx, event.actions.state_delta)

    async def _write(self, ctx: Context, delta: Mapping[str, object]) -> None:
        if ctx.services is None:
            ctx.state.update(delta)
        else:
            await ctx.services.overlay(ctx, delta)


async def _closable(events: AsyncIterator[Any]) -> AsyncGenerator[Any, None]:
    """Give an iterator's items; it is closed, where it can be, as soon as nobody asks for more."""
    try:
        async for event in events:
            yield event
    finally:
        close = getattr(events, "aclose", None)
        if close is not None:
            await close()
