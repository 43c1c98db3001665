"""What the Gemini API accepts, as far as graphflow uses it: the fields of a request and the keywords of a schema.

::

    refusal_of({"contents": [{"parts": [{"text": "hi"}]}], "temprature": 1})
    # Refusal(400, 'Invalid JSON payload received. Unknown name "temprature": Cannot find field.')

In one thing it is stricter than the API: a keyword of JSON Schema that the API overlooks is refused here. It knows
nothing of how graphflow makes requests. Source: the reference of the Gemini API, v1beta, `models.generateContent`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from graphflow.testing.gemini_answers import Refusal

# fmt: off
_REQUEST = frozenset({
    "model", "contents", "tools", "toolConfig", "safetySettings", "systemInstruction", "generationConfig",
    "cachedContent", "serviceTier",
})
_CONTENT = frozenset({"role", "parts"})
_PART = frozenset({
    "text", "thought", "thoughtSignature", "inlineData", "functionCall", "functionResponse", "fileData",
    "executableCode", "codeExecutionResult", "videoMetadata", "partMetadata",
})
_CONFIG = frozenset({
    "stopSequences", "responseMimeType", "responseSchema", "responseJsonSchema", "responseModalities",
    "candidateCount", "maxOutputTokens", "temperature", "topP", "topK", "seed", "presencePenalty",
    "frequencyPenalty", "responseLogprobs", "logprobs", "enableEnhancedCivicAnswers", "speechConfig",
    "thinkingConfig", "imageConfig", "mediaResolution",
})
_SCHEMA = frozenset({
    "$id", "$defs", "$ref", "$anchor", "type", "format", "title", "description", "enum", "items", "prefixItems",
    "minItems", "maxItems", "minimum", "maximum", "anyOf", "oneOf", "properties", "additionalProperties",
    "required", "propertyOrdering",
})
# fmt: on
_TYPES = frozenset({"string", "number", "integer", "boolean", "object", "array", "null"})


def refusal_of(body: object) -> Refusal | None:
    """Look at a request as the API does.

    Args:
        body: the request, read from JSON.

    Returns:
        What the API answers if it does not accept it, None if it does.
    """
    problem = next(_problems(body), None)
    return Refusal(400, problem) if problem is not None else None


def _problems(body: object) -> Iterator[str]:
    if not isinstance(body, dict):
        yield "Invalid JSON payload received. The request is no object."
        return
    yield from _unknown(body, _REQUEST, "")
    contents = body.get("contents")
    if not isinstance(contents, list) or not contents:
        yield "* GenerateContentRequest.contents: contents is not specified"
        return
    for number, content in enumerate(contents):
        yield from _content_problems(content, f"contents[{number}]", ("user", "model"))
    if "systemInstruction" in body:
        yield from _content_problems(body["systemInstruction"], "system_instruction", ("user", "system"))
    config = body.get("generationConfig", {})
    if not isinstance(config, dict):
        yield 'Invalid value at "generation_config".'
        return
    yield from _unknown(config, _CONFIG, "generation_config")
    yield from _config_problems(config)


def _content_problems(content: object, place: str, roles: tuple[str, ...]) -> Iterator[str]:
    if not isinstance(content, dict):
        yield f'Invalid value at "{place}".'
        return
    yield from _unknown(content, _CONTENT, place)
    if content.get("role", roles[0]) not in roles:
        yield f"Please use a valid role: {', '.join(roles)}."
    parts = content.get("parts")
    if not isinstance(parts, list) or not parts:
        yield f"* GenerateContentRequest.{place}.parts: contents.parts must not be empty."
        return
    for number, part in enumerate(parts):
        if not isinstance(part, dict) or not part:
            yield f"* GenerateContentRequest.{place}.parts[{number}].data: required oneof field 'data' must have one "
            return
        yield from _unknown(part, _PART, f"{place}.parts[{number}]")


def _config_problems(config: Mapping[str, Any]) -> Iterator[str]:
    schema = config.get("responseJsonSchema")
    if schema is None:
        return
    if config.get("responseMimeType") != "application/json":
        yield "response_json_schema needs response_mime_type: application/json"
    if "responseSchema" in config:
        yield "response_schema and response_json_schema cannot both be set"
    definitions = schema.get("$defs", {}) if isinstance(schema, dict) else {}
    yield from schema_problems(schema, definitions, "response_json_schema")
    for name, definition in definitions.items():
        yield from schema_problems(definition, definitions, f"response_json_schema.$defs.{name}")
        if name in _surely_inside(definition, definitions, frozenset()):
            yield f"response_json_schema: {name} is cyclic in a required property"


def schema_problems(schema: object, definitions: Mapping[str, Any], place: str) -> Iterator[str]:
    """Find what the API does not take in a JSON schema.

    Args:
        schema: the schema.
        definitions: name -> schema, what `#/$defs/NAME` refers to.
        place: where it stands, for messages.

    Yields:
        Messages.
    """
    if not isinstance(schema, dict):
        yield f'Invalid value at "{place}".'
        return
    yield from _unknown(schema, _SCHEMA, place)
    if "$ref" in schema:
        if any(not keyword.startswith("$") for keyword in schema):
            yield f"{place}: nothing may stand beside $ref"
        if schema["$ref"].removeprefix("#/$defs/") not in definitions:
            yield f"{place}: {schema['$ref']} refers to nothing"
    types = schema.get("type", [])
    if not set(types if isinstance(types, list) else [types]) <= _TYPES:
        yield f"{place}: unknown type {types}"
    if any(isinstance(value, bool) or not isinstance(value, (str, int, float)) for value in schema.get("enum", ())):
        yield f"{place}: enum takes strings and numbers"
    if not set(schema.get("required", ())) <= schema.get("properties", {}).keys():
        yield f"{place}: required names a property that is not defined"
    for step, inner in _inner(schema):
        yield from schema_problems(inner, definitions, f"{place}{step}")


def _inner(schema: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    for name, field in schema.get("properties", {}).items():
        yield f".{name}", field
    for keyword in ("anyOf", "oneOf", "prefixItems"):
        yield from ((f".{keyword}[{number}]", inner) for number, inner in enumerate(schema.get(keyword, ())))
    if "items" in schema:
        yield "[]", schema["items"]
    if isinstance(schema.get("additionalProperties"), dict):
        yield "{}", schema["additionalProperties"]


def _surely_inside(schema: object, definitions: Mapping[str, Any], seen: frozenset[str]) -> set[str]:
    """Names of the definitions in a schema that stand in no field that may be left out."""
    if not isinstance(schema, dict):
        return set()
    found: set[str] = set()
    if "$ref" in schema:
        name = schema["$ref"].removeprefix("#/$defs/")
        inside = set() if name in seen else _surely_inside(definitions.get(name), definitions, seen | {name})
        return {name, *inside}
    required = schema.get("required", ())
    for step, inner in _inner(schema):
        if not step.startswith(".") or step[1:] in required or "properties" not in schema:
            found |= _surely_inside(inner, definitions, seen)
    return found


def _unknown(data: Mapping[str, Any], known: frozenset[str], place: str) -> Iterator[str]:
    at = f' at "{place}"' if place else ""
    for name in data:
        if name not in known:
            yield f'Invalid JSON payload received. Unknown name "{name}"{at}: Cannot find field.'
