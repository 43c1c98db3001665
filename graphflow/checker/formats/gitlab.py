"""Findings as a GitLab code quality report: `gl-code-quality-report.json`, an artifact of the job.

Each entry has the fields that GitLab reads of the Code Climate format: `description`, `check_name`, `fingerprint`, `severity`
and `location`. A finding without a place is given the first line of its target. Knows no rule.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from graphflow.checker.formats.results import (
    LONGEST_TEXT,
    Checked,
    Finding,
    Layout,
    identified,
    printable,
    shortened,
    told,
)

_SEVERITIES = {"error": "critical", "warning": "minor", "info": "info"}


def write(results: Sequence[Checked], layout: Layout) -> str:
    """Write a report, notes included.

    Args:
        results: what was checked.
        layout: says what files are relative to.

    Returns:
        A JSON array in ASCII.
    """
    entries = [
        _entry(result, finding, identity, layout)
        for result, finding, suppressed, identity in identified(results, layout)
        if not suppressed
    ]
    entries += [_unchecked(result) for result in results if result.error]
    return json.dumps(entries, indent=2) + "\n"


def _entry(result: Checked, finding: Finding, identity: str, layout: Layout) -> dict[str, Any]:
    help_ = f" (help: {shortened(finding['help'], LONGEST_TEXT)})" if finding.get("help") else ""
    path = layout.path(finding)
    return {
        "description": f"{finding['code']} {finding['name']}: {told(finding)}{help_}",
        "check_name": finding["code"],
        "fingerprint": identity,
        "severity": _SEVERITIES[finding["severity"]],
        "location": {
            "path": printable(path) or _file(result),
            "lines": {"begin": (finding.get("line") if path else None) or 1},
        },
    }


def _unchecked(result: Checked) -> dict[str, Any]:
    identity = f"not-checked\0{result.target}".encode("utf-8", "backslashreplace")
    return {
        "description": shortened(f"{result.target} could not be checked: {result.error}", LONGEST_TEXT),
        "check_name": "not-checked",
        "fingerprint": hashlib.sha256(identity).hexdigest(),
        "severity": "blocker",
        "location": {"path": _file(result), "lines": {"begin": 1}},
    }


def _file(result: Checked) -> str:
    """The file of a target, as far as its text says."""
    return printable(result.target.partition(".py:")[0] + ".py" if ".py:" in result.target else result.target) or "?"
