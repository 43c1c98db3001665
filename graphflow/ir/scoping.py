"""Key scopes: a node of a sub-flow, with every key it names put under the sub-flow's prefix.

Keys that belong to the user or the application keep their names in every scope::

    scoped(Task("main/short/writer", ..., Contract(writes=(Write("draft"),))), "main/short/")    # writes main/short/draft

What a body sees stays as its author wrote it; `Task.scope` tells the runtime.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import assert_never

from graphflow import conditions
from graphflow.conditions import Condition
from graphflow.contracts.contract import Contract
from graphflow.ir.nodes import Branch, Entry, Exit, Fork, Group, Interface, Join, LoopHeader, Node, Over, Task
from graphflow.template import Template

SHARED = ("user:", "app:")
"""Prefixes of keys that are the same in every scope."""

Renamer = Callable[[str], str]


def scoped_key(name: str, prefix: str) -> str:
    """Give the name that a key of a scope has in the graph."""
    return name if not prefix or name.startswith(SHARED) else prefix + name


def local_key(name: str, prefix: str) -> str:
    """Give the name that a key of the graph has in a scope."""
    return name.removeprefix(prefix) if prefix else name


def declared_names(interface: Interface) -> frozenset[str]:
    """Name the keys that a flow declares, inputs included, as its own scope calls them."""
    return frozenset((*(key.name for key in interface.keys), *(name for name, *_ in interface.inputs or ())))


def scoped(node: Node, prefix: str) -> Node:
    """Put the keys of a node under a prefix.

    Args:
        node: as lowered, with the names its author used.
        prefix: the scope; "" leaves the node as it is.

    Returns:
        The node of the graph.
    """
    if not prefix:
        return node

    def name(key: str) -> str:
        return scoped_key(key, prefix)

    contract = _contract(node.contract, name)
    match node:
        case Entry() | Exit():
            return node
        case Task(output=output, route=route):
            return replace(
                node,
                contract=contract,
                output=name(output) if output else output,
                route=name(route) if route else route,
                scope=prefix,
            )
        case Branch(arms=arms, halt=halt):
            renamed = tuple(replace(arm, condition=_condition(arm.condition, name)) for arm in arms)
            return replace(node, contract=contract, arms=renamed, halt=_template(halt, name))
        case Fork(group=group):
            return replace(node, contract=contract, group=_group(group, name))
        case Join(exit_key=exit_key, collect=collect, gather=gather):
            return replace(
                node,
                contract=contract,
                exit_key=name(exit_key) if exit_key else exit_key,
                collect=tuple(replace(c, inner=name(c.inner), outer=name(c.outer)) for c in collect),
                gather=tuple(replace(part, key=name(part.key)) for part in gather),
            )
        case LoopHeader(until=until):
            return replace(node, contract=contract, until=_condition(until, name))
        case _:
            assert_never(node)


def _contract(contract: Contract, name: Renamer) -> Contract:
    return replace(
        contract,
        reads=tuple(replace(read, key=name(read.key)) for read in contract.reads),
        writes=tuple(replace(write, key=name(write.key)) for write in contract.writes),
    )


def _condition(condition: Condition | None, name: Renamer) -> Condition | None:
    return None if condition is None else conditions.renamed(condition, name)


def _template(template: Template | None, name: Renamer) -> Template | None:
    return None if template is None else template.renamed(name)


def _group(group: Group | None, name: Renamer) -> Group | None:
    if group is None or group.over is None:
        return group
    over = group.over
    return replace(
        group, over=Over(name(over.key), over.path, name(over.item), name(over.index) if over.index else over.index)
    )
