"""Records as Parquet: keys, values and headers are binary columns, so that no byte of them can be lost."""

from collections.abc import Iterable, Iterator
from io import RawIOBase
from typing import TYPE_CHECKING, Any

from kcheck.exports.records import ExportedRecord

if TYPE_CHECKING:
    import pyarrow as pa

_ROW_COUNT = 10_000
_SIZE_MAX = 32 << 20
"""Rows, and bytes in them, that are held before they are written."""


def write_parquet(records: Iterable[ExportedRecord], stream: RawIOBase) -> None:
    """Write records in row groups of bounded size, compressed with zstd."""
    import pyarrow as pa  # only for Parquet
    from pyarrow import parquet

    schema = _schema()
    with parquet.ParquetWriter(stream, schema, compression="zstd") as writer:
        for group in _groups(records):
            columns = [
                pa.array(values, field.type)
                for values, field in zip(zip(*map(_cells, group), strict=True), schema, strict=True)
            ]
            writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=schema))


def _schema() -> "pa.Schema":
    import pyarrow as pa

    header = pa.struct([("key", pa.binary()), ("value", pa.binary())])
    return pa.schema(
        [
            ("topic", pa.string()), ("partition", pa.int32()), ("offset", pa.int64()), ("timestamp", pa.int64()),
            ("timestamp_type", pa.string()), ("key", pa.binary()), ("value", pa.binary()),
            ("headers", pa.list_(header)),
        ]
    )  # fmt: skip


def _cells(record: ExportedRecord) -> tuple[Any, ...]:
    return (*record[:-1], [{"key": name, "value": value} for name, value in record.headers])


def _groups(records: Iterable[ExportedRecord]) -> Iterator[list[ExportedRecord]]:
    group: list[ExportedRecord] = []
    size = 0
    for record in records:
        group.append(record)
        size += len(record.key or b"") + len(record.value or b"")
        size += sum(len(name) + len(value or b"") for name, value in record.headers)
        if len(group) == _ROW_COUNT or size > _SIZE_MAX:
            yield group
            group, size = [], 0
    if group:
        yield group
