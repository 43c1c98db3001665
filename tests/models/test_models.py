"""A model's name leads to the provider whose pattern fits it; what fits none says what to do."""

from __future__ import annotations

import pytest

from graphflow import models
from graphflow.errors import UsageError
from graphflow.models import Model, ScriptedModel, register_model, resolve_model


@pytest.fixture(autouse=True)
def _only_what_the_test_registers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "_registered", {})


def named(prefix: str) -> models.Provider:
    """Make a provider whose models say which provider they are from."""
    return lambda name: ScriptedModel("x", name=f"{prefix}:{name}")


def test_an_object_is_what_it_is() -> None:
    """A model needs no provider."""
    model: Model = ScriptedModel("x")
    assert resolve_model(model) is model


def test_the_pattern_chooses_the_provider() -> None:
    """The full name goes to the provider; of several patterns that fit, the one registered first counts."""
    register_model("local/*", named("local"))
    register_model("special", named("special"))
    register_model("*", named("any"))
    assert resolve_model("local/small").name == "local:local/small"
    assert resolve_model("Local/small").name == "any:Local/small"
    assert resolve_model("special").name == "special:special"
    register_model("local/*", named("other"))
    assert resolve_model("local/small").name == "other:local/small"


def test_a_name_without_provider_says_what_there_is() -> None:
    """And how a test gets round it."""
    with pytest.raises(
        UsageError, match=r"no provider accepts model `llama`; there are providers for `gemini-\*`, .*; add one with"
    ):
        resolve_model("llama")
    register_model("local/*", named("local"))
    with pytest.raises(UsageError, match=r"there are providers for `local/\*`, .*models=\{\"\*\": ScriptedModel"):
        resolve_model("llama")
    with pytest.raises(UsageError, match="no provider accepts model ``"):
        resolve_model("")


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (None, "got NoneType"),
        (["a", "b"], "got list"),
        (7, "got int"),
        (ScriptedModel, "`ScriptedModel` is a class: make an object of it"),
        (lambda request: "x", "got function"),
    ],
)
def test_what_is_no_model_is_refused(wrong: object, why: str) -> None:
    """Each mistake is named, given directly or by a provider."""
    with pytest.raises(UsageError, match=f"given by its name or as an object.*{why}"):
        resolve_model(wrong)  # type: ignore[arg-type]  # the mistake under test
    register_model("broken", lambda name: wrong)  # type: ignore[arg-type, return-value]  # the mistake under test
    with pytest.raises(UsageError, match=f"provider of `broken` has to give a model.*{why}"):
        resolve_model("broken")


def test_what_is_no_provider_is_refused() -> None:
    """A pattern has to be text, a provider a function."""
    with pytest.raises(UsageError, match="got ''"):
        register_model("", named("x"))
    with pytest.raises(UsageError, match="has to be a function from name to model"):
        register_model("x", "y")  # type: ignore[arg-type]  # the mistake under test
