"""From the type of an answer to the JSON Schema that the Gemini API takes.

The API knows a part of JSON Schema and overlooks the rest. So what it knows is sent as it is, what can be said in words
goes into the description that the model reads, and anything else is refused: nothing is left out in silence::

    answer_schema(type_of(Literal["approve", "reject"]))  # {"type": "string", "enum": ["approve", "reject"]}
    answer_schema(type_of(Annotated[str, MinLen(3)]))     # {"type": "string", "description": "At least 3 characters."}
    answer_schema(type_of(str))                           # None: an answer that is text has no schema

It knows types and JSON, neither google-genai nor a network. Source: `GenerationConfig.responseJsonSchema` in the
reference of the Gemini API (v1beta).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from pydantic.errors import PydanticUserError

from graphflow.errors import UsageError
from graphflow.schema.adapters import Use, adapter_for
from graphflow.schema.types import Type

Schema = dict[str, Any]

_REFERENCE = "#/$defs/"
_AS_THEY_ARE = frozenset(
    {"$ref", "type", "format", "title", "required", "minItems", "maxItems", "minimum", "maximum", "propertyOrdering"}
)
_OVERLOOKED = frozenset({"$defs", "description", "discriminator", "$schema", "$comment"})
"""Handled elsewhere, or without a meaning of their own: the tags of a tagged union stand in its members too."""
_ANYTHING = ("string", "number", "boolean", "null", "object", "array")
_WORDS: dict[str, Callable[[Any], str | None]] = {
    "minLength": lambda bound: f"At least {bound} characters.",
    "maxLength": lambda bound: f"At most {bound} characters.",
    "pattern": lambda pattern: f"Matches the regular expression {pattern}",
    "exclusiveMinimum": lambda bound: f"Greater than {bound}.",
    "exclusiveMaximum": lambda bound: f"Less than {bound}.",
    "multipleOf": lambda factor: f"A multiple of {factor}.",
    "uniqueItems": lambda unique: "No item twice." if unique else None,
    "minProperties": lambda bound: f"At least {bound} entries.",
    "maxProperties": lambda bound: f"At most {bound} entries.",
    "propertyNames": lambda schema: f"Each key fits the JSON schema {_json(schema)}",
    "default": lambda value: None if value is None else f"If left out: {_json(value)}",
    "examples": lambda values: f"For example: {', '.join(_json(value) for value in values)}",
    "deprecated": lambda is_so: "Deprecated." if is_so else None,
    "contentEncoding": lambda encoding: f"Encoded as {encoding}.",
}


def answer_schema(type_: Type) -> Schema | None:
    """Give the schema that an answer of a type is asked for with.

    Args:
        type_: type of the answer, as it is parsed later.

    Returns:
        JSON Schema in the part of it that the API knows; None for `str`, which is asked for as plain text. The type
        `Any` gives the empty schema: any JSON.

    Raises:
        UsageError: the API cannot express the type; the message names the place and the reason.
    """
    if type_.hint is str:
        return None
    adapter = adapter_for(type_, Use.PARSE)
    if adapter is None:
        raise UsageError(f"`{type_.text}` has no JSON schema; use a pydantic model, a TypedDict or plain types")
    try:
        whole = adapter.json_schema(by_alias=True, mode="validation")
    except PydanticUserError as error:
        reason = str(error).partition("\n")[0]
        raise UsageError(f"`{type_.text}` has no JSON schema: {reason}") from error
    definitions = whole.get("$defs", {})
    _refuse_endless(whole, definitions, {}, type_.text)
    root = {key: value for key, value in whole.items() if key != "$defs"}
    if not root:
        return {}
    if "$ref" in root:  # the type of the answer itself has to be seen at once
        root = {**_definition(root["$ref"], definitions), **{key: root[key] for key in root if key != "$ref"}}
    translated = _translated(root, definitions, type_.text)
    used = _used(translated, definitions, type_.text)
    return {**translated, "$defs": used} if used else translated


def _used(translated: Schema, definitions: Mapping[str, Schema], place: str) -> dict[str, Schema]:
    """Translate the definitions that are still referred to, and those that these refer to."""
    used: dict[str, Schema] = {}
    waiting = _references(translated)
    while waiting:
        name = waiting.pop()
        if name not in used:
            used[name] = _translated(definitions[name], definitions, f"{place}: {name}")
            waiting += _references(used[name])
    return {name: used[name] for name in definitions if name in used}


def _references(schema: object) -> list[str]:
    if isinstance(schema, list):
        return [name for item in schema for name in _references(item)]
    if not isinstance(schema, dict):
        return []
    own = [schema["$ref"].removeprefix(_REFERENCE)] if isinstance(schema.get("$ref"), str) else []
    return own + [name for value in schema.values() for name in _references(value)]


def _definition(reference: str, definitions: Mapping[str, Schema]) -> Schema:
    return definitions[reference.removeprefix(_REFERENCE)]


def _translated(schema: Schema, definitions: Mapping[str, Schema], place: str) -> Schema:
    """Say a schema in the keywords of the API."""
    if "$ref" in schema and len(schema) > 1:  # beside a reference the API takes nothing
        rest = {key: value for key, value in schema.items() if key != "$ref"}
        return _translated({**_definition(schema["$ref"], definitions), **rest}, definitions, place)
    if "const" in schema or "enum" in schema:
        return _choice(schema, place)
    said: Schema = {}
    words = [schema["description"]] if "description" in schema else []
    for keyword, value in schema.items():
        if keyword in _AS_THEY_ARE:
            said[keyword] = value
        elif keyword in _WORDS:
            words.append(_WORDS[keyword](value))
        elif keyword in _NESTED:
            said.update(_NESTED[keyword](value, definitions, place))
        elif keyword not in _OVERLOOKED:
            raise UsageError(f"`{place}` needs the JSON schema keyword `{keyword}`, which the Gemini API does not know")
    if not said.keys() & {"type", "anyOf", "$ref"}:
        said["anyOf"] = [{"type": name} for name in _ANYTHING]
    return _described(said, words)


def _described(schema: Schema, words: list[str | None]) -> Schema:
    text = "\n".join(word for word in words if word)
    return {**schema, "description": text} if text else schema


def _properties(fields: Mapping[str, Schema], definitions: Mapping[str, Schema], place: str) -> Schema:
    translated = {name: _translated(field, definitions, f"{place}.{name}") for name, field in fields.items()}
    order = {"propertyOrdering": list(fields)} if len(fields) > 1 else {}
    return {"properties": translated, **order}


def _items(item: Any, definitions: Mapping[str, Schema], place: str) -> Schema:
    if item is False:  # a tuple: what it holds is in `prefixItems`, how much in `maxItems`
        return {}
    return {"items": _translated({} if item is True else item, definitions, f"{place}[]")}


def _prefix_items(items: list[Schema], definitions: Mapping[str, Schema], place: str) -> Schema:
    return {"prefixItems": [_translated(item, definitions, f"{place}[{n}]") for n, item in enumerate(items)]}


def _one_of(members: list[Schema], definitions: Mapping[str, Schema], place: str) -> Schema:
    return {"anyOf": [_translated(member, definitions, place) for member in members]}


def _all_of(members: list[Schema], definitions: Mapping[str, Schema], place: str) -> Schema:
    if len(members) == 1:
        inner = members[0]
        return _translated(
            {**_definition(inner["$ref"], definitions)} if "$ref" in inner else inner, definitions, place
        )
    raise UsageError(f"`{place}` has to fit several schemas at once (`allOf`), which the Gemini API cannot express")


def _further(value: Any, definitions: Mapping[str, Schema], place: str) -> Schema:
    if isinstance(value, bool):
        return {"additionalProperties": value}
    return {"additionalProperties": _translated(value, definitions, f"{place}[...]") if value else True}


_NESTED: dict[str, Callable[[Any, Mapping[str, Schema], str], Schema]] = {
    "properties": _properties,
    "items": _items,
    "prefixItems": _prefix_items,
    "anyOf": _one_of,
    "oneOf": _one_of,
    "allOf": _all_of,
    "additionalProperties": _further,
}


def _choice(schema: Schema, place: str) -> Schema:
    """Say a choice of values: the API's `enum` holds strings and numbers, each of one type."""
    values = [schema["const"]] if "const" in schema else schema["enum"]
    words: list[str | None] = [schema.get("description")]
    if schema.get("default") is not None:
        words.append(_WORDS["default"](schema["default"]))
    kinds: dict[str, list[Any]] = {}
    for value in values:
        kinds.setdefault(_kind(value, place), []).append(value)
    members = [_of_one_kind(kind, of_kind) for kind, of_kind in kinds.items()]
    said: Schema = members[0] if len(members) == 1 else {"anyOf": members}
    if "title" in schema:
        said["title"] = schema["title"]
    own: str | None = said.pop("description", None)
    return _described(said, [*words, own])


