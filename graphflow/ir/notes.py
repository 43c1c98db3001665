"""What is kept of an agent for the check alone: texts, tools and functions that the graph itself does not hold.

They change nothing about what runs. Agents fill them in where they are declared::

    Notes(texts=(("instruction", "Improve {draft}"),), tools=(search,))

Nothing here knows an agent kind.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

from graphflow.schema import ANY, Type
from graphflow.tools.function import FunctionTool


@final
@dataclass(frozen=True, slots=True)
class Notes:
    """Things about an agent that findings are made of.

    Attributes:
        texts: its templates, (parameter, text), in the order of its parameters.
        tools: what its model may call.
        routes: constants that its source sets `ctx.route` to.
        functions: the functions that are its body.
        model: name of the model that it names itself, None for none or an object.
        keys: the keys of the flow inside it, where the state of that flow is closed.
        sees_answers: it is sent the answers of the model agents before it.
        value: type of what it hands on: an answer, what a function returns. ANY where that is not known.
    """

    texts: tuple[tuple[str, str], ...] = ()
    tools: tuple[FunctionTool, ...] = ()
    routes: tuple[object, ...] = ()
    functions: tuple[Callable[..., Any], ...] = ()
    model: str | None = None
    keys: frozenset[str] | None = None
    sees_answers: bool = False
    value: Type = ANY


NO_NOTES = Notes()
