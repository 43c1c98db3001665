"""The name under which callbacks know their context; it is the one that every body gets.

::

    from graphflow.agents.callback_context import CallbackContext

    def check(callback_context: CallbackContext): ...

It defines nothing of its own.
"""

from __future__ import annotations

from graphflow.context import Context

CallbackContext = Context

__all__ = ["CallbackContext"]
