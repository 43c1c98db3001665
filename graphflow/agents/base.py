"""What all agents have in common: frozen fields, the place where they were made, links to their parents.

Agents are a front end. They hold what the author said and lower it to the graph; they never execute themselves.
Constructors raise `TypeError` only (an unknown keyword, a wrong Python type); whatever is wrong with the pipeline is found by
the check, with the file and line recorded here::

    writer = LlmAgent(name="writer", instruction="Write about {topic}", output_key="draft")
    writer.origin            # pipeline.py:3
"""

from __future__ import annotations

import linecache
import math
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from itertools import islice
from types import CodeType, FrameType
from typing import Annotated, Any, ClassVar, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, PrivateAttr, ValidationError

from graphflow.context import Context
from graphflow.contracts.contract import Origin
from graphflow.contracts.retry import RetryPolicy, as_retry
from graphflow.errors import closest
from graphflow.events import Event
from graphflow.ir.builder import Builder, Guarding, Region
from graphflow.ir.nodes import Declaration
from graphflow.ir.notes import NO_NOTES, Notes


def _retry(value: object) -> RetryPolicy | None:
    try:
        return as_retry(value)
    except TypeError as error:
        raise ValueError(str(error)) from error


def _seconds(value: object) -> float | None:
    if value is None:
        return None
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0 < value < math.inf:
        raise ValueError("takes a number of seconds above 0")
    return float(value)


def _handler(value: object) -> object:
    if value is None or isinstance(value, Agent):
        return value
    if isinstance(value, Mapping) and all(isinstance(name, str) for name in value):
        return dict(value)
    hint = "; make one of the function with @agent" if callable(value) else ""
    raise ValueError(f"takes an agent to run instead, or a mapping key -> value to write{hint}")


class Agent(BaseModel):
    """Base of every agent.

    Args:
        name: an identifier, unique in the flow; the last part of the agent's path.
        description: what it is for, shown in tables, pictures and to models that delegate.
        ignore: codes of findings that are not reported for this agent (`["GF203"]`).
        retry: `RetryPolicy(...)` or a number of attempts: when a failed attempt is followed by another.
        timeout: seconds that one attempt may take.
        on_error: what happens when the last attempt has failed: an agent that runs instead, or key -> value to write.
        estimate: seconds that it is expected to take, for plans.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True, populate_by_name=True)

    positional: ClassVar[tuple[str, ...]] = ("name",)
    title: ClassVar[str] = "agent"

    name: str
    description: str = ""
    ignore: tuple[str, ...] = ()
    retry: Annotated[RetryPolicy | None, BeforeValidator(_retry)] = None
    timeout: Annotated[float | None, BeforeValidator(_seconds)] = None
    on_error: Annotated[Any, BeforeValidator(_handler)] = None
    estimate: Annotated[float | None, BeforeValidator(_seconds)] = None

    leaf: ClassVar[bool] = False

    _origin: Origin | None = PrivateAttr(default=None)
    _parent: Any = PrivateAttr(default=None)

    def __init__(self, *args: Any, **fields: Any) -> None:
        if len(args) > len(self.positional):
            raise TypeError(f"{type(self).__name__} takes at most {len(self.positional)} arguments without a name")
        for name, value in zip(self.positional, args, strict=False):
            if name in fields:
                raise TypeError(f"{type(self).__name__} was given `{name}` twice")
            fields[name] = value
        try:
            super().__init__(**fields)
        except ValidationError as error:
            raise TypeError(_explain(type(self), error)) from None
        self._origin = caller_origin()
        handler = [self.on_error] if isinstance(self.on_error, Agent) else []
        for child in (*self.children(), *handler):
            if child._parent is None:  # noqa: SLF001 - the link belongs to this class
                child._parent = self  # noqa: SLF001

    def children(self) -> Iterator[Agent]:
        """Yield the agents directly inside, in declaration order."""
        return iter(())

    @property
    def origin(self) -> Origin | None:
        """Where the agent was made; None if no Python frame was found."""
        return self._origin

    @property
    def parent_agent(self) -> Any:
        """The first composite that took this agent, None if there is none."""
        return self._parent

    @property
    def root_agent(self) -> Any:
        """The outermost agent around this one, itself if it has no parent."""
        agent = self
        while agent._parent is not None:
            agent = agent._parent
        return agent

    def find_agent(self, name: str) -> Any:
        """Find the agent with this name in this agent and those inside it, None if there is none."""
        pending: list[Agent] = [self]
        while pending:
            agent = pending.pop(0)
            if agent.name == name:
                return agent
            pending.extend(agent.children())
            if isinstance(agent.on_error, Agent):
                pending.append(agent.on_error)
        return None

    @property
    def declaration(self) -> Declaration:
        """What the graph keeps about the agent."""
        return Declaration(
            "",
            self.name,
            self._origin,
            frozenset(self.ignore),
            description=self.description,
            title=type(self).title,
            estimate=self.estimate,
            notes=self.notes,
        )

    @property
    def notes(self) -> Notes:
        """What only the check looks at; every agent kind adds its own."""
        return NO_NOTES

    @property
    def guard(self) -> Guarding:
        """What is done about failures of the agent."""
        fallback = self.on_error if isinstance(self.on_error, Agent) else None
        values = self.on_error if isinstance(self.on_error, Mapping) else None
        return Guarding(self.retry, self.timeout, fallback, values)

    def lower(self, builder: Builder) -> Region:
        """Emit this agent's nodes and edges. Every agent kind says how."""
        raise NotImplementedError(f"{type(self).__name__} does not say how it is lowered")

    def clone(self, update: Mapping[str, object] | None = None) -> Self:
        """Copy the agent, with the agents inside it.

        Args:
            update: fields of the copy that differ, field name -> value.

        Returns:
            A new agent without a parent.

        Raises:
            TypeError: an unknown field or a value of the wrong type.
        """
        return self.copied({}, update or {})

    def copied(self, copies: dict[int, Agent], update: Mapping[str, object]) -> Self:
        """Copy the agent where several are copied together; see `clone`.

        Args:
            copies: identity of an agent -> its copy, for the agents copied so far: one that stands in two fields is one in
                the copy too. It is given this one's.
            update: fields of the copy that differ, field name -> value.

        Returns:
            The copy.

        Raises:
            TypeError: an unknown field or a value of the wrong type.
        """
        kept = [name for name in type(self).model_fields if name in self.model_fields_set and name not in update]
        copy = self.made({**{name: _copied(getattr(self, name), copies) for name in kept}, **update})
        copies[id(self)] = copy
        return copy

    def made(self, fields: Mapping[str, object]) -> Self:
        """Make an agent of this kind from its fields."""
        return type(self)(**fields)

    def run_async(self, ctx: Context) -> AsyncIterator[Event]:
        """In a custom agent that holds this one: run it and give its events, as `ctx.run` does."""
        return aiter(ctx.run(self))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)


