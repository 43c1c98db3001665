"""Programs that one can follow with a finger, each with what must come of it in words.

The order of a run is written as its task starts: name, then iterations, indexes and calls. Steps side by side start in an
order that depends on nothing but the program.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial
from typing import Any, Literal

import anyio
import pytest

from graphflow import (
    DEFAULT_ROUTE,
    END,
    START,
    BaseAgent,
    Context,
    Event,
    EventActions,
    Flow,
    Gate,
    Key,
    LoopAgent,
    MapAgent,
    Merge,
    ParallelAgent,
    Result,
    RetryPolicy,
    RunFailed,
    SequentialAgent,
    SubFlow,
    Workflow,
    agent,
    key,
)
from tests.programs.comparing import users_own

Inputs = dict[str, object]


@pytest.fixture(params=["asyncio", "trio"])
def run(request: pytest.FixtureRequest) -> Any:
    """Runs a flow whatever the check says, on both event loops; a failed run gives its result too."""

    def outcome(flow: Flow, inputs: Inputs | None = None) -> Result:
        try:
            return anyio.run(partial(flow.run, inputs or {}, check="off"), backend=request.param)
        except RunFailed as failure:
            return failure.result

    return outcome


def path(result: Result) -> list[str]:
    """The tasks in the order in which they started: the last part of the path, then the iterations."""
    started = [event for event in result.events if event.kind == "task_started"]
    return [" ".join([e.node.rpartition("/")[2], *map(str, e.iterations)]) for e in started]


def codes(flow: Flow) -> set[str]:
    return {finding.code for finding in flow.check().errors}


# --- loops of free-form graphs --------------------------------------------------------------------------------


@agent(writes="turn", blocking=False)
def write(turn: int = 0) -> int:
    return turn + 1


@agent(writes="facts", blocking=False)
def check_facts(turn: int) -> int:
    return turn * 10


@agent(writes="style", blocking=False)
def check_style(turn: int) -> int:
    return turn * 100


@agent(blocking=False)
def judge(facts: int, style: int) -> Literal["again", "done"]:
    return "again" if facts + style < 330 else "done"


def test_a_join_inside_a_cycle(run: Any) -> None:
    """Two checks run side by side in each round; the judge waits for both, each time anew, and sees this round's answers."""
    edges = [(START, write), (write, (check_facts, check_style), judge), (judge, {"again": write, "done": END})]
    flow = Flow(Workflow("review", edges=edges), inputs={})

    result = run(flow)

    rounds = [[f"{name} {turn}" for name in ("write", "check_facts", "check_style", "judge")] for turn in (1, 2, 3)]
    assert result.status == "completed"
    assert path(result) == [step for one in rounds for step in one]
    assert users_own(result.state) == {"turn": 3, "facts": 30, "style": 300}
    assert codes(flow) == set()


@agent(writes="notes", blocking=False)
def note() -> str:
    return "n"


@agent(blocking=False)
def enough(turn: int) -> Literal["again", "done"]:
    return "again" if turn < 3 else "done"


@agent(writes="page", blocking=False)
def publish(turn: int, notes: str = "-") -> str:
    return f"{notes}{turn}"


def test_a_node_entered_from_beside_a_loop_and_from_inside_it(run: Any) -> None:
    """`publish` follows on the loop and on a note taken beside it: it waits for the loop's end and runs once."""
    edges = [(START, (write, note)), (write, enough), (enough, {"again": write, "done": publish}), (note, publish)]
    flow = Flow(Workflow("paper", edges=edges), inputs={}, outputs=["page"])

    result = run(flow)

    assert result.status == "completed"
    assert result.outputs == {"page": "n3"}
    assert [step for step in path(result) if step.startswith(("write", "enough"))] == [
        f"{name} {turn}" for turn in (1, 2, 3) for name in ("write", "enough")
    ]
    assert path(result).count("publish") == 1
    assert path(result)[-1] == "publish"


def test_a_loop_entered_in_its_middle(run: Any) -> None:
    """The note leads into the middle of the loop: the cycle has two entries, which is GF106, and nothing is run."""
    edges = [(START, (write, note)), (write, enough), (enough, {"again": write, "done": END}), (note, enough)]
    flow = Flow(Workflow("paper", edges=edges), inputs={})

    assert codes(flow) == {"GF106"}
    with pytest.raises(ValueError, match="enough"):
        run(flow)


@agent(blocking=False)
def check(turn: int) -> Literal["fine", "poor"]:
    return "fine" if turn == 3 else "poor"


@agent(writes="improved", blocking=False)
def improve(turn: int) -> int:
    return turn


