"""partition.metadata: the topic id of a partition directory (PartitionMetadataFile 2.8 to 4.3.1).

Two lines, the second without an end: `version: 0` and `topic_id: ` with 22 characters of URL-safe base64.
"""

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from itertools import islice
from typing import NamedTuple

from kcheck.formats._contract import Format
from kcheck.model.java import java_int, utf8_lines
from kcheck.model.names import PARTITION_METADATA
from kcheck.model.parsed import FOUND_SIZE_MAX, BrokerReads, Defect, Parsed
from kcheck.model.release import Release

_SEPARATOR = re.compile(r":[ \t\n\x0b\f\r]+")
_UUID = re.compile(r"([A-Za-z0-9_-]{22})(?:==)?")
_UUID_SIZE = 16
_CANONICAL = re.compile(rb"version: 0\ntopic_id: ([A-Za-z0-9_-]{21}[AQgw])")
_ZERO_ID = b"A" * 22


class PartitionMetadata(NamedTuple):
    """The version, and the topic id as a broker writes it; None where it could not be read."""

    version: int | None
    topic_id: str | None


class _Refusal(NamedTuple):
    """Why the reader stops: the simple class name of its exception, our words, and the line."""

    error: str
    message: str
    line: int


def parse(data: bytes) -> Parsed[PartitionMetadata]:
    """Return version and topic id where they can be read, and the first thing that the newest reader refuses."""
    value, refusal = _read(data, knows_later_versions=True)
    if refusal is not None:
        start = 0 if refusal.line == 1 else _second_line(data)
        return Parsed(value=value, defects=(_defect(data, refusal.message, refusal.line, start),))
    if serialize(value) != data:
        # A version of the future is no oddity of the bytes, and no release up to 4.3.1 writes one.
        return Parsed(value=value, defects=(_defect(data, "no broker writes the file like this", 1, 0, accepted=True),))
    return Parsed(value=value)


def serialize(value: PartitionMetadata) -> bytes:
    """Return the file as a broker writes it; both values must be known."""
    assert value.version is not None
    assert value.topic_id is not None
    return f"version: {value.version}\ntopic_id: {value.topic_id}".encode()


def broker_reads(data: bytes, release: Release) -> BrokerReads[PartitionMetadata]:
    """Return what PartitionMetadataFile.read of this release returns, or the simple name of its exception.

    NullPointerException: a line is missing. IllegalArgumentException: the id is no base64 of 16 bytes. IOException: all
    else, in 2.8 to 3.6 also a version above 0. MalformedInputException: no UTF-8. Up to 2.7 no broker looks at the
    file: a value of two None.
    """
    if not release.has_partition_metadata:
        return BrokerReads(value=PartitionMetadata(None, None))
    value, refusal = _read(data, knows_later_versions=release.reads_later_partition_metadata)
    return BrokerReads(value=value) if refusal is None else BrokerReads(value=None, error=refusal.error)


def _read(data: bytes, *, knows_later_versions: bool) -> tuple[PartitionMetadata, _Refusal | None]:
    """Return what can be read, and why the broker's reader refuses the file; its checks in its order."""
    written = _CANONICAL.fullmatch(data)
    if written is not None and written[1] != _ZERO_ID:
        return PartitionMetadata(0, written[1].decode("ascii")), None
    found = utf8_lines(data)
    lines = list(islice(found.lines, 2))
    first, refused_first = _field(lines, 1, malformed=found.malformed)
    second, refused_second = _field(lines, 2, malformed=found.malformed)
    version, topic_id = java_int(first), java_uuid(second)
    value = PartitionMetadata(version, topic_id)
    refused_first = refused_first or _refused_version(version, knows_later_versions=knows_later_versions)
    if refused_first is None and refused_second is None:
        if topic_id is None:
            refused_second = _Refusal("IllegalArgumentException", "the topic id is no base64 of 16 bytes", 2)
        elif topic_id == _ZERO_ID.decode("ascii"):
            refused_second = _Refusal("IOException", "the topic id is zero", 2)
    return value, refused_first or refused_second


def _field(lines: list[str], number: int, *, malformed: bool) -> tuple[str, _Refusal | None]:
    """Return the value in a line, split as String.split does: empty parts at the end do not count."""
    if number > len(lines):
        if malformed:
            return "", _Refusal("MalformedInputException", "bytes that are no UTF-8", number)
        return "", _Refusal("NullPointerException", f"line {number} is missing", number)
    parts = _SEPARATOR.split(lines[number - 1], maxsplit=2)
    while len(parts) > 1 and not _SEPARATOR.sub("", parts[-1]):
        parts.pop()
    if len(parts) != len(("name", "value")):
        return "", _Refusal("IOException", "not `name: value`", number)
    return parts[1], None


def _refused_version(version: int | None, *, knows_later_versions: bool) -> _Refusal | None:
    if version is None:
        return _Refusal("IOException", "the version is no number", 1)
    if version < 0 or (version > 0 and not knows_later_versions):
        return _Refusal("IOException", f"version {version} is not known", 1)
    return None


def java_uuid(text: str) -> str | None:
    """Return an id as Uuid.fromString reads it and Uuid.toString writes it; None where it is none."""
    match = _UUID.fullmatch(text)
    if match is None:
        return None
    raw = urlsafe_b64decode(match[1] + "==")
    assert len(raw) == _UUID_SIZE
    return urlsafe_b64encode(raw).rstrip(b"=").decode("ascii")


def _second_line(data: bytes) -> int:
    """Return the position of the second line, the end of the file where there is none."""
    match = re.search(rb"\r\n|\n|\r", data)
    return match.end() if match else len(data)


def _defect(data: bytes, message: str, line: int, position: int, *, accepted: bool = False) -> Defect:
    found = data[position : position + FOUND_SIZE_MAX]
    return Defect(message=message, line=line, column=1, position=position, found=found, accepted=accepted)


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
