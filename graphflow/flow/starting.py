"""What a run starts from: the inputs it was given, and the model of each of its model agents. Whatever does not fit refuses it.

::

    given_inputs(graph, {"topic": "tides"}, message=None)      # key -> value, defaults of declared keys included
    chosen_models(graph, "gemini-2.5-flash", {})               # node path -> model object
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphflow.errors import UsageError, closest
from graphflow.ir.graph import Graph
from graphflow.ir.nodes import Task
from graphflow.models import resolve_model
from graphflow.models.base import Model
from graphflow.schema import ANY, MISSING, TypeMismatch, freeze, type_of, validator

MESSAGE = "message"


def given_inputs(graph: Graph, inputs: Mapping[str, Any] | None, message: str | None) -> dict[str, object]:
    """Check what a run is given.

    Args:
        graph: the flow's graph.
        inputs: key -> value.
        message: the user's message, the input `message`.

    Returns:
        Key -> value at the entry, defaults included.

    Raises:
        UsageError: something is missing, unknown or of the wrong type; all of it is named.
    """
    interface = graph.interface
    if inputs is not None and not isinstance(inputs, Mapping):
        raise UsageError(f"inputs are a mapping of names to values, got {type(inputs).__name__}")
    given = dict(inputs or {})
    if message is not None:
        if not isinstance(message, str):
            raise UsageError(f"message is text, got {type(message).__name__}")
        given.setdefault(MESSAGE, message)
    declared = {name: (type_, required, default) for name, type_, required, default in interface.inputs or ()}
    faults = [fault for name in given for fault in _refused(graph, name, declared)]
    values: dict[str, object] = {k.name: k.default for k in interface.keys if k.default is not MISSING}
    values |= {name: default for name, (_, _, default) in declared.items() if default is not MISSING}
    for name, (type_, required, _) in declared.items():
        if required and name not in given:
            faults.append(f"input `{name}` ({type_.text}) is missing")
    types = {key.name: type_of(key.type) for key in interface.keys} | {n: t for n, (t, _, _) in declared.items()}
    for name, value in {**values, **given}.items():
        type_ = types.get(name, ANY)
        try:
            values[name] = freeze(validator(type_)(value), type_)
        except TypeMismatch as error:
            faults.append(f"input `{name}` is no {type_.text}: {error}")
    if faults:
        raise UsageError(f"`{graph.name}` cannot start: " + "; ".join(faults))
    return values


def _refused(graph: Graph, name: Any, declared: Mapping[str, Any]) -> list[str]:
    if not isinstance(name, str):
        return [f"input names are strings, got {name!r}"]
    if name in declared or name == MESSAGE:
        return []
    if graph.interface.inputs is not None:
        near = closest(name, declared)
        hint = f"; did you mean `{near}`" if near else f"; it takes {', '.join(declared) or 'none'}"
        return [f"there is no input `{name}`{hint}"]
    writer = next((n.id for n in graph.nodes.values() if any(w.key == name for w in n.contract.writes)), None)
    declared_key = any(key.name == name for key in graph.interface.keys)
    if writer is not None and not declared_key:
        return [f"`{name}` is written by `{writer}`, so it can be given only if it is declared as an input"]
    return []


def chosen_models(graph: Graph, default: str | Model | None, replaced: Mapping[str, str | Model]) -> dict[str, Model]:
    """Find the model of each model agent.

    Args:
        graph: the flow's graph.
        default: the flow's model.
        replaced: node path, agent name or "*" -> model name or object, in place of what agents name.

    Returns:
        Node path -> model.

    Raises:
        UsageError: a name that fits nothing, or an agent that cannot be run; all of it is named.
    """
    tasks = {n.id: n for n in graph.nodes.values() if isinstance(n, Task) and n.kind == "model"}
    names = {id_: id_.rpartition("/")[2] for id_ in tasks}
    unknown = [name for name in replaced if name != "*" and name not in tasks and name not in names.values()]
    if unknown:
        near = closest(unknown[0], [*names.values(), *tasks])
        raise UsageError(
            f"models= names `{unknown[0]}`, which is no model agent of `{graph.name}`"
            + (f"; did you mean `{near}`" if near else f"; there are {', '.join(names.values()) or 'none'}")
        )
    resolved: dict[str, Model] = {}
    faults: list[str] = []
    for id_, task in tasks.items():
        refusal = getattr(task.body, "refusal", None)
        if refusal is not None:
            faults.append(f"`{id_}`: {refusal}")
            continue
        own = getattr(task.body, "model", None)
        chosen = next((replaced[n] for n in (id_, names[id_], "*") if n in replaced), default if own is None else own)
        try:
            if chosen is None:
                raise UsageError("no model: give one with model=, Flow(model=) or run(models=)")
            resolved[id_] = resolve_model(chosen)
        except UsageError as error:
            faults.append(f"`{id_}`: {error}")
    if faults:
        raise UsageError(f"`{graph.name}` cannot start: " + "; ".join(faults))
    return resolved