def test_an_exit_from_the_middle_of_a_cycle(run: Any) -> None:
    """The check in the middle lets the third draft out; `improve` behind it has run twice, and is dead in that round."""
    edges = [(START, write, check), (check, {"fine": publish, "poor": improve}), (improve, write)]
    flow = Flow(Workflow("paper", edges=edges), inputs={}, outputs=["page"])

    result = run(flow)

    twice = [f"{name} {turn}" for turn in (1, 2) for name in ("write", "check", "improve")]
    assert path(result) == [*twice, "write 3", "check 3", "publish"]
    assert users_own(result.state) == {"turn": 3, "improved": 2, "page": "-3"}
    assert codes(flow) == set()


@agent(writes="log", blocking=False)
def left(turn: int) -> str:
    return f"left {turn}"


@agent(writes="log", blocking=False)
def right(turn: int) -> str:
    return f"right {turn}"


@agent(blocking=False)
def twice(log: list[str]) -> bool:
    return len(log) < 4


def test_a_fork_inside_a_loop(run: Any) -> None:
    """Both branches append to one list in each round: four entries, by round, then by declaration, none twice."""
    edges = [(START, write, (right, left), twice), (twice, {True: write, False: END})]
    log = Key("log", list[str], default=[], merge=Merge.append)
    flow = Flow(Workflow("rounds", edges=edges), inputs={}, keys=[log])

    result = run(flow)

    assert users_own(result.state)["log"] == ["right 1", "left 1", "right 2", "left 2"]
    assert codes(flow) == set()


@agent(blocking=False)
def forks(turn: int) -> Literal["out"]:
    return "out"


def test_a_loop_left_by_a_fork(run: Any) -> None:
    """One path goes round while the other leaves: GF109 says so before anything runs."""
    edges = [(START, write, forks), (forks, improve, write), (forks, {"out": publish})]
    flow = Flow(Workflow("both", edges=edges), inputs={})

    assert "GF109" in codes(flow)


def test_paths_that_have_not_met_leave_nothing(run: Any) -> None:
    """`write` has ended and waits for the end of the graph; the others meet, and the last step fails: nothing is kept."""

    @agent(blocking=False)
    def begin() -> None:
        pass

    @agent(blocking=False)
    def fail(mailed: bool, chatted: bool) -> None:
        raise OSError("line is down")

    edges = [(START, (write, begin)), (write, END), (begin, (mail, chat), fail)]
    result = run(Flow(Workflow("desk", edges=edges), inputs={}))

    assert result.status == "failed"
    assert result.state == {}


def test_a_route_that_is_not_set_is_the_key_that_is_written(run: Any) -> None:
    """A step that may set its route and does not: its route is the value of the one key it writes."""

    def look(ctx: Context) -> None:
        pass

    @agent(writes=["kind"], blocking=False)
    def classify(ctx: Context) -> dict:
        look(ctx)
        return {"kind": "mail"}

    flow = Flow(Workflow("desk", edges=[(START, classify), (classify, {"mail": mail, DEFAULT_ROUTE: chat})]))

    assert path(run(flow)) == ["classify", "mail"]


def test_a_declared_list_of_routes_is_one(run: Any) -> None:
    """Several routes are allowed if the return type says so, whatever else the function does with its context."""

    def look(ctx: Context) -> None:
        pass

    @agent(blocking=False)
    def triage(ctx: Context) -> list[str]:
        look(ctx)
        return ["mail", "chat"]

    flow = Flow(Workflow("desk", edges=[(START, triage), (triage, {"mail": mail, "chat": chat})]))

    assert path(run(flow)) == ["triage", "mail", "chat"]


# --- routes ---------------------------------------------------------------------------------------------------


@agent(blocking=False)
def triage(parts: list) -> list[Literal["mail", "chat", "call"]]:
    return parts


@agent(writes="mailed", blocking=False)
def mail() -> bool:
    return True


@agent(writes="chatted", blocking=False)
def chat() -> bool:
    return True


@agent(writes="called", blocking=False)
def call() -> bool:
    return True


@agent(writes="summary", blocking=False)
def summary(mailed: bool = False, chatted: bool = False, called: bool = False) -> list:
    return [mailed, chatted, called]


@pytest.mark.parametrize(
    ("parts", "steps"), [(["call", "mail"], ["mail", "call"]), (["chat"], ["chat"]), ([], None)], ids=str
)
def test_several_routes_at_once(parts: list[str], steps: list[str] | None, run: Any) -> None:
    """A list of routes takes several ways side by side; the summary waits for those taken. No route at all matches none."""
    routes = {"mail": mail, "chat": chat, "call": call}
    flow = Flow(Workflow("desk", edges=[(START, triage), (triage, routes, summary)]), inputs={"parts": list})

    result = run(flow, {"parts": parts})

    if steps is None:
        assert type(result.error).__name__ == "RouteError"
        assert path(result) == ["triage"]
    else:
        assert path(result) == ["triage", *steps, "summary"]
        assert result.state["summary"] == [part in parts for part in ("mail", "chat", "call")]
    assert codes(flow) == set()


