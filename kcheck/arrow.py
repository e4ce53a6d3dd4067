"""Rows as Arrow columns, with the types of the published tables, and their forms of texts and times."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from kcheck.model.report import Column

if TYPE_CHECKING:
    import pyarrow as pa

_MS_MIN, _MS_MAX = -62_135_596_800_000, 253_402_300_799_999
"""The years 1 to 9999, as readers of tables can show no others."""


def schema_of(columns: Iterable[Column], metadata: dict[str, str] | None = None) -> "pa.Schema":
    """Return the schema of columns, all of them nullable and of signed types."""
    import pyarrow as pa  # worth its import only where there are tables

    types = _types()
    return pa.schema([pa.field(column.name, types[column.type]) for column in columns], metadata)


@cache
def _types() -> "Mapping[str, pa.DataType]":
    import pyarrow as pa

    return {
        "int64": pa.int64(), "bool": pa.bool_(), "string": pa.string(), "json": pa.string(),
        "time": pa.timestamp("us", tz="UTC"), "bytes": pa.binary(),
    }  # fmt: skip


def arrays(rows: Sequence[Sequence[Any]], columns: Sequence[Column]) -> "list[pa.Array]":
    """Return an array for each column."""
    values = list(zip(*rows, strict=True)) if rows else [()] * len(columns)
    return [array(column_values, column) for column_values, column in zip(values, columns, strict=True)]


def nested(rows: Sequence[Sequence[Sequence[Any]]], columns: Sequence[Column]) -> "pa.ListArray":
    """Return an array of lists, with the rows of each item."""
    import pyarrow as pa

    flat = [row for inner in rows for row in inner]
    offsets = pa.array([0, *accumulate(map(len, rows))], pa.int32())
    inner = pa.StructArray.from_arrays(arrays(flat, columns), names=[column.name for column in columns])
    return pa.ListArray.from_arrays(offsets, inner)


def batch_of(rows: Sequence[Sequence[Any]], columns: Sequence[Column]) -> "pa.RecordBatch":
    """Return rows as a batch."""
    import pyarrow as pa

    return pa.RecordBatch.from_arrays(arrays(rows, columns), schema=schema_of(columns))


def text(value: str) -> str:
    """Return a text in Unicode; other bytes of a name are escaped."""
    return value.encode(errors="backslashreplace").decode()


def to_bytes(batch: "pa.RecordBatch") -> bytes:
    """Return a batch as bytes that cross a process; `from_bytes` reads them."""
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def from_bytes(data: bytes) -> "Iterator[pa.RecordBatch]":
    """Yield the batches that `to_bytes` wrote."""
    import pyarrow as pa

    with pa.ipc.open_stream(data) as reader:
        yield from reader


def array(values: Iterable[Any], column: Column) -> "pa.Array":
    """Return the values of a column as an array; a text that is not Unicode is escaped."""
    import pyarrow as pa

    kind = _types()[column.type]
    if column.type == "time":
        return pa.array([_micros(value) for value in values], kind)
    try:
        return pa.array(values, kind)
    except UnicodeEncodeError:
        return pa.array([None if value is None else text(value) for value in values], kind)


def _micros(value: int | None) -> int | None:
    """Return a time; None without one, or outside of every calendar."""
    return value * 1000 if value is not None and _MS_MIN <= value <= _MS_MAX and value != -1 else None
