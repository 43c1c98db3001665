"""graphflow: agent pipelines as one graph that is checked, run and drawn.

::

    from graphflow import Flow, LlmAgent, SequentialAgent

    flow = Flow(SequentialAgent("story", [...]), inputs={"topic": str}, outputs=["story"])
    print(flow.check())
"""

from graphflow.agents import (
    PASS,
    ConditionalAgent,
    FunctionAgent,
    Gate,
    LlmAgent,
    LoopAgent,
    ParallelAgent,
    SequentialAgent,
    agent,
)
from graphflow.checker import Diagnostic, Report, Settings
from graphflow.conditions import key
from graphflow.context import Context
from graphflow.errors import ContractError, GraphflowError, RunFailed, UsageError
from graphflow.events import Event, EventActions
from graphflow.flow import Flow, check
from graphflow.models import FunctionModel, ScriptedModel, register_model
from graphflow.runtime.result import Result
from graphflow.runtime.scheduler import Limits
from graphflow.schema import Key, Merge, Overwrite

__all__ = [
    "PASS",
    "ConditionalAgent",
    "Context",
    "ContractError",
    "Diagnostic",
    "Event",
    "EventActions",
    "Flow",
    "FunctionAgent",
    "FunctionModel",
    "Gate",
    "GraphflowError",
    "Key",
    "Limits",
    "LlmAgent",
    "LoopAgent",
    "Merge",
    "Overwrite",
    "ParallelAgent",
    "Report",
    "Result",
    "RunFailed",
    "ScriptedModel",
    "SequentialAgent",
    "Settings",
    "UsageError",
    "agent",
    "check",
    "key",
    "register_model",
]
