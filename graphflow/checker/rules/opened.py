"""The rule that says what was not checked, because it cannot be known before the run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from graphflow.analysis.control import after
from graphflow.analysis.facts import Facts, Use
from graphflow.checker.diagnostics import Related, Severity
from graphflow.checker.rule import Finding, Rule
from graphflow.ir.nodes import Branch, Node, agent_path
from graphflow.schema import closed_values

MANY = 50
"""So many open contracts make it too dear to tell them apart."""
SHOWN = 5
"""The most keys that are named."""


class OpenContract(Rule):
    """A stage uses keys that cannot be known before the run.

    ## What it does
    Notes a stage whose source computes the names of the keys it reads or writes, once, with the reads after it that are not
    checked therefore: nothing is claimed about what such a stage may have written. Also notes a conditional, or a node of a
    `Workflow` with routes, that has no default and whose values cannot be listed: whether its cases cover is not checked.

    ## Why is this bad?
    It is not wrong. But a typo behind it, or a value without a case, is found at run time only.

    ## Example
    ```python
    @agent
    def store(ctx: Context):
        for name, value in load().items():
            ctx.state[name] = value
    ```

    ## Use instead
    ```python
    @agent(reads=[], writes=["region", "currency"])
    def store() -> dict[str, str]: ...
    ```
    """

    code: ClassVar[str] = "GF210"
    name: ClassVar[str] = "open-contract"
    severity: ClassVar[Severity] = "info"
    valid: ClassVar[tuple[str, ...]] = (
        'flow = Flow(FunctionAgent("f", lambda: {"k": 1}, reads=[], writes=["k"]), outputs=["k"])',
        """
c = ConditionalAgent("c", on=key("k"), cases={"x": LlmAgent(name="a", instruction="x")}, default=PASS)
flow = Flow(c, inputs={"k": str})
""",
    )
    invalid: ClassVar[tuple[str, ...]] = (
        'flow = Flow(FunctionAgent("f", lambda ctx: ctx.state.update(ctx.deps)))',
        """
c = ConditionalAgent("c", on=key("k"), cases={"x": LlmAgent(name="a", instruction="x")})
flow = Flow(c, inputs={"k": str})
""",
    )

    def check(self, facts: Facts) -> Iterator[Finding]:
        """See the class."""
        opened: dict[str, list[Node]] = {}
        routed: dict[str, Branch] = {}
        for node in facts.graph.nodes.values():
            if node.contract.open:
                opened.setdefault(agent_path(node.id), []).append(node)
            elif isinstance(node, Branch) and _has_open_cases(facts, node):
                routed[agent_path(node.id)] = node
        silenced = _silenced(facts) if opened else []
        for agent in dict.fromkeys((*opened, *routed)):
            nodes = opened.get(agent, [])
            told_apart = len(opened) <= MANY
            later = {id_ for node in nodes for id_ in after(facts, node.id)} if told_apart and silenced else set()
            unchecked = [use for use in silenced if use.node.id in later or not told_apart] if nodes else []
            first = nodes[0] if nodes else routed[agent]
            yield self._finding(facts, first, nodes, unchecked, routed.get(agent))

    @staticmethod
    def _finding(
        facts: Facts, first: Node, nodes: Sequence[Node], unchecked: Sequence[Use], routed: Branch | None
    ) -> Finding:
        agent, said, remedies = agent_path(first.id), [], []
        if nodes:
            reasons = "; ".join(dict.fromkeys(reason for node in nodes for reason in node.contract.open))
            said.append(f"what `{agent}` reads and writes is not known: {reasons}")
            remedies.append("declare it with reads= and writes= (or may_write=)")
        names = list(dict.fromkeys(facts.local(use.read.key) for use in unchecked))
        if names:
            more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
            said.append(f"not checked therefore: {', '.join(f'`{name}`' for name in names[:SHOWN])}{more}")
        if routed is not None:
            routes = routed.region in facts.free_form and routed.id != f"{routed.region}#branch"
            what = "its routes" if routes else f"the values of `{routed.subject}`"
            said.append(
                f"`{agent}` has no default, and {what} cannot be listed: whether all are covered is not checked"
            )
            remedies.append(f"say which there are, Literal[...], or add {'DEFAULT_ROUTE' if routes else 'default='}")
        return Finding(
            first.id,
            "; ".join(said),
            help=", or ".join(remedies),
            related=tuple(
                Related(f"the read of `{facts.local(use.read.key)}` is not checked", agent_path(use.node.id))
                for use in unchecked[:SHOWN]
            ),
        )


def _silenced(facts: Facts) -> list[Use]:
    """The reads that are not judged because an open contract may have written the key before."""
    return [
        use
        for use in facts.uses
        if facts.unknown(use.node.id, use.read.key)
        and not facts.surely(use.node.id, use.read.key)
        and not facts.unreachable(use.node.id)
    ]


def _has_open_cases(facts: Facts, branch: Branch) -> bool:
    """Whether nobody can say that the cases of a branch cover, and nothing is taken where they do not."""
    if not branch.cases or any(arm.condition is None for arm in branch.arms) or facts.unreachable(branch.id):
        return False
    if not branch.contract.reads:
        return False
    read = branch.contract.reads[0]
    types = facts.field_type(facts.key_type(branch.id, read.key), read.path)
    if branch.multiple:
        types = [facts.element_type(type_) for type_ in types]
    return any(closed_values(type_) is None for type_ in types)
