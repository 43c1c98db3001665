"""`BaseAgent`: children, contracts, the shape of its graph, and runs of its code."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator
from typing import Any

import pytest

from graphflow import (
    BaseAgent,
    Event,
    EventActions,
    Flow,
    FunctionAgent,
    LlmAgent,
    LoopAgent,
    Result,
    RunFailed,
    SequentialAgent,
    agent,
)
from graphflow.agents.invocation_context import InvocationContext
from graphflow.ir.builder import build
from graphflow.ir.graph import Graph
from graphflow.ir.nodes import Interface, Task
from graphflow.ir.text import print_graph


def model(name: str, output_key: str) -> LlmAgent:
    return LlmAgent(name=name, instruction="x", output_key=output_key)


@agent(writes="count", blocking=False)
def step(count: int = 0) -> int:
    return count + 1


class Checker(BaseAgent):
    async def run(self, ctx: Any) -> AsyncIterator[Event]:
        yield Event(author=self.name, actions=EventActions(escalate=ctx.state["count"] >= 3))


class Story(BaseAgent):
    """As it is written for ADK: its own constructor, agents in fields and below other agents, `session.state`."""

    generate: FunctionAgent
    critic: LlmAgent
    reviser: LlmAgent
    loop: LoopAgent

    def __init__(self, name: str, generate: FunctionAgent, critic: LlmAgent, reviser: LlmAgent) -> None:
        loop = LoopAgent(name="loop", sub_agents=[critic, reviser], max_iterations=2)
        super().__init__(
            name=name, generate=generate, critic=critic, reviser=reviser, loop=loop, sub_agents=[generate, loop]
        )

    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncIterator[Event]:
        async for event in self.generate.run_async(ctx):
            yield event
        if "count" not in ctx.session.state:
            return
        async for event in self.loop.run_async(ctx):
            yield event


class Twice(BaseAgent):
    worker: FunctionAgent
    others: dict[str, list[Checker]]

    async def run(self, ctx: Any) -> int:
        first = await ctx.run(self.worker)
        ctx.state["first"] = first
        return first + await ctx.run(self.worker)


def graph_of(root: Any) -> Graph:
    return build(root, Interface())


async def run(root: Any, inputs: dict[str, Any] | None = None) -> Result:
    return await Flow(root).run(inputs or {}, check="off")


def story() -> Story:
    return Story("story", step.clone(), model("critic", "critique"), model("reviser", "count"))


def test_children_are_what_fields_hold() -> None:
    """Fields, lists and mappings in them, `sub_agents`; each once, and none that only stands below another child."""
    made = story()
    twice = Twice("twice", worker=step.clone(), others={"a": [Checker("one")], "b": [Checker("two")]})

    assert [child.name for child in made.children()] == ["step", "loop"]
    assert [child.name for child in twice.children()] == ["step", "one", "two"]
    assert made.loop.parent_agent is made
    assert made.find_agent("reviser") is made.reviser


def test_a_copy_has_copies_of_the_children() -> None:
    """Also where the class has a constructor of its own; agents that stand in several fields stay one."""
    made = story()
    copy = made.clone({"name": "copy"})

    assert copy.critic is not made.critic
    assert copy.loop.sub_agents == (copy.critic, copy.reviser)
    assert [child.name for child in copy.children()] == ["step", "loop"]


def test_it_knows_where_it_was_made() -> None:
    """That is where the user made it, not a line of its class's constructor."""
    made, line = story(), inspect.stack()[0].lineno
    other = Story("o", step.clone(), model("c", "d"), model("r", "count"))

    assert other.origin is not None
    assert other.origin.line == line + 1
    assert made.origin is not None
    assert made.origin.line != other.origin.line


