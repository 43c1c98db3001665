"""The exception tree, and the one notion of "similar name" that every suggestion uses.

Four kinds of trouble never mix: a user's flow is wrong (a finding, never an exception), the API is misused
(`UsageError`), a run failed (`RunFailed`, caused by one of the task errors below), graphflow itself is wrong
(`InternalError`)::

    GraphflowError
    |-- UsageError (ValueError)         wrong arguments, unknown target, missing input
    |-- ContractError (ValueError)      the check found errors; nothing was started
    |   `-- ContractViolation           a task broke its own contract at run time
    |-- RunFailed                       what `Flow.run` raises; `.result` has the rest
    |-- AbsentKeyError                  a required read of a key that is not there
    |-- StateConflictError              two concurrent writes met and no merge is declared
    |-- RouteError                      no case, route or default matches
    |-- LoopExhausted                   a loop with `on_exhausted="fail"` reached its bound
    |-- LimitExceeded                   a limit of the run was reached
    |-- ModelError                      a model could not answer
    `-- InternalError                   a fault of graphflow

Exceptions carry their facts as fields, so callers never parse messages. This module knows nothing of graphs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any


class GraphflowError(Exception):
    """Base of everything graphflow raises on purpose."""


class UsageError(GraphflowError, ValueError):
    """The API or the command line was used wrongly; the message says what to write instead."""


class ContractError(GraphflowError, ValueError):
    """The flow's check has error findings, so nothing was started.

    Attributes:
        report: the `Report` with all findings (None for a violation at run time).
    """

    def __init__(self, report: Any = None, message: str | None = None) -> None:
        self.report = report
        super().__init__(message if message is not None else str(report))


class ContractViolation(ContractError):
    """A task wrote outside its contract, left a sure write out, or wrote a value of the wrong type.

    Attributes:
        node: path of the task.
        key: the key concerned, if there is one.
    """

    def __init__(self, message: str, *, node: str = "", key: str | None = None) -> None:
        super().__init__(None, message)
        self.node = node
        self.key = key


class RunFailed(GraphflowError):
    """A run ended as failed. The cause is chained.

    Attributes:
        result: the `Result` of the run, with everything that was committed.
    """

    def __init__(self, message: str, result: Any = None) -> None:
        super().__init__(message)
        self.result = result


class AbsentKeyError(GraphflowError):
    """A required read (placeholder, parameter, condition) of a key that has no value.

    Attributes:
        key: the key, or `key.field` where a field is missing.
        node: path of the reader; empty while it is not known.
    """

    def __init__(self, key: str, node: str = "") -> None:
        where = f" at `{node}`" if node else ""
        super().__init__(
            f"key `{key}` has no value{where}; give it as an input, write it first, or read it as optional"
        )
        self.key = key
        self.node = node


class StateConflictError(GraphflowError):
    """Two concurrent tasks wrote one key and no merge is declared.

    Attributes:
        key: the key.
        nodes: paths of the two writers, in canonical order.
        where: path of the node at which the two writes met.
    """

    def __init__(self, key: str, nodes: Sequence[str], where: str) -> None:
        first, second = (*nodes, "?", "?")[:2]
        super().__init__(
            f"`{first}` and `{second}` both wrote `{key}` and ran side by side (met at `{where}`); "
            f"give each its own key or declare Key({key!r}, merge=...)"
        )
        self.key = key
        self.nodes = tuple(nodes)
        self.where = where


class RouteError(GraphflowError):
    """No case, route or default matches the value found.

    Attributes:
        node: path of the node that chose.
        value: the value that nothing matched.
    """

    def __init__(self, message: str, *, node: str = "", value: object = None) -> None:
        super().__init__(message)
        self.node = node
        self.value = value


class LoopExhausted(GraphflowError):
    """A loop with `on_exhausted="fail"` ran `max_iterations` times without its exit test coming true."""


class StageTimeout(GraphflowError, TimeoutError):
    """An attempt at a stage took longer than its `timeout`.

    Attributes:
        node: path of the stage.
        seconds: the limit.
    """

    def __init__(self, message: str, *, node: str = "", seconds: float = 0) -> None:
        super().__init__(message)
        self.node = node
        self.seconds = seconds


class ReplayError(GraphflowError):
    """The code of a stage that runs anew asks for something else than it did before.

    Attributes:
        node: path of the stage.
    """

    def __init__(self, message: str, *, node: str = "") -> None:
        super().__init__(message)
        self.node = node


class LimitExceeded(GraphflowError):
    """A limit of the run was reached.

    Attributes:
        limit: name of the limit (a field of `Limits`).
    """

    def __init__(self, message: str, *, limit: str = "") -> None:
        super().__init__(message)
        self.limit = limit


class ModelError(GraphflowError):
    """A model could not answer, or answered what the output schema does not hold."""


class InternalError(GraphflowError):
    """An invariant of graphflow itself is broken. Please report it with the printed graph."""


def closest(name: str, candidates: Iterable[str]) -> str | None:
    """Find the candidate most similar to `name`.

    Two names are similar if their edit distance is at most 2 and at most a third of the longer name's length, or if
    the words of one (split at underscores, capitals and a plural s ignored) are contained in the other's; never if
    they differ in digits only.

    Args:
        name: the name that was not found.
        candidates: the names that exist.

    Returns:
        The nearest similar candidate (ties: alphabetical), or None if none is similar.
    """
    ranked = sorted((_rank(name, other), other) for other in set(candidates) if other != name and _similar(name, other))
    return ranked[0][1] if ranked else None


def _rank(left: str, right: str) -> int:
    return edit_distance(left, right)


def _similar(left: str, right: str) -> bool:
    if _without_digits(left) == _without_digits(right):
        return False
    distance = edit_distance(left, right, 2)
    if distance <= 2 and distance * 3 <= max(len(left), len(right)):
        return True
    words, others = _words(left), _words(right)
    return bool(words) and bool(others) and (words <= others or others <= words)


def _without_digits(name: str) -> str:
    return "".join("#" if character.isdigit() else character for character in name)


def _words(name: str) -> frozenset[str]:
    spaced = "".join(f"_{c}" if c.isupper() and i and name[i - 1].islower() else c for i, c in enumerate(name))
    parts = spaced.lower().replace(":", "_").replace("-", "_").split("_")
    return frozenset(part[:-1] if part.endswith("s") and len(part) > 3 else part for part in parts if part)


def edit_distance(left: str, right: str, most: int = 100) -> int:
    """Count the insertions, deletions and substitutions between two names (Levenshtein, in a band; O(len * most)).

    Args:
        left: one name.
        right: the other.
        most: the largest distance that matters; whatever is farther apart counts as `most + 1`.
    """
    if abs(len(left) - len(right)) > most:
        return most + 1
    previous = {column: column for column in range(min(most, len(right)) + 1)}
    for row, a in enumerate(left, 1):
        low, high = max(0, row - most), min(len(right), row + most)
        current: dict[int, int] = {}
        for column in range(low, high + 1):
            above, beside = previous.get(column, most), current.get(column - 1, most)
            across = previous.get(column - 1, most) + (a != right[column - 1]) if column else row
            current[column] = min(above + 1, beside + 1, across)
        previous = current
        if min(current.values()) > most:
            break
    return min(previous.get(len(right), most + 1), most + 1)
