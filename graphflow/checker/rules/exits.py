"""Rules about how loops end and which cases can be taken."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from graphflow.analysis.control import loop_headers, may_escalate, tested_keys, written_in
from graphflow.analysis.facts import Facts
from graphflow.checker.diagnostics import Related, Severity
from graphflow.checker.rule import Finding, Rule
from graphflow.conditions import Is, is_case
from graphflow.contracts.escalating import escalation_keys
from graphflow.ir.nodes import Arm, Branch, LoopHeader, Node, Task, agent_path
from graphflow.ir.notes import NO_NOTES
from graphflow.schema import Type, closed_values


class InvariantExit(Rule):
    """An exit test over keys that nothing in the loop writes.

    ## What it does
    Flags a loop whose `until` reads keys of which nothing in the body writes any, and a stage that escalates under a condition
    over such keys. It is an error if the loop has no bound and nothing else in it may end it, else a warning.

    ## Why is this bad?
    The test has the same result after each iteration: the loop runs once, or for ever, or to its bound. Most often the
    stage that judges stands outside of the loop, or writes another key.

    ## Example
    ```python
    LoopAgent("refine", [writer, critic], until=key("verdict") == "good")      # the critic writes `critique`
    ```

    ## Use instead
    ```python
    LoopAgent("refine", [writer, critic], until=key("critique") == "good", max_iterations=5)
    ```
    """

    code: ClassVar[str] = "GF502"
    name: ClassVar[str] = "invariant-exit"
    severity: ClassVar[Severity] = "error"
    valid: ClassVar[tuple[str, ...]] = (
        """
w = LlmAgent(name="w", instruction="x", output_key="verdict")
flow = Flow(LoopAgent("l", [w], until=key("verdict") == key("wanted")), inputs={"wanted": str})
""",
        """
w = LlmAgent(name="w", instruction="x", output_key="verdict")
def leave(ctx):
    if ctx.state["verdict"] == "good": ctx.actions.escalate = True
flow = Flow(LoopAgent("l", [w, FunctionAgent("leave", leave)]))
""",
    )
    invalid: ClassVar[tuple[str, ...]] = (
        """
w = LlmAgent(name="w", instruction="x", output_key="draft")
flow = Flow(LoopAgent("l", [w], until=key("verdict") == "good"), inputs={"verdict": str})
""",
        """
w = LlmAgent(name="w", instruction="x", output_key="draft")
flow = Flow(LoopAgent("l", [w], until=key("verdict") == "good", max_iterations=3), inputs={"verdict": str})
""",
        """
w = LlmAgent(name="w", instruction="Say whether it is good, and set state['done'].", output_key="draft")
def leave(ctx):
    if ctx.state.get("done"): ctx.actions.escalate = True
