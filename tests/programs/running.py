"""Runs drawn programs on an event loop, people included, and looks at the journal while it grows.

::

    told = run_program(Program(tree, seed=3), {"a": 2}, "trio", Random(7))
    told.ending, told.state, told.clock
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from random import Random

import anyio
from anyio.lowlevel import checkpoint

from graphflow import Limits
from graphflow.runtime.journal import Journal, Record, fold
from graphflow.runtime.machine import Machine
from graphflow.runtime.messages import Resume
from graphflow.runtime.scheduler import Driver
from tests.programs.clock import Clock, agent_of
from tests.programs.kinds import KEYS, number_for, seen
from tests.programs.trees import Program

MERGES = {key.name: key.merge for key in KEYS if key.merge is not None}
DEFAULTS = {key.name: key.default for key in KEYS if key.name in ("b", "bag")}


def merges_of(machine: Machine) -> dict[str, object]:
    """The merges of all keys of a program, those of its sub-flows included."""
    return dict(machine.ledger.merged)


def visible(state: Mapping[str, object]) -> dict[str, object]:
    """A state as readers compare it: what is inside of sub-flows left out."""
    return {key: seen(value) for key, value in state.items() if "/" not in key}


@dataclass(slots=True)
class Watched(Journal):
    """A journal that is folded whenever it has grown, and knows which step made each record."""

    machine: Machine | None = None
    steps: list[int] = field(default_factory=list)

    def append(self, records: Iterable[Record], time: float) -> None:
        before, count = len(self.records), self.steps[-1] + 1 if self.steps else 0
        Journal.append(self, records, time)
        self.steps.extend([count] * (len(self.records) - before))
        assert self.machine is not None
        if len(self.records) < 250:
            folded = fold(self.records, merges_of(self.machine))
            assert folded.root == self.machine.root.plain()


@dataclass
class Told:
    """How a run has ended, and all that there is to know about it."""

    machine: Machine
    journal: Watched
    pauses: int = 0

    @property
    def clock(self) -> Clock:
        return Clock(self.journal.records, self.journal.steps)

    @property
    def ending(self) -> str:
        """The status, or the class of the failure."""
        machine = self.machine
        return type(machine.error).__name__ if machine.status == "failed" else str(machine.status)

    @property
    def state(self) -> dict[str, object]:
        return visible(self.machine.root.plain())


def answers_to(machine: Machine, random: Random) -> dict[str, object]:
    """Answers to some of the questions of a paused run."""
    questions = machine.tasks.questions
    chosen = random.sample(sorted(questions), random.randint(1, len(questions)))
    found = {}
    for request in chosen:
        task = questions[request].task
        found[request] = number_for(agent_of(task.node.id), task.frame.turns, questions[request].prompt)
    return found


def run_program(program: Program, inputs: Mapping[str, object], backend: str, random: Random, steps: int = 600) -> Told:
    """Run a program to its end.

    Args:
        program: the program.
        inputs: key -> value.
        backend: the event loop.
        random: whom people's answers come from, and when.
        steps: the most task starts.

    Returns:
        What there is to know. Nothing of the run is left behind.
    """
    machine = Machine(program.whole.plan, "run", steps)
    told = Told(machine, Watched(machine=machine))
    program.ran.clear()
    program.steps.clear()

    async def run() -> None:
        driver = Driver(machine, told.journal, limits=Limits(max_steps=steps))
        with anyio.fail_after(30):
            await driver.run({**DEFAULTS, **inputs})
            while machine.status == "paused":
                told.pauses += 1
                await checkpoint()
                await driver.resume(Resume(answers_to(machine, random)))

    anyio.run(run, backend=backend)
    return told
