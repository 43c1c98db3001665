"""Odd programs: free-form graphs that need not make sense, inside and beside trees, guards, maps and custom agents.

Their steps fail, halt, escalate, choose unknown routes and break their contracts. Nothing is said about what they mean, only
that a run of one ends::

    wild_flow(Random(7)).stream({"a": 2}, check="off", limits=Limits(max_steps=80))
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from random import Random
from typing import Any

from graphflow import (
    BaseAgent,
    Context,
    Event,
    EventActions,
    Flow,
    FunctionAgent,
    LoopAgent,
    MapAgent,
    ParallelAgent,
    RetryPolicy,
    SequentialAgent,
    SubFlow,
)
from tests.programs.drawing import odd_graph, random_graph
from tests.programs.graphs import GraphProgram
from tests.programs.trees import KEYS, Program, random_tree


class Wilful(BaseAgent):
    """Runs its children as often as a digest says, writes in between, and at times raises, escalates or swallows errors."""

    salt: int = 0

    async def run(self, ctx: Context) -> AsyncIterator[Event]:
        yield Event(actions=EventActions(state_delta={"e": self.salt % 4}))
        for place, child in enumerate(self.sub_agents * (1 + self.salt % 2)):
            try:
                async for event in ctx.run(child):
                    yield event
            except Exception:
                if self.salt >> place & 1:
                    raise
        yield Event(actions=EventActions(escalate=self.salt % 3 == 0))


class _Drawing:
    def __init__(self, random: Random) -> None:
        self.random = random
        self.count = 0

    def name(self, kind: str) -> str:
        self.count += 1
        return f"{kind}_{self.count}"

    def agent(self, depth: int) -> Any:
        if depth <= 0:
            return self.random.choice([self.graph, self.graph, self.tree, self.leaf])(depth)
        kinds = [self.sequence, self.parallel, self.loop, self.map, self.custom, self.subflow, self.graph, self.graph]
        return self.random.choice(kinds)(depth - 1)

    def agents(self, depth: int) -> list[Any]:
        return [self.agent(depth) for _ in range(self.random.randint(1, 3))]

    def guard(self) -> dict[str, Any]:
        """What is to happen when it fails."""
        return self.random.choice(
            [
                {},
                {},
                {"retry": RetryPolicy(attempts=2, backoff=0, jitter=0)},
                {"on_error": {"e": 1}},
                {"on_error": self.leaf(0)},
                {"retry": RetryPolicy(attempts=2, backoff=0, jitter=0), "on_error": {"d": 1, "e": 2}},
            ]
        )

    def leaf(self, _: int) -> Any:
        def fail(ctx: Context) -> None:
            raise OSError("no line")

        def stray(ctx: Context) -> dict[str, object]:
            return {"nowhere": 1}

        def escalate(ctx: Context) -> None:
            ctx.actions.escalate = True

        def unhashable(ctx: Context) -> dict[str, object]:
            ctx.route = [{}]
            return {"c": object()}

        func = self.random.choice([fail, stray, escalate, unhashable])
        writes = {"writes": ["c"]} if func is unhashable else {}
        return FunctionAgent(name=self.name("leaf"), func=func, blocking=False, **writes)

    def tree(self, _: int) -> Any:
        flow = Program(random_tree(self.random, 2), 0).flow()
        return SubFlow(self.name("tree"), flow, inputs={"a": "a"}, outputs={"a": "a"})

    def graph(self, depth: int) -> Any:
        """A graph, odd or sensible, some of whose nodes are agents with an inside."""
        draw = self.random.choice([odd_graph, random_graph])
        graph = draw(self.random, most=5)
        names = {step.name: self.name(step.name) for step in graph.steps}
        program = GraphProgram(graph, 0, self.random.randrange(1000))
        inside = {
            step.name: self.agent(depth - 1) for step in graph.steps if depth > 0 and self.random.randrange(5) == 0
        }
        return program.workflow(self.name("graph"), names=names, inside=inside)

    def sequence(self, depth: int) -> Any:
        return SequentialAgent(self.name("seq"), self.agents(depth), **self.guard())

    def parallel(self, depth: int) -> Any:
        agents = self.agents(depth)
        more: dict[str, Any] = self.random.choice([{}, {"join": "any"}, {"join": 1}, {"on_error": "collect"}])
        if self.random.randrange(4) == 0:
            more = {**more, "max_concurrency": self.random.randint(1, 2)}
        return ParallelAgent(self.name("par"), agents, **more)

    def loop(self, depth: int) -> Any:
        return LoopAgent(
            self.name("loop"), self.agents(depth), max_iterations=self.random.randint(1, 3), **self.guard()
        )

    def map(self, depth: int) -> Any:
        more: dict[str, Any] = self.random.choice([{}, {"on_error": "collect"}, {"max_concurrency": 1}])
        return MapAgent(self.name("map"), over="bag", agent=self.agent(depth), collect={"c": "d"}, **more)

    def custom(self, depth: int) -> Any:
        return Wilful(name=self.name("own"), sub_agents=self.agents(depth), salt=self.random.randrange(64))

    def subflow(self, depth: int) -> Any:
        flow = Flow(self.agent(depth), inputs={"a": int}, keys=KEYS)
        return SubFlow(self.name("sub"), flow, inputs={"a": "a"}, outputs={"b": "b"})


def wild_flow(random: Random) -> Flow:
    """Draw an odd program."""
    return Flow(_Drawing(random).agent(3), inputs={"a": int}, keys=KEYS)
