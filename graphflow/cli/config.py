"""`[tool.graphflow]` of the nearest pyproject.toml: which targets to check, and how.

::

    [tool.graphflow]
    targets = ["shop/refunds.py:flow"]
    ignore = ["GF203"]
    severity = { GF208 = "error" }
    fail-on = "warning"
    time-limit = 120
    profile = "adk"
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from graphflow.analysis.profiles import profile_named
from graphflow.errors import UsageError, closest
from graphflow.ir.names import GRAPHFLOW

SEVERITIES = ("error", "warning", "info")
TIME_LIMIT = 60.0
"""Seconds that importing and checking all targets may take."""


@dataclass(frozen=True, slots=True)
class Config:
    """What a project says about its checks.

    Attributes:
        directory: where the file is; targets are relative to it. None: there is no such file.
        targets: what to check when the command line names nothing.
        select: codes that are reported; empty means all.
        ignore: codes that are not.
        severity: code -> severity.
        fail_on: the least severity that makes the check fail.
        time_limit: seconds for importing and checking.
        profile: name of the meanings to check under.
    """

    directory: Path | None = None
    targets: tuple[str, ...] = ()
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    severity: Mapping[str, str] = field(default_factory=dict)
    fail_on: str = "error"
    time_limit: float = TIME_LIMIT
    profile: str = GRAPHFLOW


def find_config(start: Path) -> Config:
    """Read the nearest pyproject.toml at or above a directory.

    Args:
        start: where to begin.

    Returns:
        Its configuration; the defaults if there is no file, or none of ours in it.

    Raises:
        UsageError: a file that cannot be read, an unknown option, a value of the wrong kind.
    """
    for directory in (start, *start.parents):
        file = directory / "pyproject.toml"
        if file.is_file():
            return read_config(file)
    return Config()


def read_config(file: Path) -> Config:
    """Read the configuration in one file.

    Raises:
        UsageError: as `find_config`.
    """
    try:
        document = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{file} is no valid TOML: {error}") from error
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror or error}") from error
    tool = document.get("tool")
    table = tool.get("graphflow") if isinstance(tool, dict) else None
    if table is None:
        return Config(file.parent)
    where = f"{file}: [tool.graphflow]"
    if not isinstance(table, dict):
        raise UsageError(f"{where} is a table of options, got {table!r}")
    unknown = [name for name in table if name not in _OPTIONS]
    if unknown:
        near = closest(unknown[0], _OPTIONS)
        hint = f"did you mean `{near}`" if near else f"there are {', '.join(_OPTIONS)}"
        raise UsageError(f"{where} has an unknown option `{unknown[0]}`; {hint}")
    values = {name.replace("-", "_"): _OPTIONS[name](value, f"{where}: `{name}`") for name, value in table.items()}
    return Config(file.parent, **values)


def _names(value: object, where: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise UsageError(f"{where} is a list of strings, got {value!r}")
    return tuple(cast("list[str]", value))


def _severities(value: object, where: str) -> Mapping[str, str]:
    if not isinstance(value, dict):
        raise UsageError(f"{where} is a table, code = severity, got {value!r}")
    return {code: _severity(one, f"{where}: `{code}`") for code, one in value.items()}


def _severity(value: object, where: str) -> str:
    if value not in SEVERITIES:
        raise UsageError(f"{where} is one of {', '.join(SEVERITIES)}, got {value!r}")
    return value


def _seconds(value: object, where: str) -> float:
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0 < value < float("inf"):
        raise UsageError(f"{where} is a number of seconds above 0, got {value!r}")
    return float(value)


def _profile(value: object, where: str) -> str:
    try:
        return profile_named(str(value)).name
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from error


_OPTIONS: dict[str, Any] = {
    "targets": _names,
    "select": _names,
    "ignore": _names,
    "severity": _severities,
    "fail-on": _severity,
    "time-limit": _seconds,
    "profile": _profile,
}
