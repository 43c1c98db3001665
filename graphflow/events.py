"""What subscribers of a run see, and what a body asks for besides its writes.

`Event` is for people and programs that watch; it never feeds back into the run (the journal does that)::

    async for event in flow.stream({"topic": "tides"}):
        if event.kind == "task_committed":
            print(event.node, event.actions.state_delta)

The code of a custom agent makes events of its own, which have no node: what they ask for is done when they are yielded::

    yield Event(author=self.name, actions=EventActions(state_delta={"status": "done"}, escalate=True))

This module knows nothing of graphs or agents.
"""

from __future__ import annotations

from dataclasses import InitVar, dataclass, field
from typing import Any, Literal

EventKind = Literal[
    "run_started",
    "task_started",
    "task_committed",
    "task_failed",
    "branch",
    "loop",
    "progress",
    "asked",
    "completed",
    "halted",
    "failed",
    "cancelled",
    "paused",
]
TERMINAL: frozenset[str] = frozenset({"completed", "halted", "failed", "cancelled", "paused"})


@dataclass(slots=True)
class EventActions:
    """What a body asks for.

    Attributes:
        state_delta: key -> value written.
        escalate: end the nearest enclosing loop.
        halt: a reason to halt the whole run; None means go on.
    """

    state_delta: dict[str, Any] = field(default_factory=dict)
    escalate: bool = False
    halt: str | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened in a run.

    Attributes:
        kind: what happened.
        run_id: the run.
        author: name of the agent concerned; "" for the run itself.
        node: path of the node concerned; "" for the run itself.
        branch: path of the enclosing parallel branch, "" outside of any.
        iterations: the 1-based iterations of the loops around the node, outermost first.
        attempt: 1-based attempt of the task.
        actions: writes (for display) and requests of a committed task.
        data: what else there is to say: a case taken, an exit reason, an error, usage, seconds.
        time: seconds since the run started.
        output: value that the agent gives to its caller.
        route: the way out that the agent chooses; None means none.
        invocation_id: another name of `run_id`.
    """

    kind: EventKind = "progress"
    run_id: str = ""
    author: str = ""
    node: str = ""
    branch: str = ""
    iterations: tuple[int, ...] = ()
    attempt: int = 1
    actions: EventActions = field(default_factory=EventActions)
    data: dict[str, Any] = field(default_factory=dict)
    time: float = 0.0
    output: Any = None
    route: Any = None
    invocation_id: InitVar[str] = ""

    def __post_init__(self, invocation_id: str) -> None:
        if invocation_id and not self.run_id:
            object.__setattr__(self, "run_id", invocation_id)

    @property
    def iteration(self) -> int:
        """The iteration of the innermost loop around the node, from 1."""
        return self.iterations[-1] if self.iterations else 1

    @property
    def terminal(self) -> bool:
        """Whether this is the one last event of the run, or of this part of it (`paused`)."""
        return self.kind in TERMINAL


# A parameter and a property of one name cannot both stand in the body of a data class.
Event.invocation_id = property(lambda event: event.run_id)  # type: ignore[attr-defined]
