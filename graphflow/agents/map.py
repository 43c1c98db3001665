"""`MapAgent`: one agent for each element of a list, side by side.

::

    MapAgent("search", over="queries", item="query", agent=searcher, collect={"found": Flatten("notes")})
    # fork -body-> searcher -> join, once for each of `queries`; fork -empty-> join

It lowers to a fork over the list, the body and the join that makes the lists; it executes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Unpack

from pydantic import BeforeValidator, field_validator

from graphflow import conditions
from graphflow.agents.base import Agent, Child
from graphflow.agents.options import Count, Failures, RegionOptions, to_key
from graphflow.contracts.contract import Contract, Read, Write
from graphflow.ir.builder import Builder, Region
from graphflow.ir.nodes import BODY, EMPTY, Collect, Fork, Group, Join, Over
from graphflow.schema import ANY, type_of

LIST = type_of(list)
INDEX = type_of(int)


@dataclass(frozen=True, slots=True)
class Flatten:
    """In `MapAgent(collect=)`: the instances' values are lists, and the key is given them joined.

    Attributes:
        key: key that is given the joined list.
    """

    key: str

    def __post_init__(self) -> None:
        key: object = self.key
        if not isinstance(key, str) or not key:
            raise TypeError(f"Flatten takes the key that is given the joined list, got {self.key!r}")


def _collected(value: object) -> object:
    pairs = dict(value) if isinstance(value, Mapping) else {"": value}
    for inner, outer in pairs.items():
        if not isinstance(inner, str) or not inner or not isinstance(outer, (str, Flatten)) or not outer:
            raise ValueError(
                'takes a mapping key of an instance -> key of the list, such as {"result": "results"}, or Flatten(key)'
            )
    return pairs


class MapAgent(Agent):
    """Runs an agent once for each element of a list, side by side.

    Each instance sees the state as it was at the fork, its element and what it writes itself. Out of it come the collected
    keys and updates of keys with a merge, in the order of the list; whatever else it writes ends with it.

    Args:
        name: see `Agent`.
        over: the list: a key, or a field of one (`key("gaps").field("queries")`).
        item: key in which an instance finds its element.
        agent: what runs for each element.
        collect: key that instances write -> key that is given the list of their values, in the order of `over`;
            `{"found": Flatten("notes")}` joins lists into one.
        index: key in which an instance finds the 0-based place of its element; None (default): nowhere.
        max_concurrency: how many stages of all instances may run at once; None (default) means no cap.
        on_error: "fail" (default): a failed instance fails the map; "collect": `Failure(index, error)` stands in its place;
            or, as for every agent, what happens when the map has failed: an agent that runs instead, or key -> value to
            write.
    """

    title: ClassVar[str] = "map"

    over: Any
    item: str = "item"
    agent: Child
    collect: Annotated[dict[str, Any], BeforeValidator(_collected)] = {}  # noqa: RUF012 - pydantic copies defaults
    index: str | None = None
    max_concurrency: Count = None
    on_error: Failures = "fail"

    if TYPE_CHECKING:  # type checkers see what may be given without a name

        def __init__(
            self,
            name: str,
            *,
            over: Any,
            agent: Agent,
            item: str = "item",
            collect: Mapping[str, str | Flatten] = ...,
            index: str | None = None,
            max_concurrency: int | None = None,
            **options: Unpack[RegionOptions],
        ) -> None: ...

    @field_validator("over")
    @classmethod
    def _list(cls, value: object) -> conditions.Ref:
        return to_key(value)

    def children(self) -> Iterator[Agent]:
        """Yield the agent that runs for each element."""
        yield self.agent

    def lower(self, builder: Builder) -> Region:
        """Fork over the list, the body, a way past it for the empty list, join."""
        region = builder.region("map", self._label())
        join = f"{region.id}#join"
        fork = region.add(
            Fork(
                f"{region.id}#fork",
                region.id,
                Contract(reads=(self._read(),), writes=tuple(self._given())),
                self.origin,
                Group(
                    join,
                    over=Over(self.over.name, self.over.path, self.item, self.index),
                    failures="collect" if self.on_error == "collect" else "fail",
                    limit=self.max_concurrency,
                ),
            )
        )
        region.edge(region.entry, fork)
        part = region.child(self.agent, escalation=join if region.looped else ())
        region.edge(fork, part.entry, BODY)
        region.edge(part.exit, join)
        region.edge(fork, join, EMPTY)
        lists = self._lists()
        contract = Contract(
            tuple(Read(each.inner, LIST if each.flatten else ANY) for each in lists),
            tuple(Write(each.outer, LIST) for each in lists),
        )
        region.add(Join(join, region.id, contract, self.origin, collect=lists))
        region.edge(join, region.exit)
        builder.relay(join)
        return region

    def _read(self) -> Read:
        return Read(self.over.name, LIST, path=self.over.path)

    def _given(self) -> Iterator[Write]:
        yield Write(self.item)
        if self.index is not None:
            yield Write(self.index, INDEX)

    def _lists(self) -> tuple[Collect, ...]:
        return tuple(
            Collect(inner, outer.key, flatten=True) if isinstance(outer, Flatten) else Collect(inner, outer)
            for inner, outer in self.collect.items()
        )

    def _label(self) -> str:
        cap = f", {self.max_concurrency} at once" if self.max_concurrency is not None else ""
        return f"each {self.item} of {conditions.text(self.over)}{cap}"
