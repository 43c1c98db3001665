"""A scripted model answers what it was told to, whoever asks in whatever order, and says what its script lacks."""

from __future__ import annotations

import json
from collections import defaultdict

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphflow.errors import ModelError, UsageError
from graphflow.models.base import Message, Model, ModelRequest
from graphflow.models.scripted import ScriptedModel

AGENTS = ["writer", "critic", "judge"]


def asked_by(agent: str, text: str = "") -> ModelRequest:
    """Make a request of an agent."""
    return ModelRequest("m", f"flow/{agent}", agent, None, (Message("user", text),))


def answers(model: Model, *agents: str) -> list[str]:
    """Let agents ask one after another."""

    async def main() -> list[str]:
        return [(await model.generate(asked_by(agent))).text for agent in agents]

    return anyio.run(main)


@given(st.lists(st.sampled_from(AGENTS), max_size=12))
def test_each_agent_gets_its_own_list_in_order(order: list[str]) -> None:
    """However the calls are interleaved, an agent's n-th call gets its n-th reply, and the calls are recorded."""
    model = ScriptedModel({agent: [f"{agent} {n}" for n in range(12)] for agent in AGENTS})
    seen: dict[str, int] = defaultdict(int)
    expected = []
    for agent in order:
        expected.append(f"{agent} {seen[agent]}")
        seen[agent] += 1
    assert answers(model, *order) == expected
    assert [request.agent for request in model.calls] == order
    model.reset()
    assert not model.calls
    assert answers(model, *order) == expected


def test_a_list_answers_in_the_order_of_the_calls() -> None:
    """Without names it does not matter who asks."""
    assert answers(ScriptedModel(["a", "b"]), "writer", "critic") == ["a", "b"]
    assert answers(ScriptedModel(("a", "b")), "writer", "critic") == ["a", "b"]


@pytest.mark.parametrize("reply", ["same", 7, None, [1, 2], {"score": 0.5}, True])
def test_a_value_alone_answers_every_call(reply: object) -> None:
    """Text as it is, anything else as JSON, also inside a list."""
    text = reply if isinstance(reply, str) else json.dumps(reply, separators=(",", ":"))
    assert answers(ScriptedModel([reply, reply]), "writer", "writer") == [text, text]
    if not isinstance(reply, (list, dict)):
        assert answers(ScriptedModel(reply), "writer", "critic") == [text, text]
    if not isinstance(reply, list):
        assert answers(ScriptedModel({"writer": reply}), "writer", "writer") == [text, text]


def test_the_path_wins_over_the_name_and_the_name_over_the_star() -> None:
    """Two agents of one name in two places can be told apart."""
    model = ScriptedModel({"*": "anyone", "writer": "a writer", "flow/writer": "this writer"})
    assert answers(model, "writer", "critic") == ["this writer", "anyone"]
    assert answers(ScriptedModel({"*": "anyone", "writer": "a writer"}), "writer", "critic") == ["a writer", "anyone"]


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_functions_are_asked(backend: str) -> None:
    """Plain or async, alone or in a list, they are given the request."""

    async def later(request: ModelRequest) -> str:
        return request.text + "?"

    model = ScriptedModel({"writer": lambda request: request.text + "!", "critic": [later]})

    async def main() -> list[str]:
        return [(await model.generate(asked_by(agent, "hm"))).text for agent in ("writer", "critic", "writer")]

    assert anyio.run(main, backend=backend) == ["hm!", "hm?", "hm!"]


def test_an_exception_is_raised_and_the_script_goes_on() -> None:
    """So that a retry can be tested: the second attempt gets the second entry."""
    model = ScriptedModel([TimeoutError("too slow"), "at last"])
    with pytest.raises(TimeoutError, match="too slow"):
        answers(model, "writer")
    assert answers(model, "writer") == ["at last"]


def test_a_used_up_list_says_what_to_add() -> None:
    """Who asked, how often, how many replies there are."""
    model = ScriptedModel({"writer": ["one", "two"]})
    answers(model, "writer", "writer")
    with pytest.raises(
        ModelError, match=r"no reply left for `writer`: this is call 3 of the list of 'writer' and it has 2"
    ):
        answers(model, "writer")
    with pytest.raises(ModelError, match="call 1 of the list and it has 0"):
        answers(ScriptedModel([]), "writer")


def test_an_agent_without_a_script_is_named() -> None:
    """A misspelt name is recognised; otherwise what there is is listed."""
    with pytest.raises(
        ModelError, match=r"no reply for `writer`: it has replies for `writers`; did you mean `writers`"
    ):
        answers(ScriptedModel({"writers": "x"}), "writer")
    with pytest.raises(ModelError, match=r"it has replies for `judge`; add 'writer' or '\*'"):
        answers(ScriptedModel({"judge": "x"}), "writer")
    with pytest.raises(ModelError, match="it has replies for nobody"):
        answers(ScriptedModel({}), "writer")


def test_names_have_to_be_strings() -> None:
    """A mapping is by asker, never an answer."""
    with pytest.raises(UsageError, match="1 is none of these"):
        ScriptedModel({1: "one"})
    assert repr(ScriptedModel("x", name="fake")) == "ScriptedModel('fake', calls=0)"
