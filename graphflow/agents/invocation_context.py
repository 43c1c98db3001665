"""The name under which custom agents know their context; it is the one that every body gets.

::

    from graphflow.agents.invocation_context import InvocationContext

    class Poller(BaseAgent):
        async def _run_async_impl(self, ctx: InvocationContext): ...

It defines nothing of its own.
"""

from __future__ import annotations

from graphflow.context import Context

InvocationContext = Context

__all__ = ["InvocationContext"]
