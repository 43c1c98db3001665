"""The child process of `graphflow check`: imports targets and writes what it found, one JSON line for each step.

It is started by `graphflow.cli.checking` with standard input closed and both outputs captured. A line is written before
a target is touched and one after it, so that the parent knows which target ended the process::

    {"begin": "pipeline.py"}
    {"target": "pipeline.py", "results": [{"target": "pipeline.py:flow", "flow": "pipeline", ...}]}
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from graphflow.checker.engine import Settings
from graphflow.checker.formats import Checked
from graphflow.cli.targets import Loaded, TargetError, load
from graphflow.errors import GraphflowError
from graphflow.ir.names import GRAPHFLOW


def main(request: Mapping[str, Any]) -> None:
    """Check targets, then end the process at once, whatever threads the user's modules have started.

    Args:
        request: `targets`, `directory`, `settings`, `profile`, and `answer`, the file that lines are appended to.
    """
    settings = Settings(
        tuple(request["settings"]["select"]), tuple(request["settings"]["ignore"]), request["settings"]["severity"]
    )
    with Path(request["answer"]).open("a", encoding="utf-8") as answer:
        for target in request["targets"]:
            _tell(answer, {"begin": target})
            results = check_target(target, Path(request["directory"]), settings, request["profile"])
            _tell(answer, {"target": target, "results": [asdict(result) for result in results]})
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def check_target(target: str, directory: Path, settings: Settings, profile: str = GRAPHFLOW) -> list[Checked]:
    """Import and check one target; whatever it does to the import system is undone.

    Args:
        target: see `graphflow.cli.targets`.
        directory: where paths start.
        settings: which findings to report.
        profile: name of the meanings to check under.

    Returns:
        One result for each of its flows, or one that says why there is none.
    """
    path, modules = list(sys.path), set(sys.modules)
    try:
        return [_check(loaded, settings, profile) for loaded in load(target, directory)]
    except TargetError as error:
        traceback.print_exc()
        return [Checked(target, error=str(error))]
    finally:
        _forget(path, modules)


def _check(loaded: Loaded, settings: Settings, profile: str) -> Checked:
    try:
        report = loaded.flow.check(settings, profile=profile)
    except GraphflowError as error:
        traceback.print_exc()
        return Checked(loaded.target, loaded.flow.name, error=f"{type(error).__name__}: {error}")
    except Exception as error:  # noqa: BLE001 - one flow that breaks the checker must not hide the others
        traceback.print_exc()
        fault = f"the checker failed: {type(error).__name__}: {error}; please report it"
        return Checked(loaded.target, loaded.flow.name, error=fault)
    found, suppressed = (
        tuple(one.as_dict() for one in findings) for findings in (report.diagnostics, report.suppressed)
    )
    return Checked(loaded.target, report.flow, found, suppressed)


def _forget(path: list[str], modules: set[str]) -> None:
    """Two targets may each have a `common.py` beside them: the second one must not get the first one's."""
    added = tuple(entry.rstrip(os.sep) + os.sep for entry in sys.path if entry not in path)
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        file = getattr(sys.modules[name], "__file__", None)
        if added and isinstance(file, str) and file.startswith(added):
            del sys.modules[name]


def _tell(answer: Any, line: Mapping[str, Any]) -> None:
    answer.write(json.dumps(line, default=str) + "\n")
    answer.flush()
