"""Rules about reads: is there a value, on every path, and in the first iteration?

Exactly one of them speaks about a read: `graphflow.analysis.reads` decides which.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from graphflow.analysis.facts import Facts
from graphflow.analysis.keys import Definition
from graphflow.checker.diagnostics import Related, Severity
from graphflow.checker.rule import Finding, Rule
from graphflow.ir.nodes import Join, agent_path
from graphflow.ir.scoping import SHARED


def written_at(facts: Facts, definitions: Sequence[Definition]) -> tuple[Related, ...]:
    """Name the places of writes; the entry's are inputs."""
    return tuple(
        Related(f"`{facts.local(d.key)}` is written here", agent_path(d.node))
        for d in definitions
        if not d.node.startswith("@")
    )


def shown_path(facts: Facts, node_id: str, key: str) -> tuple[str, ...]:
    """Give the agents of one path on which a key is not written, each once."""
    return tuple(dict.fromkeys(agent_path(id_) for id_ in facts.paths.without(node_id, key) if not id_.startswith("@")))


class UndefinedRead(Rule):
    """A stage reads a key that nothing writes.

    ## What it does
    Flags a required read of a key that no stage before it writes and no input gives. The closest existing key is named.
    A flow that does not declare its inputs may be given any key, so there it is a warning, unless a similar key exists.

    ## Why is this bad?
    The run fails when it gets there, after everything before it has been paid for. Most often it is a typo.

    ## Example
    ```python
    SequentialAgent("s", [
        LlmAgent(name="writer", instruction="Write about {topic}", output_key="draft"),
        LlmAgent(name="critic", instruction="Criticise {draaft}", output_key="critique"),
    ])
    ```

    ## Use instead
    ```python
    LlmAgent(name="critic", instruction="Criticise {draft}", output_key="critique")
    ```
    """

    code: ClassVar[str] = "GF201"
    name: ClassVar[str] = "undefined-read"
    severity: ClassVar[Severity] = "error"
    valid: ClassVar[tuple[str, ...]] = (
        'flow = Flow(LlmAgent(name="a", instruction="About {topic}"), inputs={"topic": str})',
        'flow = Flow(LlmAgent(name="a", instruction="About {topic?}"), inputs={})',
        'flow = Flow(LlmAgent(name="a", instruction="About {topic}"), inputs={}, keys=[Key("topic", str, default="tea")])',
    )
    invalid: ClassVar[tuple[str, ...]] = (
        'flow = Flow(LlmAgent(name="a", instruction="About {topic}"), inputs={})',
        'flow = Flow(LlmAgent(name="a", instruction="About {topic}"))',
        """
flow = Flow(SequentialAgent("s", [
    LlmAgent(name="a", instruction="x", output_key="draft"), LlmAgent(name="b", instruction="{draaft}"),
]))
""",
    )

    def check(self, facts: Facts) -> Iterator[Finding]:
        """See the class."""
        for use in facts.reads.faulty("undefined"):
            yield self._finding(facts, use.node.id, use.read.key)

    def _finding(self, facts: Facts, node: str, key: str) -> Finding:
        elsewhere = [d for d in facts.writers(key) if d.node != node]
        near, name = facts.similar(key), facts.local(key)
        closed = facts.graph.interface.inputs is not None or facts.inner(key)
        reader = agent_path(node)
        absorbed = facts.local(near) if near is not None and not facts.writers(key) else None
        help_, severity = f'declare it as an input: inputs={{"{name}": ...}}', None
        if key.startswith(SHARED):
            help_, severity = f'seeded elsewhere? declare it: inputs={{"{name}": ...}}', "warning"
        elif elsewhere:
            help_ = self._elsewhere(facts, node, elsewhere[0])
        elif facts.writers(key):
            help_ = f"`{reader}` itself writes `{name}`, but reads it first: read it as `{{{name}?}}` or declare it as an input"
        elif near is not None:
            help_ = f"did you mean `{facts.local(near)}`?"
        elif closed:
            help_ = f"write it before `{reader}`, declare it as an input, or read it as `{{{name}?}}`"
        else:
            severity = "warning"
        return Finding(
            node,
            f"`{reader}` reads `{name}`, which nothing writes before it and no input gives",
            name,
            help_,
            written_at(facts, elsewhere),
            severity="warning" if severity == "warning" else None,
            absorbs=(("GF203", absorbed), ("GF208", absorbed)) if absorbed is not None else (),
        )

    @staticmethod
    def _elsewhere(facts: Facts, node: str, writer: Definition) -> str:
        """Say why a write does not arrive: it stays in an instance of a map, or runs elsewhere."""
        name, path = facts.local(writer.key), agent_path(writer.node)
        span = next((s for s in facts.maps_around[writer.node] if s not in facts.maps_around[node]), None)
        if span is None and agent_path(writer.node) == agent_path(node):
            return f"`{path}` itself writes `{name}`, but not before it reads it"
        if span is None:
            return f"`{name}` is written by `{path}`, which does not run before `{agent_path(node)}`"
        return f"`{name}` is written by `{path}` in instances of `{agent_path(span.fork)}`: add it to its `collect`"


