"""Findings as JUnit XML, which most build servers show as tests: a suite for each flow, a test for each finding.

What makes the check fail is a failed test; other findings are passed tests that say so in their output. A flow without
findings is one passed test, a target that could not be checked one in error. Attributes and the order of elements keep to
the schema of Jenkins' JUnit plugin. Knows no rule.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree import ElementTree

from graphflow.checker.formats.results import (
    LONGEST_TEXT,
    Checked,
    Finding,
    Layout,
    advice,
    escaped,
    shortened,
    told,
    where,
)

_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write(results: Sequence[Checked], layout: Layout) -> str:
    """Write a report.

    Args:
        results: what was checked.
        layout: which findings are failures, and what files are relative to.

    Returns:
        An XML document.
    """
    root = ElementTree.Element("testsuites", {"name": "graphflow"})
    for result in results:
        _suite(root, result, layout)
    for count in ("tests", "failures", "errors"):
        root.set(count, str(sum(int(suite.get(count, "0")) for suite in root)))
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _suite(root: ElementTree.Element, result: Checked, layout: Layout) -> None:
    name = _text(shortened(result.target, LONGEST_TEXT))
    failures = sum(layout.fails(finding) for finding in result.diagnostics)
    counts = {
        "tests": str(max(len(result.diagnostics), 1)),
        "failures": str(failures),
        "errors": str(int(bool(result.error))),
    }
    suite = ElementTree.SubElement(root, "testsuite", {"name": name, **counts})
    if result.error:
        case = ElementTree.SubElement(suite, "testcase", {"name": "can be checked", "classname": name})
        error = _text(shortened(result.error, LONGEST_TEXT))
        ElementTree.SubElement(case, "error", {"type": "not-checked", "message": error}).text = error
    elif not result.diagnostics:
        ElementTree.SubElement(suite, "testcase", {"name": "keeps its contracts", "classname": name})
    for finding in result.diagnostics:
        _case(suite, finding, name, layout)


def _case(suite: ElementTree.Element, finding: Finding, classname: str, layout: Layout) -> None:
    subject = [shortened(part) for part in (finding["node"], finding.get("key")) if part and not part.startswith("@")]
    name = f"{finding['code']} {finding['name']} {': '.join(subject)}".strip()
    case = ElementTree.SubElement(suite, "testcase", {"name": _text(name), "classname": classname})
    text = _text("\n".join([f"{where(finding, layout)}{told(finding)}", *advice(finding, layout)]))
    if layout.fails(finding):
        attributes = {"type": finding["severity"], "message": _text(told(finding))}
        ElementTree.SubElement(case, "failure", attributes).text = text
    else:
        ElementTree.SubElement(case, "system-out").text = f"{finding['severity']}: {text}"


def _text(text: str) -> str:
    """Escape the characters that no XML document may hold."""
    return _FORBIDDEN.sub(lambda match: escaped(match[0]), text)
