"""graphflow: agent pipelines as one graph that is checked, run and drawn.

::

    from graphflow import Flow, LlmAgent, SequentialAgent

    flow = Flow(SequentialAgent("story", [...]), inputs={"topic": str}, outputs=["story"])
    print(flow.check())

A public name is imported from its module when it is first used, so a program pays for what it uses.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graphflow.agents import (
        DEFAULT_ROUTE,
        END,
        PASS,
        START,
        AskAgent,
        BaseAgent,
        ConditionalAgent,
        Flatten,
        FunctionAgent,
        Gate,
        LlmAgent,
        LoopAgent,
        MapAgent,
        ParallelAgent,
        SequentialAgent,
        SubFlow,
        Workflow,
        agent,
    )
    from graphflow.checker import Diagnostic, Report, Settings
    from graphflow.conditions import key
    from graphflow.context import Context
    from graphflow.contracts.retry import RetryPolicy
    from graphflow.errors import ContractError, GraphflowError, RunFailed, UsageError
    from graphflow.events import Event, EventActions
    from graphflow.flow import Flow, check
    from graphflow.models import FunctionModel, ScriptedModel, register_model
    from graphflow.runtime.limits import Limits
    from graphflow.runtime.result import Result
    from graphflow.schema import Failure, Key, Merge, Overwrite

__all__ = [
    "DEFAULT_ROUTE",
    "END",
    "PASS",
    "START",
    "AskAgent",
    "BaseAgent",
    "ConditionalAgent",
    "Context",
    "ContractError",
    "Diagnostic",
    "Event",
    "EventActions",
    "Failure",
    "Flatten",
    "Flow",
    "FunctionAgent",
    "FunctionModel",
    "Gate",
    "GraphflowError",
    "Key",
    "Limits",
    "LlmAgent",
    "LoopAgent",
    "MapAgent",
    "Merge",
    "Overwrite",
    "ParallelAgent",
    "Report",
    "Result",
    "RetryPolicy",
    "RunFailed",
    "ScriptedModel",
    "SequentialAgent",
    "Settings",
    "SubFlow",
    "UsageError",
    "Workflow",
    "agent",
    "check",
    "key",
    "register_model",
]

_HOME = {
    "DEFAULT_ROUTE": "graphflow.agents",
    "END": "graphflow.agents",
    "PASS": "graphflow.agents",
    "START": "graphflow.agents",
    "AskAgent": "graphflow.agents",
    "BaseAgent": "graphflow.agents",
    "ConditionalAgent": "graphflow.agents",
    "Flatten": "graphflow.agents",
    "FunctionAgent": "graphflow.agents",
    "Gate": "graphflow.agents",
    "LlmAgent": "graphflow.agents",
    "LoopAgent": "graphflow.agents",
    "MapAgent": "graphflow.agents",
    "ParallelAgent": "graphflow.agents",
    "SequentialAgent": "graphflow.agents",
    "SubFlow": "graphflow.agents",
    "Workflow": "graphflow.agents",
    "agent": "graphflow.agents",
    "Diagnostic": "graphflow.checker",
    "Report": "graphflow.checker",
    "Settings": "graphflow.checker",
    "key": "graphflow.conditions",
    "Context": "graphflow.context",
    "RetryPolicy": "graphflow.contracts.retry",
    "ContractError": "graphflow.errors",
    "GraphflowError": "graphflow.errors",
    "RunFailed": "graphflow.errors",
    "UsageError": "graphflow.errors",
    "Event": "graphflow.events",
    "EventActions": "graphflow.events",
    "Flow": "graphflow.flow",
    "check": "graphflow.flow",
    "FunctionModel": "graphflow.models",
    "ScriptedModel": "graphflow.models",
    "register_model": "graphflow.models",
    "Limits": "graphflow.runtime.limits",
    "Result": "graphflow.runtime.result",
    "Failure": "graphflow.schema",
    "Key": "graphflow.schema",
    "Merge": "graphflow.schema",
    "Overwrite": "graphflow.schema",
}
"""Public name -> the module it lives in."""


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module `graphflow` has no attribute `{name}`")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
