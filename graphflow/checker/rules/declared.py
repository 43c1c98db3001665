"""Rules about keys that the flow does not know, and about reads that cope with their absence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from graphflow.analysis.facts import Facts, Use
from graphflow.checker.diagnostics import Severity
from graphflow.checker.rule import Finding, Rule
from graphflow.checker.rules.state import written_at
from graphflow.errors import closest
from graphflow.ir.nodes import Exit, Task, agent_path
from graphflow.ir.scoping import SHARED
from graphflow.template import parse


class UndeclaredKey(Rule):
    """A stage uses a key that the flow's declared state lacks.

    ## What it does
    Where `Flow(state=...)` names a model, its fields (with `keys=`, `persist=` and `inputs=`) are all the keys there are. Flags
    each read and each write of another one; the closest declared key is named. A sub-flow has the keys of its own flow. Keys
    that no model can name (`user:`, `app:`, `temp:`), and what a map gives to its instances, are not flagged.

    ## Why is this bad?
    Whoever closes the state wants to hear of every typo. A write of such a key is never seen, a read fails.

    ## Example
    ```python
    class State(BaseModel):
        draft: str

    Flow(LlmAgent(name="writer", instruction="Write.", output_key="draaft"), state=State)
    ```

    ## Use instead
    ```python
    Flow(LlmAgent(name="writer", instruction="Write.", output_key="draft"), state=State)
    ```
    or add a field `draaft` to the model.
    """

    code: ClassVar[str] = "GF207"
    name: ClassVar[str] = "undeclared-key"
    severity: ClassVar[Severity] = "error"
    valid: ClassVar[tuple[str, ...]] = (
        """
from pydantic import BaseModel
class State(BaseModel):
    draft: str
flow = Flow(LlmAgent(name="a", instruction="{draft?}", output_key="draft"), state=State)
""",
        """
from pydantic import BaseModel
class State(BaseModel):
    draft: str
flow = Flow(LlmAgent(name="a", instruction="{topic}", output_key="draft"), state=State, inputs={"topic": str})
""",
    )
    invalid: ClassVar[tuple[str, ...]] = (
        """
from pydantic import BaseModel
class State(BaseModel):
    draft: str
flow = Flow(LlmAgent(name="a", instruction="x", output_key="draaft"), state=State)
""",
        """
from pydantic import BaseModel
class State(BaseModel):
    draft: str
