"""Findings for programs: everything that is known, notes included. `docs/schemas/report.json` is the format's schema.

Knows no rule; strings are given as they are, in ASCII.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from graphflow.checker.formats.results import Checked, Finding, Layout, summary

VERSION = 1
_FIRST = ("code", "name", "severity", "message")


def write(results: Sequence[Checked], layout: Layout) -> str:  # noqa: ARG001 - every format is called alike
    """Write a report.

    Args:
        results: what was checked.
        layout: looked at by other formats.

    Returns:
        `{"version": 1, "targets": [...], "diagnostics": [...], "summary": {...}}`, indented, in ASCII.
    """
    document = {
        "version": VERSION,
        "targets": [
            {"target": r.target, "flow": r.flow or None, "checked": not r.error, "error": r.error or None}
            for r in results
        ],
        "diagnostics": [_with_target(finding, result.target) for result in results for finding in result.diagnostics],
        "summary": summary(results),
    }
    return json.dumps(document, indent=2) + "\n"


def _with_target(finding: Finding, target: str) -> dict[str, Any]:
    fields = dict(finding)
    head: dict[str, Any] = {name: fields.pop(name) for name in _FIRST if name in fields}
    return {**head, "target": target, **fields}
