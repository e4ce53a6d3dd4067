"""Partition directories with transactions, damage and holes, and what is exported of them."""

import struct
from collections.abc import Sequence
from pathlib import Path

from kcheck.api import export
from kcheck.exports.left_out import LeftOut
from kcheck.exports.records import LogExport
from kcheck.exports.sources import ExportLog
from tests.builders import Made, batch_of, partition_dir, record, sized, varint

TRANSACTIONAL, CONTROL = 0x10, 0x20


def data(base: int, count: int = 2, *, producer_id: int | None = None, value: bytes = b"x" * 30) -> Made:
    """Return a batch of records, those of a producer in a transaction."""
    records = [record(at, key=b"%d" % (base + at), value=value) for at in range(count)]
    if producer_id is None:
        return batch_of(base, *records)
    return batch_of(base, *records, attributes=TRANSACTIONAL, producer=(producer_id, 0), sequence=base)


def marker(base: int, producer_id: int, kind: int) -> Made:
    """Return the marker that ends a transaction: 0 aborts, 1 commits."""
    fields = bytes(1) + varint(0) + varint(0) + sized(struct.pack(">hh", 0, kind)) + sized(struct.pack(">hi", 0, 0))
    control = sized(fields + varint(0))
    return batch_of(base, control, attributes=TRANSACTIONAL | CONTROL, producer=(producer_id, 0))


def exported(path: Path, **options: object) -> LogExport:
    """Return the one log that a path names, to be exported."""
    (log,) = export(path, **options).logs
    return log


def offsets_of(path: Path, **options: object) -> tuple[list[int], list[LeftOut]]:
    """Return the offsets that are exported, and what is left out."""
    log = exported(path, **options)
    return [one.offset for one in log.records()], list(log.left_out.rows())


def counts(rows: Sequence[LeftOut]) -> dict[str, int | None]:
    """Return how many records are left out, by reason."""
    return {str(row.why): row.records for row in rows}


def segments(path: Path, *of_segments: Sequence[Made]) -> Path:
    """Write a partition directory without index files."""
    return partition_dir(path, of_segments, epoch_entries=None, index_every=None)


def log_of(path: Path) -> ExportLog:
    """Return the log of a path."""
    return exported(path).log
