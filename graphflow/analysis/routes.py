"""What routes a node of a free-form graph may choose, as far as types tell.

::

    default_beside(graph, branch)       # False where the routes are list[Literal["mail", "chat"]] and both have an arm

Nothing here knows paths or conditions other than cases.
"""

from __future__ import annotations

import typing

from graphflow.conditions import Is, is_case
from graphflow.ir.graph import Graph
from graphflow.ir.nodes import Branch
from graphflow.schema import ANY, Type, closed_values, type_of
from graphflow.schema.types import bare


def default_beside(graph: Graph, branch: Branch) -> bool:
    """Say whether a choice of several routes may take the default beside an arm: for a route that has no arm.

    Args:
        graph: the program.
        branch: a branch of which several arms may be taken.

    Returns:
        False only where the type of the routes is closed and all of them have arms; then an empty list takes the default.
    """
    key = branch.contract.reads[0].key
    declared = [type_of(each.type) for each in graph.interface.keys if each.name == key]
    writes = [write.type for node in graph.nodes.values() for write in node.contract.writes if write.key == key]
    cases = [arm.condition.value for arm in branch.arms if isinstance(arm.condition, Is)]
    for type_ in [each for each in declared if each != ANY] or writes:
        values = closed_values(_element(type_))
        if values is None or not all(any(is_case(value, case) for case in cases) for value in values):
            return True
    return not writes


def _element(type_: Type) -> Type:
    hint = bare(type_.hint)
    arguments = typing.get_args(hint)
    return type_of(arguments[0]) if typing.get_origin(hint) is list and arguments else ANY
