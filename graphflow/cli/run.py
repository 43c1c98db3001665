"""`graphflow run`: run a flow from the shell.

Progress goes to standard error, the result to standard output. What a run asks is answered by `--answer`, or by the person
at the terminal. Exit code 0: completed; 1: failed; 2: could not start; 3: halted; 4: paused; 130: interrupted.
"""

from __future__ import annotations

import json
import sys
import textwrap
import traceback
from collections.abc import Mapping, Sequence
from contextlib import nullcontext, redirect_stdout
from dataclasses import asdict
from typing import Any

import click
from pydantic_core import PydanticSerializationError, to_jsonable_python

from graphflow.checker.diagnostics import Report
from graphflow.checker.formats import Checked, Layout, printable, text
from graphflow.cli.asking import Answers, ask_person, described, names_of, readings
from graphflow.cli.options import DEFAULT_WIDTH, debug_option, in_debug, is_terminal, standard_input
from graphflow.cli.progress import Progress, watching
from graphflow.cli.targets import Loaded, load_one
from graphflow.cli.values import STANDARD_INPUT, read_inputs, read_text
from graphflow.errors import ContractError, RunFailed, UsageError
from graphflow.flow import Flow
from graphflow.runtime.result import Pending, Result
from graphflow.schema import render_text

EXIT_CODES = {"completed": 0, "failed": 1, "halted": 3, "paused": 4, "cancelled": 130}


