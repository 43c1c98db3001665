"""A model that is a Python function: for rules that need no language model, offline demos and tests.

::

    def shout(request: ModelRequest) -> str:
        return request.text.upper()

    LlmAgent(name="louder", model=FunctionModel(shout), prompt="{draft}", output_key="draft")

The function is called in the event loop: a plain one has to be quick, an async one may wait. No async library is named
here, so both run under whichever the run uses.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable

from graphflow.errors import ModelError
from graphflow.models.base import ModelReply, ModelRequest, reply_of


class FunctionModel:
    """A model whose answers a function computes.

    Args:
        func: a plain or async function from a request to text, a `ModelReply`, a pydantic model or plain data; what is
            not text is sent as JSON.
        name: what reports call the model; default: the function's name.

    Raises:
        TypeError: `func` cannot be called.
    """

    def __init__(self, func: Callable[[ModelRequest], object], *, name: str | None = None) -> None:
        if not callable(func):
            raise TypeError(f"FunctionModel takes a function from request to reply, got {type(func).__name__}")
        self._func = func
        self.name: str = name if name is not None else getattr(func, "__name__", type(func).__name__)

    def __repr__(self) -> str:
        return f"FunctionModel({self.name!r})"

    async def generate(self, request: ModelRequest) -> ModelReply:
        """Call the function.

        Args:
            request: handed to the function.

        Returns:
            What the function returned, as a reply; token counts are estimates unless it returned a `ModelReply`.

        Raises:
            ModelError: the function raised (its exception is chained), or returned what JSON cannot hold.
        """
        try:
            value = self._func(request)
            if inspect.isawaitable(value):
                value = await value
        except ModelError:
            raise
        except Exception as error:  # the function is the user's: whatever it raises is the model's failure
            raise ModelError(
                f"model `{self.name}` raised {type(error).__name__} when `{request.agent}` asked: {error}"
            ) from error
        return reply_of(value, request)
