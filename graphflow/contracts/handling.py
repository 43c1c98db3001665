"""Follows what is done with values: containers that are made and changed, the context's parts, what is handed out of sight.

A mapping that the function makes is followed until it is used as the writes of an event; what is handed to code that is not
read may be changed there, and a part of the context that is handed on makes the contract open::

    delta = {"status": "done"}; delta["score"] = 3; yield Event(actions=EventActions(state_delta=delta))

It knows no syntax but the places of what it takes down.
"""

from __future__ import annotations

import ast
from abc import abstractmethod
from dataclasses import replace

from graphflow.contracts.constants import constant
from graphflow.contracts.recording import Recording
from graphflow.contracts.values import (
    NONE,
    UNKNOWN,
    Atom,
    Constant,
    Content,
    Flow,
    Function,
    Generating,
    Inner,
    Known,
    Listed,
    Made,
    Mapped,
    Method,
    Pairs,
    Several,
    Site,
    Thing,
    Value,
    is_tracked,
    unite,
)  # fmt: skip

_SCALARS: dict[str, Value] = {"escalate": (Constant(bool, value=False),), "halt": NONE, "route": NONE}
_NAMES = {
    Known.CONTEXT: "context",
    Known.STATE: "state",
    Known.SESSION: "session",
    Known.ACTIONS: "actions",
    Known.DELTA: "writes",
}


