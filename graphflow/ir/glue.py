"""Bodies of the tasks that graphflow itself adds: fixed values in place of a failed stage, keys that cross a scope.

They run inline and touch nothing but the state::

    Constants({"score": 0}).call(ctx)       # {"score": 0}
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from graphflow.context import Context, Mode
from graphflow.schema import MISSING, Overwrite


@dataclass(frozen=True, slots=True)
class Constants:
    """Writes fixed values, key -> value."""

    values: Mapping[str, object]
    mode: Mode = "inline"

    @property
    def call(self) -> Callable[[Context], Mapping[str, object]]:
        """Run once and give the writes, key -> value."""
        return self._write

    def _write(self, _: Context) -> Mapping[str, object]:
        return dict(self.values)


@dataclass(frozen=True, slots=True)
class Crossing:
    """Carries values over the border of a key scope.

    Attributes:
        keys: key written -> key read, both as the graph names them; absent ones are left out.
        defaults: values of keys that nothing is carried to, key written -> value.
        replaced: keys with a merge whose value is what is carried, not an update of it.
    """

    keys: Mapping[str, str]
    defaults: Mapping[str, object] = field(default_factory=dict)
    replaced: frozenset[str] = frozenset()
    mode: Mode = "inline"

    @property
    def call(self) -> Callable[[Context], Mapping[str, object]]:
        """Run once and give the writes, key -> value."""
        return self._carry

    def _carry(self, ctx: Context) -> Mapping[str, object]:
        found = {written: ctx.state.read(read) for written, read in self.keys.items()}
        written = {**self.defaults, **{key: value for key, value in found.items() if value is not MISSING}}
        return {key: Overwrite(value) if key in self.replaced else value for key, value in written.items()}
