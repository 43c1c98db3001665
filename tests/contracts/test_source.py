"""`graphflow.contracts.source`: what a body does with its context, read off its source."""

from __future__ import annotations

import ast
import configparser
import contextlib
import copy
import enum
import functools
import json.decoder
import pprint
import queue
import textwrap
import types
from collections.abc import Callable
from random import shuffle

import pytest

from graphflow import FunctionAgent
from graphflow.contracts.source import SourceFacts, facts_of
from tests.contracts.sources import function

STATUS = "status"
NUMBER = 3


def facts(func: Callable[..., object]) -> SourceFacts:
    return facts_of(func, "ctx")


def other(*args):
    return None


def test_reads() -> None:
    def body(ctx):
        a = ctx.state["a"]
        b = ctx.state.get("b", 0)
        if "c" in ctx.state and "d" not in ctx.state:
            return a, b, ctx.state[STATUS]
        return None

    found = facts(body)
    assert found.reads == {"a": False, "b": True, "c": True, "d": True, "status": False}
    assert not found.writes
    assert not found.open


def test_a_body_that_asks_for_a_key_copes_with_its_absence() -> None:
    def nested(ctx):
        if "a" in ctx.state:
            return ctx.state["a"]
        return None

    def early(ctx):
        if "a" not in ctx.state:
            return None
        return ctx.state["a"]

    def got(ctx):
        return ctx.state["a"] if ctx.state.get("a") else 0

    def caught(ctx):
        try:
            return ctx.state["a"]
        except KeyError:
            return None

    for func in (nested, early, got, caught):
        assert facts(func).reads == {"a": True}, func.__name__


def test_a_try_that_copes_with_something_else_does_not_cope() -> None:
    def body(ctx):
        try:
            return ctx.state["a"]
        except ValueError:
            return ctx.state["b"]

    def in_handler(ctx):
        try:
            return other()
        except KeyError:
            return ctx.state["c"]

    assert facts(body).reads == {"a": False, "b": False}
    assert facts(in_handler).reads == {"c": False}


def test_a_read_after_its_own_write_is_no_read() -> None:
    def body(ctx):
        ctx.state["a"] = 1
        return ctx.state["a"]

    assert facts(body).reads == {}
    assert list(facts(body).writes) == ["a"]

    def within(ctx, more):
        if more:
            ctx.state.update({"a": 1})
            while more:
                other(ctx.state["a"])

    assert facts(within).reads == {}


def test_a_read_after_a_write_on_another_path_is_one() -> None:
    def maybe(ctx, more):
        if more:
            ctx.state["a"] = 1
        return ctx.state["a"]

    def arms(ctx, more):
        if more:
            ctx.state["a"] = 1
        else:
            other(ctx.state["a"])

    def same(ctx):
        ctx.state["a"] = ctx.state["a"] + 1

    for func in (maybe, arms, same):
        assert facts(func).reads == {"a": False}, func.__name__


def test_writes() -> None:
    def body(ctx):
        ctx.state["a"] = 1
        ctx.state["b"], other.x = 1, 2
        ctx.state.update({"c": 1, STATUS: 2})
        ctx.state.update(d=1)
        ctx.state["n"] += 1
        ctx.state.setdefault("e", [])

    found = facts(body)
    assert list(found.writes) == ["a", "b", "c", "status", "d", "n", "e"]
    assert found.reads == {"n": False, "e": True}
    assert not found.open
    assert [write.key for write in found.as_writes() if not write.sure] == ["e"]


@pytest.mark.parametrize("name", ["escalate", "halt"])
def test_requests(name: str) -> None:
    def escalates(ctx):
        ctx.actions.escalate = True

    def halts(ctx):
        ctx.actions.halt = "why"

    def neither(ctx):
        ctx.actions.escalate = False
        ctx.actions.halt = None
        return ctx.actions.escalate

    yes, no = (escalates, halts) if name == "escalate" else (halts, escalates)
    assert (facts(yes).escalates, facts(yes).halts) == (name == "escalate", name == "halt")
    assert (facts(no).escalates, facts(no).halts) == (name != "escalate", name != "halt")
    assert (facts(neither).escalates, facts(neither).halts) == (False, False)


def test_what_is_known_to_be_harmless() -> None:
    async def body(ctx):
        await ctx.emit({"at": ctx.iteration, "run": ctx.run_id})
        return ctx.deps, ctx.attempt, ctx.node

    assert not facts(body).open


def test_names_of_constants_and_closures() -> None:
    local = "local"

    def body(ctx):
        return ctx.state[STATUS], ctx.state[local]

    assert facts(body).reads == {"status": False, "local": False}


