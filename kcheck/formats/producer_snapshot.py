"""`.snapshot`: what a broker knows of each producer at an offset (ProducerStateManager 0.11 to 4.3.1).

A header with version, CRC-32C of all that follows it, and the number of producers; then one entry a producer.
"""

from array import array
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from kcheck.formats._contract import Format
from kcheck.formats._entry_file import Unpacked
from kcheck.formats._layout import Layout
from kcheck.formats.record_batch import crc32c, decrement_sequence
from kcheck.model.mapped import Mapped
from kcheck.model.names import FileKind, parse_file
from kcheck.model.parsed import FOUND_SIZE_MAX, BrokerReads, Defect, Parsed
from kcheck.model.release import Release

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
"""The CRC covers what stands from here on."""
CORRUPT = "CorruptSnapshotException"
"""What ends no start: the broker deletes the file."""


class Producer(NamedTuple):
    """One producer: its last batch, and its open transaction; -1 is none. The timestamp is in ms."""

    producer_id: int
    producer_epoch: int
    last_sequence: int
    last_offset: int
    offset_delta: int
    timestamp: int
    coordinator_epoch: int
    current_txn_first_offset: int

    @property
    def first_sequence(self) -> int:
        """The sequence number of the first record of the last batch (BatchMetadata.firstSeq)."""
        return decrement_sequence(self.last_sequence, self.offset_delta)


class ProducerSnapshot(NamedTuple):
    """The producers in file order; `version` is None where the header is not there whole."""

    version: int | None
    producers: Sequence[Producer]


def parse(data: bytes) -> Parsed[ProducerSnapshot]:
    """Return every whole producer that the count allows. Defects: what the broker refuses, then what it overlooks."""
    if len(data) < SNAPSHOT_HEADER.size:
        told = [_defect(data, message, position) for position, message in problems(data, len(data), 0)]
        return Parsed(value=ProducerSnapshot(None, ()), defects=tuple(told))
    version, _, count = SNAPSHOT_HEADER.unpack_from(data)
    value = ProducerSnapshot(version, _producers(data, count))
    found = problems(data, len(data), crc32c(memoryview(data)[CRC_FROM:]))
    told = [_defect(data, message, position) for position, message in found]
    told.extend(_doubtful(data, value.producers))
    return Parsed(value=value, defects=tuple(told))


def problems(head: bytes, size: int, crc: int) -> Iterator[tuple[int, str]]:
    """Yield why the broker refuses a file of `size` bytes that begins with `head`, as (position, message).

    `crc` is that of the bytes from `CRC_FROM` on.
    """
    if size < SNAPSHOT_HEADER.size:
        yield 0, f"{size} bytes are no header" if size else "the file is empty"
        return
    version, named, count = SNAPSHOT_HEADER.unpack_from(head)
    if version != VERSION:
        yield 0, f"version {version} is not known, only {VERSION} is"
    if crc != named:
        yield 2, "the CRC does not match"
    expected = SNAPSHOT_HEADER.size + count * PRODUCER.size
    if size != expected:
        yield CRC_FROM, f"{size} bytes do not agree with the count {count}, which needs {max(expected, 0)}"


def _producers(data: bytes, count: int) -> Sequence[Producer]:
    end = min(SNAPSHOT_HEADER.size + max(count, 0) * PRODUCER.size, len(data))
    return Unpacked(data, PRODUCER, Producer._make, begin=SNAPSHOT_HEADER.size, end=end)


def _doubtful(data: bytes, producers: Sequence[Producer]) -> Iterator[Defect]:
    """Yield the first negative and the first repeated producer id; the broker takes both."""
    ids = array("q", (each.producer_id for each in producers))
    negative = next((index for index, producer_id in enumerate(ids) if producer_id < 0), None)
    repeated = _repeated(ids)
    for index, what in ((negative, "is negative"), (repeated, "stands there twice")):
        if index is not None:
            position = SNAPSHOT_HEADER.size + index * PRODUCER.size
            yield _defect(data, f"the producer id {ids[index]} {what}", position, accepted=True)


def _repeated(ids: Sequence[int]) -> int | None:
    """Return the index of the first id that stands there before."""
    if all(one < other for one, other in pairwise(ids)):
        return None
    seen: set[int] = set()
    for index, each in enumerate(ids):
        if each in seen:
            return index
        seen.add(each)
    return None


def _defect(data: bytes, message: str, position: int, *, accepted: bool = False) -> Defect:
    found = data[position : position + FOUND_SIZE_MAX]
    return Defect(message=message, position=position, found=found, accepted=accepted)


def serialize(value: ProducerSnapshot) -> bytes:
    """Return the file as ProducerStateManager.writeSnapshot leaves it; the version must be known."""
    assert value.version is not None
    body = b"".join(PRODUCER.pack(*each) for each in value.producers)
    count = len(value.producers)
    head = SNAPSHOT_HEADER.pack(value.version, 0, count)[CRC_FROM:]
    return SNAPSHOT_HEADER.pack(value.version, crc32c(head + body), count) + body


def broker_reads(data: bytes, release: Release) -> BrokerReads[ProducerSnapshot]:
    """Return what ProducerStateManager.readSnapshot returns; or why it does not.

    Bytes after the last producer are read over where the CRC covers them too. Up to 0.10.2 there is no such file, and
    0.11.0.0 has errors beside CORRUPT.
    """
    if not release.has_producer_state:
        return BrokerReads(value=ProducerSnapshot(None, ()))
    found = parse(data).value
    error = _error(data, found)
    if error is None:
        return BrokerReads(value=found)
    return BrokerReads(value=None, error=error if release.throws_several_snapshot_errors else CORRUPT)


def _error(data: bytes, found: ProducerSnapshot) -> str | None:
    if found.version is None or SNAPSHOT_HEADER.unpack_from(data)[2] != len(found.producers):
        return "SchemaException"
    if found.version != VERSION:
        return "IllegalArgumentException"
    _, crc, _ = SNAPSHOT_HEADER.unpack_from(data)
    return None if crc32c(memoryview(data)[CRC_FROM:]) == crc else CORRUPT


def row(value: ProducerSnapshot) -> Mapping[str, object]:
    """Return the fields of JSON."""
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
