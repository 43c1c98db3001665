"""Free-form graphs, under the names of `google.adk.workflow`.

::

    from graphflow.workflow import DEFAULT_ROUTE, START, Workflow

It says where they are and holds nothing of its own.
"""

from __future__ import annotations

from graphflow.agents.workflow import DEFAULT_ROUTE, END, START, Edge, Workflow

__all__ = ["DEFAULT_ROUTE", "END", "START", "Edge", "Workflow"]
