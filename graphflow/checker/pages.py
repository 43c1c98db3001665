r"""The rules as pages of Markdown: one for each, made of its docstring and of the programs that are its tests, and an index.

::

    pages()["GF201.md"]      "# GF201 undefined-read\n\nSeverity: error. Since 0.1.\n..."

`graphflow explain --all -o docs/rules` writes them, `graphflow explain GF201` prints one. Knows the rules,
and neither files nor a terminal.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence

from graphflow.checker.rule import Rule
from graphflow.checker.rules import ALL_RULES

INDEX = "README.md"
_HEAD = """# Rules

What `graphflow check` finds. `graphflow explain CODE` prints a page. A finding is silenced by `# graphflow: ignore[CODE]`
on the line where an agent is made, or by `ignore=["CODE"]` on the agent; `[tool.graphflow]` chooses rules and severities
for a project.

| code | name | severity | since | what it finds |
|---|---|---|---|---|
"""
_FOOT = """
The pages are made from the rules themselves, by `graphflow explain --all -o docs/rules`.
"""


def page_of(rule: Rule) -> str:
    """Give a rule's page: what it says about itself, then its examples.

    Args:
        rule: one of the catalogue.

    Returns:
        Markdown that ends with a newline. Programs are fenced as `py`: they are parts of a program, with the names of
        `graphflow` imported.
    """
    text = rule.page().replace("```python\n", "```py\n").rstrip()
    parts = [text, *_programs("Flagged", rule.invalid), *_programs("Not flagged", rule.valid)]
    return "\n\n".join(parts) + "\n"


def _programs(title: str, programs: Sequence[str]) -> list[str]:
    return [f"## {title}", *(f"```py\n{program.strip()}\n```" for program in programs)] if programs else []


def index() -> str:
    """Give the table of all rules, with links to their pages."""
    rows = [
        f"| [{rule.code}]({rule.code}.md) | {rule.name} | {rule.severity} | {rule.since} | {_cell(_what(rule))} |\n"
        for rule in ALL_RULES
    ]
    return f"{_HEAD}{''.join(rows)}{_FOOT}"


def pages() -> dict[str, str]:
    """Give all pages, file name -> text, the index among them."""
    return {INDEX: index(), **{f"{rule.code}.md": page_of(rule) for rule in ALL_RULES}}


def _what(rule: Rule) -> str:
    return inspect.cleandoc(type(rule).__doc__ or "").partition("\n")[0]


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