class MaybeUndefinedRead(Rule):
    """A stage reads a key that some path to it does not write.

    ## What it does
    Flags a required read of a key that is written on some paths only: in one arm of a conditional, before an early end of
    a loop, by an optional input. One such path is shown.

    ## Why is this bad?
    The pipeline works in the demo and fails on the first request that takes the other path.

    ## Example
    ```python
    SequentialAgent("s", [
        ConditionalAgent("c", when=key("long"), then=summarise),    # writes summary
        LlmAgent(name="send", instruction="Send {summary}"),
    ])
    ```

    ## Use instead
    ```python
    LlmAgent(name="send", instruction="Send {summary?}")
    ```
    or write the key in the other arm too.
    """

    code: ClassVar[str] = "GF202"
    name: ClassVar[str] = "maybe-undefined-read"
    severity: ClassVar[Severity] = "error"
    valid: ClassVar[tuple[str, ...]] = (
        """
w = LlmAgent(name="w", instruction="x", output_key="s")
v = LlmAgent(name="v", instruction="x", output_key="s")
c = ConditionalAgent("c", when=key("long"), then=w, otherwise=v)
flow = Flow(SequentialAgent("q", [c, LlmAgent(name="r", instruction="{s}")]), inputs={"long": bool})
""",
    )
    invalid: ClassVar[tuple[str, ...]] = (
        """
w = LlmAgent(name="w", instruction="x", output_key="s")
c = ConditionalAgent("c", when=key("long"), then=w)
flow = Flow(SequentialAgent("q", [c, LlmAgent(name="r", instruction="{s}")]), inputs={"long": bool})
""",
        'flow = Flow(LlmAgent(name="a", instruction="{tone}"), inputs={"tone?": str})',
    )

    def check(self, facts: Facts) -> Iterator[Finding]:
        """See the class."""
        for use in facts.reads.faulty("maybe"):
            node, key = use.node.id, use.read.key
            reaching = facts.reaching(node, key)
            kept = facts.reads.persists(key) and facts.paths.comes_round(node, reaching)
            name = facts.local(key)
            message = f"`{agent_path(node)}` reads `{name}`, which some path to it does not write"
            if kept:
                message = f"`{agent_path(node)}` reads `{name}`, which the first run of a session finds absent"
            elif all(d.node.startswith("@") for d in reaching):
                message = f"`{agent_path(node)}` reads `{name}`, an optional input that a run may not be given"
            yield Finding(
                node,
                message,
                name,
                self._help(facts, node, name, kept=kept),
                written_at(facts, reaching or (facts.writers(key) if kept else ())),
                shown_path(facts, node, key) or (("first run of a session", agent_path(node)) if kept else ()),
            )

    @staticmethod
    def _help(facts: Facts, node: str, name: str, *, kept: bool) -> str:
        reader = facts.graph.nodes[node]
        if kept:
            return f"read it as `{{{name}?}}`, declare it as an input, or give it a default: Key({name!r}, default=...)"
        default = f"give it a default: Key({name!r}, default=...)"
        if isinstance(reader, Join):
            return f"every instance has to write `{name}`, which is collected: write it on the other path too, or {default}"
        return f"read it as `{{{name}?}}`, write it on the other path too, or {default}"


