"""KRaft metadata snapshots (`.checkpoint`): batches of magic 2; the first is a header, the last a footer.

Kafka class: RecordsSnapshotWriter 3.0 to 4.3.1; 2.8 wrote no snapshots. `bootstrap.checkpoint` has
the same format. `dump` reads both in windows.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple

from kcheck.formats._bootstrap import bootstrap_reads
from kcheck.formats._contract import Format
from kcheck.model.cluster import Voter, voters_in
from kcheck.model.names import FileKind, parse_file
from kcheck.model.parsed import BrokerReads, Defect, Parsed
from kcheck.model.release import Release
from kcheck.records import control_record
from kcheck.records.batch import (
    CORRUPT,
    HEADER,
    HEADER_SIZE_UP_TO_MAGIC,
    MAGIC_AT,
    MIN_ENTRY_SIZE,
    OVERHEAD,
    body_from,
    checksum,
    entry_size,
    header_of,
)
from kcheck.records.record import Record, read_records

_MAGIC = 2


_FEATURE_LEVEL = b"\1\x0c"
"""The first bytes of FeatureLevelRecord (version of the frame, and type)."""


class MetadataSnapshot(NamedTuple):
    """The contents of a snapshot before its records of topics and brokers."""

    batches: int = 0
    """The number of batches with records of metadata."""
    features: Mapping[str, int] = {}
    """The levels of features in the first of these batches, where writers put them."""
    kraft_version: int | None = None
    """The level of kraft.version; None in 3.8 and earlier, and in bootstrap.checkpoint."""
    voters: tuple[Voter, ...] = ()
    """The controllers that elect; empty if the configuration of the nodes names them."""


def parse(data: bytes) -> Parsed[MetadataSnapshot]:
    """Return the contents of the batches.

    The defects are wrong CRCs, and bytes that are not a batch. Without these, a missing header or footer is a defect.
    """
    batches = [*_batches(memoryview(data))]
    end = sum(map(len, batches))
    defects: list[Defect] = []
    at = 0
    for batch in batches:
        if not _crc_matches(batch):
            defects.append(Defect("the CRC of the batch does not match", at))
        at += len(batch)
    if end < len(data):
        defects.append(Defect(f"the last {len(data) - end} bytes are not a complete batch", end))
    if not defects:
        defects += [
            Defect(f"no {name} record at the {where}", position)
            for name, where, edge, position in (
                ("SNAPSHOT_HEADER", "beginning", batches[:1], 0),
                ("SNAPSHOT_FOOTER", "end", batches[-1:], end),
            )
            if name not in (control.name for batch in edge for control in _controls(batch))
        ]
    return Parsed(_said(batches), tuple(defects))


def _said(batches: Iterable[memoryview]) -> MetadataSnapshot:
    of_metadata = [batch for batch in batches if not header_of(batch, total=len(batch)).control]
    fields = {
        name: value for batch in batches for control in _controls(batch) for name, value in control.fields.items()
    }
    version = fields.get("k_raft_version")
    return MetadataSnapshot(
        len(of_metadata),
        {name: level for batch in islice(of_metadata, 1) for name, level in _features(batch)},
        version if isinstance(version, int) else None,
        voters_in(fields),
    )


def _features(batch: memoryview) -> Iterator[tuple[str, int]]:
    """Yield the levels of features that the records of a batch set."""
    from kcheck.schemas.records import decoder  # only where a snapshot has records

    decode = decoder("metadata")
    for record in read_records(batch):
        value = bytes(record.value or b"") if isinstance(record, Record) else b""
        message = decode(None, value).value if value.startswith(_FEATURE_LEVEL) else None
        fields: Mapping[str, Any] = (message and message.data) or {}
        if fields:
            yield fields["name"], fields["featureLevel"]


def broker_reads(data: bytes, release: Release) -> BrokerReads[None]:
    """Return as `error` why a KRaft node does not start with this newest snapshot; None if it may start.

    3.7 and earlier start with any snapshot. 3.8 and later read it first (KRaftControlRecordStateMachine,
    RecordsIterator). They abort on a CRC that does not match, and on bytes that do not begin a batch. They treat an
    incomplete batch as the end of the snapshot.
    """
    if not release.reads_metadata_snapshot_at_start:
        return BrokerReads(None)
    at = 0
    for batch in _batches(memoryview(data)):
        if not _crc_matches(batch):
            return BrokerReads(None, f"the CRC of the batch at position {at} does not match")
        at += len(batch)
    rest = data[at:]
    corrupt = len(rest) >= OVERHEAD.size and OVERHEAD.unpack_from(rest)[1] < MIN_ENTRY_SIZE
    unknown = len(rest) > MAGIC_AT and rest[MAGIC_AT] > _MAGIC
    wrong = entry_size(rest, 0, remaining=len(rest)) is not None
    tiny = 0 < len(data) < HEADER_SIZE_UP_TO_MAGIC
    return BrokerReads(None, f"no valid batch at position {at}" if corrupt or unknown or wrong or tiny else None)


def _crc_matches(batch: memoryview) -> bool:
    header = header_of(batch, total=len(batch))
    return header.crc == checksum(batch[body_from(header.magic) :], header.magic)


def _batches(data: memoryview) -> Iterator[memoryview]:
    """Yield the batches, up to the first bytes that are not a complete batch."""
    at = 0
    while True:
        size = entry_size(data, at, remaining=len(data) - at)
        if size is None or size == CORRUPT or size < HEADER.size or data[at + MAGIC_AT] != _MAGIC:
            return
        yield data[at : at + size]
        at += size


def _controls(batch: memoryview) -> Iterator[control_record.ControlRecord]:
    """Yield the control records in a batch."""
    if header_of(batch, total=len(batch)).control:
        for record in read_records(batch):
            if isinstance(record, Record):
                yield control_record.parse(record.key, record.value)


def row(value: MetadataSnapshot) -> Mapping[str, object]:
    """Return the JSON fields."""
    return {**value._asdict(), "voters": [voter._asdict() for voter in value.voters]}


FORMAT = Format(
    kind="metadata-snapshot",
    title="KRaft snapshot",
    matches=lambda name: parse_file(name).kind in (FileKind.METADATA_SNAPSHOT, FileKind.BOOTSTRAP),
    parse=parse,
    row=row,
    broker_reads=broker_reads,
    reads_row=lambda _: {},
)
BOOTSTRAP = FORMAT._replace(broker_reads=bootstrap_reads)
