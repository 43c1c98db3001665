"""The public surface: few names, in order, each documented; and importing it stays light."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import graphflow

ROOT = Path(__file__).parent.parent
LATE = ("beartype", "google.genai", "graphviz", "graphviz_pure", "rich")
PROBE = "import json, sys; from graphflow import *; print(json.dumps(sorted(sys.modules)))"


def test_public_names_are_sorted_and_few() -> None:
    """A reader can take in the whole list."""
    names = list(graphflow.__all__)

    assert len(names) == len(set(names))
    assert names == sorted(names, key=lambda name: (not name.isupper(), name))
    assert len(names) <= 50


@pytest.mark.parametrize("name", graphflow.__all__)
def test_each_public_name_is_documented(name: str) -> None:
    """Each name can be imported; classes and functions have a docstring of their own, values a documented type."""
    thing = getattr(graphflow, name)
    documented = thing if inspect.isroutine(thing) or isinstance(thing, type) else type(thing)
    text = documented.__doc__ or ""

    assert text.strip(), f"`{name}` has no docstring"
    assert not text.startswith(f"{name}("), f"`{name}` has only the docstring that `dataclass` writes"


def test_what_is_public_is_what_the_package_shows() -> None:
    """No public name of the package is missing from `__all__`."""
    shown = {
        name for name, thing in vars(graphflow).items() if not name.startswith("_") and not inspect.ismodule(thing)
    }

    assert shown - {"Any", "TYPE_CHECKING", "annotations", "import_module"} <= set(graphflow.__all__)


def test_importing_graphflow_loads_nothing_heavy() -> None:
    """Providers, pictures, terminals and the type checker at run time are loaded when they are used."""
    result = subprocess.run(
        [sys.executable, "-c", PROBE],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = set(json.loads(result.stdout))

    assert "graphflow.flow" in loaded
    assert [name for name in LATE if name in loaded] == []


def test_the_package_says_that_it_is_typed() -> None:
    """Type checkers read the annotations of a package that has this marker."""
    assert (Path(graphflow.__file__).parent / "py.typed").is_file()