@agent(blocking=False)
def router(topic: str) -> str:
    return topic


def test_an_unknown_route_with_a_default(run: Any) -> None:
    """What no way is named for takes the default's."""
    flow = Flow(
        Workflow("desk", edges=[(START, router), (router, {"mail": mail, DEFAULT_ROUTE: chat})]), inputs={"topic": str}
    )

    assert path(run(flow, {"topic": "mail"})) == ["router", "mail"]
    assert path(run(flow, {"topic": "fax"})) == ["router", "chat"]


def test_an_unknown_route_without_a_default(run: Any) -> None:
    """The run fails, whatever other edges the router has, and says which route had no way."""
    edges = [(START, note, router), (router, {"mail": mail, "chat": chat}), (router, call)]
    flow = Flow(Workflow("desk", edges=edges), inputs={"topic": str})

    result = run(flow, {"topic": "fax"})

    assert result.status == "failed"
    assert type(result.error).__name__ == "RouteError"
    assert "'fax'" in result.reason
    assert "router" in result.reason
    assert path(result)[:2] == ["note", "router"]
    assert "mail" not in path(result)
    assert users_own(result.state) == {"topic": "fax", "notes": "n"}


def test_a_route_is_compared_by_type_and_value(run: Any) -> None:
    """`True` is not 1."""

    @agent(blocking=False)
    def truth() -> bool:
        return True

    flow = Flow(Workflow("desk", edges=[(START, truth), (truth, {1: mail, DEFAULT_ROUTE: chat})]), inputs={})

    assert path(run(flow)) == ["truth", "chat"]


# --- composites -----------------------------------------------------------------------------------------------


def test_escalate_inside_a_parallel_inside_a_loop_inside_a_map(run: Any) -> None:
    """Each instance has its own loop. `scan` ends it when it has seen enough: `count` beside it still finishes, `passed`
    behind the join does not run in that round, and the other instances go on.
    """

    @agent(blocking=False)
    def scan(ctx: Context, item: int, tries: int = 0) -> None:
        if tries + 1 >= item:
            ctx.actions.escalate = True

    @agent(writes="tries", blocking=False)
    def count(tries: int = 0) -> int:
        return tries + 1

    @agent(writes="passed", blocking=False)
    def passed(passed: int) -> int:
        return passed + 1

    loop = LoopAgent("loop", [ParallelAgent("both", [scan, count]), passed], max_iterations=3, exit_key="how")
    collect = {"tries": "all_tries", "passed": "all_passed", "how": "ends"}
    flow = Flow(
        MapAgent("each", over="items", agent=loop, collect=collect),
        inputs={"items": list[int]},
        keys=[Key("passed", int, default=0)],
    )

    result = run(flow, {"items": [1, 2, 9]})

    assert result.status == "completed"
    assert result.state["all_tries"] == [1, 2, 3]
    assert result.state["all_passed"] == [0, 1, 3]
    assert result.state["ends"] == ["escalate", "escalate", "max_iterations"]
    assert "tries" not in result.state
    assert result.state["passed"] == 0


def test_a_gate_inside_a_branch(run: Any) -> None:
    """The gate halts the whole run, not its branch: `ship` never runs, and nothing of the branches is left."""

    @agent(writes="ok", blocking=False)
    def inspect() -> bool:
        return False

    @agent(writes="shipped", blocking=False)
    def ship() -> bool:
        return True

    branch = SequentialAgent("branch", [inspect, Gate("gate", key("ok"), reason="not ok"), ship])
    flow = Flow(SequentialAgent("order", [note, ParallelAgent("both", [branch, mail]), chat]), inputs={})

    result = run(flow)

    assert (result.status, result.reason) == ("halted", "not ok")
    assert not {"ship", "chat"} & set(path(result))
    assert result.state == {"notes": "n"}


def test_a_gate_inside_a_map(run: Any) -> None:
    """One element that does not pass halts the whole run; no list is written."""

    @agent(writes="risk", blocking=False)
    def assess(item: int) -> int:
        return item * 2

    @agent(writes="paid", blocking=False)
    def pay(item: int) -> int:
        return item

    body = SequentialAgent("body", [assess, Gate("gate", key("risk") < 10, reason="{item} is too much"), pay])
    each = MapAgent("each", over="items", agent=body, collect={"paid": "payments"})
    flow = Flow(SequentialAgent("order", [each, mail]), inputs={"items": list[int]})

    halted = run(flow, {"items": [1, 7, 2]})
    passed = run(flow, {"items": [1, 4]})

    assert (halted.status, halted.reason) == ("halted", "7 is too much")
    assert halted.state == {"items": [1, 7, 2]}
    assert "mail" not in path(halted)
    assert passed.state["payments"] == [1, 4]


