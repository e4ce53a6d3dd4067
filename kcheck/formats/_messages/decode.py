"""Reads one message by its schema (MessageDataGenerator of Kafka 4.3.1: the `read` of every generated class).

Values are what Kafka's JSON converters make of them: names of fields, base64 for bytes, and a tagged field only where
it is not its default. What Kafka's reader takes is taken: the size of a known tagged field is not looked at.
"""

import struct
from binascii import b2a_base64
from collections.abc import Callable, Mapping
from functools import cache
from math import isfinite
from typing import NamedTuple, TypeAlias

from kcheck.formats._messages.schema import Field, Schema
from kcheck.model.java import java_text, wrapped

STRING_SIZE_MAX = 0x7FFF
VARINT_SIZE_MAX = 5

Value: TypeAlias = "bool | int | float | str | list[Value] | dict[str, Value] | None"
"""What JSON can hold. A float is finite: Jackson writes the others as texts."""


class Problem(NamedTuple):
    """Where in the bytes and in which field the reading ended, and why. `field` is `members[2].clientId`, or empty."""

    position: int
    field: str
    why: str

    def __str__(self) -> str:
        """Return `byte 17, members[2].clientId: ...`."""
        return f"byte {self.position}{', ' if self.field else ''}{self.field}: {self.why}"


class UnknownTag(NamedTuple):
    """A tagged field that the schema does not know: its tag, and its size in bytes."""

    tag: int
    size: int


class Decoded(NamedTuple):
    """The value, None with a problem; how many bytes it took; what the schema does not know."""

    value: dict[str, Value] | None
    size: int
    problem: Problem | None = None
    unknown: tuple[UnknownTag, ...] = ()


def decode(schema: Schema, data: bytes, version: int, start: int = 0) -> Decoded:
    """Read a message of this version that begins at `start`; what stands behind it is left to the caller."""
    if version not in schema.versions:
        return Decoded(None, 0, Problem(start, "", f"version {version} of {schema.name} is not known"))
    cursor = _Cursor(data, start)
    try:
        value = _message(schema, version)(cursor)
    except _EndedError as ended:
        path = "".join(ended.path).removeprefix(".")
        return Decoded(None, cursor.at - start, Problem(ended.position, path, ended.why), tuple(cursor.unknown))
    return Decoded(value, cursor.at - start, None, tuple(cursor.unknown))


def read_varint(data: bytes, start: int) -> tuple[int, int] | None:
    """Return an unsigned varint as Java's int, and the position behind it; None where there is none."""
    cursor = _Cursor(data, start)
    try:
        return _varint(cursor), cursor.at
    except _EndedError:
        return None


class _EndedError(Exception):
    """The bytes cannot be read any further; never leaves this module."""

    def __init__(self, position: int, why: str) -> None:
        super().__init__(why)
        self.position, self.why = position, why
        self.path: list[str] = []


class _Cursor:
    """The bytes, the position of the next one, and the unknown tags met so far."""

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
    """Read what ByteUtils.readUnsignedVarint reads: up to five bytes into 32 bits, which may be negative."""
    start, number = cursor.at, 0
    if start < len(cursor.data) and cursor.data[start] < 0x80:
        cursor.at = start + 1
        return cursor.data[start]  # Nearly all have one byte.
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
        if at + size > len(cursor.data):
            cursor.take(size)  # It tells what is missing.
        (number,) = unpack_from(cursor.data, at)
        cursor.at = at + size
        return int(number)

    return read


def _bool(cursor: _Cursor) -> bool:
    return cursor.take(1) != b"\0"


def _float64(cursor: _Cursor) -> Value:
    (number,) = struct.unpack(">d", cursor.take(8))
    if isfinite(number):
        return float(number)
    return "NaN" if number != number else "Infinity" if number > 0 else "-Infinity"  # noqa: PLR0124 - NaN alone is not itself


def _uuid(cursor: _Cursor) -> str:
    return uuid_text(cursor.take(16))


def uuid_text(data: bytes) -> str:
    """Return 16 bytes as Kafka's Uuid writes itself."""
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
"""The types of one size, and what reads them."""
_EMPTY: Mapping[str, Value] = {"bool": False, "float64": 0.0, "uuid": uuid_text(bytes(16)), "string": "", "bytes": ""}


def _sized(kind: str, *, nullable: bool, flexible: bool, item: _Read | None) -> _Read:
    """Return what reads a string, bytes, or with `item` an array: a size or count, then that many."""
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
    """Read an array. Each item takes a byte at least: a count that is higher than what is left is refused at once."""
    left = len(cursor.data) - cursor.at
    if count > left:
        raise _EndedError(start, f"{count} items cannot stand in {left} bytes")
    found: list[Value] = []
    try:
        for _ in range(count):
            found.append(item(cursor))
    except _EndedError as ended:
        ended.path.insert(0, f"[{len(found)}]")
        raise
    return found


def _reader(field: Field, version: int, *, flexible: bool) -> _Read:
    """Return what reads one field; in front of a structure that can be null stands a byte, or a varint if tagged."""
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


def _structure(fields: tuple[Field, ...], version: int, *, flexible: bool) -> Callable[[_Cursor], dict[str, Value]]:
    """Return what reads these fields, then the tagged ones if the version is flexible."""
    wanted = [field for field in fields if version in field.versions]
    plain = [(f.name, _reader(f, version, flexible=flexible)) for f in wanted if version not in f.tagged]
    tagged = {f.tag: (f, _reader(f, version, flexible=flexible)) for f in wanted if version in f.tagged}
    names = [field.name for field in wanted]
    others = {field.tag for field in fields if field.tag is not None and field.tag not in tagged}
    defaults = {field.name: _default(field, version) for field, _ in tagged.values()}

    def read(cursor: _Cursor) -> dict[str, Value]:
        found: dict[str, Value] = {}
        name = ""
        try:
            for name, reader in plain:
                found[name] = reader(cursor)
            name = ""
            if not flexible:
                return found
            for _ in range(_varint(cursor)):
                name = ""
                start, tag, size = cursor.at, _varint(cursor), _varint(cursor)
                if tag in tagged:
                    name = tagged[tag][0].name
                    found[name] = tagged[tag][1](cursor)
                else:
                    _skip(cursor, start, UnknownTag(tag, size), valid=tag not in others)
        except _EndedError as ended:
            ended.path.insert(0, f".{name}" if name else "")
            raise
        if len(found) == len(plain):
            return found
        return {n: found[n] for n in names if n in found and (n not in defaults or found[n] != defaults[n])}

    return read


def _skip(cursor: _Cursor, start: int, found: UnknownTag, *, valid: bool) -> None:
    """Read over a tagged field, unless its tag belongs to another version."""
    if not valid or found.size < 0:
        why = f"has the size {found.size}" if valid else "is not one of this version"
        raise _EndedError(start, f"tag {found.tag} {why}")
    cursor.take(found.size)
    cursor.unknown.append(found)


def _default(field: Field, version: int) -> Value:
    """Return the value that a field has without being written."""
    if field.default == "null":
        return None
    if field.type.startswith("[]"):
        return []
    if field.type == "struct":
        inside = [each for each in field.fields if version in each.versions and version not in each.tagged]
        return {each.name: _default(each, version) for each in inside}
    if not field.default:
        return _EMPTY.get(field.type, 0)
    return field.default == "true" if field.type == "bool" else int(field.default)
