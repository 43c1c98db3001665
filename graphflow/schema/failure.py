"""What stands in a list where a collected failure left no value.

::

    Failure(index=2, error="TimeoutError: no answer within 5 s")

It is plain data that JSON can hold: an exception cannot be journaled, its text can.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Failure:
    """An element of a map whose instance failed, in the place of its result.

    Attributes:
        index: 0-based place of the element in the list.
        error: class and message of the exception.
    """

    index: int
    error: str
