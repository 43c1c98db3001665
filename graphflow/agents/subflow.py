"""`SubFlow`: a whole flow as one stage, with its own keys.

::

    SubFlow("short", summarize, inputs={"text": "draft"}, outputs={"summary": "short_draft"})
    # short#inputs (draft -> short/text) -> the flow's agents -> short#outputs (short/summary -> short_draft)

In both mappings the names of the inner flow come first. Inside, every key has the sub-flow's path as its prefix, so that one
flow may stand many times; `user:` and `app:` keys are the same everywhere. It lowers to the inner agents between two tasks
that carry values over the border; it executes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Protocol, Unpack, runtime_checkable

from pydantic import BeforeValidator

from graphflow.agents.base import Agent
from graphflow.agents.options import Options
from graphflow.contracts.contract import Contract, Read, Write
from graphflow.ir.builder import Builder, Region
from graphflow.ir.glue import Crossing
from graphflow.ir.nodes import Interface, Task
from graphflow.ir.notes import Notes
from graphflow.ir.scoping import declared_names, scoped_key
from graphflow.schema import ANY, MISSING, Key, Type, type_of


@runtime_checkable
class Program(Protocol):
    """A complete flow, as far as a sub-flow needs it."""

    root: Agent
    interface: Interface
    model: Any


def _program(value: object) -> object:
    if isinstance(value, Program) and isinstance(value.root, Agent):
        return value
    hint = "; wrap it: Flow(agent)" if isinstance(value, Agent) else ""
    raise ValueError(f"takes a Flow{hint}")


def _mapping(value: object) -> dict[str, str]:
    pairs: object = {name: name for name in value} if isinstance(value, (list, tuple)) else value
    if isinstance(pairs, Mapping) and all(_is_name(name) and _is_name(outer) for name, outer in pairs.items()):
        return {str(name): str(outer) for name, outer in pairs.items()}
    raise ValueError("takes a mapping key of the inner flow -> key outside of it, or a list of keys called the same")


def _is_name(value: object) -> bool:
    return isinstance(value, str) and bool(value.removesuffix("?"))


Crossings = Annotated[dict[str, str], BeforeValidator(_mapping)]


class SubFlow(Agent):
    """Runs a flow as one stage. Its keys are its own: only what is mapped goes in and comes out.

    Args:
        name: see `Agent`.
        flow: the inner flow; it may stand at many places.
        inputs: key of the inner flow -> key outside of it. A declared input of the inner flow that is not mapped takes the
            key of the same name; an optional one, if there is one. `"draft?"` reads a key that may be absent.
        outputs: key of the inner flow -> key outside of it that is given its value; what is not mapped stays inside.
    """

    title: ClassVar[str] = "sub-flow"
    positional: ClassVar[tuple[str, ...]] = ("name", "flow")

    flow: Annotated[Any, BeforeValidator(_program)]
    inputs: Crossings = {}  # noqa: RUF012 - pydantic copies defaults
    outputs: Crossings = {}  # noqa: RUF012

    if TYPE_CHECKING:  # type checkers see what may be given without a name

        def __init__(
            self,
            name: str,
            flow: Program,
            *,
            inputs: Mapping[str, str] | Sequence[str] = ...,
            outputs: Mapping[str, str] | Sequence[str] = ...,
            **options: Unpack[Options],
        ) -> None: ...

    @property
    def notes(self) -> Notes:
        """The keys of the inner flow, where its state is closed."""
        interface: Interface = self.flow.interface
        return Notes(keys=declared_names(interface) if interface.closed else None)

    def lower(self, builder: Builder) -> Region:
        """The way in, the inner flow's agents, the way out."""
        region = builder.region("subflow")
        if self.flow.model is not None:
            region.model = self.flow.model
        border = _Border(self.flow.interface, region.scope, f"{region.id}/")
        builder.declare(border.keys())
        keys, defaults, contract = border.way_in(self.inputs)
        body = Crossing(keys, defaults, border.replaced(contract))
        enter = self._crossing(builder, "inputs", contract, body, border.prefix)
        inner = builder.place(self.flow.root, region, (), scope=border.prefix)
        keys, contract = border.way_out(self.outputs)
        leave = self._crossing(builder, "outputs", contract, Crossing(keys), border.prefix)
        region.edge(region.entry, enter)
        region.edge(enter, inner.entry)
        region.edge(inner.exit, leave)
        region.edge(leave, region.exit)
        return region

    def _crossing(self, builder: Builder, side: str, contract: Contract, body: Crossing, prefix: str) -> str:
        path = builder.here.id
        return builder.add_node(
            Task(f"{path}#{side}", path, contract, self.origin, kind="glue", fresh=prefix, body=body)
        )


