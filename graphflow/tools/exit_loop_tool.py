"""The tool by which a model ends the loop it works in.

::

    LlmAgent(name="critic", instruction="... If nothing is left to improve, call exit_loop.", tools=[exit_loop])

It is an ordinary function: that it escalates is read from its source, as for every other tool.
"""

from __future__ import annotations

from graphflow.tools.tool_context import ToolContext


def exit_loop(tool_context: ToolContext) -> None:
    """End the loop. Call this only when the instructions say that the work is done."""
    tool_context.actions.escalate = True
