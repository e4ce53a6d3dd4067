"""Reads one message by its schema, as the `read` method of Kafka's generated classes (MessageDataGenerator 4.3.1).

Values have the form of Kafka's JSON converters, with field names, and base64 for bytes. A tagged field is present only
if it differs from its default. Like Kafka's reader, this one ignores the stated size of a known tagged field.
"""

import struct
from binascii import b2a_base64
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from math import isfinite
from typing import NamedTuple, TypeAlias

from kcheck.model.java import java_text, wrapped
from kcheck.schemas.schema import Schema, SchemaField

STRING_SIZE_MAX = 0x7FFF
VARINT_SIZE_MAX = 5

Value: TypeAlias = "bool | int | float | str | list[Value] | dict[str, Value] | None"
"""A JSON value. Floats are finite, because Jackson writes the others as strings."""


class Problem(NamedTuple):
    """The reason why a message is unreadable."""

    position: int
    """The byte at which reading stopped."""
    field: str
    """The field that was being read, such as `members[2].clientId`; empty if none was."""
    why: str
    """The fault, in words."""

    def __str__(self) -> str:
        """Return `byte 17, members[2].clientId: ...`."""
        return f"byte {self.position}{', ' if self.field else ''}{self.field}: {self.why}"


class UnknownTag(NamedTuple):
    """A tagged field that the schema does not have."""

    tag: int
    """Its tag."""
    size: int
    """Its size in bytes."""


class Decoded(NamedTuple):
    """The result of reading a message."""

    value: dict[str, Value] | None
    """The fields; None if the message is unreadable."""
    size: int
    """The number of bytes read."""
    problem: Problem | None = None
    """The reason why the message is unreadable; None if it is readable."""
    unknown: tuple[UnknownTag, ...] = ()
    """The tagged fields that the schema does not have."""


def decode(schema: Schema, data: bytes, version: int, start: int = 0) -> Decoded:
    """Read a message of this version that begins at `start`; bytes after it are left to the caller."""
    if not schema.versions.least <= version <= schema.versions.most:
        return Decoded(None, 0, Problem(start, "", f"version {version} of {schema.name} is not known"))
    cursor = _Cursor(data, start)
    try:
        value = _message(schema, version)(cursor)
    except _EndedError as ended:
        path = "".join(ended.path).removeprefix(".")
        return Decoded(None, cursor.at - start, Problem(ended.position, path, ended.why), tuple(cursor.unknown))
    return Decoded(value, cursor.at - start, None, tuple(cursor.unknown))


def read_varint(data: bytes, start: int) -> tuple[int, int] | None:
    """Return an unsigned varint as a Java int, and the position after it; None if it is unreadable."""
    cursor = _Cursor(data, start)
    try:
        return _varint(cursor), cursor.at
    except _EndedError:
        return None


class _EndedError(Exception):
    """The message is unreadable from here on. Never leaves this module."""

    def __init__(self, position: int, why: str) -> None:
        super().__init__(why)
        self.position, self.why = position, why
        self.path: list[str] = []


class _Cursor:
    """The bytes, the position of the next one, and the unknown tags so far."""

    __slots__ = ("at", "data", "unknown")

    def __init__(self, data: bytes, at: int) -> None:
        self.data, self.at = data, at
        self.unknown: list[UnknownTag] = []

    def take(self, size: int) -> bytes:
        """Return the next bytes."""
        start, end = self.at, self.at + size
        if end > len(self.data):
            raise _EndedError(start, f"needs {size} bytes, {len(self.data) - start} are left")
        self.at = end
        return self.data[start:end]


_Read: TypeAlias = Callable[[_Cursor], Value]


def _varint(cursor: _Cursor) -> int:
    """Read an unsigned varint as ByteUtils.readUnsignedVarint does: up to five bytes into an int, maybe negative."""
    start, number = cursor.at, 0
    if start < len(cursor.data) and cursor.data[start] < 0x80:
        cursor.at = start + 1
        return cursor.data[start]  # Nearly all varints have one byte.
    for shift in range(0, 7 * VARINT_SIZE_MAX, 7):
        (byte,) = cursor.take(1)
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return wrapped(number, 32)
    raise _EndedError(start, f"a varint has more than {VARINT_SIZE_MAX} bytes")


def _compact_size(cursor: _Cursor) -> int:
    return wrapped(_varint(cursor) - 1, 32)


def _number(code: str) -> Callable[[_Cursor], int]:
    layout = struct.Struct(f">{code}")
    size, unpack_from = layout.size, layout.unpack_from

    def read(cursor: _Cursor) -> int:
        at = cursor.at
        try:
            number: int = unpack_from(cursor.data, at)[0]
        except struct.error:
            return len(cursor.take(size))  # This raises the error with its place.
        cursor.at = at + size
        return number

    return read


def _bool(cursor: _Cursor) -> bool:
    return cursor.take(1) != b"\0"


def _float64(cursor: _Cursor) -> Value:
    (number,) = struct.unpack(">d", cursor.take(8))
    if isfinite(number):
        return float(number)
    return "NaN" if number != number else "Infinity" if number > 0 else "-Infinity"  # noqa: PLR0124 - only NaN differs from itself


def _uuid(cursor: _Cursor) -> str:
    return uuid_text(cursor.take(16))


@lru_cache(maxsize=1 << 12)
def uuid_text(data: bytes) -> str:
    """Return 16 bytes as Kafka's Uuid.toString writes them."""
    return b2a_base64(data, newline=False).decode().rstrip("=").replace("+", "-").replace("/", "_")


