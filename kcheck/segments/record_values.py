"""The values of all records of a `.log`, for topics whose records have no keys."""

from collections.abc import Iterator

from kcheck.model.source import Source
from kcheck.records.batch import CONTROL, MAGIC_AT
from kcheck.records.record import Record, read_records
from kcheck.segments.header_columns import HeaderReader

_BATCH_SIZE_MAX = 64 << 20
_NEWEST_MAGIC = 2


def record_values(source: Source, size: int | None = None) -> Iterator[bytes | None]:
    """Yield the value of each record in order; None for null, and for anything unreadable."""
    reader = HeaderReader(source, size, verify=True)
    for columns in reader:
        assert columns.valid is not None
        rows = (columns.position, columns.size, columns.attributes, columns.valid)
        for position, length, attributes, is_valid in zip(*(row.tolist() for row in rows), strict=True):
            if not is_valid or length > _BATCH_SIZE_MAX:
                yield None
            elif not attributes & CONTROL:
                yield from _values(source.pread(length, position))
    if reader.position < (source.size if size is None else size):
        yield None


def _values(batch: bytes) -> Iterator[bytes | None]:
    if len(batch) <= MAGIC_AT or batch[MAGIC_AT] > _NEWEST_MAGIC:
        yield None
        return
    for record in read_records(batch, _BATCH_SIZE_MAX):
        is_readable = isinstance(record, Record) and record.valid is not False
        yield bytes(record.value) if is_readable and isinstance(record, Record) and record.value is not None else None
