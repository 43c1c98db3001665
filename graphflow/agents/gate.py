"""`Gate`: the run goes on when a condition holds, else it halts.

::

    Gate("ready", require=key("validation") == "ok", reason="{validation}")
    # branch -pass-> on

It lowers to a branch with one way on; it executes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Unpack

from pydantic import field_validator

from graphflow import conditions
from graphflow.agents.base import Agent
from graphflow.agents.options import Options, to_condition
from graphflow.conditions import Condition
from graphflow.contracts.contract import Contract
from graphflow.contracts.template import condition_reads, template_reads
from graphflow.ir.builder import Builder, Region
from graphflow.ir.nodes import Arm, Branch
from graphflow.ir.notes import Notes
from graphflow.template import parse


class Gate(Agent):
    """Lets the run go on when a condition holds, else halts it.

    Args:
        name: see `Agent`.
        require: the condition.
        reason: a template for the halt's reason; default: the condition and the values found.
    """

    title: ClassVar[str] = "gate"
    positional: ClassVar[tuple[str, ...]] = ("name", "require")

    require: Any
    reason: str | None = None

    if TYPE_CHECKING:  # type checkers see what may be given without a name

        def __init__(
            self,
            name: str,
            require: Any,
            *,
            reason: str | None = None,
            **options: Unpack[Options],
        ) -> None: ...

    @field_validator("require")
    @classmethod
    def _condition(cls, value: object) -> Condition:
        return to_condition(value)

    @property
    def notes(self) -> Notes:
        """The reason, where one was given."""
        return Notes(texts=(("reason", self.reason),) if self.reason is not None else ())

    def lower(self, builder: Builder) -> Region:
        """One branch with one way on."""
        reason = parse(self.reason if self.reason is not None else self._default_reason())
        made = self.origin if self.reason is not None else None
        named = (*template_reads(reason, made=made), *condition_reads([self.require]))
        reads = {(read.key, read.path): read for read in named}
        node = Branch(
            builder.here.id,
            builder.here.parent,
            Contract(reads=tuple(reads.values()), halts=True),
            self.origin,
            (Arm("pass", self.require),),
            halt=reason,
            subject=conditions.text(self.require),
        )
        return builder.leaf(node, "pass")

    def _default_reason(self) -> str:
        found = ", ".join(
            f"{'.'.join((name, *path))} is {{{'.'.join((name, *path))}?}}"
            for name, path, _ in conditions.reads(self.require)
        )
        text = conditions.text(self.require).replace("{", "(").replace("}", ")")
        return f"requires {text}" + (f", but {found}" if found else "")
