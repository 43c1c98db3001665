"""Rules about what nobody reads, and about what the flow owes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from graphflow.analysis.control import may_escalate
from graphflow.analysis.effects import Definition
from graphflow.analysis.facts import Facts
from graphflow.checker.diagnostics import Severity
from graphflow.checker.rule import Finding, Rule
from graphflow.checker.rules.state import shown_path, written_at
from graphflow.contracts.bodies import flags_set
from graphflow.ir.nodes import LoopHeader, agent_path
from graphflow.ir.scoping import SHARED


class UnreadWrite(Rule):
    """A stage writes a key that nothing reads.

    ## What it does
    Flags a write whose value reaches no read, condition, gate or declared output. Where the flow declares no outputs its
    application may read any key, so there it is a note. `persist`, `user:` and `app:` keys are read by later runs. Under a
    profile by which later agents are sent what was answered (`adk`) it is a note too, except for a truth value that code
    sets in a loop which only its bound ends: an exit flag that ends nothing.

    ## Why is this bad?
    Either the reader has a typo, or a model is paid for an answer that nobody looks at.

    ## Example
    ```python
    LlmAgent(name="tags", instruction="Tag {text}", output_key="tags")      # nobody reads tags
    ```

    ## Use instead
    Declare the key as an output (`Flow(..., outputs=["tags"])`), read it, or leave the stage out.
    """

    code: ClassVar[str] = "GF203"
    name: ClassVar[str] = "unread-write"
    severity: ClassVar[Severity] = "warning"
    valid: ClassVar[tuple[str, ...]] = (
        'flow = Flow(LlmAgent(name="a", instruction="x", output_key="k"), outputs=["k"])',
    )
    invalid: ClassVar[tuple[str, ...]] = (
        'flow = Flow(LlmAgent(name="a", instruction="x", output_key="k"), outputs=[])',
        'flow = Flow(LlmAgent(name="a", instruction="x", output_key="k"))',
    )

    def check(self, facts: Facts) -> Iterator[Finding]:
        """See the class."""
        declared = facts.graph.interface.outputs is not None
        for definition in _unread(facts):
            key = definition.key
            if not facts.lasts(definition) or (key in facts.keys and facts.keys[key].persist):
                continue
            name, inner = facts.local(key), facts.inner(key)
            yield Finding(
                definition.node,
                f"`{agent_path(definition.node)}` writes `{name}`, which nothing reads",
                name,
                f'declare it as an output: outputs=["{name}"], or leave it out',
                severity=self._severity(facts, definition, declared=declared or inner),
            )

    @staticmethod
    def _severity(facts: Facts, definition: Definition, *, declared: bool) -> Severity | None:
        if facts.profile.answers_are_history:
            return None if _is_exit_flag(facts, definition) else "info"
        return None if declared else "info"


def _is_exit_flag(facts: Facts, definition: Definition) -> bool:
    """Whether a truth value is written in loops that nothing but their bounds ends."""
    around = [facts.graph.nodes[header] for header in facts.loops_around[definition.node]]
    loops = [header for header in around if isinstance(header, LoopHeader)]
    only_bounds = all(header.until is None and not may_escalate(facts, header) for header in loops)
    if not loops or not only_bounds:
        return False
    name, declaration = facts.local(definition.key), facts.graph.declarations.get(agent_path(definition.node))
    bodies = (
        (*declaration.notes.functions, *(t.func for t in declaration.notes.tools)) if declaration is not None else ()
    )
    return definition.type.text == "bool" or any(name in flags_set(body) for body in bodies)


class OverwrittenBeforeRead(Rule):
    """A stage writes a key that is replaced before anyone reads it.

    ## What it does
    Flags a write that no read and no output can see because on every path to the normal end another write of the key comes
    first. Updates of a key with a merge are never replaced, and what two concurrent writers do is GF301.

    ## Why is this bad?
    The work was for nothing, and often it was meant for a key of its own.

    ## Example
    ```python
    SequentialAgent("s", [
        LlmAgent(name="outline", instruction="Outline {topic}", output_key="text"),
        LlmAgent(name="story", instruction="Write about {topic}", output_key="text"),     # nobody has read the outline
    ])
    ```

    ## Use instead
    ```python
    LlmAgent(name="story", instruction="Write about {topic}, following {text}", output_key="text")
    ```
    or give one of them a key of its own.
    """

    code: ClassVar[str] = "GF204"
    name: ClassVar[str] = "overwritten-before-read"
    severity: ClassVar[Severity] = "warning"
    valid: ClassVar[tuple[str, ...]] = (
        """
w = LlmAgent(name="w", instruction="x", output_key="d")
l = LoopAgent("l", [LlmAgent(name="c", instruction="{d}", output_key="d")], max_iterations=2)
flow = Flow(SequentialAgent("s", [w, l]), outputs=["d"])
""",
        """
a = LlmAgent(name="a", instruction="x", output_key="k")
c = ConditionalAgent("c", when=key("v"), then=LlmAgent(name="b", instruction="x", output_key="k"))
flow = Flow(SequentialAgent("s", [a, c]), inputs={"v": bool}, outputs=["k"])
""",
    )
    invalid: ClassVar[tuple[str, ...]] = (
        """
