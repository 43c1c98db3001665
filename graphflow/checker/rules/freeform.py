"""Rules about the shape of free-form graphs: what is reached, what ends, and how cycles are entered and left."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from graphflow.analysis.facts import Facts
from graphflow.checker.diagnostics import Related, Severity
from graphflow.checker.rule import Finding, Rule
from graphflow.conditions import Is, is_case
from graphflow.errors import closest
from graphflow.ir.nodes import agent_path

STEPS = """
def step(name): return FunctionAgent(name, lambda: {}, reads=[], writes=[])
def judge(): return "redo"
a, b, c = step("a"), step("b"), step("c")
"""


def _name(path: str) -> str:
    return path.rpartition("/")[2]


class UnreachableNode(Rule):
    """A node that no path from the start reaches.

    ## What it does
    Flags a node of a `Workflow` to which no edges lead from START. What is unreachable only because a loop before it never
    ends is not flagged: the loop is.

    ## Why is this bad?
    It never runs. Most often the edge that should lead to it was forgotten, or names another node.

    ## Example
    ```python
    Workflow("review", [(START, draft, publish), (archive, notify)])
    ```

    ## Use instead
    ```python
    Workflow("review", [(START, draft, publish, archive, notify)])
    ```
    """

    code: ClassVar[str] = "GF104"
    name: ClassVar[str] = "unreachable-node"
    severity: ClassVar[Severity] = "error"
    valid: ClassVar[tuple[str, ...]] = (STEPS + 'flow = Flow(Workflow("w", [(START, a, b), (b, {"x": c, "y": END})]))',)
    invalid: ClassVar[tuple[str, ...]] = (STEPS + 'flow = Flow(Workflow("w", [(START, a), (b, a)]))',)

    def check(self, facts: Facts) -> Iterator[Finding]:
        """See the class."""
        for path in facts.unreachable_agents:
            yield Finding(
                path,
                f"no path from START leads to `{path}`",
                help=f"add an edge to `{_name(path)}`, or take it out",
            )


class NoPathToExit(Rule):
    """A cycle that nothing leaves.

    ## What it does
    Flags, once at the node where it begins, a cycle of a `Workflow` from which no edge leads out. A halt or a failure is no
    way out. (A `LoopAgent` that nothing ends is GF501.)

    ## Why is this bad?
    It runs, and is paid for, until somebody kills it.

    ## Example
    ```python
    Workflow("review", [(START, draft, critic), (critic, draft)])
    ```

    ## Use instead
    ```python
    Workflow("review", [(START, draft, critic), (critic, {"redo": draft, DEFAULT_ROUTE: END})])
    ```
    """

    code: ClassVar[str] = "GF105"
    name: ClassVar[str] = "no-path-to-exit"
    severity: ClassVar[Severity] = "error"
    valid: ClassVar[tuple[str, ...]] = (
        STEPS + 'flow = Flow(Workflow("w", [(START, a, judge), (judge, {"redo": a, DEFAULT_ROUTE: END})]))',
    )
    invalid: ClassVar[tuple[str, ...]] = (STEPS + 'flow = Flow(Workflow("w", [(START, a, b), (b, a)]))',)

    def check(self, facts: Facts) -> Iterator[Finding]:
        """See the class."""
        for header in facts.endless_loops:
            path = agent_path(header)
            sources = tuple(agent_path(edge.source) for edge in facts.loops[header].backs)
            yield Finding(
                header,
                f"no edge leaves the cycle that begins at `{path}`: END cannot be reached from it",
                help=f'let a node of it choose: {{"again": {_name(path)}, DEFAULT_ROUTE: END}}',
                related=tuple(Related("goes round here", source) for source in dict.fromkeys(sources)),
            )


class IrreducibleCycle(Rule):
    """A cycle with two entries.

    ## What it does
    Flags an edge of a `Workflow` that leads into a cycle from outside, past the node where the cycle begins.

    ## Why is this bad?
    In the first iteration the nodes before the second entry have not run, in later ones they have: no order of the nodes
    holds for both, so the graph is not run.

    ## Example
    ```python
    Workflow("w", [(START, draft, critic), (START, critic), (critic, {"redo": draft, DEFAULT_ROUTE: END})])
    ```

    ## Use instead
    Bring every edge in where the cycle begins:
    ```python
    Workflow("w", [(START, draft, critic), (critic, {"redo": draft, DEFAULT_ROUTE: END})])
    ```
    """

    code: ClassVar[str] = "GF106"
    name: ClassVar[str] = "irreducible-cycle"
    severity: ClassVar[Severity] = "error"
    valid: ClassVar[tuple[str, ...]] = (
        STEPS + 'flow = Flow(Workflow("w", [(START, (a, b), c, judge), (judge, {"redo": c, DEFAULT_ROUTE: END})]))',
    )
    invalid: ClassVar[tuple[str, ...]] = (
        STEPS
        + 'flow = Flow(Workflow("w", [(START, (a, judge)), (a, judge), (judge, {"redo": a, DEFAULT_ROUTE: END})]))',
    )

    def check(self, facts: Facts) -> Iterator[Finding]:
        """See the class."""
        for fault in facts.graph.faults:
            if fault.kind != "irreducible-cycle":
                continue
            begin, entered = _name(fault.node), _name(fault.subject)
            sources = " and ".join(f"`{path}`" for path in fault.related) or "START"
            yield Finding(
                fault.node,
                f"the cycle that begins at `{fault.node}` is entered at `{fault.subject}` too, from {sources}",
                help=f"lead the edge to `{begin}`, or copy `{entered}` for the way that is outside of the cycle",
                related=(Related("the second entry", fault.subject),),
            )


class UnknownTarget(Rule):
    """An edge or a route leads to a node that is not there.

    ## What it does
    Flags a name in the edges of a `Workflow` that no node of it has, and a route that a node's source sets by
    `ctx.route = "..."` where the node's routing dict has neither an edge nor a default for it.

    ## Why is this bad?
    Control cannot go there: a graph with an unknown name is not run, an unknown route fails the run. Most often a name is
    misspelt.

    ## Example
    ```python
    Workflow("review", [(START, draft, judge), (judge, {"redo": "drafts", DEFAULT_ROUTE: END})])
    ```

    ## Use instead
    The node itself, or its name:
    ```python
    Workflow("review", [(START, draft, judge), (judge, {"redo": draft, DEFAULT_ROUTE: END})])
    ```
    """

    code: ClassVar[str] = "GF108"
    name: ClassVar[str] = "unknown-target"
    severity: ClassVar[Severity] = "error"
    valid: ClassVar[tuple[str, ...]] = (
        STEPS + 'flow = Flow(Workflow("w", [(START, a, judge), (judge, {"redo": "a", DEFAULT_ROUTE: END})]))',
    )
    invalid: ClassVar[tuple[str, ...]] = (
        STEPS + 'flow = Flow(Workflow("w", [(START, a, judge), (judge, {"redo": "aa", DEFAULT_ROUTE: END})]))',
        STEPS
        + """
