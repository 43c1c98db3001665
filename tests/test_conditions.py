"""Conditions are data: built by operators, read, printed and evaluated alike, and loud where Python would evaluate."""

from __future__ import annotations

import copy
import enum
import operator
import pickle
import typing
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pydantic import BaseModel

from graphflow.conditions import (
    And,
    Call,
    CallRead,
    Compare,
    Condition,
    ConditionError,
    Exists,
    Is,
    Length,
    Literal,
    Matches,
    Not,
    Or,
    Ref,
    as_condition,
    compile_condition,
    evaluate,
    is_case,
    key,
    negate,
    reads,
    same,
    text,
)
from graphflow.errors import AbsentKeyError, GraphflowError, UsageError
from graphflow.schema import MISSING, Key

NAMES = ("a", "b", "c")


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Size(enum.IntEnum):
    ONE = 1


class Kind(enum.StrEnum):
    RED = "red"


class Vendor(BaseModel):
    name: str
    limit: int | None = None


@dataclass
class Invoice:
    vendor: Vendor
    total: float


def holds(condition: Condition, **values: object) -> bool:
    return evaluate(condition, lambda name: values.get(name, MISSING))


# --- random trees ---------------------------------------------------------------------------------------------------

REFS = st.sampled_from(NAMES).map(key)
NUMBERS = st.integers(-2, 2)
COMPARISONS = st.sampled_from([operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge])
LEAVES = st.one_of(
    REFS,
    st.builds(lambda compare, ref, other: compare(ref, other), COMPARISONS, REFS, NUMBERS | REFS),
    st.builds(lambda ref, values: ref.in_(values), REFS, st.lists(NUMBERS, max_size=3)),
    st.builds(lambda ref, values: ref.not_in(values), REFS, st.lists(NUMBERS, max_size=3)),
    st.builds(Exists, REFS),
    st.builds(Is, REFS, NUMBERS | st.booleans()),
)
TREES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds(And, inner, inner),
        st.builds(Or, inner, inner),
        st.builds(Not, inner),
        st.builds(operator.invert, inner),
    ),
    max_leaves=10,
)
STATES = st.dictionaries(st.sampled_from(NAMES), NUMBERS)


def interpret(condition: Condition, state: dict[str, typing.Any]) -> bool | str:
    """What a condition means, written as directly as possible: the answer, or the key that is needed and absent."""
    try:
        return _interpret(condition, state)
    except KeyError as error:
        return str(error.args[0])


def _interpret(condition: Condition, state: dict[str, typing.Any]) -> bool:
    """What a condition means, written as directly as possible; KeyError where a value is absent."""
    match condition:
        case Ref(name, _):
            return bool(state[name])
        case Exists(ref):
            return ref.name in state
        case Is(ref, value):
            return type(state[ref.name]) is type(value) and state[ref.name] == value
        case Compare(op, Ref(name, _), right):
            left = state[name]
            other: typing.Any = right.value if isinstance(right, Literal) else state[typing.cast("Ref", right).name]
            return bool(eval(f"left {op} other", {"left": left, "other": other}))
        case And(left, right):
            return _interpret(left, state) and _interpret(right, state)
        case Or(left, right):
            return _interpret(left, state) or _interpret(right, state)
        case Not(operand):
            return not _interpret(operand, state)
    raise AssertionError(condition)


@given(TREES, STATES)
def test_a_condition_means_what_its_parts_mean(condition: Condition, state: dict[str, int]) -> None:
    def read(name: str) -> object:
        return state.get(name, MISSING)

    expected = interpret(condition, state)
    if isinstance(expected, str):
        for test in (condition, negate(condition), ~condition):
            with pytest.raises(AbsentKeyError) as raised:
                evaluate(test, read)
            assert raised.value.key == expected
        return
    assert evaluate(condition, read) is expected
    assert compile_condition(condition)(read) is expected
    assert evaluate(negate(condition), read) is (not expected)
    assert evaluate(~condition, read) is (not expected)
    assert evaluate(condition & ~condition, read) is False
    assert evaluate(condition | ~condition, read) is True