def _copied(value: object, copies: dict[int, Agent]) -> object:
    if isinstance(value, Agent):
        return copies[id(value)] if id(value) in copies else value.copied(copies, {})
    if isinstance(value, (list, tuple)):
        return type(value)(_copied(item, copies) for item in value)
    if isinstance(value, dict):
        return {key: _copied(item, copies) for key, item in value.items()}
    return value


def _explain(kind: type[BaseModel], error: ValidationError) -> str:
    lines = []
    for fault in error.errors(include_url=False):
        field = str(fault["loc"][0]) if fault["loc"] else ""
        if fault["type"] == "extra_forbidden":
            near = closest(field, kind.model_fields)
            hint = f"; did you mean `{near}`" if near else f"; it takes {', '.join(kind.model_fields)}"
            lines.append(f"no parameter `{field}`{hint}")
        elif fault["type"] == "missing":
            lines.append(f"parameter `{field}` is missing")
        elif not field:
            lines.append(_reason(fault))
        else:
            lines.append(f"parameter `{field}`: {_short(fault)}")
    return f"{kind.__name__}: " + "; ".join(dict.fromkeys(lines))


def _reason(fault: Any) -> str:
    return str(fault.get("ctx", {}).get("error", "")) or str(fault["msg"])


def _short(fault: Any) -> str:
    reason, value = _reason(fault), repr(fault.get("input"))
    return reason if reason.endswith(value) else f"{reason}, got {value if len(value) <= 80 else value[:77] + '...'}"


def _made(value: object) -> object:
    if isinstance(value, Agent):
        return value
    hint = "; make one with @agent" if callable(value) else ""
    raise ValueError(f"takes agents{hint}")


Child = Annotated[Agent, BeforeValidator(_made)]
"""An agent inside another: an object, never made from plain data."""


def caller_origin() -> Origin | None:
    """Find the place outside graphflow and pydantic that is running now."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - the documented way to look at the caller's frame
    while frame is not None and _is_ours(frame.f_globals.get("__name__", "")):
        frame = frame.f_back
    if frame is None:
        return None
    line, column = _position(frame.f_code, frame.f_lasti, frame.f_lineno)
    return Origin(frame.f_code.co_filename, line, column)


def _is_ours(module: str) -> bool:
    inside = module == "graphflow" or module.startswith("graphflow.")
    return (inside and not module.startswith("graphflow.examples")) or module.partition(".")[0] in {
        "pydantic",
        "functools",
    }


def _position(code: CodeType, instruction: int, fallback: int) -> tuple[int, int]:
    """Line and 1-based column, in characters, of the call; CPython 3.11 and newer record both for each instruction."""
    line, _, column, _ = next(islice(code.co_positions(), instruction // 2, None), (None, None, None, None))
    if line is None or column is None:
        return fallback, 0
    before = linecache.getline(code.co_filename, line).encode()[:column]
    return line, len(before.decode(errors="replace")) + 1 if before else column + 1
