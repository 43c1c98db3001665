"""A model that answers from a script: the fake for tests.

::

    model = ScriptedModel({"writer": ["a draft", "a better draft"], "critic": "fine", "*": "ok"})
    flow.run_sync({...}, models={"*": model})
    [request.agent for request in model.calls]      # who asked, in order

It records what it was asked and reads nothing of it but who asks.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping

from graphflow.errors import ModelError, UsageError, closest
from graphflow.models.base import ModelReply, ModelRequest, reply_of

_ANYONE = "*"


class ScriptedModel:
    """A model that answers what it was told to.

    A script is one of: text (the answer to every call), a list or tuple (one entry a call, in the order of the calls),
    a function from request to answer (plain or async), an exception (raised), or any other value (sent as JSON to every
    call). Entries of a list are scripts too, but a list inside a list is an answer: `[[1, 2]]` answers `[1, 2]`.

    Args:
        replies: a script for everybody, or a mapping from node path, agent name or "*" (everybody else) to a script.
            Where agents run side by side the order of their calls is not fixed: give each its own entry.
        name: what reports call the model.

    Attributes:
        calls: the requests so far, oldest first.

    Raises:
        UsageError: a mapping with a key that is no string.
    """

    def __init__(self, replies: object, *, name: str = "scripted") -> None:
        self.name: str = name
        self.calls: list[ModelRequest] = []
        self._scripts = _by_asker(replies)
        self._used: dict[str, int] = {}

    def __repr__(self) -> str:
        return f"ScriptedModel({self.name!r}, calls={len(self.calls)})"

    def reset(self) -> None:
        """Forget the calls and start every script again."""
        self.calls.clear()
        self._used.clear()

    async def generate(self, request: ModelRequest) -> ModelReply:
        """Answer the next entry of the script for whoever asks.

        Args:
            request: recorded in `calls`; its node path, then its agent name, then "*" choose the script.

        Returns:
            The answer, with estimated token counts.

        Raises:
            ModelError: there is no script for the agent, its list is used up, or JSON cannot hold the answer.
        """
        self.calls.append(request)
        answer = self._next(request)
        if isinstance(answer, Exception):
            raise answer
        if callable(answer) and not isinstance(answer, type):
            answer = answer(request)
            if inspect.isawaitable(answer):
                answer = await answer
        return reply_of(answer, request)

    def _next(self, request: ModelRequest) -> object:
        asker = next((name for name in (request.node, request.agent, _ANYONE) if name in self._scripts), None)
        if asker is None:
            raise ModelError(self._nothing_for(request))
        script = self._scripts[asker]
        if not isinstance(script, (list, tuple)):
            return script
        used = self._used[asker] = self._used.get(asker, 0) + 1
        if used > len(script):
            whose = "the list" if asker == _ANYONE else f"the list of {asker!r}"
            raise ModelError(
                f"model `{self.name}` has no reply left for `{request.agent}`: this is call {used} of {whose} "
                f"and it has {len(script)}; add a reply, or give one that is no list to answer every call alike"
            )
        return script[used - 1]

    def _nothing_for(self, request: ModelRequest) -> str:
        near = closest(request.agent, self._scripts)
        known = ", ".join(f"`{name}`" for name in self._scripts) or "nobody"
        hint = f"did you mean `{near}` to be `{request.agent}`?" if near else f"add {request.agent!r} or '*'"
        return f"model `{self.name}` has no reply for `{request.agent}`: it has replies for {known}; {hint}"


def _by_asker(replies: object) -> Mapping[str, object]:
    if not isinstance(replies, Mapping):
        return {_ANYONE: replies}
    wrong = next((name for name in replies if not isinstance(name, str)), None)
    if wrong is not None:
        raise UsageError(f"ScriptedModel maps node paths, agent names or '*' to replies; {wrong!r} is none of these")
    return dict(replies)
