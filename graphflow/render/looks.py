"""What is written in each node and on each frame of a picture, and in their tooltips.

::

    looks = Looks(graph)
    looks.kind(node), looks.lines(node)      "model", ((Run("draft", "name"),), (Run("gemini", "small"),))

Names and texts are shortened in the picture and whole in the tooltips. Knows the graph, and neither findings nor lines.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import assert_never

from graphflow.ir.glue import Constants
from graphflow.ir.graph import Graph
from graphflow.ir.nodes import ROUTE, Branch, Entry, Exit, Fork, Join, LoopHeader, Node, Region, Task, agent_path
from graphflow.render.elements import Line, Run, clean, shorten
from graphflow.render.labels import KeyNames, fork_text, guard_text, local_name
from graphflow.render.routes import map_ends

NAME_LENGTH = 32
TYPE_LENGTH = 24
TEST_LENGTH = 36
TITLE_LENGTH = 60

AGENTS = frozenset({"model", "code", "ask", "gate"})
"""Kinds of nodes that stand for agents."""

_TASKS: Mapping[str, str] = {"model": "model", "ask": "ask", "glue": "glue"}
_DESCRIBED = frozenset({"conditional", "map", "parallel", "guard"})
"""Regions whose own label is not in the title: the diamond has it, or it is put together from the graph."""


class Looks:
    """Says what is written where.

    Args:
        graph: any graph.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._names = KeyNames(graph)
        self._map_ends = map_ends(graph)
        self._guards = {self._inside(region): self._tried(region) for region in _regions(graph, "guard")}
        self._several = {
            node.id.removesuffix("#route")
            for node in graph.nodes.values()
            if isinstance(node, Branch) and node.multiple and graph.regions[node.region].kind == "workflow"
        }

    def _inside(self, guard: Region) -> str:
        """Find what a guard is about: the region in it, else the node."""
        composite = next((item for item in guard.items if item in self._graph.regions), "")
        return composite or next((item for item in guard.items if agent_path(item) == item), "")

    def _tried(self, guard: Region) -> str:
        forks = [node for item in guard.items if isinstance(node := self._graph.nodes.get(item), Fork)]
        return next((text for fork in forks if (text := fork_text(self._graph, fork, self._names))), "")

    def guard(self, item: str) -> str:
        """Say how often and how long a composite, or a gate, is tried; "" if nothing is said about it."""
        return self._guards.get(item, "")

    def name(self, path: str) -> str:
        """Give the name of an agent, or of what graphflow added, as it is shown."""
        declaration = self._graph.declarations.get(path)
        name = declaration.name if declaration is not None else local_name(path)
        return shorten(name, NAME_LENGTH) or "(no name)"

    def kind(self, node: Node) -> str:
        """Give the kind that a node has in the picture; see `SceneNode`."""
        match node:
            case Entry():
                return "start"
            case Exit():
                return "end"
            case Task(kind="glue", fresh=fresh) if fresh is not None:
                return "port"
            case Task(kind=kind):
                return _TASKS.get(kind, "code")
            case Branch(halt=halt):
                return "branch" if halt is None else "gate"
            case LoopHeader(until=test) if test is not None:
                return "test"
            case LoopHeader() | Fork() | Join():
                return "each" if node.id in self._map_ends else "point"
            case _:
                assert_never(node)

    def lines(self, node: Node) -> tuple[Line, ...]:
        """Give the text in a node, line by line."""
        name: Line = (Run(self.name(node.id), "name"),)
        match node:
            case Task(fresh=fresh) if node.kind == "glue" and fresh is not None:
                return ()
            case Task():
                notes = [note for note in self._notes(node) if note]
                return (name, *((Run(shorten(note, TEST_LENGTH) or "?", "small"),) for note in notes))
            case Branch(halt=None):
                return ((Run(shorten(self._subject(node), TEST_LENGTH) or "?", "small"),),)
            case Branch():
                notes = [node.subject, self.guard(node.id)]
                return (name, *((Run(shorten(note, TEST_LENGTH) or "?", "small"),) for note in notes if note))
            case LoopHeader(until=test) if test is not None:
                return ((Run(shorten(self._names.test(test), TEST_LENGTH) or "?", "small"),),)
            case _:
                return ()

    def _notes(self, node: Task) -> Iterator[str]:
        yield clean(node.model or "")
        yield guard_text(node.retry, node.timeout)
        yield "one or more routes" if node.id in self._several else ""
        if isinstance(node.body, Constants):
            yield ", ".join(f"{clean(key)} = {_value(value)}" for key, value in node.body.values.items())

    def _subject(self, branch: Branch) -> str:
        return "route" if branch.subject.startswith(ROUTE) else self._names.shown(branch.subject)

    def title(self, region: Region) -> Line:
        """Give the words on a frame: what the composite is, its name, and how it is run."""
        runs = [Run(region.kind, "kind"), Run(self.name(region.id), "title")]
        notes = [] if region.kind in _DESCRIBED else [region.label]
        notes += [self._run_as(region), self.guard(region.id)]
        text = shorten("; ".join(note for note in notes if note), TITLE_LENGTH)
        return (*runs, *((Run(text, "small"),) if text else ()))

    def _run_as(self, region: Region) -> str:
        """Say how the branches of a parallel region, or the elements of a map, are run."""
        forks = [node for item in region.items if isinstance(node := self._graph.nodes.get(item), Fork)]
        grouped = (fork_text(self._graph, fork, self._names) for fork in forks)
        return next((text for text in grouped if text), "")

    def described(self, region: Region) -> str:
        """Give the tooltip of a frame."""
        notes = [f"{region.kind} {clean(region.id)}", clean(region.label), self._run_as(region), self.guard(region.id)]
        declaration = self._graph.declarations.get(region.id)
        notes.append(declaration.description if declaration is not None else "")
        return "\n".join(dict.fromkeys(clean(note) for note in notes if clean(note)))

    def facts(self, node: Node) -> Iterator[str]:
        """Give the lines of a node's tooltip."""
        match node:
            case Entry() | Exit():
                yield self.kind(node)
            case Task(kind=kind, model=model):
                yield f"{clean(node.id)} ({' '.join(part for part in (kind, clean(model or '')) if part)})"
                yield from (text for text in self._notes(node) if text and text != clean(model or ""))
            case Branch():
                yield f"{clean(node.id)}: {clean(self._subject(node))}"
            case LoopHeader():
                yield f"{clean(node.id)}: {clean(self._names.test(node.until))}"
            case _:
                yield clean(node.id)
        declaration = self._graph.declarations.get(node.id)
        if declaration is not None and declaration.description:
            yield clean(declaration.description)
        if isinstance(node, Branch) and node.halt is not None:
            yield f"else the run halts: {clean(node.halt.text)}"
        yield from self._keys(node)

    def _keys(self, node: Node) -> Iterator[str]:
        contract = node.contract
        reads = dict.fromkeys(
            typed(".".join((self._names.shown(r.key), *r.path)), r.type.text) + (" (optional)" if r.optional else "")
            for r in contract.reads
            if not r.implicit and not self._names.reserved(r.key)
        )
        yield from (f"reads {text}" for text in reads)
        for write in contract.writes:
            if not self._names.reserved(write.key):
                sure = "" if write.sure else " (may be left out)"
                yield f"writes {typed(self._names.shown(write.key), write.type.text)}{sure}"
        yield from (f"not known: {clean(reason)}" for reason in contract.open)
        yield from ("effect: " + contract.effect for _ in range(contract.effect != "none"))


def _regions(graph: Graph, kind: str) -> Iterator[Region]:
    return (region for region in graph.regions.values() if region.kind == kind)


def _value(value: object) -> str:
    return clean(repr(value)) if isinstance(value, (str, int, float, bool, type(None))) else "..."


def typed(key: str, type_: str) -> str:
    """Write a key with its type, in full; one that may be anything without.

    Args:
        key: its name.
        type_: the text of the type.
    """
    return clean(key) if type_ == "Any" else f"{clean(key)}: {clean(type_)}"
