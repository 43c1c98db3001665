"""Rules about conditions, gates, and what they may still stop."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from graphflow.analysis.control import repeated_by, stops_after
from graphflow.analysis.facts import Facts
from graphflow.checker.diagnostics import Related, Severity
from graphflow.checker.rule import Finding, Rule
from graphflow.checker.rules.state import shown_path, written_at
from graphflow.ir.nodes import LoopHeader, Task, agent_path


class StaleGate(Rule):
    """A condition over an outcome that some path does not bring.

    ## What it does
    Flags a gate, a condition or an exit test that reads a key which is not written on every path of this run before it.

    ## Why is this bad?
    What decides is an outcome that may not be there: the run fails where it was to choose, or, where state is kept, goes
    by the outcome of an earlier run.

    ## Example
    ```python
    SequentialAgent("s", [
        ConditionalAgent("c", when=key("amount") > 100, then=validate),     # writes validation
        Gate("ready", require=key("validation") == "ok"),
        pay,
    ])
    ```

    ## Use instead
    ```python
    Gate("ready", require=~key("validation").exists() | (key("validation") == "ok"))
    ```
    or write the key on the other path too.
    """

    code: ClassVar[str] = "GF506"
    name: ClassVar[str] = "stale-gate"
    severity: ClassVar[Severity] = "error"
    valid: ClassVar[tuple[str, ...]] = (
        """
v = LlmAgent(name="v", instruction="x", output_key="ok")
flow = Flow(SequentialAgent("s", [v, Gate("g", require=key("ok") == "yes")]))
""",
        """
v = LlmAgent(name="v", instruction="x", output_key="ok")
c = ConditionalAgent("c", when=key("big"), then=v)
g = Gate("g", require=~key("ok").exists() | (key("ok") == "yes"), reason="not ok")
flow = Flow(SequentialAgent("s", [c, g]), inputs={"big": bool})
""",
    )
    invalid: ClassVar[tuple[str, ...]] = (
        """
v = LlmAgent(name="v", instruction="x", output_key="ok")
c = ConditionalAgent("c", when=key("big"), then=v)
flow = Flow(SequentialAgent("s", [c, Gate("g", require=key("ok") == "yes")]), inputs={"big": bool})
""",
        """
v = LlmAgent(name="v", instruction="x", output_key="ok")
c = ConditionalAgent("c", when=key("big"), then=v)
flow = Flow(LoopAgent("l", [c], until=key("ok") == "yes", max_iterations=3), inputs={"big": bool})
""",
    )

    def check(self, facts: Facts) -> Iterator[Finding]:
        """See the class."""
        for use in facts.reads.faulty("condition"):
            node, key = use.node.id, use.read.key
            name, path = facts.local(key), agent_path(node)
            what = "the exit test of" if isinstance(use.node, LoopHeader) else "the condition of"
            reaching = facts.reaching(node, key)
            given = all(each.node.startswith("@") for each in reaching)
            lacks = "an optional input that a run may not be given" if given else "which some path to it does not write"
            if not reaching:
                lacks = "which the first run of a session finds absent"
            yield Finding(
                node,
                f"{what} `{path}` reads `{name}`, {lacks}",
                name,
                f'ask first, key("{name}").exists() & ..., or write `{name}` on the other path too',
                written_at(facts, reaching),
                shown_path(facts, node, key),
            )


class EffectBeforeGate(Rule):
    """What cannot be undone happens before something that may still refuse it.

    ## What it does
    Flags an `irreversible` stage, or a model agent with an `irreversible` tool, if a gate or a stage that may halt can run
    after it or beside it, and one that a loop may run again. Plain conditions and failures do not count.

    ## Why is this bad?
    The run is refused, but the mail is sent. In a loop the mail is sent again.

    ## Example
    ```python
    SequentialAgent("s", [draft, send, Gate("approved", require=key("verdict") == "ok")])      # send is irreversible
    ```

    ## Use instead
    ```python
    SequentialAgent("s", [draft, Gate("approved", require=key("verdict") == "ok"), send])
    ```
    """

    code: ClassVar[str] = "GF507"
    name: ClassVar[str] = "effect-before-gate"
    severity: ClassVar[Severity] = "warning"
    valid: ClassVar[tuple[str, ...]] = (
        """
send = FunctionAgent("send", lambda: {}, reads=[], effect="irreversible")
flow = Flow(SequentialAgent("s", [Gate("g", require=key("ok")), send]), inputs={"ok": bool})
""",
        """
send = FunctionAgent("send", lambda: {}, reads=[], effect="irreversible")
a = LlmAgent(name="a", instruction="x")
flow = Flow(SequentialAgent("s", [send, ConditionalAgent("c", when=key("ok"), then=a)]), inputs={"ok": bool})
""",
    )
    invalid: ClassVar[tuple[str, ...]] = (
        """
send = FunctionAgent("send", lambda: {}, reads=[], effect="irreversible")
flow = Flow(SequentialAgent("s", [send, Gate("g", require=key("ok"))]), inputs={"ok": bool})
""",
        """
send = FunctionAgent("send", lambda: {}, reads=[], effect="irreversible")
flow = Flow(ParallelAgent("p", [send, Gate("g", require=key("ok"))]), inputs={"ok": bool})
""",
        """
send = FunctionAgent("send", lambda: {}, reads=[], effect="irreversible")
flow = Flow(LoopAgent("l", [send], max_iterations=2))
""",
    )

    def check(self, facts: Facts) -> Iterator[Finding]:
        """See the class."""
        for node in facts.graph.nodes.values():
            if not isinstance(node, Task) or node.contract.effect != "irreversible" or facts.unreachable(node.id):
                continue
            path, stops, loop = agent_path(node.id), stops_after(facts, node), repeated_by(facts, node)
            if stops:
                stop = agent_path(stops[0].id)
                yield Finding(
                    node.id,
                    f"`{path}` cannot be undone, but `{stop}` may still halt the run after it",
                    help=f"let `{stop}` decide before `{path}` runs",
                    related=tuple(Related("may halt the run", agent_path(each.id)) for each in stops),
                )
            elif loop is not None:
                around = agent_path(loop.id)
                yield Finding(
                    node.id,
                    f"`{path}` cannot be undone, but the loop at `{around}` may run it again",
                    help=f"put it behind the loop, or say that running it twice does no harm: effect={'idempotent'!r}",
                    related=(Related("may run it again", around),),
                )
