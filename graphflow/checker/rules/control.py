"""Rules about loops, escalation and cases."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from graphflow.analysis.facts import Facts
from graphflow.checker.diagnostics import Severity
from graphflow.checker.rule import Finding, Rule
from graphflow.conditions import Is, is_case
from graphflow.ir.nodes import Branch, LoopHeader, Task, agent_path
from graphflow.schema import closed_values


class UnboundedLoop(Rule):
    """A loop that nothing can end.

    ## What it does
    Flags a loop without `max_iterations`, without `until`, and without a stage in it that may escalate.

    ## Why is this bad?
    It runs, and is paid for, until somebody kills it.

    ## Example
    ```python
    LoopAgent("refine", [writer, critic])
    ```

    ## Use instead
    ```python
    LoopAgent("refine", [writer, critic], until=key("verdict") == "good", max_iterations=5)
    ```
    """

    code: ClassVar[str] = "GF501"
    name: ClassVar[str] = "unbounded-loop"
    severity: ClassVar[Severity] = "error"
    valid: ClassVar[tuple[str, ...]] = (
        'flow = Flow(LoopAgent("l", [LlmAgent(name="a", instruction="x")], max_iterations=3))',
        'flow = Flow(LoopAgent("l", [LlmAgent(name="a", instruction="x", output_key="v")], until=key("v") == "good"))',
        """
@agent
def poll(ctx): ctx.actions.escalate = True
flow = Flow(LoopAgent("l", [poll]))
""",
    )
    invalid: ClassVar[tuple[str, ...]] = ('flow = Flow(LoopAgent("l", [LlmAgent(name="a", instruction="x")]))',)

    def check(self, facts: Facts) -> Iterator[Finding]:
        """See the class."""
        for node in facts.graph.nodes.values():
            if not isinstance(node, LoopHeader) or node.bound is not None or node.until is not None:
                continue
            if node.region in facts.free_form or facts.escalations_of(f"{node.region}#exit"):
                continue
            yield Finding(
                node.id,
                f"the loop `{node.region}` has no bound, no exit test, and nothing in it may escalate",
                help="give it max_iterations=, or until= with a condition over a key that the loop writes",
            )


class EscalateOutsideLoop(Rule):
    """A stage may escalate, and no loop is around it.

    ## What it does
    Flags a stage that sets `escalate` outside of any loop.

    ## Why is this bad?
    Escalation ends the nearest enclosing `LoopAgent`; without one it does nothing, and the next stage starts as if nothing
    had been said. A cycle of a `Workflow` is left by a route, and an escalation does not leave a sub-flow.

    ## Example
    ```python
    SequentialAgent("s", [check_and_escalate, publish])
    ```

    ## Use instead
    A `Gate`, which halts the run, or a `ConditionalAgent`, which skips a stage.
    """

    code: ClassVar[str] = "GF503"
    name: ClassVar[str] = "escalate-outside-loop"
    severity: ClassVar[Severity] = "error"
    valid: ClassVar[tuple[str, ...]] = (
        """
@agent
def poll(ctx): ctx.actions.escalate = True
flow = Flow(LoopAgent("l", [poll], max_iterations=2))
""",
    )
    invalid: ClassVar[tuple[str, ...]] = (
        """
@agent
def poll(ctx): ctx.actions.escalate = True
flow = Flow(SequentialAgent("s", [poll]))
""",
    )

    def check(self, facts: Facts) -> Iterator[Finding]:
        """See the class."""
        for node in facts.graph.nodes.values():
            if isinstance(node, Task) and node.contract.escalates and not facts.ends_loop(node.id):
                yield Finding(
                    node.id,
                    f"`{agent_path(node.id)}` may escalate, but no loop is around it",
                    help="leave the cycle by a route: ctx.route = ..."
                    if facts.in_cycle(node.id)
                    else "put it into a LoopAgent, or stop the run with a Gate",
                )


class MissingDefault(Rule):
    """Cases that do not cover every value, and no default.

    ## What it does
    Flags a conditional over a key with a closed type (Literal, Enum, bool) that leaves out a value and has no default, and a
    node of a `Workflow` whose routes are known and lack an edge. Over an open type the run fails by design when nothing
    matches.

    ## Why is this bad?
    The value that was left out fails the run. (In ADK such a route ends the workflow without a word: a warning there.)

    ## Example
    ```python
    # category: Literal["BUG", "FEATURE", "QUESTION"]
    ConditionalAgent("route", on=key("category"), cases={"BUG": fix, "FEATURE": plan})
    ```

    ## Use instead
    ```python
    ConditionalAgent("route", on=key("category"), cases={"BUG": fix, "FEATURE": plan}, default=answer)
    ```
    """

    code: ClassVar[str] = "GF504"
    name: ClassVar[str] = "missing-default"
    severity: ClassVar[Severity] = "error"
    valid: ClassVar[tuple[str, ...]] = (
        """
a = LlmAgent(name="a", instruction="x")
flow = Flow(ConditionalAgent("c", on=key("k"), cases={True: a}, default=PASS), inputs={"k": bool})
""",
        """
a = LlmAgent(name="a", instruction="x")
flow = Flow(ConditionalAgent("c", on=key("k"), cases={"x": a}), inputs={"k": str})
""",
    )
    invalid: ClassVar[tuple[str, ...]] = (
        """
a = LlmAgent(name="a", instruction="x")
flow = Flow(ConditionalAgent("c", on=key("k"), cases={True: a}), inputs={"k": bool})
""",
    )

    def check(self, facts: Facts) -> Iterator[Finding]:
        """See the class."""
        for node in facts.graph.nodes.values():
            if not isinstance(node, Branch) or not node.cases or any(arm.condition is None for arm in node.arms):
                continue
            read = node.contract.reads[0]
            types = facts.field_type(facts.key_type(node.id, read.key), read.path)
            if node.multiple:
                types = [facts.element_type(type_) for type_ in types]
            wanted = [arm.condition.value for arm in node.arms if isinstance(arm.condition, Is)]
            missing = [
                value
                for type_ in types
                for value in closed_values(type_) or ()
                if not any(is_case(value, case) for case in wanted)
                and not any(is_case(value, route) for route in facts.set_routes(node))
            ]
            if missing:
                shown = ", ".join(repr(getattr(value, "name", value)) for value in dict.fromkeys(missing))
                routes = node.region in facts.free_form and node.id != node.region + "#branch"
                yield Finding(
                    node.id,
                    f"`{agent_path(node.id)}` has no {'edge' if routes else 'case'} for {shown} of "
                    + ("its route" if facts.reserved(read.key) else f"`{node.subject}`")
                    + ", and no default",
                    None if facts.reserved(read.key) else facts.local(read.key),
                    "add the edge, or one for all other routes: {..., DEFAULT_ROUTE: END}"
                    if routes
                    else "add the case, or default=PASS to run nothing then",
                    severity="warning" if routes and facts.profile.unmatched_routes_end else None,
                )
