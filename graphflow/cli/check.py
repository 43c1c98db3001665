"""`graphflow check`: are the contracts between the stages kept?

Exit code 0: nothing at or above `--fail-on`; 1: something; 2: something could not be checked (all else still printed).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from graphflow.checker.diagnostics import RANK
from graphflow.checker.engine import Settings
from graphflow.checker.formats import FORMATS, Checked, lines_of
from graphflow.cli.checking import check_targets
from graphflow.cli.config import SEVERITIES, Config, find_config
from graphflow.cli.options import DEFAULT_WIDTH, debug_option, in_debug, layout
from graphflow.errors import UsageError


@dataclass(frozen=True, slots=True)
class _Asked:
    """The options of one call."""

    targets: tuple[str, ...]
    format: str
    select: tuple[str, ...]
    ignore: tuple[str, ...]
    fail_on: str | None
    strict: bool
    show: str | None
    output: Path | None
    time_limit: float | None


@click.command(
    epilog="Examples: `graphflow check shop/refunds.py`, `graphflow check shop.refunds:flow --format json`.\n\n"
    "Exit code: 0 nothing found, 1 something at or above --fail-on, 2 something could not be checked."
)
@click.argument("targets", nargs=-1, metavar="[TARGET]...")
@click.option("--format", type=click.Choice(list(FORMATS)), default="text", show_default=True, help="How to report.")
@click.option("--select", multiple=True, metavar="CODES", help="Report these codes only (`GF3` means all of GF3xx).")
@click.option("--ignore", multiple=True, metavar="CODES", help="Do not report these codes.")
@click.option(
    "--fail-on", type=click.Choice(SEVERITIES), help="Least severity that gives exit code 1  [default: error]"
)
@click.option("--strict", is_flag=True, help="The same as --fail-on warning.")
@click.option("--show", type=click.Choice(["info"]), help="Show notes too.")
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write the report to a file.")
@click.option(
    "--time-limit", type=click.FloatRange(0, min_open=True), metavar="SECONDS", help="For importing  [default: 60]"
)
@debug_option
@click.pass_context
def check(ctx: click.Context, /, **options: Any) -> None:
    """Check flows without running them.

    Without TARGET, those of `[tool.graphflow] targets` in the nearest pyproject.toml are checked. Targets are imported
    in a process of their own.
    """
    asked = _Asked(**options)
    config = find_config(Path.cwd())
    settings = _settings(asked, config)
    targets, directory = _targets(asked, config)
    outcome = check_targets(targets, directory, settings, asked.time_limit or config.time_limit)
    if in_debug(ctx) and outcome.output:
        click.echo(outcome.output.rstrip("\n"), err=True)
    _write(asked, outcome.results)
    for line in lines_of(outcome.results):
        click.echo(f"graphflow: not checked: {line}", err=True)
    ctx.exit(_exit_code(outcome.results, _fail_on(asked, config)))


def _settings(asked: _Asked, config: Config) -> Settings:
    select, ignore = _codes(asked.select) or config.select, (*config.ignore, *_codes(asked.ignore))
    return Settings(select, ignore, dict(config.severity))  # type: ignore[arg-type]  # severities were validated


def _codes(values: Sequence[str]) -> tuple[str, ...]:
    return tuple(code.strip() for value in values for code in value.split(",") if code.strip())


def _targets(asked: _Asked, config: Config) -> tuple[tuple[str, ...], Path]:
    if asked.targets:
        return tuple(dict.fromkeys(asked.targets)), Path.cwd()
    if config.targets and config.directory is not None:
        return tuple(dict.fromkeys(config.targets)), config.directory
    raise UsageError(
        "nothing to check: name a target (`graphflow check path/file.py`) or list some as "
        "`targets` under [tool.graphflow] in pyproject.toml"
    )


def _fail_on(asked: _Asked, config: Config) -> str:
    if asked.strict and asked.fail_on not in (None, "warning"):
        raise UsageError(f"--strict means --fail-on warning; it does not go with --fail-on {asked.fail_on}")
    return "warning" if asked.strict else asked.fail_on or config.fail_on


def _write(asked: _Asked, results: Sequence[Checked]) -> None:
    shape = layout() if asked.output is None else {"width": DEFAULT_WIDTH, "colour": False}
    report = FORMATS[asked.format](results, show_info=asked.show == "info", root=os.getcwd(), **shape)  # noqa: PTH109
    if asked.output is None:
        click.echo(report, nl=False)
        return
    try:
        asked.output.write_text(report, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write `{asked.output}`: {error.strerror or error}") from error


def _exit_code(results: Sequence[Checked], fail_on: str) -> int:
    if any(result.error for result in results):
        return 2
    return int(any(RANK[f["severity"]] <= RANK[fail_on] for result in results for f in result.diagnostics))