@given(TREES, STATES)
def test_reads_are_what_is_read(condition: Condition, state: dict[str, int]) -> None:
    listed = reads(condition)
    assert len({(name, path) for name, path, _ in listed}) == len(listed)
    asked: list[str] = []

    def read(name: str) -> object:
        asked.append(name)
        return state.get(name, MISSING)

    absent = ""
    try:
        evaluate(condition, read)
    except AbsentKeyError as error:
        absent = error.key
    assert set(asked) <= {name for name, _, _ in listed}
    assert not absent or (absent, (), False) in listed, "only a required read may fail"


@given(TREES)
def test_reads_are_listed_in_order_of_appearance(condition: Condition) -> None:
    names = [name for name, _, _ in reads(condition)]
    printed = [word for word in text(condition).replace("(", " ").replace(")", " ").split() if word in NAMES]
    assert names == list(dict.fromkeys(printed))


@given(TREES, TREES)
def test_conditions_are_printed_alike_exactly_if_they_are_built_alike(left: Condition, right: Condition) -> None:
    assert same(left, right) is (text(left) == text(right))
    assert same(left, left)
    if same(left, right):
        assert hash(left) == hash(right)


@given(TREES)
def test_copies_are_the_same(condition: Condition) -> None:
    for twin in (copy.deepcopy(condition), pickle.loads(pickle.dumps(condition))):
        assert same(twin, condition)
        assert hash(twin) == hash(condition)
        assert repr(twin) == text(condition)


@given(TREES)
def test_nothing_of_a_condition_can_be_changed(condition: Condition) -> None:
    with pytest.raises((AttributeError, TypeError)):
        condition.left = None  # type: ignore[attr-defined]  # the mistake under test


# --- absence --------------------------------------------------------------------------------------------------------


def test_absence_is_never_false() -> None:
    for condition in (key("a"), ~key("a"), key("a") != 1, key("a").in_([1]), key("a").not_in([1]), key("a").len() == 0):
        with pytest.raises(AbsentKeyError) as raised:
            holds(condition)
        assert raised.value.key == "a"
    assert holds(key("a").exists()) is False
    assert holds(key("a").exists(), a=None) is True, "None is a value"


def test_and_stops_at_the_first_false_and_or_at_the_first_true() -> None:
    assert holds((key("a") > 1) & (key("b") > 1), a=0) is False
    assert holds((key("a") > 1) | (key("b") > 1), a=2) is True
    assert holds(key("b").exists() & (key("b") > 1)) is False
    with pytest.raises(AbsentKeyError):
        holds((key("b") > 1) & key("b").exists())


@pytest.mark.parametrize(
    ("condition", "optional"),
    [
        (key("a").exists(), True),
        (key("a").exists() & (key("a") > 1), True),
        (~(~key("a").exists()) & key("a"), True),
        (~key("a").exists() | (key("a") > 1), True),
        (~(~key("a").exists() | key("x")) & key("a"), True),
        (key("a").exists() & (key("x") & key("a")), True),
        (key("x") & key("a").exists() & key("a"), True),
        ((key("a").exists() | (key("a").exists() & key("x"))) & key("a"), True),
        (key("a").field("t").exists() & (key("a").field("t") > 1), True),
        (key("a").exists() & as_condition(lambda a: a), True),
        (key("a").exists() | (key("a") > 1), False),
        (~key("a").exists() & (key("a") > 1), False),
        ((key("a").exists() | key("x")) & key("a"), False),
        (~(key("a").exists() & key("x")) | key("a"), True),
        ((key("a").exists() & key("x")) | key("a"), False),
        ((key("a") > 1) & key("a").exists(), False),
        ((~key("a").exists() & key("x")) | key("a"), False),
        ((~key("a").exists() & (key("x") | ~key("a").exists())) | key("a"), True),
        (((key("x") | ~key("a").exists()) & ~key("a").exists()) | key("a"), True),
        ((~key("a").exists() & ~key("a").exists()) | key("a"), True),
        ((key("a").exists() & key("a")) | (key("a") > 1), False),
    ],
    ids=lambda value: text(value) if isinstance(value, Condition) else "",
)
def test_a_read_guarded_by_exists_is_optional(condition: Condition, optional: bool) -> None:
    found = {name: flag for name, path, flag in reads(condition)}
    guarded = [flag for name, path, flag in reads(condition) if name == "a"]
    assert found["a"] is optional
    assert all(guarded) is optional


