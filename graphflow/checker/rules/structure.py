"""Rules about names and the shape of the tree of agents."""

from __future__ import annotations

from collections.abc import Iterator
from keyword import iskeyword
from typing import ClassVar

from graphflow.analysis.facts import Facts
from graphflow.checker.diagnostics import Related, Severity
from graphflow.checker.rule import Finding, Rule
from graphflow.ir.nodes import Declaration

RESERVED = frozenset({"user", "START", "END"})


class DuplicateName(Rule):
    """Two agents of one flow have the same name.

    ## What it does
    Looks for agents that share a name anywhere in one flow; a sub-flow is a flow of its own. One agent object at two places is
    GF103 instead.

    ## Why is this bad?
    Names are how logs, models= replacements and pictures speak of a stage. With two of one name nobody can tell which is
    meant, and the path of the second one changes when the first one is renamed.

    ## Example
    ```python
    SequentialAgent("report", [LlmAgent(name="writer", ...), LlmAgent(name="writer", ...)])
    ```

    ## Use instead
    ```python
    SequentialAgent("report", [LlmAgent(name="writer", ...), LlmAgent(name="rewriter", ...)])
    ```
    """

    code: ClassVar[str] = "GF101"
    name: ClassVar[str] = "duplicate-name"
    severity: ClassVar[Severity] = "error"
    valid: ClassVar[tuple[str, ...]] = (
        'flow = Flow(SequentialAgent("s", [LlmAgent(name="a", instruction="x"), LlmAgent(name="b", instruction="x")]))',
    )
    invalid: ClassVar[tuple[str, ...]] = (
        'flow = Flow(SequentialAgent("s", [LlmAgent(name="a", instruction="x"), LlmAgent(name="a", instruction="x")]))',
        'flow = Flow(SequentialAgent("s", [ParallelAgent("s", [LlmAgent(name="a", instruction="x")])]))',
    )

    def check(self, facts: Facts) -> Iterator[Finding]:
        """See the class."""
        first: dict[tuple[str, str], Declaration] = {}
        for path, declaration in facts.graph.declarations.items():
            if declaration.shared_with is not None or _inside_shared(facts, path):
                continue
            earlier = first.setdefault((facts.flow_around(path), declaration.name), declaration)
            if earlier is not declaration:
                yield Finding(
                    path,
                    f"the name `{declaration.name}` is used twice",
                    help=f"rename one of them, for example to `{declaration.name}_2`",
                    related=(Related(f"the other `{declaration.name}`", earlier.path, earlier.origin),),
                )


def _inside_shared(facts: Facts, path: str) -> bool:
    """Whether an agent around this one stands elsewhere too: then GF103 says so once, there."""
    declarations = facts.graph.declarations
    parent = path.rpartition("/")[0]
    while parent:
        if parent in declarations and declarations[parent].shared_with is not None:
            return True
        parent = parent.rpartition("/")[0]
    return False


class InvalidName(Rule):
    """A name is no identifier, or is reserved.

    ## What it does
    Flags agent names that are not Python identifiers, and `user`, `START` and `END`.

    ## Why is this bad?
    Names become parts of paths, keys of reports and identifiers in pictures. `user` is the author of the user's own
    messages; `START` and `END` are the ends of a graph.

    ## Example
    ```python
    LlmAgent(name="fact check", ...)
    ```

    ## Use instead
    ```python
    LlmAgent(name="fact_check", ...)
    ```
    """

    code: ClassVar[str] = "GF102"
    name: ClassVar[str] = "invalid-name"
    severity: ClassVar[Severity] = "error"
    valid: ClassVar[tuple[str, ...]] = ('flow = Flow(LlmAgent(name="fact_check", instruction="x"))',)
    invalid: ClassVar[tuple[str, ...]] = (
        'flow = Flow(LlmAgent(name="fact check", instruction="x"))',
        'flow = Flow(LlmAgent(name="user", instruction="x"))',
        'flow = Flow(LlmAgent(name="", instruction="x"))',
    )

    def check(self, facts: Facts) -> Iterator[Finding]:
        """See the class."""
        for path, declaration in facts.graph.declarations.items():
            name = declaration.name
            if name in RESERVED:
                yield Finding(
                    path, f"the name `{name}` is reserved", help=f"choose another, such as `{name.lower()}_agent`"
                )
            elif not name.isidentifier():
                yield Finding(path, f"the name {name!r} is no identifier", help=f"use `{_identifier(name)}`")


