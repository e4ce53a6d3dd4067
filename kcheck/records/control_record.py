"""Decodes control records, as ControlRecordType, EndTransactionMarker and ControlRecordUtils 4.3.1 do.

The layouts are version 0 of Kafka's message schemas, which the readers of 4.3.1 use for any version.
"""

from base64 import urlsafe_b64encode
from collections.abc import Mapping
from typing import NamedTuple

from kcheck.model.java import java_text, wrapped
from kcheck.records.layout import Layout
from kcheck.records.record import Data

ABORT, COMMIT = 0, 1
NAMES = ("ABORT", "COMMIT", "LEADER_CHANGE", "SNAPSHOT_HEADER", "SNAPSHOT_FOOTER", "KRAFT_VERSION", "KRAFT_VOTERS")
"""The names of the types, by their numbers (ControlRecordType)."""

UNKNOWN = "UNKNOWN"
"""The name of any other type; readers ignore its records."""

Struct = tuple[tuple[str, object], ...]
"""Names and types of fields. A type is a word, a struct, or a list of one struct for an array."""

_MARKER: Struct = (("version", "i16"), ("coordinator_epoch", "i32"))
_VOTER: Struct = (("voter_id", "i32"),)
_ENDPOINT: Struct = (("name", "string"), ("host", "string"), ("port", "u16"))
_VERSIONS: Struct = (("min_supported_version", "i16"), ("max_supported_version", "i16"))
_MEMBER: Struct = (
    ("voter_id", "i32"),
    ("voter_directory_id", "uuid"),
    ("endpoints", [_ENDPOINT]),
    ("k_raft_version_feature", _VERSIONS),
)
_SCHEMAS: tuple[Struct, ...] = (
    _MARKER,
    _MARKER,
    (("version", "i16"), ("leader_id", "i32"), ("voters", [_VOTER]), ("granting_voters", [_VOTER])),
    (("version", "i16"), ("last_contained_log_timestamp", "i64")),
    (("version", "i16"),),
    (("version", "i16"), ("k_raft_version", "i16")),
    (("version", "i16"), ("voters", [_MEMBER])),
)
_NUMBERS = {name: Layout((("number", name),)) for name in ("i16", "i32", "i64")}
_KEY = Layout((("version", "i16"), ("type", "i16")))
_UUID_SIZE = 16
_STRING_SIZE_MAX = 0x7FFF
_VARINT_SIZE_MAX = 5


class ControlRecord(NamedTuple):
    """A control record."""

    type: int | None
    """The number of its type; None if the key is unreadable."""
    name: str
    """The name of its type."""
    fields: Mapping[str, object]
    """The fields of its value, named as in Kafka's schemas but in snake_case. Empty for an UNKNOWN type and if there is
    a problem."""
    problem: str | None = None
    """The reason why the record is unreadable; None if it is readable."""


class _ControlRecordError(Exception):
    """The value is unreadable; the message says why."""


def parse(key: Data | None, value: Data | None) -> ControlRecord:
    """Decode the key and the value of a record in a control batch."""
    if key is None or len(key) < _KEY.size:
        size = "null" if key is None else f"of {len(key)} bytes"
        return ControlRecord(None, UNKNOWN, {}, f"the key of the control record is {size}")
    version, number = _KEY.unpack_from(key)
    if version < 0:
        return ControlRecord(number, UNKNOWN, {}, f"the key of the control record has the version {version}")
    if not 0 <= number < len(NAMES):
        return ControlRecord(number, UNKNOWN, {})
    name = NAMES[number]
    if value is None:
        return ControlRecord(number, name, {}, f"the value of the {name} record is null")
    reader = _Reader(memoryview(value))
    try:
        fields = reader.struct(_SCHEMAS[number], flexible=number > COMMIT)
    except _ControlRecordError as why:
        return ControlRecord(number, name, {}, f"the value of the {name} record breaks off: {why}")
    if number <= COMMIT:
        version = fields.pop("version")
        if isinstance(version, int) and version < 0:
            return ControlRecord(number, name, {}, f"the value of the {name} record has the version {version}")
    return ControlRecord(number, name, fields)


class _Reader:
    """Reads fields in sequence."""

    def __init__(self, data: memoryview) -> None:
        self._data = data
        self._at = 0

    def struct(self, fields: Struct, *, flexible: bool = True) -> dict[str, object]:
        """Read the fields, then skip tagged fields; no release defines any."""
        values = {name: self._field(kind) for name, kind in fields}
        for _ in range(self._varint() if flexible else 0):
            self._varint()
            self._take(self._varint(), "a tagged field")
        return values

    def _field(self, kind: object) -> object:
        if isinstance(kind, tuple):
            return self.struct(kind)
        if isinstance(kind, list):
            count = self._varint() - 1
            if not 0 <= count <= len(self._data) - self._at:
                raise _ControlRecordError(f"an array of {count} elements")
            return tuple(self.struct(kind[0]) for _ in range(count))
        if kind == "string":
            size = self._varint() - 1
            if not 0 <= size <= _STRING_SIZE_MAX:
                raise _ControlRecordError(f"a string of {size} bytes")
            return java_text(bytes(self._take(size, "a string")))
        if kind == "uuid":
            return urlsafe_b64encode(self._take(_UUID_SIZE, "a UUID")).decode().rstrip("=")
        if kind == "u16":
            return int.from_bytes(self._take(2, "a number"), "big")
        layout = _NUMBERS[str(kind)]
        return layout.unpack_from(self._take(layout.size, "a number"))[0]

    def _take(self, size: int, name: str) -> memoryview:
        if not 0 <= size <= len(self._data) - self._at:
            raise _ControlRecordError(f"{name} of {size} bytes, {len(self._data) - self._at} are left")
        self._at += size
        return self._data[self._at - size : self._at]

    def _varint(self) -> int:
        """Read an unsigned varint as a Java int (ByteUtils.readUnsignedVarint)."""
        value = 0
        for place in range(_VARINT_SIZE_MAX):
            byte = self._take(1, "a number")[0]
            value |= (byte & 0x7F) << 7 * place
            if byte < 0x80:
                return wrapped(value, 32)
        raise _ControlRecordError("a number of more than 32 bits")