def test_declared_and_inferred() -> None:
    """What is declared, in the class or at the call, takes the place of what the source says."""

    class Declared(BaseAgent):
        reads = ("status?",)
        may_write = {"note": str}  # noqa: RUF012 - as users write it
        escalates = False
        effect = "irreversible"

        async def run(self, ctx: Any) -> AsyncIterator[Event]:
            yield Event(actions=EventActions(state_delta={"other": ctx.state["x"]}, escalate=True))

    class Narrower(Declared):
        effect: str = "none"  # type: ignore[assignment]

    contract = Declared("d").contract
    at_call = Declared("d", writes="sure", escalates=True, effect="idempotent").contract

    assert [(read.key, read.optional) for read in contract.reads] == [("status", True)]
    assert [(write.key, write.type.text, write.sure) for write in contract.writes] == [("note", "str", False)]
    assert (contract.escalates, contract.effect, contract.open) == (False, "irreversible", ())
    assert [(write.key, write.sure) for write in at_call.writes] == [("note", False), ("sure", True)]
    assert (at_call.escalates, at_call.effect) == (True, "idempotent")
    assert Narrower("n").contract.effect == "none"
    assert [write.key for write in Checker("c").contract.writes] == []
    assert Checker("c").contract.escalates


def test_the_graph() -> None:
    """Without children one task; with children a region: the code, an edge to each child, one back from it."""
    text = print_graph(graph_of(Twice("twice", worker=step.clone(), others={"a": [Checker("one")]})))

    assert text.splitlines()[2:] == [
        "region twice custom",
        "entry @entry",
        "task twice#code custom writes first: Any",
        "task twice/step code reads count?: int writes count: int",
        "join twice/step#return exclusive within twice",
        "task twice/one custom reads count: Any escalates",
        "join twice/one#return exclusive within twice",
        "exit @exit",
        "edge @entry -> twice#code",
        "edge twice#code -> twice/step [call:step]",
        "edge twice#code -> twice/one [call:one]",
        "edge twice#code -> @exit",
        "edge twice/step -> twice/step#return",
        "edge twice/step#return -> twice#code back",
        "edge twice/one -> twice/one#return",
        "edge twice/one -> twice/one#return [escalate]",
        "edge twice/one#return -> twice#code back",
        "edge twice/one#return -> twice#code [escalate] back",
    ]
    assert [type(node) for node in graph_of(Checker("alone")).nodes.values()][1] is Task


def test_guards_of_code_with_children_are_on_the_code() -> None:
    """Attempts and limit are the task's, and its failure leads to what runs instead."""
    graph = graph_of(Twice("t", worker=step.clone(), others={}, retry=2, timeout=5, on_error={"first": 0}))
    code = graph.nodes["t#code"]

    assert isinstance(code, Task)
    assert code.retry is not None
    assert (code.retry.attempts, code.timeout) == (2, 5.0)
    assert {(edge.label, edge.target) for edge in graph.out("t#code") if not edge.label.startswith("call:")} == {
        ("next", "t#handled"),
        ("error", "t#fallback"),
    }


def test_reads_of_what_children_write_are_optional() -> None:
    """The code may read such a key after a child has written it; any other has to be there at its start."""

    class Reads(BaseAgent):
        async def run(self, ctx: Any) -> None:
            for child in self.sub_agents:
                await ctx.run(child)
            print(ctx.state["draft"], ctx.state["topic"])

    below = SequentialAgent("s", [model("w", "other")], on_error={"draft": ""})
    reads = graph_of(Reads("r", sub_agents=[below])).nodes["r#code"].contract.reads

    assert {read.key: read.optional for read in reads} == {"draft": True, "topic": False}


def test_escalations_of_children_go_where_the_code_lets_them() -> None:
    """Out of the agent only if the code yields the events on; out of a loop in between never."""

    class Passes(BaseAgent):
        async def run(self, ctx: Any) -> AsyncIterator[Event]:
            async for event in ctx.run(self.sub_agents[0]):
                yield event

    class Keeps(BaseAgent):
        async def run(self, ctx: Any) -> None:
            await ctx.run(self.sub_agents[0])

    def leaves(custom: BaseAgent) -> list[str]:
        graph = graph_of(LoopAgent("l", [custom], max_iterations=2))
        return [edge.label for edge in graph.edges if edge.source == "l/c#code" and edge.target == "l#exit"]

    opens = FunctionAgent(name="open", func=lambda ctx: print(ctx))

    assert leaves(Passes("c", sub_agents=[Checker("x")])) == ["escalate"]
    assert leaves(Passes("c", sub_agents=[SequentialAgent("s", [Checker("x")])])) == ["escalate"]
    assert leaves(Passes("c", sub_agents=[opens])) == ["escalate?"]
    assert leaves(Passes("c", sub_agents=[LoopAgent("i", [Checker("x")], max_iterations=1)])) == []
    assert leaves(Keeps("c", sub_agents=[Checker("x")])) == []
    assert leaves(Passes("c", sub_agents=[Checker("x")], escalates=False)) == []


