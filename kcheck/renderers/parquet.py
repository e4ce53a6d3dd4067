"""Apache Parquet, for answers that are one table."""

from collections.abc import Iterator
from typing import BinaryIO

from kcheck.arrow import batch_of, schema_of
from kcheck.documents.table import Cells, rows
from kcheck.model.report import Report
from kcheck.renderers._contract import Renderer
from kcheck.screen.options import Options

_ROW_COUNT = 10_000
_TEXT_SIZE_MAX = 32 << 20
"""Rows, and bytes of text in them, that are held before they are written."""


def render(report: Report, stream: BinaryIO, options: Options) -> None:
    """Write row groups compressed with zstd; the schema's metadata names the Kafka release and the command."""
    del options
    from pyarrow import parquet

    schema = schema_of(report.columns, {"kcheck": report.verb, "kafka": report.kafka})
    with parquet.ParquetWriter(stream, schema, compression="zstd") as writer:
        texts = [at for at, column in enumerate(report.columns) if column.type in ("string", "json")]
        for group in _groups(rows(report, str), texts):
            writer.write_batch(batch_of(group, report.columns))


def _groups(all_rows: Iterator[Cells], texts: list[int]) -> Iterator[list[Cells]]:
    """Yield the rows in groups of bounded size; `texts` are the positions of columns with long texts."""
    group: list[Cells] = []
    size = 0
    for row in all_rows:
        group.append(row)
        size += sum([len(row[at] or "") for at in texts])
        if len(group) == _ROW_COUNT or size > _TEXT_SIZE_MAX:
            yield group
            group, size = [], 0
    if group:
        yield group


RENDERER = Renderer(name="parquet", render=render, one_table=True, binary=True)
