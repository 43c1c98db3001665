"""Custom agents at work: what their code sees of its children, what is left of it, and when."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint

from graphflow import (
    BaseAgent,
    Context,
    Event,
    EventActions,
    Flow,
    FunctionAgent,
    Key,
    LoopAgent,
    Merge,
    ParallelAgent,
    Result,
    RetryPolicy,
    RunFailed,
    SequentialAgent,
    agent,
)

pytestmark = pytest.mark.anyio
LOG = Key("log", list[str], default=[], merge=Merge.append)
TWICE = RetryPolicy(attempts=2, backoff=0, jitter=0)


def wrote(**delta: object) -> Event:
    return Event(actions=EventActions(state_delta=delta))


@agent(writes="log", blocking=False)
def child(ctx: Context) -> str:
    return f"child {ctx.turns[-1]}"


@agent(writes="x", blocking=False)
def broken(ctx: Context) -> int:
    raise OSError(f"broken {ctx.attempt}")


async def outcome(flow: Flow, inputs: dict[str, object] | None = None) -> Result:
    try:
        with anyio.fail_after(20):
            return await flow.run(inputs or {}, check="off")
    except RunFailed as failure:
        return failure.result


def flow_of(*agents: Any) -> Flow:
    return Flow(SequentialAgent("s", agents), inputs={}, keys=[LOG])


class Teller(BaseAgent):
    """Writes and runs its child in turns."""

    async def run(self, ctx: Context) -> Any:
        for number in (1, 2):
            yield wrote(log=f"code {number}")
            yield wrote(log=f"code {number} again")
            await ctx.run(self.sub_agents[0])
        ctx.state["log"] = "code at last"


async def test_what_code_and_children_write_keeps_its_order_at_joins() -> None:
    """Beside something else the updates are applied anew: those of one agent stay in the order in which it made them."""
    alone = Teller(name="alone", sub_agents=[child.clone()], reads=[], writes=["log"])
    own = ["code 1", "code 1 again", "child 1", "code 2", "code 2 again", "child 2", "code at last"]
    before = FunctionAgent(name="before", func=lambda ctx: {"log": "before"}, reads=[], writes=["log"], blocking=False)
    after = before.clone(update={"name": "after", "func": lambda ctx: {"log": "after"}})
    beside = ParallelAgent("p", [before, Teller(name="t", sub_agents=[child], reads=[], writes=["log"]), after])

    assert (await outcome(flow_of(alone))).state["log"] == own
    assert (await outcome(flow_of(beside))).state["log"] == ["before", *own, "after"]


class Direct(BaseAgent):
    """Writes a key directly, then by an event."""

    async def run(self, ctx: Context) -> Any:
        ctx.state["x"] = 1
        yield wrote(x=2)


@pytest.mark.parametrize("children", [[], [child]], ids=["alone", "with a child"])
async def test_the_later_write_counts_whichever_way_it_was_made(children: list[Any]) -> None:
    direct = Direct(name="direct", sub_agents=children, reads=[], writes=["x"])

    assert (await outcome(flow_of(direct))).state["x"] == 2


class Catching(BaseAgent):
    """Deals with what its child fails with."""

    async def run(self, ctx: Context) -> Any:
        try:
            await ctx.run(self.sub_agents[0])
        except OSError as error:
            yield wrote(caught=f"{type(error).__name__} {error}", seen=ctx.state.get("note", "nothing"))


async def test_of_a_child_that_fails_nothing_is_left() -> None:
    """The code may catch its failure; what the child had done before it is not there."""
    note = FunctionAgent(name="note", func=lambda ctx: {"note": 1}, reads=[], writes=["note"], blocking=False)
    fails = SequentialAgent("fails", [note, broken])
    catching = Catching(name="catching", sub_agents=[fails], reads=["note?"], writes=[], may_write=["caught", "seen"])

    result = await outcome(flow_of(catching))

    assert result.status == "completed"
    assert result.state == {"log": [], "caught": "OSError broken 1", "seen": "nothing"}


class Failing(BaseAgent):
    """Fails after its child and a step, the first time."""

    steps: Any = None

    async def run(self, ctx: Context) -> Any:
        yield wrote(log=f"code {ctx.attempt}")
        await ctx.run(self.sub_agents[0])
        number = await ctx.step("count", self._count)
        if ctx.attempt == 1:
            raise OSError("first attempt")
        yield wrote(number=number)

    async def _count(self) -> int:
        self.steps.append(1)
        return len(self.steps)


async def test_a_retry_is_a_new_overlay_and_a_new_attempt() -> None:
    """Children and steps are done anew; children are told that it is their second attempt."""
    attempts: list[tuple[int, str]] = []

    @agent(writes="log", blocking=False)
    def inner(ctx: Context) -> str:
        attempts.append((ctx.attempt, ctx.idempotency_key.partition("/")[2]))
        return f"inner {ctx.attempt}"

    failing = Failing(name="own", sub_agents=[inner], steps=[], reads=[], writes=["log", "number"], retry=TWICE)

    result = await outcome(flow_of(failing))

    assert result.state == {"log": ["code 2", "inner 2"], "number": 2}
    assert attempts == [(1, "s/own/inner[1]"), (2, "s/own/inner[1]")]


class Both(BaseAgent):
    """Runs its children side by side, and says what came of each."""

    async def run(self, ctx: Context) -> Any:
        running = [aiter(ctx.run(one)) for one in self.sub_agents]
        faults: list[str] = []

        async def finish(place: int) -> None:
            try:
                async for _ in running[place]:
                    pass
            except Exception as error:  # noqa: BLE001 - told below
                faults.append(type(error).__name__)

        async with anyio.create_task_group() as group:
            for place in range(len(running)):
                group.start_soon(finish, place)
        yield wrote(faults=faults)


async def test_two_children_that_overlap_and_write_one_key_conflict() -> None:
    """The later one to end fails, and leaves nothing; updates of a merge key are applied in the order of the calls."""

    def writing(name: str, *keys: str, wait: int = 0) -> FunctionAgent:
        async def run(ctx: Context) -> dict[str, object]:
            for _ in range(wait):
                await checkpoint()
            return dict.fromkeys(keys, name)

        return FunctionAgent(name=name, func=run, reads=[], writes=list(keys))

    def both(*children: FunctionAgent) -> Flow:
        return flow_of(Both(name="both", sub_agents=children, reads=[], writes=["faults"]))

    conflict = await outcome(both(writing("slow", "x", "log", wait=40), writing("quick", "x", "log")))
    merged = await outcome(both(writing("slow", "log", wait=40), writing("quick", "log")))

    assert conflict.state == {"log": ["quick"], "x": "quick", "faults": ["StateConflictError"]}
    assert merged.state == {"log": ["slow", "quick"], "faults": []}


class Passing(BaseAgent):
    """Runs a child; lets its events out, or not, and goes on."""

    forward: bool = False

    async def run(self, ctx: Context) -> Any:
        async for event in ctx.run(self.sub_agents[0]):
            if self.forward:
                yield event
        yield wrote(log="code went on")


@pytest.mark.parametrize("forward", [True, False])
async def test_an_escalation_goes_out_only_if_the_code_yields_it_on(forward: bool) -> None:
    """The child ends where it escalates; the code finishes and commits either way; the loop ends only if it was let out."""

    @agent(writes="log", blocking=False)
    def leave(ctx: Context) -> str:
        ctx.actions.escalate = True
        return "leave"

    inner = SequentialAgent("inner", [leave, child])
    passing = Passing(name="passing", sub_agents=[inner], forward=forward, reads=[], writes=["log"], escalates=forward)
    after = FunctionAgent(name="after", func=lambda ctx: {"log": "after"}, reads=[], writes=["log"], blocking=False)
    loop = LoopAgent("loop", [passing, after], max_iterations=2, exit_key="how")

    result = await outcome(flow_of(loop))

    once = ["leave", "code went on"]
    expected = (once, "escalate") if forward else ([*once, "after"] * 2, "max_iterations")
    assert (result.state["log"], result.state["how"]) == expected


async def test_nothing_of_code_that_fails_is_committed() -> None:
    """Its writes and those of children that had succeeded go with it; a handler sees the state at its start."""

    class Doomed(BaseAgent):
        async def run(self, ctx: Context) -> Any:
            yield wrote(log="code")
            await ctx.run(self.sub_agents[0])
            raise OSError("doomed")

    @agent(writes="seen", blocking=False)
    def handle(log: list[str]) -> list[str]:
        return log

    failed = Doomed(name="doomed", sub_agents=[child], reads=[], writes=["log"])
    handled = failed.clone(update={"on_error": handle})

    assert (await outcome(flow_of(failed))).state == {"log": []}
    assert (await outcome(flow_of(handled))).state == {"log": [], "seen": []}


async def test_a_custom_agent_that_waits_for_its_child_takes_no_slot() -> None:
    """One slot for all: code, its child and the stage beside it all come to their turn."""

    class Waiting(BaseAgent):
        async def run(self, ctx: Context) -> Any:
            await ctx.run(self.sub_agents[0])
            await ctx.run(self.sub_agents[0])

    waiting = Waiting(name="waiting", sub_agents=[child], reads=[], writes=[])
    beside = FunctionAgent(name="beside", func=lambda ctx: {"x": 1}, reads=[], writes=["x"], blocking=False)

    result = await outcome(flow_of(ParallelAgent("p", [waiting, beside], max_concurrency=1)))

    assert result.state == {"log": ["child 1", "child 2"], "x": 1}


async def test_code_is_told_of_a_childs_failure_only_when_all_of_it_has_ended() -> None:
    """An irreversible part of the child runs on to its end, and the code waits for that."""
    order: list[str] = []
    stopped = anyio.Event()

    async def run(ctx: Context) -> dict[str, object]:
        await stopped.wait()
        for _ in range(10):
            await checkpoint()
        order.append("paid")
        return {}

    def fail(ctx: Context) -> dict[str, object]:
        stopped.set()
        raise OSError("no")

    class Noting(BaseAgent):
        async def run(self, ctx: Context) -> Any:
            try:
                await ctx.run(self.sub_agents[0])
            except OSError:
                order.append("caught")

    pay = FunctionAgent(name="pay", func=run, reads=[], effect="irreversible")
    fails = FunctionAgent(name="fails", func=fail, reads=[], blocking=False)
    noting = Noting(name="noting", sub_agents=[ParallelAgent("p", [pay, fails])], reads=[], writes=[])

    assert (await outcome(flow_of(noting))).status == "completed"
    assert order == ["paid", "caught"]