@pytest.mark.anyio
async def test_code_sees_what_its_children_did() -> None:
    """As soon as a child has succeeded; the output of a call is the child's."""
    result = await run(Twice("twice", worker=step.clone(), others={}))

    assert result.state == {"count": 2, "first": 1}


@pytest.mark.anyio
async def test_adk_code_runs() -> None:
    """Events of children, `session.state`, a loop inside."""
    critic = FunctionAgent(name="critic", func=lambda count: count, writes="critique")

    class Plain(Story):
        critic: Any  # type: ignore[assignment]
        reviser: Any  # type: ignore[assignment]

    reviser = FunctionAgent(name="reviser", func=lambda count, critique: count + critique, writes="count")
    result = await run(Plain("story", step.clone(), critic, reviser))  # type: ignore[arg-type]

    assert result.state == {"count": 4, "critique": 2}


@pytest.mark.anyio
async def test_nothing_to_do() -> None:
    """An agent without code does nothing, and does not run its children."""
    result = await run(SequentialAgent("s", [BaseAgent(name="idle", sub_agents=[step.clone()]), BaseAgent("alone")]))

    assert result.state == {}


@pytest.mark.anyio
@pytest.mark.parametrize("times", [1, 3])
async def test_escalate_ends_the_loop(times: int) -> None:
    """From an event of the code, after so many rounds as it takes."""

    class Until(BaseAgent):
        async def run(self, ctx: Any) -> AsyncIterator[Event]:
            yield Event(author=self.name, actions=EventActions(escalate=ctx.state["count"] >= times))

    result = await run(LoopAgent("l", [step.clone(), Until("until")], max_iterations=9, exit_key="how"))

    assert result.state == {"count": times, "how": "escalate"}


@pytest.mark.anyio
async def test_what_is_wrong_with_a_yield() -> None:
    """Something that is no event, and a write that no contract names, fail the run with a text that says so."""

    class Wrong(BaseAgent):
        async def run(self, ctx: Any) -> AsyncIterator[Any]:
            yield 3

    class Undeclared(BaseAgent):
        reads: Any = ()
        writes: Any = ()

        async def run(self, ctx: Any) -> AsyncIterator[Event]:
            yield Event(actions=EventActions(state_delta={"b": 1}))

    class Stranger(BaseAgent):
        async def run(self, ctx: Any) -> None:
            await ctx.run(step)

    for made, expected in (
        (Wrong("w"), "yields Event"),
        (Undeclared("u"), "`b`"),
        (Stranger("s"), "which is no child of it"),
    ):
        with pytest.raises(RunFailed, match=expected):
            await run(made)


@pytest.mark.anyio
async def test_a_halt_ends_the_code() -> None:
    """Nothing after the event that halts is done."""
    done: list[str] = []

    class Halts(BaseAgent):
        async def run(self, ctx: Any) -> AsyncIterator[Event]:
            yield Event(author=self.name, actions=EventActions(halt="enough"))
            done.append("more")

    result = await run(Halts("h"))

    assert (result.status, result.reason, done) == ("halted", "enough", [])


@pytest.mark.anyio
async def test_steps_and_journaled_chance() -> None:
    """Steps give what their functions give; time, chance and identity have their types."""

    async def later(text: str) -> str:
        return text.upper()

    class Steps(BaseAgent):
        writes = "seen"

        async def run(self, ctx: Any) -> None:
            now, number, identity = await ctx.now(), await ctx.random(), await ctx.uuid()
            ctx.state["seen"] = [
                await ctx.step("size", len, "abc"),
                await ctx.step("upper", later, "abc"),
                now.tzinfo is not None,
                0 <= number < 1,
                len(str(identity)),
            ]

    assert (await run(Steps("s"))).state["seen"] == [3, "ABC", True, True, 36]
