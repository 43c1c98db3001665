"""`graphflow demo`: the shipped invoice pipeline, checked, run and drawn, with no network and no keys.

With `--model` a language model is asked in place of the shipped functions: that needs what its provider needs.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import click

from graphflow.checker.formats import Layout, printable, text
from graphflow.cli.options import debug_option, layout, standard_input
from graphflow.cli.run import EXIT_CODES, checked, execute, print_result
from graphflow.cli.table import contract_table
from graphflow.cli.targets import load_one
from graphflow.cli.values import read_text
from graphflow.ir.graph import Graph
from graphflow.ir.nodes import Task, agent_path
from graphflow.models import resolve_model
from graphflow.runtime.result import Result

TARGET = "graphflow.examples.invoice:flow"
SAMPLES = {
    "approved": "an invoice that is in order",
    "transposed": "a digit transposition in the total",
    "malformed": "no invoice that can be read",
}


@click.command(
    short_help="Check, run and draw the shipped invoice pipeline.",
    epilog="Examples: `graphflow demo`, `graphflow demo --sample transposed`, `graphflow demo mail.txt`, "
    "`graphflow demo --model gemini-2.5-flash` (with GEMINI_API_KEY set).\n\n"
    "Exit code: as `graphflow run`; an invoice that is halted at the gate gives 3.",
)
@click.argument("file", required=False)
@click.option(
    "--sample", type=click.Choice(list(SAMPLES)), help="Which of the shipped invoices to use  [default: approved]"
)
@click.option("--model", metavar="NAME", help="A language model to ask in place of the shipped functions.")
@click.option(
    "-o", "--output", default="invoice.svg", show_default=True, metavar="FILE", help="Where the picture goes."
)
@debug_option
@click.pass_context
def demo(ctx: click.Context, file: str | None, sample: str | None, model: str | None, output: str) -> None:
    """Run the invoice pipeline on FILE, a plain-text invoice e-mail, or on a shipped sample."""
    if file is not None and sample is not None:
        raise click.UsageError("give a file or --sample, not both", ctx)
    chosen = sample or "approved"
    stdin = standard_input()
    message = (
        read_text(file if file == "-" else f"@{file}", "the invoice", stdin) if file is not None else _shipped(chosen)
    )
    replaced = {"*": resolve_model(model)} if model is not None else {}  # a missing key is said before all else
    loaded = load_one(TARGET)
    shape = layout()
    _heading("Contract", f"what each stage of {loaded.target} reads and writes")
    click.echo(contract_table(loaded.flow.graph, **shape), nl=False)
    _heading("Check", "before anything runs")
    click.echo(text.write([checked(loaded.target, loaded.flow.check())], Layout(**shape)), nl=False)
    _heading(
        "Run", f"the invoice in {printable(file)}" if file is not None else f"sample `{chosen}`: {SAMPLES[chosen]}"
    )
    result = execute(ctx, loaded, {}, message=message, models=replaced)
    print_result(result, loaded, width=shape["width"])
    _calls(loaded.flow.graph, result, model)
    written = loaded.flow.draw(output)
    _heading("Picture", f"written to {printable(Path(str(written)).resolve())}")
    if file is None:
        click.echo("\nTwo other samples ship with it:")
        for name, what in SAMPLES.items():
            if name != chosen:
                click.echo(f"  graphflow demo --sample {name:<12} {what}")
    ctx.exit(EXIT_CODES[result.status])


def _shipped(sample: str) -> str:
    return files("graphflow.examples").joinpath("data", f"invoice_{sample}.txt").read_text(encoding="utf-8")


def _heading(title: str, about: str) -> None:
    click.echo(f"\n{click.style(title, bold=True)}: {about}" + ("" if title == "Picture" else "\n"))


def _calls(graph: Graph, result: Result, replacement: str | None) -> None:
    """Say how often each model was called; a stage that was never reached has its zero."""
    click.echo("\nModel calls:")
    models = [node for node in graph.nodes.values() if isinstance(node, Task) and node.kind == "model"]
    for node in models:
        usage = result.usage.by_node.get(node.id)
        name, model = printable(agent_path(node.id).rpartition("/")[2]), printable(replacement or node.model or "model")
        calls, tokens = (usage.calls, usage.total_tokens) if usage is not None else (0, 0)
        click.echo(f"  {name:<14} {model:<18} {calls} {'call' if calls == 1 else 'calls'}, {tokens} tokens")
    click.echo(f"  {result.usage.calls} in all")
