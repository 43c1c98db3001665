"""`graphflow draw`, `contract` and `explain`: a flow as a picture, as a table, and a rule as a page."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import click

from graphflow.checker.engine import rule_of
from graphflow.checker.formats import printable
from graphflow.checker.pages import page_of, pages
from graphflow.checker.rules import ALL_RULES
from graphflow.cli.contracts import CONTRACT_FORMATS
from graphflow.cli.options import debug_option, layout, wants_colour, width_of
from graphflow.cli.targets import load, load_one
from graphflow.errors import UsageError


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


@click.command(
    epilog="Examples: `graphflow contract shop/refunds.py`, `graphflow contract shop.refunds:flow --keys --format markdown`."
)
@click.argument("target")
@click.option(
    "--format",
    "format_",
    type=click.Choice(list(CONTRACT_FORMATS)),
    default="text",
    show_default=True,
    help="How to print.",
)
@click.option("--keys", is_flag=True, help="Print what is known of each key, too (JSON always has it).")
@debug_option
def contract(target: str, format_: str, keys: bool) -> None:
    """Print what each stage of TARGET reads and writes.

    `key?` in reads copes with an absent key; in writes, it may be left out.
    """
    click.echo(CONTRACT_FORMATS[format_](load(target), keys=keys, layout=layout()), nl=False)


@click.command(
    short_help="Print the page of a rule.",
    epilog="Examples: `graphflow explain GF201`, `graphflow explain` for a list, `graphflow explain --all -o rules`.",
)
@click.argument("code", required=False)
@click.option("--all", "every", is_flag=True, help="All rules, and an index.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="DIR", help="Write the pages of --all to a directory."
)
@debug_option
def explain(code: str | None, every: bool, output: Path | None) -> None:
    """Print the page of a rule: what it does, why, an example, what to write instead, and what it flags and does not."""
    if output is not None and not every:
        raise UsageError("`-o` goes with --all: it names the directory for the pages of all rules")
    if every and code is not None:
        raise UsageError(f"`--all` means every rule; leave out `{code}` or --all")
    if output is not None:
        _write_pages(output)
    elif every:
        _print("\n".join(page_of(rule) for rule in ALL_RULES))
    elif code is not None:
        _print(page_of(rule_of(code)))
    else:
        for rule in ALL_RULES:
            click.echo(f"{rule.code}  {rule.severity:<8} {rule.name}")


def _print(page: str) -> None:
    if not wants_colour(sys.stdout):
        click.echo(page.rstrip())
        return
    from rich.console import Console
    from rich.markdown import Markdown

    Console(width=width_of(sys.stdout)).print(Markdown(page))


def _write_pages(directory: Path) -> None:
    """Write all pages; those of rules that are gone go."""
    written = pages()
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for old in directory.glob("GF[0-9][0-9][0-9].md"):
            if old.name not in written:
                old.unlink()
        for name, text in written.items():
            (directory / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write `{error.filename or directory}`: {error.strerror or error}") from error
    click.echo(f"wrote {len(written)} pages to {printable(directory)}")
