"""Writes one message by its schema, as the `write` method of Kafka's generated classes does (MessageDataGenerator).

The way back of `decode`: it takes the same values. Only flexible versions are written; all metadata records are.
"""

import struct
from base64 import b64decode, urlsafe_b64decode
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any

from kcheck.model.java import unsigned_varint
from kcheck.schemas.schema import Schema, SchemaField, parse_table

_FRAME_VERSION = 1
_CODES = {"int8": "b", "int16": "h", "uint16": "H", "int32": "i", "int64": "q", "float64": "d", "bool": "?"}
_NULL = unsigned_varint(0)


def metadata_record(name: str, version: int, data: Mapping[str, Any]) -> bytes:
    """Return the value of a record of __cluster_metadata (AbstractApiMessageSerde); tagged fields may be left out."""
    return _framed("metadata", name, version, data)


def remote_log_record(name: str, data: Mapping[str, Any]) -> bytes:
    """Return the value of a record of __remote_log_metadata (RemoteLogMetadataSerde 3.6 to 4.3.1)."""
    return _framed("remote_log", name, 0, data)


def _framed(table: str, name: str, version: int, data: Mapping[str, Any]) -> bytes:
    schema = _schemas(table)[name]
    assert schema.id is not None
    frame = b"".join(map(unsigned_varint, (_FRAME_VERSION, schema.id, version)))
    return frame + encode(schema, data, version)


@cache
def _schemas(table: str) -> Mapping[str, Schema]:
    return parse_table(import_module(f"{__package__}.{table}").TABLE)


def encode(schema: Schema, data: Mapping[str, Any], version: int) -> bytes:
    """Return the bytes of a message of a flexible version."""
    assert version in schema.versions
    assert version in schema.flexible
    return _structure(schema.fields, data, version)


def _structure(fields: tuple[SchemaField, ...], data: Mapping[str, Any], version: int) -> bytes:
    """Return the plain fields in their order, then the given tagged ones."""
    present = [field for field in fields if version in field.versions]
    plain = [_value(field, data[field.name], version) for field in present if version not in field.tagged]
    tagged = {
        field.tag or 0: _value(field, data[field.name], version)
        for field in present
        if version in field.tagged and field.name in data
    }
    tags = [unsigned_varint(tag) + unsigned_varint(len(value)) + value for tag, value in sorted(tagged.items())]
    return b"".join((*plain, unsigned_varint(len(tags)), *tags))


def _value(field: SchemaField, value: Any, version: int) -> bytes:
    kind = field.type.removeprefix("[]")
    if value is None:
        assert version in field.nullable
        return _NULL
    if kind != field.type:
        items = [_item(field, kind, item, version) for item in value]
        return unsigned_varint(len(items) + 1) + b"".join(items)
    return _item(field, kind, value, version)


def _item(field: SchemaField, kind: str, value: Any, version: int) -> bytes:
    if kind == "struct":
        return _structure(field.fields, value, version)
    if kind == "uuid":
        return urlsafe_b64decode(f"{value}==")
    if kind in ("string", "bytes"):
        data = value.encode("utf-8", "surrogatepass") if kind == "string" else b64decode(value)
        return unsigned_varint(len(data) + 1) + data
    return struct.pack(f">{_CODES[kind]}", value)
