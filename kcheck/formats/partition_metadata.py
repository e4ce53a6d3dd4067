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
    """The contents of a partition.metadata."""

    version: int | None
    """The version; None if it is unreadable."""
    topic_id: str | None
    """The topic id in the form that brokers write; None if it is unreadable."""


class _Refusal(NamedTuple):
    """The reason why a broker refuses the file."""

    error: str
    """The simple class name of its exception."""
    message: str
    """The fault, in words."""
    line: int
    """The line, 1 or 2."""


def parse(data: bytes) -> Parsed[PartitionMetadata]:
    """Return the version and the topic id if they are readable, and the first thing that the newest broker refuses."""
    value, refusal = _read(data, knows_later_versions=True)
    if refusal is not None:
        start = 0 if refusal.line == 1 else _second_line(data)
        return Parsed(value=value, defects=(_defect(data, refusal.message, refusal.line, start),))
    if serialize(value) != data:
        # This is also the answer for a version above 0, which no release up to 4.3.1 writes.
        return Parsed(
            value=value, defects=(_defect(data, "brokers never write the file in this form", 1, 0, accepted=True),)
        )
    return Parsed(value=value)


def serialize(value: PartitionMetadata) -> bytes:
    """Return the bytes that a broker writes; neither value may be None."""
    assert value.version is not None
    assert value.topic_id is not None
    return f"version: {value.version}\ntopic_id: {value.topic_id}".encode()


def broker_reads(data: bytes, release: Release) -> BrokerReads[PartitionMetadata]:
    """Return the value that PartitionMetadataFile.read of this release returns, or the simple name of its exception.

    NullPointerException is for a missing line, IllegalArgumentException for an id that is not 16 bytes in base64.
    MalformedInputException is for invalid UTF-8. IOException is for anything else, in 2.8 to 3.6 also for a version
    above 0. Brokers of 2.7 and earlier do not read the file, so both fields are None.
    """
    if not release.has_partition_metadata:
        return BrokerReads(value=PartitionMetadata(None, None))
    value, refusal = _read(data, knows_later_versions=release.reads_later_partition_metadata)
    return BrokerReads(value=value) if refusal is None else BrokerReads(value=None, error=refusal.error)


def _read(data: bytes, *, knows_later_versions: bool) -> tuple[PartitionMetadata, _Refusal | None]:
    """Return the readable values, and why a broker refuses the file; the checks are in the broker's order."""
    canonical = _CANONICAL.fullmatch(data)
    if canonical is not None and canonical[1] != _ZERO_ID:
        return PartitionMetadata(0, canonical[1].decode("ascii")), None
    decoded = utf8_lines(data)
    lines = list(islice(decoded.lines, 2))
    first, refused_first = _field(lines, 1, malformed=decoded.malformed)
    second, refused_second = _field(lines, 2, malformed=decoded.malformed)
    version, topic_id = java_int(first), java_uuid(second)
    value = PartitionMetadata(version, topic_id)
    refused_first = refused_first or _refused_version(version, knows_later_versions=knows_later_versions)
    if refused_first is None and refused_second is None:
        if topic_id is None:
            refused_second = _Refusal("IllegalArgumentException", "the topic id is not 16 bytes in base64", 2)
        elif topic_id == _ZERO_ID.decode("ascii"):
            refused_second = _Refusal("IOException", "the topic id is zero", 2)
    return value, refused_first or refused_second


def _field(lines: list[str], number: int, *, malformed: bool) -> tuple[str, _Refusal | None]:
    """Return the value in a line, split as String.split does, which removes empty parts at the end."""
    if number > len(lines):
        if malformed:
            return "", _Refusal("MalformedInputException", "invalid UTF-8", number)
        return "", _Refusal("NullPointerException", f"line {number} is missing", number)
    parts = _SEPARATOR.split(lines[number - 1], maxsplit=2)
    while len(parts) > 1 and not _SEPARATOR.sub("", parts[-1]):
        parts.pop()
    if len(parts) != len(("name", "value")):
        return "", _Refusal("IOException", "not `name: value`", number)
    return parts[1], None


def _refused_version(version: int | None, *, knows_later_versions: bool) -> _Refusal | None:
    if version is None:
        return _Refusal("IOException", "the version is not a number", 1)
    if version < 0 or (version > 0 and not knows_later_versions):
        return _Refusal("IOException", f"unknown version {version}", 1)
    return None


def java_uuid(text: str) -> str | None:
    """Return an id as Uuid.fromString reads it and Uuid.toString writes it; None if it is not a valid id."""
    match = _UUID.fullmatch(text)
    if match is None:
        return None
    raw = urlsafe_b64decode(match[1] + "==")
    assert len(raw) == _UUID_SIZE
    return urlsafe_b64encode(raw).rstrip(b"=").decode("ascii")


def _second_line(data: bytes) -> int:
    """Return the position of the second line; the end of the file if it has only one."""
    match = re.search(rb"\r\n|\n|\r", data)
    return match.end() if match else len(data)


def _defect(data: bytes, message: str, line: int, position: int, *, accepted: bool = False) -> Defect:
    quote = data[position : position + FOUND_SIZE_MAX]
    return Defect(message=message, line=line, column=1, position=position, found=quote, accepted=accepted)


def row(value: PartitionMetadata) -> Mapping[str, object]:
    """Return the JSON fields."""
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
