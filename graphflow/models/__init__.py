"""Models: what answers the requests of model agents, and which provider a model's name belongs to.

A provider is a function from a model's name to a model object; a pattern says which names are its own::

    register_model("local/*", lambda name: LocalModel(name.removeprefix("local/")))
    resolve_model("local/small")                  # LocalModel("small")
    resolve_model(ScriptedModel("yes"))           # a model object is what it is

Providers that ship with graphflow are rows of `PROVIDERS`, third parties add theirs under the entry point group
`graphflow.models`, a program by `register_model`. No provider is imported before one of its names is used, and this
module knows no provider.
"""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import cast

from graphflow.errors import UsageError, edit_distance
from graphflow.models.base import Message, Model, ModelReply, ModelRequest, Usage
from graphflow.models.function import FunctionModel
from graphflow.models.scripted import ScriptedModel
from graphflow.registry import Registry

__all__ = [
    "PROVIDERS",
    "FunctionModel",
    "Message",
    "Model",
    "ModelReply",
    "ModelRequest",
    "Provider",
    "ScriptedModel",
    "Usage",
    "register_model",
    "resolve_model",
]

Provider = Callable[[str], Model]

PROVIDERS: Registry[Provider] = Registry(
    "model provider",
    {
        "gemini-*": "graphflow.models.gemini:from_environment",
        "models/gemini-*": "graphflow.models.gemini:from_environment",
    },
    entry_points="graphflow.models",
)

KNOWN_MODELS = (
    "gemini-2.0-flash",
    "gemini-2.0-flash-lite",
    "gemini-2.5-flash",
    "gemini-2.5-flash-lite",
    "gemini-2.5-pro",
    "gemini-3-flash-preview",
    "gemini-3-pro-preview",
)
"""Names of models that are known to exist, to find misspelt ones by."""

_registered: dict[str, Provider] = {}


def register_model(pattern: str, factory: Provider) -> None:
    """Add a provider for this process. It goes before those that ship with graphflow.

    Args:
        pattern: which names are its own, with `*`, `?` and `[...]`; upper and lower case differ. Of several patterns
            that fit a name, the one registered first is used; registering a pattern again replaces its provider.
        factory: makes a model from its full name; called for each name at each run.

    Raises:
        UsageError: the pattern is empty or the factory cannot be called.
    """
    if not pattern:
        raise UsageError(f"register_model takes a pattern of model names such as 'local/*', got {pattern!r}")
    if not callable(factory):
        raise UsageError(f"the provider of `{pattern}` has to be a function from name to model, got {factory!r}")
    _registered[pattern] = factory


def providers() -> tuple[str, ...]:
    """List the patterns of model names that some provider accepts, in the order in which they are tried."""
    return PROVIDERS.extended(_registered).names()


def similar_model(name: str) -> str | None:
    """Find a well-known model whose name differs from this one in one or two letters; parts with digits are not compared.

    Args:
        name: the name of a model.

    Returns:
        The nearest such name; None for a well-known one, and where the names differ in digits only.
    """
    plain = name.removeprefix("models/")
    if plain in KNOWN_MODELS:
        return None
    letters = _without_versions(plain)
    ranked = sorted((edit_distance(letters, _without_versions(known), 2), known) for known in KNOWN_MODELS)
    return ranked[0][1] if ranked and 1 <= ranked[0][0] <= 2 else None


def _without_versions(name: str) -> str:
    return "-".join(part for part in name.split("-") if not any(character.isdigit() for character in part))


def resolve_model(model: str | Model) -> Model:
    """Find the model that a name or an object means.

    Args:
        model: a name that a provider's pattern fits, or a model object.

    Returns:
        The object itself, or what the provider made of the name.

    Raises:
        UsageError: no provider accepts the name, the provider gives no model, or the object is none.
    """
    if not isinstance(model, str):
        return _model(model, "a model is given by its name or as an object")
    providers = PROVIDERS.extended(_registered)
    if not any(fnmatchcase(model, pattern) for pattern in providers.names()):
        known = ", ".join(f"`{pattern}`" for pattern in providers.names())
        raise UsageError(
            f"no provider accepts model `{model}`; "
            + (f"there are providers for {known}" if known else "no provider is registered")
            + '; add one with register_model, or replace models in a test with models={"*": ScriptedModel(...)}'
        )
    return _model(providers.resolve(model)(model), f"the provider of `{model}` has to give a model")


def _model(value: object, rule: str) -> Model:
    if isinstance(value, type):
        raise UsageError(f"{rule}; `{value.__name__}` is a class: make an object of it")
    if not callable(getattr(value, "generate", None)) or not isinstance(getattr(value, "name", None), str):
        raise UsageError(f"{rule}, with a `name` and an `async def generate(request)`; got {type(value).__name__}")
    return cast("Model", value)
