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
from contextlib import suppress
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Literal
from uuid import uuid4

import anyio
import sniffio
from anyio.streams.memory import MemoryObjectSendStream
from pydantic import BaseModel

from graphflow.agents.base import Agent, caller_origin
from graphflow.analysis.profiles import profile_named
from graphflow.checker.diagnostics import Report
from graphflow.checker.engine import Settings, check_graph
from graphflow.declarations import Names, declare
from graphflow.errors import ContractError, RunFailed, UsageError
from graphflow.events import Event
from graphflow.flow.pausing import PausedRuns
from graphflow.flow.results import result_of
from graphflow.flow.starting import MESSAGE, chosen_models, given_inputs
from graphflow.ir.builder import build
from graphflow.ir.graph import Graph
from graphflow.ir.names import GRAPHFLOW
from graphflow.models.base import Model
from graphflow.passes import run_passes
from graphflow.render import draw_graph, render_graph
from graphflow.runtime.detached import Detached
from graphflow.runtime.journal import Journal
from graphflow.runtime.limits import Limits
from graphflow.runtime.machine import Machine
from graphflow.runtime.plan import Plan, compile_plan
from graphflow.runtime.result import Result
from graphflow.runtime.scheduler import Driver
from graphflow.schema import Key

UNKNOWN_MODEL = "GF603"
"""The finding that no run is refused for: a run may be given other models, and looks for the providers of its own."""

CheckMode = Literal["error", "warning", "off"]


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
        self._paused = PausedRuns()
        self._reports: dict[str, Report] = {}

    @property
    def name(self) -> str:
        """The root agent's name."""
        return self.root.name

    def __repr__(self) -> str:
        return f"Flow({self.root!r})"

    @cached_property
    def graph(self) -> Graph:
        """The pipeline as a graph, with state edges."""
        return self._graph_under(GRAPHFLOW)

    def _graph_under(self, profile: str) -> Graph:
        return run_passes(build(self.root, self.interface, profile))

    @cached_property
    def plan(self) -> Plan:
        """The graph compiled for execution."""
        return compile_plan(self.graph)

    def check(self, settings: Settings | None = None, *, profile: str = GRAPHFLOW) -> Report:
        """Check the contract between the stages, without running anything.

        Args:
            settings: which findings to report and how severe they are; default: all, as the catalogue says.
            profile: the meanings to check under: "graphflow" (default), or "adk" for agents that are to run in Google ADK.

        Returns:
            All findings. They are data: nothing is raised for what is in the flow.

        Raises:
            UsageError: there is no such profile.
        """
        if profile not in self._reports or settings is not None:
            profile_named(profile)
            graph = self.graph if profile == GRAPHFLOW else self._graph_under(profile)
            report = check_graph(graph, settings)
            if settings is not None:
                return report
            self._reports[profile] = report
        return self._reports[profile]

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
            check: "error" refuses to run a flow with error findings, "warning" one with warnings too, "off" checks nothing
                (what cannot be run at all, such as a cycle with two entries, is refused whatever it says).
            on_event: awaited with each event; a slow one slows the run.

        Returns:
            The result of a completed, halted or paused run.

        Raises:
            ContractError: the check found errors; nothing was started.
            UsageError: inputs or models that do not fit; nothing was started.
            RunFailed: the run failed; `.result` has what was committed, and the cause is chained.
        """
        given = given_inputs(self.graph, inputs, message)
        if limits is not None and not isinstance(limits, Limits):
            raise TypeError(f"run(limits=) takes Limits(...), got {limits!r}")
        self._refuse(check)
        resolved = chosen_models(self.graph, self.model, models or {})
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
        return self._ended(driver)

    async def resume(
        self,
        run_id: str,
        answers: Mapping[str, Any] | None = None,
        *,
        on_event: Callable[[Event], Awaitable[None]] | None = None,
    ) -> Result:
        """Go on with a run that this process has paused: what waits for an answer runs anew, finished stages do not.

        Args:
            run_id: the run.
            answers: id of a pending question -> answer. Questions left out stay open, unless their time has passed.
            on_event: awaited with each event of this part of the run.

        Returns:
            The result of the completed, halted or again paused run.

        Raises:
            UsageError: no such run waits here, or an answer does not fit its question; the run goes on waiting.
            RunFailed: the run failed.
        """
        driver, told = self._paused.take(run_id, answers)
        driver.send = on_event
        await driver.resume(told)
        return self._ended(driver)

    def _ended(self, driver: Driver) -> Result:
        """What a run, or a part of it, came to."""
        machine = driver.machine
        if machine.status == "paused":
            self._paused.keep(driver)
        result = result_of(driver, self.interface)
        if result.status == "failed":
            raise RunFailed(f"run of `{self.name}` failed: {result.reason}", result) from machine.error
        return result

    def run_sync(self, inputs: Mapping[str, Any] | None = None, **options: Any) -> Result:
        """Run the flow from code that is not async; the arguments are those of `run`.

        Raises:
            UsageError: called from async code; await `run` there.
        """
        return self._run_alone("run", partial(self.run, inputs, **options))

    def resume_sync(self, run_id: str, answers: Mapping[str, Any] | None = None, **options: Any) -> Result:
        """Go on with a paused run from code that is not async; the arguments are those of `resume`.

        Raises:
            UsageError: called from async code; await `resume` there.
        """
        return self._run_alone("resume", partial(self.resume, run_id, answers, **options))

    @staticmethod
    def _run_alone(name: str, run: Callable[[], Awaitable[Result]]) -> Result:
        with suppress(sniffio.AsyncLibraryNotFoundError):
            running = sniffio.current_async_library()
            raise UsageError(
                f"{name}_sync was called inside a running {running} event loop; use `await flow.{name}(...)` there"
            )
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
            except Exception as error:  # noqa: BLE001 - whatever it is, who listens is told, once
                data = {"reason": f"{type(error).__name__}: {error}", "error": error}
                await send.send(Event("failed", options.get("run_id") or "", data=data))

    def _refuse(self, check: CheckMode) -> None:
        if check not in ("error", "warning", "off"):
            raise UsageError(f'check takes "error", "warning" or "off", got {check!r}')
        if check == "off" and not self.graph.faults:
            return
        report = self.check()
        errors = [found for found in report.errors if found.code != UNKNOWN_MODEL]
        if self.graph.faults or errors or (check == "warning" and report.warnings):
            raise ContractError(report)


def check(root: Agent | Flow, settings: Settings | None = None, *, profile: str = GRAPHFLOW) -> Report:
    """Check an agent or a flow without running it.

    Args:
        root: the outermost agent (its inputs are then not declared), or a flow.
        settings: which findings to report and how severe they are.
        profile: the meanings to check under: "graphflow" (default), or "adk" for agents that are to run in Google ADK.

    Returns:
        All findings.

    Raises:
        TypeError: something else was given.
        UsageError: there is no such profile.
    """
    flow = root if isinstance(root, Flow) else Flow(root)
    return flow.check(settings, profile=profile)
