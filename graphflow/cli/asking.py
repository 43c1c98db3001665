"""What a paused run asks, answered: by `--answer`, by the person at the terminal, or left open.

::

    answers = Answers.of(["approve=reject"])
    answers.take(pending)                            # "reject", once; None for what has no answer
    list(readings("7", pending, graph))              # [7, "7"]: what the text can mean, the likeliest first

Which of the meanings fits is for the run to say: it goes on with the first that does. This module knows questions and text;
it starts and resumes nothing.
"""

from __future__ import annotations

import ast
import json
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field

import click

from graphflow.checker.formats import printable
from graphflow.errors import UsageError, closest
from graphflow.ir.graph import Graph
from graphflow.ir.nodes import Task, agent_path
from graphflow.runtime.result import Pending
from graphflow.schema import ANY, Type, TypeMismatch, closed_values, from_json, type_of

_TEXT = type_of(str)
_YES_OR_NO: Mapping[str, object] = {"yes": True, "no": False, "y": True, "n": False}


@dataclass(slots=True)
class Answers:
    """Answers given in advance: who is answered, and what. Each answers one question, the first given first."""

    given: list[tuple[str, str]] = field(default_factory=list)

    @classmethod
    def of(cls, pairs: Sequence[str]) -> Answers:
        """Read `ID=VALUE`.

        Args:
            pairs: as given on the command line.

        Raises:
            UsageError: one without `=` or without a name.
        """
        answers = cls()
        for pair in pairs:
            name, equals, value = pair.partition("=")
            if not equals or not name.strip():
                raise UsageError(
                    f"--answer takes ID=VALUE, got `{pair}`; ID is a question's id or the stage that asks it"
                )
            answers.given.append((name.strip(), value))
        return answers

    def take(self, question: Pending) -> str | None:
        """Take out the answer to a question.

        Args:
            question: what is asked.

        Returns:
            The first answer to its id, or to the path or name of the stage that asks; None if there is none.
        """
        names = names_of(question)
        for index, (name, value) in enumerate(self.given):
            if name in names:
                del self.given[index]
                return value
        return None

    def unused(self, known: Sequence[str]) -> Iterator[str]:
        """Say which answers answered nothing.

        Args:
            known: the names that questions of the run had.
        """
        for name, _ in self.given:
            if name in known:
                yield f"an answer to `{name}` was not needed"
            else:
                near = closest(name, known)
                yield f"nobody asked `{name}`" + (f"; did you mean `{near}`?" if near else "")


def names_of(question: Pending) -> tuple[str, ...]:
    """Give what a question can be called: its id, the path and the name of the stage that asks it."""
    path = agent_path(question.node)
    return question.id, path, path.rpartition("/")[2]


def readings(text: str, question: Pending, graph: Graph) -> Iterator[object]:
    """Give what an answer can mean, the likeliest first.

    Args:
        text: what was said.
        question: what was asked.
        graph: the flow, which knows what its stages ask for.
    """
    type_ = _asked_for(question, graph)
    if type_ == _TEXT or question.schema == _TEXT.text:
        yield text
        return
    choices = choices_of(question, graph)
    if text in choices:
        yield choices[text]
        return
    if question.schema == "bool" and text.strip().casefold() in _YES_OR_NO:
        yield _YES_OR_NO[text.strip().casefold()]
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        data = text
    for given in (data, text):
        try:
            yield given if type_ == ANY else from_json(given, type_)
        except TypeMismatch:
            yield given  # the run says what is wrong with it


def choices_of(question: Pending, graph: Graph) -> dict[str, object]:
    """Give the answers that there are to choose from: how each is written -> the value; empty if any will do.

    Args:
        question: what is asked.
        graph: the flow, which knows what its stages ask for.
    """
    values = closed_values(_asked_for(question, graph)) if question.schema != "bool" else None
    if values is None:
        values = _literal(question.schema)
    written = [value if isinstance(value, str) else str(getattr(value, "value", value)) for value in values]
    return dict(zip(written, values, strict=True)) if len(set(written)) == len(written) else {}


def _asked_for(question: Pending, graph: Graph) -> Type:
    """The type of the answer as far as the graph knows it; what code asks for is known by the question's text only."""
    node = graph.nodes.get(question.node)
    if isinstance(node, Task) and node.kind == "ask" and node.contract.writes:
        return node.contract.writes[0].type
    return ANY


def _literal(schema: str) -> tuple[object, ...]:
    """Read `Literal['a', 'b']`; empty for any other type."""
    if not schema.startswith("Literal[") or not schema.endswith("]"):
        return ()
    try:
        values = ast.literal_eval(f"[{schema.removeprefix('Literal[')}")
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return ()
    return tuple(values)


def ask_person(question: Pending, graph: Graph) -> str | None:
    """Ask the person at the terminal.

    Args:
        question: what is asked.
        graph: the flow it belongs to.

    Returns:
        What was said; None if the person would rather not.
    """
    choices = choices_of(question, graph)
    kind = (
        None
        if choices or question.schema in ("str", "Any")
        else "yes or no"
        if question.schema == "bool"
        else question.schema
    )
    prompt = printable(" ".join(question.prompt.split())) + (f" ({printable(kind)})" if kind else "")
    try:
        with redirect_stdout(sys.stderr):  # click writes a part of the prompt to standard output, which is for results
            return str(click.prompt(prompt, type=click.Choice(list(choices)) if choices else str, err=True))
    except click.Abort:
        click.echo(err=True)
        return None


def described(questions: Sequence[Pending], graph: Graph) -> Iterator[str]:
    """Say in lines what a paused run waits for, and how to answer it.

    Args:
        questions: what is asked.
        graph: the flow.
    """
    count = "1 answer" if len(questions) == 1 else f"{len(questions)} answers"
    yield f"paused: waits for {count}"
    for question in questions:
        choices = list(choices_of(question, graph))
        limit = f", within {question.deadline - question.asked_at:g} s" if question.deadline is not None else ""
        default = f", else {printable(str(question.default))}" if question.default is not None else ""
        yield f"  {printable(question.id)}: {printable(' '.join(question.prompt.split()))}"
        yield f"    takes {printable(' or '.join(choices) or question.schema)}{limit}{default}"
        example = shlex.quote(printable(f"{question.id}={choices[0] if choices else 'VALUE'}"))
        yield f"    answer it with: --answer {example}"
    yield "The run ends with this process: start it again with the answers, or in a terminal, which asks for them."
