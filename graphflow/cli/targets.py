"""From the text of a target to flows.

A target is `pkg.module:object` or `path/file.py[:object]`. Without an object it means the module's flows; if there are
none, its `root_agent`::

    load("shop/refunds.py")         # [Loaded("shop/refunds.py:flow", <Flow>)]
    load("shop.refunds:flow")

Loading imports the user's module in this process; `graphflow.cli.checking` does it in another one. Whatever goes wrong
is a `TargetError` of one line that says what to do.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from graphflow.agents.base import Agent
from graphflow.checker.formats import printable
from graphflow.errors import UsageError, closest
from graphflow.flow import Flow

_PACKAGE = str(Path(__file__).resolve().parent.parent)


class TargetError(UsageError):
    """A target that leads to no flow."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """A flow and the full name of the target that leads to it."""

    target: str
    flow: Flow


def load(target: str, directory: Path | None = None) -> list[Loaded]:
    """Import what a target names.

    Args:
        target: `pkg.module:object`, `pkg.module`, `path/file.py:object` or `path/file.py`.
        directory: where paths start and modules are looked for first; default: the current directory.

    Returns:
        The flows, at least one.

    Raises:
        TargetError: the target leads nowhere, cannot be imported or is no flow.
    """
    base = directory or Path.cwd()
    place, name = split(target, base)
    module = _imported(place, base)
    if name:
        return [Loaded(f"{place}:{name}", _as_flow(_attribute(module, name, place), f"{place}:{name}"))]
    flows = list(_flows(module))
    if flows:
        return [Loaded(f"{place}:{label}", flow) for label, flow in flows]
    root = getattr(module, "root_agent", None)
    if root is not None:
        return [Loaded(f"{place}:root_agent", _as_flow(root, f"{place}:root_agent"))]
    raise TargetError(f"`{place}` has no Flow and no `root_agent`; name an agent in it as `{place}:NAME`")


def load_one(target: str) -> Loaded:
    """Import a target that has to be one flow.

    Raises:
        TargetError: as `load`, or the module has several flows.
    """
    loaded = load(target)
    if len(loaded) > 1:
        names = ", ".join(f"`{one.target}`" for one in loaded)
        raise TargetError(f"`{target}` has {len(loaded)} flows; choose one of {names}")
    return loaded[0]


def split(target: str, directory: Path) -> tuple[str, str]:
    """Split a target into its module or file and its object ("" if it names none).

    Raises:
        TargetError: there is nothing before the colon.
    """
    if (directory / target).is_file():
        return target, ""
    place, colon, name = target.rpartition(":")
    if not colon or not all(part.isidentifier() for part in name.split(".")):
        place, name = target, ""
    if not place or "\0" in place:
        raise TargetError(f"`{target}` is no target; write `pkg.module:object` or `path/file.py:object`")
    return place.removesuffix(":"), name


def _imported(place: str, base: Path) -> ModuleType:
    path = base / place
    if place.endswith(".py") or "/" in place or os.sep in place or path.is_file():
        return _import_file(place, path)
    if not all(part.isidentifier() for part in place.split(".")):
        if path.is_dir():
            raise TargetError(f"`{place}` is a directory; name a file in it: `{place}/FILE.py`")
        raise TargetError(
            f"`{place}` is neither a file nor a module; write `pkg.module:object` or `path/file.py:object`"
        )
    return _import_module(place, path, base)


def _import_file(place: str, path: Path) -> ModuleType:
    if path.is_dir():
        raise TargetError(f"`{place}` is a directory; name a file in it: `{place.rstrip('/')}/FILE.py`")
    if not path.exists():
        siblings = [other.name for other in path.parent.glob("*.py")] if path.parent.is_dir() else []
        near = closest(path.name, siblings)
        raise TargetError(
            f"there is no file `{place}`" + (f"; did you mean `{path.with_name(near).name}`" if near else "")
        )
    if path.suffix != ".py":
        raise TargetError(f"`{place}` is no Python file; a target is `path/file.py:object` or `pkg.module:object`")
    path = path.resolve()
    root, parts = path.parent, [path.stem]
    while (root / "__init__.py").is_file() and root != root.parent:
        parts.insert(0, root.name)
        root = root.parent
    if parts[-1] == "__init__" and len(parts) > 1:
        parts.pop()
    _first_on_path(root)
    if len(parts) > 1:
        with _Explained(place, path):
            module = importlib.import_module(".".join(parts))
        found = getattr(module, "__file__", None)
        if found is None or not Path(found).samefile(path):
            raise TargetError(f"`{place}` is hidden by another module named `{'.'.join(parts)}` ({found})")
        return module
    return _execute(place, path)


def _execute(place: str, path: Path) -> ModuleType:
    """Run a file that is in no package, under a module name that hides nothing that is imported already."""
    name = path.stem if path.stem.isidentifier() and path.stem not in sys.modules else f"{path.stem}@{path.parent}"
    known = sys.modules.get(name)
    if known is not None and getattr(known, "__file__", None) == str(path):
        return known
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise TargetError(f"`{place}` cannot be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        with _Explained(place, path):
            spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    return module


def _import_module(name: str, path: Path, base: Path) -> ModuleType:
    _first_on_path(base)
    try:
        with _Explained(name, None):
            module = importlib.import_module(name)
    except _Missing as missing:
        if path.is_dir():
            raise TargetError(f"`{name}` is a directory; name a file in it: `{name}/FILE.py`") from missing
        if path.with_suffix(".py").is_file():
            raise TargetError(f"there is no module `{name}`; did you mean the file `{name}.py`") from missing
        raise TargetError(
            f"there is no module `{missing.module}`; modules are looked for in {base} and where Python is installed"
        ) from missing
    if getattr(module, "__file__", None) is None and path.is_dir():
        raise TargetError(f"`{name}` is a directory; name a file in it: `{name}/FILE.py`")
    return module


class _Missing(TargetError):
    """The target's own module is not there."""

    def __init__(self, module: str) -> None:
        super().__init__(f"there is no module `{module}`")
        self.module = module


