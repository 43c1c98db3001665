"""Where a driver finds what has happened since it last looked: events for the machine, and events for subscribers.

::

    mailbox.post(Succeeded(ticket=1, delta={}))     # from a task
    await mailbox.wait()                            # the driver, until there is something

Task bodies may be in worker threads: `tell` may be called from there, everything else from the event loop only.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from threading import get_ident

import anyio
from anyio import from_thread

from graphflow.events import Event
from graphflow.runtime.messages import Event as MachineEvent


@dataclass(slots=True)
class Mailbox:
    """Make one per run, in its event loop.

    Attributes:
        events: what the machine is to be told, the first first.
        unsent: what subscribers are to be told, the first first.
    """

    events: deque[MachineEvent] = field(default_factory=deque)
    unsent: deque[Event] = field(default_factory=deque)
    _bell: anyio.Event = field(default_factory=anyio.Event)
    _thread: int = field(default_factory=get_ident)

    def post(self, event: MachineEvent) -> None:
        """Leave an event for the machine."""
        self.events.append(event)
        self._bell.set()

    def tell(self, event: Event) -> None:
        """Leave an event for subscribers, and wake the driver so that it is sent soon."""
        self.unsent.append(event)
        if get_ident() == self._thread:
            self._bell.set()
        else:
            from_thread.run_sync(self.ring)

    async def wait(self) -> None:
        """Wait until something was left."""
        await self._bell.wait()
        self._bell = anyio.Event()

    def ring(self) -> None:
        """Wake the driver."""
        self._bell.set()