flow = Flow(LoopAgent("l", [w, FunctionAgent("leave", leave)]))
""",
    )

    def check(self, facts: Facts) -> Iterator[Finding]:
        """See the class."""
        for header in loop_headers(facts):
            yield from self._escalations(facts, header)
            keys, written = sorted(tested_keys(header)), written_in(facts, header.id)
            if not keys or written is None or written & set(keys) or (header.bound or 1) < 1:
                continue
            if not all(facts.reaching(header.id, key) for key in keys):
                continue  # there is no value at all: that is what is wrong
            names = ", ".join(f"`{facts.local(key)}`" for key in keys)
            inside = sorted({facts.local(key) for key in written if not facts.reserved(key)})
            bounded = header.bound is not None or may_escalate(facts, header)
            yield Finding(
                header.id,
                f"the exit test of `{header.region}` reads {names}, which nothing in the loop writes: "
                f"it holds after the first iteration or never",
                facts.local(keys[0]),
                f"test a key that the loop writes ({', '.join(f'`{name}`' for name in inside)})"
                if inside
                else f"let a stage in the loop write {names}",
                severity="warning" if bounded else None,
            )

    def _escalations(self, facts: Facts, header: LoopHeader) -> Iterator[Finding]:
        """Find the stages in a loop whose condition for ending it never changes."""
        exits = facts.escalations_of(f"{header.region}#exit")
        for edge in exits:
            node = facts.graph.nodes[edge.source]
            keys = self._deciding(facts, node) if isinstance(node, Task) else []
            if not keys or self._changed(facts, node, keys, header):
                continue
            names = ", ".join(f"`{key}`" for key in keys)
            bounded = header.bound is not None or header.until is not None or len(exits) > 1
            yield Finding(
                node.id,
                f"`{agent_path(node.id)}` ends the loop `{header.region}` depending on {names}, "
                f"which nothing in the loop writes: at once or never",
                keys[0],
                f"let a stage in the loop write {names}; an instruction that tells a model to set it sets nothing",
                severity="warning" if bounded else None,
                absorbs=tuple(("GF213", key) for key in keys),
            )

    @staticmethod
    def _deciding(facts: Facts, task: Task) -> Sequence[str]:
        """Give the keys that alone decide whether a task escalates, by the names they have there; none if that is not known."""
        declaration = facts.graph.declarations.get(agent_path(task.id))
        notes = declaration.notes if declaration is not None else NO_NOTES
        found = [escalation_keys(body) for body in (*notes.functions, *(tool.func for tool in notes.tools))]
        known = [keys for keys in found if keys]
        return sorted(known[0]) if len(known) == 1 else []

    @staticmethod
    def _changed(facts: Facts, node: Node, keys: Sequence[str], header: LoopHeader) -> bool:
        """Whether something may change one of the keys while the loop runs, or a required one has no value at all."""
        written = written_in(facts, header.id)
        read = {facts.local(each.key): each for each in node.contract.reads}
        if written is None or any(key not in read or read[key].key in written for key in keys):
            return True
        names = [read[key].key for key in keys]
        beside = facts.profile.live_state and any(facts.beside(node.id, name) for name in names)
        absent = any(not read[key].optional and not facts.reaching(node.id, read[key].key) for key in keys)
        return beside or absent


class UnreachableCase(Rule):
    """A case that no value can select.

    ## What it does
    Flags a case, or a route of a node of a `Workflow`, that is no value of the key's type, and one that an earlier case
    shadows (a member of an Enum and its value are one case). Where a type is not closed nothing is known.

    ## Why is this bad?
    What stands behind the case never runs, although somebody thought that it would. Most often the value is misspelt.

    ## Example
    ```python
    # category: Literal["BUG", "FEATURE"]
    ConditionalAgent("route", on=key("category"), cases={"BUG": fix, "FEATUR": plan}, default=answer)
    ```

    ## Use instead
    ```python
    ConditionalAgent("route", on=key("category"), cases={"BUG": fix, "FEATURE": plan}, default=answer)
    ```
    """

    code: ClassVar[str] = "GF505"
    name: ClassVar[str] = "unreachable-case"
    severity: ClassVar[Severity] = "warning"
    valid: ClassVar[tuple[str, ...]] = (
        """
a, b = LlmAgent(name="a", instruction="x"), LlmAgent(name="b", instruction="x")
flow = Flow(ConditionalAgent("c", on=key("k"), cases={True: a, False: b}), inputs={"k": bool})
""",
        """
a, b = LlmAgent(name="a", instruction="x"), LlmAgent(name="b", instruction="x")
flow = Flow(ConditionalAgent("c", on=key("k"), cases={"x": a, "y": b}), inputs={"k": str})
""",
    )
    invalid: ClassVar[tuple[str, ...]] = (
        """
a, b = LlmAgent(name="a", instruction="x"), LlmAgent(name="b", instruction="x")
flow = Flow(ConditionalAgent("c", on=key("k"), cases={"x": a, "z": b}, default=PASS), inputs={"k": Literal["x", "y"]})
""",
        """
