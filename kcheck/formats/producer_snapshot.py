"""`.snapshot`, the state of each producer at an offset (ProducerStateManager 0.11 to 4.3.1).

The file is a header, then one entry per producer. The header has the version, a CRC-32C of all bytes after the CRC, and
the number of producers.
"""

from array import array
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from kcheck.formats._contract import Format
from kcheck.model.mapped import Mapped
from kcheck.model.names import FileKind, parse_file
from kcheck.model.parsed import FOUND_SIZE_MAX, BrokerReads, Defect, Parsed
from kcheck.model.release import Release
from kcheck.records.batch import crc32c, decrement_sequence
from kcheck.records.entry_file import Unpacked
from kcheck.records.layout import Layout

SNAPSHOT_HEADER = Layout((("version", "i16"), ("crc", "u32"), ("count", "i32")))
PRODUCER = Layout(
    (
        ("producer_id", "i64"),
        ("producer_epoch", "i16"),
        ("last_sequence", "i32"),
        ("last_offset", "i64"),
        ("offset_delta", "i32"),
        ("timestamp", "i64"),
        ("coordinator_epoch", "i32"),
        ("current_txn_first_offset", "i64"),
    )
)
assert (SNAPSHOT_HEADER.size, PRODUCER.size) == (10, 46)

VERSION = 1
CRC_FROM = 6
"""The CRC covers the bytes from this position on."""
CORRUPT = "CorruptSnapshotException"
"""An exception that does not abort the broker, which deletes the file."""


class Producer(NamedTuple):
    """One producer: its last batch and its open transaction. -1 means none."""

    producer_id: int
    """The id of the producer."""
    producer_epoch: int
    """The epoch of the producer."""
    last_sequence: int
    """The sequence number of the last record of the last batch."""
    last_offset: int
    """The offset of the last record of the last batch."""
    offset_delta: int
    """The last offset of the last batch minus its first offset."""
    timestamp: int
    """The timestamp of the last batch, in ms."""
    coordinator_epoch: int
    """The coordinator epoch of the last transaction marker."""
    current_txn_first_offset: int
    """The first offset of the open transaction."""

    @property
    def first_sequence(self) -> int:
        """The sequence number of the first record of the last batch (BatchMetadata.firstSeq)."""
        return decrement_sequence(self.last_sequence, self.offset_delta)


class ProducerSnapshot(NamedTuple):
    """The contents of a producer snapshot."""

    version: int | None
    """The version; None if the header is incomplete."""
    producers: Sequence[Producer]
    """The producers, in file order."""


def parse(data: bytes) -> Parsed[ProducerSnapshot]:
    """Return every complete producer entry, up to the count.

    Defects that a broker refuses come before defects that it accepts.
    """
    if len(data) < SNAPSHOT_HEADER.size:
        refused = [_defect(data, message, position) for position, message in problems(data, len(data), 0)]
        return Parsed(value=ProducerSnapshot(None, ()), defects=tuple(refused))
    version, _, count = SNAPSHOT_HEADER.unpack_from(data)
    value = ProducerSnapshot(version, _producers(data, count))
    crc = crc32c(memoryview(data)[CRC_FROM:])
    refused = [_defect(data, message, position) for position, message in problems(data, len(data), crc)]
    return Parsed(value=value, defects=(*refused, *_suspicious_ids(data, value.producers)))


def problems(head: bytes, size: int, crc: int) -> Iterator[tuple[int, str]]:
    """Yield why the broker refuses a file of `size` bytes that begins with `head`, as (position, message).

    `crc` is the computed CRC of the bytes from `CRC_FROM` on.
    """
    if size < SNAPSHOT_HEADER.size:
        yield 0, f"{size} bytes are too few for a header" if size else "the file is empty"
        return
    version, stated_crc, count = SNAPSHOT_HEADER.unpack_from(head)
    if version != VERSION:
        yield 0, f"unknown version {version}, expected {VERSION}"
    if crc != stated_crc:
        yield 2, "the CRC does not match"
    expected = SNAPSHOT_HEADER.size + count * PRODUCER.size
    if size != expected:
        yield CRC_FROM, f"the count {count} needs {max(expected, 0)} bytes, but the file has {size}"


