"""Draws trees at random.

::

    random_tree(Random(7), 3)                    # sequences, branches, loops, gates
    random_tree(Random(7), 3, every=True)        # and maps, sub-flows, custom agents, questions, attempts, policies
"""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

from tests.programs.kinds import (
    LISTS,
    MERGED,
    PLAIN,
    Ask,
    Call,
    Cases,
    Guard,
    Leaf,
    Leave,
    Loop,
    Map,
    Mood,
    Once,
    Op,
    Own,
    Par,
    Put,
    Query,
    Seq,
    Sub,
    Test,
    Together,
    Tree,
    Tried,
    When,
)


def random_tree(random: Random, depth: int, *, tame: bool = False, every: bool = False, custom: bool = True) -> Tree:
    """Draw a tree.

    Args:
        random: where choices come from.
        depth: how deep it is nested at most.
        tame: it neither fails nor halts on purpose.
        every: every kind of agent is drawn.
        custom: custom agents are.
    """
    return (_Growing(random, tame, custom) if every else _Plain(random, tame)).tree(depth)


class _Plain:
    def __init__(self, random: Random, tame: bool) -> None:
        self.random = random
        self.tame = tame
        self.count = 0

    def tree(self, depth: int) -> Tree:
        kinds = [self.leaf] if depth <= 0 or (depth <= 2 and self.chance(3)) else [self.seq, self.par, self.loop] * 2
        if depth > 0:
            kinds += [self.cases, self.when]
        if not self.tame and self.chance(4):
            kinds = [self.guard]
        return self.random.choice(kinds)(depth - 1)

    def name(self, kind: str) -> str:
        self.count += 1
        return f"{kind}{self.count}"

    def chance(self, one_in: int) -> bool:
        return self.random.randrange(one_in) == 0

    def items(self, depth: int) -> tuple[Tree, ...]:
        return tuple(self.tree(depth) for _ in range(self.random.randint(1, 3)))

    def test(self) -> Test:
        op = self.random.choice(["eq", "lt", "lt", "exists"])
        keys = PLAIN if not self.tame and self.chance(4) else ("a", "b")
        return Test(self.random.choice(keys), op, self.random.randint(1, 3))

    def keys(self, most: int) -> tuple[str, ...]:
        return tuple(sorted(self.random.sample([*PLAIN, *MERGED * 3], self.random.randint(0, most))))

    def leaf(self, _: int) -> Leaf:
        reads = dict.fromkeys(self.keys(3))
        hard = ("a", "b", "bag") if self.tame or not self.chance(3) else (*PLAIN, *MERGED)
        writes = dict.fromkeys(self.keys(2))
        moods: list[Mood] = ["plain"] * 6 + ["escalates"] * 2 + ([] if self.tame else ["fails", "halts"])
        return Leaf(
            self.name("leaf"),
            tuple(name if name in hard else f"{name}?" for name in reads),
            tuple(writes),
            tuple(name for name in dict.fromkeys(self.keys(1)) if name not in writes),
            self.random.choice(moods),
            self.chance(6),
            self.random.choice(["async", "inline"]),
            self.chance(8),
        )

    def seq(self, depth: int) -> Tree:
        return Seq(self.name("seq"), self.items(depth))

    def par(self, depth: int) -> Tree:
        return Par(self.name("par"), self.items(depth))

    def loop(self, depth: int) -> Tree:
        exhausted: Any = "continue" if self.tame or not self.chance(4) else "fail"
        return Loop(
            self.name("loop"),
            self.items(depth),
            self.random.randint(1, 3),
            self.test() if self.chance(2) else None,
            "how" if self.chance(4) else None,
            self.leaf(0) if self.chance(4) else exhausted,
        )

    def cases(self, depth: int) -> Tree:
        values = sorted(self.random.sample(range(4), self.random.randint(1, 2)))
        arms = tuple((value, None if self.chance(4) else self.tree(depth)) for value in values)
        default: Any = None if self.chance(2) else self.tree(depth)
        if not self.tame and self.chance(5):
            default = "missing"
        return Cases(self.name("cases"), self.test().key, arms, default)

    def when(self, depth: int) -> Tree:
        return When(self.name("when"), self.test(), self.tree(depth), self.tree(depth) if self.chance(2) else None)

    def guard(self, _: int) -> Tree:
        return Guard(self.name("guard"), self.test())


