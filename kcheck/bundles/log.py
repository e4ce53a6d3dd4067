"""A `.log` of a bundle for readers, made from the rows of its batches as it is read."""

import errno
import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from kcheck.bundles import rows
from kcheck.bundles.small_files import BadBundleError
from kcheck.model.entries import Offset
from kcheck.model.segments import FAULT_COUNT_MAX, FaultyRecord, RecordFault, RecordsView
from kcheck.model.source import CopyingSource


class MemberBytes(NamedTuple):
    """The bytes of a member that is not compressed."""

    pread: Callable[[int, int], bytes]
    """Reads a number of bytes at a position of the bundle."""
    begin: int
    """The position of its first byte in the bundle."""
    size: int
    """Its size in bytes."""

    def read(self, at: int, count: int) -> bytes:
        """Return bytes of the member; BadBundleError if they are not there."""
        data = self.pread(count, self.begin + at) if 0 <= at <= self.size - count else b""
        if len(data) != count:
            raise BadBundleError("it ends too early")
        return data


class BatchSource(CopyingSource):
    """A `.log`, made from the rows of its batches as it is read."""

    def __init__(self, member: MemberBytes, size: int, verdicts: bytes | None) -> None:
        """Take the member, the size of the `.log`, and the verdicts on its records."""
        self.size = size
        self._member = member
        self._verdicts = verdicts
        self._held: tuple[int, rows.PlacedRows] | None = None
        try:
            self._index = self._read_index()
        except BadBundleError as error:
            raise OSError(errno.EBADMSG, f"its batches in the bundle are corrupt: {error}") from error

    def _read_index(self) -> rows.BlockIndex:
        member, footer = self._member, rows.FOOTER_SIZE
        if member.read(0, len(rows.MAGIC)) != rows.MAGIC:
            raise BadBundleError("it does not begin as batches do")
        size, count = rows.footer_of(member.read(member.size - footer, footer))
        if size != self.size:
            raise BadBundleError("it is of another size")
        length = count * rows.INDEX_ENTRY_SIZE
        data = member.read(member.size - footer - length, length)
        return rows.index_of(data, size, member.size)

    def pread(self, count: int, position: int) -> bytes:
        """Return bytes as `Source.pread`."""
        buffer = bytearray(max(min(count, self.size - position), 0))
        self._fill(buffer, position)
        return bytes(buffer)

    def next_data(self, position: int) -> int | None:
        """Return the first position from this one on that may hold data, not zeros; None if all are zeros."""
        while position < self.size:
            begin, end, is_zeros = self._range_at(position)
            if not is_zeros or not begin <= position < end:
                return position
            position = end
        return None

    def records(self, *, reads_zstd: bool) -> RecordsView | None:
        """Return the verdict on its records; None if the bundle has none."""
        if self._verdicts is None:
            return None
        try:
            document = json.loads(self._verdicts)
            return _records_view(document["any" if reads_zstd or "before_2.1" not in document else "before_2.1"])
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise OSError(errno.EBADMSG, "the verdict on its records in the bundle is corrupt") from error

    def _range_at(self, position: int) -> tuple[int, int, bool]:
        block = self._block(self._number(position))
        row = int(block.at.searchsorted(position, "right")) - 1
        begin = int(block.at[row])
        return begin, begin + int(block.size[row]), bool(block.rows[row, 0] == rows.RowKind.ZEROS)

    def _number(self, position: int) -> int:
        """Return the number of the block with a position."""
        low, high = 0, len(self._index.blocks)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._index.blocks[middle][0] <= position else (low, middle)
        return low

    def _fill(self, buffer: bytearray, position: int) -> None:
        end = position + len(buffer)
        if not buffer:
            return
        for number in range(self._number(position), len(self._index.blocks)):
            if self._index.blocks[number][0] >= end:
                break
            rows.fill(self._block(number), buffer, position)

    def _block(self, number: int) -> rows.PlacedRows:
        """Return a block; the last one is held."""
        if self._held is None or self._held[0] != number:
            begin, offset, count, gaps, kept, packed = self._index.blocks[number]
            try:
                data = self._member.read(offset, packed)
                block = rows.unpacked_block(data, count, gaps, kept)
                self._held = number, rows.placed(block, begin, self._index.end(number))
            except BadBundleError as error:
                raise OSError(errno.EBADMSG, f"its batches in the bundle are corrupt: {error}") from error
        return self._held[1]


def records_row(view: RecordsView) -> dict[str, Any]:
    """Return a verdict on records as JSON."""
    faults = [[*fault] for fault in view.faults]
    return {"decoded": view.decoded, "faults": faults, "counts": dict(sorted(view.counts.items()))}


def _records_view(row: Mapping[str, Any]) -> RecordsView:
    faults = []
    for fault, position, base, last, record, problem in row["faults"][: FAULT_COUNT_MAX * len(RecordFault)]:
        number = None if record is None else int(record)
        where = int(position), Offset(int(base)), Offset(int(last))
        faults.append(FaultyRecord(RecordFault(fault), *where, number, str(problem)[:500]))
    counts = {RecordFault(fault): int(count) for fault, count in row["counts"].items()}
    return RecordsView(int(row["decoded"]), tuple(faults), counts)
