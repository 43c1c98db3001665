"""What a body is given: its view of the state and the facts of its execution.

`State` shows a task the keys of its contract as they were when it started, plus its own writes. Mutable values are copied
at first access, so a change in place writes nothing::

    state = State({"notes": ["a"]}.get, reads={"notes"}, writes={"draft"})
    state["notes"].append("b")      # changes the task's own copy only
    state["draft"] = "..."          # becomes part of the task's delta

What a body needs from the outside (a model's answer) comes through `Services`, which the runtime provides; this module
knows no scheduler.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from graphflow.errors import ContractViolation
from graphflow.events import EventActions
from graphflow.schema import MISSING, thaw

Mode = Literal["async", "inline", "thread"]


class State(MutableMapping[str, Any]):
    """A task's view of the state.

    Args:
        snapshot: key -> value at the start of the task.
        reads: keys the task may see; None means all.
        writes: keys the task may write; None means all.
        node: path of the task, for messages.
    """

    __slots__ = ("_copies", "_node", "_reads", "_snapshot", "_writes", "delta")

    def __init__(
        self,
        snapshot: Mapping[str, object],
        *,
        reads: Collection[str] | None = None,
        writes: Collection[str] | None = None,
        node: str = "",
    ) -> None:
        self._snapshot = snapshot
        self._reads = reads
        self._writes = writes
        self._node = node
        self._copies: dict[str, object] = {}
        self.delta: dict[str, object] = {}

    def read(self, key: str) -> object:
        """Give the task's own copy of a key's value, MISSING if it has none or the contract does not name it."""
        if key in self.delta:
            return self.delta[key]
        if key in self._copies:
            return self._copies[key]
        if self._reads is not None and key not in self._reads and (self._writes is None or key not in self._writes):
            return MISSING
        value = self._snapshot.get(key, MISSING)
        if value is not MISSING:
            value = self._copies[key] = thaw(value)
        return value

    def __getitem__(self, key: str) -> Any:
        value = self.read(key)
        if value is MISSING:
            known = key in self._snapshot
            why = "its contract does not name it: declare it in reads=" if known else "it has no value"
            raise KeyError(f"`{self._node}` reads `{key}`, but {why}")
        return value

    def __setitem__(self, key: str, value: object) -> None:
        if self._writes is not None and key not in self._writes:
            raise ContractViolation(
                f"`{self._node}` writes `{key}`, which its contract does not name; declare it in writes= or may_write=",
                node=self._node,
                key=key,
            )
        self.delta[key] = value

    def __delitem__(self, key: str) -> None:
        raise TypeError(f"`{self._node}` deletes `{key}`; keys cannot be deleted, write None instead")

    def __iter__(self) -> Iterator[str]:
        names = dict.fromkeys([*self._snapshot, *self.delta])
        return (name for name in names if self.read(name) is not MISSING)

    def __len__(self) -> int:
        return sum(1 for _ in self)


class Services(Protocol):
    """What the runtime does for a body."""

    async def generate(self, request: Any) -> Any:
        """Ask the model that the run uses for the body's node: a `ModelRequest` gives a `ModelReply`."""

    def emit(self, context: Context, data: Mapping[str, Any]) -> None:
        """Send progress to subscribers; it is not journaled."""


@dataclass(slots=True)
class Context:
    """The facts of one execution of one task.

    Attributes:
        state: the task's view of the state.
        node: path of the task.
        run_id: the run.
        branch: path of the enclosing parallel branch, "" outside of any.
        iterations: the 1-based iterations of the loops around, outermost first.
        attempt: 1-based attempt.
        deps: what `Flow.run(deps=)` was given.
        message: the run's message, None if it has none.
        actions: what the body asks for besides its writes.
        route: the way out that the body chooses; None means by what it returns or writes.
        services: the runtime's side.
    """

    state: State
    node: str
    run_id: str = ""
    branch: str = ""
    iterations: tuple[int, ...] = ()
    attempt: int = 1
    deps: Any = None
    message: str | None = None
    actions: EventActions = field(default_factory=EventActions)
    route: Any = None
    services: Services | None = field(default=None, repr=False)

    @property
    def iteration(self) -> int:
        """The iteration of the innermost loop around, from 1."""
        return self.iterations[-1] if self.iterations else 1

    @property
    def agent_name(self) -> str:
        """Name of the agent that runs."""
        return self.node.rpartition("/")[2].partition("#")[0]

    @property
    def idempotency_key(self) -> str:
        """The same for every attempt of this execution, different for every other; hand it to services with effects."""
        turns = "".join(f"[{number}]" for number in self.iterations)
        return f"{self.run_id}/{self.node}{turns}"

    def emit(self, data: Mapping[str, Any]) -> None:
        """Send progress to those who watch the run. It is not journaled and not part of the state."""
        if self.services is not None:
            self.services.emit(self, data)


class Body(Protocol):
    """What a task executes.

    Attributes:
        mode: how `call` may be run: awaited, called at once, or called in a worker thread.
    """

    mode: Mode

    @property
    def call(self) -> Callable[[Context], Awaitable[Mapping[str, object]] | Mapping[str, object]]:
        """Run once and give the writes, key -> value."""
