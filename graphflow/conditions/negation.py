"""The opposite of a condition.

::

    negate(key("score").in_([1, 2]))        # score not in [1, 2]
    negate(key("score") < 0.8)              # not score < 0.8: of a score that is no number neither holds
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from graphflow.conditions.tree import Compare, Condition, Operator

_OPPOSITE: Mapping[Operator, Operator] = MappingProxyType({"==": "!=", "!=": "==", "in": "not in", "not in": "in"})


def negate(condition: Condition) -> Condition:
    """Give the opposite; comparisons whose opposite is exact for every value are turned round, others wrapped.

    Args:
        condition: any condition.
    """
    if isinstance(condition, Compare) and condition.op in _OPPOSITE:
        return Compare(_OPPOSITE[condition.op], condition.left, condition.right)
    return ~condition
