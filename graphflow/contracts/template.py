"""What templates and conditions read."""

from __future__ import annotations

from collections.abc import Iterable

from graphflow import conditions
from graphflow.conditions import Condition
from graphflow.contracts.contract import Read
from graphflow.template import Template


def template_reads(*templates: Template | None) -> tuple[Read, ...]:
    """List the reads of templates, each key and path once; one required mention makes a read required."""
    found: dict[tuple[str, tuple[str, ...]], bool] = {}
    for template in templates:
        for placeholder in template.placeholders if template is not None else ():
            place = (placeholder.name, tuple(placeholder.path))
            found[place] = found.get(place, True) and placeholder.optional
    return tuple(Read(name, optional=optional, path=path) for (name, path), optional in found.items())


def condition_reads(tests: Iterable[Condition | None]) -> tuple[Read, ...]:
    """List the reads of conditions, each key and path once; one required mention makes a read required."""
    found: dict[tuple[str, tuple[str, ...]], bool] = {}
    for test in tests:
        for name, path, optional in conditions.reads(test) if test is not None else ():
            found[name, tuple(path)] = found.get((name, tuple(path)), True) and optional
    return tuple(Read(name, optional=optional, path=path) for (name, path), optional in found.items())
