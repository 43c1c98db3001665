"""`graphflow run` of a flow that asks people: answered in advance, at a terminal, or not at all."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pytest
from click.testing import Result
from hypothesis import given
from hypothesis import strategies as st

from graphflow import AskAgent, Flow
from graphflow.cli.asking import Answers, choices_of, readings
from graphflow.errors import UsageError
from graphflow.runtime.result import Pending
from tests.cli.samples import one_line

Call = Callable[..., Result]
Program = Callable[..., "subprocess.CompletedProcess[str]"]

ASKS = """\
from typing import Literal

from pydantic import BaseModel

from graphflow import AskAgent, Context, Flow, LoopAgent, ParallelAgent, SequentialAgent, agent, key


class Form(BaseModel):
    who: str
    age: int


@agent(writes="sure")
async def confirm(ctx: Context) -> bool:
    return await ctx.ask("Sure?", bool)


approve = AskAgent(
    "approve", prompt="Refund {amount}?", output_key="approval", output_schema=Literal["approve", "reject"]
)
form = AskAgent("form", prompt="Who?", output_key="form", output_schema=Form)
flow = Flow(
    SequentialAgent("refund", [ParallelAgent("both", [approve, form]), confirm]),
    inputs={"amount": int},
    outputs=["approval", "form", "sure"],
)
again = Flow(
    LoopAgent(
        "rounds",
        [AskAgent("more", prompt="More?", output_key="more", output_schema=bool)],
        until=key("more") == False,  # noqa: E712
        max_iterations=3,
    ),
    inputs={},
    outputs=["more"],
)
"""
RUN = ("run", "asks.py:flow", "--input", "amount=12")
FORM = 'form={"who": "Ann", "age": 3}'


@pytest.fixture(autouse=True)
def _asks(project: Path) -> None:
    """A module whose flows ask."""
    (project / "asks.py").write_text(ASKS, encoding="utf-8")


def test_nobody_answers(call: Call) -> None:
    """Exit code 4; each question with its id, what it takes and how to answer it; nothing is asked without a terminal."""
    result = call(*RUN, stdin="approve\n")
    assert result.exit_code == 4
    assert "paused: waits for 2 answers" in result.stdout
    for words in ("refund/both/approve#1: Refund 12?", "takes approve or reject", "takes Form", "Who?"):
        assert words in result.stdout, words
    assert "--answer 'refund/both/approve#1=approve'" in result.stdout
    assert "both/approve: asks: Refund 12?" in result.stderr
    assert "approval:" not in result.stdout


def test_answered_in_advance(call: Call) -> None:
    """By id, by path, by name; values of any type; also to what code asks, whose type only the run knows."""
    for names in (
        ("approve", "form", "confirm"),
        ("refund/both/approve#1", "refund/both/form#1", "refund/confirm#1"),
        ("refund/both/approve", "refund/both/form", "refund/confirm"),
    ):
        answers = dict(zip(names, ("reject", '{"who": "Ann", "age": 3}', "yes"), strict=True))
        result = call(*RUN, *(f"--answer={name}={value}" for name, value in answers.items()))
        assert result.exit_code == 0, result.output
        assert result.stdout.splitlines() == ["approval: reject", 'form: {"who": "Ann", "age": 3}', "sure: true"]


def test_json(call: Call) -> None:
    """`pending` says all there is to know, and is empty for a run that waits for nothing."""
    result = call(*RUN, "--answer", FORM, "--json")
    document = json.loads(result.stdout)
    assert (result.exit_code, document["status"]) == (4, "paused")
    question = dict(document["pending"][0])
    assert question.pop("asked_at") >= 0
    assert question == {
        "id": "refund/both/approve#1",
        "node": "refund/both/approve",
        "prompt": "Refund 12?",
        "schema": "Literal['approve', 'reject']",
        "deadline": None,
        "default": None,
    }
    assert len(document["pending"]) == 1, "the other one is answered"
    done = call(*RUN, "--answer", FORM, "--answer", "approve=reject", "--answer", "confirm=no", "--json")
    assert json.loads(done.stdout)["pending"] == []
    assert json.loads(done.stdout)["outputs"]["sure"] is False


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("approve=maybe", "`refund/both/approve#1` takes Literal['approve', 'reject']"),
        ("form={}", "`refund/both/form#1` takes Form"),
        ("aprove=reject", "nobody asked `aprove`; did you mean `approve`?"),
    ],
)
def test_answers_that_do_not_fit(call: Call, answer: str, said: str) -> None:
    """One line about it; the run waits."""
    result = call(*RUN, "--answer", answer)
    assert result.exit_code == 4
    assert said in one_line("\n".join(line for line in result.stderr.splitlines() if line.startswith("graphflow:")))


def test_an_answer_answers_once(call: Call) -> None:
    """The same stage asks in each iteration; answers are used in the order given."""
    run = ("run", "asks.py:again")
    once = call(*run, "--answer", "more=yes")
    assert once.exit_code == 4
    assert "rounds/more[2]#1" in once.stdout
    enough = call(*run, "--answer", "more=yes", "--answer", "more=no", "--answer", "more=yes")
    assert (enough.exit_code, enough.stdout) == (0, "more: false\n")
    assert "an answer to `more` was not needed" in enough.stderr
    by_id = call(*run, "--answer", "rounds/more[2]#1=no", "--answer", "rounds/more[1]#1=yes")
    assert (by_id.exit_code, by_id.stdout) == (0, "more: false\n")


@pytest.mark.parametrize("answer", ["approve", "=x"])
def test_what_is_no_answer(call: Call, answer: str) -> None:
    """It is refused before anything starts."""
    result = call(*RUN, "--answer", answer)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "ID=VALUE" in one_line(result.stderr)


def test_a_run_that_fails_after_an_answer(project: Path, call: Call) -> None:
    """The second part of a run fails like the first: one line, exit code 1."""
    source = ASKS.replace('return await ctx.ask("Sure?", bool)', "return bool(1 // 0)")
    (project / "asks.py").write_text(source, encoding="utf-8")
    result = call(*RUN, "--answer", FORM, "--answer", "approve=reject")
    assert result.exit_code == 1
    assert "ZeroDivisionError" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_a_person_at_the_terminal(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked right there, again where the answer does not fit; what is printed for programs stays clean."""
    done = _at_terminal(b"maybe\nreject\nAnn\n" + b'{"who": "Ann", "age": 3}\ny\n', monkeypatch)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["approval: reject", 'form: {"who": "Ann", "age": 3}', "sure: true"]
    for words in ("Refund 12? (approve, reject)", "'maybe' is not", "Who? (Form)", "takes Form", "Sure? (yes or no)"):
        assert words in done.stderr, words


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_a_person_who_leaves(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The end of input leaves the run paused."""
    done = _at_terminal(b"\x04", monkeypatch)
    assert done.returncode == 4
    assert "paused: waits for 2 answers" in done.stdout
    assert "Traceback" not in done.stderr


def _at_terminal(typed: bytes, monkeypatch: pytest.MonkeyPatch) -> subprocess.CompletedProcess[str]:
    """Run the flow with a terminal at which somebody has typed ahead."""
    import pty

    import graphflow

    monkeypatch.setenv("PYTHONPATH", str(Path(graphflow.__file__).parent.parent))
    keyboard, terminal = pty.openpty()
    try:
        os.write(keyboard, typed)
        return subprocess.run(
            [sys.executable, "-m", "graphflow", *RUN],
            stdin=terminal,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    finally:
        os.close(terminal)
        os.close(keyboard)


def question(schema: str, node: str = "elsewhere") -> Pending:
    """A question that code asks."""
    return Pending(f"{node}#1", node, "?", schema, 0.0)


GRAPH = Flow(AskAgent("n", prompt="?", output_key="n", output_schema=Literal[1, "x"])).graph


@given(st.lists(st.one_of(st.integers(), st.booleans(), st.text()), min_size=1, max_size=5))
def test_choices_are_read_from_the_type(values: list[object]) -> None:
    """Each value by how it is written; where two are written alike nothing can be chosen."""
    choices = choices_of(question(f"Literal[{', '.join(map(repr, values))}]"), GRAPH)
    written = [str(value) for value in values]
    assert choices == (dict(zip(written, values, strict=True)) if len(set(written)) == len(written) else {})


@given(st.text())
def test_any_type_can_be_asked_for(schema: str) -> None:
    """Whatever a type is called: there are meanings, and nothing fails."""
    asked = question(f"Literal[{schema}]")
    assert isinstance(choices_of(asked, GRAPH), dict)
    assert list(readings("a", asked, GRAPH))


@given(st.text())
def test_text_is_taken_as_it_is(text: str) -> None:
    """A question for text has one meaning only; one for anything else has the text among its meanings."""
    assert list(readings(text, question("str"), GRAPH)) == [text]
    assert text in list(readings(text, question("Any"), GRAPH))


@pytest.mark.parametrize(("text", "first"), [("1", 1), ("x", "x")])
def test_a_choice_has_its_own_type(text: str, first: object) -> None:
    """The graph knows the type of what a stage asks for."""
    assert next(readings(text, question("Literal[1, 'x']", "n"), GRAPH)) == first


def test_names() -> None:
    """An answer without a name, or without an answer, is none."""
    with pytest.raises(UsageError):
        Answers.of(["x"])
    assert Answers.of(["a=b=c"]).given == [("a", "b=c")]
