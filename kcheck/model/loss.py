"""Records that a broker's next start or a repair removes from the files."""

from typing import NamedTuple

from kcheck.model.entries import Offset


class LostRecords(NamedTuple):
    """Records that are in the files now and that the broker will not have; offsets `[start, end)`.

    The header of an incomplete batch counts, because some bytes of its records exist.
    """

    start: Offset | None
    """The first offset; None if it is not known."""
    end: Offset | None
    """The offset after the last one; None if it is not known."""
    records: int | None
    """Number of records; None if not known."""
    bytes: int
    """Number of bytes that the next start truncates or deletes, without zeros at the end."""
    below_high_watermark: int | None
    """Number of the records that consumers may have read; None if that is not known."""
    counted: int = 0
    """If `records` is None: how many of them are counted."""

    @property
    def at_least(self) -> int:
        """Number of records that are lost at least."""
        return self.counted if self.records is None else self.records

    @property
    def at_most(self) -> int | None:
        """The offsets that they can have, if `records` is None; None if these are not known."""
        if self.records is not None or self.start is None or self.end is None:
            return None
        return self.end - self.start

    @property
    def is_known(self) -> bool:
        """True if records are known to be lost; bytes after the last batch that name none may be of none."""
        return self.start is None or self.end is not None or self.at_least > 0


class UnreadableRecords(NamedTuple):
    """Offsets `[start, end)` of batches that a broker serves as they are, and that no consumer or follower accepts."""

    start: Offset
    """The first offset."""
    end: Offset
    """The offset after the last one."""
    why: str
    """The fault of the first batch."""


class DatedRecords(NamedTuple):
    """Offsets `[start, end)` of a segment that its time index dates before its newest record."""

    start: Offset
    """The base offset of the segment."""
    end: Offset
    """The offset after the last one."""
    timestamp: int
    """The timestamp of the last entry."""
    newest: int
    """That of the newest record."""


BatchIdentity = tuple[Offset, Offset, int, int]
"""The first and the last offset of a batch of magic 2, its CRC and its epoch. The CRC contains no offsets."""


class BatchFaults(NamedTuple):
    """The faults of batches that readers of a log meet."""

    unreadable: tuple[UnreadableRecords, ...] = ()
    """Its corrupt batches."""
    gaps: tuple[tuple[Offset, Offset], ...] = ()
    """The offsets `[start, end)` that no batch has; none if a log cleaner may have removed their records."""
    foreign: tuple[tuple[Offset, Offset], ...] = ()
    """The offsets `[start, end)` of segments that their time index, or the next segment, contradicts."""
    is_complete: bool = True
    """True if every batch was read."""
    dated: tuple[DatedRecords, ...] = ()
    """The segments that their time index dates before their newest record."""
    skipped: tuple[tuple[Offset, Offset], ...] = ()
    """The offsets `[start, end)` that no lookup in an offset index finds."""
    first: BatchIdentity | None = None
    """Its first batch of magic 2; None without one."""
    head: tuple[Offset, Offset] | None = None
    """The offsets `[start, end)` from the log start to its first batch."""
    tail: str | None = None
    """The reason why the bytes after the last batch are no batch. The broker appends after them. None without any."""
    newest: BatchIdentity | None = None
    """The first batch of magic 2 of its last segment, which no cleaner writes; None if that was not read."""
    unlisted: tuple[tuple[Offset, Offset], ...] = ()
    """The offsets `[start, end)` of aborted transactions that its transaction indexes do not list."""

    def shared(self, *, is_compacted: bool) -> tuple[BatchIdentity, ...]:
        """Return the batches that the other replicas of the partition have, too."""
        first = None if is_compacted else self.first
        return tuple(dict.fromkeys(batch for batch in (first, self.newest) if batch is not None))
