"""`AskAgent`: one task that asks, its contract, and what it makes of answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import pytest

from graphflow import AskAgent, Flow
from graphflow.context import Context, State
from graphflow.errors import AbsentKeyError, ContractViolation, UsageError
from graphflow.ir.builder import build
from graphflow.ir.nodes import Interface, Task


@dataclass
class Person:
    """Stands for the runtime: gives one answer, and keeps what it was asked."""

    answer: object
    asked: tuple[object, ...] = ()

    async def ask(self, ctx: Context, *asked: object) -> object:
        self.asked = asked
        return self.answer


def task(agent: AskAgent) -> Task:
    node = build(agent, Interface()).nodes[agent.name]
    assert isinstance(node, Task)
    return node


async def answered(agent: AskAgent, answer: object, **state: object) -> tuple[object, Person]:
    body: Any = task(agent).body
    person = Person(answer)
    ctx = Context(State(state), agent.name, services=person)  # type: ignore[arg-type]
    written = await body.call(ctx)
    assert ctx.output == written[agent.output_key]
    return ctx.output, person


def test_contract() -> None:
    """It reads what the question mentions and writes an answer of the schema's type; its time is the person's."""
    node = task(
        AskAgent("a", "{x} {y?}", "k", output_schema=Literal["yes", "no"], timeout=60, retry=2, on_error={"k": "no"})
    )

    assert node.kind == "ask"
    assert [(read.key, read.optional) for read in node.contract.reads] == [("x", False), ("y", True)]
    assert [(write.key, write.type.text) for write in node.contract.writes] == [("k", "Literal['yes', 'no']")]
    assert node.timeout is None
    assert node.retry is not None


@pytest.mark.anyio
async def test_the_question_is_rendered() -> None:
    _, person = await answered(AskAgent("a", "Refund {x}?", "k", timeout=60, default="no"), "yes", x=3)

    assert person.asked == ("Refund 3?", str, 60.0, "no")


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("schema", "answer", "value"), [(int, 3, 3), (int, "3", 3), (str, "3", "3"), (bool, "true", True)]
)
async def test_answers_are_validated_and_text_is_parsed(schema: Any, answer: object, value: object) -> None:
    found, _ = await answered(AskAgent("a", "?", "k", output_schema=schema), answer)

    assert found == value
    assert type(found) is type(value)


@pytest.mark.anyio
@pytest.mark.parametrize("answer", ["maybe", 3, None])
async def test_an_answer_that_does_not_fit(answer: object) -> None:
    with pytest.raises(ContractViolation, match="the answer is no Literal"):
        await answered(AskAgent("a", "?", "k", output_schema=Literal["yes", "no"]), answer)


@pytest.mark.anyio
async def test_a_question_about_nothing() -> None:
    with pytest.raises(AbsentKeyError, match="`x`"):
        await answered(AskAgent("a", "{x}", "k"), "yes")


@pytest.mark.anyio
async def test_outside_of_a_run_nobody_answers() -> None:
    body: Any = task(AskAgent("a", "?", "k")).body
    with pytest.raises(UsageError, match="outside of a run"):
        await body.call(Context(State({}), "a"))


@pytest.mark.anyio
async def test_a_run_pauses_and_goes_on() -> None:
    """The answer comes with `resume`."""
    flow = Flow(AskAgent("a", "Refund {x}?", "k", output_schema=Literal["yes", "no"]), inputs={"x": int}, outputs=["k"])
    paused = await flow.run({"x": 3})
    ended = await flow.resume(paused.run_id, {paused.pending[0].id: "yes"})

    assert (paused.status, paused.pending[0].prompt) == ("paused", "Refund 3?")
    assert (ended.status, ended.state["k"]) == ("completed", "yes")
