"""What a model may call: functions with a schema that the model is shown and a contract that the check reads.

::

    from graphflow.tools import FunctionTool, exit_loop
"""

from graphflow.tools.exit_loop_tool import exit_loop
from graphflow.tools.function import FunctionTool, ToolDeclaration, as_tool
from graphflow.tools.parameters import ToolFault
from graphflow.tools.tool_context import ToolContext

__all__ = ["FunctionTool", "ToolContext", "ToolDeclaration", "ToolFault", "as_tool", "exit_loop"]
