"""Types of what graphflow itself carries: the lists that maps collect, the values that cross the border of a sub-flow.

Their writers know no types; who wrote the values does, and values that JSON cannot hold as they are can be stored only with
their type::

    found: list[Finding] in each instance      ->      the collected key is list[list[Finding]]

It knows contracts and regions, not in which order anything runs; a type that is not certain stays open.
"""

from __future__ import annotations

import typing
from collections.abc import Iterable, Mapping
from dataclasses import replace

from graphflow.ir.glue import Crossing
from graphflow.ir.nodes import Collect, Fork, Join, Node, Task
from graphflow.schema import ANY, Failure, Key, Type, type_of
from graphflow.schema.types import bare


def with_carried_types(nodes: Mapping[str, Node], keys: Iterable[Key]) -> dict[str, Node]:
    """Give types to what maps collect and sub-flows carry.

    Args:
        nodes: in canonical order.
        keys: the declared keys.

    Returns:
        The same nodes in the same order.
    """
    declared = {key.name: type_of(key.type) for key in keys}
    typed = dict(nodes)
    writers: dict[str, list[str]] = {}
    for id_, node in nodes.items():
        for write in node.contract.writes:
            writers.setdefault(write.key, []).append(id_)
    failing = {
        node.group.join
        for node in nodes.values()
        if isinstance(node, Fork) and node.group is not None and node.group.failures == "collect"
    }

    def type_in(key: str, region: str, itself: str) -> Type:
        if declared.get(key, ANY) != ANY:
            return declared[key]
        found = {
            write.type
            for id_ in writers.get(key, ())
            if id_ != itself and (not region or id_.startswith(f"{region}/"))
            for write in typed[id_].contract.writes
            if write.key == key
        }
        return found.pop() if len(found) == 1 else ANY

    for id_, node in nodes.items():
        types: dict[str, Type] = {}
        match node:
            case Join(collect=collect, region=region):
                types = {c.outer: _list(type_in(c.inner, region, id_), c, collects=id_ in failing) for c in collect}
            case Task(body=Crossing(keys=carried)):
                types = {written: type_in(read, "", id_) for written, read in carried.items()}
            case _:
                continue
        writes = tuple(replace(w, type=_better(w.type, types.get(w.key, ANY))) for w in node.contract.writes)
        typed[id_] = replace(node, contract=replace(node.contract, writes=writes))
    return typed


def _better(own: Type, found: Type) -> Type:
    return found if found != ANY and own in (ANY, type_of(list)) else own


def _list(inner: Type, part: Collect, *, collects: bool) -> Type:
    """The type of a collected list, from that of the key in an instance."""
    element = inner.hint
    if part.flatten:
        arguments = typing.get_args(bare(element)) if typing.get_origin(bare(element)) is list else ()
        element = arguments[0] if arguments else typing.Any
    if collects:
        # With an unknown type a failure comes first, so that it is not taken for a mapping when it is read back.
        both = (Failure, element) if element is typing.Any else (element, Failure)
        element = typing.Union[both]  # noqa: UP007 - made of values
    return type_of(list) if element is typing.Any else type_of(list[element])  # type: ignore[valid-type]
