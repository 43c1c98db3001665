"""`graphflow run`: run a flow from the shell.

Progress goes to standard error, the result to standard output. Exit code 0: completed; 1: failed; 2: could not start;
3: halted; 130: interrupted.
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
from graphflow.cli.options import DEFAULT_WIDTH, debug_option, in_debug, standard_input
from graphflow.cli.progress import watching
from graphflow.cli.targets import Loaded, load_one
from graphflow.cli.values import STANDARD_INPUT, read_inputs, read_text
from graphflow.errors import ContractError, RunFailed, UsageError
from graphflow.runtime.result import Result
from graphflow.schema import render_text

EXIT_CODES = {"completed": 0, "failed": 1, "halted": 3, "cancelled": 130}


@click.command(
    epilog="Examples: `graphflow run shop.refunds:flow --input order=17 --message @mail.txt`, "
    "`cat mail.txt | graphflow run shop/refunds.py --message - --json`.\n\n"
    "Exit code: 0 completed, 1 failed, 2 could not start, 3 halted."
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
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@debug_option
@click.pass_context
def run(
    ctx: click.Context, target: str, inputs: Sequence[str], message: str | None, models: Sequence[str], as_json: bool
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
        result = execute(ctx, loaded, values, message=said, models=_models(models))
    print_result(result, as_json=as_json)
    ctx.exit(EXIT_CODES[result.status])


def execute(ctx: click.Context, loaded: Loaded, inputs: Mapping[str, object], **options: Any) -> Result:
    """Run a flow and show its progress.

    Args:
        ctx: the command that does it.
        loaded: the flow.
        inputs: input name -> value.
        **options: further arguments of `Flow.run`.

    Returns:
        The result, a failed one included.

    Raises:
        UsageError: the run could not start.
    """
    try:
        with watching(loaded.flow.graph, sys.stderr) as on_event:
            return loaded.flow.run_sync(inputs, on_event=on_event, **options)
    except ContractError as error:
        if not isinstance(error.report, Report):
            raise
        click.echo(text.write([checked(loaded.target, error.report)], Layout(width=DEFAULT_WIDTH)), err=True, nl=False)
        raise UsageError(f"`{loaded.flow.name}` was not started: its check found errors") from error
    except RunFailed as failure:
        if in_debug(ctx):
            click.echo(traceback.format_exc(), err=True)
        if not isinstance(failure.result, Result):
            raise
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


def print_result(result: Result, *, as_json: bool = False, width: int | None = None) -> None:
    """Print the outputs, or why there are none.

    Args:
        result: what the run came to.
        as_json: print the whole result as JSON.
        width: columns to wrap at; None leaves lines as they are, for programs that read them.
    """
    if as_json:
        click.echo(json.dumps(result_data(result), indent=2))
    elif result.status == "completed":
        for key, value in result.outputs.items():
            click.echo(_wrapped(f"{printable(key)}: {_indented(value)}", width))
    if result.status in ("failed", "halted") and not as_json:
        gate = f" at {printable(result.halt.gate)}" if result.halt is not None else ""
        line = f"{result.status}{gate}: {_indented(result.reason)}"
        click.echo(_wrapped(line, width), err=result.status == "failed")


def result_data(result: Result) -> dict[str, Any]:
    """Give a result as JSON-able data: run_id, status, outputs, state, reason, halt, usage, timeline.

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