@dataclass(frozen=True, slots=True)
class _Explained:
    """Turns whatever an import raises into one line that names the file and the line."""

    place: str
    path: Path | None

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None or isinstance(error, (TargetError, KeyboardInterrupt)):
            return
        if isinstance(error, ModuleNotFoundError) and self.path is None and _names(error.name, self.place):
            raise _Missing(error.name or self.place) from error
        raise TargetError(self._explain(error)) from error

    def _explain(self, error: BaseException) -> str:
        if isinstance(error, SyntaxError):
            at = f"{printable(error.filename or self.path or self.place)}" + (
                f":{error.lineno}" if error.lineno else ""
            )
            return f"`{self.place}` cannot be imported: {at}: {type(error).__name__}: {error.msg}"
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if _is_users(frame.filename)]
        at = f"{frames[-1].filename}:{frames[-1].lineno}: " if frames else ""
        if isinstance(error, SystemExit):
            return f"`{self.place}` cannot be imported: {at}it ends the program while it is imported (sys.exit)"
        if isinstance(error, EOFError):
            return f"`{self.place}` cannot be imported: {at}it waits for input while it is imported"
        if isinstance(error, ModuleNotFoundError) and error.name:
            return f"`{self.place}` cannot be imported: {at}it needs the module `{error.name}`, which is not installed"
        reason = str(error).strip().partition("\n")[0]
        return f"`{self.place}` cannot be imported: {at}{type(error).__name__}" + (f": {reason}" if reason else "")


def _names(missing: str | None, module: str) -> bool:
    return missing is not None and (module == missing or module.startswith(f"{missing}."))


def _is_users(file: str) -> bool:
    return not file.startswith(("<frozen", _PACKAGE)) or file.startswith(f"{_PACKAGE}{os.sep}examples")


def _first_on_path(directory: Path) -> None:
    text = str(directory)
    if text not in sys.path:
        sys.path.insert(0, text)


def _flows(module: ModuleType) -> Iterator[tuple[str, Flow]]:
    """The flows made in a module; if there are none, those that it imports. Each once, under its first name."""
    names: dict[int, tuple[str, Flow]] = {}
    for name, value in vars(module).items():
        if isinstance(value, Flow):
            names.setdefault(id(value), (name, value))
    file = getattr(module, "__file__", None)
    own = [pair for pair in names.values() if pair[1].origin is not None and pair[1].origin.file == file]
    return iter(own or names.values())


def _attribute(module: ModuleType, name: str, place: str) -> object:
    value: object = module
    for part in name.split("."):
        try:
            value = getattr(value, part)
        except AttributeError as error:
            candidates = [known for known, found in vars(module).items() if isinstance(found, (Flow, Agent))]
            near = closest(name, candidates)
            hint = (
                f"did you mean `{near}`" if near else f"there are {', '.join(candidates) or 'no flows and no agents'}"
            )
            raise TargetError(f"`{place}` has no `{name}`; {hint}") from error
    return value


def _as_flow(value: object, target: str) -> Flow:
    if isinstance(value, Flow):
        return value
    if isinstance(value, Agent):
        return Flow(value)
    kind = f"the class {value.__name__}" if isinstance(value, type) else f"a {type(value).__name__}"
    hint = "; call it and give the result a name" if callable(value) else ""
    raise TargetError(f"`{target}` is {kind}, neither a Flow nor an agent{hint}")
