"""What several commands share: the version, `--debug`, and how wide and how colourful output is."""

from __future__ import annotations

import io
import os
import shutil
import sys
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed_version
from typing import IO, Any, TypeVar

import click

_DEBUG = "graphflow.debug"
_NARROW, _WIDE = 40, 120
DEFAULT_WIDTH = 80
DISTRIBUTION = "graphflow"

DISTRIBUTION = "graphflow-agents"
Decorated = TypeVar("Decorated", bound=Callable[..., Any])


def version() -> str:
    """Give the version of the installed distribution; "unknown" in a tree that is not installed."""
    try:
        return installed_version(DISTRIBUTION)
    except PackageNotFoundError:
        return "unknown"


def _remember(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    ctx.meta[_DEBUG] = value


def debug_option(function: Decorated) -> Decorated:
    """Add `--debug` to a command."""
    option = click.option(
        "--debug", is_flag=True, expose_value=False, callback=_remember, help="Print tracebacks and captured output."
    )
    return option(function)


def in_debug(ctx: click.Context) -> bool:
    """Say whether `--debug` was given."""
    return bool(ctx.meta.get(_DEBUG))


def standard_input() -> IO[bytes]:
    """Give standard input as bytes; an empty one where the program was started without."""
    return sys.stdin.buffer if sys.stdin is not None else io.BytesIO()


def is_terminal(stream: IO[str]) -> bool:
    """Say whether a stream is a terminal that can move its cursor."""
    try:
        return stream.isatty() and os.environ.get("TERM") != "dumb"
    except ValueError:
        return False


def wants_colour(stream: IO[str]) -> bool:
    """Say whether to write colours: to a terminal, unless NO_COLOR is set."""
    return is_terminal(stream) and not os.environ.get("NO_COLOR")


def width_of(stream: IO[str]) -> int:
    """Give the columns to write in: the terminal's, within reason; 80 where there is none."""
    if not is_terminal(stream):
        return DEFAULT_WIDTH
    return min(max(shutil.get_terminal_size((DEFAULT_WIDTH, 24)).columns, _NARROW), _WIDE)


def layout() -> dict[str, Any]:
    """Give what a report format is told about standard output."""
    return {"width": width_of(sys.stdout), "colour": wants_colour(sys.stdout)}
