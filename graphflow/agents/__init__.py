"""The agents: what pipelines are written with. Each lowers to the graph; none executes itself."""

from graphflow.agents.ask import AskAgent
from graphflow.agents.compose import ParallelAgent, SequentialAgent
from graphflow.agents.conditional import PASS, ConditionalAgent
from graphflow.agents.custom import BaseAgent
from graphflow.agents.function import FunctionAgent, agent
from graphflow.agents.gate import Gate
from graphflow.agents.llm import LlmAgent
from graphflow.agents.loop import LoopAgent
from graphflow.agents.map import Flatten, MapAgent
from graphflow.agents.subflow import SubFlow
from graphflow.agents.workflow import DEFAULT_ROUTE, END, START, Workflow

Agent = LlmAgent
"""A model agent, under the short name that users of ADK know. The base of all agents is `graphflow.agents.base.Agent`."""

__all__ = [
    "DEFAULT_ROUTE",
    "END",
    "PASS",
    "START",
    "Agent",
    "AskAgent",
    "BaseAgent",
    "ConditionalAgent",
    "Flatten",
    "FunctionAgent",
    "Gate",
    "LlmAgent",
    "LoopAgent",
    "MapAgent",
    "ParallelAgent",
    "SequentialAgent",
    "SubFlow",
    "Workflow",
    "agent",
]
