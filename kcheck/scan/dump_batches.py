"""The rows of the batches of a `.log`, as `kcheck dump` shows them."""

from collections.abc import Iterator

from kcheck.disk.read import pread
from kcheck.formats import record_batch
from kcheck.formats.record_batch import HEADER, HEADER_SIZE_UP_TO_MAGIC, OVERHEAD, BatchHeader, header_of
from kcheck.model.report import Row
from kcheck.model.segments import End
from kcheck.scan.dump_file import File
from kcheck.scan.dump_filter import Filter, Found, Shown
from kcheck.scan.dump_records import has_damage, record_rows

SPAN = ("base_offset", "last_offset")
"""The fields that hold the first and the last offset of a batch."""


def batch_rows(file: File, wanted: Filter, shown: Shown) -> Iterator[Found]:
    """Yield a row for each batch that is wanted; tell what is wrong in all of them.

    Records are read in those that are wanted alone, while the row is looked at; where damage is asked for, in all.
    """
    from kcheck.scan.columns import Reader  # numpy: only where a log is read

    reader = Reader(file.descriptor, file.size, verify=True)
    least: int | None = file.base_offset
    for columns in reader:
        assert columns.valid is not None
        places = zip(columns.position.tolist(), columns.size.tolist(), columns.valid.tolist(), strict=True)
        for position, size, valid in places:
            data = pread(file.descriptor, min(HEADER.size, size), position)
            if len(data) < min(HEADER.size, size):
                file.tell(position, file.size - position, "the file has become shorter", tail=True)
                return
            header = header_of(data, total=size)
            if not valid:
                offset = header.last_offset if header.base_offset is None else header.base_offset
                file.tell(position, size, f"the CRC of the batch at offset {offset} does not match")
            row = _batch_row(position, size, header, valid=valid)
            message = _unknown(row)
            if message is not None:
                file.tell(position, size, message)
            damaged = not valid or message is not None
            if shown.records and wanted.only_damaged and not damaged:
                damaged = has_damage(file, position, size, header)
            found = Found(row, damaged, least)
            least = header.last_offset + 1
            if wanted.wants(found, SPAN):
                if shown.records:
                    found = found._replace(row={**row, "records": record_rows(file, row, header, wanted, shown)})
                yield found
    if reader.end is not End.WHOLE:
        left, why = file.size - reader.position, _why(file, reader.position, reader.end)
        file.tell(reader.position, left, f"{left} bytes are no batch: {why}", tail=True)


def _unknown(row: Row) -> str | None:
    """Return what no release knows of a batch."""
    magic, compression = row["magic"], str(row["compression"])
    if magic not in (0, 1, 2):
        return f"magic {magic} is not known"
    if compression not in record_batch.COMPRESSION:
        return f"the compression {compression.removeprefix('unknown-')} is not known"
    return None


def _batch_row(position: int, size: int, header: BatchHeader, *, valid: bool) -> Row:
    return {
        "position": position,
        "size": size,
        "magic": header.magic,
        "base_offset": header.base_offset,
        "last_offset": header.last_offset,
        "count": header.record_count,
        "base_sequence": header.base_sequence,
        "last_sequence": header.last_sequence,
        "producer_id": header.producer_id,
        "producer_epoch": header.producer_epoch,
        "leader_epoch": header.leader_epoch,
        "transactional": header.transactional,
        "control": header.control,
        "delete_horizon_ms": header.delete_horizon_ms,
        "timestamp_type": header.timestamp_type,
        "base_timestamp": header.base_timestamp,
        "max_timestamp": header.max_timestamp,
        "compression": header.compression,
        "crc": header.crc,
        "valid": valid,
    }


def _why(file: File, position: int, end: End) -> str:
    """Return why valid data ends where it does."""
    if end is End.SHRUNK:
        return "the file has become shorter"
    if file.size - position <= HEADER_SIZE_UP_TO_MAGIC:
        return f"an entry has more than {HEADER_SIZE_UP_TO_MAGIC}"
    data = pread(file.descriptor, OVERHEAD.size, position)
    if len(data) < OVERHEAD.size:
        return "the file has become shorter"
    size = OVERHEAD.unpack_from(data)[1]
    if end is End.TORN:
        return f"the entry there would have {size + OVERHEAD.size}"
    return f"the size {size} of the entry there is too small for a batch"
