"""Rules about models, their tools, and what bodies call."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import ClassVar

from graphflow.analysis.facts import Facts
from graphflow.checker.diagnostics import Related, Severity
from graphflow.checker.rule import Finding, Rule
from graphflow.contracts.bodies import blocking_calls
from graphflow.models import providers, similar_model


class UntypedTool(Rule):
    """A tool that a model cannot be told how to call.

    ## What it does
    Flags parameters of tools that have no annotation, or a type that no JSON schema can express, and other things that keep
    a model from calling a tool.

    ## Why is this bad?
    The model guesses what to give, or the provider refuses the request.

    ## Example
    ```python
    def find(email, limit: int = 3): ...
    LlmAgent(name="support", tools=[find], ...)
    ```

    ## Use instead
    ```python
    def find(email: str, limit: int = 3): ...
    ```
    """

    code: ClassVar[str] = "GF606"
    name: ClassVar[str] = "untyped-tool"
    severity: ClassVar[Severity] = "error"
    valid: ClassVar[tuple[str, ...]] = (
        """
def find(email: str, limit: int = 3) -> str: return ""
flow = Flow(LlmAgent(name="a", instruction="x", tools=[find]))
""",
    )
    invalid: ClassVar[tuple[str, ...]] = (
        """
def find(email, limit: int = 3) -> str: return ""
flow = Flow(LlmAgent(name="a", instruction="x", tools=[find]))
""",
    )

    def check(self, facts: Facts) -> Iterator[Finding]:
        """See the class."""
        for path, declaration in facts.graph.declarations.items():
            for tool in declaration.notes.tools:
                for fault in tool.faults:
                    what = f"parameter `{fault.parameter}` of " if fault.parameter else ""
                    why, _, advice = fault.reason.partition("; ")
                    yield Finding(
                        path,
                        f"`{path}` cannot call its tool properly: {what}`{tool.name}`: {why}",
                        help=advice or "write a function with typed parameters around it",
                    )


class ToolNameClash(Rule):
    """Two tools of one agent have the same name.

    ## What it does
    Flags tools that a model cannot tell apart.

    ## Why is this bad?
    The model calls a name; which of the two runs is chance, and most providers refuse the request.

    ## Example
    ```python
    LlmAgent(name="support", tools=[orders.find, customers.find], ...)
    ```

    ## Use instead
    ```python
    LlmAgent(name="support", tools=[orders.find, FunctionTool(customers.find, name="find_customer")], ...)
    ```
    """

    code: ClassVar[str] = "GF607"
    name: ClassVar[str] = "tool-name-clash"
    severity: ClassVar[Severity] = "error"
    valid: ClassVar[tuple[str, ...]] = (
        """
from graphflow.tools import FunctionTool
def find(email: str) -> str: return ""
flow = Flow(LlmAgent(name="a", instruction="x", tools=[find, FunctionTool(find, name="find_again")]))
""",
    )
    invalid: ClassVar[tuple[str, ...]] = (
        """
from graphflow.tools import FunctionTool
def find(email: str) -> str: return ""
flow = Flow(LlmAgent(name="a", instruction="x", tools=[find, FunctionTool(lambda: "", name="find")]))
""",
    )

    def check(self, facts: Facts) -> Iterator[Finding]:
        """See the class."""
        for path, declaration in facts.graph.declarations.items():
            names = [tool.name for tool in declaration.notes.tools]
            for name in dict.fromkeys(name for name in names if names.count(name) > 1):
                yield Finding(
                    path,
                    f"`{path}` has {names.count(name)} tools with the name `{name}`",
                    help=f'give one of them another: FunctionTool({name}, name="{name}_2")',
                )


class BlockingCall(Rule):
    """An async body calls something that stops everything beside it.

    ## What it does
    Flags `time.sleep`, blocking HTTP calls and calls of subprocesses in async functions, custom agents and tools, also in
    plain functions of the same file that these call.

    ## Why is this bad?
    While it waits nothing else runs: the branches of a parallel become a sequence, time limits do not fire.

    ## Example
    ```python
    @agent(writes="page")
    async def fetch(url: str) -> str:
        return requests.get(url).text
    ```

    ## Use instead
    An async client, or a plain function, which runs in a thread:
    ```python
    @agent(writes="page")
    def fetch(url: str) -> str:
        return requests.get(url).text
    ```
    """

    code: ClassVar[str] = "GF608"
    name: ClassVar[str] = "blocking-call"
    severity: ClassVar[Severity] = "warning"
    valid: ClassVar[tuple[str, ...]] = (
        """
