"""Findings as SARIF 2.1.0, which code scanning services and editors read.

One run of one tool: the rules concerned with their pages as help, a result for each finding (suppressed ones too, marked as
such), and a notification for each target that could not be checked. `partialFingerprints` stay when lines move.

The standard is OASIS SARIF 2.1.0; clauses are named where they decide something. No library writes it and is looked after,
and the part of it that is needed is small.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from graphflow.checker.formats.results import (
    LONGEST_TEXT,
    Checked,
    Finding,
    Layout,
    identified,
    shortened,
    source_of,
    told,
)
from graphflow.checker.rule import Rule
from graphflow.checker.rules import ALL_RULES

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {"error": "error", "warning": "warning", "info": "note"}
_ROOT = "SRCROOT"


def write(results: Sequence[Checked], layout: Layout) -> str:
    """Write a report, notes included.

    Args:
        results: what was checked.
        layout: says what files are relative to, and graphflow's version.

    Returns:
        A SARIF log with one run, in ASCII.
    """
    found = list(identified(results, layout))
    codes = sorted({finding["code"]: finding for _, finding, _, _ in found}.items())
    index = {code: number for number, (code, _) in enumerate(codes)}
    known = {rule.code: rule for rule in ALL_RULES}
    driver: dict[str, Any] = {"name": "graphflow"}
    if layout.version:
        driver["version"] = layout.version
    driver["rules"] = [_rule(known.get(code), finding) for code, finding in codes]
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {_ROOT: {"uri": f"{_uri(Path(layout.root).as_posix().rstrip('/'))}/"}},
        "invocations": [
            {
                "executionSuccessful": not any(result.error for result in results),
                "toolExecutionNotifications": [_notification(result) for result in results if result.error],
            }
        ],
        "results": [
            _result(result, finding, index[finding["code"]], layout, identity)
            | ({"suppressions": [{"kind": "inSource"}]} if suppressed else {})
            for result, finding, suppressed, identity in found
        ],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(rule: Rule | None, finding: Finding) -> dict[str, Any]:
    """A reporting descriptor (3.49); a finding that came from another version may have a rule that is not known here."""
    if rule is None:
        return {"id": finding["code"], "name": finding["name"]}
    text = inspect.cleandoc(type(rule).__doc__ or "")
    return {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": text.partition("\n")[0]},
        "help": {"text": text, "markdown": rule.page()},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        "properties": {"since": rule.since},
    }


def _result(result: Checked, finding: Finding, index: int, layout: Layout, identity: str) -> dict[str, Any]:
    help_ = f"\nhelp: {shortened(finding['help'], LONGEST_TEXT)}" if finding.get("help") else ""
    related = [
        {"id": number, **_location(place, layout), "message": _message(shortened(place["message"], LONGEST_TEXT))}
        for number, place in enumerate(finding.get("related", ()), 1)
    ]
    properties = {"target": result.target, "flow": result.flow, "key": finding["key"], "path": list(finding["path"])}
    return {
        "ruleId": finding["code"],
        "ruleIndex": index,
        "level": _LEVELS[finding["severity"]],
        "message": _message(f"{told(finding)}{help_}"),
        "locations": [_location(finding, layout)],
        **({"relatedLocations": related} if related else {}),
        "partialFingerprints": {"graphflow/v1": identity},
        "properties": {name: value for name, value in properties.items() if value},
    }


def _location(place: Mapping[str, Any], layout: Layout) -> dict[str, Any]:
    location: dict[str, Any] = {}
    path = layout.path(place)
    if path:
        artifact = {"uri": _uri(path)} | ({} if Path(path).is_absolute() else {"uriBaseId": _ROOT})
        location["physicalLocation"] = {"artifactLocation": artifact, **_region(place)}
    if place.get("node") and not str(place["node"]).startswith("@"):
        location["logicalLocations"] = [
            {"name": shortened(str(place["node"]).rpartition("/")[2]), "fullyQualifiedName": str(place["node"])}
        ]
    return location


def _region(place: Mapping[str, Any]) -> dict[str, Any]:
    if not place.get("line"):
        return {}
    region = {"startLine": int(place["line"])}
    source = source_of(place)
    if place.get("column") and source is not None and source.start == place["column"] - 1:
        region |= {"startColumn": source.start + 1, "endColumn": source.end + 1}
    return {"region": region}


def _notification(result: Checked) -> dict[str, Any]:
    return {"level": "error", "message": _message(shortened(f"{result.target}: {result.error}", LONGEST_TEXT))}


def _message(text: str) -> dict[str, str]:
    """A message (3.11) that holds no placeholder (3.11.5) and no link (3.11.6) of somebody else's making.

    The standard asks for `{{` wherever a message has a brace. No consumer undoes that, and `{{key?}}` means something else in
    an instruction, so only what is like a placeholder is escaped.
    """
    text = re.sub(r"\{(\d+)\}", r"{{\1}}", text)
    return {"text": text.replace("](", "] (")}


def _uri(path: str) -> str:
    """Write a path as a URI reference: absolute ones as `file:` URIs."""
    absolute = Path(path).is_absolute()
    quoted = quote(re.sub("[\ud800-\udc7f\udd00-\udfff]", "?", path).encode("utf-8", "surrogateescape"))
    return f"file://{'' if quoted.startswith('/') else '/'}{quoted}" if absolute else quoted