a, b = FunctionAgent("a", lambda: {}, reads=[]), FunctionAgent("b", lambda: {}, reads=[])
def choose(ctx): ctx.route = "good"
flow = Flow(Workflow("w", [(START, choose), (choose, {"good": a, "bad": b})]))
""",
    )

    def check(self, facts: Facts) -> Iterator[Finding]:
        """See the class."""
        for node in facts.graph.nodes.values():
            if not isinstance(node, Branch) or not node.cases or facts.unreachable(node.id):
                continue
            values = self._values(facts, node)
            earlier: list[object] = []
            for arm in node.arms:
                if not isinstance(arm.condition, Is):
                    continue
                case = arm.condition.value
                shadow = next((other for other in earlier if is_case(case, other)), None)
                earlier.append(case)
                if shadow is not None or (values is not None and not any(is_case(value, case) for value in values)):
                    yield self._finding(facts, node, arm, shadow, values or ())

    @staticmethod
    def _values(facts: Facts, node: Branch) -> Sequence[object] | None:
        """All values that the subject may have, None if they cannot be listed."""
        read = node.contract.reads[0]
        types: Sequence[Type] = facts.field_type(facts.key_type(node.id, read.key), read.path)
        if node.multiple:
            types = [facts.element_type(type_) for type_ in types]
        listed = [closed_values(type_) for type_ in types]
        return None if not listed or None in listed else [value for values in listed for value in values or ()]

    @staticmethod
    def _finding(facts: Facts, node: Branch, arm: Arm, shadow: object, values: Sequence[object]) -> Finding:
        assert isinstance(arm.condition, Is)
        key, path = node.contract.reads[0].key, agent_path(node.id)
        hidden = facts.reserved(key)
        subject = "its route" if hidden else f"`{node.subject}`"
        shown = ", ".join(repr(getattr(value, "value", value)) for value in dict.fromkeys(values))
        why = f"{shadow!r} before it takes the same" if shadow is not None else f"{subject} is one of {shown}"
        on = next((edge.target for edge in facts.graph.out(node.id) if edge.label == arm.label), "")
        target = facts.agent_at(on)
        return Finding(
            node.id,
            f"the case {arm.condition.value!r} of `{path}` is never taken: {why}",
            None if hidden else facts.local(key),
            "take it out, or correct its value" + (f" to one of {shown}" if shown and shadow is None else ""),
            (Related("never runs by this case", target),) if target and target != path else (),
        )


class ZeroIterations(Rule):
    """A loop that may not run even once.

    ## What it does
    Flags `max_iterations` below 1.

    ## Why is this bad?
    The body of a loop runs at least once, so a bound of none is a contradiction: it is a count that was computed wrongly.

    ## Example
    ```python
    LoopAgent("refine", [writer, critic], max_iterations=0)
    ```

    ## Use instead
    ```python
    LoopAgent("refine", [writer, critic], max_iterations=3)
    ```
    or leave the loop out.
    """

    code: ClassVar[str] = "GF510"
    name: ClassVar[str] = "zero-iterations"
    severity: ClassVar[Severity] = "error"
    valid: ClassVar[tuple[str, ...]] = (
        'flow = Flow(LoopAgent("l", [LlmAgent(name="a", instruction="x")], max_iterations=1))',
    )
    invalid: ClassVar[tuple[str, ...]] = (
        'flow = Flow(LoopAgent("l", [LlmAgent(name="a", instruction="x")], max_iterations=0))',
        'flow = Flow(LoopAgent("l", [LlmAgent(name="a", instruction="x")], max_iterations=-1))',
    )

    def check(self, facts: Facts) -> Iterator[Finding]:
        """See the class."""
        for header in loop_headers(facts):
            if header.bound is not None and header.bound < 1:
                yield Finding(
                    header.id,
                    f"the loop `{header.region}` has max_iterations={header.bound}, but a loop runs at least once",
                    help="give it max_iterations=1 or more, or leave the loop out",
                )


class BoundedOnlyLoop(Rule):
    """A loop that always runs to its bound.

    ## What it does
    Notes a loop with `max_iterations`, without `until`, and without a stage in it that may escalate.

    ## Why is this bad?
    It need not be: three rounds may be what is wanted. But most loops are to end when the work is good enough, and this one
    pays for all its iterations each time.

    ## Example
    ```python
    LoopAgent("refine", [writer, critic], max_iterations=5)
    ```

    ## Use instead
    ```python
    LoopAgent("refine", [writer, critic], until=key("verdict") == "good", max_iterations=5)
    ```
    """

    code: ClassVar[str] = "GF512"
    name: ClassVar[str] = "bounded-only-loop"
    severity: ClassVar[Severity] = "info"
    valid: ClassVar[tuple[str, ...]] = (
        """
a = LlmAgent(name="a", instruction="x", output_key="k")
flow = Flow(LoopAgent("l", [a], until=key("k") == "good", max_iterations=3))
""",
        """
@agent
def poll(ctx): ctx.actions.escalate = True
flow = Flow(LoopAgent("l", [poll], max_iterations=2))
""",
    )
    invalid: ClassVar[tuple[str, ...]] = (
        'flow = Flow(LoopAgent("l", [LlmAgent(name="a", instruction="x")], max_iterations=3))',
    )

    def check(self, facts: Facts) -> Iterator[Finding]:
        """See the class."""
        for header in loop_headers(facts):
            if header.bound is not None and header.bound >= 1 and header.until is None:
                if may_escalate(facts, header):
                    continue
                yield Finding(
                    header.id,
                    f"the loop `{header.region}` always runs {header.bound} times: it has no exit test, and nothing in it "
                    "may escalate",
                    help="give it until= with a condition over a key that the loop writes, if it may end earlier",
                )
