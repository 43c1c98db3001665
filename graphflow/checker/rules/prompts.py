"""Rules about the texts that models are given: placeholders that are none, braces that mislead, keys only named."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from graphflow.analysis.facts import Facts
from graphflow.analysis.prose import Brace, braces, named_in_words
from graphflow.checker.diagnostics import Severity
from graphflow.checker.rule import Finding, Rule
from graphflow.ir.nodes import Declaration


def _texts(facts: Facts) -> Iterator[tuple[Declaration, str, str, frozenset[str]]]:
    """Yield each text of each agent: the agent, the parameter, the text, and the names of the keys of its flow."""
    known: dict[str, frozenset[str]] = {}
    for path, declaration in facts.graph.declarations.items():
        for parameter, text in declaration.notes.texts:
            around = facts.flow_around(path)
            if around not in known:
                names = facts.named_like(f"{around}/" if around else "")
                known[around] = frozenset(facts.local(name) for name in names)
            yield declaration, parameter, text, known[around]


def _odd(facts: Facts, *forms: str) -> Iterator[tuple[Declaration, str, Brace]]:
    types = frozenset(write.type.text for _, write in facts.writes)
    for declaration, parameter, text, known in _texts(facts):
        for brace in braces(text, known, facts.profile.braces, types):
            if brace.form in forms:
                yield declaration, parameter, brace


class InvalidPlaceholder(Rule):
    """A placeholder that is malformed.

    ## What it does
    Flags braces around a known key that are no placeholder because of what else is in them, or because one of them is
    missing: `{draft[0]}`, `{draft.}`, `{draft!r}`, `{draft`, `draft}`. Other braces, as in JSON, are text.

    ## Why is this bad?
    It stays as it is: the model is sent the braces and the name, not the value.

    ## Example
    ```python
    LlmAgent(name="critic", instruction="Criticise {draft. Be brief.", ...)
    ```

    ## Use instead
    ```python
    LlmAgent(name="critic", instruction="Criticise {draft}. Be brief.", ...)
    ```
    """

    code: ClassVar[str] = "GF601"
    name: ClassVar[str] = "invalid-placeholder"
    severity: ClassVar[Severity] = "error"
    valid: ClassVar[tuple[str, ...]] = (
        'flow = Flow(LlmAgent(name="a", instruction=\'Answer {"topic": {topic}, "n": [1]}\'), inputs={"topic": str})',
    )
    invalid: ClassVar[tuple[str, ...]] = (
        'flow = Flow(LlmAgent(name="a", instruction="About {topic[0]} or {topic}"), inputs={"topic": str})',
        'flow = Flow(LlmAgent(name="a", instruction="Not {topic}. About {topic"), inputs={"topic": str})',
        'flow = Flow(LlmAgent(name="a", instruction="About {topic}. About topic}"), inputs={"topic": str})',
    )

    def check(self, facts: Facts) -> Iterator[Finding]:
        """See the class."""
        for declaration, parameter, brace in _odd(facts, "malformed", "unbalanced"):
            why = "is no placeholder" if brace.form == "malformed" else "lacks a brace"
            yield Finding(
                declaration.path,
                f"`{brace.text}` in the {parameter} of `{declaration.path}` {why}: it stays in the text as it is",
                brace.name,
                f"write `{{{brace.name}}}` or a field of it, `{{{brace.name}.name}}`; as text: {brace.name!r} without braces",
            )


class LiteralBraces(Rule):
    """Braces that hide a key, or that other frameworks read in another way.

    ## What it does
    Flags `{{draft}}` and `{ draft }`, which are text here and placeholders elsewhere, and `${draft}`, a placeholder after a
    dollar, where `draft` is a known key. Under the profile `adk` the former are placeholders and fine, while `${draft}` and
    `{draft.title}` are text: an error there.

    ## Why is this bad?
    What the author meant is unclear: the model may be sent the name in the place of the value, or a dollar in front of it.

    ## Example
    ```python
    LlmAgent(name="critic", instruction="Criticise {{draft}}", ...)
    ```

    ## Use instead
    ```python
    LlmAgent(name="critic", instruction="Criticise {draft}", ...)
    ```
    """

    code: ClassVar[str] = "GF602"
    name: ClassVar[str] = "literal-braces"
    severity: ClassVar[Severity] = "warning"
    valid: ClassVar[tuple[str, ...]] = (
        'flow = Flow(LlmAgent(name="a", instruction="a { color: red } {{x}} {topic}"), inputs={"topic": str})',
    )
    invalid: ClassVar[tuple[str, ...]] = (
        'flow = Flow(LlmAgent(name="a", instruction="{topic} {{topic}}"), inputs={"topic": str})',
        'flow = Flow(LlmAgent(name="a", instruction="{topic} { topic }"), inputs={"topic": str})',
        'flow = Flow(LlmAgent(name="a", instruction="It costs ${price}"), inputs={"price": int})',
    )

    def check(self, facts: Facts) -> Iterator[Finding]:
        """See the class."""
        if facts.profile.braces == "adk":
            yield from self._left_as_text(facts)
            return
        for declaration, parameter, brace in _odd(facts, "doubled", "spaced", "dollar"):
            how = "a dollar and the value" if brace.form == "dollar" else "text, not the value"
            yield Finding(
                declaration.path,
                f"`{brace.text}` in the {parameter} of `{declaration.path}` is {how} of `{brace.name}`"
                if brace.form == "dollar"
                else f"`{brace.text}` in the {parameter} of `{declaration.path}` is {how} of the key",
                brace.name,
                f"write `{{{brace.name}}}` if the value is meant, {brace.name!r} without braces if the name is",
            )

    @staticmethod
    def _left_as_text(facts: Facts) -> Iterator[Finding]:
        for declaration, parameter, brace in _odd(facts, "dollar", "dotted"):
            name, title = brace.name, facts.profile.title
            why = "a dollar makes it text" if brace.form == "dollar" else "placeholders have no fields"
            yield Finding(
                declaration.path,
                f"`{brace.text}` in the {parameter} of `{declaration.path}` stays as it is in {title}, where {why}",
                name,
                f"write `{{{name}}}`, or give what is meant a key of its own",
                severity="error",
            )


class KeyInProse(Rule):
    """An instruction names a key only in words.

    ## What it does
    Flags a text that speaks of a known key in words (`state['draft']`, "the draft key"), if the agent neither reads it by a
    placeholder or a tool nor writes it.

    ## Why is this bad?
    The model sees what it is sent, not the state. It will make up what it was told to look at.

    ## Example
    ```python
    LlmAgent(name="critic", instruction="Criticise the text in state['draft'].", ...)
    ```

    ## Use instead
    ```python
    LlmAgent(name="critic", instruction="Criticise this text: {draft}", ...)
    ```
    """

    code: ClassVar[str] = "GF609"
    name: ClassVar[str] = "key-in-prose"
    severity: ClassVar[Severity] = "warning"
    valid: ClassVar[tuple[str, ...]] = (
        """
flow = Flow(LlmAgent(name="a", instruction="Use the topic key, {topic}, and state['other']."), inputs={"topic": str})
""",
    )
    invalid: ClassVar[tuple[str, ...]] = (
        """
w = LlmAgent(name="w", instruction="x", output_key="draft")
c = LlmAgent(name="c", instruction="Criticise state['draft'].")
flow = Flow(SequentialAgent("s", [w, c]), outputs=["draft"])
""",
    )

    def check(self, facts: Facts) -> Iterator[Finding]:
        """See the class."""
        for declaration, parameter, text, known in _texts(facts):
            if "state" not in text and "key" not in text.lower():
                continue
            contract = facts.graph.nodes[declaration.path].contract
            used = {facts.local(read.key) for read in contract.reads} | {facts.local(w.key) for w in contract.writes}
            for name in named_in_words(text, known):
                if name in used:
                    continue
                yield Finding(
                    declaration.path,
                    f"the {parameter} of `{declaration.path}` speaks of the key `{name}`, but nothing puts its value in",
                    name,
                    f"write `{{{name}}}` where the value belongs",
                    severity="info" if declaration.notes.sees_answers else None,
                )
