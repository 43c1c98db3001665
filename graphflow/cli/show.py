"""`graphflow draw`, `contract` and `explain`: a flow as a picture, as a table, and a rule as a page."""

from __future__ import annotations

import re
import sys

import click

from graphflow.checker.engine import rule_of
from graphflow.checker.formats import printable
from graphflow.checker.rules import ALL_RULES
from graphflow.cli.options import debug_option, layout, wants_colour, width_of
from graphflow.cli.table import contract_table
from graphflow.cli.targets import load, load_one


@click.command(
    epilog="Examples: `graphflow draw shop/refunds.py -o refunds.svg`, `graphflow draw shop.refunds:flow --theme dark`."
)
@click.argument("target")
@click.option("-o", "--output", metavar="FILE", help="File to write, `-` for standard output  [default: NAME.svg]")
@click.option("--format", "format_", metavar="FORMAT", help="svg or dot  [default: by the file's ending, else svg]")
@click.option("--theme", metavar="THEME", default="auto", show_default=True, help="auto, light or dark.")
@debug_option
def draw(target: str, output: str | None, format_: str | None, theme: str) -> None:
    """Draw TARGET with its keys; findings are marked on the nodes."""
    flow = load_one(target).flow
    if output == "-":
        click.echo(str(flow.draw(format=format_, theme=theme)), nl=False)
        return
    written = flow.draw(output or f"{file_name(flow.name)}.{format_ or 'svg'}", format=format_, theme=theme)
    click.echo(f"wrote {printable(written)}")


def file_name(name: str) -> str:
    """Make a file name, without a directory, of a flow's name.

    Args:
        name: any text.
    """
    return re.sub(r"[^\w-]+", "_", name)[:100].strip("_") or "flow"


@click.command(epilog="Example: `graphflow contract shop/refunds.py`.")
@click.argument("target")
@debug_option
def contract(target: str) -> None:
    """Print what each stage of TARGET reads and writes.

    `key?` in reads copes with an absent key; in writes, it may be left out.
    """
    loaded = load(target)
    for index, one in enumerate(loaded):
        if len(loaded) > 1:
            click.echo(("\n" if index else "") + f"{printable(one.flow.name)} ({printable(one.target)})")
        click.echo(contract_table(one.flow.graph, **layout()), nl=False)


@click.command(
    short_help="Print the page of a rule.",
    epilog="Examples: `graphflow explain GF201`, `graphflow explain` for a list.",
)
@click.argument("code", required=False)
@debug_option
def explain(code: str | None) -> None:
    """Print the page of a rule: what it does, why, an example, and what to write instead."""
    if code is None:
        for rule in ALL_RULES:
            click.echo(f"{rule.code}  {rule.severity:<8} {rule.name}")
        return
    page = rule_of(code).page()
    if not wants_colour(sys.stdout):
        click.echo(page.rstrip())
        return
    from rich.console import Console
    from rich.markdown import Markdown

    Console(width=width_of(sys.stdout)).print(Markdown(page))
