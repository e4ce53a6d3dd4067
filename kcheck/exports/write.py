"""Writes the records of logs in a format, and counts what was written."""

from collections.abc import Callable, Iterable, Iterator
from io import RawIOBase
from itertools import chain
from typing import Any, TypeAlias

from kcheck.exports.columns import write_parquet
from kcheck.exports.left_out import Omission
from kcheck.exports.lines import LINE_FORMATS, Unfit
from kcheck.exports.records import ExportedRecord, LogExport
from kcheck.model.entries import Offset

PARQUET = "parquet"
FORMATS = (*LINE_FORMATS, PARQUET)
"""The words after --format."""
_PIECE_SIZE = 1 << 20

Write: TypeAlias = Callable[[bytes], object]


class Written:
    """The written records of one log."""

    def __init__(self, export: LogExport, committed: Offset | None = None) -> None:
        """Take a log; `committed` is the committed offset that is to be translated."""
        self.export = export
        self.committed = committed
        self.records: int = 0
        """Number of records."""
        self.start: Offset | None = None
        """The offset of the first of them."""
        self.end: Offset | None = None
        """The offset after the last of them."""
        self.before: int = 0
        """Number of them below the committed offset, which is its place once these records are in an empty log."""
        self.longest = 0
        """The size in bytes of the longest line."""

    def count(self, record: ExportedRecord) -> None:
        """Count a record that is written."""
        self.records += 1
        self.start = record.offset if self.start is None else self.start
        self.end = Offset(record.offset + 1)
        if self.committed is not None and record.offset < self.committed:
            self.before += 1

    def taken(self) -> Iterator[ExportedRecord]:
        """Yield the records, all of which are written."""
        for record in self.export.records():
            self.count(record)
            yield record


def write_logs(logs: Iterable[Written], style: str, write: Write) -> None:
    """Write the records of logs one after the other."""
    if style == PARQUET:
        write_parquet(chain.from_iterable(log.taken() for log in logs), _WriteStream(write))
        return
    for log in logs:
        _write_lines(log, style, write)


def _write_lines(log: Written, style: str, write: Write) -> None:
    encode, piece = LINE_FORMATS[style].encode, bytearray()
    for record in log.export.records():
        line = encode(record)
        if isinstance(line, Unfit):
            log.export.left_out.take(Omission.FORMAT, 1, record.offset, Offset(record.offset + 1), line)
            continue
        log.count(record)
        log.longest = max(log.longest, len(line))
        piece += line
        if len(piece) >= _PIECE_SIZE:
            write(bytes(piece))
            piece.clear()
    write(bytes(piece))


class _WriteStream(RawIOBase):
    """A stream for a library that wants one."""

    def __init__(self, write: Write) -> None:
        self._write = write

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._write(bytes(data))
        return len(data)
