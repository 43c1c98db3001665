"""A campaign: the logic of rules and analyses is broken in one place at a time; the tests of the checker have to notice.

    python -m tests.long.mutants --sample 200 --seed 0 --minutes 30 --jobs 2
    python -m tests.long.mutants --only rules/gates.py

Nothing is written: each mutant lives in a process of its own, whose functions are given other code. What is about the rule is
run first, then the rest. Survivors are printed with their place; each is either equivalent, or a test is missing.
"""

from __future__ import annotations

import argparse
import ast
import copy
import functools
import importlib
import os
import signal
import sys
import time
import types
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pytest

from graphflow.checker.rule import Rule
from graphflow.checker.rules import ALL_RULES

ROOT = Path(__file__).parent.parent.parent
PACKAGE = ROOT / "graphflow"
CHECKER, GOLDEN = "tests/checker", "tests/golden/test_findings.py"
ABOUT = ("test_examples.py", "test_rules.py", "test_planted_control.py", "test_planted_types.py")
SLOW = ("test_explorer.py", "test_free_form.py", "test_fuzz.py", "test_kinds.py")
LIMIT = 240
"""Seconds after which a mutant counts as noticed: it goes round for ever."""

SWAPPED: dict[type[ast.AST], type[ast.AST]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.And: ast.Or, ast.Or: ast.And,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.Add: ast.Sub, ast.Sub: ast.Add,
}  # fmt: skip
SEVERITIES = {"error": "warning", "warning": "info", "info": "warning"}
Function = ast.FunctionDef | ast.AsyncFunctionDef
Change = Callable[[ast.AST], ast.AST | None]


@dataclass(frozen=True)
class Mutant:
    """One change: the file, the function it is in (its name with the classes around), the line and what was done."""

    path: str
    function: str
    line: int
    what: str
    place: int
    """Number of the node in the walk over the function, from 0."""
    number: int
    """Which of the changes of that node."""

    def __str__(self) -> str:
        return f"{self.path}:{self.line} {self.function}: {self.what}"


def _changes(node: ast.AST) -> Iterator[tuple[str, Change]]:
    """The ways to break one node: what is done, and the node in its place (None: nothing)."""
    match node:
        case ast.If() | ast.While() | ast.IfExp():
            yield "negate the condition", lambda n: _with(n, test=ast.UnaryOp(ast.Not(), n.test))  # type: ignore[attr-defined]
            if isinstance(node, ast.If):
                yield "drop the guard", lambda n: _with(n, test=ast.Constant(False))
        case ast.BoolOp():
            yield "swap and/or", lambda n: _with(n, op=SWAPPED[type(n.op)]())  # type: ignore[attr-defined]
            for place in range(len(node.values)):
                yield f"drop `{ast.unparse(node.values[place])[:60]}`", functools.partial(_without_operand, place)
        case ast.Compare(ops=[op]) if type(op) in SWAPPED:
            yield "replace the comparison", lambda n: _with(n, ops=[SWAPPED[type(n.ops[0])]()])  # type: ignore[attr-defined]
        case ast.BinOp(op=op) if type(op) in SWAPPED:
            yield "replace the operator", lambda n: _with(n, op=SWAPPED[type(n.op)]())  # type: ignore[attr-defined]
        case ast.UnaryOp(op=ast.Not()):
            yield "drop the not", lambda n: n.operand  # type: ignore[attr-defined]
        case ast.Expr(value=ast.Yield() | ast.YieldFrom()):
            yield "skip the yield", lambda n: ast.copy_location(ast.Pass(), n)
        case ast.comprehension() if node.ifs:
            for place in range(len(node.ifs)):
                yield f"drop `if {ast.unparse(node.ifs[place])[:60]}`", functools.partial(_without_filter, place)
        case ast.Constant(value=str(value)) if value in SEVERITIES:
            yield f"{value} becomes {SEVERITIES[value]}", lambda n: ast.Constant(SEVERITIES[n.value])  # type: ignore[attr-defined]
        case ast.Constant(value=bool(value)):
            yield f"{value} becomes {not value}", lambda n: ast.Constant(not n.value)  # type: ignore[attr-defined]
        case ast.Constant(value=int(value)) if 0 <= value <= 9:
            yield f"{value} becomes {value + 1}", lambda n: ast.Constant(n.value + 1)  # type: ignore[attr-defined]
        case ast.Continue() | ast.Break():
            yield "drop it", lambda n: ast.copy_location(ast.Pass(), n)


def _with(node: ast.AST, **fields: Any) -> ast.AST:
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed


def _without_operand(place: int, node: ast.AST) -> ast.AST:
    values = [value for index, value in enumerate(node.values) if index != place]  # type: ignore[attr-defined]
    return values[0] if len(values) == 1 else _with(node, values=values)


def _without_filter(place: int, node: ast.AST) -> ast.AST:
    return _with(node, ifs=[each for index, each in enumerate(node.ifs) if index != place])  # type: ignore[attr-defined]


def functions_of(tree: ast.Module) -> Iterator[tuple[str, Function]]:
    """The functions of a module that can be replaced, with their names."""
    for node in tree.body:
        if isinstance(node, Function):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from ((f"{node.name}.{each.name}", each) for each in node.body if isinstance(each, Function))


def _parts(function: Function) -> list[ast.AST]:
    """What may be broken in a function: its body, but for the texts of messages and the docstring."""
    found: list[ast.AST] = []
    pending: list[ast.AST] = list(reversed(function.body))
    while pending:
        node = pending.pop()
        if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            continue
        found.append(node)
        pending.extend(reversed(list(ast.iter_child_nodes(node))))
    return found


