"""Follows methods of the values that are followed, and what Python's own functions make of them.

::

    state.get("a"); state.update({"b": 1}); keys.append("c")     # reads a, optional; writes b; keys holds c too

A method of the state that looks at all of it makes the contract open.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from graphflow.contracts.calling import Arguments, Calling
from graphflow.contracts.constants import combined, constant, plain_text, text_method
from graphflow.contracts.values import (
    UNKNOWN,
    Atom,
    Constant,
    Flow,
    Known,
    Listed,
    Made,
    Mapped,
    Pairs,
    Several,
    Thing,
    Value,
    join,
    unite,
)  # fmt: skip

_ROWS = frozenset({"list", "tuple", "set", "frozenset", "sorted", "reversed"})
_REVEALING = frozenset({"locals", "vars", "eval", "exec"})


class Methods(Calling):
    """Follows calls of methods and of Python's own functions."""

    def method(self, atom: Atom, name: str, given: Arguments, node: ast.Call, flow: Flow) -> Value:
        """See `Calling`."""
        match atom:
            case Known.STATE:
                return self._of_state(name, given, node, flow)
            case Known.DELTA:
                return self._of_delta(name, given, node, flow)
            case Known.CONTEXT:
                self.elsewhere(name, given, node, flow)
                return (Known.CHILD_EVENTS,) if name == "run" else UNKNOWN
            case Made(site=site):
                content = flow.heap.get(site)
                if isinstance(content, Listed):
                    return self._of_list(atom, content, name, given, node, flow)
                if isinstance(content, Mapped):
                    return self._of_mapping(atom, content, name, given, node, flow)
            case Pairs(items=items):
                content = Mapped({key: (value, True) for key, value in items})
                return self._of_mapping(None, content, name, given, node, flow)
            case Constant() if not given.more and not given.named:
                for value in given.all:
                    self.escape(value, node, flow)
                rows = [self._row_of(value, flow) for value in given.positional]
                return text_method(atom, name, rows)
            case Thing() if name == "fromkeys" and given.positional:
                return self._from_keys(given, node, flow)
            case _:
                pass
        return self.elsewhere(name, given, node, flow)

    def _row_of(self, value: Value, flow: Flow) -> Value:
        items = self.items_of(value, flow) if any(isinstance(atom, Made) for atom in value) else None
        return (Several(tuple(items)),) if items is not None else value

    def _of_state(self, name: str, given: Arguments, node: ast.Call, flow: Flow) -> Value:
        key = given.positional[0] if given.positional else given.named.get("key", ())
        for value in given.all[1:]:
            self.escape(value, node, flow)
        match name:
            case "get" | "setdefault" | "pop" | "read" | "__contains__" | "__getitem__" | "__setitem__" if key:
                if name != "__setitem__":
                    alone = len(given.all) == 1
                    required = name == "__getitem__" or (name == "pop" and alone)
                    self.read(key, node, flow, optional=not required)
                if name in ("setdefault", "pop", "__setitem__"):
                    self.write(key, node, flow, sure=name == "__setitem__")
            case "update" if not given.more and len(given.positional) < 2:
                if given.positional:
                    self._write_items(key, node, flow)
                for each in given.named:
                    self.write((constant(each),), node, flow)
            case _:
                self.unknown("it uses `{}`", node)
        return UNKNOWN

    def _write_items(self, value: Value, node: ast.Call, flow: Flow) -> None:
        """Take down an update of the state from a mapping, or from pairs."""
        pairs = self.items_of(value, flow) if self.pairs_of(value, flow) is None else None
        split = [self.items_of(pair, flow) for pair in pairs or ()]
        if pairs is None or any(pair is None or len(pair) != 2 for pair in split):
            self.write_all(value, node, flow)
            return
        for pair in split:
            if pair is not None:
                self.escape(pair[1], node, flow)
                self.write(pair[0], node, flow)

    def _of_delta(self, name: str, given: Arguments, node: ast.Call, flow: Flow) -> Value:
        if name in ("update", "setdefault", "__setitem__"):
            return self._of_state(name, given, node, flow)
        if name in ("pop", "clear", "popitem"):
            self.unknown("it uses `{}`", node)
        return self.elsewhere(name, given, node, flow)

    def _of_list(self, atom: Made, content: Listed, name: str, given: Arguments, node: ast.Call, flow: Flow) -> Value:
        exact = content.exact and atom.site not in flow.shared and not given.more
        match name:
            case "append" | "add" if len(given.positional) == 1:
                items = (*content.items, given.positional[0])
                flow.heap[atom.site] = Listed(items, exact and name == "append")
                return UNKNOWN
            case "extend" | "update" if len(given.positional) == 1:
                more = self.items_of(given.positional[0], flow)
                some = more if more is not None else [self.some_of(given.positional[0], flow)]
                flow.heap[atom.site] = Listed((*content.items, *some), exact and more is not None and name == "extend")
                return UNKNOWN
            case "copy":
                return self.make(content, node, flow)
            case "index" | "count" | "union" | "intersection" | "difference":
                return self.elsewhere(name, given, node, flow)
        for value in given.all:
            self.escape(value, node, flow)
        some_item = unite(*content.items)
        flow.heap[atom.site] = Listed((unite(some_item, *given.positional) or UNKNOWN,), exact=False)
        return some_item or UNKNOWN

    def _of_mapping(
        self, atom: Made | None, content: Mapped, name: str, given: Arguments, node: ast.Call, flow: Flow
    ) -> Value:
        key = given.positional[0] if given.positional else ()
        exact = not content.rest and all(there for _, there in content.items.values())
        keys: list[Value] = [(each,) for each in content.items]
        values = [held for held, _ in content.items.values()]
        rest: list[Value] = [UNKNOWN] if content.rest else []
        match name:
            case "keys":
                return self.make(Listed((*keys, *rest), exact), node, flow)
            case "values":
                return self.make(Listed((*values, *([content.rest] if rest else [])), exact), node, flow)
            case "items":
                pairs: list[Value] = [(Several(pair),) for pair in zip(keys, values, strict=True)]
                more: list[Value] = [(Several((UNKNOWN, content.rest)),)] if rest else []
                return self.make(Listed((*pairs, *more), exact), node, flow)
            case "get" if key:
                found = [content.items[each][0] for each in key if isinstance(each, Constant) and each in content.items]
                return unite(*found, content.rest, *given.positional[1:], UNKNOWN)
            case "copy":
                return self.make(content, node, flow)
            case "update" if atom is not None and not given.more and len(given.positional) < 2:
                more_items = self.with_item(content, (), key, flow) if key else content
                for each, value in given.named.items():
                    more_items = more_items.put(constant(each), value, sure=True)
                flow.heap[atom.site] = more_items if atom.site not in flow.shared else _loose(more_items)
                return UNKNOWN
            case "setdefault" if atom is not None and len(given.positional) == 2:
                flow.heap[atom.site] = self._with_default(content, key, given.positional[1], flow)
                return UNKNOWN
            case _ if atom is not None:
                for value in given.all:
                    self.escape(value, node, flow)
                flow.heap[atom.site] = _loose(content)
        return unite(*values, content.rest, UNKNOWN)

    def _with_default(self, content: Mapped, key: Value, value: Value, flow: Flow) -> Mapped:
        if len(key) == 1 and isinstance(key[0], Constant) and not content.rest:
            old, there = content.items.get(key[0], ((), False))
            return content.put(key[0], old if there else unite(old, value), sure=True)
        return self.with_item(content, key, value, flow, sure=False) if key else replace(content, rest=UNKNOWN)

    def _from_keys(self, given: Arguments, node: ast.Call, flow: Flow) -> Value:
        items = self.items_of(given.positional[0], flow)
        value = given.positional[1] if len(given.positional) > 1 else (constant(None),)
        made = Mapped() if items is not None else Mapped(rest=UNKNOWN)
        for item in items or ():
            made = self.with_item(made, item, value, flow)
        return self.make(made, node, flow)

    def builtin(self, name: str, given: Arguments, node: ast.Call, flow: Flow) -> Value | None:
        """See `Calling`."""
        if name in _REVEALING and not (name == "vars" and given.all):
            self.unknown("it uses `{}`", node)
        if name == "getattr" and len(given.positional) > 1:
            return self._attribute_named(given, node, flow)
        if name == "setattr" and len(given.positional) == 3:
            return self._set_named(given, node, flow)
        if name in ("map", "filter") and len(given.positional) == 2 and not given.more:
            return self._mapped(name, given, node, flow)
        if name in ("sorted", "min", "max") and "key" in given.named and given.positional:
            self._mapped("map", Arguments([given.named.pop("key"), given.positional[0]]), node, flow)
            given.named.pop("reverse", None)
        if name == "zip":
            given.named.pop("strict", None)
        if given.more or (given.named and name != "dict"):
            return None
        if name == "dict" and len(given.positional) < 2:
            made = self.with_item(Mapped(), (), given.positional[0], flow) if given.positional else Mapped()
            if made.rest and not self.pairs_of(given.positional[0], flow):
                return None
            for key, value in given.named.items():
                made = made.put(constant(key), value, sure=True)
            return self.make(made, node, flow)
        rows = [self.items_of(value, flow) for value in given.positional]
        if name in _ROWS and not given.positional:
            return self.make(Listed(), node, flow) if name != "tuple" else (Several(()),)
        if name == "str" and len(rows) == 1:
            self.escape(given.positional[0], node, flow)
            return combined(given.positional, plain_text)
        known = [row for row in rows if row is not None]
        if not rows or (len(known) < len(rows) and name not in (*_ROWS, "enumerate", "zip")):
            return None
        if len(known) < len(rows):
            some = [self._some(value, node, flow) for value in given.positional]
            item = some[0] if name in _ROWS else (Several((UNKNOWN, some[0]) if name == "enumerate" else tuple(some)),)
            return self.make(Listed((item,), exact=False), node, flow)
        return self._of_rows(name, known, node, flow)

    def _some(self, value: Value, node: ast.AST, flow: Flow) -> Value:
        """Follow the taking of all items of a value; give what one of them may be."""
        found: list[Value] = []
        self.iterate(value, flow, lambda item, _: found.append(item), node)
        return unite(*found) or UNKNOWN

    def _mapped(self, name: str, given: Arguments, node: ast.Call, flow: Flow) -> Value:
        """Follow a function that is called with each item: as if nobody may ask for the results."""
        func, items = given.positional
        found: list[Value] = []

        def step(item: Value, one: Flow) -> None:
            made = self.each(func, one, lambda atom, at: self.apply(atom, "", Arguments([item]), node, at))
            found.append(made if name == "map" else item)

        way = flow.copy()
        self.iterate(items, way, step, node)
        flow.become(join([flow, way]))
        return self.make(Listed((unite(*found),), exact=False), node, flow)

    def _of_rows(self, name: str, rows: list[list[Value]], node: ast.Call, flow: Flow) -> Value | None:
        first = rows[0]
        match name:
            case "list" | "tuple" if len(rows) == 1:
                return self.make(Listed(tuple(first)), node, flow)
            case "reversed":
                return (Several(tuple(first[::-1])),)
            case "sorted" if all(len(item) == 1 and _is_text(item[0]) for item in first):
                return (Several(tuple(sorted(first, key=lambda item: str(getattr(item[0], "value", ""))))),)
            case "set" | "frozenset" | "sorted":
                unique = tuple(dict.fromkeys(first))
                return self.make(Listed(unique, exact=len(unique) == 1), node, flow)
            case "enumerate":
                start = rows[1:] == []
                return (
                    Several(tuple((Several(((constant(i),) if start else UNKNOWN, x)),) for i, x in enumerate(first))),
                )
            case "zip":
                return (Several(tuple((Several(pair),) for pair in zip(*rows, strict=False))),)
        return None

    def _attribute_named(self, given: Arguments, node: ast.Call, flow: Flow) -> Value:
        owner, name = given.positional[:2]
        if len(name) != 1 or not isinstance(name[0], Constant) or type(name[0].value) is not str:
            self.escape(owner, node, flow)
            return UNKNOWN
        found = name[0].value
        value = self.each(owner, flow, lambda atom, one: self.attribute_of(atom, found, node, one))
        return unite(value, *given.positional[2:])

    def _set_named(self, given: Arguments, node: ast.Call, flow: Flow) -> Value:
        owner, name, value = given.positional
        if len(name) != 1 or not isinstance(name[0], Constant) or type(name[0].value) is not str:
            self.escape(owner, node, flow)
            self.escape(value, node, flow)
            return UNKNOWN
        found = name[0].value
        return self.each(owner, flow, lambda atom, one: self.set(atom, found, value, node, one))


def _loose(content: Mapped) -> Mapped:
    """A mapping of which items may have gone."""
    return replace(content, items={key: (held, False) for key, (held, _) in content.items.items()})


def _is_text(atom: Atom) -> bool:
    return isinstance(atom, Constant) and type(atom.value) is str