def test_a_missing_field_is_absent_and_exists_asks() -> None:
    total = key("invoice").field("vendor.limit")
    assert reads(total > 3) == (("invoice", ("vendor", "limit"), False),)
    for invoice in ({}, {"vendor": {}}, {"vendor": 3}, {"vendor": None}):
        with pytest.raises(AbsentKeyError) as raised:
            holds(total > 3, invoice=invoice)
        assert raised.value.key == "invoice.vendor.limit"
        assert holds(total.exists(), invoice=invoice) is False
    assert holds(total.exists()) is False
    with pytest.raises(AbsentKeyError) as raised:
        holds(total > 3)
    assert raised.value.key == "invoice"


def test_fields_go_through_models_dataclasses_and_mappings() -> None:
    invoice = Invoice(Vendor(name="Ada"), 3.5)
    assert holds(key("i").field("vendor").field("name") == "Ada", i=invoice)
    assert holds(key("i").field("total") > 3, i=invoice)
    assert holds(key("i").field("vendor.limit").exists(), i={"vendor": {"limit": None}})
    assert not holds(key("i").field("vendor.model_dump").exists(), i=invoice)
    assert not holds(key("i").field("__class__").exists(), i=invoice)


# --- operators ------------------------------------------------------------------------------------------------------


def test_members_lengths_patterns_and_other_keys() -> None:
    assert holds(key("a").in_({"x", "y"}), a="x")
    assert holds(key("a").not_in(["x"]), a="y")
    assert holds(key("a").in_(key("b")), a=1, b=[1, 2])
    assert holds(key("a").in_(["x"]), a=["unhashable"]) is False
    assert holds(key("a").contains("ell"), a="hello")
    assert holds(key("a").contains(key("b")), a=[1, 2], b=2)
    assert holds(key("a").len() > 2, a=[1, 2, 3])
    assert holds(key("a").len() == key("b").len(), a="ab", b=[1, 2])
    assert holds(key("a").matches(r"^\d+$"), a="123")
    assert not holds(key("a").matches(r"^\d+$"), a="12x")
    assert holds(key("a") == key("b"), a=[1], b=[1])
    assert holds((1 < key("a")) & (key("a") <= 3), a=3)  # noqa: SIM300 - the reflected operator
    assert holds(key("a") < Decimal("0.8"), a=Decimal("0.75"))


def test_callables_join_conditions_on_either_side() -> None:
    def big(a: int) -> bool:
        return a > 2

    assert isinstance(key("b") & big, And)
    assert holds(big & key("b"), a=3, b=1)
    assert holds(key("b") | big, a=3, b=0)
    assert holds(big | key("b"), a=3)


def test_a_literal_is_not_changed_from_outside() -> None:
    values = [1]
    equal, member = key("a") == values, key("a").in_(values)
    values.append(2)
    assert holds(equal, a=[1])
    assert not holds(member, a=2)


