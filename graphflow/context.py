"""What a body is given: its view of the state and the facts of its execution.

`State` shows a task the keys of its contract as they were when it started, plus its own writes. Mutable values are copied
at first access, so a change in place writes nothing::

    state = State({"notes": ["a"]}.get, reads={"notes"}, writes={"draft"})
    state["notes"].append("b")      # changes the task's own copy only
    state["draft"] = "..."          # becomes part of the task's delta

What a body needs from the outside (a model's answer, a person's, the run of a child) comes through `Services`, which the
runtime provides; this module knows no scheduler.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Generator, Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Protocol
from uuid import UUID

from graphflow.errors import ContractViolation, UsageError
from graphflow.events import Event, EventActions
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

    def renew(self, snapshot: Mapping[str, object]) -> None:
        """Show another state from now on; what was written stays."""
        self._snapshot = snapshot
        self._copies.clear()

    def __delitem__(self, key: str) -> None:
        raise TypeError(f"`{self._node}` deletes `{key}`; keys cannot be deleted, write None instead")

    def __iter__(self) -> Iterator[str]:
        names = dict.fromkeys([*self._snapshot, *self.delta])
        return (name for name in names if self.read(name) is not MISSING)

    def __len__(self) -> int:
        return sum(1 for _ in self)


class Running(Protocol):
    """A child that a custom agent has started."""

    async def result(self) -> Any:
        """Wait for the child's end and give its output; raises what the child failed with."""

    def events(self) -> AsyncIterator[Event]:
        """Give the child's events until its end; raises what the child failed with."""


class Services(Protocol):
    """What the runtime does for a body."""

    async def generate(self, request: Any) -> Any:
        """Ask the model that the run uses for the body's node: a `ModelRequest` gives a `ModelReply`."""

    def emit(self, context: Context, data: Mapping[str, Any]) -> None:
        """Send progress to subscribers; it is not journaled."""

    def start_call(self, context: Context, label: str) -> Running:
        """Start the child of a custom agent to which the edge with this label leads."""

    async def ask(
        self,
        context: Context,
        prompt: str,
        schema: object,
        timeout: float | None,  # noqa: ASYNC109 - how long a person has, not how long the call may take
        default: object,
    ) -> object:
        """Give a person's answer; the run pauses until there is one."""

    async def step(self, context: Context, name: str, func: Callable[..., object], args: tuple[object, ...]) -> object:
        """Call a function, plain or async, and journal what it gives; in a resumed body give what the journal has."""

    async def once(self, context: Context, name: Literal["now", "random", "uuid"]) -> Any:
        """Give the time (as ISO text), a random number or a new identity (as text), as a step."""

    async def overlay(self, context: Context, delta: Mapping[str, object]) -> None:
        """Let the children that a custom agent starts from now on, and its own state, see these writes."""


class Call:
    """A child of a custom agent that is to run: await it for its output, or iterate over its events. It starts then.

    Args:
        services: the runtime's side.
        context: the context of the custom agent.
        label: which child.
    """

    __slots__ = ("_context", "_label", "_services")

    def __init__(self, services: Services, context: Context, label: str) -> None:
        self._services = services
        self._context = context
        self._label = label

    def __await__(self) -> Generator[Any, Any, Any]:
        return self._services.start_call(self._context, self._label).result().__await__()

    def __aiter__(self) -> AsyncIterator[Event]:
        return self._services.start_call(self._context, self._label).events()


@dataclass(frozen=True, slots=True)
class Session:
    """What a body sees of the conversation it belongs to.

    Attributes:
        state: the task's view of the state, the same as the context's.
    """

    state: State


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
        output: the value that the body gives to its caller and to the next node of a `Workflow`.
        turns: iterations, indexes in maps and calls around, outermost first: with the node they name the execution.
        calls: identity of a child of a custom agent -> label of the edge that leads to it.
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
    output: Any = None
    turns: tuple[int, ...] = ()
    calls: Mapping[int, str] = field(default_factory=dict, repr=False)
    services: Services | None = field(default=None, repr=False)

    @property
    def iteration(self) -> int:
        """The iteration of the innermost loop around, from 1."""
        return self.iterations[-1] if self.iterations else 1

    @property
    def session(self) -> Session:
        """The conversation; its state is the task's view of the state."""
        return Session(self.state)

    @property
    def invocation_id(self) -> str:
        """The run, as it is called elsewhere."""
        return self.run_id

    @property
    def agent_name(self) -> str:
        """Name of the agent that runs."""
        return self.node.rpartition("/")[2].partition("#")[0]

    @property
    def idempotency_key(self) -> str:
        """The same for every attempt of this execution, different for every other; hand it to services with effects."""
        turns = "".join(f"[{number}]" for number in self.turns)
        return f"{self.run_id}/{self.node}{turns}"

    def emit(self, data: Mapping[str, Any]) -> None:
        """Send progress to those who watch the run. It is not journaled and not part of the state."""
        if self.services is not None:
            self.services.emit(self, data)

    def run(self, child: Any) -> Call:
        """Run a child of the custom agent; each call runs it once more.

        Args:
            child: an agent that the custom agent holds in a field or in `sub_agents`.

        Returns:
            `await` it for the child's output, or iterate over its events with `async for`.

        Raises:
            UsageError: it is no child of the agent.
        """
        label = self.calls.get(id(child))
        if label is None:
            name = getattr(child, "name", child)
            raise UsageError(
                f"`{self.node}` runs `{name}`, which is no child of it; hand it over as a field or in sub_agents"
            )
        return Call(self._served(), self, label)

    async def ask(
        self,
        prompt: str,
        schema: object = str,
        timeout: float | None = None,  # noqa: ASYNC109 - as above
        default: object = None,
    ) -> Any:
        """Ask a person. The run pauses when nothing else can go on, and the body runs again from its top when answered.

        Args:
            prompt: the question.
            schema: type of the answer.
            timeout: seconds that the person has; None means any time.
            default: the answer when they have passed.
        """
        return await self._served().ask(self, prompt, schema, timeout, default)

    async def step(self, name: str, func: Callable[..., Any], *args: Any) -> Any:
        """Call a function and journal what it gives: a body that runs again gets that, and the function is not called again.

        Args:
            name: what the step is called in the journal.
            func: a plain or async function.
            *args: what it is called with.

        Returns:
            What the function gives; JSON has to be able to hold it.
        """
        return await self._served().step(self, name, func, args)

    async def now(self) -> datetime:
        """The time, journaled: a body that runs again gets the same."""
        return datetime.fromisoformat(await self._served().once(self, "now"))

    async def random(self) -> float:
        """A random number from 0 to 1 (exclusive), journaled."""
        return float(await self._served().once(self, "random"))

    async def uuid(self) -> UUID:
        """A new identity, journaled."""
        return UUID(await self._served().once(self, "uuid"))

    def _served(self) -> Services:
        if self.services is None:
            raise UsageError(f"`{self.node}` was called outside of a run, where nobody answers")
        return self.services


class Body(Protocol):
    """What a task executes.

    Attributes:
        mode: how `call` may be run: awaited, called at once, or called in a worker thread.
    """

    mode: Mode

    @property
    def call(self) -> Callable[[Context], Awaitable[Mapping[str, object]] | Mapping[str, object]]:
        """Run once and give the writes, key -> value."""
