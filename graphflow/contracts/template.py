"""What templates and conditions read."""

from __future__ import annotations

from collections.abc import Iterable

from graphflow import conditions
from graphflow.conditions import Condition
from graphflow.contracts.contract import Origin, Read
from graphflow.contracts.places import PlaceholderSearch
from graphflow.template import Template


def template_reads(*templates: Template | None, made: Origin | None = None) -> tuple[Read, ...]:
    """List the reads of templates, each key and path once; one required mention makes a read required.

    Args:
        *templates: the templates; None stands for one that is not there.
        made: where the agent is made, so that the places of its placeholders can be searched for.
    """
    found: dict[tuple[str, tuple[str, ...]], Read] = {}
    for template in templates:
        for index, placeholder in enumerate(template.placeholders if template is not None else ()):
            place = (placeholder.name, placeholder.path)
            if place not in found or (found[place].optional and not placeholder.optional):
                search = PlaceholderSearch(made, template, index) if made is not None and template is not None else None
                found[place] = Read(
                    placeholder.name, optional=placeholder.optional, path=placeholder.path, origin=search
                )
    return tuple(found.values())


def condition_reads(tests: Iterable[Condition | None]) -> tuple[Read, ...]:
    """List the reads of conditions, each key and path once; one required mention makes a read required."""
    found: dict[tuple[str, tuple[str, ...]], bool] = {}
    for test in tests:
        for name, path, optional in conditions.reads(test) if test is not None else ():
            found[name, tuple(path)] = found.get((name, tuple(path)), True) and optional
    return tuple(Read(name, optional=optional, path=path) for (name, path), optional in found.items())
