"""Rules about the inside of values: fields that are read, text that is taken for structure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from graphflow.analysis.facts import Facts
from graphflow.analysis.structures import ReadText, UnknownPart, texts_as_structure, unknown_parts
from graphflow.checker.diagnostics import Related, Severity
from graphflow.checker.rule import Finding, Rule
from graphflow.errors import closest
from graphflow.ir.nodes import agent_path


class UnknownField(Rule):
    """A field of a key is read that the key's value does not have.

    ## What it does
    Flags `{invoice.totl}` in a template, `key("invoice").field("totl")` in a condition, and the same in `over=` of a map, where
    the type of the key (its declaration, or what was written) has no such field. A warning where the read copes with absence
    (`{invoice.totl?}`): it is always empty.

    ## Why is this bad?
    The stage fails before it starts, when the stages before it have been paid for.

    ## Example
    ```python
    class Invoice(BaseModel):
        total: float

    extract = LlmAgent(name="extract", instruction="...", output_schema=Invoice, output_key="invoice")
    answer = LlmAgent(name="answer", instruction="The total is {invoice.totl}")
    ```

    ## Use instead
    ```python
    answer = LlmAgent(name="answer", instruction="The total is {invoice.total}")
    ```
    """

    code: ClassVar[str] = "GF403"
    name: ClassVar[str] = "unknown-field"
    severity: ClassVar[Severity] = "error"
    valid: ClassVar[tuple[str, ...]] = (
        """
class Invoice(TypedDict): total: float
flow = Flow(LlmAgent(name="a", instruction="{invoice.total}"), inputs={"invoice": Invoice})
""",
        """
flow = Flow(LlmAgent(name="a", instruction="{invoice.total}"), inputs={"invoice": dict})
""",
    )
    invalid: ClassVar[tuple[str, ...]] = (
        """
class Invoice(TypedDict): total: float
flow = Flow(LlmAgent(name="a", instruction="{invoice.totl}"), inputs={"invoice": Invoice})
""",
        """
class Invoice(TypedDict): total: float
flow = Flow(Gate("g", require=key("invoice").field("totl") > 3), inputs={"invoice": Invoice})
""",
    )

    def check(self, facts: Facts) -> Iterator[Finding]:
        """See the class."""
        seen: set[tuple[str, str, tuple[str, ...]]] = set()
        for part in unknown_parts(facts):
            read, node = part.use.read, part.use.node.id
            if part.texts or (node, read.key, read.path) in seen:
                continue
            seen.add((node, read.key, read.path))
            key, lack = facts.local(read.key), part.lack
            near = closest(lack.field, lack.known)
            fields = ", ".join(f"`{name}`" for name in lack.known)
            writers = [d.node for d in part.writers if not d.node.startswith("@")]
            yield Finding(
                node,
                f"`{agent_path(node)}` reads `{'.'.join((key, *read.path))}`, but {lack.type.text} has no field `{lack.field}`",
                key,
                (f"did you mean `{near}`?" if near else f"it has {fields}" if fields else f"read `{key}` itself")
                + (f" it has {fields}" if near else ""),
                tuple(Related(f"`{key}` is written here", agent_path(writer)) for writer in writers),
                severity="warning" if read.optional else None,
            )


class UnvalidatedStructure(Rule):
    """A model's free text is used as if it had structure.

    ## What it does
    Flags a stage that reads what a model agent without `output_schema` wrote as anything but text, or a field of it: an error,
    since text is not parsed when it is read. A function that takes the text and parses it itself (`json.loads`) without
    validating what comes out is a warning.

    ## Why is this bad?
    Models wrap JSON in prose and fences, leave out fields and invent others. The run fails at the reader, far from the stage
    that was to blame, or goes on with wrong data.

    ## Example
    ```python
    extract = LlmAgent(name="extract", instruction="Extract the invoice as JSON", output_key="invoice")
    answer = LlmAgent(name="answer", instruction="The total is {invoice.total}")
    ```

    ## Use instead
    ```python
    extract = LlmAgent(name="extract", instruction="...", output_key="invoice", output_schema=Invoice)
    ```
    """

    code: ClassVar[str] = "GF404"
    name: ClassVar[str] = "unvalidated-structure"
    severity: ClassVar[Severity] = "error"
    valid: ClassVar[tuple[str, ...]] = (
        """
@agent
def use(n: int) -> None: ...
flow = Flow(SequentialAgent("s", [LlmAgent(name="a", instruction="x", output_schema=int, output_key="n"), use]))
""",
        """
@agent(writes="clean")
def clean(text: str) -> str: return text.strip()
a = LlmAgent(name="a", instruction="x", output_key="text")
flow = Flow(SequentialAgent("s", [a, clean]), outputs=["clean"])
""",
    )
    invalid: ClassVar[tuple[str, ...]] = (
        """
@agent
def use(n: int) -> None: ...
flow = Flow(SequentialAgent("s", [LlmAgent(name="a", instruction="x", output_key="n"), use]))
""",
        """
a = LlmAgent(name="a", instruction="x", output_key="invoice")
flow = Flow(SequentialAgent("s", [a, LlmAgent(name="b", instruction="{invoice.total}")]))
""",
        """
import json
@agent(writes="total")
def total(raw: str) -> float: return json.loads(raw)["total"]
a = LlmAgent(name="a", instruction="x", output_key="raw")
flow = Flow(SequentialAgent("s", [a, total]), outputs=["total"])
""",
    )

    def check(self, facts: Facts) -> Iterator[Finding]:
        """See the class."""
        seen: set[tuple[str, str]] = set()
        reads: list[ReadText | UnknownPart] = [part for part in unknown_parts(facts) if part.texts]
        for found in (*texts_as_structure(facts), *reads):
            place = (found.use.node.id, found.use.read.key)
            if place not in seen:
                seen.add(place)
                yield self._finding(facts, found)

    @staticmethod
    def _finding(facts: Facts, found: ReadText | UnknownPart) -> Finding:
        read, node = found.use.read, found.use.node.id
        parsed = found.parsed if isinstance(found, ReadText) else None
        reader = "the declared outputs take" if node.startswith("@") else f"`{agent_path(node)}` takes"
        key, writer = facts.local(read.key), found.texts[0]
        name = f"`{'.'.join((key, *read.path))}`" if not facts.reserved(read.key) else "its input"
        wanted = read.type.text if not read.path else "structure"
        how = f"{reader} {name} as {wanted}" if parsed is None else f"`{agent_path(node)}` parses {name} itself"
        schema = read.type.text if not read.path and parsed is None else "..."
        return Finding(
            node,
            f"{how}, but it is the free text of `{writer}`",
            None if facts.reserved(read.key) else key,
            f"give `{writer}` output_schema={schema}, so that its answer is parsed and validated before it is stored",
            tuple(Related("the text is written here", text) for text in found.texts),
            severity="warning" if parsed is not None or (read.optional and bool(read.path)) else None,
        )
