"""`graphflow check`: are the contracts between the stages kept?

Exit code 0: nothing at or above `--fail-on`; 1: something; 2: something could not be checked (all else still printed).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from graphflow.analysis.profiles import PROFILES
from graphflow.checker.diagnostics import RANK
from graphflow.checker.engine import Settings
from graphflow.checker.formats import ENDINGS, FORMATS, Checked, Layout, format_of, lines_of
from graphflow.cli.checking import check_targets
from graphflow.cli.config import SEVERITIES, Config, find_config
from graphflow.cli.options import DEFAULT_WIDTH, debug_option, in_debug, layout, version
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
    output: tuple[str, ...]
    time_limit: float | None
    profile: str | None


@click.command(
    epilog="Examples: `graphflow check shop/refunds.py`, `graphflow check --format github -o report.sarif`.\n\n"
    "Exit code: 0 nothing found, 1 something at or above --fail-on, 2 something could not be checked."
)
@click.argument("targets", nargs=-1, metavar="[TARGET]...")
@click.option("--format", type=click.Choice(list(FORMATS)), default="text", show_default=True, help="How to print.")
@click.option("--select", multiple=True, metavar="CODES", help="Report these codes only (`GF3` means all of GF3xx).")
@click.option("--ignore", multiple=True, metavar="CODES", help="Do not report these codes.")
@click.option(
    "--fail-on", type=click.Choice(SEVERITIES), help="Least severity that gives exit code 1  [default: error]"
)
@click.option("--strict", is_flag=True, help="The same as --fail-on warning.")
@click.option("--show", type=click.Choice(["info"]), help="Show notes too.")
@click.option(
    "-o",
    "--output",
    multiple=True,
    metavar="FILE",
    help="Write a report to a file too; its format goes by the file's ending, or write FORMAT:FILE. May be repeated.",
)
@click.option(
    "--time-limit", type=click.FloatRange(0, min_open=True), metavar="SECONDS", help="For importing  [default: 60]"
)
@click.option("--profile", type=click.Choice(list(PROFILES)), help="Meanings to check under  [default: graphflow]")
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
    files, fail_on = _files(asked), _fail_on(asked, config)
    time_limit, profile = asked.time_limit or config.time_limit, asked.profile or config.profile
    outcome = check_targets(targets, directory, settings, time_limit, profile)
    if in_debug(ctx) and outcome.output:
        click.echo(outcome.output.rstrip("\n"), err=True)
    named = version() if "sarif" in (asked.format, *(name for name, _ in files)) else ""
    shape = Layout(asked.show == "info", DEFAULT_WIDTH, fail_on=fail_on, version=named)
    click.echo(FORMATS[asked.format](outcome.results, replace(shape, **layout())), nl=False)
    for line in lines_of(outcome.results):
        click.echo(f"graphflow: not checked: {line}", err=True)
    for name, file in files:
        _write(file, FORMATS[name](outcome.results, shape))
    ctx.exit(_exit_code(outcome.results, fail_on))


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


def _files(asked: _Asked) -> list[tuple[str, Path]]:
    """Say which reports are written where, before anything is checked."""
    return [_report(value, asked.format) for value in dict.fromkeys(asked.output)]


def _report(value: str, printed: str) -> tuple[str, Path]:
    name, colon, file = value.partition(":")
    if not colon or name not in FORMATS:
        name, file = format_of(value) or (printed if not Path(value).suffix else ""), value
    if file in ("", "-"):
        raise UsageError(f"`-o {value}` names no file; `--format` says how the report is printed")
    if not name:
        endings = ", ".join(ENDINGS)
        raise UsageError(
            f"`{value}` does not say which format it is to have: its name ends with none of {endings}; "
            f"write FORMAT:{value} with one of {', '.join(FORMATS)}"
        )
    return name, Path(file)


def _write(file: Path, report: str) -> None:
    try:
        file.write_text(report, encoding="utf-8", errors="backslashreplace")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        raise UsageError(f"cannot write `{file}`: {reason or error}") from error


def _exit_code(results: Sequence[Checked], fail_on: str) -> int:
    if any(result.error for result in results):
        return 2
    return int(any(RANK[f["severity"]] <= RANK[fail_on] for result in results for f in result.diagnostics))
