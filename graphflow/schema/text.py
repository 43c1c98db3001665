r"""Values as text: how they stand in a prompt, and how a model's answer is read.

::

    render_text({"total": Decimal("132.00")})    # '{"total": 132.00}'
    parse_text('```json\n{"total": 1}\n```', type_of(Invoice))
    parse_text("approve", type_of(Literal["approve", "reject"]))    # "approve"

Only here text is parsed; everywhere else values are of their type already. This module knows no templates and no
models.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterator, Mapping, Set
from decimal import Decimal
from enum import Enum
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic.errors import PydanticUserError
from pydantic_core import to_jsonable_python

from graphflow.schema.adapters import Use, adapter_for, problems
from graphflow.schema.mismatch import TypeMismatch, shown
from graphflow.schema.types import Type, bare, closed_values

_FENCE = re.compile(r"```[A-Za-z0-9_-]*[ \t]*\n(.*?)\n?[ \t]*```", re.DOTALL)


def render_text(value: object) -> str:
    """Give a value as it stands in a prompt.

    Args:
        value: any value of the state.

    Returns:
        Text, dates, identifiers and enum members as they are, all else as JSON on one line; Decimals keep their digits.
    """
    if isinstance(value, Enum):
        return render_text(value.value)
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, Decimal):
        return str(value)
    if not isinstance(value, (bool, int, float, bytes, list, tuple, Mapping, Set, BaseModel)) and value is not None:
        plain = value if _is_dataclass(value) else _plain(value)
        return plain if isinstance(plain, str) else _written(plain)
    return _written(value)


def _written(value: Any) -> str:
    match value:
        case Enum():
            return _written(value.value)
        case None | bool() | int() | float() | str():
            return json.dumps(value, ensure_ascii=False)
        case Decimal():
            return str(value) if value.is_finite() else json.dumps(str(value))
        case BaseModel():
            return _written(value.model_dump())
        case Mapping():
            return f"{{{', '.join(f'{_written_key(key)}: {_written(item)}' for key, item in value.items())}}}"
        case Set():
            return f"[{', '.join(sorted(_written(item) for item in value))}]"
        case list() | tuple():
            return f"[{', '.join(_written(item) for item in value)}]"
        case _ if _is_dataclass(value):
            return _written({each.name: getattr(value, each.name) for each in dataclasses.fields(value)})
        case _:
            return _written(_plain(value))


def _written_key(key: object) -> str:
    return json.dumps(key if isinstance(key, str) else render_text(key), ensure_ascii=False)


def _is_dataclass(value: object) -> bool:
    return dataclasses.is_dataclass(value) and not isinstance(value, type)


def _plain(value: object) -> Any:
    try:
        return to_jsonable_python(value, fallback=str)
    except ValueError:  # bytes that are no text
        return str(value)


def parse_text(text: str, type_: Type) -> Any:
    """Read a model's answer.

    Args:
        text: the answer: JSON, alone or in a Markdown fence; where the type takes text, the bare text does as well.
        type_: the type asked for.

    Returns:
        A value of the type, validated leniently (`"3"` is an int here).

    Raises:
        TypeMismatch: the answer is no value of the type.
    """
    stripped = text.strip()
    hint = bare(type_.hint)
    if hint is Any or hint is object:
        return _any_json(stripped)
    adapter = adapter_for(type_, Use.PARSE)
    if adapter is None:
        raise TypeMismatch(f"expected {type_.text}, which cannot be read from text")
    errors: list[Exception] = []
    for candidate in _candidates(stripped):
        try:
            return adapter.validate_json(candidate, by_alias=True, by_name=True)
        except (ValidationError, PydanticUserError, RecursionError) as error:
            errors.append(error)
    cause = errors[0] if closed_values(type_) is None else errors[-1]  # a choice is answered in words, not in JSON
    reason = problems(cause) if isinstance(cause, ValidationError) else " ".join(str(cause).split())
    raise TypeMismatch(f"expected {type_.text}: {reason} (the answer is {shown(text)})") from cause


def _candidates(text: str) -> Iterator[str]:
    """Give the readings of an answer as JSON, the likeliest first."""
    fenced = _FENCE.search(text)
    yield text
    if fenced is not None:
        yield fenced[1]
    yield json.dumps(text)
    if fenced is not None:
        yield json.dumps(fenced[1].strip())


def _any_json(text: str) -> Any:
    fenced = _FENCE.fullmatch(text)
    for candidate in (text, fenced[1] if fenced is not None else text):
        try:
            return json.loads(candidate)
        except (ValueError, RecursionError):
            continue
    return text