def test_a_name_that_the_body_assigns_is_no_constant() -> None:
    """It is what the body assigns, if that is known."""

    def written_out(ctx):
        for STATUS in ("a", "b"):  # noqa: N806
            other(ctx.state[STATUS])

    def unknown(ctx, names):
        for STATUS in names:  # noqa: N806
            other(ctx.state[STATUS])

    assert facts(written_out).reads == {"a": False, "b": False}
    assert not facts(written_out).open
    assert facts(unknown).open
    assert not facts(unknown).reads


def test_what_makes_a_contract_open_says_why() -> None:
    def computed(ctx, given):
        return ctx.state["a" + str(given)]

    def handed_on(ctx):
        return shuffle(ctx)

    def state_handed_on(ctx):
        return shuffle(ctx.state)

    def renamed(ctx):
        state = ctx.state
        shuffle(state)

    def iterated(ctx):
        return list(ctx.state)

    def everything(ctx):
        return ctx.state.items()

    def actions_handed_on(ctx):
        return shuffle(ctx.actions)

    def dynamic_update(ctx):
        ctx.state.update(other())

    def unpacked(ctx):
        ctx.state.update({**other(), "a": 1})

    def dynamic_attribute(ctx):
        return getattr(ctx, STATUS)

    def number_key(ctx):
        return ctx.state[NUMBER]

    def tested(ctx):
        return 1 if ctx.state else 0

    def returned(ctx):
        return ctx.state

    def kept(ctx):
        other.state = ctx.state

    def looped(ctx):
        return {key: other() for key in ctx.state}

    def revealed(ctx):
        return locals()

    for func in (
        computed, handed_on, state_handed_on, renamed, iterated, everything, actions_handed_on, dynamic_update,
        unpacked, dynamic_attribute, number_key, tested, returned, kept, looped, revealed,
    ):  # fmt: skip
        assert len(facts(func).open) == 1, func.__name__
        assert facts(func).open[0].endswith(f" in line {func.__code__.co_firstlineno + 1 + (func is renamed)}"), (
            func.__name__
        )
    line = handed_on.__code__.co_firstlineno + 1
    assert facts(handed_on).open == (f"it hands its context on: `shuffle(ctx)` in line {line}",)
    line = number_key.__code__.co_firstlineno + 1
    assert facts(number_key).open == (f"it uses `ctx.state[NUMBER]` in line {line}",)


def test_source_that_cannot_be_read_is_open() -> None:
    scope: dict[str, Callable[..., object]] = {}
    exec("def made(ctx): return 1", scope)
    assert facts(scope["made"]).open == ("its source cannot be read",)
    assert facts(functools.partial(other, 1)).open
    for func in (print, len, dict.update, functools.partial(print), Exception, "".join, abs):
        assert facts_of(func, "ctx").open, func


def test_a_lambda_and_a_decorated_function() -> None:
    quick = lambda ctx: ctx.state["a"]  # noqa: E731

    def logged(func):
        @functools.wraps(func)
        def inner(*args, **kwargs):
            return func(*args, **kwargs)

        return inner

    @logged
    def body(ctx):
        return ctx.state["b"]

    assert facts(quick).reads == {"a": False}
    assert facts(body).reads == {"b": False}


def test_a_method_and_a_callable_object() -> None:
    class Poller:
        def poll(self, ctx):
            ctx.state["seen"] = ctx.state["status"]

        def __call__(self, ctx):
            return ctx.state["status"]

    assert facts(Poller().poll).reads == {"status": False}
    assert list(facts(Poller().poll).writes) == ["seen"]
    assert facts(Poller()).reads == {"status": False}


def test_declarations_come_before_the_source() -> None:
    def body(ctx):
        ctx.state["b"] = ctx.state["a"]

    inferred = FunctionAgent("inferred", body).contract
    assert ([read.key for read in inferred.reads], [write.key for write in inferred.writes]) == (["a"], ["b"])
    declared = FunctionAgent("declared", body, reads=["c?"], writes={"d": int}).contract
    assert [(read.key, read.optional) for read in declared.reads] == [("c", True)]
    assert [(write.key, write.sure, write.type.text) for write in declared.writes] == [("d", True, "int")]
    assert not declared.open


class Name(enum.StrEnum):
    """Keys as members."""

    DRAFT = "draft"
    NOTES = "notes"


class Plain(enum.Enum):
    DRAFT = "draft"


PARTS = ("web", "news")
TITLES = {"a": 1, "b": 2}
PREFIX = "part"


def fetch(state, name, *, more=False):
    if more:
        return state.get(f"{PREFIX}_{name}")
    return state[f"{PREFIX}_{name}"]


def deeper(ctx, name):
    return fetch(ctx.state, name)


def again(ctx, count):
    ctx.state["count"] = count
    if count:
        again(ctx, count)


def endless(ctx, name):
    endless(ctx, name + "x")
    return ctx.state[name]


