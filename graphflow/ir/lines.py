"""The grammar of a graph's text: one table for each kind of line, used for writing and for reading.

::

    task story/writer model "gemini-2.5-flash" retry 3 reads topic: str writes draft: str
    fork story/all#fork ends story/all#join over topics item=topic collects
    join story/all#join collects text -> texts

A new field of a node is a line in a table here; nothing else of the text form changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from graphflow import conditions
from graphflow.conditions import Is
from graphflow.contracts.contract import Read, Write
from graphflow.ir.codecs import (
    CONDITION,
    COUNT,
    FAULT_KIND,
    HALT,
    LABEL,
    MERGE,
    NAME,
    NUMBER,
    OPENED,
    PARENT,
    PATH,
    RETRY,
    TEXT,
    TYPE,
    VALUE,
)
from graphflow.ir.nodes import (
    Arm,
    Branch,
    Collect,
    Edge,
    Entry,
    Exit,
    Fault,
    Fork,
    Gathered,
    Group,
    Join,
    LoopHeader,
    Node,
    Over,
    Region,
    StateEdge,
    Task,
    agent_path,
)
from graphflow.ir.words import NO, Clause, Flag, Pair, Record, Several
from graphflow.schema import ANY, MISSING, Key, Type

UNSAID = ("the graph was read from text, which does not say why",)
"""Why a contract is open, where only that it is was read."""


@dataclass(frozen=True, slots=True)
class Input:
    """A declared input, as a record."""

    name: str
    type: Type
    required: bool = True
    default: object = MISSING


@dataclass(frozen=True, slots=True)
class Output:
    """A declared output, as a record."""

    name: str
    type: Type
    required: bool = True


def home(id_: str) -> str:
    """Give the region in which a node or region is expected by its id (`a/b#fork` in `a/b`, `a/b` in `a`)."""
    owner = agent_path(id_)
    return owner if owner != id_ else id_.rpartition("/")[0]


def _parent(region: Region) -> str | None:
    return region.id.rpartition("/")[0] if region.id else None


def _subject(branch: Branch) -> str:
    """Give what the first arm asks, which is what most branches are about."""
    first = next((arm.condition for arm in branch.arms if arm.condition is not None), None)
    if first is None:
        return ""
    return conditions.text(first.ref if isinstance(first, Is) else first)


def _has_cases(branch: Branch) -> bool:
    return any(isinstance(arm.condition, Is) for arm in branch.arms)


def _answers(node: Any) -> bool:
    return not (isinstance(node, Task) and node.kind == "model")


_READ = Record(
    Read(""),
    Clause("key path", codec=PATH, always=True),
    Clause("optional", "?"),
    Clause("type", ": ", TYPE, always=True),
    Clause("implicit", " implicit"),
)
_WRITE = Record(
    Write(""),
    Clause("key", codec=NAME, always=True),
    Clause("sure", "?", NO),
    Clause("type", ": ", TYPE, always=True),
)
_CONTRACT = (
    Clause("region", " within ", NAME, default=lambda node: home(node.id)),
    Clause("contract.reads", " reads ", Several(_READ)),
    Clause("contract.writes", " writes ", Several(_WRITE)),
    Clause("contract.escalates", " escalates"),
    Clause("contract.answers_when_escalating", " answered", default=_answers),
    Clause("contract.answers_when_escalating", " unanswered", NO, default=_answers),
    Clause("contract.halts", " halts"),
    Clause("contract.effect", " idempotent", Flag("idempotent")),
    Clause("contract.effect", " irreversible", Flag("irreversible")),
    Clause("contract.open", " open", Pair(lambda _: "", lambda _: UNSAID)),
)
_ID = Clause("id", " ", NAME, always=True)
_OVER = Record(
    Over(""),
    Clause("key path", codec=PATH, always=True),
    Clause("item", " item=", NAME),
    Clause("index", " index=", NAME),
)
_GROUP = Record(
    Group(""),
    Clause("join", codec=NAME, always=True),
    Clause("over", " over ", _OVER),
    Clause("need", " need=", COUNT),
    Clause("failures", " collects", Flag("collect")),
    Clause("limit", " limit=", COUNT),
    Clause("retry", " retry ", RETRY),
    Clause("timeout", " timeout=", NUMBER),
)
_COLLECT = Record(
    Collect("", ""),
    Clause("inner", codec=NAME, always=True),
    Clause("outer", " -> ", NAME, always=True),
    Clause("flatten", " flatten"),
)
_GATHERED = Record(
    Gathered("", "next", "", ""),
    Clause("source", codec=NAME, always=True),
    Clause("label", " [", LABEL),
    Clause("name", " -> ", NAME, always=True),
    Clause("key", " from ", NAME, always=True),
)
_ARM = Record(Arm(""), Clause("label", codec=TEXT, always=True), Clause("condition", " when ", CONDITION))
_NEXT_ARM = "\n  arm "

_TASK = Record(
    Task("", ""),
    _ID,
    Clause("kind", " ", NAME, always=True),
    Clause("model", ' "', OPENED),
    Clause("retry", " retry ", RETRY),
    Clause("timeout", " timeout=", NUMBER),
    Clause("output", " output=", NAME),
    Clause("route", " route=", NAME),
    Clause("fresh", " fresh=", NAME),
    Clause("scope", " scope=", NAME),
    *_CONTRACT,
)
_BRANCH = Record(
    Branch("", ""),
    _ID,
    Clause("halt", " halt", HALT),
    Clause("multiple", " multiple"),
    Clause("cases", " cases", default=_has_cases),
    Clause("cases", " conditions", NO, default=_has_cases),
    Clause("subject", " about ", TEXT, default=_subject),
    *_CONTRACT,
    Clause("arms", _NEXT_ARM, Several(_ARM, _NEXT_ARM)),
)
_FORK = Record(Fork("", ""), _ID, Clause("group", " ends ", _GROUP), *_CONTRACT)
_JOIN = Record(
    Join("", ""),
    _ID,
    Clause("exclusive", " exclusive"),
    Clause("exit_key", " exit_key=", NAME),
    Clause("collect", " collects ", Several(_COLLECT)),
    Clause("gather", " gathers ", Several(_GATHERED)),
    *_CONTRACT,
)
_LOOP = Record(
    LoopHeader("", ""),
    _ID,
    Clause("bound", " bound=", COUNT),
    Clause("until", " until ", CONDITION),
    Clause("exhausted", " or fail", Flag("fail")),
    *_CONTRACT,
)
NODES: Mapping[str, Record] = MappingProxyType(
    {
        "entry": Record(Entry("", ""), _ID, *_CONTRACT),
        "task": _TASK,
        "branch": _BRANCH,
        "fork": _FORK,
        "join": _JOIN,
        "loop": _LOOP,
        "exit": Record(Exit("", ""), _ID, *_CONTRACT),
    }
)
"""First word of a line -> how a node of that kind is written."""

INPUT = Record(
    Input("", ANY),
    Clause("name", " ", NAME, always=True),
    Clause("required", "?", NO),
    Clause("type", ": ", TYPE, always=True),
    Clause("default", " = ", VALUE),
)
KEY = Record(
    Key("_"),
    Clause("name", " ", NAME, always=True),
    Clause("type", ": ", TYPE, always=True),
    Clause("default", " = ", VALUE),
    Clause("merge", " merge=", MERGE),
    Clause("persist", " persist"),
)
OUTPUT = Record(
    Output("", ANY),
    Clause("name", " ", NAME, always=True),
    Clause("required", "?", NO),
    Clause("type", ": ", TYPE, always=True),
)
REGION = Record(
    Region("", "", None),
    _ID,
    Clause("kind", " ", NAME, always=True),
    Clause("label", ' "', OPENED),
    Clause("parent", " within ", PARENT, default=_parent),
)
ITEMS = Several(NAME)
EDGE = Record(
    Edge("", ""),
    Clause("source", " ", NAME, always=True),
    Clause("target", " -> ", NAME, always=True),
    Clause("label", " [", LABEL),
    Clause("back", " back"),
)
FAULT = Record(
    Fault("unknown-target", ""),
    Clause("kind", " ", FAULT_KIND, always=True),
    Clause("node", " ", NAME, always=True),
    Clause("subject", ' "', OPENED),
    Clause("related", " with ", Several(NAME)),
)
STATE = Record(
    StateEdge("", "", "", ANY),
    Clause("writer", " ", NAME, always=True),
    Clause("reader", " -> ", NAME, always=True),
    Clause("key", " ", NAME, always=True),
    Clause("type", ": ", TYPE, always=True),
)


def usual_items(nodes: Mapping[str, Node], regions: Mapping[str, Region]) -> dict[str, tuple[str, ...]]:
    """Give the items of each region as they follow from the order of the nodes; regions without nodes come last.

    Args:
        nodes: id -> node, in order.
        regions: id -> region.

    Returns:
        Region id -> ids of the nodes and regions directly inside.
    """
    items: dict[str, list[str]] = {id_: [] for id_ in regions}
    placed: set[str] = set()

    def place(region: str | None) -> None:
        while region in items and region not in placed:
            placed.add(region)
            around = regions[region].parent
            if around in items:
                items[around].append(region)
            region = around

    for node in nodes.values():
        place(node.region)
        if node.region in items:
            items[node.region].append(node.id)
    for id_ in regions:
        place(id_)
    return {id_: tuple(found) for id_, found in items.items()}