MISUSES: dict[str, tuple[Callable[[], object], str]] = {
    "and": (lambda: (key("a") > 1) and (key("b") > 1), "`&` for `and`"),
    "not": (lambda: not key("a"), "`~` for `not`"),
    "if": (lambda: 1 if key("a") == 1 else 2, "`a == 1` is neither true nor false"),
    "chain": (lambda: 1 < key("a") < 3, '(1 < key("x")) & (key("x") < 3)'),
    "in": (lambda: "x" in key("a"), "`.contains(...)` for `in`"),
    "member": (lambda: key("a") in [1, 2], "`.in_([...])` for `in`"),
    "iteration": (lambda: list(key("a")), "`.in_([...])`"),
    "len": (lambda: len(key("a")), "write `.len()`"),
    "item": (lambda: key("a")["total"], "write `.field(...)`"),
    "and of comparison": (lambda: key("a") & key("b") == 3, "parentheses"),
    "order of conditions": (lambda: (key("a") & key("b")) > 3, "parentheses"),
    "and with a number": (lambda: key("a") > 1 & key("b"), "parentheses"),
    "or with text": (lambda: key("a") | "b", "parentheses"),
    "comparison with a condition": (lambda: key("a") == (key("b") > 1), "parentheses"),
    "in text": (lambda: key("a").in_("text"), "take a collection"),
    "in number": (lambda: key("a").in_(3), "take a collection"),  # type: ignore[arg-type]  # the mistake
    "in conditions": (lambda: key("a").in_([key("b")]), "got the condition `b`"),
    "key of a number": (lambda: key(3), "name of a key"),  # type: ignore[arg-type]  # the mistake
    "field of a number": (lambda: key("a").field(3), "name of a field"),  # type: ignore[arg-type]  # the mistake
    "pattern of a number": (lambda: key("a").matches(3), "regular expression"),  # type: ignore[arg-type]  # the mistake
}


@pytest.mark.parametrize("misuse", MISUSES)
def test_what_python_would_evaluate_at_once_says_what_to_write(misuse: str) -> None:
    write, hint = MISUSES[misuse]
    with pytest.raises(TypeError) as raised:
        write()
    assert hint in str(raised.value)


@given(TREES)
def test_no_condition_has_a_truth_value(condition: Condition) -> None:
    with pytest.raises(TypeError, match="`&` for `and`"):
        bool(condition)


@pytest.mark.parametrize(
    ("write", "hint"),
    [
        (lambda: key(""), "name of a key"),
        (lambda: key("draft?"), "key('draft').exists()"),
        (lambda: key("invoice.total"), "key('invoice').field('total')"),
        (lambda: key("a").field("b..c"), "joined by dots"),
        (lambda: key("a").matches("("), "no regular expression"),
    ],
)
def test_malformed_names_and_patterns_are_refused(write: Callable[[], object], hint: str) -> None:
    with pytest.raises(UsageError) as raised:
        write()
    assert hint in str(raised.value)


@pytest.mark.parametrize(
    ("condition", "values", "types"),
    [
        (key("a") < 0.8, {"a": "high"}, ("str", "float")),
        (key("a") >= key("b"), {"a": None, "b": 1}, ("NoneType", "int")),
        (key("a").contains(1), {"a": "text"}, ("str", "int")),
        (key("a").contains(1), {"a": 3}, ("int", "int")),
        (key("a").in_(key("b")), {"a": 1, "b": 2}, ("int", "int")),
        (key("a").len() > 1, {"a": 5}, ("int",)),
        (key("a").matches("x"), {"a": 5}, ("int",)),
    ],
    ids=lambda value: text(value) if isinstance(value, Condition) else "",
)
def test_values_that_do_not_fit_are_named(condition: Condition, values: dict, types: tuple[str, ...]) -> None:
    with pytest.raises(ConditionError) as raised:
        holds(condition, **values)
    assert isinstance(raised.value, GraphflowError)
    assert raised.value.types == types
    assert raised.value.condition == text(condition)
    assert f"condition `{text(condition)}`" in str(raised.value)
    assert all(name in str(raised.value) for name in types)