class Careful(BaseAgent):
    """Tries to go on whatever its child does."""

    async def run(self, ctx: Context) -> AsyncIterator[Event]:
        yield Event(actions=EventActions(state_delta={"begun": True}))
        try:
            async for event in ctx.run(self.sub_agents[0]):
                yield event
        except Exception:  # noqa: BLE001 - a halt is not to be caught
            yield Event(actions=EventActions(state_delta={"caught": True}))
        yield Event(actions=EventActions(state_delta={"finished": True}))


def test_halt_in_a_child_of_a_custom_agent(run: Any) -> None:
    """The code ends at its `await`, cannot catch the halt, and what it wrote before is not committed."""

    @agent(blocking=False)
    def stop(ctx: Context, begun: bool) -> None:
        ctx.actions.halt = f"begun is {begun}"

    flow = Flow(SequentialAgent("order", [note, Careful(name="careful", sub_agents=[stop]), mail]), inputs={})

    result = run(flow)

    assert (result.status, result.reason) == ("halted", "begun is True")
    assert path(result) == ["note", "careful#code", "stop 1"]
    assert result.state == {"notes": "n"}


def test_workflows_inside_a_parallel(run: Any) -> None:
    """Two free-form graphs run side by side, one with a loop and one with a fork; each sees the state at the fork."""
    rounds = Workflow("rounds", edges=[(START, write, enough), (enough, {"again": write, "done": END})])
    wires = Workflow("wires", edges=[(START, (mail, chat), call)])
    flow = Flow(SequentialAgent("order", [note, ParallelAgent("both", [rounds, wires]), publish]), inputs={})

    result = run(flow)

    assert result.status == "completed"
    assert users_own(result.state) == {
        "notes": "n",
        "turn": 3,
        "mailed": True,
        "chatted": True,
        "called": True,
        "page": "n3",
    }
    assert [step for step in path(result) if step.startswith("write")] == ["write 1", "write 2", "write 3"]


def test_a_sub_flow_used_twice(run: Any) -> None:
    """The same flow stands side by side with itself: its own keys never meet, and only what is mapped comes out."""

    @agent(writes="words", blocking=False)
    def split(text: str) -> list[str]:
        return text.split()

    @agent(writes="short", blocking=False)
    def shorten(words: list[str]) -> str:
        return words[0]

    shortening = Flow(SequentialAgent("shortening", [split, shorten]), inputs={"text": str}, outputs=["short"])
    first = SubFlow("first", shortening, inputs={"text": "title"}, outputs={"short": "short_title"})
    second = SubFlow("second", shortening, inputs={"text": "body"}, outputs={"short": "short_body"})
    flow = Flow(ParallelAgent("both", [first, second]), inputs={"title": str, "body": str})

    result = run(flow, {"title": "tides of May", "body": "high water"})

    assert result.state == {
        "title": "tides of May",
        "body": "high water",
        "short_title": "tides",
        "short_body": "high",
    }


def test_a_sub_flow_used_twice_is_no_finding() -> None:
    """Names are unique for each flow, so one flow may stand twice."""
    inner = Flow(SequentialAgent("inner", [note]), inputs={}, outputs=["notes"])
    first = SubFlow("first", inner, inputs={}, outputs={"notes": "one"})
    second = SubFlow("second", inner, inputs={}, outputs={"notes": "two"})

    assert codes(Flow(SequentialAgent("both", [first, second]), inputs={}, outputs=["one", "two"])) == set()


def test_retry_of_a_composite(run: Any) -> None:
    """Each attempt starts from the state at the entry: what the failed ones appended is gone."""
    calls: list[list[str]] = []

    @agent(writes="log", blocking=False)
    def prepare() -> str:
        return "prepared"

    @agent(writes="log", blocking=False)
    def shaky(log: list[str]) -> str:
        calls.append(log)
        if len(calls) < 3:
            raise OSError("line is down")
        return "sent"

    policy = RetryPolicy(attempts=3, backoff=0, jitter=0)
    log = Key("log", list[str], default=["begin"], merge=Merge.append)
    flow = Flow(SequentialAgent("order", [SequentialAgent("try", [prepare, shaky], retry=policy)]), keys=[log])

    result = run(flow)

    assert result.status == "completed"
    assert result.state["log"] == ["begin", "prepared", "sent"]
    assert calls == [["begin", "prepared"]] * 3
    assert path(result) == ["prepare", "shaky"] * 3
