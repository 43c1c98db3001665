"""Rules about what other frameworks do with the same agents: escalations that go further, joins that wait for ever."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from graphflow.analysis.escalations import loops_ended
from graphflow.analysis.facts import Facts
from graphflow.analysis.starving import starved_joins
from graphflow.checker.diagnostics import Related, Severity
from graphflow.checker.rule import Finding, Rule
from graphflow.ir.names import ADK
from graphflow.ir.nodes import Branch, Task, agent_path


class EscalateCrossesLoops(Rule):
    """A stage ends more loops than its own.

    ## What it does
    Flags a stage that may escalate inside a loop that is in another one, under a profile by which an escalation ends every
    loop around it (`adk`). graphflow itself ends the nearest only.

    ## Why is this bad?
    The outer loop ends after its first pass, without the stages that come after the inner loop.

    ## Example
    ```python
    LoopAgent("chapters", [LoopAgent("polish", [writer, judge_and_escalate], max_iterations=3), archive], max_iterations=9)
    ```

    ## Use instead
    An inner loop that ends by its bound, or a custom agent around it that does not pass the escalation on.
    """

    code: ClassVar[str] = "GF508"
    name: ClassVar[str] = "escalate-crosses-loops"
    severity: ClassVar[Severity] = "warning"
    profile: ClassVar[str] = ADK
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
flow = Flow(LoopAgent("outer", [LoopAgent("inner", [poll], max_iterations=2)], max_iterations=2))
""",
    )

    def check(self, facts: Facts) -> Iterator[Finding]:
        """See the class."""
        for node in facts.graph.nodes.values():
            if not isinstance(node, Task) or not node.contract.escalates:
                continue
            own, *others = loops_ended(facts.graph, node.id) or [""]
            if not others:
                continue
            too = ", ".join(f"`{loop}`" for loop in others)
            yield Finding(
                node.id,
                f"`{agent_path(node.id)}` may escalate, which in {facts.profile.title} ends {too} besides its own loop `{own}`",
                help=f"let `{own}` end by its bound, or put it into a custom agent that does not pass the escalation on",
                related=tuple(Related("this loop ends too", loop) for loop in others),
            )


class ExclusiveJoin(Rule):
    """A join waits for paths that are not all taken.

    ## What it does
    Flags a node of a `Workflow` with several in-edges of which one run need not fire all, because a route decides, under a
    profile by which a join waits for every one of them (`adk`). In graphflow a path that was not taken counts as arrived.

    ## Why is this bad?
    The join never runs, nor does anything after it, and nothing says so: the workflow just ends.

    ## Example
    ```python
    Workflow("answer", [(START, dispatch), (dispatch, {"mail": mail, "chat": chat}), ((mail, chat), done)])
    ```

    ## Use instead
    A copy of the node after each of them, or a node that does not wait (in ADK, one that is no `JoinNode`):
    ```python
    Workflow("answer", [(START, dispatch), (dispatch, {"mail": mail, "chat": chat}), (mail, done), (chat, done_too)])
    ```
    """

    code: ClassVar[str] = "GF509"
    name: ClassVar[str] = "exclusive-join"
    severity: ClassVar[Severity] = "error"
    profile: ClassVar[str] = ADK
    valid: ClassVar[tuple[str, ...]] = (
        """
a, b, c = (FunctionAgent(n, lambda: {}, reads=[], writes=[]) for n in ("a", "b", "c"))
flow = Flow(Workflow("w", [(START, (a, b), c)]))
""",
    )
    invalid: ClassVar[tuple[str, ...]] = (
        """
a, b, c = (FunctionAgent(n, lambda: {}, reads=[], writes=[]) for n in ("a", "b", "c"))
def choose(ctx): ctx.route = "a" if ctx.message else "b"
flow = Flow(Workflow("w", [(START, choose), (choose, {"a": a, "b": b}), ((a, b), c)]))
""",
    )

    def check(self, facts: Facts) -> Iterator[Finding]:
        """See the class."""
        if facts.profile.dead_path_elimination:
            return
        for starved in starved_joins(facts.graph):
            waiting, late = agent_path(starved.join), agent_path(starved.missing.source)
            branch = facts.graph.nodes[starved.branch]
            router, plain = agent_path(starved.branch), waiting.rpartition("/")[2]
            several = isinstance(branch, Branch) and branch.multiple
            waits = f"`{waiting}` waits for " + ("the route itself" if late == router else f"`{late}`")
            yield Finding(
                starved.join,
                f"{waits}, which `{router}` may leave out: in {facts.profile.title} it then never runs"
                + ("" if several else f", for `{router}` takes one route"),
                help=f"put a copy of `{plain}` after each of the nodes it waits for, or let all of them run",
                related=(Related("the routes are chosen here", router),),
            )