# --- cases ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "case", "expected"),
    [
        ("red", "red", True),
        ("red", "blue", False),
        (1, 1, True),
        (True, 1, False),
        (1, True, False),
        (1, 1.0, False),
        (None, None, True),
        (None, False, False),
        (Color.RED, Color.RED, True),
        (Color.RED, Color.BLUE, False),
        (Color.RED, "red", True),
        ("red", Color.RED, True),
        (Kind.RED, "red", True),
        ("red", Kind.RED, True),
        (Kind.RED, Color.RED, False),
        (Size.ONE, 1, True),
        (1, Size.ONE, True),
        (True, Size.ONE, False),
    ],
)
def test_cases_compare_type_and_value(value: object, case: object, expected: bool) -> None:
    assert is_case(value, case) is expected
    assert holds(Is(key("a"), case), a=value) is expected


# --- text and structure ---------------------------------------------------------------------------------------------


def test_the_text_of_each_kind() -> None:
    a, b = key("a"), key("user:b")
    printed = {
        "a < 0.8": a < 0.8,
        "a == 'BUG'": a == "BUG",
        "a != user:b": a != b,
        "len(a) > 3": a.len() > 3,
        "a.total.net exists": a.field("total.net").exists(),
        "a matches '\\\\d'": a.matches(r"\d"),
        "a in ['a', 'b']": a.in_(["a", "b"]),
        "a not in [1]": a.not_in((1,)),
        "a contains None": a.contains(None),
        "a is Color.RED": Is(a, Color.RED),
        "(a and user:b)": a & b,
        "(a and user:b and a)": a & b & a,
        "(a and (user:b and a))": a & (b & a),
        "((a or user:b) and a)": (a | b) & a,
        "not (a or user:b)": ~(a | b),
        "(not a or user:b)": ~a | b,
        "a == {'x': [1, (2,)]}": a == {"x": [1, (2,)]},
        "a == {1, 2}": a == {2, 1},
        "a == Color.BLUE": a == Color.BLUE,
        "call:test_the_text_of_each_kind": as_condition(test_the_text_of_each_kind),
    }
    assert {expected: text(condition) for expected, condition in printed.items()} == {each: each for each in printed}


@given(st.sets(st.integers() | st.text(max_size=3) | st.none() | st.sampled_from(Color), max_size=6), st.randoms())
def test_sets_print_in_one_order(values: set, random) -> None:
    shuffled = list(values)
    random.shuffle(shuffled)
    assert text(key("a").in_(values)) == text(key("a").in_(set(shuffled)))
    assert text(key("a") == values) == text(key("a") == set(shuffled))


def test_values_are_told_apart_by_type() -> None:
    a = key("a")
    different = [a == 1, a == True, a == 1.0, a == "1", a == [1], a == (1,), a == [True], a != 1, Is(a, 1)]  # noqa: E712
    for i, left in enumerate(different):
        for j, right in enumerate(different):
            assert same(left, right) is (i == j)
            assert (text(left) == text(right)) is (i == j)


def test_functions_are_the_same_if_they_are_one_function() -> None:
    def first(a: int) -> bool:
        return a > 1

    one = first

    def first(a: int) -> bool:  # type: ignore[no-redef]  # the same name on purpose
        return a > 2

    assert same(as_condition(one), as_condition(one))
    assert not same(as_condition(one), as_condition(first))


def test_conditions_that_are_no_operands_compare_by_structure() -> None:
    assert ((key("a") > 1) & key("b")) == ((key("a") > 1) & key("b"))
    assert ((key("a") > 1) & key("b")) != ((key("a") > 2) & key("b"))
    assert (key("a") > 1) != None  # noqa: E711 - data classes compare optional conditions so
    assert len({key("a") > 1, key("a") > 1, key("a") > 2}) == 2


def test_an_object_without_a_text_of_its_own_prints_no_address() -> None:
    assert " at 0x" not in text(key("a") == object())
    assert not same(key("a") == object(), key("a") == object())


