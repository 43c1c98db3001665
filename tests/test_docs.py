"""The documentation is true: its Python runs, its links lead somewhere."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^```python[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
WITH_PYTHON = [page for page in PAGES if FENCE.search(page.read_text(encoding="utf-8"))]
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)\s]*)?\)|(?:src|srcset|href)=\"([^\"#]+)\"")


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks(text: str) -> Iterator[str]:
    """The Python blocks of a page, each after as many empty lines as put it on its line of the page."""
    for match in FENCE.finditer(text):
        yield "\n" * text.count("\n", 0, match.start(1)) + match.group(1)


def run(page: Path, text: str, module: ModuleType) -> None:
    """Execute the blocks of a page in order, in one namespace."""
    for block in blocks(text):
        exec(compile(block, str(page), "exec", dont_inherit=True), vars(module))


def broken_links(page: Path, text: str) -> list[str]:
    """Relative links of a page that lead to no file."""
    targets = [first or second for first, second in LINK.findall(FENCE.sub("", text))]
    return [target for target in targets if "://" not in target and not (page.parent / target).exists()]


@pytest.mark.parametrize("page", WITH_PYTHON, ids=name_of)
def test_python_of_a_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader who copies the blocks of a page in order gets no error."""
    module = ModuleType("page")
    monkeypatch.setitem(sys.modules, "page", module)
    monkeypatch.chdir(tmp_path)

    run(page, page.read_text(encoding="utf-8"), module)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_of_a_page_lead_somewhere(page: Path) -> None:
    """Pictures and other pages are where the page says."""
    assert broken_links(page, page.read_text(encoding="utf-8")) == []


def test_a_false_page_is_found(tmp_path: Path) -> None:
    """A block that fails is reported on the page's own line, and a dead link by its name."""
    page = tmp_path / "page.md"
    page.write_text(
        "# Page\n[gone](gone.svg) [web](https://example.org)\n```python\nx = 1\nassert x == 2\n```\n", encoding="utf-8"
    )
    text = page.read_text(encoding="utf-8")

    with pytest.raises(AssertionError) as raised:
        run(page, text, ModuleType("page"))

    assert raised.traceback[-1].lineno == 4
    assert broken_links(page, text) == ["gone.svg"]
