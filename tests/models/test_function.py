"""A function model answers what its function returns, on every event loop, and its failures say who asked."""

from __future__ import annotations

from functools import partial

import anyio
import anyio.lowlevel
import pytest

from graphflow.errors import ModelError
from graphflow.models.base import Message, Model, ModelReply, ModelRequest, Usage
from graphflow.models.function import FunctionModel

REQUEST = ModelRequest("", "flow/writer", "writer", None, (Message("user", "hello"),))


def shout(request: ModelRequest) -> str:
    """Answer in capitals."""
    return request.text.upper()


async def wait_and_count(request: ModelRequest) -> dict[str, int]:
    """Give way once, then answer data."""
    await anyio.lowlevel.checkpoint()
    return {"length": len(request.text)}


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@pytest.mark.parametrize(("func", "text"), [(shout, "HELLO"), (wait_and_count, '{"length":5}')])
def test_plain_and_async_functions_answer(backend: str, func: object, text: str) -> None:
    """Both kinds run under both event loops."""
    model: Model = FunctionModel(func)  # type: ignore[arg-type]  # the parameter holds either kind
    assert anyio.run(model.generate, REQUEST, backend=backend) == ModelReply(
        text, Usage(1, 2, 2 if text == "HELLO" else 3)
    )


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_what_the_function_raises_is_chained(backend: str) -> None:
    """The message names the model, the agent and the cause."""

    async def fail(request: ModelRequest) -> str:
        await anyio.lowlevel.checkpoint()
        raise LookupError("no such page")

    with pytest.raises(ModelError, match="`fail` raised LookupError when `writer` asked: no such page") as caught:
        anyio.run(FunctionModel(fail).generate, REQUEST, backend=backend)
    assert isinstance(caught.value.__cause__, LookupError)


def test_a_model_error_is_not_wrapped() -> None:
    """A function that knows what to say is heard."""
    said = ModelError("quota used up")

    def refuse(request: ModelRequest) -> str:
        raise said

    with pytest.raises(ModelError) as caught:
        anyio.run(FunctionModel(refuse).generate, REQUEST)
    assert caught.value is said


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_cancellation_passes_through(backend: str) -> None:
    """A cancelled call is cancelled, not failed."""

    async def forever(request: ModelRequest) -> str:
        await anyio.sleep_forever()
        return "never"

    async def main() -> bool:
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as group:
                group.start_soon(FunctionModel(forever).generate, REQUEST)
                await anyio.wait_all_tasks_blocked()
                scope.cancel()
        return scope.cancelled_caught

    assert anyio.run(main, backend=backend)


def test_names() -> None:
    """The function's name is the model's, unless another is given."""
    assert FunctionModel(shout).name == "shout"
    assert FunctionModel(shout, name="loud").name == "loud"
    assert FunctionModel(partial(shout)).name == "partial"
    assert repr(FunctionModel(shout)) == "FunctionModel('shout')"
    with pytest.raises(TypeError, match="takes a function from request to reply, got str"):
        FunctionModel("shout")  # type: ignore[arg-type]  # the mistake under test
