"""partition.metadata: the topic id of a partition directory (PartitionMetadataFile 2.8 to 4.3.1).

Two lines, the second without an end: `version: 0` and `topic_id: ` with 22 characters of URL-safe base64.
"""

import base64
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kcheck.formats._checkpoint_file import ReadError, decoded_lines
from kcheck.formats._contract import Format
from kcheck.model.java import java_int, java_lines
from kcheck.model.names import PARTITION_METADATA
from kcheck.model.parsed import FOUND_SIZE_MAX, BrokerReads, Defect, Parsed
from kcheck.model.release import Release

_SEPARATOR = re.compile(r":[ \t\n\x0b\f\r]+")
_ALPHABET = re.compile(r"[A-Za-z0-9_-]{22}(?:==)?")
_ZERO = bytes(16)
_CANONICAL = re.compile(rb"version: 0\ntopic_id: ([A-Za-z0-9_-]{21}[AQgw])")


@dataclass(frozen=True, slots=True)
class PartitionMetadata:
    """The version and the topic id as it is written; None where it could not be read."""

    version: int | None
    topic_id: str | None


class _UnreadableError(Exception):
    """How the broker's reader fails: its exception's name, our words, and the line."""

    def __init__(self, error: str, message: str, line: int) -> None:
        super().__init__(error)
        self.message = message
        self.line = line


def parse(data: bytes) -> Parsed[PartitionMetadata]:
    """Return version and topic id, and what is wrong by the newest broker's reader."""
    written = _written(data)
    if written is not None:
        return Parsed(value=written)
    text = data.decode("utf-8", "replace")
    lines = java_lines(text)
    version = java_int(_value(lines, 0) or "")
    topic_id = _value(lines, 1)
    value = PartitionMetadata(version, topic_id if topic_id and _ALPHABET.fullmatch(topic_id) else None)
    try:
        _read(data, accepts_later_versions=True)
    except _UnreadableError as error:
        at = 0 if error.line == 1 else min(data.find(b"\n") + 1 or len(data), len(data))
        defect = Defect(
            message=error.message, line=error.line, column=1, position=at, found=data[at : at + FOUND_SIZE_MAX]
        )
        return Parsed(value=value, defects=(defect,))
    if value.version is not None and value.topic_id is not None and serialize(value) != data:
        text = "no broker writes the file like this"
        defect = Defect(message=text, line=1, column=1, position=0, found=data[:FOUND_SIZE_MAX], accepted=True)
        return Parsed(value=value, defects=(defect,))
    return Parsed(value=value)


def serialize(value: PartitionMetadata) -> bytes:
    """Return the file as a broker writes it; both values must be known."""
    assert value.version is not None
    assert value.topic_id is not None
    return f"version: {value.version}\ntopic_id: {value.topic_id}".encode()


def broker_reads(data: bytes, release: Release) -> BrokerReads[PartitionMetadata]:
    """Return what PartitionMetadataFile.read of this release returns, or its exception.

    NullPointerException: a line is missing. IllegalArgumentException: the id is no base64 of 16 bytes. Up to 2.7 no
    broker looks at the file.
    """
    if not release.has_partition_metadata:
        return BrokerReads(value=PartitionMetadata(None, None))
    written = _written(data)
    if written is not None:
        return BrokerReads(value=written)
    try:
        return BrokerReads(value=_read(data, accepts_later_versions=release.version >= (3, 7)))
    except _UnreadableError as error:
        return BrokerReads(value=None, error=str(error))


def _written(data: bytes) -> PartitionMetadata | None:
    """Return the value of a file that is as every broker writes it."""
    match = _CANONICAL.fullmatch(data)
    if match is None or match[1].startswith(b"AAAAAAAAAAAAAAAAAAAAA"):
        return None
    return PartitionMetadata(0, match[1].decode())


def _value(lines: list[str], number: int) -> str | None:
    parts = _split(lines[number]) if number < len(lines) else []
    return parts[1] if len(parts) == 2 else None


def _split(line: str) -> list[str]:
    """Split as String.split does: trailing empty parts are dropped."""
    parts = _SEPARATOR.split(line)
    while len(parts) > 1 and not parts[-1]:
        parts.pop()
    return parts


def _read(data: bytes, *, accepts_later_versions: bool) -> PartitionMetadata:
    lines = decoded_lines(data, strict=True)
    version = java_int(_field(lines, 1))
    if version is None:
        raise _UnreadableError("IOException", "the version is no number", 1)
    if version < 0 or (version > 0 and not accepts_later_versions):
        raise _UnreadableError("IOException", f"version {version} is not known", 1)
    topic_id = _field(lines, 2)
    if len(topic_id) > 24 or not _ALPHABET.fullmatch(topic_id):
        raise _UnreadableError("IllegalArgumentException", "the topic id is no base64 of 16 bytes", 2)
    decoded = base64.urlsafe_b64decode(topic_id[:22] + "==")
    if decoded == _ZERO:
        raise _UnreadableError("IOException", "the topic id is zero", 2)
    return PartitionMetadata(version, base64.urlsafe_b64encode(decoded)[:22].decode())


def _field(lines: Iterator[str], number: int) -> str:
    """Return the value in the next line. What follows the second is decoded only as far as the reader's buffer."""
    try:
        line = next(lines, None)
    except ReadError as error:
        raise _UnreadableError(str(error), "bytes that are no UTF-8", number) from None
    if line is None:
        raise _UnreadableError("NullPointerException", f"line {number} is missing", number)
    parts = _split(line)
    if len(parts) != 2:
        raise _UnreadableError("IOException", "not `name: value`", number)
    return parts[1]


def row(value: PartitionMetadata) -> Mapping[str, object]:
    """Return the fields of JSON."""
    return {"version": value.version, "topic_id": value.topic_id}


FORMAT = Format(
    kind="partition-metadata",
    title="Partition metadata",
    matches=PARTITION_METADATA.__eq__,
    parse=parse,
    serialize=serialize,
    row=row,
    broker_reads=broker_reads,
    reads_row=row,
)
