"""Rules about what concurrent runs share without knowing it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from graphflow.analysis.facts import Facts
from graphflow.checker.diagnostics import Severity
from graphflow.checker.rule import Finding, Rule
from graphflow.contracts.sharing import kept_by


class SharedInstanceState(Rule):
    """An agent's code keeps something in the agent itself.

    ## What it does
    Flags a custom agent, or a stage whose function is a method, whose code assigns to `self`, changes a list, dict or set in
    it, or calls a method that does. Silent for what is done under a lock.

    ## Why is this bad?
    There is one agent, and every run, map instance and loop iteration shares it: runs at the same time see each other's
    values, a retry starts with what the failed attempt left, and nothing of it is there after a resume.

    ## Example
    ```python
    class Poller(BaseAgent):
        _tries: int = 0

        async def run(self, ctx):
            self._tries += 1
            ...
    ```

    ## Use instead
    ```python
    class Poller(BaseAgent):
        async def run(self, ctx):
            ctx.state["tries"] = ctx.state.get("tries", 0) + 1
            ...
    ```
    """

    code: ClassVar[str] = "GF304"
    name: ClassVar[str] = "shared-instance-state"
    severity: ClassVar[Severity] = "warning"
    valid: ClassVar[tuple[str, ...]] = (
        """
class Poller(BaseAgent):
    async def run(self, ctx):
        tries = ctx.state.get("tries", 0)
        ctx.state["tries"] = tries + 1
flow = Flow(Poller(name="p"))
""",
    )
    invalid: ClassVar[tuple[str, ...]] = (
        """
class Poller(BaseAgent):
    _tries: int = 0
    async def run(self, ctx):
        self._tries += 1
flow = Flow(Poller(name="p"))
""",
        """
class Poller(BaseAgent):
    _seen: list = []
    async def run(self, ctx): self._note("x")
    def _note(self, what): self._seen.append(what)
flow = Flow(Poller(name="p"))
""",
    )

    def check(self, facts: Facts) -> Iterator[Finding]:
        """See the class."""
        for path, declaration in facts.graph.declarations.items():
            kept = [each for func in declaration.notes.functions for each in kept_by(func)]
            if not kept:
                continue
            names = ", ".join(f"`self.{name}`" for name in dict.fromkeys(each.name for each in kept))
            first = kept[0]
            yield Finding(
                path,
                f"the code of `{path}` changes {names} in line {first.origin.line}, which all runs at the same time share",
                help=f"use a local variable, or a key: ctx.state[{first.name.lstrip('_')!r}] = ...",
            )
