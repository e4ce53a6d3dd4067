"""KRaft's snapshots of metadata (`.checkpoint`): batches of magic 2, the first is a header, the last a footer.

RecordsSnapshotWriter 3.0 to 4.3.1; 2.8 wrote none. It is no plug: `check` reads it whole, `dump` in windows, `inspect`
not at all.
"""

from collections.abc import Iterator

from kcheck.formats import _control_record
from kcheck.formats._contract import Format
from kcheck.formats._record import Record, read_records
from kcheck.formats.record_batch import CORRUPT, HEADER, MAGIC_AT, body_from, checksum, entry_size, header_of
from kcheck.model.names import FileKind, parse_file
from kcheck.model.parsed import Defect, Parsed

_MAGIC = 2


def parse(data: bytes) -> Parsed[int]:
    """Return the number of batches. Defects: a wrong CRC, bytes that are no batch; else no header, no footer."""
    batches = [*_batches(memoryview(data))]
    end = sum(map(len, batches))
    defects: list[Defect] = []
    at = 0
    for batch in batches:
        header = header_of(batch, total=len(batch))
        if header.crc != checksum(batch[body_from(header.magic) :], header.magic):
            defects.append(Defect("the CRC of the batch does not match", at))
        at += len(batch)
    if end < len(data):
        defects.append(Defect(f"{len(data) - end} bytes are no whole batch", end))
    if not defects:
        defects += [
            Defect(f"no {name} stands at the {where}", position)
            for name, where, batch, position in (
                ("SNAPSHOT_HEADER", "begin", batches[:1], 0),
                ("SNAPSHOT_FOOTER", "end", batches[-1:], end),
            )
            if name not in (each for one in batch for each in _controls(one))
        ]
    return Parsed(len(batches), tuple(defects))


def _batches(data: memoryview) -> Iterator[memoryview]:
    """Yield the batches, up to the first bytes that are none."""
    at = 0
    while True:
        size = entry_size(data, at, remaining=len(data) - at)
        if size is None or size == CORRUPT or size < HEADER.size or data[at + MAGIC_AT] != _MAGIC:
            return
        yield data[at : at + size]
        at += size


def _controls(batch: memoryview) -> Iterator[str]:
    """Yield the names of the control records of a batch."""
    if header_of(batch, total=len(batch)).control:
        for record in read_records(batch):
            if isinstance(record, Record):
                yield _control_record.parse(record.key, record.value).name


FORMAT = Format(
    kind="metadata-snapshot",
    title="KRaft snapshot",
    matches=lambda name: parse_file(name).kind in (FileKind.METADATA_SNAPSHOT, FileKind.BOOTSTRAP),
    parse=parse,
)
