"""Notes about what a run costs and how long it takes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from graphflow.analysis.costs import idle_orders, resent
from graphflow.analysis.facts import Facts
from graphflow.checker.diagnostics import Related, Severity
from graphflow.checker.rule import Finding, Rule
from graphflow.ir.nodes import agent_path


class PromptBloat(Rule):
    """A large text stands in many prompts of one run.

    ## What it does
    Notes a key whose value is known before the run (a default) and comes to 1,000 tokens or more, if three or more prompts of
    a run hold it, iterations of loops with a bound included. Tokens are estimated.

    ## Why is this bad?
    Each prompt pays for the whole text again.

    ## Example
    ```python
    Flow(SequentialAgent("s", [draft, check, polish]), keys=[Key("handbook", str, default=HANDBOOK)])   # all hold {handbook}
    ```

    ## Use instead
    A stage that takes out of the text what the later ones need, and `{rules}` in their prompts.
    """

    code: ClassVar[str] = "GF701"
    name: ClassVar[str] = "prompt-bloat"
    severity: ClassVar[Severity] = "info"
    valid: ClassVar[tuple[str, ...]] = (
        """
flow = Flow(LlmAgent(name="a", instruction="{book}"), keys=[Key("book", str, default="word " * 2000)])
""",
    )
    invalid: ClassVar[tuple[str, ...]] = (
        """
parts = [LlmAgent(name=f"a{n}", instruction="{book}", output_key=f"k{n}") for n in range(3)]
flow = Flow(ParallelAgent("p", parts), keys=[Key("book", str, default="word " * 2000)])
""",
    )

    def check(self, facts: Facts) -> Iterator[Finding]:
        """See the class."""
        for found in resent(facts):
            first, *others = (agent_path(task) for task in found.tasks)
            yield Finding(
                first,
                f"`{facts.local(found.key)}` is about {found.tokens:,} tokens long and is sent "
                f"{found.total // found.tokens} times in a run: {found.total:,} tokens",
                facts.local(found.key),
                "let one stage take out of it what the others need",
                tuple(Related("it is sent here too", path) for path in others),
            )


class NeedlessOrder(Rule):
    """Neighbouring stages wait for one another with no data between them.

    ## What it does
    Notes model stages that follow one another in a sequence, though none reads or writes what another writes and none has an
    effect or may end anything.

    ## Why is this bad?
    It takes as long as all of them together; side by side it would take as long as the slowest.

    ## Example
    ```python
    SequentialAgent("s", [web_search, paper_search, merge])
    ```

    ## Use instead
    ```python
    SequentialAgent("s", [ParallelAgent("search", [web_search, paper_search]), merge])
    ```
    """

    code: ClassVar[str] = "GF702"
    name: ClassVar[str] = "needless-order"
    severity: ClassVar[Severity] = "info"
    valid: ClassVar[tuple[str, ...]] = (
        """
a = LlmAgent(name="a", instruction="x", output_key="k")
flow = Flow(SequentialAgent("s", [a, LlmAgent(name="b", instruction="{k}", output_key="j")]))
""",
    )
    invalid: ClassVar[tuple[str, ...]] = (
        """
a = LlmAgent(name="a", instruction="x", output_key="k", estimate=4)
b = LlmAgent(name="b", instruction="y", output_key="j", estimate=3)
flow = Flow(SequentialAgent("s", [a, b]), outputs=["k", "j"])
""",
    )

    def check(self, facts: Facts) -> Iterator[Finding]:
        """See the class."""
        for tasks in idle_orders(facts):
            paths = [agent_path(task.id) for task in tasks]
            known = [facts.graph.declarations[path].estimate for path in paths]
            times = [time for time in known if time is not None]
            saved = (
                f"side by side they would take {sum(times) - max(times):g} s less" if len(times) == len(known) else ""
            )
            yield Finding(
                paths[1],
                f"{', '.join(f'`{path}`' for path in paths)} run one after the other, but none needs what another one "
                "writes" + (f"; {saved}" if saved else "; side by side they would take as long as the slowest"),
                help=f'ParallelAgent("both", [{", ".join(path.rpartition("/")[2] for path in paths)}])',
                related=tuple(Related("could run beside it", path) for path in paths if path != paths[1]),
            )
