"""What types a key may have at a place: its declaration, else what the writes that reach the place write.

The list that a map collects has the elements of what its instances write, the item of a map the elements of its list::

    types.at("r/merge", "findings")     # [Type("list[Finding]")]

Nothing here says what fits what.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Mapping, Sequence

from graphflow.analysis import kinds
from graphflow.analysis.effects import Definition
from graphflow.ir.glue import Crossing
from graphflow.ir.graph import Graph
from graphflow.ir.nodes import Collect, Fork, Join, Task
from graphflow.schema import ANY, Failure, Key, Merge, Overwrite, Type, assignable, type_of
from graphflow.schema.types import bare, is_union

_KEEPING = (Merge.extend, Merge.union, Merge.sum, Merge.max, Merge.min, Merge.last)
"""The merges whose value is of the type of an update."""


class KeyTypes:
    """Answers about the types of keys.

    Args:
        graph: the program.
        keys: the declared keys by name.
        reaching: gives the writes of a key that a node may see.
        unknown: says whether an open contract may have written a key before a node.
    """

    def __init__(
        self,
        graph: Graph,
        keys: Mapping[str, Key],
        reaching: Callable[[str, str], Sequence[Definition]],
        unknown: Callable[[str, str], bool],
    ) -> None:
        self._graph = graph
        self._keys = keys
        self._reaching = reaching
        self._unknown = unknown
        self._known: dict[int, Type] = {}

    def at(self, node_id: str, key: str) -> Sequence[Type]:
        """Give the types that a key may have at a node, each once; nothing where no write reaches it."""
        declared = self._keys.get(key)
        if declared is not None and type_of(declared.type) != ANY:
            return [type_of(declared.type)]
        if self._unknown(node_id, key):
            return [ANY]
        return list(dict.fromkeys(self.seen(definition) for definition in self._reaching(node_id, key)))

    def read_as(self, node_id: str, key: str) -> Type:
        """Give what a reader finds in a key of a declared type: of a union, the members that writes before it may give."""
        declared = type_of(self._keys[key].type)
        hint = bare(declared.hint)
        writers = self._reaching(node_id, key)
        entered = not writers or any(definition.node == self._graph.entry for definition in writers)
        if entered or not is_union(hint) or self._keys[key].merge is not None or self._unknown(node_id, key):
            return declared
        members = [type_of(member) for member in typing.get_args(hint)]
        given = [type_ for definition in writers for type_ in _members(self.written(definition))]
        kept = [member for member in members if any(assignable(type_, member) for type_ in given)]
        return united(kept) if ANY not in given and kept else declared

    def written(self, definition: Definition) -> Type:
        """Give the type of what a write writes."""
        if definition.index not in self._known:
            self._known[definition.index] = definition.type  # for a map that reads its own list
            self._known[definition.index] = self._inferred(definition)
        return self._known[definition.index]

    def seen(self, definition: Definition) -> Type:
        """Give the type of what a reader of a write finds: for a key with a merge the value that updates make."""
        key, written = self._keys.get(definition.key), self.written(definition)
        if key is None or key.merge is None or definition.node == self._graph.entry or self.replaces(definition):
            return written
        if type_of(key.type) != ANY or written == ANY:
            return type_of(key.type)
        if key.merge == Merge.append:
            return _list_of(written)
        if key.merge == Merge.sum and bare(written.hint) is bool:
            return type_of(int)
        return written if key.merge in _KEEPING else ANY

    def replaces(self, definition: Definition) -> bool:
        """Say whether a write of a key with a merge is its new value, no update of it: what is carried into a sub-flow."""
        node = self._graph.nodes[definition.node]
        return isinstance(node, Task) and isinstance(node.body, Crossing) and definition.key in node.body.replaced

    def asked(self, definition: Definition) -> Type:
        """Give the type that a declaration asks of a write: of an update where the key has a merge; ANY if there is none."""
        key = self._keys.get(definition.key)
        declared = type_of(key.type) if key is not None else ANY
        if key is None or key.merge is None or declared == ANY or self.replaces(definition):
            return declared
        return key.merge.update_type(declared)

    def _inferred(self, definition: Definition) -> Type:
        return without_overwrite(self._carried(definition))

    def _carried(self, definition: Definition) -> Type:
        node = self._graph.nodes[definition.node]
        if isinstance(node, Fork) and node.group is not None and node.group.over is not None:
            over = node.group.over
            if definition.key == over.item:
                return united(self.element(type_) for type_ in self.fields(self.at(node.id, over.key), over.path))
        if (
            isinstance(node, Task)
            and isinstance(node.body, Crossing)
            and (definition.type == ANY or definition.key in node.body.replaced)
        ):
            source = node.body.keys.get(definition.key)
            if source is not None:
                return united(self.at(node.id, source))
        if isinstance(node, Join) and node.collect:
            part = next((part for part in node.collect if part.outer == definition.key), None)
            if part is not None:
                return self._collected(node, part, definition)
        return definition.type

    def _collected(self, node: Join, part: Collect, definition: Definition) -> Type:
        types = self.at(node.id, part.inner)
        forks = (fork for fork in self._graph.nodes.values() if isinstance(fork, Fork))
        group = next((fork.group for fork in forks if fork.group is not None and fork.group.join == node.id), None)
        inner = united(self.element(type_) for type_ in types) if part.flatten else united(types)
        if inner == ANY:
            return definition.type
        failing = group is not None and group.failures == "collect" and not part.flatten
        return _list_of(united([inner, type_of(Failure)]) if failing else inner)

    @staticmethod
    def element(type_: Type) -> Type:
        """Give the type of the elements of a list; ANY where it is not known."""
        hint = bare(type_.hint)
        arguments = typing.get_args(hint)
        return type_of(arguments[0]) if typing.get_origin(hint) is list and arguments else ANY

    @staticmethod
    def fields(types: Sequence[Type], path: Sequence[str]) -> Sequence[Type]:
        """Follow fields below types; what is not known becomes ANY."""
        return kinds.parts(types, path)


def without_overwrite(type_: Type) -> Type:
    """Leave out of a type as written that a task may replace the value of a key in place of updating it."""
    hint = bare(type_.hint)
    members = typing.get_args(hint) if is_union(hint) else (hint,)
    kept = [member for member in members if bare(member) is not Overwrite]
    if len(kept) == len(members):
        return type_
    return united(type_of(member) for member in kept)


def united(types: typing.Iterable[Type]) -> Type:
    """Give the union of types; ANY where one is not known, or there is none."""
    known = list(dict.fromkeys(types))
    if not known or ANY in known:
        return ANY
    if len(known) == 1:
        return known[0]
    return type_of(typing.Union[tuple(type_.hint for type_ in known)])  # noqa: UP007 - made of values


def _members(type_: Type) -> Sequence[Type]:
    hint = bare(type_.hint)
    return [type_of(member) for member in typing.get_args(hint)] if is_union(hint) else [type_]


def _list_of(type_: Type) -> Type:
    return type_of(list[type_.hint])  # type: ignore[name-defined]
