"""Rules about escalations out of what runs side by side."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from graphflow.analysis.facts import Facts
from graphflow.analysis.siblings import apart_in_loop
from graphflow.checker.diagnostics import Related, Severity
from graphflow.checker.rule import Finding, Rule
from graphflow.ir.nodes import Task, agent_path


class EscalateInParallel(Rule):
    """A stage may escalate, and a parallel or a map is between it and its loop.

    ## What it does
    Flags a stage that may escalate inside a parallel or a map that is itself inside the loop which the escalation ends. Silent
    where the stage has no siblings, and where the first branch to succeed ends the others (`join="any"`).

    ## Why is this bad?
    An escalation ends its own branch only. The siblings run to their ends, and are paid for, before the loop ends where
    they meet; what they then write is kept.

    ## Example
    ```python
    LoopAgent("refine", [ParallelAgent("review", [judge_and_escalate, edit])], max_iterations=3)
    ```

    ## Use instead
    ```python
    LoopAgent("refine", [judge_and_escalate, ParallelAgent("review", [edit, check])], max_iterations=3)
    ```
    """

    code: ClassVar[str] = "GF305"
    name: ClassVar[str] = "escalate-in-parallel"
    severity: ClassVar[Severity] = "warning"
    valid: ClassVar[tuple[str, ...]] = (
        """
@agent
def poll(ctx): ctx.actions.escalate = True
p = ParallelAgent("p", [LlmAgent(name=n, instruction="x") for n in ("a", "b")])
flow = Flow(LoopAgent("l", [poll, p], max_iterations=2))
""",
        """
@agent
def poll(ctx): ctx.actions.escalate = True
a = LlmAgent(name="a", instruction="x")
flow = Flow(ParallelAgent("p", [a, LoopAgent("l", [poll], max_iterations=2)]))
""",
    )
    invalid: ClassVar[tuple[str, ...]] = (
        """
@agent
def poll(ctx): ctx.actions.escalate = True
p = ParallelAgent("p", [poll, LlmAgent(name="a", instruction="x")])
flow = Flow(LoopAgent("l", [p], max_iterations=2))
""",
    )

    def check(self, facts: Facts) -> Iterator[Finding]:
        """See the class."""
        for node in facts.graph.nodes.values():
            if not isinstance(node, Task) or not node.contract.escalates or not facts.ends_loop(node.id):
                continue
            path = agent_path(node.id)
            around = apart_in_loop(facts.graph, node)
            if around is None:
                continue
            kind = "map" if facts.graph.regions[around].kind == "map" else "parallel"
            others = "other instances" if kind == "map" else "other branches"
            yield Finding(
                node.id,
                f"`{path}` may escalate inside the {kind} `{around}`: its {others} run on before the loop ends",
                help=f"let a stage before or after `{around}` decide whether the loop ends, or end it by until=",
                related=(Related(f"the {kind} is made here", around),),
            )
