"""Functions made of text, in a way in which their source can be found."""

from __future__ import annotations

import itertools
import linecache
from collections.abc import Callable
from typing import Any

_numbers = itertools.count()


def function(source: str, name: str = "body", **scope: Any) -> Callable[..., Any]:
    """Execute a text and give the function of this name that it defines."""
    file = f"<made {next(_numbers)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    names: dict[str, Any] = {"__name__": "made", **scope}
    exec(compile(source, file, "exec"), names)
    found: Callable[..., Any] = names[name]
    return found
