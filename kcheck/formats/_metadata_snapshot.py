"""KRaft metadata snapshots (`.checkpoint`): batches of magic 2; the first is a header, the last a footer.

Kafka class: RecordsSnapshotWriter 3.0 to 4.3.1; 2.8 wrote no snapshots. This module is not public: `check` reads the
file at once, `dump` in windows, and `inspect` does not read it.
"""

from collections.abc import Iterator

from kcheck.formats import _control_record
from kcheck.formats._bootstrap import bootstrap_reads
from kcheck.formats._contract import Format
from kcheck.formats._record import Record, read_records
from kcheck.formats.record_batch import (
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
from kcheck.model.names import FileKind, parse_file
from kcheck.model.parsed import BrokerReads, Defect, Parsed
from kcheck.model.release import Release

_MAGIC = 2


def parse(data: bytes) -> Parsed[int]:
    """Return the number of batches. Defects: wrong CRCs, bytes that are not a batch; otherwise no header or footer."""
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
            if name not in (control for batch in edge for control in _controls(batch))
        ]
    return Parsed(len(batches), tuple(defects))


def broker_reads(data: bytes, release: Release) -> BrokerReads[None]:
    """Return as `error` why a KRaft node does not start if this is its newest snapshot, None if it may start.

    Up to 3.7 it starts with any. From 3.8 it reads the snapshot first (KRaftControlRecordStateMachine, RecordsIterator)
    and aborts on a CRC that does not match and on bytes that do not begin a batch. It takes a batch that is cut short
    for the end of the snapshot.
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


def _controls(batch: memoryview) -> Iterator[str]:
    """Yield the names of the control records in a batch."""
    if header_of(batch, total=len(batch)).control:
        for record in read_records(batch):
            if isinstance(record, Record):
                yield _control_record.parse(record.key, record.value).name


FORMAT = Format(
    kind="metadata-snapshot",
    title="KRaft snapshot",
    matches=lambda name: parse_file(name).kind in (FileKind.METADATA_SNAPSHOT, FileKind.BOOTSTRAP),
    parse=parse,
    broker_reads=broker_reads,
)
BOOTSTRAP = FORMAT._replace(broker_reads=bootstrap_reads)