@given(TREES)
def test_negating_twice_gives_the_condition(condition: Condition) -> None:
    assume(not isinstance(condition, Not))
    assert same(negate(negate(condition)), condition)
    assert same(~~condition, condition)


def test_negation_turns_round_only_what_is_exact() -> None:
    assert text(negate(key("a") == 1)) == "a != 1"
    assert text(negate(key("a").in_([1]))) == "a not in [1]"
    assert text(negate(key("a") < 1)) == "not a < 1"
    nan = float("nan")
    assert holds(negate(key("a") < 1), a=nan) is True


# --- functions ------------------------------------------------------------------------------------------------------


def test_a_function_reads_its_parameters() -> None:
    def good(score: float, limit: float = 3, *, tier: Annotated[str, Key("user:tier")] = "free") -> bool:
        return score > limit and tier != "banned"

    condition = as_condition(good)
    assert condition == Call(
        good, (CallRead("score", "score", False), CallRead("limit", "limit", True), CallRead("tier", "user:tier", True))
    )
    assert reads(condition) == (("score", (), False), ("limit", (), True), ("user:tier", (), True))
    assert holds(condition, score=4)
    assert not holds(condition, score=4, limit=5)
    assert not holds(condition, **{"score": 4, "user:tier": "banned"})
    with pytest.raises(AbsentKeyError) as raised:
        holds(condition, limit=5)
    assert raised.value.key == "score"


def test_methods_and_callable_objects_are_functions() -> None:
    class Above:
        def __init__(self, limit: int) -> None:
            self.limit = limit

        def __call__(self, score: int) -> bool:
            return score > self.limit

        def check(self, score: int) -> bool:
            return score > self.limit

    for condition in (as_condition(Above(3)), as_condition(Above(3).check)):
        assert reads(condition) == (("score", (), False),)
        assert holds(condition, score=4)
        assert not holds(condition, score=3)
    assert text(as_condition(Above(3))).endswith("Above")


def test_the_answer_of_a_function_is_taken_as_true_or_false() -> None:
    assert holds(as_condition(lambda a: a), a=[0]) is True
    assert holds(as_condition(lambda a: a), a=[]) is False
    with pytest.raises(ConditionError, match="true or false"):
        holds(as_condition(lambda a: key("a") > a), a=1)


def test_an_exception_of_a_function_is_passed_on() -> None:
    with pytest.raises(ZeroDivisionError):
        holds(as_condition(lambda a: 1 / a), a=0)


async def asynchronous(a: int) -> bool:
    return a > 1


class AsynchronousObject:
    async def __call__(self, a: int) -> bool:
        return a > 1


def generator(a: int):
    yield a


@pytest.mark.parametrize(
    ("value", "hint"),
    [
        (True, "written `~`, `&`"),
        (3, 'key("score") < 0.8'),
        ("score < 3", 'key("score") < 0.8'),
        (None, 'key("score") < 0.8'),
        (bool, 'key("score") < 0.8'),
        (key("a").exists, "was not called; add `()`"),
        (asynchronous, "is async"),
        (AsynchronousObject(), "is async"),
        (generator, "generator"),
        (lambda *names: True, "`names`, which names no key"),
        (lambda **names: True, "`names`, which names no key"),
        (lambda a, /: True, "`a`, which names no key"),
        (lambda ctx: True, "`ctx`, which names no key"),
        (max, "cannot be read"),
    ],
)
def test_what_is_no_condition_is_told_what_to_write(value: object, hint: str) -> None:
    with pytest.raises(TypeError) as raised:
        as_condition(value)
    assert hint in str(raised.value)


def test_a_condition_is_a_condition() -> None:
    for condition in (key("a"), key("a").len() > 1, Matches(key("a"), "x"), Length(key("a"))):
        assert as_condition(condition) is condition
