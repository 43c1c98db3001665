"""What one run may use.

::

    flow.run_sync(inputs, limits=Limits(max_model_calls=20, deadline=60))
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from graphflow.errors import LimitExceeded, UsageError


@dataclass(frozen=True, slots=True)
class Limits:
    """What one run may use. A limit that is reached fails the run with `LimitExceeded`.

    Attributes:
        max_model_calls: model calls of all nodes together.
        max_steps: task starts, None for no limit.
        max_tokens: tokens in and out of all model calls together, None for no limit.
        deadline: seconds from the start of the run, None for no limit.
    """

    max_model_calls: int | None = 500
    max_steps: int | None = None
    max_tokens: int | None = None
    deadline: float | None = None

    def __post_init__(self) -> None:
        for name in ("max_model_calls", "max_steps", "max_tokens", "deadline"):
            value = getattr(self, name)
            kinds = (int, float) if name == "deadline" else (int,)
            if value is None:
                continue
            if not isinstance(value, kinds) or isinstance(value, bool):
                raise TypeError(f"Limits: `{name}` takes a number or None, got {value!r}")
            if value < 0 or math.isnan(value):
                raise UsageError(f"Limits: `{name}` must not be negative, got {value!r}")


@dataclass(slots=True)
class Used:
    """What a run has used of its limits; `turns`: ticket -> model turns of that task."""

    calls: int = 0
    tokens: int = 0
    turns: dict[int, int] = field(default_factory=dict)

    def call(self, limits: Limits, node: str) -> None:
        """Count a model call before it is made.

        Raises:
            LimitExceeded: it would be one too many.
        """
        limit = limits.max_model_calls
        if limit is not None and self.calls >= limit:
            raise LimitExceeded(f"the limit of {limit} model calls was reached at `{node}`", limit="max_model_calls")
        self.calls += 1

    def spend(self, tokens: int, limits: Limits, node: str) -> None:
        """Count the tokens of a model call that was made.

        Raises:
            LimitExceeded: there are too many.
        """
        self.tokens += tokens
        limit = limits.max_tokens
        if limit is not None and self.tokens > limit:
            raise LimitExceeded(f"the limit of {limit} tokens was passed at `{node}`", limit="max_tokens")
