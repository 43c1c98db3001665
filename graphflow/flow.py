"""`Flow`: a root agent with what it is given and what it owes; the way to check, run and draw it.

::

    flow = Flow(root, inputs={"topic": str}, outputs=["story"])
    flow.check()                       # a Report; nothing is run
    flow.run_sync({"topic": "tides"})  # checks first, then runs
    flow.draw("story.svg")

Everything here follows from the graph: `Flow` only puts lowering, checking, running and drawing together.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Literal
from uuid import uuid4

import anyio
import sniffio
from anyio.streams.memory import MemoryObjectSendStream
from pydantic import BaseModel

from graphflow.agents.base import Agent, caller_origin
from graphflow.checker.diagnostics import Report
from graphflow.checker.engine import Settings, check_graph
from graphflow.declarations import Names, declare
from graphflow.errors import ContractError, GraphflowError, RunFailed, UsageError, closest
from graphflow.events import Event
from graphflow.ir.builder import build
from graphflow.ir.graph import Graph
from graphflow.ir.nodes import Task
from graphflow.models import resolve_model
from graphflow.models.base import Model
from graphflow.passes import run_passes
from graphflow.render import draw_graph, render_graph
from graphflow.runtime.detached import Detached
from graphflow.runtime.journal import Journal
from graphflow.runtime.limits import Limits
from graphflow.runtime.machine import Machine
from graphflow.runtime.plan import Plan, compile_plan
from graphflow.runtime.result import Halt, Result, usage_of
from graphflow.runtime.scheduler import Driver
from graphflow.schema import ANY, MISSING, Key, TypeMismatch, freeze, type_of, validator

CheckMode = Literal["error", "warning", "off"]
MESSAGE = "message"


class Flow:
    """A pipeline, complete with its inputs and outputs.

    Args:
        root: the outermost agent.
        inputs: what a run is given: name -> type or (type, default); `name?` is optional. `{}` means nothing is given;
            None (default) leaves the world open: any key that the flow does not write may be given.
        outputs: keys that a completed run owes: a list, or name -> type; `name?` may be left out.
        keys: declarations of keys: types, defaults, merges.
        state: a pydantic model that declares all keys there are; its defaults are the keys' defaults.
        persist: keys whose value the next run of a session may read before writing it.
        model: model of the agents that name none: a name or an object.
        deps: type of what `run(deps=)` is given; None means anything.

    Raises:
        TypeError: an argument of the wrong Python type.
    """

    def __init__(
        self,
        root: Agent,
        *,
        inputs: Names | None = None,
        outputs: Names | None = None,
        keys: Sequence[Key] = (),
        state: type[BaseModel] | None = None,
        persist: Sequence[str] = (),
        model: str | Model | None = None,
        deps: type | None = None,
    ) -> None:
        if not isinstance(root, Agent):
            raise TypeError(f"Flow takes an agent, got {type(root).__name__}; decorate a function with @agent")
        self.root = root
        self.model = model
        self.deps = deps
        self.origin = caller_origin()
        self.interface = declare(inputs, outputs, keys, state, persist)

    @property
    def name(self) -> str:
        """The root agent's name."""
        return self.root.name

    def __repr__(self) -> str:
        return f"Flow({self.root!r})"

    @cached_property
    def graph(self) -> Graph:
        """The pipeline as a graph, with state edges."""
        return run_passes(build(self.root, self.interface))

    @cached_property
    def plan(self) -> Plan:
        """The graph compiled for execution."""
        return compile_plan(self.graph)

    @cached_property
    def _report(self) -> Report:
        return check_graph(self.graph)

    def check(self, settings: Settings | None = None) -> Report:
        """Check the contract between the stages, without running anything.

        Args:
            settings: which findings to report and how severe they are; default: all, as the catalogue says.

        Returns:
            All findings. They are data: nothing is raised.
        """
        return self._report if settings is None else check_graph(self.graph, settings)

    def draw(self, path: str | Path | None = None, *, format: str | None = None, theme: str = "auto") -> str | Path:  # noqa: A002
        """Draw the pipeline with its keys; findings are marked on the nodes.

        Args:
            path: file to write; None gives the text of the picture back.
            format: "svg" or "dot"; default: by the file's ending, else SVG.
            theme: "auto" (follows the viewer's light or dark preference), "light" or "dark".

        Returns:
            The path written, or the picture's text.

        Raises:
            UsageError: an unknown format or theme, or a file that cannot be written.
        """
        if path is None:
            return render_graph(self.graph, self.check(), format or "svg", theme)
        return draw_graph(self.graph, self.check(), Path(path), format, theme)

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        return {"image/svg+xml": str(self.draw()), "text/plain": repr(self)}

    # --- running ------------------------------------------------------------------------------------------------

    async def run(
        self,
        inputs: Mapping[str, Any] | None = None,
        *,
        message: str | None = None,
        run_id: str | None = None,
        deps: Any = None,
        models: Mapping[str, str | Model] | None = None,
        limits: Limits | None = None,
        check: CheckMode = "error",
        on_event: Callable[[Event], Awaitable[None]] | None = None,
    ) -> Result:
        """Check the flow, then run it to its end.

        Args:
            inputs: key -> value.
            message: the user's message: the input `message`, and what model agents without a prompt are sent.
            run_id: name of the run; default: a new one.
            deps: handed to bodies as `ctx.deps`.
            models: replaces models: node path or agent name, or "*" for all others -> model name or object.
            limits: what the run may use.
            check: "error" refuses to run a flow with error findings, "warning" one with warnings too, "off" checks nothing.
            on_event: awaited with each event; a slow one slows the run.

        Returns:
            The result of a completed or halted run.

        Raises:
            ContractError: the check found errors; nothing was started.
            UsageError: inputs or models that do not fit; nothing was started.
            RunFailed: the run failed; `.result` has what was committed, and the cause is chained.
        """
        given = self._inputs(inputs, message)
        if limits is not None and not isinstance(limits, Limits):
            raise TypeError(f"run(limits=) takes Limits(...), got {limits!r}")
        self._refuse(check)
        resolved = self._models(models or {})
        if self.deps is not None and not isinstance(deps, self.deps):
            raise UsageError(f"run(deps=) takes {self.deps.__name__}, got {type(deps).__name__}")
        machine = Machine(self.plan, run_id or uuid4().hex, (limits or Limits()).max_steps)
        text = message if message is not None else given.get(MESSAGE)
        driver = Driver(
            machine,
            Journal(),
            resolved,
            limits or Limits(),
            deps,
            on_event,
            text if isinstance(text, str) else None,
        )
        await driver.run(given)
        result = self._result(machine, driver.journal)
        if result.status == "failed":
            raise RunFailed(f"run of `{self.name}` failed: {result.reason}", result) from machine.error
        return result

    def run_sync(self, inputs: Mapping[str, Any] | None = None, **options: Any) -> Result:
        """Run the flow from code that is not async; the arguments are those of `run`.

        Raises:
            UsageError: called from async code; await `run` there.
        """
        try:
            running = sniffio.current_async_library()
        except sniffio.AsyncLibraryNotFoundError:
            return self._run_alone(partial(self.run, inputs, **options))
        raise UsageError(f"run_sync was called inside a running {running} event loop; use `await flow.run(...)` there")

    @staticmethod
    def _run_alone(run: Callable[[], Awaitable[Result]]) -> Result:
        try:
            return anyio.run(run)
        except BaseExceptionGroup as group:
            if group.subgroup(KeyboardInterrupt) is None:
                raise
            raise KeyboardInterrupt from group

    async def stream(self, inputs: Mapping[str, Any] | None = None, **options: Any) -> AsyncIterator[Event]:
        """Run the flow and yield its events; the arguments are those of `run`.

        Yields:
            Events in order. The last one, and only that, is terminal; a run that was refused gives one `failed` event.
            Nothing is raised. Leaving the iterator (close it, best with `contextlib.aclosing`) cancels the run.
        """
        send, receive = anyio.create_memory_object_stream[Event](64)
        run = Detached(partial(self._produce, send, inputs, options))
        ended = False
        try:
            async for event in receive:
                ended = event.terminal
                yield event
                if ended:
                    break
        finally:
            if not ended:
                run.cancel()
            receive.close()
            await run.ended()

    async def _produce(
        self, send: MemoryObjectSendStream[Event], inputs: Mapping[str, Any] | None, options: Mapping[str, Any]
    ) -> None:
        """Run for a stream: everything becomes an event, nothing is raised."""
        with send:
            try:
                await self.run(inputs, on_event=send.send, **options)
            except (RunFailed, anyio.BrokenResourceError):
                pass  # the terminal event is sent already, or nobody listens any more
            except (GraphflowError, TypeError) as error:
                data = {"reason": f"{type(error).__name__}: {error}", "error": error}
                await send.send(Event("failed", options.get("run_id") or "", data=data))

    def _refuse(self, check: CheckMode) -> None:
        if check not in ("error", "warning", "off"):
            raise UsageError(f'check takes "error", "warning" or "off", got {check!r}')
        if check == "off":
            return
        report = self.check()
        if report.errors or (check == "warning" and report.warnings):
            raise ContractError(report)

    def _inputs(self, inputs: Mapping[str, Any] | None, message: str | None) -> dict[str, object]:
        if inputs is not None and not isinstance(inputs, Mapping):
            raise UsageError(f"inputs are a mapping of names to values, got {type(inputs).__name__}")
        given = dict(inputs or {})
        if message is not None:
            if not isinstance(message, str):
                raise UsageError(f"message is text, got {type(message).__name__}")
            given.setdefault(MESSAGE, message)
        declared = {name: (type_, required, default) for name, type_, required, default in self.interface.inputs or ()}
        faults = [fault for name in given for fault in self._refused_input(name, declared)]
        values: dict[str, object] = {k.name: k.default for k in self.interface.keys if k.default is not MISSING}
        values |= {name: default for name, (_, _, default) in declared.items() if default is not MISSING}
        for name, (type_, required, _) in declared.items():
            if required and name not in given:
                faults.append(f"input `{name}` ({type_.text}) is missing")
        types = {key.name: type_of(key.type) for key in self.interface.keys} | {
            n: t for n, (t, _, _) in declared.items()
        }
        for name, value in {**values, **given}.items():
            type_ = types.get(name, ANY)
            try:
                values[name] = freeze(validator(type_)(value), type_)
            except TypeMismatch as error:
                faults.append(f"input `{name}` is no {type_.text}: {error}")
        if faults:
            raise UsageError(f"`{self.name}` cannot start: " + "; ".join(faults))
        return values

    def _refused_input(self, name: Any, declared: Mapping[str, Any]) -> list[str]:
        if not isinstance(name, str):
            return [f"input names are strings, got {name!r}"]
        if name in declared or name == MESSAGE:
            return []
        if self.interface.inputs is not None:
            near = closest(name, declared)
            hint = f"; did you mean `{near}`" if near else f"; it takes {', '.join(declared) or 'none'}"
            return [f"there is no input `{name}`{hint}"]
        writer = next((n.id for n in self.graph.nodes.values() if any(w.key == name for w in n.contract.writes)), None)
        declared_key = any(key.name == name for key in self.interface.keys)
        if writer is not None and not declared_key:
            return [f"`{name}` is written by `{writer}`, so it can be given only if it is declared as an input"]
        return []

    def _models(self, replaced: Mapping[str, str | Model]) -> dict[str, Model]:
        tasks = {n.id: n for n in self.graph.nodes.values() if isinstance(n, Task) and n.kind == "model"}
        names = {id_: id_.rpartition("/")[2] for id_ in tasks}
        unknown = [name for name in replaced if name != "*" and name not in tasks and name not in names.values()]
        if unknown:
            near = closest(unknown[0], [*names.values(), *tasks])
            raise UsageError(
                f"models= names `{unknown[0]}`, which is no model agent of `{self.name}`"
                + (f"; did you mean `{near}`" if near else f"; there are {', '.join(names.values()) or 'none'}")
            )
        resolved: dict[str, Model] = {}
        faults: list[str] = []
        for id_, task in tasks.items():
            own = getattr(task.body, "model", None)
            chosen = next(
                (replaced[n] for n in (id_, names[id_], "*") if n in replaced), own if own is not None else self.model
            )
            try:
                if chosen is None:
                    raise UsageError("no model: give one with model=, Flow(model=) or run(models=)")
                resolved[id_] = resolve_model(chosen)
            except UsageError as error:
                faults.append(f"`{id_}`: {error}")
        if faults:
            raise UsageError(f"`{self.name}` cannot start: " + "; ".join(faults))
        return resolved

    def _result(self, machine: Machine, journal: Journal) -> Result:
        state = machine.root.plain()
        declared = self.interface.outputs
        outputs = state if declared is None else {name: state[name] for name, *_ in declared if name in state}
        halt = machine.halt
        status = machine.status or "cancelled"
        return Result(
            machine.run_id,
            status,
            state,
            dict(outputs),
            machine.reason,
            Halt(halt.node, halt.condition, halt.values, halt.reason)
            if halt is not None and status == "halted"
            else None,
            machine.error,
            usage=usage_of(journal),
            journal=journal,
        )


def check(root: Agent | Flow, settings: Settings | None = None) -> Report:
    """Check an agent or a flow without running it.

    Args:
        root: the outermost agent (its inputs are then not declared), or a flow.
        settings: which findings to report and how severe they are.

    Returns:
        All findings.

    Raises:
        TypeError: something else was given.
    """
    flow = root if isinstance(root, Flow) else Flow(root)
    return flow.check(settings)
