"""Comparisons of conditions that cannot come out as they read, because a key never holds such a value.

::

    # count: int
    misfits(facts, header, key("count") == "3")      # Misfit(key("count"), "int", "never equals '3'")

A comparison is judged by the types that the key may have where the condition is asked; if one of them fits, it is fine.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from graphflow.analysis import kinds
from graphflow.analysis.facts import Facts
from graphflow.conditions import And, Compare, Condition, Length, Literal, Matches, Not, Or, Ref
from graphflow.ir.nodes import Branch, LoopHeader, Node
from graphflow.schema import Type, type_of


@dataclass(frozen=True, slots=True)
class Misfit:
    """A comparison that no value of a key makes sense in.

    Attributes:
        ref: the key, or the field of one.
        types: what the key may hold.
        why: what is wrong, as words that follow "which".
    """

    ref: Ref
    types: tuple[Type, ...]
    why: str


def conditions_of(node: Node) -> Sequence[Condition]:
    """Give the conditions that a node asks: of its arms, or its exit test."""
    if isinstance(node, Branch):
        return [arm.condition for arm in node.arms if arm.condition is not None]
    return [node.until] if isinstance(node, LoopHeader) and node.until is not None else []


def misfits(facts: Facts, node_id: str, condition: Condition) -> Iterator[Misfit]:
    """Find the comparisons of a condition that no value fits.

    Args:
        facts: about the graph.
        node_id: where the condition is asked.
        condition: the condition.
    """
    match condition:
        case And(left, right) | Or(left, right):
            yield from misfits(facts, node_id, left)
            yield from misfits(facts, node_id, right)
        case Not(operand):
            yield from misfits(facts, node_id, operand)
        case Compare():
            yield from _compared(facts, node_id, condition)
        case Matches(ref):
            types = _types(facts, node_id, ref)
            if types and not any(kinds.may_be_text(type_) for type_ in types):
                yield Misfit(ref, types, "is no text that could match a pattern")
        case Length(ref):
            yield from _measured(facts, node_id, ref)
        case _:
            return


def _compared(facts: Facts, node_id: str, test: Compare) -> Iterator[Misfit]:
    match test.left, test.right:
        case Ref() as ref, Literal(value):
            types = _types(facts, node_id, ref)
            why = _why(types, test.op, value) if types else ""
        case Length(ref), right:
            yield from _measured(facts, node_id, ref)
            number = not isinstance(right, Literal) or _fits([type_of(int)], test.op, right.value)
            types, why = _types(facts, node_id, ref), "" if number else "has a number as its length, nothing else"
        case Ref() as ref, Ref() as other:
            types, others = _types(facts, node_id, ref), _types(facts, node_id, other)
            meet = any(kinds.may_meet(one, two) for one in types for two in others)
            apart = test.op in ("==", "!=", "<", "<=", ">", ">=") and types and others and not meet
            shown = " | ".join(type_.text for type_ in others)
            why = f"never equals `{_name(facts, other)}`, which is {shown}" if apart else ""
        case _:
            return
    if why:
        yield Misfit(ref, types, why)


def _measured(facts: Facts, node_id: str, ref: Ref) -> Iterator[Misfit]:
    types = _types(facts, node_id, ref)
    if types and not any(kinds.may_have_length(type_) for type_ in types):
        yield Misfit(ref, types, "has no length")


def _fits(types: Sequence[Type], op: str, value: object) -> bool:
    return not _why(types, op, value)


def _why(types: Sequence[Type], op: str, value: object) -> str:
    """Say what is wrong with a comparison with a value, "" if nothing is."""
    if op in ("==", "!="):
        return "" if any(kinds.may_equal(type_, value) for type_ in types) else f"never equals {value!r}"
    if op in ("in", "not in") and isinstance(value, tuple):
        never = [each for each in value if not any(kinds.may_equal(type_, each) for type_ in types)]
        return f"never equals {', '.join(map(repr, never))}" if never else ""
    if op == "contains":
        return "" if any(kinds.may_contain(type_, value) for type_ in types) else f"cannot contain {value!r}"
    if op in ("<", "<=", ">", ">="):
        ordered = any(kinds.may_order(type_, value) for type_ in types)
        return "" if ordered else f"cannot be compared with {value!r} by `{op}`"
    return ""


def _types(facts: Facts, node_id: str, ref: Ref) -> tuple[Type, ...]:
    return tuple(facts.field_type(facts.key_type(node_id, ref.name), ref.path))


def _name(facts: Facts, ref: Ref) -> str:
    return ".".join((facts.local(ref.name), *ref.path))
