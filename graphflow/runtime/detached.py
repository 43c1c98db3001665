"""A run beside the code that watches it, for iterators that may be left at any point.

A task group must not stay open across a `yield`: an iterator that is left without being closed is finalised in another task,
and closing the group there would cancel the wrong one. So the run of a stream is a task of the event loop itself, with a
cancel scope that may be cancelled from anywhere. This is the only place that starts a task outside of a task group.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from contextvars import copy_context

import anyio
import sniffio


class Detached:
    """A function that runs on its own until it ends or is cancelled.

    Args:
        func: what to run; it must not raise.
    """

    def __init__(self, func: Callable[[], Awaitable[None]]) -> None:
        self._func = func
        self._scope = anyio.CancelScope()
        self._ended = anyio.Event()
        if sniffio.current_async_library() == "trio":
            sys.modules["trio"].lowlevel.spawn_system_task(self._run, context=copy_context())
        else:
            self._task = asyncio.get_running_loop().create_task(self._run())

    async def _run(self) -> None:
        try:
            with self._scope:
                await self._func()
        finally:
            self._ended.set()

    def cancel(self) -> None:
        """Ask it to end; may be called from any task of the event loop."""
        self._scope.cancel()

    async def ended(self) -> None:
        """Wait until it has ended, even if the waiting task is cancelled."""
        with anyio.CancelScope(shield=True):
            await self._ended.wait()
