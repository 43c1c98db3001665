"""From the text of `--input` and `--message` to values.

::

    read_inputs(["topic=tides", "limit=3", "mail=@mail.txt", "notes=-"], flow)   # {"topic": "tides", "limit": 3, ...}

A value is read by the declared type of its input: text as it is, all else as JSON; where no type is declared, JSON if
it is JSON, else text.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from graphflow.errors import UsageError
from graphflow.flow import Flow
from graphflow.schema import ANY, Type, TypeMismatch, from_json, type_of, validator

STANDARD_INPUT = "-"
_TEXT = type_of(str)


def read_inputs(pairs: Sequence[str], flow: Flow, stdin: IO[bytes]) -> dict[str, object]:
    """Read `K=V`, `K=@FILE` and `K=-`.

    Args:
        pairs: as given on the command line.
        flow: whose declared types decide how values are read.
        stdin: what `-` stands for.

    Returns:
        Input name -> value.

    Raises:
        UsageError: no `=`, a name given twice, a file that cannot be read, text that does not fit the type.
    """
    declared = {name: type_ for name, type_, *_ in flow.interface.inputs or ()}
    declared = {key.name: type_of(key.type) for key in flow.interface.keys} | declared
    values: dict[str, object] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals or not name.strip():
            raise UsageError(f"--input takes NAME=VALUE, NAME=@FILE or NAME=-, got `{pair}`")
        name = name.strip()
        if name in values:
            raise UsageError(f"--input gives `{name}` twice")
        values[name] = parse_value(name, read_text(text, f"input `{name}`", stdin), declared.get(name, ANY))
    return values


def read_text(text: str, what: str, stdin: IO[bytes]) -> str:
    """Give text as it is, or what `@FILE` or `-` stands for.

    Args:
        text: what was given.
        what: what it is for, for messages.
        stdin: what `-` stands for.

    Raises:
        UsageError: a file or standard input that is missing, empty, unreadable or no UTF-8.
    """
    if text == STANDARD_INPUT:
        return _decoded(stdin.read(), what, "standard input")
    if not text.startswith("@") or text == "@":
        return text
    file = Path(text[1:])
    try:
        content = file.read_bytes()
    except FileNotFoundError as error:
        raise UsageError(f"{what}: there is no file `{file}`") from error
    except IsADirectoryError as error:
        raise UsageError(f"{what}: `{file}` is a directory, not a file") from error
    except (OSError, ValueError) as error:
        raise UsageError(f"{what}: `{file}` cannot be read: {getattr(error, 'strerror', None) or error}") from error
    return _decoded(content, what, f"file `{file}`")


def _decoded(content: bytes, what: str, source: str) -> str:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{what}: {source} is no UTF-8 text (byte {error.start}); convert it to UTF-8 first"
        ) from error
    if not text.strip():
        raise UsageError(f"{what}: {source} is empty")
    return text


def parse_value(name: str, text: str, type_: Type) -> object:
    """Read one value by its declared type.

    Args:
        name: the input, for messages.
        text: what was given.
        type_: the declared type.

    Raises:
        UsageError: the text is no value of the type.
    """
    if type_ == _TEXT:
        return text
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        return _as_text(name, text, type_, f"{text[:60]!r} is no JSON ({error})")
    if type_ == ANY:
        return data
    try:
        return from_json(data, type_)
    except TypeMismatch as error:
        return _as_text(name, text, type_, str(error))


def _as_text(name: str, text: str, type_: Type, reason: str) -> object:
    """Take the text itself where the type allows it (`str | None`, a Literal of strings, an unknown type)."""
    for read in (validator(type_), lambda value: from_json(value, type_)):
        try:
            return read(text)
        except TypeMismatch:
            continue
    raise UsageError(f"input `{name}` takes {type_.text}: {reason}")
