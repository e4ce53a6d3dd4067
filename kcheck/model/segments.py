"""The facts about one segment whose batches were all read, for the rules; at most FAULT_COUNT_MAX faults of a kind."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import NamedTuple

from kcheck.model.entries import Epoch, Offset
from kcheck.model.finding import Location
from kcheck.model.producers import Producing
from kcheck.model.unreadable import Unreadable

FAULT_COUNT_MAX = 100
"""kcheck keeps at most this many faults of a kind for one file, and counts all."""
GAPS_KEPT = 2
"""Gaps kept for a segment. Two suffice to recognize a compaction."""


class End(StrEnum):
    """The reason why the batches of a `.log` end (FileLogInputStream.nextBatch)."""

    WHOLE = "whole"
    """The file ends there."""
    TORN = "torn"
    """The last batch is incomplete, or too few bytes are left for a header. A broker stops there without an error."""
    CORRUPT = "corrupt"
    """No valid batch at this position: CorruptRecordException."""
    SHRUNK = "shrunk"
    """The file became shorter while kcheck read it."""


class BatchFault(StrEnum):
    """The problems of a batch whose size fits the file."""

    CRC = "crc"
    """The CRC does not match the bytes."""
    MAGIC = "magic"
    """The magic is not 0, 1 or 2."""
    ORDER = "order"
    """It starts at or below the last offset before it."""
    DELTA = "delta"
    """It ends below its own base offset."""
    RANGE = "range"
    """Its offsets are below the segment's base offset, or more than 2^31 - 1 above it."""
    COUNT = "count"
    """Its record count is negative, or larger than its number of offsets."""
    EPOCH = "epoch"
    """Its leader epoch is below an earlier batch's."""


class FaultyBatch(NamedTuple):
    """A batch with a fault, as its header states it."""

    fault: BatchFault
    """The problem."""
    position: int
    """Its position in the `.log`, in bytes."""
    size: int
    """Its size in bytes."""
    base_offset: Offset
    """Its first offset."""
    last_offset: Offset
    """Its last offset."""
    epoch: int
    """Its leader epoch; -1 if it has none."""
    record_count: int
    """Number of its records."""
    magic: int
    """The message format."""
    before: int
    """The last offset before it; for BatchFault.EPOCH the largest epoch before it."""


class RecordFault(StrEnum):
    """The problems inside of a batch whose CRC matches."""

    COMPRESSION = "compression"
    """It cannot be decompressed."""
    SIZE = "size"
    """It is larger than the most that kcheck reads of one batch."""
    FRAMING = "framing"
    """Its bytes do not split into records by the record count and the record lengths."""
    OFFSET = "offset"
    """A record's offset is not above the one before it, or is outside of the batch."""
    TIMESTAMP = "timestamp"
    """The largest timestamp of its records differs from the one in its header."""
    CONTROL = "control"
    """A transaction marker that fails with InvalidRecordException. Recovery truncates the log there."""
    SHORT = "short"
    """A transaction marker whose value is too short. In 4.1 and later it fails with another exception."""
    MARKER = "marker"
    """A transaction marker that fails with another exception in every release."""
    RAFT = "raft"
    """A KRaft control record that cannot be parsed."""
    PASSED = "passed"
    """Bytes that belong to no record. Readers skip them without an error."""
    UNUSUAL = "unusual"
    """A control batch that no broker writes, but every reader accepts."""
    MESSAGE = "message"
    """A message of magic 0 or 1 in it, or the wrapper around it, is corrupt."""
    OVERLAP = "overlap"
    """A wrapper of magic 0 or 1 begins at or below the last offset before it."""


class FaultyRecord(NamedTuple):
    """The first fault of a kind inside of a batch."""

    fault: RecordFault
    """The problem."""
    position: int
    """The position of the batch in the `.log`, in bytes."""
    base_offset: Offset
    """The first offset of the batch; below magic 2 its last one."""
    last_offset: Offset
    """The last offset of the batch."""
    record: int | None
    """The number of the record in the batch, from 0; None if the batch itself is wrong."""
    problem: str
    """The problem, in words."""


class RecordsView(NamedTuple):
    """The records of a segment."""

    decoded: int
    """Number of decoded records."""
    faults: tuple[FaultyRecord, ...]
    """The first faults."""
    counts: Mapping[RecordFault, int]
    """Number of batches that have each fault."""
    keyless: int = 0
    """Number of records of magic 2 without a key, without control records."""


class EntryFault(StrEnum):
    """The problems of an entry in an offset index or a time index."""

    ORDER = "order"
    """It is not above the entry before it, or holds a negative number."""
    BEYOND = "beyond"
    """It points past the last batch, or to an offset above the last one."""
    NO_BATCH = "no batch"
    """No batch starts at its position."""
    SKIPS = "skips"
    """A batch before its position already has its offset."""
    GAP = "gap"
    """No batch has its offset."""
    TIMESTAMP = "timestamp"
    """The largest timestamp of the batch at its offset differs, or an earlier batch has a larger one."""


class FaultyEntry(NamedTuple):
    """An index entry with a fault."""

    fault: EntryFault
    """The problem."""
    number: int
    """The number of the entry, from 0."""
    offset: Offset
    """Its offset, not relative to the base offset."""
    value: int
    """In an offset index its position in bytes, in a time index its timestamp in milliseconds since 1970."""


class IndexView(NamedTuple):
    """An offset index or a time index, checked against the batches."""

    where: Location
    """The file."""
    size: int
    """Its size in bytes."""
    entries: int
    """Number of its entries before the preallocated zeros."""
    room: int
    """Number of its preallocated zeros, in bytes."""
    torn: int
    """Number of bytes after the last complete entry."""
    faults: tuple[FaultyEntry, ...]
    """The first entries with a fault."""
    counts: Mapping[EntryFault, int]
    """Number of entries that have each fault."""
    last_timestamp: int | None = None
    """The timestamp of the last entry, in milliseconds since 1970; None in an offset index, or without entries."""