@click.command(
    epilog="Examples: `graphflow run shop.refunds:flow --input order=17 --message @mail.txt`, "
    "`cat mail.txt | graphflow run shop/refunds.py --message - --json`, "
    "`graphflow run shop.refunds:flow --answer approve=yes`.\n\n"
    "Exit code: 0 completed, 1 failed, 2 could not start, 3 halted, 4 paused with a question that nobody answered."
)
@click.argument("target")
@click.option(
    "--input",
    "inputs",
    multiple=True,
    metavar="K=V|K=@FILE|K=-",
    help="An input: text or JSON, a file, standard input.",
)
@click.option("--message", metavar="TEXT|@FILE|-", help="The user's message.")
@click.option("--model", "models", multiple=True, metavar="[NODE=]NAME", help="Replace the model of a node, or of all.")
@click.option(
    "--answer",
    "answers",
    multiple=True,
    metavar="ID=VALUE",
    help="Answer a question of the run; ID is its id, or the name or path of the stage that asks. Each answers one "
    "question, in the order given.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@debug_option
@click.pass_context
def run(
    ctx: click.Context,
    target: str,
    inputs: Sequence[str],
    message: str | None,
    models: Sequence[str],
    answers: Sequence[str],
    as_json: bool,
) -> None:
    """Check TARGET, run it and print its outputs."""
    asks = [pair for pair in inputs if pair.partition("=")[2] == STANDARD_INPUT] + [
        m for m in (message,) if m == STANDARD_INPUT
    ]
    if len(asks) > 1:
        raise UsageError("standard input can be read only once; only one of --input and --message can be `-`")
    # What the target prints belongs to a person; the JSON on standard output belongs to a program.
    with redirect_stdout(sys.stderr) if as_json else nullcontext():
        loaded = load_one(target)
        stdin = standard_input()
        values = read_inputs(inputs, loaded.flow, stdin)
        said = read_text(message, "the message", stdin) if message is not None else None
        result = execute(ctx, loaded, values, Answers.of(answers), message=said, models=_models(models))
    print_result(result, loaded, as_json=as_json)
    ctx.exit(EXIT_CODES[result.status])


def execute(
    ctx: click.Context, loaded: Loaded, inputs: Mapping[str, object], answers: Answers | None = None, **options: Any
) -> Result:
    """Run a flow, show its progress and have its questions answered.

    Args:
        ctx: the command that does it.
        loaded: the flow.
        inputs: input name -> value.
        answers: what is answered in advance; what is not is asked where standard input is a terminal.
        **options: further arguments of `Flow.run`.

    Returns:
        The result: a failed one and one that waits for an answer, too.

    Raises:
        UsageError: the run could not start.
    """
    flow, progress = loaded.flow, Progress.of(loaded.flow)
    try:
        with watching(progress, sys.stderr) as on_event:
            result = flow.run_sync(inputs, on_event=on_event, **options)
    except ContractError as error:
        if not isinstance(error.report, Report):
            raise
        click.echo(text.write([checked(loaded.target, error.report)], Layout(width=DEFAULT_WIDTH)), err=True, nl=False)
        raise UsageError(f"`{flow.name}` was not started: its check found errors") from error
    except RunFailed as failure:
        result = _failed(ctx, failure)
    answers, known = answers or Answers(), []
    while result.status == "paused":
        known += [name for question in result.pending for name in names_of(question)]
        try:
            following = _answered(flow, progress, result, answers)
        except RunFailed as failure:
            following = _failed(ctx, failure)
        if following is None:
            break
        result = following
    for line in answers.unused(known):
        click.echo(f"graphflow: {printable(line)}", err=True)
    return result


def _answered(flow: Flow, progress: Progress, result: Result, answers: Answers) -> Result | None:
    """Go on with a paused run by one answer; None: there is none."""
    for question in result.pending:
        given = answers.take(question)
        while given is not None:
            following = _resumed(flow, progress, result, question, given)
            if following is not None:
                return following
            given = answers.take(question)
    person = sys.stdin is not None and is_terminal(sys.stdin)
    while person and (said := ask_person(result.pending[0], flow.graph)) is not None:
        following = _resumed(flow, progress, result, result.pending[0], said)
        if following is not None:
            return following
    return None


def _resumed(flow: Flow, progress: Progress, result: Result, question: Pending, said: str) -> Result | None:
    """Go on with the first meaning of an answer that fits; None: none does, which is said."""
    refusal = ""
    for answer in readings(said, question, flow.graph):
        try:
            with watching(progress, sys.stderr) as on_event:
                return flow.resume_sync(result.run_id, {question.id: answer}, on_event=on_event)
        except UsageError as error:
            refusal = refusal or str(error).partition(": ")[2]
    click.echo(f"graphflow: {printable(refusal)}", err=True)
    return None


def _failed(ctx: click.Context, failure: RunFailed) -> Result:
    if in_debug(ctx):
        click.echo(traceback.format_exc(), err=True)
    if not isinstance(failure.result, Result):
        raise failure
    return failure.result


def checked(target: str, report: Report) -> Checked:
    """Give a report the form that formats take.

    Args:
        target: what was checked.
        report: what was found.
    """
    found, suppressed = (
        tuple(one.as_dict() for one in findings) for findings in (report.diagnostics, report.suppressed)
    )
    return Checked(target, report.flow, found, suppressed)


def print_result(result: Result, loaded: Loaded, *, as_json: bool = False, width: int | None = None) -> None:
    """Print the outputs, or why there are none.

    Args:
        result: what the run came to.
        loaded: what ran.
        as_json: print the whole result as JSON.
        width: columns to wrap at; None leaves lines as they are, for programs that read them.
    """
    if as_json:
        click.echo(json.dumps(result_data(result), indent=2))
    elif result.status == "completed":
        for key, value in result.outputs.items():
            click.echo(_wrapped(f"{printable(key)}: {_indented(value)}", width))
    elif result.status == "paused":
        for said in described(result.pending, loaded.flow.graph):
            click.echo(said)
    if result.status in ("failed", "halted") and not as_json:
        gate = f" at {printable(result.halt.gate)}" if result.halt is not None else ""
        line = f"{result.status}{gate}: {_indented(result.reason)}"
        click.echo(_wrapped(line, width), err=result.status == "failed")


def result_data(result: Result) -> dict[str, Any]:
    """Give a result as JSON-able data: run_id, status, outputs, state, reason, halt, pending, usage, timeline.

    Args:
        result: what the run came to.
    """
    usage = result.usage
    return {
        "run_id": result.run_id,
        "status": result.status,
        "outputs": {key: _plain(value) for key, value in result.outputs.items()},
        "state": {key: _plain(value) for key, value in result.state.items()},
        "reason": result.reason,
        "error": type(result.error).__name__ if result.error is not None else None,
        "halt": _plain(asdict(result.halt)) if result.halt is not None else None,
        "pending": [_plain(asdict(question)) for question in result.pending],
        "usage": {
            **asdict(usage.total),
            "by_model": {name: asdict(share) for name, share in usage.by_model.items()},
            "by_node": {name: asdict(share) for name, share in usage.by_node.items()},
        },
        "timeline": [asdict(span) for span in result.timeline],
    }


def _plain(value: object) -> Any:
    try:
        return to_jsonable_python(value, bytes_mode="base64", inf_nan_mode="strings", fallback=repr)
    except (PydanticSerializationError, ValueError):
        return repr(value)


def _indented(value: object) -> str:
    lines = [printable(line) for line in render_text(value).splitlines()] or [""]
    return "\n  ".join(lines)


def _wrapped(text: str, width: int | None) -> str:
    if width is None:
        return text
    return "\n".join(textwrap.fill(line, width, subsequent_indent="  ") for line in text.splitlines())


def _models(pairs: Sequence[str]) -> dict[str, Any]:
    chosen: dict[str, Any] = {}
    for pair in pairs:
        node, equals, name = pair.rpartition("=")
        node = node if equals else "*"
        if not node or not name:
            raise UsageError(f"--model takes NAME or NODE=NAME, got `{pair}`")
        if node in chosen:
            raise UsageError(f"--model gives a model for `{node}` twice")
        chosen[node] = name
    return chosen
