"""Rules about what agents answer or return, and who gets to hear it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from graphflow.analysis.facts import Facts
from graphflow.analysis.handing import lost_values
from graphflow.checker.diagnostics import Related, Severity
from graphflow.checker.rule import Finding, Rule
from graphflow.ir.nodes import ERROR, Task, agent_path


class LostResponse(Rule):
    """A model agent in the middle of a flow whose answer goes nowhere.

    ## What it does
    Notes a model agent without `output_key` that other stages follow. Not noted: an agent with tools, which acts by calling
    them; a child of a custom agent, whose code is given the answer; an agent whose answer the next node of a `Workflow` takes;
    and where a later agent, or every agent under the profile, is sent what was answered before.

    ## Why is this bad?
    The answer is paid for and thrown away. Most often `output_key` was forgotten.

    ## Example
    ```python
    SequentialAgent("s", [
        LlmAgent(name="plan", instruction="Plan a trip to {city}."),
        LlmAgent(name="book", instruction="Book the trip to {city}.", output_key="booking"),
    ])
    ```

    ## Use instead
    ```python
    LlmAgent(name="plan", instruction="Plan a trip to {city}.", output_key="plan")
    ```
    """

    code: ClassVar[str] = "GF212"
    name: ClassVar[str] = "lost-response"
    severity: ClassVar[Severity] = "info"
    valid: ClassVar[tuple[str, ...]] = (
        """
a = LlmAgent(name="a", instruction="x", output_key="k")
flow = Flow(SequentialAgent("s", [a, LlmAgent(name="b", instruction="{k}")]), inputs={})
""",
        'flow = Flow(ParallelAgent("p", [LlmAgent(name="a", instruction="x"), LlmAgent(name="b", instruction="y")]))',
    )
    invalid: ClassVar[tuple[str, ...]] = (
        """
a = LlmAgent(name="a", instruction="x")
flow = Flow(SequentialAgent("s", [a, LlmAgent(name="b", instruction="y")]), inputs={})
""",
    )

    def check(self, facts: Facts) -> Iterator[Finding]:
        """See the class."""
        if facts.profile.answers_are_history:
            return
        for node in facts.graph.nodes.values():
            if not isinstance(node, Task) or not _answers_nobody(facts, node):
                continue
            after = _stages_after(facts, node.id)
            if not after or any(facts.graph.declarations[agent_path(id_)].notes.sees_answers for id_ in after):
                continue
            agent = agent_path(node.id)
            yield Finding(
                node.id,
                f"the answer of `{agent}` goes to no key, and `{agent_path(after[0])}` comes after it",
                help=f'give it a key: output_key="{agent.rpartition("/")[2]}_answer", or leave the stage out',
            )


class ValueLostOnEdge(Rule):
    """A node of a `Workflow` gets a verdict, or nothing, where it needs the value before it.

    ## What it does
    Flags a node that follows a judge: one that hands on its choice of a route, of which one leads on, or nothing at all. What
    was judged is in no key, so the next node does not get it. Flagged are functions that take `node_input`, and model agents
    that have nothing else to go by: no key, no tool, no history. Routes to several nodes are a dispatch, not a verdict.

    ## Why is this bad?
    "Publish the approved draft" is sent without the draft: the model makes one up.

    ## Example
    ```python
    Workflow("w", [(START, drafter, judge), (judge, {"pass": publish, "fail": END})])    # drafter writes no key
    ```

    ## Use instead
    ```python
    drafter = LlmAgent(name="drafter", instruction="Write about {topic}.", output_key="draft")
    publish = LlmAgent(name="publish", instruction="Polish and publish: {draft}")
    ```
    """

    code: ClassVar[str] = "GF214"
    name: ClassVar[str] = "value-lost-on-edge"
    severity: ClassVar[Severity] = "warning"
    valid: ClassVar[tuple[str, ...]] = (
        """
draft = LlmAgent(name="draft", instruction="x", output_key="draft")
def judge(node_input: str) -> Literal["pass", "fail"]: return "pass"
publish = LlmAgent(name="publish", instruction="Publish {draft}")
flow = Flow(Workflow("w", [(START, draft, judge), (judge, {"pass": publish, "fail": END})]))
""",
        """
sort = LlmAgent(name="sort", instruction="Bill or bug?", output_schema=Literal["bill", "bug"])
def choose(node_input: str) -> Literal["bill", "bug"]: return node_input
bill, bug = (LlmAgent(name=n, instruction="Answer.") for n in ("bill", "bug"))
flow = Flow(Workflow("w", [(START, sort, choose), (choose, {"bill": bill, "bug": bug})]))
""",
    )
    invalid: ClassVar[tuple[str, ...]] = (
        """
draft = LlmAgent(name="draft", instruction="x")
def judge(node_input: str) -> Literal["pass", "fail"]: return "pass"
publish = LlmAgent(name="publish", instruction="Publish the approved draft.")
flow = Flow(Workflow("w", [(START, draft, judge), (judge, {"pass": publish, "fail": END})]))
""",
        """
draft = LlmAgent(name="draft", instruction="x")
def note(node_input: str) -> None: print(node_input)
def publish(node_input) -> None: print(node_input)
flow = Flow(Workflow("w", [(START, draft, note, publish)]))
""",
    )

    def check(self, facts: Facts) -> Iterator[Finding]:
        """See the class."""
        for source, judge, node, verdict in lost_values(facts):
            given, judged, agent = (agent_path(each.id) for each in (source, judge, node))
            name = given.rpartition("/")[2]
            remedy = f'output_key="{name}"' if source.kind == "model" else f'writes="{name}"'
            yield Finding(
                node.id,
                f"`{agent}` gets {'the verdict' if verdict else 'None'} of `{judged}`, "
                f"not the value of `{given}`, which no key holds",
                help=f"keep it: give `{name}` {remedy}, and let `{agent.rpartition('/')[2]}` read `{name}`",
                related=(Related("the value comes from here", given), Related("and is not passed on here", judged)),
            )


def _answers_nobody(facts: Facts, task: Task) -> bool:
    """Whether the answer of a model agent that does nothing but answer is put nowhere."""
    declaration = facts.graph.declarations.get(agent_path(task.id))
    if task.kind != "model" or task.output is not None or declaration is None or declaration.notes.tools:
        return False
    written = any(write.sure for write in task.contract.writes)
    return not written and not facts.in_custom_agent(task.id) and not facts.unreachable(task.id)


def _stages_after(facts: Facts, node: str) -> list[str]:
    """The tasks of agents that may run after a node has answered, without going round, in canonical order."""
    seen: set[str] = set()
    pending = [node]
    while pending:
        for edge in facts.graph.out(pending.pop()):
            if not edge.back and edge.label != ERROR and edge.target not in seen:
                seen.add(edge.target)
                pending.append(edge.target)
    tasks = [id_ for id_, other in facts.graph.nodes.items() if isinstance(other, Task) and other.kind != "glue"]
    return [id_ for id_ in tasks if id_ in seen and agent_path(id_) in facts.graph.declarations]
