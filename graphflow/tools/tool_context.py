"""The name under which tools know their context; it is the one that every body gets.

::

from graphflow.tools.tool_context import ToolContext

def note(text: str, tool_context: ToolContext) -> str: ...
"""

from __future__ import annotations

from graphflow.context import Context

ToolContext = Context

__all__ = ["ToolContext"]