import time
@agent(writes="page")
def fetch(url: str) -> str:
    time.sleep(1)
    return url
flow = Flow(fetch, inputs={"url": str}, outputs=["page"])
""",
    )
    invalid: ClassVar[tuple[str, ...]] = (
        """
import time
@agent(writes="page")
async def fetch(url: str) -> str:
    time.sleep(1)
    return url
flow = Flow(fetch, inputs={"url": str}, outputs=["page"])
""",
        """
from subprocess import run
def page(url): return run(["cat", url])
async def fetch(url: str) -> str:
    return str(page(url))
flow = Flow(LlmAgent(name="a", instruction="x", tools=[fetch]))
""",
    )

    def check(self, facts: Facts) -> Iterator[Finding]:
        """See the class."""
        for path, declaration in facts.graph.declarations.items():
            notes = declaration.notes
            for function in (*notes.functions, *(tool.func for tool in notes.tools)):
                seen: set[object] = set()
                for call, blocking in blocking_calls(function):
                    if call.origin in seen:
                        continue
                    seen.add(call.origin)
                    via = "" if call is blocking else f" through `{call.text}`"
                    yield Finding(
                        path,
                        f"`{path}` calls `{blocking.text}`{via} in an async function: nothing else runs meanwhile",
                        help="use what can be awaited, or make it a plain function: those run in a thread",
                        related=() if call is blocking else (Related("it blocks here", path, blocking.origin),),
                        origin=call.origin,
                    )


class UnknownModel(Rule):
    """A model that no provider has, or whose name is probably misspelt.

    ## What it does
    Flags the name of a model that no registered provider accepts, and, as a warning, one that differs from a well-known name
    in one or two letters. A run that is given another model in its place is not refused.

    ## Why is this bad?
    The name is looked up when the agent is asked, by the first customer.

    ## Example
    ```python
    LlmAgent(name="writer", model="gemini-2.5-flahs", ...)
    ```

    ## Use instead
    ```python
    LlmAgent(name="writer", model="gemini-2.5-flash", ...)
    ```
    For a provider of your own: `register_model("local/*", make)` where the agents are made.
    """

    code: ClassVar[str] = "GF603"
    name: ClassVar[str] = "unknown-model"
    severity: ClassVar[Severity] = "error"
    valid: ClassVar[tuple[str, ...]] = (
        'flow = Flow(LlmAgent(name="a", model="gemini-2.5-flash", instruction="x"))',
        'flow = Flow(LlmAgent(name="a", model="gemini-9.5-flash", instruction="x"))',
    )
    invalid: ClassVar[tuple[str, ...]] = (
        'flow = Flow(LlmAgent(name="a", model="gemni-2.5-flash", instruction="x"))',
        'flow = Flow(LlmAgent(name="a", model="gemini-2.5-flahs", instruction="x"))',
    )

    def check(self, facts: Facts) -> Iterator[Finding]:
        """See the class."""
        patterns = providers()
        for path, declaration in facts.graph.declarations.items():
            name = declaration.notes.model
            if name is None:
                continue
            near, accepted = similar_model(name), any(fnmatchcase(name, pattern) for pattern in patterns)
            if accepted and near is None:
                continue
            known = ", ".join(f"`{pattern}`" for pattern in patterns)
            yield Finding(
                path,
                f"`{path}` asks the model `{name}`, which is not a well-known one"
                if accepted
                else f"`{path}` asks the model `{name}`, which no provider accepts",
                help=f"did you mean `{near}`?"
                if near
                else f"there are providers for {known}; add one with register_model",
                severity="warning" if accepted else None,
            )
