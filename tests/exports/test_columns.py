"""Parquet keeps every byte."""

import io
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from kcheck.exports import columns
from kcheck.exports.columns import write_parquet
from kcheck.exports.records import ExportedRecord
from tests.builders import batch_of, record
from tests.exports.logs import exported, segments


def test_bytes_are_binary(tmp_path: Path) -> None:
    """Nulls, bytes that are no text, headers that come twice, magic 0 without a timestamp."""
    made = record(0, key=b"\xff", value=None, headers=[(b"h", b"\0"), (b"h", None)])
    rows = [
        *exported(segments(tmp_path / "t-0", [batch_of(0, made, record(1, value=b""))])).records(),
        ExportedRecord(None, None, 2, None, None, None, b"v", ()),
    ]
    stream = io.BytesIO()
    write_parquet(rows, stream)
    table = pq.read_table(stream).to_pylist()
    assert [row._asdict() | {"headers": [{"key": k, "value": v} for k, v in row.headers]} for row in rows] == table


@pytest.mark.parametrize(("count", "size"), [(2, 1 << 20), (1000, 10)])
def test_groups_are_bounded(monkeypatch: pytest.MonkeyPatch, count: int, size: int) -> None:
    """In rows and in bytes."""
    monkeypatch.setattr(columns, "_ROW_COUNT", count)
    monkeypatch.setattr(columns, "_SIZE_MAX", size)
    stream = io.BytesIO()
    write_parquet(
        (ExportedRecord("t", 0, at, 1, "CreateTime", b"12345", b"67890", ((b"h", b"1"),)) for at in range(5)), stream
    )
    file = pq.ParquetFile(stream)
    assert (5, [2, 2, 1] if count == 2 else [1] * 5) == (
        file.metadata.num_rows, [file.metadata.row_group(at).num_rows for at in range(file.num_row_groups)]
    )  # fmt: skip
