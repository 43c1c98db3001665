"""The flow: a root agent with its inputs and outputs; the way to check, run and draw it."""

from graphflow.flow.pipeline import Flow, check

__all__ = ["Flow", "check"]
