"""The agents: what pipelines are written with. Each lowers to the graph; none executes itself."""

from graphflow.agents.base import Agent
from graphflow.agents.compose import PASS, ConditionalAgent, Gate, LoopAgent, ParallelAgent, SequentialAgent
from graphflow.agents.function import FunctionAgent, agent
from graphflow.agents.llm import LlmAgent

__all__ = [
    "PASS",
    "Agent",
    "ConditionalAgent",
    "FunctionAgent",
    "Gate",
    "LlmAgent",
    "LoopAgent",
    "ParallelAgent",
    "SequentialAgent",
    "agent",
]