class FirstIterationRead(Rule):
    """In a loop, a stage reads a key that is only written later in the same body.

    ## What it does
    Flags a required read whose every writer comes round the loop: in the first iteration there is no value.

    ## Why is this bad?
    The first iteration fails, always.

    ## Example
    ```python
    LoopAgent("refine", [
        LlmAgent(name="writer", instruction="Improve with {critique}", output_key="draft"),
        LlmAgent(name="critic", instruction="Criticise {draft}", output_key="critique"),
    ], max_iterations=3)
    ```

    ## Use instead
    ```python
    LlmAgent(name="writer", instruction="Improve with {critique?}", output_key="draft")
    ```
    or seed the key with an input, a stage before the loop or `Key("critique", default="")`.
    """

    code: ClassVar[str] = "GF205"
    name: ClassVar[str] = "first-iteration-read"
    severity: ClassVar[Severity] = "error"
    valid: ClassVar[tuple[str, ...]] = (
        """
w = LlmAgent(name="w", instruction="{c?}", output_key="d")
c = LlmAgent(name="c", instruction="{d}", output_key="c")
flow = Flow(LoopAgent("l", [w, c], max_iterations=2))
""",
    )
    invalid: ClassVar[tuple[str, ...]] = (
        """
w = LlmAgent(name="w", instruction="{c}", output_key="d")
c = LlmAgent(name="c", instruction="{d}", output_key="c")
flow = Flow(LoopAgent("l", [w, c], max_iterations=2))
""",
    )

    def check(self, facts: Facts) -> Iterator[Finding]:
        """See the class."""
        for use in facts.reads.faulty("round"):
            node, key = use.node.id, use.read.key
            reaching = facts.reaching(node, key)
            writers, name = ", ".join(f"`{agent_path(d.node)}`" for d in reaching), facts.local(key)
            yield Finding(
                node,
                f"`{agent_path(node)}` reads `{name}`, which in the first iteration is not written yet (by {writers})",
                name,
                f"read it as `{{{name}?}}`, give it as an input, or seed it: Key({name!r}, default=...)",
                written_at(facts, reaching),
                shown_path(facts, node, key),
            )


class StaleRead(Rule):
    """A stage may read what an earlier run wrote in place of what this run should have written.

    ## What it does
    Flags a read of a key that is kept between runs (`persist`) and that only some paths to the reader have written in this run.
    A read before any write of this run is what such keys are for and is not flagged. Under the profile of a framework that
    keeps all state, every key that the pipeline produces is such a key.

    ## Why is this bad?
    On the other paths nothing fails: the answer of last week is used as if it were today's.

    ## Example
    ```python
    Flow(SequentialAgent("s", [
        ConditionalAgent("c", when=key("urgent"), then=rate),       # writes rating
        LlmAgent(name="reply", instruction="Answer with {rating?}"),
    ]), inputs={"urgent": bool}, persist=["rating"])
    ```

    ## Use instead
    Write the key on the other path too, or leave it out of `persist`.
    """

    code: ClassVar[str] = "GF206"
    name: ClassVar[str] = "stale-read"
    severity: ClassVar[Severity] = "error"
    valid: ClassVar[tuple[str, ...]] = (
        """
r = LlmAgent(name="r", instruction="{count?}", output_key="count")
flow = Flow(SequentialAgent("s", [r, LlmAgent(name="e", instruction="{count}")]), persist=["count"])
""",
        """
w = LlmAgent(name="w", instruction="x", output_key="k")
c = ConditionalAgent("c", when=key("v"), then=w)
flow = Flow(SequentialAgent("s", [c, LlmAgent(name="r", instruction="{k?}")]), inputs={"v": bool})
""",
    )
    invalid: ClassVar[tuple[str, ...]] = (
        """
w = LlmAgent(name="w", instruction="x", output_key="k")
c = ConditionalAgent("c", when=key("v"), then=w)
flow = Flow(SequentialAgent("s", [c, LlmAgent(name="r", instruction="{k?}")]), inputs={"v": bool}, persist=["k"])
""",
        """
w = LlmAgent(name="w", instruction="x", output_key="k")
c = ConditionalAgent("c", when=key("v"), then=w)
flow = Flow(SequentialAgent("s", [c, LlmAgent(name="r", instruction="{k}")]), inputs={"v": bool}, persist=["k"])
""",
    )

    def check(self, facts: Facts) -> Iterator[Finding]:
        """See the class."""
        for use in facts.reads.faulty("stale"):
            node, key = use.node.id, use.read.key
            name = facts.local(key)
            reaching, writers = facts.reaching(node, key), facts.writers(key)
            writer = agent_path(writers[0].node)
            lacks, help_ = "some path to it does not write: there", f"write `{name}` on the other path too"
            if not reaching:
                lacks, help_ = f"`{writer}` writes only later:", f"run `{writer}` before it"
            yield Finding(
                node,
                f"`{agent_path(node)}` reads `{name}`, which {lacks} it gets the value of an earlier run",
                name,
                help_ + (f", or take it out of persist: {name!r}" if facts.reads.persists(key) else ""),
                written_at(facts, reaching or writers),
                shown_path(facts, node, key),
            )