def _producers(data: bytes, count: int) -> Sequence[Producer]:
    end = min(SNAPSHOT_HEADER.size + max(count, 0) * PRODUCER.size, len(data))
    return Unpacked(data, PRODUCER, Producer._make, begin=SNAPSHOT_HEADER.size, end=end)


def _suspicious_ids(data: bytes, producers: Sequence[Producer]) -> Iterator[Defect]:
    """Yield the first negative and the first repeated producer id; brokers accept both."""
    ids = array("q", (producer.producer_id for producer in producers))
    negative = next((index for index, producer_id in enumerate(ids) if producer_id < 0), None)
    repeated = _index_of_repeated(ids)
    for index, what in ((negative, "is negative"), (repeated, "occurs twice")):
        if index is not None:
            position = SNAPSHOT_HEADER.size + index * PRODUCER.size
            yield _defect(data, f"producer id {ids[index]} {what}", position, accepted=True)


def _index_of_repeated(ids: Sequence[int]) -> int | None:
    """Return the index of the first id that also occurs before it."""
    if all(one < other for one, other in pairwise(ids)):
        return None
    seen: set[int] = set()
    for index, producer_id in enumerate(ids):
        if producer_id in seen:
            return index
        seen.add(producer_id)
    return None


def _defect(data: bytes, message: str, position: int, *, accepted: bool = False) -> Defect:
    quote = data[position : position + FOUND_SIZE_MAX]
    return Defect(message=message, position=position, found=quote, accepted=accepted)


def serialize(value: ProducerSnapshot) -> bytes:
    """Return the bytes that ProducerStateManager.writeSnapshot writes; the version must not be None."""
    assert value.version is not None
    body = b"".join(PRODUCER.pack(*producer) for producer in value.producers)
    count = len(value.producers)
    head = SNAPSHOT_HEADER.pack(value.version, 0, count)[CRC_FROM:]
    return SNAPSHOT_HEADER.pack(value.version, crc32c(head + body), count) + body


def broker_reads(data: bytes, release: Release) -> BrokerReads[ProducerSnapshot]:
    """Return the value that ProducerStateManager.readSnapshot returns, or the exception that it throws.

    The broker ignores bytes after the last producer if the CRC covers them. In 0.10.2 and earlier this file does not
    exist. 0.11.0.0 throws other exceptions besides CORRUPT.
    """
    if not release.has_producer_state:
        return BrokerReads(value=ProducerSnapshot(None, ()))
    snapshot = parse(data).value
    error = _error(data, snapshot)
    if error is None:
        return BrokerReads(value=snapshot)
    return BrokerReads(value=None, error=error if release.throws_several_snapshot_errors else CORRUPT)


def _error(data: bytes, snapshot: ProducerSnapshot) -> str | None:
    if snapshot.version is None or SNAPSHOT_HEADER.unpack_from(data)[2] != len(snapshot.producers):
        return "SchemaException"
    if snapshot.version != VERSION:
        return "IllegalArgumentException"
    _, crc, _ = SNAPSHOT_HEADER.unpack_from(data)
    return None if crc32c(memoryview(data)[CRC_FROM:]) == crc else CORRUPT


def row(value: ProducerSnapshot) -> Mapping[str, object]:
    """Return the JSON fields."""
    return {"version": value.version, "producers": Mapped(Producer._asdict, value.producers)}


FORMAT = Format(
    kind="producer-snapshot",
    title="Producer state snapshot",
    matches=lambda name: parse_file(name).kind is FileKind.PRODUCER_SNAPSHOT,
    parse=parse,
    serialize=serialize,
    row=row,
    broker_reads=broker_reads,
    reads_row=row,
)