def test_how_keys_are_named() -> None:
    """Constants, members of enumerations, attributes of classes, text made of them."""

    class Holder:
        key = "held"

    def body(ctx):
        ctx.state[Name.DRAFT] = ctx.state[Plain.DRAFT.value]
        ctx.state[f"{PREFIX}_{Name.NOTES}"] = 1
        ctx.state[PREFIX + "_" + "x"] = ctx.state[Holder.key]
        ctx.state["%s_%d" % (PREFIX, 1)] = 1  # noqa: UP031 - as users may write it
        ctx.state["_".join(PARTS)] = 1
        ctx.state[PREFIX.upper()] = 1
        ctx.state[PARTS[0]] = 1

    found = facts(body)
    assert not found.open
    assert list(found.reads) == ["draft", "held"]
    assert list(found.writes)[:4] == ["draft", "part_notes", "part_x", "part_1"]
    assert {"web_news", "PART", "web"} < found.sure


def test_loops_over_what_is_written_out() -> None:
    """Item by item: lists, tuples, mappings, what enumerates or zips them, comprehensions."""

    def body(ctx):
        for name in PARTS:
            ctx.state[name] = 1
        for place, (name, _) in enumerate(zip(["x", "y"], PARTS, strict=True)):
            ctx.state[name] = place
        for name in TITLES:
            ctx.state[name] = 1
        ctx.state.update({f"{name}_c": 1 for name in PARTS})
        return [ctx.state[name] for name, _ in {"r": 1, "s": 2}.items()]

    found = facts(body)
    assert not found.open
    assert found.sure == {"web", "news", "x", "y", "a", "b", "web_c", "news_c"}
    assert found.reads == {"r": False, "s": False}


def test_functions_of_the_same_module() -> None:
    """They are followed with what they are given; one that calls itself is followed as long as it changes nothing."""

    def body(ctx):
        return fetch(ctx.state, "web"), fetch(ctx.state, "news", more=True), deeper(ctx, "x")

    assert facts(body).reads == {"part_web": False, "part_news": True, "part_x": False}
    assert not facts(body).open
    assert not facts_of(again, "ctx").open
    assert facts_of(again, "ctx").sure == {"count"}
    assert facts_of(endless, "ctx").open


def test_what_only_some_iterations_come_to_is_coped_with() -> None:
    """A condition about the iteration or the attempt guards what it guards."""

    def body(ctx):
        if ctx.iteration > 1:
            return ctx.state["feedback"]
        return ctx.state["draft"] if ctx.attempt == 1 else ctx.state["last"]

    assert facts(body).reads == {"feedback": True, "draft": True, "last": True}


def test_what_every_way_reads_first_is_required() -> None:
    """Whatever it is asked for later."""

    def body(ctx):
        draft = ctx.state["draft"]
        return ctx.state.get("draft", draft)

    assert facts(body).reads == {"draft": False}


def test_delta_and_requests_of_the_context() -> None:
    """`ctx.actions` is another way to write."""

    def body(ctx):
        actions = ctx.actions
        actions.state_delta["a"] = 1
        actions.state_delta.update(b=2)
        setattr(ctx, "route", "left")  # noqa: B010 - as users may write it
        del ctx.state["c"]

    found = facts(body)
    assert (found.writes, found.open) == ({"a": True, "b": True, "c": False}, ())
    assert (found.routes, found.always_routes) == (["left"], True)


def test_fields_of_the_object() -> None:
    """`self.key` is what the object has, unless the body sets it."""

    class Poller:
        key = "status"

        def __init__(self, own):
            self.own = own

        def poll(self, ctx):
            return ctx.state[self.key], ctx.state[self.own]

        def change(self, ctx):
            self.own = "x"
            return ctx.state[self.computed]

        @property
        def computed(self):
            return "y"

    assert facts(Poller("mine").poll).reads == {"status": False, "mine": False}
    assert facts(Poller("mine").change).open


def test_several_lambdas_in_one_line() -> None:
    """Each has its own source."""
    first, second = (lambda ctx: ctx.state["a"]), (lambda ctx: ctx.state["b"])

    assert (facts(first).reads, facts(second).reads) == ({"a": False}, {"b": False})


def test_source_that_is_not_a_file() -> None:
    """Cells of notebooks and whatever else `linecache` knows."""
    made = function("@(lambda f: f)\ndef body(ctx):\n    return ctx.state['a']")

    assert facts(made).reads == {"a": False}
    assert facts(made).places["a"].line == 3


MODULES = (ast, configparser, contextlib, copy, json.decoder, pprint, queue, textwrap)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_every_source_can_be_read(module: types.ModuleType) -> None:
    """The standard library's own functions, as if their first two parameters were a context: never an exception."""
    kinds = [each for each in vars(module).values() if isinstance(each, type)]
    functions = [each for holder in (module, *kinds) for each in vars(holder).values()]
    for func in functions:
        if isinstance(func, types.FunctionType) and func.__module__ == module.__name__:
            for name in func.__code__.co_varnames[: func.__code__.co_argcount][:2]:
                found = facts_of(func, name)
                assert len(found.open) < 2
