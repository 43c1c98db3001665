"""The program `graphflow`: its commands, its exit codes for trouble, and what it says on Ctrl-C.

Commands are listed in one literal table, `COMMANDS`. What goes wrong because of what the user gave is one line on
standard error and exit code 2; `--debug` adds the traceback.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import threading
import traceback
from collections.abc import Sequence
from typing import Any, NoReturn

import click

from graphflow.checker.formats import printable
from graphflow.cli.check import check
from graphflow.cli.demo import demo
from graphflow.cli.options import DISTRIBUTION, in_debug, version
from graphflow.cli.run import run
from graphflow.cli.show import contract, draw, explain
from graphflow.errors import GraphflowError

INTERRUPTED = 130
_GRACE = 0.1
"""Seconds that a thread which is still running at the end gets."""
COMMANDS: dict[str, click.Command] = {
    "check": check,
    "run": run,
    "draw": draw,
    "contract": contract,
    "explain": explain,
    "demo": demo,
}


class Program(click.Group):
    """A group that turns exceptions into one line and an exit code, and lists commands in the table's order."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Give the names in the order of the table."""
        return list(self.commands)

    def main(self, args: Sequence[str] | None = None, *positional: Any, **options: Any) -> Any:
        """Run as a program; as such (without `args`) do not wait for threads of user code that a run has given up."""
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")
        try:
            return super().main(args, *positional, **options)
        except SystemExit as end:
            if args is None and _threads_left():
                _leave(end.code)
            raise

    def invoke(self, ctx: click.Context) -> Any:
        """Run the chosen command."""
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise
        except BaseExceptionGroup as group:
            if group.subgroup(KeyboardInterrupt) is not None:
                self._interrupted(ctx)
            ends = group.subgroup(SystemExit) is not None
            what = "a stage called sys.exit" if ends else f"a stage raised {group.exceptions[0]!r}"
            self._report(ctx, f"{what}, which ended the run; raise an exception to fail it", code=1)
        except KeyboardInterrupt:
            self._interrupted(ctx)
        except GraphflowError as error:
            self._report(ctx, str(error))
        except Exception as error:  # noqa: BLE001 - the program's boundary: nobody is above to handle it
            self._report(
                ctx,
                f"something went wrong inside {DISTRIBUTION}: {type(error).__name__}: {error}; "
                "please report it with the traceback that --debug prints",
            )

    def _interrupted(self, ctx: click.Context) -> NoReturn:
        click.echo("graphflow: interrupted", err=True)
        ctx.exit(INTERRUPTED)

    def _report(self, ctx: click.Context, message: str, code: int = 2) -> None:
        if in_debug(ctx):
            click.echo(traceback.format_exc(), err=True)
        lines = message.strip().splitlines() or ["unknown error"]
        click.echo("graphflow: " + "\n".join(printable(line) for line in lines), err=True)
        ctx.exit(code)


def _threads_left() -> bool:
    others = [t for t in threading.enumerate() if t is not threading.current_thread() and not t.daemon]
    for thread in others:
        thread.join(_GRACE)
    return any(thread.is_alive() for thread in others)


def _leave(code: object) -> None:
    """End the process without waiting for anything."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code if isinstance(code, int) else 0 if code is None else 1)


@click.group(
    cls=Program,
    commands=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Examples: `graphflow check`, `graphflow run shop/refunds.py --input n=3`, `graphflow demo`.",
)
@click.version_option(version(), "--version", prog_name="graphflow", message="%(prog)s %(version)s")
def main() -> None:
    """Check, run and draw agent pipelines.

    A TARGET is `pkg.module:object` or `path/file.py[:object]`; without an object it means the flows of the module.
    """
