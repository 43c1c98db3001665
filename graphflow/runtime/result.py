"""What a run leaves: its result, and the events and timeline that follow from its journal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from graphflow.context import Context
from graphflow.events import Event, EventActions
from graphflow.ir.names import is_glue
from graphflow.models.base import ModelReply, Usage
from graphflow.runtime.journal import (
    Answered,
    Asked,
    BranchTaken,
    Cancelled,
    Choice,
    Halted,
    Journal,
    LoopTurned,
    Record,
    RunEnded,
    RunStarted,
    Status,
    Step,
    TaskCommitted,
    TaskFailed,
    TaskStarted,
    TimerFired,
    TimerSet,
)
from graphflow.schema import Overwrite


@dataclass(frozen=True, slots=True)
class Halt:
    """Why a run was halted: where, by which condition over which values, and the rendered reason."""

    gate: str
    condition: str
    values: Mapping[str, object]
    reason: str


@dataclass(frozen=True, slots=True)
class Span:
    """One execution of one task on the timeline; seconds since the start of the run."""

    node: str
    iterations: tuple[int, ...]
    start: float
    end: float
    status: Literal["completed", "failed", "cancelled"]

    @property
    def seconds(self) -> float:
        """How long it took."""
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Pending:
    """A question that a paused run waits for.

    Attributes:
        id: what `Flow.resume` is told the answer by.
        node: path of the stage that asks.
        prompt: the question.
        schema: type of the answer.
        asked_at: seconds since the start of the run.
        deadline: seconds since the start of the run, after which `default` is the answer; None for none.
        default: the answer then.
    """

    id: str
    node: str
    prompt: str
    schema: str
    asked_at: float
    deadline: float | None = None
    default: Any = None


@dataclass(frozen=True, slots=True)
class RunUsage:
    """Model use of a run: in total, and model name -> and node path -> its share."""

    total: Usage = field(default_factory=Usage)
    by_model: Mapping[str, Usage] = field(default_factory=dict)
    by_node: Mapping[str, Usage] = field(default_factory=dict)

    @property
    def calls(self) -> int:
        """Model calls in all."""
        return self.total.calls


@dataclass(frozen=True)
class Result:
    """What a run came to.

    Attributes:
        run_id: the run.
        status: how it ended.
        state: key -> value committed at the root.
        outputs: key -> value of the declared outputs; of all keys where none are declared.
        reason: why it was halted, failed or cancelled; "" for a completed run.
        halt: details of a halt.
        error: the exception that failed the run.
        pending: the questions that a paused run waits for.
        usage: model use.
        journal: the records.
    """

    run_id: str
    status: Status
    state: Mapping[str, Any]
    outputs: Mapping[str, Any]
    reason: str = ""
    halt: Halt | None = None
    error: BaseException | None = None
    pending: tuple[Pending, ...] = ()
    usage: RunUsage = field(default_factory=RunUsage)
    journal: Journal = field(default_factory=Journal, repr=False)

    @property
    def events(self) -> list[Event]:
        """What happened, in order."""
        return [
            event
            for record, time in zip(self.journal.records, self.journal.times, strict=True)
            for event in events_of(self.run_id, record, time)
        ]

    @property
    def timeline(self) -> list[Span]:
        """When each task ran, by start."""
        return list(_spans(self.journal))


def usage_of(journal: Journal) -> RunUsage:
    """Add up the model turns of a journal."""
    total, by_model, by_node = Usage(), dict[str, Usage](), dict[str, Usage]()
    for record in journal.records:
        if isinstance(record, Step) and isinstance(record.result, ModelReply):
            usage = record.result.usage
            usage = usage if usage.calls else replace(usage, calls=1)  # a turn is a call, whatever the model counted
            total += usage
            by_model[record.name] = by_model.get(record.name, Usage()) + usage
            by_node[record.node] = by_node.get(record.node, Usage()) + usage
    return RunUsage(total, by_model, by_node)


def _spans(journal: Journal) -> Iterator[Span]:
    open_: dict[tuple[str, tuple[int, ...]], float] = {}
    done: list[Span] = []
    for record, time in zip(journal.records, journal.times, strict=True):
        match record:
            case TaskStarted(node=node, turns=turns) if not is_glue(node):
                open_[node, turns] = time
            case TaskCommitted(node=node, turns=turns) if (node, turns) in open_ and not record.partial:
                done.append(Span(node, turns, open_.pop((node, turns)), time, "completed"))
            case TaskFailed(node=node, turns=turns) if (node, turns) in open_:
                done.append(Span(node, turns, open_.pop((node, turns)), time, "failed"))
            case Cancelled(node=node, turns=turns) if (node, turns) in open_:
                done.append(Span(node, turns, open_.pop((node, turns)), time, "cancelled"))
            case _:
                pass
    return iter(sorted(done, key=lambda span: span.start))


def events_of(run_id: str, record: Record, time: float) -> Iterator[Event]:
    """Say what a subscriber is told about a record: one event, or none."""
    match record:
        case TaskCommitted(node=node) if is_glue(node) or node.endswith("#fork"):
            return  # values handed over, and what an instance of a map is given
        case TaskStarted(node=node) if is_glue(node):
            return
        case RunStarted():
            yield Event("run_started", run_id, data={"inputs": dict(record.inputs)}, time=time)
        case TaskStarted(node=node, turns=turns, attempt=attempt):
            yield _at("task_started", run_id, node, turns, time, attempt=attempt)
        case TaskCommitted(node=node, turns=turns):
            delta = {key: v.value if isinstance(v, Overwrite) else v for key, v in record.delta.items()}
            about: dict[str, Any] = {"actions": EventActions(delta, record.escalate), "attempt": record.attempt}
            data = {"partial": True} if record.partial else {}
            yield _at("task_committed", run_id, node, turns, time, branch=record.scope, data=data, **about)
        case TaskFailed(node=node, turns=turns):
            why = {"error": record.error, "message": record.message}
            again = {"will_retry": True} if record.will_retry else {}
            yield _at("task_failed", run_id, node, turns, time, data={**why, **again}, attempt=record.attempt)
        case BranchTaken(node=node, turns=turns, case=case):
            yield _at("branch", run_id, node, turns, time, data={"case": case})
        case LoopTurned(node=node, turns=turns, exit=reason):
            yield _at("loop", run_id, node, turns, time, data={"exit": reason})
        case Halted(node=node, turns=turns):
            yield _at("progress", run_id, node, turns, time, data={"halt": record.reason})
        case Step(node=node, turns=turns, result=ModelReply(usage=usage)):
            yield _at("progress", run_id, node, turns, time, data={"model": record.name, "tokens": usage.total_tokens})
        case Cancelled(node=node, turns=turns) if node:
            yield _at("task_failed", run_id, node, turns, time, data={"error": "cancelled", "message": record.reason})
        case RunEnded(status=status, reason=reason):
            yield Event(status, run_id, data={"reason": reason}, time=time)
        case Asked(node=node, turns=turns):
            yield _at("asked", run_id, node, turns, time, data={"request": record.request, "prompt": record.prompt})
        case Answered(node=node, turns=turns):
            answer = {"request": record.request, "answer": record.answer}
            yield _at("progress", run_id, node, turns, time, data=answer)
        case Choice() | Step() | Cancelled() | TimerSet() | TimerFired():
            return


def _at(kind: Any, run_id: str, node: str, turns: tuple[int, ...], time: float, **more: Any) -> Event:
    path, _, mark = node.rpartition("#")
    author = (path if path and not mark.isdigit() else node).rpartition("/")[2].partition("#")[0]
    return Event(kind, run_id, author, node, iterations=turns, time=time, **more)


def progress_event(context: Context, data: Mapping[str, Any], time: float) -> Event:
    """What a subscriber is told when a body emits progress."""
    return Event(
        "progress",
        context.run_id,
        context.agent_name,
        context.node,
        context.branch,
        context.iterations,
        context.attempt,
        data=dict(data),
        time=time,
    )
