"""Conditions over the state as data: what gates, cases and exit tests ask.

`key("score") < 0.8` does not compare, it builds a small tree that the checker reads, the runtime evaluates, the
pictures print and the journal can store::

    condition = (key("score") < 0.8) & ~key("approved")
    text(condition)                                             # '(score < 0.8 and not approved)'
    reads(condition)                                            # (('score', (), False), ('approved', (), False))
    evaluate(condition, {"score": 0.5, "approved": False}.get)  # True

Absence is never "false": a condition over a key without a value raises `AbsentKeyError`; `key("x").exists()` asks.
Since `==` on a key builds a condition, trees are compared by `same`. This package knows values and keys, never a graph
or a run.
"""

from graphflow.conditions.evaluation import Reader, compile_condition, evaluate
from graphflow.conditions.functions import CallRead
from graphflow.conditions.negation import negate
from graphflow.conditions.parsing import parse_condition
from graphflow.conditions.reading import reads
from graphflow.conditions.renaming import renamed
from graphflow.conditions.tree import (
    And,
    Call,
    Compare,
    Condition,
    Exists,
    Is,
    Length,
    Literal,
    Matches,
    Not,
    Operand,
    Or,
    Ref,
    as_condition,
    key,
    same,
    text,
)
from graphflow.conditions.values import ConditionError, field_of, is_case, value_text

__all__ = [
    "And",
    "Call",
    "CallRead",
    "Compare",
    "Condition",
    "ConditionError",
    "Exists",
    "Is",
    "Length",
    "Literal",
    "Matches",
    "Not",
    "Operand",
    "Or",
    "Reader",
    "Ref",
    "as_condition",
    "compile_condition",
    "evaluate",
    "field_of",
    "is_case",
    "key",
    "negate",
    "parse_condition",
    "reads",
    "renamed",
    "same",
    "text",
    "value_text",
]