def choose(ctx): ctx.route = "reddo" if ctx.state.get("bad") else "good"
flow = Flow(Workflow("w", [(START, a, choose), (choose, {"redo": a, "good": END})]))
""",
    )

    def check(self, facts: Facts) -> Iterator[Finding]:
        """See the class."""
        yield from self._unknown_routes(facts)
        for fault in facts.graph.faults:
            if fault.kind != "unknown-target":
                continue
            around = fault.node if fault.node in facts.free_form else fault.node.rpartition("/")[0]
            names = [_name(path) for path in facts.graph.declarations if path.rpartition("/")[0] == around]
            near = closest(fault.subject, names)
            yield Finding(
                fault.node,
                f"an edge leads to `{fault.subject}`, but no node of `{around}` has that name",
                help=f"did you mean `{near}`?" if near else f"its nodes are {', '.join(f'`{n}`' for n in names)}",
            )

    @staticmethod
    def _unknown_routes(facts: Facts) -> Iterator[Finding]:
        for branch in facts.routers:
            arms = [arm.condition for arm in branch.arms]
            cases = [condition.value for condition in arms if isinstance(condition, Is)]
            for route in facts.set_routes(branch) if None not in arms else ():
                if any(is_case(route, case) for case in cases):
                    continue
                near = closest(str(route), [str(case) for case in cases])
                yield Finding(
                    branch.id,
                    f"`{agent_path(branch.id)}` sets the route {route!r}, but none of its edges is for it",
                    help=f"did you mean {near!r}?"
                    if near
                    else "add the edge, or one for all other routes: DEFAULT_ROUTE",
                    severity="warning" if facts.profile.unmatched_routes_end else None,
                )


class LoopLeftByFork(Rule):
    """In one iteration one path of a fork goes round while another leaves the cycle.

    ## What it does
    Flags a node inside a cycle of a `Workflow` from which several edges lead on side by side, if one of the paths may go
    round in an iteration in which another leaves.

    ## Why is this bad?
    The cycle would be over and go on at once: what follows it would run beside the next iteration, and again after it.

    ## Example
    ```python
    Workflow("review", [(START, draft, judge), (judge, {"redo": draft, "ok": END}), (judge, publish)])
    ```

    ## Use instead
    Leave or go round, by one route:
    ```python
    Workflow("review", [(START, draft, judge), (judge, {"redo": draft, DEFAULT_ROUTE: publish})])
    ```
    """

    code: ClassVar[str] = "GF109"
    name: ClassVar[str] = "loop-left-by-fork"
    severity: ClassVar[Severity] = "error"
    valid: ClassVar[tuple[str, ...]] = (
        STEPS + 'flow = Flow(Workflow("w", [(START, a, (b, c), judge), (judge, {"redo": a, DEFAULT_ROUTE: END})]))',
    )
    invalid: ClassVar[tuple[str, ...]] = (
        STEPS + 'flow = Flow(Workflow("w", [(START, a, judge), (judge, {"redo": a, "ok": END}), (judge, b)]))',
    )

    def check(self, facts: Facts) -> Iterator[Finding]:
        """See the class."""
        for fork, (back, leaving) in facts.torn_forks.items():
            node, begin = agent_path(fork), agent_path(back.target)
            on = facts.agent_at(leaving.target)
            yield Finding(
                fork,
                f"`{node}` forks inside the cycle that begins at `{begin}`: one path may go round while another leaves, "
                f"to {f'`{on}`' if on else 'END'}",
                help=f'let one route decide: {{"again": {_name(begin)}, DEFAULT_ROUTE: {_name(on) if on else "END"}}}',
                related=(Related("the cycle begins here", begin),),
            )