_INT8, _INT16, _INT32 = _number("b"), _number("h"), _number("i")
FIXED: Mapping[str, _Read] = {
    "bool": _bool,
    "int8": _INT8,
    "int16": _INT16,
    "uint16": _number("H"),
    "int32": _INT32,
    "uint32": _number("I"),
    "int64": _number("q"),
    "float64": _float64,
    "uuid": _uuid,
}
"""The types of fixed size, and their readers."""
_EMPTY: Mapping[str, Value] = {"bool": False, "float64": 0.0, "uuid": uuid_text(bytes(16)), "string": "", "bytes": ""}


def _sized(kind: str, *, nullable: bool, flexible: bool, item: _Read | None) -> _Read:
    """Return a reader of a string, of bytes, or of an array of `item`, with a size or count, then the contents."""
    size_of = _compact_size if flexible else _INT16 if kind == "string" and item is None else _INT32

    def read(cursor: _Cursor) -> Value:
        start, size = cursor.at, size_of(cursor)
        if size < 0:
            if nullable:
                return None
            raise _EndedError(start, "is null, which it cannot be")
        if item is not None:
            return _items(cursor, start, size, item)
        if kind == "string":
            if size > STRING_SIZE_MAX:
                raise _EndedError(start, f"a text of {size} bytes is longer than {STRING_SIZE_MAX}")
            return java_text(cursor.take(size))
        return b2a_base64(cursor.take(size), newline=False).decode()

    return read


def _items(cursor: _Cursor, start: int, count: int, item: _Read) -> list[Value]:
    """Read an array. An item has at least one byte, so a count above the number of bytes left is refused."""
    left = len(cursor.data) - cursor.at
    if count > left:
        raise _EndedError(start, f"{count} items do not fit into {left} bytes")
    if item is _INT32 and 4 * count <= left:
        numbers = struct.unpack_from(f">{count}i", cursor.data, cursor.at)
        cursor.at += 4 * count
        return [*numbers]
    items: list[Value] = []
    try:
        for _ in range(count):
            items.append(item(cursor))
    except _EndedError as ended:
        ended.path.insert(0, f"[{len(items)}]")
        raise
    return items


def _reader(field: SchemaField, version: int, *, flexible: bool) -> _Read:
    """Return the reader of a field. A nullable structure begins with a byte, or with a varint if it is tagged."""
    kind, nullable = field.type.removeprefix("[]"), version in field.nullable
    item = FIXED.get(kind)
    if item is None and kind == "struct":
        item = _structure(field.fields, version, flexible=flexible)
    if field.type != kind:
        plain = item or _sized(kind, nullable=False, flexible=flexible, item=None)
        return _sized(kind, nullable=nullable, flexible=flexible, item=plain)
    if item is None:
        return _sized(kind, nullable=nullable, flexible=flexible, item=None)
    if not nullable:
        return item
    presence, least = (_varint, 1) if version in field.tagged else (_INT8, 0)
    return lambda cursor: item(cursor) if presence(cursor) >= least else None


@cache
def _message(schema: Schema, version: int) -> Callable[[_Cursor], dict[str, Value]]:
    return _structure(schema.fields, version, flexible=version in schema.flexible)


def _structure(
    fields: tuple[SchemaField, ...], version: int, *, flexible: bool
) -> Callable[[_Cursor], dict[str, Value]]:
    """Return the reader of these fields, followed by the tagged ones if the version is flexible."""
    present = [field for field in fields if version in field.versions]
    plain = [(f.name, _reader(f, version, flexible=flexible)) for f in present if version not in f.tagged]
    tagged = {f.tag: (f, _reader(f, version, flexible=flexible)) for f in present if version in f.tagged}
    names = [field.name for field in present]
    tags_of_other_versions = {field.tag for field in fields if field.tag is not None and field.tag not in tagged}
    defaults = {field.name: _default(field, version) for field, _ in tagged.values()}

    def read(cursor: _Cursor) -> dict[str, Value]:
        values: dict[str, Value] = {}
        name = ""
        try:
            for name, reader in plain:
                values[name] = reader(cursor)
            name = ""
            if not flexible:
                return values
            for _ in range(_varint(cursor)):
                name = ""
                start, tag, size = cursor.at, _varint(cursor), _varint(cursor)
                if tag in tagged:
                    name = tagged[tag][0].name
                    values[name] = tagged[tag][1](cursor)
                else:
                    _skip(cursor, start, UnknownTag(tag, size), valid=tag not in tags_of_other_versions)
        except _EndedError as ended:
            ended.path.insert(0, f".{name}" if name else "")
            raise
        if len(values) == len(plain):
            return values
        return {n: values[n] for n in names if n in values and (n not in defaults or values[n] != defaults[n])}

    return read


def _skip(cursor: _Cursor, start: int, unknown: UnknownTag, *, valid: bool) -> None:
    """Skip a tagged field; raise if its tag belongs to another version."""
    if not valid or unknown.size < 0:
        why = f"has the size {unknown.size}" if valid else "is not one of this version"
        raise _EndedError(start, f"tag {unknown.tag} {why}")
    cursor.take(unknown.size)
    cursor.unknown.append(unknown)


def _default(field: SchemaField, version: int) -> Value:
    """Return the default value of a field."""
    if field.default == "null":
        return None
    if field.type.startswith("[]"):
        return []
    if field.type == "struct":
        inner_fields = [inner for inner in field.fields if version in inner.versions and version not in inner.tagged]
        return {inner.name: _default(inner, version) for inner in inner_fields}
    if not field.default:
        return _EMPTY.get(field.type, 0)
    return field.default == "true" if field.type == "bool" else int(field.default)