a = LlmAgent(name="a", instruction="x", output_key="k")
flow = Flow(SequentialAgent("s", [a, LlmAgent(name="b", instruction="y", output_key="k")]), outputs=["k"])
""",
    )

    def check(self, facts: Facts) -> Iterator[Finding]:
        """See the class."""
        if facts.unreachable(facts.graph.exit):
            return  # there is no path to the normal end
        for definition in _unread(facts):
            key, node = definition.key, definition.node
            if facts.lasts(definition) or key in facts.effects.merged or facts.unreachable(node):
                continue
            later = [d for d in facts.writers(key) if d.sure and definition in facts.reaching(d.node, key)]
            if later:
                name = facts.local(key)
                by = " or ".join(dict.fromkeys(f"`{agent_path(d.node)}`" for d in later))
                yield Finding(
                    node,
                    f"what `{agent_path(node)}` writes to `{name}` is replaced by {by} before anyone reads it",
                    name,
                    "read it in between, give it a key of its own, or leave the stage out",
                    written_at(facts, later),
                )


class UnusedInput(Rule):
    """A declared input that nothing reads.

    ## What it does
    Flags an input that no stage, condition, gate or output reads.

    ## Why is this bad?
    Callers go to the trouble of giving it. Most often the reader has a typo, or the stage that read it is gone.

    ## Example
    ```python
    Flow(LlmAgent(name="a", instruction="About {topic}"), inputs={"topic": str, "tone": str})
    ```

    ## Use instead
    ```python
    Flow(LlmAgent(name="a", instruction="About {topic}, in a {tone} tone"), inputs={"topic": str, "tone": str})
    ```
    """

    code: ClassVar[str] = "GF208"
    name: ClassVar[str] = "unused-input"
    severity: ClassVar[Severity] = "warning"
    valid: ClassVar[tuple[str, ...]] = (
        'flow = Flow(LlmAgent(name="a", instruction="{topic}"), inputs={"topic": str})',
        'flow = Flow(LlmAgent(name="a", instruction="Answer."), inputs={"message": str})',
    )
    invalid: ClassVar[tuple[str, ...]] = ('flow = Flow(LlmAgent(name="a", instruction="x"), inputs={"topic": str})',)

    def check(self, facts: Facts) -> Iterator[Finding]:
        """See the class."""
        inputs = {name for name, *_ in facts.graph.interface.inputs or ()}
        cut_off = {use.read.key for use in facts.uses if facts.unreachable(use.node.id)}
        for definition in facts.effects.definitions:
            carried = facts.given(definition) and facts.carried(definition)
            entered = definition.node == facts.graph.entry and definition.key in inputs
            if (entered or carried) and not facts.is_read(definition) and definition.key not in cut_off:
                where = f" of `{agent_path(definition.node)}`" if carried else ""
                yield Finding(
                    definition.node,
                    f"nothing reads the input `{facts.local(definition.key)}`{where}",
                    facts.local(definition.key),
                    "read it, or take it out of inputs=",
                )


class OutputNotWritten(Rule):
    """A declared output that some path does not write.

    ## What it does
    Flags a required output that is not written on every path to the normal end. Halted and failed runs owe nothing.

    ## Why is this bad?
    The run does all its work and then fails at the end, or its caller gets a KeyError.

    ## Example
    ```python
    Flow(ConditionalAgent("c", when=key("vip"), then=discount), inputs={"vip": bool}, outputs=["discount"])
    ```

    ## Use instead
    ```python
    Flow(..., outputs=["discount?"])
    ```
    or write the key on the other path too.
    """

    code: ClassVar[str] = "GF211"
    name: ClassVar[str] = "output-not-written"
    severity: ClassVar[Severity] = "error"
    valid: ClassVar[tuple[str, ...]] = (
        'flow = Flow(LlmAgent(name="a", instruction="x", output_key="k"), outputs=["k"])',
        """
c = ConditionalAgent("c", when=key("v"), then=LlmAgent(name="a", instruction="x", output_key="k"))
flow = Flow(c, inputs={"v": bool}, outputs=["k?"])
""",
    )
    invalid: ClassVar[tuple[str, ...]] = (
        'flow = Flow(LlmAgent(name="a", instruction="x", output_key="k"), outputs=["k", "missing"])',
        """
c = ConditionalAgent("c", when=key("v"), then=LlmAgent(name="a", instruction="x", output_key="k"))
flow = Flow(c, inputs={"v": bool}, outputs=["k"])
""",
    )

    def check(self, facts: Facts) -> Iterator[Finding]:
        """See the class."""
        end = facts.graph.exit
        for read in facts.graph.nodes[end].contract.reads:
            key = read.key
            if read.optional or facts.unknown(end, key) or facts.surely(end, key) or facts.reads.undeclared(key):
                continue
            reaching = facts.reaching(end, key)
            near = facts.similar(key) if not reaching else None
            message = f"no stage writes the output `{key}`"
            if reaching:
                message = f"some path to the end does not write the output `{key}`"
            help_ = (
                f"write it on the other path too, or declare it optional: `{key}?`" if reaching else f"write `{key}`"
            )
            yield Finding(
                end,
                message,
                key,
                f"did you mean `{near}`?" if near else help_,
                written_at(facts, reaching),
                shown_path(facts, end, key),
                absorbs=(("GF203", near),) if near else (),
            )


def _unread(facts: Facts) -> Iterator[Definition]:
    """Yield the writes of stages that no read, condition or output of this run sees; what concurrent writers do is GF301."""
    raced = facts.raced
    for definition in facts.effects.definitions:
        owned_elsewhere = (
            definition.node.startswith("@") or definition.key.startswith(SHARED) or definition.key in raced
        )
        if not owned_elsewhere and not facts.is_read(definition) and not facts.given(definition):
            yield definition
