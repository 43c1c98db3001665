"""Rules about what runs too often, or never, because something ends or pauses the run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from graphflow.analysis.control import after, always_ending, loop_headers, lost_after, tested_keys
from graphflow.analysis.facts import Facts
from graphflow.checker.diagnostics import Related, Severity
from graphflow.checker.rule import Finding, Rule
from graphflow.contracts.bodies import effects_before_ask
from graphflow.ir.nodes import EXHAUSTED, LoopHeader, Task, agent_path


class UnreachableAfterHalt(Rule):
    """A stage after one that always halts the run or always escalates.

    ## What it does
    Flags a stage that every path leads to through a stage which, by its source, always sets `ctx.actions.halt` or
    `ctx.actions.escalate`.

    ## Why is this bad?
    It never runs. Most often the halt was meant for one case, and its `if` was forgotten.

    ## Example
    ```python
    @agent
    def stop(ctx): ctx.actions.halt = "nothing to do"

    SequentialAgent("s", [search, stop, publish])
    ```

    ## Use instead
    ```python
    @agent
    def stop(ctx, hits: list[str]):
        if not hits:
            ctx.actions.halt = "nothing to do"
    ```
    """

    code: ClassVar[str] = "GF511"
    name: ClassVar[str] = "unreachable-after-halt"
    severity: ClassVar[Severity] = "warning"
    valid: ClassVar[tuple[str, ...]] = (
        """
@agent
def stop(ctx, hits: int):
    if not hits:
        ctx.actions.halt = "nothing to do"
flow = Flow(SequentialAgent("s", [stop, LlmAgent(name="a", instruction="x")]), inputs={"hits": int})
""",
    )
    invalid: ClassVar[tuple[str, ...]] = (
        """
@agent
def stop(ctx): ctx.actions.halt = "nothing to do"
flow = Flow(SequentialAgent("s", [stop, LlmAgent(name="a", instruction="x")]))
""",
        """
@agent
def stop(ctx): ctx.actions.escalate = True
flow = Flow(LoopAgent("l", [stop, LlmAgent(name="a", instruction="x")], max_iterations=2))
""",
    )

    def check(self, facts: Facts) -> Iterator[Finding]:
        """See the class."""
        for task, how in always_ending(facts):
            lost = lost_after(facts, task)
            if lost:
                path = agent_path(task.id)
                does = "escalates" if how == "escalate" else "halts the run"
                yield Finding(
                    lost[0],
                    f"`{lost[0]}` never runs: `{path}` before it always {does}",
                    help=f"let `{path}` do so under a condition only, or take `{lost[0]}` out",
                    related=(
                        Related(f"always {how}s here", path),
                        *(Related("never runs either", other) for other in lost[1:]),
                    ),
                )


class ExhaustedUnchecked(Rule):
    """A loop may have run out of iterations, and nobody looks.

    ## What it does
    Notes a loop with `until` and `max_iterations` before an `irreversible` stage, or one that writes a declared output, if
    nothing after it reads how it ended: neither its `exit_key` nor a key that `until` tests.

    ## Why is this bad?
    When the bound is reached, what is there is what the exit test refused; it is sent all the same.

    ## Example
    ```python
    SequentialAgent("s", [LoopAgent("refine", [...], until=key("verdict") == "good", max_iterations=3), send])
    ```

    ## Use instead
    ```python
    LoopAgent("refine", [...], until=key("verdict") == "good", max_iterations=3, on_exhausted="fail")
    ```
    or `exit_key="ended"` and a `Gate` before `send`.
    """

    code: ClassVar[str] = "GF513"
    name: ClassVar[str] = "exhausted-unchecked"
    severity: ClassVar[Severity] = "info"
    valid: ClassVar[tuple[str, ...]] = (
        """
a = LlmAgent(name="a", instruction="x", output_key="v")
l = LoopAgent("l", [a], until=key("v") == "good", max_iterations=3, on_exhausted="fail")
send = FunctionAgent("send", lambda: {}, reads=[], effect="irreversible")
flow = Flow(SequentialAgent("s", [l, send]))
""",
        """
a = LlmAgent(name="a", instruction="x", output_key="v")
l = LoopAgent("l", [a], until=key("v") == "good", max_iterations=3)
send = FunctionAgent("send", lambda: {}, reads=[], effect="irreversible")
flow = Flow(SequentialAgent("s", [l, Gate("g", require=key("v") == "good"), send]))
""",
    )
    invalid: ClassVar[tuple[str, ...]] = (
        """
