"""Rules about several writes of one key: how they are combined, and whether they agree what the key is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from graphflow.analysis.effects import Definition
from graphflow.analysis.facts import Facts
from graphflow.analysis.merging import better_merge, combines, conflicts, takes
from graphflow.checker.diagnostics import Related, Severity
from graphflow.checker.rule import Finding, Rule
from graphflow.ir.nodes import agent_path
from graphflow.schema import ANY, Key, Merge, type_of

_TAKES = {
    "append": "appends to a list",
    "extend": "joins lists",
    "union": "joins lists or sets",
    "sum": "adds numbers",
    "max": "compares values",
    "min": "compares values",
}


class BadMerge(Rule):
    """A key's merge is not made for the key, or for what is written to it.

    ## What it does
    Flags a merge that cannot combine values of the key's type (`sum` of text, `extend` of a number), and a write that is meant
    for another merge: a list written to a key that appends, one element to a key that extends. Updates are applied in
    declaration order, whatever finished first, so a merge need not be commutative.

    ## Why is this bad?
    What a stage returns for such a key is an update. The run fails when it is applied, or a list ends up as one element of
    the list.

    ## Example
    ```python
    @agent(writes="notes")
    def search(topic: str) -> list[str]: ...

    Flow(..., keys=[Key("notes", list[str], merge=Merge.append)])
    ```

    ## Use instead
    ```python
    Flow(..., keys=[Key("notes", list[str], merge=Merge.extend)])
    ```
    """

    code: ClassVar[str] = "GF303"
    name: ClassVar[str] = "bad-merge"
    severity: ClassVar[Severity] = "error"
    valid: ClassVar[tuple[str, ...]] = (
        """
@agent(writes="notes")
def search() -> list[str]: return []
flow = Flow(search, keys=[Key("notes", list[str], merge=Merge.extend)], outputs=["notes"])
""",
        """
@agent(writes="notes")
def search() -> str: return ""
flow = Flow(search, keys=[Key("notes", merge=Merge.append)], outputs={"notes": list[str]})
""",
    )
    invalid: ClassVar[tuple[str, ...]] = (
        """
@agent(writes="notes")
def search() -> list[str]: return []
flow = Flow(search, keys=[Key("notes", list[str], merge=Merge.append)], outputs=["notes"])
""",
        """
@agent(writes="notes")
def search() -> str: return ""
flow = Flow(search, keys=[Key("notes", merge=Merge.sum)], outputs=["notes"])
""",
        """
@agent(writes="notes")
def search() -> str: return ""
flow = Flow(search, keys=[Key("notes", str, merge=Merge.extend)], outputs=["notes"])
""",
    )

    def check(self, facts: Facts) -> Iterator[Finding]:
        """See the class."""
        for name, key in facts.keys.items():
            if key.merge is None:
                continue
            writers = [d for d in facts.writers(name) if d.node != facts.graph.entry and not facts.types.replaces(d)]
            declared = type_of(key.type)
            if declared != ANY and not combines(key.merge, declared):
                yield _unfit(facts, key, writers)
                continue
            for definition in writers:
                better, written = better_merge(facts, definition), facts.types.written(definition)
                if better is None and (declared != ANY or written == ANY or takes(key, written)):
                    continue
                local, writer = facts.local(name), agent_path(definition.node)
                change = f"declare merge=Merge.{better}, or" if better else "declare another merge, or"
                yield Finding(
                    definition.node,
                    f"`{writer}` writes {written.text} to `{local}`, but its merge `{key.merge.name}` {_what(key.merge)}",
                    local,
                    f"{change} write {'an element' if key.merge == Merge.append else 'what the merge takes'}",
                )


def _what(merge: Merge) -> str:
    return "adds one element" if merge == Merge.append else _TAKES[merge.name]


def _unfit(facts: Facts, key: Key, writers: list[Definition]) -> Finding:
    assert key.merge is not None
    local = facts.local(key.name)
    return Finding(
        writers[0].node if writers else facts.graph.entry,
        f"`{local}` is declared as {type_of(key.type).text}, but its merge `{key.merge.name}` {_TAKES[key.merge.name]}",
        local,
        "declare a type that the merge combines, another merge, or a function: merge=Merge.of(combine)",
        tuple(Related(f"`{local}` is written here too", agent_path(d.node)) for d in writers[1:]),
    )


class ConflictingWriters(Rule):
    """Two stages write one key as types that have nothing in common.

    ## What it does
    Flags a key without a declared type that is written as, say, text by one stage and a number by another, where both values
    reach one read and no reader says what it takes. None goes with every type, an int with a float, values of Literals
    with their types, classes with a common base.

    ## Why is this bad?
    What the reader finds depends on the path that the run took; nobody has decided what the key is.

    ## Example
    ```python
    ConditionalAgent("total", when=key("typed"), then=from_form, otherwise=from_mail)     # float, and text
    ```

    ## Use instead
    Let both write one type, and declare it, so that every write is held to it:
    ```python
    Flow(..., keys=[Key("total", float)])
    ```
    """

    code: ClassVar[str] = "GF402"
    name: ClassVar[str] = "conflicting-writers"
    severity: ClassVar[Severity] = "error"
    valid: ClassVar[tuple[str, ...]] = (
        """
@agent(writes="n")
def one() -> int: return 1
@agent(writes="n")
def half() -> float | None: return 0.5
c = ConditionalAgent("c", when=key("v"), then=one, otherwise=half)
flow = Flow(SequentialAgent("s", [c, LlmAgent(name="a", instruction="{n}")]), inputs={"v": bool})
""",
    )
    invalid: ClassVar[tuple[str, ...]] = (
        """
@agent(writes="n")
def one() -> int: return 1
@agent(writes="n")
def two() -> str: return "two"
c = ConditionalAgent("c", when=key("v"), then=one, otherwise=two)
flow = Flow(SequentialAgent("s", [c, LlmAgent(name="a", instruction="{n}")]), inputs={"v": bool})
""",
    )

    def check(self, facts: Facts) -> Iterator[Finding]:
        """See the class."""
        for key, first, second, use in conflicts(facts):
            name, ours, theirs = facts.local(key), facts.types.written(first), facts.types.written(second)
            given = "an input" if first.node.startswith("@") else f"`{agent_path(first.node)}`"
            reader = "the declared outputs" if use.node.id.startswith("@") else f"`{agent_path(use.node.id)}`"
            yield Finding(
                second.node,
                f"`{agent_path(second.node)}` writes `{name}` as {theirs.text}, {given} as {ours.text}; "
                f"{reader} may find either",
                name,
                f"write one type, and declare it: Key({name!r}, {ours.text})",
                tuple(
                    Related(text, agent_path(node))
                    for text, node in ((f"`{name}` is written here too", first.node), ("it is read here", use.node.id))
                    if not node.startswith("@")
                ),
            )
