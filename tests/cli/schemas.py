"""Validates against the schemas in docs/schemas, and against ones that allow nothing they do not mention."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

SCHEMAS = Path(__file__).parent.parent.parent / "docs" / "schemas"


def closed(schema: Any) -> Any:
    """The same schema, in which objects have no other properties."""
    if isinstance(schema, list):
        return [closed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {name: closed(value) for name, value in schema.items()}
    return {**inner, "additionalProperties": False} if isinstance(schema.get("properties"), dict) else inner


def validate(text: str, name: str) -> Any:
    """Assert that a document is what its published schema says, no less and no more; give it as data."""
    schema = json.loads((SCHEMAS / name).read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    document = json.loads(text)
    faults = [error.message for error in Draft202012Validator(closed(schema)).iter_errors(document)]
    assert not faults
    return document