def _identifier(name: str) -> str:
    cleaned = "".join(
        character if character.isidentifier() or character.isdigit() else "_" for character in name.strip()
    )
    cleaned = cleaned[:40] or "agent"
    return cleaned if cleaned.isidentifier() and not iskeyword(cleaned) else f"agent_{cleaned}"


class MultipleParents(Rule):
    """One agent object is used at two places.

    ## What it does
    Flags an agent object that stands more than once in a flow.

    ## Why is this bad?
    The two places would share one name and one identity: events, journals and models= replacements could not tell them
    apart.

    ## Example
    ```python
    check = LlmAgent(name="check", ...)
    SequentialAgent("s", [check, write, check])
    ```

    ## Use instead
    ```python
    SequentialAgent("s", [check, write, check.clone({"name": "check_again"})])
    ```
    """

    code: ClassVar[str] = "GF103"
    name: ClassVar[str] = "multiple-parents"
    severity: ClassVar[Severity] = "error"
    valid: ClassVar[tuple[str, ...]] = (
        """
a = LlmAgent(name="a", instruction="x")
flow = Flow(SequentialAgent("s", [a, a.clone({"name": "b"})]))
""",
    )
    invalid: ClassVar[tuple[str, ...]] = (
        'a = LlmAgent(name="a", instruction="x")\nflow = Flow(SequentialAgent("s", [a, ParallelAgent("p", [a])]))',
    )

    def check(self, facts: Facts) -> Iterator[Finding]:
        """See the class."""
        for path, declaration in facts.graph.declarations.items():
            if declaration.shared_with is not None and not _inside_shared(facts, path):
                yield Finding(
                    path,
                    f"the agent `{declaration.name}` stands at two places, `{declaration.shared_with}` and `{path}`",
                    help=f'use a copy at one of them: {declaration.name}.clone({{"name": "{declaration.name}_2"}})',
                    related=(Related("the first place", declaration.shared_with),),
                )


class EmptyComposite(Rule):
    """A composite has nothing in it.

    ## What it does
    Flags a sequence, parallel or loop without sub-agents, a conditional without an arm that does something, and a `Workflow`
    without nodes.

    ## Why is this bad?
    It runs nothing. Most often a list was built from something that turned out to be empty.

    ## Example
    ```python
    ParallelAgent("research", [searcher(topic) for topic in topics])    # topics is empty
    ```

    ## Use instead
    ```python
    ParallelAgent("research", [searcher(topic) for topic in ("web", "papers")])
    ```
    """

    code: ClassVar[str] = "GF107"
    name: ClassVar[str] = "empty-composite"
    severity: ClassVar[Severity] = "warning"
    valid: ClassVar[tuple[str, ...]] = ('flow = Flow(SequentialAgent("s", [LlmAgent(name="a", instruction="x")]))',)
    invalid: ClassVar[tuple[str, ...]] = (
        'flow = Flow(SequentialAgent("s", [ParallelAgent("p", [])]))',
        'flow = Flow(LoopAgent("l", [], max_iterations=2))',
        'flow = Flow(ConditionalAgent("c", on=key("x"), cases={}), inputs={"x": str})',
    )

    def check(self, facts: Facts) -> Iterator[Finding]:
        """See the class."""
        inside = {path.rpartition("/")[0] for path in facts.graph.declarations}
        for path, declaration in facts.graph.declarations.items():
            if declaration.composite and path not in inside:
                yield Finding(
                    path,
                    f"the {declaration.composite} `{declaration.name}` has nothing in it",
                    help="give it at least one agent, or leave it out",
                )
