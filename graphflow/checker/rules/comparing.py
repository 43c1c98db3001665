"""Rules about the values that conditions compare with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from graphflow.analysis.comparing import conditions_of, misfits
from graphflow.analysis.facts import Facts
from graphflow.checker.diagnostics import Related, Severity
from graphflow.checker.rule import Finding, Rule
from graphflow.ir.nodes import agent_path
from graphflow.schema import closed_values


class ConditionType(Rule):
    """A condition compares a key with a value that the key cannot hold.

    ## What it does
    Flags comparisons in gates, conditionals and exit tests that no value of the key's type fits: equality with a value of
    another type or with none of a closed type's values, order between values that have none, a pattern over what is no
    text, the length of a number. If one member of a union fits, all is fine.

    ## Why is this bad?
    The condition has the same outcome in every run, or the run fails when it is asked. Most often a value is misspelt, or a
    number is compared with text.

    ## Example
    ```python
    # verdict: Literal["good", "bad"]
    LoopAgent("refine", [writer, critic], until=key("verdict") == "goood", max_iterations=3)
    ```

    ## Use instead
    ```python
    LoopAgent("refine", [writer, critic], until=key("verdict") == "good", max_iterations=3)
    ```
    """

    code: ClassVar[str] = "GF405"
    name: ClassVar[str] = "condition-type"
    severity: ClassVar[Severity] = "error"
    valid: ClassVar[tuple[str, ...]] = (
        """
flow = Flow(Gate("g", require=(key("n") >= 3) & (key("v") == "good")), inputs={"n": float, "v": Literal["good", "bad"]})
""",
        """
flow = Flow(Gate("g", require=key("n") == 3), inputs={"n": int | str | None})
""",
    )
    invalid: ClassVar[tuple[str, ...]] = (
        """
flow = Flow(Gate("g", require=key("verdict") == "goood"), inputs={"verdict": Literal["good", "bad"]})
""",
        """
a = LlmAgent(name="a", instruction="x", output_key="score")
flow = Flow(SequentialAgent("s", [a, Gate("g", require=key("score") >= 8)]))
""",
    )

    def check(self, facts: Facts) -> Iterator[Finding]:
        """See the class."""
        for node in facts.graph.nodes.values():
            found = [misfit for test in conditions_of(node) for misfit in misfits(facts, node.id, test)]
            for misfit in {(each.ref.name, each.ref.path, each.types, each.why): each for each in found}.values():
                key = facts.local(misfit.ref.name)
                name = ".".join((key, *misfit.ref.path))
                values = [value for type_ in misfit.types for value in closed_values(type_) or ()]
                writers = [d for d in facts.reaching(node.id, misfit.ref.name) if not d.node.startswith("@")]
                shown = " | ".join(type_.text for type_ in misfit.types)
                yield Finding(
                    node.id,
                    f"`{agent_path(node.id)}` asks of `{name}` what cannot be: it is {shown or 'Any'}, which {misfit.why}",
                    key,
                    f"compare `{name}` with one of {', '.join(map(repr, values))}"
                    if values
                    else f"compare `{name}` with what it holds, or change what is written (output_schema= on a model agent)",
                    tuple(Related(f"`{key}` is written here", agent_path(d.node)) for d in writers),
                )