flow = Flow(LlmAgent(name="a", instruction="{tone?}", output_key="draft"), state=State)
""",
    )

    def check(self, facts: Facts) -> Iterator[Finding]:
        """See the class."""
        if not facts.reads.closed:
            return
        places = {(use.node.id, use.read.key): "reads" for use in facts.uses}
        places = {(node.id, write.key): "writes" for node, write in facts.writes} | places
        seen: set[tuple[str, str]] = set()
        for (node, key), does in places.items():
            place = (agent_path(node), key)
            if node == facts.graph.entry or place in seen or facts.unreachable(node) or not facts.reads.undeclared(key):
                continue
            seen.add(place)
            yield self._finding(facts, node, key, does)

    @staticmethod
    def _finding(facts: Facts, node: str, key: str, does: str) -> Finding:
        scope, name = facts.effects.scope_of(key), facts.local(key)
        near = closest(name, facts.reads.closed[scope])
        message = f"`{agent_path(node)}` {does} `{name}`, which the state of its flow does not have"
        if isinstance(facts.graph.nodes[node], Exit):
            message = f"the output `{name}` is none of the keys that the state of the flow has"
        absorbed = [("GF203", name), ("GF208", name)]
        if near:
            absorbed += [("GF203", near), ("GF208", near)]
            absorbed += [] if facts.writers(scope + near) else [("GF201", near)]
        return Finding(
            node,
            message,
            name,
            f"did you mean `{near}`?" if near else f"add a field `{name}` to the state, or declare Key({name!r})",
            absorbs=tuple(absorbed),
        )


class NeedlessOptional(Rule):
    """An optional placeholder for a key that is always there.

    ## What it does
    Notes `{key?}` in a template, or `reads=["key?"]`, where the key is written on every path to it, and to every other
    stage that reads it so. A parameter with a default and `.get("key")` are left alone: they are how functions are written.

    ## Why is this bad?
    The question mark hides the day on which the key stops being written. Without it the check says so.

    ## Example
    ```python
    SequentialAgent("s", [
        LlmAgent(name="writer", instruction="Write.", output_key="draft"),
        LlmAgent(name="critic", instruction="Criticise {draft?}"),
    ])
    ```

    ## Use instead
    ```python
    LlmAgent(name="critic", instruction="Criticise {draft}")
    ```
    """

    code: ClassVar[str] = "GF209"
    name: ClassVar[str] = "needless-optional"
    severity: ClassVar[Severity] = "info"
    valid: ClassVar[tuple[str, ...]] = (
        'flow = Flow(LlmAgent(name="a", instruction="{tone?}"), inputs={"tone?": str})',
        'flow = Flow(LoopAgent("l", [LlmAgent(name="a", instruction="{k?}", output_key="k")], max_iterations=2))',
    )
    invalid: ClassVar[tuple[str, ...]] = (
        'flow = Flow(LlmAgent(name="a", instruction="{tone?}"), inputs={"tone": str})',
        'flow = Flow(FunctionAgent("f", lambda ctx: None, reads=["tone?"], writes=[]), inputs={"tone": str})',
    )

    def check(self, facts: Facts) -> Iterator[Finding]:
        """See the class."""
        uses = list(optional_reads(facts))
        needed = {use.read.key for use in uses if not facts.surely(use.node.id, use.read.key)} | facts.reads.faulty_keys
        for use in uses:
            node, key = use.node.id, use.read.key
            name, agent = facts.local(key), agent_path(node)
            if not facts.surely(node, key) or facts.unreachable(node) or not is_marked(facts, use):
                continue
            if key in needed or facts.reads.undeclared(key):
                continue
            if any(not _in_one_child(facts, d.node, node) for d in facts.reaching(node, key)):
                continue
            yield Finding(
                node,
                f"`{agent}` reads `{{{name}?}}`, but `{name}` is there on every path",
                name,
                "leave out the question mark, so that a missing write is found",
                written_at(facts, facts.reaching(node, key)),
            )


class AbsentOptional(Rule):
    """An optional read of a key that nothing writes.

    ## What it does
    Flags `{key?}`, a parameter with a default or another optional read of a key that no stage before it writes and no input
    gives, unless the same read is filled elsewhere: then a stage is used at several places, and at this one the key may lack.
    `user:` and `app:` keys may be seeded elsewhere: they are flagged only where a similar key exists.

    ## Why is this bad?
    It is always empty. Most often it is a typo, and no run ever fails because of it.

    ## Example
    ```python
    LoopAgent("refine", [
        LlmAgent(name="writer", instruction="Improve with {critque?}", output_key="draft"),
        LlmAgent(name="critic", instruction="Criticise {draft}", output_key="critique"),
    ], max_iterations=3)
    ```

    ## Use instead
    ```python
    LlmAgent(name="writer", instruction="Improve with {critique?}", output_key="draft")
    ```
    or declare the key as an optional input: `Flow(..., inputs={"critque?": str})`.
    """

    code: ClassVar[str] = "GF213"
    name: ClassVar[str] = "absent-optional"
    severity: ClassVar[Severity] = "warning"
    valid: ClassVar[tuple[str, ...]] = (
        'flow = Flow(LlmAgent(name="a", instruction="{tone?}"), inputs={"tone?": str})',
        'flow = Flow(LlmAgent(name="a", instruction="{user:tone?}"))',
        'flow = Flow(LlmAgent(name="a", instruction="{k?}", output_key="k"), persist=["k"])',
    )
    invalid: ClassVar[tuple[str, ...]] = (
        'flow = Flow(LlmAgent(name="a", instruction="{tone?}"))',
        'flow = Flow(LlmAgent(name="a", instruction="{tones?}"), inputs={"tone": str})',
    )

    def check(self, facts: Facts) -> Iterator[Finding]:
        """See the class."""
        filled: set[str] = set()
        empty: list[Use] = []
        for use in optional_reads(facts):
            if facts.reaching(use.node.id, use.read.key):
                filled.add(use.read.key)
            else:
                empty.append(use)
        for use in empty:
            node, key = use.node.id, use.read.key
            if facts.reads.undeclared(key) or facts.unreachable(node) or facts.unknown(node, key):
                continue
            if key in filled or facts.beside(node, key) or facts.reads.kept(key):
                continue
            if any(d.node == node and not d.sure for d in facts.writers(key)):
                continue  # one tool of the agent writes what another reads
            near, name = facts.similar(key), facts.local(key)
            if key.startswith(SHARED) and (near is None or not _same_owner(key, near) or facts.writers(key)):
                continue
            elsewhere = [d for d in facts.writers(key) if not d.node.startswith("@")]
            help_ = f'declare it as an input: inputs={{"{name}?": ...}}, or leave it out'
            if elsewhere:
                help_ = f"`{name}` is written by `{agent_path(elsewhere[0].node)}`, which does not run before it"
            elif near is not None:
                help_ = f"did you mean `{facts.local(near)}`?"
            absorbed = facts.local(near) if near is not None and not elsewhere else None
            yield Finding(
                node,
                f"`{agent_path(node)}` reads `{name}` if it is there, but nothing writes it and no input gives it",
                name,
                help_,
                written_at(facts, elsewhere),
                absorbs=(("GF203", absorbed), ("GF208", absorbed)) if absorbed is not None else (),
            )


def optional_reads(facts: Facts) -> Iterator[Use]:
    """Yield the optional reads that users wrote, of each key of each agent the first, where no read of it is required."""
    required = {(agent_path(use.node.id), use.read.key) for use in facts.uses if not use.read.optional}
    for use in facts.uses:
        place = (agent_path(use.node.id), use.read.key)
        if not isinstance(use.node, Exit) and place not in required and not facts.reserved(use.read.key):
            required.add(place)
            yield use


def is_marked(facts: Facts, use: Use) -> bool:
    """Say whether the author of an optional read wrote the question mark: in a template, or in `reads=`."""
    declaration = facts.graph.declarations.get(agent_path(use.node.id))
    if declaration is None or use.read.path:
        return False
    if isinstance(use.node, Task) and use.node.kind == "code":
        return use.read.origin is None
    found = (p for _, text in declaration.notes.texts for p in parse(text, facts.profile.braces).placeholders)
    return any(p.optional and not p.path and p.name == facts.local(use.read.key) for p in found)


def _in_one_child(facts: Facts, writer: str, reader: str) -> bool:
    """Whether a reader is in the same children of custom agents as a write, which else may run or not."""
    if not facts.in_custom_agent(writer):
        return True
    customs = [id_ for id_ in facts.loops_around[writer] if isinstance(facts.graph.nodes[id_], Task)]
    calls = [agent_path(id_) + "/" for id_ in customs]
    children = [call + writer.removeprefix(call).partition("/")[0] for call in calls]
    return writer not in facts.loops and all(f"{reader}/".startswith(f"{child}/") for child in children)


def _same_owner(key: str, other: str) -> bool:
    return key.partition(":")[0] == other.partition(":")[0]