def _of_one_kind(kind: str, values: list[Any]) -> Schema:
    match kind:
        case "null":
            return {"type": "null"}
        case "boolean":
            return {"type": "boolean"} | ({} if len(values) > 1 else {"description": f"Always {_json(values[0])}."})
        case _:
            return {"type": kind, "enum": values}


def _kind(value: object, place: str) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return "string"
        case _:
            raise UsageError(
                f"`{place}` is a choice that includes {value!r}; the Gemini API takes strings, numbers, booleans, null"
            )


def _refuse_endless(
    schema: object, definitions: Mapping[str, Schema], inside: Mapping[str, bool], place: str, field: str = ""
) -> None:
    """Refuse a type that holds itself in a required field: the API unrolls recursion only where it may be left out.

    Args:
        schema: where to look.
        definitions: what references mean.
        inside: names of the definitions around, each with whether the way from it to here can be left out.
        place: for the message.
        field: the innermost required field around, for the message.
    """
    if isinstance(schema, list):
        for item in schema:
            _refuse_endless(item, definitions, inside, place, field)
    if not isinstance(schema, dict):
        return
    if isinstance(schema.get("$ref"), str):
        name = schema["$ref"].removeprefix(_REFERENCE)
        if name not in inside:
            _refuse_endless(definitions[name], definitions, {**inside, name: False}, name, field)
        elif not inside[name]:
            raise UsageError(
                f"`{name}` holds itself in the required field `{field}`, which the Gemini API cannot express; "
                "give the field a default"
            )
    required = schema.get("required", [])
    for name, inner in schema.get("properties", {}).items():
        may_be_left_out = name not in required
        around = dict.fromkeys(inside, True) if may_be_left_out else inside
        _refuse_endless(inner, definitions, around, place, field if may_be_left_out else f"{place}.{name}")
    for keyword in ("items", "prefixItems", "anyOf", "oneOf", "allOf", "additionalProperties"):
        _refuse_endless(schema.get(keyword), definitions, inside, place, field)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
