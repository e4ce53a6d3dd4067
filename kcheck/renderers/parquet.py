"""Apache Parquet, where the answer is one table."""

from collections.abc import Iterator
from typing import BinaryIO

from kcheck.model.report import Report, Row
from kcheck.renderers._contract import Options, Renderer
from kcheck.renderers._table import rows
from kcheck.scan.arrow import schema_of, text

_ROW_COUNT = 10_000
_TEXT_SIZE_MAX = 32 << 20
"""So many rows, or so much text in them, are held before they are written."""


def render(report: Report, stream: BinaryIO, options: Options) -> None:
    """Write a file of row groups, compressed with zstd; the schema names Kafka's release and the verb."""
    del options
    import pyarrow as pa
    from pyarrow import parquet

    schema = schema_of(report.columns, {"kcheck": report.verb, "kafka": report.kafka})
    with parquet.ParquetWriter(stream, schema, compression="zstd") as writer:
        for group in _groups(rows(report)):
            writer.write_table(pa.Table.from_pylist(group, schema))


def _groups(all_rows: Iterator[Row]) -> Iterator[list[Row]]:
    """Yield the rows in groups of bounded size; text that is no Unicode, as a name may be, is escaped."""
    group: list[Row] = []
    size = 0
    for row in all_rows:
        group.append({name: text(value) if isinstance(value, str) else value for name, value in row.items()})
        size += sum(len(value) for value in row.values() if isinstance(value, str))
        if len(group) == _ROW_COUNT or size > _TEXT_SIZE_MAX:
            yield group
            group, size = [], 0
    if group:
        yield group


RENDERER = Renderer(name="parquet", render=render, one_table=True, binary=True)
