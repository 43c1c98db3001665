"""How often a failing stage is tried, and how long is waited in between.

::

    RetryPolicy(attempts=4, backoff=0.5, exceptions=(TimeoutError,))

It is data: the runtime counts attempts and waits, this module does neither.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import cast


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """When a failed attempt is followed by another.

    Two policies are equal if they say the same; exceptions are compared by name.

    Attributes:
        attempts: attempts in all, the first one included.
        backoff: seconds before the second attempt.
        factor: what the wait is multiplied by after each further attempt.
        max_backoff: the longest wait in seconds, jitter left out.
        jitter: at most so many seconds are added at random.
        exceptions: what is worth another attempt; subclasses count.
        catches: their names.

    Raises:
        TypeError: a field of the wrong type or out of range.
    """

    attempts: int = 3
    backoff: float = 1.0
    factor: float = 2.0
    max_backoff: float = 60.0
    jitter: float = 1.0
    exceptions: tuple[type[BaseException], ...] = field(default=(Exception,), compare=False)
    catches: tuple[str, ...] = field(init=False, default=())

    def __post_init__(self) -> None:
        attempts, given = cast("object", self.attempts), cast("object", self.exceptions)
        if not isinstance(attempts, int) or isinstance(attempts, bool) or attempts < 1:
            raise TypeError(f"RetryPolicy: `attempts` is a number of at least 1, got {self.attempts!r}")
        for name in ("backoff", "factor", "max_backoff", "jitter"):
            value = getattr(self, name)
            if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0 <= value < math.inf:
                raise TypeError(f"RetryPolicy: `{name}` is a number of at least 0, got {value!r}")
        kinds = given if isinstance(given, (tuple, list)) else (given,)
        if not kinds or not all(isinstance(kind, type) and issubclass(kind, BaseException) for kind in kinds):
            raise TypeError(f"RetryPolicy: `exceptions` takes exception classes, got {self.exceptions!r}")
        object.__setattr__(self, "exceptions", tuple(kinds))
        object.__setattr__(self, "catches", tuple(kind.__name__ for kind in kinds))

    def covers(self, error: BaseException) -> bool:
        """Say whether a failure is worth another attempt."""
        return isinstance(error, self.exceptions)


def as_retry(value: object) -> RetryPolicy | None:
    """Read what `retry=` was given: a policy, or a number of attempts.

    Raises:
        TypeError: anything else.
    """
    if value is None or isinstance(value, RetryPolicy):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return RetryPolicy(attempts=value)
    raise TypeError(f"`retry` takes RetryPolicy(...) or a number of attempts, got {value!r}")