@dataclass(frozen=True, slots=True)
class _Border:
    """What crosses into a flow and out of it, in the names of the graph.

    Attributes:
        interface: what the inner flow declares.
        outside: prefix of the keys around the sub-flow.
        prefix: prefix of the keys inside.
    """

    interface: Interface
    outside: str
    prefix: str

    def keys(self) -> Iterator[Key]:
        """The inner flow's declarations. What it persists when it runs alone ends with the stage."""
        for key in self.interface.keys:
            name = scoped_key(key.name, self.prefix)
            yield key if name == key.name else replace(key, name=name, default=MISSING, persist=False)

    def way_in(self, mapped: Mapping[str, str]) -> tuple[dict[str, str], dict[str, object], Contract]:
        """What is carried in: key written -> key read, key written -> default, and the contract of the task."""
        declared = {name: (type_, required) for name, type_, required, _ in self.interface.inputs or ()}
        defaults = self._defaults()
        keys: dict[str, str] = {}
        reads: dict[str, Read] = {}
        writes = {key: Write(key, self._written(key)) for key in defaults}
        for inner in dict.fromkeys((*(name.removesuffix("?") for name in mapped), *declared)):
            type_, required = declared.get(inner, (self._type(inner), True))
            said = mapped.get(inner, mapped.get(f"{inner}?"))
            optional = said.endswith("?") if said is not None else not required
            outer = scoped_key((said or inner).removesuffix("?"), self.outside)
            written = scoped_key(inner, self.prefix)
            read = Read(outer, type_, optional=optional, implicit=optional and said is None)
            reads[outer] = read if outer not in reads or not optional else reads[outer]
            if written == outer:
                continue
            keys[written] = outer
            sure = not optional or written in defaults
            writes[written] = Write(written, self._written(written, type_), sure)
        return keys, defaults, Contract(tuple(reads.values()), tuple(writes.values()))

    def way_out(self, mapped: Mapping[str, str]) -> tuple[dict[str, str], Contract]:
        """What is carried out: key written -> key read, and the contract of the task, which owes what the flow owes."""
        declared = {name: (type_, required) for name, type_, required in self.interface.outputs or ()}
        keys: dict[str, str] = {}
        reads: dict[str, Read] = {}
        writes: dict[str, Write] = {}
        for inner, (type_, required) in declared.items():
            name = scoped_key(inner, self.prefix)
            reads[name] = Read(name, type_, optional=not required)
        for said, target in mapped.items():
            inner = said.removesuffix("?")
            type_, required = declared.get(inner, (ANY, True))
            optional = said.endswith("?") or target.endswith("?") or not required
            name, outer = scoped_key(inner, self.prefix), scoped_key(target.removesuffix("?"), self.outside)
            type_ = type_ if type_ != ANY else self._type(inner)
            keys[outer] = name
            reads[name] = Read(name, type_, optional=optional)
            writes[outer] = Write(outer, type_, sure=not optional)
        return keys, Contract(tuple(reads.values()), tuple(writes.values()))

    def replaced(self, contract: Contract) -> frozenset[str]:
        """The keys with a merge among those that are carried in: what is carried is their value, no update."""
        merged = {scoped_key(key.name, self.prefix) for key in self.interface.keys if key.merge is not None}
        return frozenset(write.key for write in contract.writes if write.key in merged)

    def _defaults(self) -> dict[str, object]:
        """Values that are there before anything is carried in; those of shared keys are the outer flow's business."""
        found = {key.name: key.default for key in self.interface.keys}
        found |= {name: default for name, _, _, default in self.interface.inputs or () if default is not MISSING}
        scoped = {scoped_key(name, self.prefix): value for name, value in found.items() if value is not MISSING}
        return {name: value for name, value in scoped.items() if name.startswith(self.prefix)}

    def _type(self, inner: str) -> Type:
        return next((type_of(key.type) for key in self.interface.keys if key.name == inner), ANY)

    def _written(self, name: str, otherwise: Type = ANY) -> Type:
        """The type of an inner key, given by its name in the graph. What is carried in is its value, merge or not."""
        declared = (type_of(key.type) for key in self.interface.keys if scoped_key(key.name, self.prefix) == name)
        return next(declared, otherwise)