class Handling(Recording):
    """Follows values. `path` has the calls and iterations that lead to the place that is followed."""

    path: tuple[object, ...] = ()

    @abstractmethod
    def let_run(self, inner: Inner | Generating, flow: Flow) -> None:
        """Follow a function that is handed to code that is not read: it may be called at any time."""

    def make(self, content: Content, node: ast.AST, flow: Flow) -> Value:
        """Follow the making of a container. One that is made again and may still be in use stands for both."""
        site: Site = (*self.path, id(node))
        if site in flow.heap and flow.reaches(site):
            content = flow.heap[site].united(content)
            flow.shared |= {site}
        flow.heap[site] = content
        return (Made(site),)

    def field_of(self, site: Site, content: Mapped, name: str, flow: Flow) -> Value:
        """Give a field of an event or of actions that the function makes; what it was not given is made now."""
        found = content.get(name)
        if found:
            return found
        if name == "actions" or name == "state_delta":
            part: Site = (*site, name)
            flow.heap[part] = Mapped(kind="EventActions" if name == "actions" else "dict")
            flow.heap[site] = content.put(constant(name), (Made(part),), sure=True)
            return (Made(part),)
        return _SCALARS.get(name, UNKNOWN)

    def set(self, atom: Atom, name: str, value: Value, node: ast.AST, flow: Flow) -> Value:
        """Follow the setting of an attribute."""
        match atom:
            case Known.CONTEXT if name == "route":
                self.route(value, flow)
            case Known.ACTIONS | Known.CHILD_ACTIONS if name in ("escalate", "halt"):
                self.request(name, value)
            case Known.ACTIONS if name == "state_delta":
                self.write_all(value, node, flow)
            case Known() if is_tracked((atom,)):
                self.unknown("it sets `{}`", node)
            case Made(site=site) if isinstance(content := flow.heap.get(site), Mapped) and content.kind != "dict":
                flow.heap[site] = content.put(constant(name), value, sure=site not in flow.shared)
            case _:
                if name in ("escalate", "halt"):
                    self.request(name, value)
                self.escape(value, node, flow)
        return UNKNOWN

    def put(self, atom: Atom, key: Value, value: Value, node: ast.AST, flow: Flow, *, weak: bool = False) -> Value:
        """Follow the setting of an item."""
        match atom:
            case Known.STATE:
                self.escape(value, node, flow)
                self.write(key, node, flow, sure=not weak)
            case Known.DELTA:
                self.escape(value, node, flow)
                self.write(key, node, flow, sure=not weak)
            case Made(site=site):
                content = flow.heap.get(site)
                if isinstance(content, Mapped) and content.kind == "dict":
                    flow.heap[site] = self.with_item(
                        content, key, value, flow, sure=not weak and site not in flow.shared
                    )
                elif isinstance(content, Listed):
                    flow.heap[site] = Listed((unite(*content.items, value),), exact=False)
            case _:
                self.escape(value, node, flow)
        return UNKNOWN

    def with_item(self, content: Mapped, key: Value, value: Value, flow: Flow, *, sure: bool = True) -> Mapped:
        """A mapping with an item; the key () stands for all items of the value, which is a mapping."""
        if not key:
            more = self.pairs_of(value, flow)
            if more is None:
                return replace(content, rest=UNKNOWN)
            for each, (held, there) in more.items.items():
                content = content.put(each, held, sure=sure and there)
            return replace(content, rest=unite(content.rest, more.rest))
        if not all(isinstance(atom, Constant) for atom in key):
            return replace(content, rest=unite(content.rest, value) or UNKNOWN)
        for atom in key:
            if isinstance(atom, Constant):
                content = content.put(atom, value, sure=sure and len(key) == 1)
        return content

    def pairs_of(self, value: Value, flow: Flow) -> Mapped | None:
        """Give what is in a mapping, whichever it is; None if it is not known to be one."""
        found: Mapped | None = None
        for atom in value:
            match atom:
                case Made(site=site) if isinstance(content := flow.heap.get(site), Mapped) and content.kind == "dict":
                    one = content
                case Pairs(items=items):
                    one = Mapped({key: (held, True) for key, held in items})
                case _:
                    return None
            united = one if found is None else found.united(one)
            found = united if isinstance(united, Mapped) else None
        return found

    def write_all(self, value: Value, node: ast.AST, flow: Flow) -> None:
        """Take down the writes of a mapping."""
        content = self.pairs_of(value, flow)
        if content is None or content.rest:
            self.unknown("it writes `{}`, whose keys are not written out,", node)
        for key, (held, sure) in (content.items if content is not None else {}).items():
            self.escape(held, node, flow)
            self.write((key,), node, flow, sure=sure)

    def take(self, value: Value, node: ast.AST, flow: Flow) -> None:
        """Take down what an event asks for that the agent's code yields."""
        for atom in value or UNKNOWN:
            content = flow.heap.get(atom.site) if isinstance(atom, Made) else None
            if atom is Known.CHILD_EVENT:
                self.facts.forwards = True
            elif isinstance(content, Mapped) and content.kind == "Event" and not content.rest:
                self._take_event(content, node, flow, sure=len(value) == 1)
            else:
                shown = node.value if isinstance(node, ast.Yield) and node.value is not None else node
                self.unknown("it yields `{}`, whose making cannot be read,", node, shown)

    def _take_event(self, content: Mapped, node: ast.AST, flow: Flow, *, sure: bool) -> None:
        route = content.get("route")
        if route and route != NONE:
            was = flow.routed
            self.route(tuple(atom for atom in route if atom not in NONE), flow)
            flow.routed = was or (flow.routed and sure and not set(route) & set(NONE))
        actions = content.get("actions")
        for atom in actions:
            held = flow.heap.get(atom.site) if isinstance(atom, Made) else None
            if isinstance(held, Mapped) and held.kind == "EventActions" and not held.rest:
                for name in ("escalate", "halt"):
                    self.request(name, held.get(name) or NONE)
                if delta := held.get("state_delta"):
                    before = flow.written
                    self.write_all(delta, node, flow)
                    flow.written = flow.written if sure and len(actions) == 1 else before
            elif atom is not Known.ACTIONS:
                self.unknown("it yields actions that are made elsewhere: `{}`", node)

    def escape(self, value: Value, node: ast.AST, flow: Flow) -> None:
        """Follow a value to where it is out of sight."""
        for atom in value:
            match atom:
                case Known() if is_tracked((atom,)):
                    self.unknown(f"it hands its {_NAMES[atom]} on: `{{}}`", node)
                case Method(owner=owner) if is_tracked((owner,)):
                    self.unknown("it hands a method of the state on: `{}`", node)
                case Several(items=items):
                    for item in items:
                        self.escape(item, node, flow)
                case Pairs(items=pairs):
                    for _, item in pairs:
                        self.escape(item, node, flow)
                case Inner() | Generating():
                    self.let_run(atom, flow)
                case Made(site=site) if site in flow.heap:
                    self._let_go(site, node, flow)
                case Constant() | Thing() | Function() | _:
                    pass

    def _let_go(self, site: Site, node: ast.AST, flow: Flow) -> None:
        """Follow a container to where it may be changed by anybody."""
        content = flow.heap.pop(site)
        match content:
            case Listed(items=items):
                for item in items:
                    self.escape(item, node, flow)
                flow.heap[site] = Listed((unite(*items, UNKNOWN),), exact=False)
            case Mapped(items=pairs, rest=rest):
                for held, _ in pairs.values():
                    self.escape(held, node, flow)
                self.escape(rest, node, flow)
                kept = {key: (unite(held, UNKNOWN), False) for key, (held, _) in pairs.items()}
                flow.heap[site] = replace(content, items=kept, rest=UNKNOWN)
