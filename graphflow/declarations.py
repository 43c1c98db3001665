"""What a flow declares about its keys: `inputs=`, `outputs=`, `keys=`, `state=` and `persist=`, read into an `Interface`.

::

    declare(inputs={"topic": str, "limit": (int, 3), "tone?": str}, outputs=["story"])

It knows declarations, never agents.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import BaseModel

from graphflow.ir.nodes import Interface
from graphflow.schema import MISSING, Key, Merge, as_merge, type_of
from graphflow.schema.types import hints_of

Names = Mapping[str, Any] | Sequence[str]


def declare(
    inputs: Names | None = None,
    outputs: Names | None = None,
    keys: Sequence[Key] = (),
    state: type[BaseModel] | None = None,
    persist: Sequence[str] = (),
) -> Interface:
    """Read declarations; see `Flow` for what each may be.

    Returns:
        The interface, in order of declaration.

    Raises:
        TypeError: a declaration of the wrong Python type.
    """
    declared = {key.name: key for key in _state_keys(state)}
    for key in keys:
        if not isinstance(key, Key):  # what a user gives is not what is asked for
            raise TypeError(f'keys= takes Key("name", type, ...) declarations, got {key!r}')
        declared[key.name] = key
    for name in persist:
        declared[name] = replace(declared.get(name, Key(name)), persist=True)
    names = _named(outputs, "outputs")
    return Interface(
        None
        if inputs is None
        else tuple(_input(name, hint) for name, hint in (_named(inputs, "inputs") or {}).items()),
        None
        if names is None
        else tuple((n.removesuffix("?"), type_of(h), not n.endswith("?")) for n, h in names.items()),
        tuple(declared.values()),
        closed=state is not None,
    )


def _named(names: object, what: str) -> dict[str, Any] | None:
    if names is None:
        return None
    pairs = (
        dict(names)
        if isinstance(names, Mapping)
        else dict.fromkeys(names, Any)
        if isinstance(names, (list, tuple))
        else None
    )
    if pairs is None or not all(isinstance(name, str) and name.rstrip("?") for name in pairs):
        raise TypeError(f"`{what}` takes a list of names or a mapping name -> type, got {names!r}")
    return pairs


def _input(name: str, hint: Any) -> tuple[str, Any, bool, object]:
    optional = name.endswith("?")
    if isinstance(hint, tuple):
        if len(hint) != 2:
            raise TypeError(f"input `{name}` takes a type or (type, default), got {hint!r}")
        return name.removesuffix("?"), type_of(hint[0]), False, hint[1]
    return name.removesuffix("?"), type_of(hint), not optional, MISSING


def _state_keys(model: type[BaseModel] | None) -> list[Key]:
    if model is None:
        return []
    if not _is_model(model):
        raise TypeError(f"state= takes a pydantic model class, got {model!r}")
    hints = hints_of(model)
    found = []
    for name, field in model.model_fields.items():
        metadata = getattr(hints[name], "__metadata__", ())
        merge = next((m for m in map(_merge_in, metadata) if m is not None), None)
        default = MISSING if field.is_required() else field.get_default(call_default_factory=True)
        found.append(Key(name, hints[name], default, merge=merge))
    return found


def _merge_in(metadata: object) -> Merge | None:
    try:
        return as_merge(metadata)
    except TypeError:
        return None


def _is_model(model: object) -> bool:
    return inspect.isclass(model) and issubclass(model, BaseModel)
