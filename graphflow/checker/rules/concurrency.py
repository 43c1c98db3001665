"""Rules about stages that run side by side."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from graphflow.analysis.facts import Facts
from graphflow.checker.diagnostics import Related, Severity
from graphflow.checker.rule import Finding, Rule
from graphflow.ir.nodes import agent_path


class WriteWriteRace(Rule):
    """Two stages that may run at the same time write one key.

    ## What it does
    Flags a key that two stages write of which neither is before the other: in different branches of a parallel, or on paths
    of a Workflow that part and may both be taken. Silent where a merge is declared for the key, where only the first branch
    to succeed counts (`join="any"`), and between instances of a map.

    ## Why is this bad?
    Neither write is after the other, so there is no right value. graphflow refuses such a run where the branches meet;
    other frameworks keep whichever came last.

    ## Example
    ```python
    ParallelAgent("research", [
        LlmAgent(name="web", instruction="...", output_key="notes"),
        LlmAgent(name="papers", instruction="...", output_key="notes"),
    ])
    ```

    ## Use instead
    One key for each branch, or a declared merge:
    ```python
    Flow(..., keys=[Key("notes", list[str], merge=Merge.append)])
    ```
    """

    code: ClassVar[str] = "GF301"
    name: ClassVar[str] = "write-write-race"
    severity: ClassVar[Severity] = "error"
    valid: ClassVar[tuple[str, ...]] = (
        """
p = ParallelAgent("p", [LlmAgent(name=n, instruction="x", output_key=n + "_notes") for n in ("web", "papers")])
flow = Flow(p)
""",
        """
p = ParallelAgent("p", [LlmAgent(name=n, instruction="x", output_key="notes") for n in ("web", "papers")])
flow = Flow(p, keys=[Key("notes", list[str], merge=Merge.append)])
""",
    )
    invalid: ClassVar[tuple[str, ...]] = (
        'flow = Flow(ParallelAgent("p", [LlmAgent(name=n, instruction="x", output_key="notes") for n in ("a", "b")]))',
    )

    def check(self, facts: Facts) -> Iterator[Finding]:
        """See the class."""
        for (fork, key), writers in facts.races.items():
            first, second, *others = writers
            more = f" and {len(others)} more" if others else ""
            name = facts.local(key)
            yield Finding(
                second.node,
                f"`{agent_path(first.node)}` and `{agent_path(second.node)}`{more} both write `{name}` "
                f"and run side by side {facts.place(fork)}",
                name,
                f"give each its own key, or say how to combine them: Key({name!r}, ..., merge=Merge.append)",
                tuple(Related(f"`{name}` is written here too", agent_path(d.node)) for d in (first, *others)),
            )


class ReadWriteRace(Rule):
    """A stage reads a key that a concurrent branch writes.

    ## What it does
    Flags a read of a key that a stage writes which may run at the same time. A branch works on the state at the fork,
    so it never sees that write: an error where there is no earlier value, else a warning, since the earlier value is read.
    Silent where the branch itself surely wrote the key before. Where branches work on one live state (profile `adk`) what
    is read is a matter of time, so an earlier value does not help.

    ## Why is this bad?
    The code reads as if one branch could use the other's result.

    ## Example
    ```python
    ParallelAgent("p", [
        LlmAgent(name="facts", instruction="...", output_key="facts"),
        LlmAgent(name="summary", instruction="Sum up {facts}", output_key="summary"),
    ])
    ```

    ## Use instead
    ```python
    SequentialAgent("s", [facts, summary])
    ```
    """

    code: ClassVar[str] = "GF302"
    name: ClassVar[str] = "read-write-race"
    severity: ClassVar[Severity] = "error"
    valid: ClassVar[tuple[str, ...]] = (
        """
f = LlmAgent(name="f", instruction="x", output_key="facts")
flow = Flow(SequentialAgent("s", [f, LlmAgent(name="g", instruction="{facts}")]))
""",
    )
    invalid: ClassVar[tuple[str, ...]] = (
        """
f = LlmAgent(name="f", instruction="x", output_key="facts")
flow = Flow(ParallelAgent("s", [f, LlmAgent(name="g", instruction="{facts}")]))
""",
        """
f = LlmAgent(name="f", instruction="x", output_key="facts")
flow = Flow(ParallelAgent("s", [f, LlmAgent(name="g", instruction="{facts}")]), inputs={"facts": str})
""",
    )

    def check(self, facts: Facts) -> Iterator[Finding]:
        """See the class."""
        seen: set[tuple[str, str]] = set()
        for use in facts.uses:
            node, key = use.node.id, use.read.key
            if (node, key) in seen or facts.unknown(node, key) or facts.reserved(key) or facts.reads.undeclared(key):
                continue
            seen.add((node, key))
            beside = facts.beside(node, key)
            if not beside or facts.own_write(node, key):
                continue
            name = facts.local(key)
            earlier = bool(facts.reaching(node, key)) or facts.reads.persists(key)
            writer = agent_path(beside[0].node)
            reader = agent_path(node)
            live = facts.profile.live_state
            what = "reads the earlier value" if earlier else "finds no value"
            if live:
                what = "whether it sees that write is a matter of time"
            yield Finding(
                node,
                f"`{reader}` reads `{name}`, which `{writer}` writes at the same time: it {what}",
                name,
                f"run `{writer}` before `{reader}`, or let the branch use a key of its own",
                tuple(Related(f"`{name}` is written here", agent_path(d.node)) for d in beside),
                severity="warning" if (earlier and not live) or use.read.optional else None,
            )
