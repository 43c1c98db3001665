"""Evaluating conditions.

A condition is compiled once into nested functions, so that a loop does not walk the tree again in every iteration::

    test = compile_condition(key("score") < 0.8)
    test({"score": 0.5}.get)                    # True

`&` and `|` go from left to right and stop early; a required value that is absent raises.
"""

from __future__ import annotations

import inspect
import operator
import re
from collections.abc import Callable, Container, Mapping, Sized
from types import MappingProxyType
from typing import Any, TypeAlias

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
    Operator,
    Or,
    Ref,
    text,
)
from graphflow.conditions.values import ConditionError, field_of, is_case
from graphflow.errors import AbsentKeyError, InternalError
from graphflow.schema import MISSING

Reader: TypeAlias = Callable[[str], object]
"""Gives the value of a key, MISSING if it has none."""

_Test: TypeAlias = Callable[[Reader], bool]
_Value: TypeAlias = Callable[[Reader], object]


def _not_in(member: object, container: Container[object]) -> bool:
    return member not in container


def _in(member: object, container: Container[object]) -> bool:
    return member in container


_OPERATIONS: Mapping[Operator, Callable[[Any, Any], object]] = MappingProxyType(
    {
        "==": operator.eq,
        "!=": operator.ne,
        "<": operator.lt,
        "<=": operator.le,
        ">": operator.gt,
        ">=": operator.ge,
        "in": _in,
        "not in": _not_in,
        "contains": operator.contains,
    }
)


def evaluate(condition: Condition, read: Reader) -> bool:
    """Say whether a condition holds.

    Args:
        condition: the condition.
        read: gives the value of a key, MISSING if it has none.

    Raises:
        AbsentKeyError: a key or field that has to be there is not.
        ConditionError: the values found cannot be compared, or are no text, or have no length.
    """
    return compile_condition(condition)(read)


def compile_condition(condition: Condition) -> Callable[[Reader], bool]:
    """Prepare a condition for being evaluated many times.

    Args:
        condition: the condition.

    Returns:
        A function from a reader (key -> value or MISSING) to the answer; it raises what `evaluate` raises, and what a
        function that is a condition raises.
    """
    match condition:
        case Operand():
            return _compile_truth(condition)
        case Compare():
            return _compile_compare(condition)
        case Exists(ref):
            return lambda read: field_of(read(ref.name), ref.path) is not MISSING
        case Matches():
            return _compile_matches(condition)
        case Is(ref, case_value):
            value = _compile_ref(ref)
            return lambda read: is_case(value(read), case_value)
        case And(left, right):
            first, second = compile_condition(left), compile_condition(right)
            return lambda read: first(read) and second(read)
        case Or(left, right):
            first, second = compile_condition(left), compile_condition(right)
            return lambda read: first(read) or second(read)
        case Not(operand):
            inner = compile_condition(operand)
            return lambda read: not inner(read)
        case Call():
            return _compile_call(condition)
    raise InternalError(f"no way to evaluate a condition of kind {type(condition).__name__}")


def _compile_ref(ref: Ref) -> _Value:
    name, path = ref.name, ref.path

    def value_of(read: Reader) -> object:
        value = read(name)
        if value is MISSING:
            raise AbsentKeyError(name)
        if path:
            value = field_of(value, path)
            if value is MISSING:
                raise AbsentKeyError(text(ref))
        return value

    return value_of


def _compile_operand(operand: Operand | Literal, whole: Condition) -> _Value:
    if isinstance(operand, Literal):
        constant = operand.value
        return lambda _: constant
    if isinstance(operand, Ref):
        return _compile_ref(operand)
    assert isinstance(operand, Length)
    value_of = _compile_ref(operand.ref)

    def length_of(read: Reader) -> object:
        value = value_of(read)
        if not isinstance(value, Sized):
            raise ConditionError(text(whole), "there is no length of", value)
        return len(value)

    return length_of


def _compile_truth(operand: Operand) -> _Test:
    value_of = _compile_operand(operand, operand)
    return lambda read: bool(value_of(read))


def _compile_compare(condition: Compare) -> _Test:
    operation = _OPERATIONS[condition.op]
    left_of = _compile_operand(condition.left, condition)
    right_of = _compile_operand(condition.right, condition)

    def holds(read: Reader) -> bool:
        left, right = left_of(read), right_of(read)
        try:
            return bool(operation(left, right))
        except TypeError as error:
            raise ConditionError(text(condition), f"`{condition.op}` is not possible between", left, right) from error

    return holds


def _compile_matches(condition: Matches) -> _Test:
    value_of, pattern = _compile_ref(condition.ref), re.compile(condition.pattern)

    def holds(read: Reader) -> bool:
        value = value_of(read)
        if not isinstance(value, str):
            raise ConditionError(text(condition), "`matches` needs text and found", value)
        return pattern.search(value) is not None

    return holds


def _compile_call(condition: Call) -> _Test:
    def holds(read: Reader) -> bool:
        arguments: dict[str, object] = {}
        for parameter in condition.reads:
            value = read(parameter.key)
            if value is not MISSING:
                arguments[parameter.parameter] = value
            elif not parameter.optional:
                raise AbsentKeyError(parameter.key)
        answer = condition.func(**arguments)
        if inspect.isawaitable(answer) or isinstance(answer, Condition):
            raise ConditionError(text(condition), "the function has to answer with true or false, it gave", answer)
        return bool(answer)

    return holds
