"""Compares JSON documents with the published schemas, strictly: a field without a sentence is an error."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from kcheck.disk.package_data import document_shapes
from kcheck.documents.schema import json_schema

_TYPES: dict[str, Any] = {
    "object": dict, "array": list, "string": str, "integer": int, "number": int | float, "boolean": bool,
    "null": type(None),
}  # fmt: skip


def problems(document: Mapping[str, Any]) -> list[str]:
    """Return where a document is not as the schema of its name says."""
    name = document.get("schema") or document["format"]
    schema = _schema(name)
    return [*_problems(schema, document, name, schema["$defs"])]


@cache
def _schema(name: str) -> dict[str, Any]:
    return json_schema(document_shapes(), name)


def _problems(schema: Mapping[str, Any], value: Any, where: str, parts: Mapping[str, Any]) -> Iterator[str]:
    if "$ref" in schema:
        yield from _problems(parts[schema["$ref"].removeprefix("#/$defs/")], value, where, parts)
    elif "anyOf" in schema:
        of_each = [[*_problems(one, value, where, parts)] for one in schema["anyOf"]]
        yield from min(of_each, key=len)
    elif "const" in schema:
        if value != schema["const"]:
            yield f"{where}: {value!r} is not {schema['const']!r}"
    elif "type" in schema:
        yield from _of_type(schema, value, where, parts)


def _of_type(schema: Mapping[str, Any], value: Any, where: str, parts: Mapping[str, Any]) -> Iterator[str]:
    names = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
    if (
        "boolean" not in names
        if isinstance(value, bool)
        else not isinstance(value, tuple(_TYPES[name] for name in names))
    ):
        yield f"{where}: {value!r} is not {' or '.join(names)}"
    elif isinstance(value, list):
        for item in value:
            yield from _problems(schema["items"], item, f"{where}[]", parts)
    elif isinstance(value, dict):
        properties = schema.get("properties", {})
        yield from (f"{where}.{name}: is missing" for name in schema.get("required", ()) if name not in value)
        for name, part in value.items():
            inner = properties.get(name, schema.get("additionalProperties"))
            if inner is None:
                yield f"{where}.{name}: has no sentence"
            else:
                yield from _problems(inner, part, f"{where}.{name}", parts)