class Beyond(NamedTuple):
    """Intact batches after the end of valid data."""

    position: int
    """The position of the first one in the `.log`, in bytes."""
    base_offset: Offset
    """The first offset of the first one."""
    last_offset: Offset
    """The last offset of the last one."""
    batches: int
    """Their number."""


class EpochRun(NamedTuple):
    """Consecutive batches of one leader epoch."""

    epoch: Epoch
    """The leader epoch."""
    first_offset: Offset
    """The first offset of the first batch."""
    last_offset: Offset
    """The last offset of the last batch."""


class Aborted(NamedTuple):
    """A transaction that an ABORT marker in this segment ends."""

    producer_id: int
    """The producer's id."""
    first_offset: Offset | None
    """Its first offset; None if it began before the first segment, or was compacted, so that no batch was seen."""
    last_offset: Offset
    """The offset of the marker."""


class AbortedEntry(NamedTuple):
    """A `.txnindex` entry for an aborted transaction that the batches show too."""

    producer_id: int
    """The producer's id."""
    first_offset: Offset
    """The first offset of the transaction."""
    last_offset: Offset
    """The offset of its marker."""
    last_stable_offset: Offset
    """The last stable offset when the marker was appended."""


def unlisted(aborted: Iterable[Aborted], stated: Mapping[tuple[int, int], int]) -> tuple[Aborted, ...]:
    """Return the transactions whose records begin before their entry, or that have none.

    `stated` are the first offsets of the entries, by producer id and last offset.
    """
    return tuple(
        row
        for row in aborted
        if row.first_offset is not None
        and stated.get((row.producer_id, row.last_offset), row.last_offset) > row.first_offset
    )


class Transactions(NamedTuple):
    """The transactions in the batches of a segment."""

    aborted: tuple[Aborted, ...]
    """The aborted ones, in the order of their markers."""
    ended: Mapping[int, Offset]
    """The offset of each producer's first marker, by producer id."""
    open: Mapping[int, Offset]
    """The first offset of each transaction without a marker in the segment, by producer id."""
    next_starts: Mapping[Offset, Offset] = {}
    """For the offset of an ABORT marker, the first offset of the next transaction of another producer after it."""


class Gap(NamedTuple):
    """Offsets `[start, end)` between two batches."""

    start: Offset
    """The first missing offset."""
    end: Offset
    """The first offset of the next batch."""


class Epochless(NamedTuple):
    """Batches of magic 2 without a leader epoch."""

    batches: int
    """Their number."""
    position: int
    """The position of the first one in the `.log`, in bytes."""
    base_offset: Offset
    """The first offset of the first one."""


class SegmentView(NamedTuple):
    """One segment, read from its beginning."""

    where: Location
    """The `.log`."""
    base_offset: Offset
    """The offset in its name."""
    size: int
    """The size of the `.log` in bytes."""
    valid_size: int
    """The end of its valid batches, in bytes."""
    end: End
    """The reason why they end there."""
    zeros: bool
    """True if only zeros follow them."""
    batches: int
    """Number of its valid batches."""
    first_offset: Offset | None
    """The first offset of its first batch; None without a batch."""
    end_offset: Offset
    """The offset after its last batch."""
    max_timestamp: int
    """The largest timestamp of its batches with records, in milliseconds since 1970; -1 without one."""
    epochs: tuple[EpochRun, ...]
    """Its leader epochs, in the order of its batches."""
    faults: tuple[FaultyBatch, ...]
    """The first batches with a fault."""
    counts: Mapping[BatchFault, int]
    """Number of batches that have each fault."""
    beyond: Beyond | None
    """Intact batches after the end of valid data; None without any."""
    offset_index: IndexView | None
    """Its offset index; None if the file is missing or unreadable."""
    time_index: IndexView | None
    """Its time index; None if the file is missing or unreadable."""
    transactions: Transactions | None
    """Its transactions; None if they are too many to follow."""
    producers: Producing | None = None
    """Its producers; None if they are too many, or once `ProducersView` has them."""
    unread: Mapping[str, Unreadable] = {}
    """The reason why an index could not be read, by file extension."""
    stated: tuple[AbortedEntry, ...] = ()
    """The entries in its `.txnindex` for its aborted transactions."""
    files: frozenset[str] = frozenset()
    """Its existing `.log` and indexes; empty for a `.log` that the user named alone."""
    active: bool = True
    """True if it is the last segment of the partition."""
    scanned: bool | None = None
    """True if the next start recovers it, after an unclean shutdown, unless it is below the recovery point.

    None if not known.
    """
    records: RecordsView | None = None
    """Its records; None if kcheck did not decode them."""
    holes: int = 0
    """Number of its offsets without a record before, between and inside of batches, by the batch headers."""
    gaps: tuple[Gap, ...] = ()
    """The first two gaps between batches."""
    lacks_epochs: bool = False
    """True if some batch has no leader epoch; `epochs` are then incomplete."""
    epochless: Epochless | None = None
    """The batches of magic 2 that lack a leader epoch; None without any."""

    @property
    def unlisted(self) -> tuple[Aborted, ...]:
        """Its aborted transactions whose records begin before their entry in `stated`, or that have no entry."""
        stated: dict[tuple[int, int], int] = {
            (entry.producer_id, entry.last_offset): entry.first_offset for entry in self.stated
        }
        return unlisted(() if self.transactions is None else self.transactions.aborted, stated)