class _Growing(_Plain):
    """Draws every kind. Inside of attempts no effect is irreversible, and what may fail does so more often."""

    def __init__(self, random: Random, tame: bool, custom: bool) -> None:
        super().__init__(random, tame)
        self.custom = custom
        self.trying = 0
        self.items_seen = 0

    def tree(self, depth: int) -> Tree:
        if self.chance(5):
            return self.tried(depth)
        if depth <= 0 or self.chance(2):
            return super().tree(depth) if depth > 0 or not self.chance(6) else self.ask(depth)
        kinds = [self.map, self.map, self.par, self.par, self.sub, self.ask] + [self.own] * 2 * self.custom
        return self.random.choice(kinds)(depth - 1)

    def tried(self, depth: int) -> Tree:
        attempts = self.random.choice([1, 2, 3])
        self.trying += attempts > 1
        inner = self.fallible(0) if self.chance(3) else self.tree(depth)
        self.trying -= attempts > 1
        if isinstance(inner, Tried):
            return inner
        handler: Any = self.random.choice([None, self.tree(0), tuple((key, 3) for key in self.numbers(2))])
        collects = isinstance(inner, (Par, Map)) and inner.collects
        return Tried(inner, attempts, None if collects or handler == () else handler)

    def numbers(self, most: int) -> tuple[str, ...]:
        return tuple(self.random.sample([*PLAIN, "log", "total", "chain"], self.random.randint(1, most)))

    def fallible(self, _: int) -> Leaf:
        return replace(self.leaf(0), mood="fails")

    def leaf(self, _: int) -> Leaf:
        leaf = super().leaf(0)
        if self.items_seen and self.chance(2):
            leaf = replace(leaf, reads=(*leaf.reads, *(["item"] if self.items_seen else ["index?"])))
        if self.chance(4):
            leaf = replace(leaf, reads=(*leaf.reads, f"{self.random.choice(LISTS)}?"))
        if leaf.mood == "plain" and not self.tame and self.chance(4):
            leaf = replace(leaf, mood="fails")
        calm = self.trying > 0 or leaf.mood == "halts"
        return replace(leaf, irreversible=leaf.irreversible and not calm)

    def ask(self, _: int) -> Tree:
        about = "b" if self.tame or not self.chance(4) else self.random.choice(PLAIN)
        return Ask(self.name("ask"), about, self.random.choice(PLAIN))

    def cap(self) -> int | None:
        return self.random.randint(1, 3) if self.chance(3) else None

    def par(self, depth: int) -> Tree:
        items = self.items(depth)
        need = self.random.randint(1, len(items)) if self.chance(3) else None
        return Par(self.name("par"), items, need, self.chance(3), self.cap())

    def map(self, depth: int) -> Tree:
        over = ["few", "few", "box.few", "bag"] + (["found"] if not self.tame else [])
        chosen = self.random.choice(over)
        self.items_seen += 1
        body = self.tree(depth)
        self.items_seen -= 1
        keys = ["a", "b", "bag"] if self.tame or not self.chance(3) else [*PLAIN, *MERGED]
        inner = self.random.sample(keys, self.random.randint(0, 2))
        lists = tuple((key, outer, key == "bag" and self.chance(2)) for key, outer in zip(inner, LISTS, strict=False))
        return Map(self.name("map"), chosen, body, lists, self.chance(3), self.chance(3), self.cap())

    def sub(self, depth: int) -> Tree:
        seen, self.items_seen = self.items_seen, 0
        body = self.tree(depth)
        self.items_seen = seen
        hard = ("a", "b") if self.tame or not self.chance(4) else PLAIN
        inputs = {inner: self.random.choice(hard) for inner in self.random.sample(PLAIN, self.random.randint(0, 2))}
        inputs = {
            inner: outer if outer in ("a", "b") or self.chance(2) else f"{outer}?" for inner, outer in inputs.items()
        }
        if self.chance(2):
            inputs["bag"] = "bag"
        if self.chance(3):
            inputs["log"] = "log?"
        outputs: dict[str, str] = {}
        for inner in self.random.sample([*PLAIN, *MERGED], self.random.randint(0, 3)):
            outer = "bag" if inner in ("bag", "log") else self.random.choice([*PLAIN, "total", "chain", "log"])
            outputs[inner if inner in ("a", "b", "bag") or self.chance(6) else f"{inner}?"] = outer
        outputs = {inner: outer for outer, inner in {outer: inner for inner, outer in outputs.items()}.items()}
        return Sub(self.name("sub"), body, tuple(inputs.items()), tuple(outputs.items()))

    def own(self, depth: int) -> Tree:
        children = self.items(depth) if not self.chance(6) else ()
        script = tuple(self.op(children) for _ in range(self.random.randint(0, 4)))
        return Own(self.name("own"), children, script)

    def op(self, children: tuple[Tree, ...]) -> Op:
        kinds = ["call"] * 5 * bool(children) + ["both"] * (len(children) > 1) + ["put", "put", "once", "leave", "ask"]
        match self.random.choice(kinds):
            case "call":
                caught = self.random.choice(PLAIN) if self.chance(2) else None
                return Call(self.random.randrange(len(children)), caught, self.chance(2))
            case "both":
                first, second = self.random.sample(range(len(children)), 2)
                return Together((first, second))
            case "put":
                direct = self.chance(3)
                key = self.random.choice(PLAIN if direct else (*PLAIN, *MERGED))
                of = self.random.choice([None, *PLAIN, "total", "chain"])
                return Put(key, self.random.randrange(97), of, direct)
            case "once":
                return Once(self.random.choice(PLAIN))
            case "ask":
                return Query(self.random.choice(PLAIN))
            case _:
                return Leave()