def mutants_of(path: Path) -> list[Mutant]:
    """Name all mutants of a file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    name = path.relative_to(PACKAGE).as_posix()
    found = []
    for function, node in functions_of(tree):
        line = node.lineno
        for place, part in enumerate(_parts(node)):
            line = getattr(part, "lineno", line)
            found += [Mutant(name, function, line, what, place, n) for n, (what, _) in enumerate(_changes(part))]
    return found


class _Replace(ast.NodeTransformer):
    def __init__(self, wanted: ast.AST, change: Change) -> None:
        self.wanted, self.change = wanted, change

    def visit(self, node: ast.AST) -> Any:
        return self.change(node) if node is self.wanted else self.generic_visit(node)


def _code_of(module: types.CodeType, function: str) -> types.CodeType:
    for name in function.split("."):
        module = next(c for c in module.co_consts if isinstance(c, types.CodeType) and c.co_name == name)
    return module


def _plain(owner: Any, name: str) -> Any:
    """The function behind a name: what properties, caches and the like are made of."""
    found = vars(owner)[name]
    for attribute in ("__func__", "fget", "func", "__wrapped__"):
        found = getattr(found, attribute, found) if not isinstance(found, types.FunctionType) else found
    return found


def apply(mutant: Mutant) -> None:
    """Give the function the broken code, in this process."""
    path = PACKAGE / mutant.path
    tree = ast.parse(path.read_text(encoding="utf-8"))
    node = dict(functions_of(tree))[mutant.function]
    part = _parts(node)[mutant.place]
    _, change = list(_changes(part))[mutant.number]
    broken = ast.fix_missing_locations(_Replace(part, change).visit(tree))
    code = _code_of(compile(broken, str(path), "exec", dont_inherit=True), mutant.function)
    owner: Any = importlib.import_module("graphflow." + mutant.path.removesuffix(".py").replace("/", "."))
    *classes, name = mutant.function.split(".")
    for each in classes:
        owner = getattr(owner, each)
    _plain(owner, name).__code__ = code


def stages(mutant: Mutant | None) -> Iterator[list[str]]:
    """What pytest is asked to run, one after the other, until something fails."""
    yield from _about(mutant) if mutant is not None else ()
    ignored = [f"--ignore={CHECKER}/{name}" for name in SLOW]
    yield [GOLDEN, CHECKER, *ignored]
    yield [f"{CHECKER}/{name}" for name in SLOW if name != "test_fuzz.py"]


def _about(mutant: Mutant) -> Iterator[list[str]]:
    """The tests about the rules of a file, if there are rules in it."""
    module = "graphflow." + mutant.path.removesuffix(".py").replace("/", ".")
    owner = mutant.function.split(".")[0]
    rules: list[Rule] = [rule for rule in ALL_RULES if type(rule).__module__ == module]
    own = [rule.code for rule in rules if type(rule).__name__ == owner] or [rule.code for rule in rules]
    if own:
        yield [GOLDEN, *(f"{CHECKER}/{name}" for name in ABOUT), "-k", " or ".join(own)]


def _survives(mutant: Mutant | None) -> bool:
    with Path(os.devnull).open("w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
    os.chdir(ROOT)
    if mutant is not None:
        apply(mutant)
    more = ["-q", "-x", "-p", "no:cacheprovider", "--no-header", "-W", "ignore"]
    return all(pytest.main([*stage, *more]) in (0, 5) for stage in stages(mutant))


def noticed(mutant: Mutant | None) -> str:
    """Run the tests against a mutant (None: against the code as it is) in a process of its own.

    Returns:
        How it was noticed, "" if it was not.
    """
    process = os.fork()
    if process == 0:
        try:
            ended = 0 if _survives(mutant) else 1
        except BaseException:  # noqa: BLE001 - whatever it is, the mutant cannot work
            ended = 2
        os._exit(ended)
    began = time.monotonic()
    while time.monotonic() - began < LIMIT:
        done, status = os.waitpid(process, os.WNOHANG)
        if done:
            return ("", "tests", "error")[os.waitstatus_to_exitcode(status)] if os.WIFEXITED(status) else "crash"
        time.sleep(0.05)
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    return "time"


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, default=0, help="so many mutants by chance; default: all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=0, help="begin no more after that; default: no limit")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument(
        "--only", action="append", help="files below graphflow/checker or graphflow/analysis; default: all rules"
    )
    options = parser.parse_args(arguments)
    wanted = options.only or ["rules/"]
    files = [path for part in ("checker", "analysis") for path in sorted((PACKAGE / part).rglob("*.py"))]
    files = [path for path in files if any(f"/{each}" in path.as_posix() for each in wanted)]
    mutants = [mutant for path in files for mutant in mutants_of(path)]
    random = Random(options.seed)
    chosen = random.sample(mutants, min(options.sample or len(mutants), len(mutants)))
    print(f"{len(chosen)} of {len(mutants)} mutants of {len(files)} files", flush=True)
    if noticed(None):
        print("the tests fail as it is: they would notice everything")
        return 2
    began, ways = time.monotonic(), Counter[str]()

    def look(mutant: Mutant) -> tuple[Mutant, str]:
        late = options.minutes and time.monotonic() - began > 60 * options.minutes
        return mutant, "not run" if late else noticed(mutant)

    with ThreadPoolExecutor(options.jobs) as pool:
        for mutant, way in pool.map(look, chosen):
            ways[way or "survived"] += 1
            if not way:
                print(f"SURVIVED {mutant}", flush=True)
    print(f"{', '.join(f'{way} {count}' for way, count in ways.most_common())}  [{time.monotonic() - began:.0f}s]")
    return 1 if ways["survived"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
