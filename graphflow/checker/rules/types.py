"""Rules about the types of keys."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from graphflow.analysis.defaults import wrong_defaults
from graphflow.analysis.facts import Facts, Use
from graphflow.analysis.merging import better_merge
from graphflow.analysis.structures import texts_behind
from graphflow.checker.diagnostics import Related, Severity
from graphflow.checker.rule import Finding, Rule
from graphflow.ir.nodes import agent_path
from graphflow.schema import ANY, assignable, type_of


class TypeMismatchRule(Rule):
    """A key is written as one type and read as another.

    ## What it does
    Flags a read whose declared type does not hold what some write that reaches it writes, and a write that does not fit
    the key's declaration. Every member of a union is looked at; what is not annotated fits everything.

    ## Why is this bad?
    Values are checked when they are written and when they are read, so the run fails at one of the two.

    ## Example
    ```python
    @agent(writes="count")
    def count_words(text: str) -> str: ...

    @agent(writes="ok")
    def long_enough(count: int) -> bool: ...
    ```

    ## Use instead
    ```python
    @agent(writes="count")
    def count_words(text: str) -> int: ...
    ```
    """

    code: ClassVar[str] = "GF401"
    name: ClassVar[str] = "type-mismatch"
    severity: ClassVar[Severity] = "error"
    valid: ClassVar[tuple[str, ...]] = (
        """
@agent(writes="n")
def count() -> int: return 1
@agent
def use(n: float) -> None: ...
flow = Flow(SequentialAgent("s", [count, use]))
""",
    )
    invalid: ClassVar[tuple[str, ...]] = (
        """
@agent(writes="n")
def count() -> str: return "1"
@agent
def use(n: int) -> None: ...
flow = Flow(SequentialAgent("s", [count, use]))
""",
        """
@agent(writes="n")
def count() -> str: return "1"
flow = Flow(count, keys=[Key("n", int)])
""",
    )

    def check(self, facts: Facts) -> Iterator[Finding]:
        """See the class."""
        yield from self._writes(facts)
        for fault in wrong_defaults(facts):
            name = facts.local(fault.key)
            yield Finding(
                fault.node,
                f"the default of `{name}` is none of its type: {fault.why}",
                name,
                f"give `{name}` a default that is {fault.type.text}, or declare another type",
            )
        seen: set[tuple[str, str]] = set()
        for use in facts.uses:
            node, read = use.node.id, use.read
            if read.type == ANY or (node, read.key) in seen:
                continue
            seen.add((node, read.key))
            if read.path:
                yield from self._field(facts, use)
                continue
            declared = facts.keys.get(read.key)
            if declared is not None and type_of(declared.type) != ANY:
                found = facts.types.read_as(node, read.key)
                if not assignable(found, read.type):
                    yield self._finding(node, facts.local(read.key), f"declared as {found.text}", read.type.text, ())
                continue
            if facts.unknown(node, read.key):
                continue
            written = [(d, facts.types.seen(d)) for d in facts.reaching(node, read.key)]
            unfit = [(d, type_) for d, type_ in written if not assignable(type_, read.type)]
            if any(texts_behind(facts, d) for d, _ in unfit):
                continue  # GF404
            wrong = [(d.node, type_.text) for d, type_ in unfit]
            if wrong and facts.reserved(read.key):
                yield self._handed(node, wrong[0], read.type.text)
            elif wrong:
                places = tuple(
                    Related(f"`{facts.local(read.key)}` is written as {text} here", agent_path(writer))
                    for writer, text in wrong
                    if not writer.startswith("@")
                )
                writer, text = wrong[0]
                by = "given" if writer.startswith("@") else f"written by `{agent_path(writer)}`"
                yield self._finding(node, facts.local(read.key), f"{by} as {text}", read.type.text, places)

    @staticmethod
    def _field(facts: Facts, use: Use) -> Iterator[Finding]:
        types = facts.field_type(facts.key_type(use.node.id, use.read.key), use.read.path)
        wrong = [type_.text for type_ in types if not assignable(type_, use.read.type)]
        if wrong:
            name, asked = facts.local(use.read.key), use.read.type.text
            field = f"its field `{'.'.join(use.read.path)}` is {wrong[0]}"
            yield Finding(
                use.node.id,
                f"`{agent_path(use.node.id)}` reads a field of `{name}` as {asked}, but {field}",
                name,
                f"read a field that is {asked}, or change the type of `{'.'.join(use.read.path)}`",
            )

    @staticmethod
    def _finding(node: str, key: str, found: str, asked: str, places: tuple[Related, ...]) -> Finding:
        reader = "the declared outputs" if node.startswith("@") else f"`{agent_path(node)}`"
        return Finding(
            node,
            f"{reader} read{'' if node.startswith('@') else 's'} `{key}` as {asked}, but it is {found}",
            key,
            f"make both sides agree: read {key} as what is written, or write {asked}",
            places,
        )

    @staticmethod
    def _handed(node: str, wrong: tuple[str, str], asked: str) -> Finding:
        reader, (writer, text) = agent_path(node), wrong
        return Finding(
            node,
            f"`{reader}` takes {asked} as its input, but `{agent_path(writer)}` gives {text}",
            help=f"make both sides agree: take what is given, or give {asked}",
            related=(Related("it is given here", agent_path(writer)),),
        )

    @staticmethod
    def _writes(facts: Facts) -> Iterator[Finding]:
        for definition in facts.effects.definitions:
            key = facts.keys.get(definition.key)
            if (
                key is None
                or type_of(key.type) == ANY
                or definition.node.startswith("@")
                or facts.types.replaces(definition)
            ):
                continue
            asked = facts.types.asked(definition)
            written, name = facts.types.written(definition), facts.local(definition.key)
            if not assignable(written, asked) and better_merge(facts, definition) is None:
                yield Finding(
                    definition.node,
                    f"`{agent_path(definition.node)}` writes `{name}` as {written.text}, "
                    f"but it is declared as {type_of(key.type).text}" + (f" ({key.merge.name})" if key.merge else ""),
                    name,
                    f"write {asked.text}, or change the declaration Key({name!r}, ...)",
                )
