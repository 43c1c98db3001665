"""The shape of the code: files, functions and data classes stay small enough to be read at one go."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "graphflow"
FILE_LINES = 400
BODY_LINES = 60
FIELDS = 14

Function = ast.FunctionDef | ast.AsyncFunctionDef


def sources() -> list[tuple[str, str]]:
    """Relative path and text of each module of the package."""
    paths = sorted(PACKAGE.rglob("*.py"))
    return [(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")) for path in paths]


def body_lines(function: Function) -> int:
    """Lines from the first statement after the docstring to the end."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def functions(tree: ast.AST) -> Iterator[Function]:
    yield from (node for node in ast.walk(tree) if isinstance(node, Function))


def long_bodies(source: str) -> list[tuple[int, str, int]]:
    """Line, name and length of each function whose body is too long."""
    found = ((function.lineno, function.name, body_lines(function)) for function in functions(ast.parse(source)))
    return [(line, name, length) for line, name, length in found if length > BODY_LINES]


def is_dataclass(definition: ast.ClassDef) -> bool:
    decorators = (node.func if isinstance(node, ast.Call) else node for node in definition.decorator_list)
    return any(ast.unparse(decorator).endswith("dataclass") for decorator in decorators)


def wide_dataclasses(source: str) -> list[tuple[int, str, int]]:
    """Line, name and number of fields of each data class that has too many."""
    found = []
    for definition in ast.walk(ast.parse(source)):
        if isinstance(definition, ast.ClassDef) and is_dataclass(definition):
            annotated = [node for node in definition.body if isinstance(node, ast.AnnAssign)]
            count = sum(1 for field in annotated if not ast.unparse(field.annotation).startswith("ClassVar"))
            if count > FIELDS:
                found.append((definition.lineno, definition.name, count))
    return found


def modules_of(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return ["graphflow" if node.level else node.module or ""]
    return []


def hidden_imports(source: str) -> list[tuple[int, str]]:
    """Line and module of each import of our own inside a function."""
    imports = (
        (node, name)
        for function in functions(ast.parse(source))
        for node in ast.walk(function)
        for name in modules_of(node)
    )
    return sorted({(node.lineno, name) for node, name in imports if name.split(".")[0] == "graphflow"})


def test_files_are_short() -> None:
    """A file has one subject; past the budget it has two."""
    lengths = {name: len(text.splitlines()) for name, text in sources()}

    assert {name: length for name, length in lengths.items() if length > FILE_LINES} == {}


def test_function_bodies_are_short() -> None:
    """A function does one thing; its docstring does not count."""
    assert {name: found for name, text in sources() if (found := long_bodies(text))} == {}


def test_dataclasses_are_narrow() -> None:
    """A data class has few fields; more than that are several things with different lives."""
    assert {name: found for name, text in sources() if (found := wide_dataclasses(text))} == {}


def test_no_import_of_ours_hides_in_a_function() -> None:
    """A cycle hidden in a function is a cycle; only heavy third-party packages are imported late."""
    assert {name: found for name, text in sources() if (found := hidden_imports(text))} == {}


def test_the_budgets_can_be_broken() -> None:
    """Each measure finds what it is for."""
    long = "def f():\n    '''Text.'''\n" + "    x = 1\n" * (BODY_LINES + 1)
    wide = "@dataclass(frozen=True)\nclass C:\n    n: ClassVar[int] = 0\n" + "".join(
        f"    f{n}: int\n" for n in range(FIELDS + 1)
    )
    hidden = "import graphflow\n\ndef f():\n    def g():\n        from graphflow.ir import graph\n    import rich\n"

    assert long_bodies(long) == [(1, "f", BODY_LINES + 1)]
    assert wide_dataclasses(wide) == [(2, "C", FIELDS + 1)]
    assert hidden_imports(hidden) == [(5, "graphflow.ir")]