a = LlmAgent(name="a", instruction="x", output_key="v")
l = LoopAgent("l", [a], until=key("v") == "good", max_iterations=3)
send = FunctionAgent("send", lambda: {}, reads=[], effect="irreversible")
flow = Flow(SequentialAgent("s", [l, send]))
""",
        """
w = LlmAgent(name="w", instruction="x", output_key="draft")
c = LlmAgent(name="c", instruction="{draft}", output_key="v")
flow = Flow(LoopAgent("l", [w, c], until=key("v") == "good", max_iterations=3), outputs=["draft"])
""",
    )

    def check(self, facts: Facts) -> Iterator[Finding]:
        """See the class."""
        for header in loop_headers(facts):
            handled = header.exhausted == "fail" or any(e.label == EXHAUSTED for e in facts.graph.out(header.id))
            if header.until is None or header.bound is None or header.bound < 1 or handled:
                continue
            what = self._rests_on_it(facts, header)
            if what:
                yield Finding(
                    header.id,
                    f"the loop `{header.region}` may run out of its {header.bound} iterations, {what}, and nothing looks at "
                    "how it ended",
                    help='say on_exhausted="fail", or give it exit_key= and a gate after it',
                )

    @staticmethod
    def _rests_on_it(facts: Facts, header: LoopHeader) -> str:
        """Say what goes on as if the loop had ended well, "" if nothing does or something looks."""
        loop = facts.loops.get(header.id)
        inside = loop.members | {header.id} if loop is not None else frozenset((header.id,))
        done = facts.graph.nodes[f"{header.region}#exit"]
        looked = tested_keys(header) | {write.key for write in done.contract.writes}
        following = after(facts, done.id) - inside
        later = [node for node in facts.graph.nodes.values() if node.id in following]
        if any(read.key in looked for node in later for read in node.contract.reads):
            return ""
        for node in later:
            if isinstance(node, Task) and node.contract.effect == "irreversible":
                return f"`{agent_path(node.id)}` after it cannot be undone"
        outputs = [read.key for read in facts.graph.nodes[facts.graph.exit].contract.reads]
        own = [key for key in outputs if any(d.node in inside for d in facts.reaching(facts.graph.exit, key))]
        return f"the output `{own[0]}` is what it left" if own else ""


class EffectBeforeAsk(Rule):
    """A body asks a person after a call that will be made again.

    ## What it does
    Flags a function or custom agent that awaits `ctx.ask` after a call which is neither made through `ctx.step` nor known, by
    its source, to do no harm when it is made twice.

    ## Why is this bad?
    A run that waits for an answer goes on by running the body from its top. The call before the question is made again:
    two mails, two payments.

    ## Example
    ```python
    @agent
    async def refund(ctx, order: str):
        mail(order)
        if await ctx.ask("Refund?") == "yes": ...
    ```

    ## Use instead
    ```python
    await ctx.step("mail", mail, order)
    ```
    """

    code: ClassVar[str] = "GF514"
    name: ClassVar[str] = "effect-before-ask"
    severity: ClassVar[Severity] = "warning"
    valid: ClassVar[tuple[str, ...]] = (
        """
def mail(order): print(order)
@agent(writes="said")
async def refund(ctx, order: str) -> str:
    text = f"refund {order.strip()}?" + str(len(order))
    await ctx.step("mail", mail, order)
    return await ctx.ask(text)
flow = Flow(refund, inputs={"order": str}, outputs=["said"])
""",
    )
    invalid: ClassVar[tuple[str, ...]] = (
        """
def mail(order): print(order)
@agent(writes="said")
async def refund(ctx, order: str) -> str:
    mail(order)
    return await ctx.ask("Refund?")
flow = Flow(refund, inputs={"order": str}, outputs=["said"])
""",
    )

    def check(self, facts: Facts) -> Iterator[Finding]:
        """See the class."""
        for path, declaration in facts.graph.declarations.items():
            calls = [call for function in declaration.notes.functions for call in effects_before_ask(function)]
            if calls:
                first = calls[0]
                yield Finding(
                    path,
                    f"`{path}` calls `{first.text}` before it asks: when the answer is there, it is called again",
                    help=f'make the call a step: await ctx.step("{first.text.rpartition(".")[2]}", {first.text}, ...)',
                    related=tuple(Related(f"`{call.text}` is called here", path, call.origin) for call in calls),
                    origin=first.origin,
                )
