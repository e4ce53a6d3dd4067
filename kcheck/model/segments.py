"""What was found in one segment whose batches were all read: facts for the rules, with a bound on their number."""

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from kcheck.model.entries import Epoch, Offset
from kcheck.model.finding import Location
from kcheck.model.producers import Producing
from kcheck.model.unreadable import Unreadable

FAULT_COUNT_MAX = 100
"""So many faults of a kind are kept of one file; all of them are counted."""
GAPS_KEPT = 2
"""Of a segment: two gaps are as good as many, they are of a compaction."""


class End(StrEnum):
    """Why the batches of a `.log` end where they do (FileLogInputStream.nextBatch)."""

    WHOLE = "whole"
    """The file ends there."""
    TORN = "torn"
    """The file ends inside of an entry, or leaves too few bytes for one: a broker reads no further, without a word."""
    CORRUPT = "corrupt"
    """What stands there cannot be an entry: CorruptRecordException."""
    SHRUNK = "shrunk"
    """The file became shorter while it was read."""


class BatchFault(StrEnum):
    """What can be wrong with a batch that is framed as one."""

    CRC = "crc"
    """The CRC does not match the bytes."""
    MAGIC = "magic"
    """The magic is none of 0, 1, 2."""
    ORDER = "order"
    """It begins at or below the last offset before it."""
    DELTA = "delta"
    """It ends below its own base offset."""
    RANGE = "range"
    """Its offsets are below the segment's base offset, or more than 2^31 - 1 above."""
    COUNT = "count"
    """It names more records than offsets, or fewer than none."""
    EPOCH = "epoch"
    """Its leader epoch is below that of a batch before it."""


class FaultyBatch(NamedTuple):
    """A batch with a fault; `before` is the last offset before it, or the largest epoch where that is the fault."""

    fault: BatchFault
    position: int
    size: int
    base_offset: Offset
    last_offset: Offset
    epoch: int
    record_count: int
    magic: int
    before: int


class RecordFault(StrEnum):
    """What can be wrong inside of a batch whose CRC matches."""

    COMPRESSION = "compression"
    """It cannot be decompressed."""
    SIZE = "size"
    """It is larger than what is read of one batch."""
    FRAMING = "framing"
    """Its bytes are not the records that its header and their lengths tell."""
    OFFSET = "offset"
    """The offset of a record does not lie above that before it, or is none of the batch."""
    TIMESTAMP = "timestamp"
    """The largest timestamp of its records is not that of its header."""
    CONTROL = "control"
    """The end of a transaction that InvalidRecordException refuses: a recovery cuts behind it."""
    SHORT = "short"
    """The end of a transaction with too short a value: from 4.1 on another exception."""
    MARKER = "marker"
    """The end of a transaction that fails with another exception in every release."""
    RAFT = "raft"
    """A control record of KRaft that cannot be read."""
    PASSED = "passed"
    """Bytes where no record begins: readers pass over them without a word."""
    UNUSUAL = "unusual"
    """A control batch that no broker writes, and that every reader takes."""
    MESSAGE = "message"
    """A message of magic 0 or 1 in it, or the wrapper around it, is wrong."""


class FaultyRecord(NamedTuple):
    """A batch with a fault inside: which record, counted from 0, None for the batch; what is wrong, in words.

    `position` is that of the batch in the `.log`. The offsets are its own; below magic 2 both are the last one.
    """

    fault: RecordFault
    position: int
    base_offset: Offset
    last_offset: Offset
    record: int | None
    problem: str


class RecordsView(NamedTuple):
    """The records of a segment: how many were decoded, and which batches have a fault inside.

    `counts` tells how many batches have each fault; of each batch the first place is told.
    """

    decoded: int
    faults: tuple[FaultyRecord, ...]
    counts: Mapping[RecordFault, int]


class EntryFault(StrEnum):
    """What can be wrong with an entry of an offset index or a time index."""

    ORDER = "order"
    """It does not lie above the entry before it, or holds a negative number."""
    BEYOND = "beyond"
    """It points behind the last batch, or to an offset that no batch reaches."""
    NO_BATCH = "no batch"
    """No batch begins at its position."""
    SKIPS = "skips"
    """A batch before its position has its offset already."""
    GAP = "gap"
    """No batch holds its offset."""
    TIMESTAMP = "timestamp"
    """The batch of its offset has another largest timestamp, or one before has a larger one."""


class FaultyEntry(NamedTuple):
    """An entry with a fault: its number from 0, its offset made absolute, and its position or timestamp."""

    fault: EntryFault
    number: int
    offset: Offset
    value: int


class IndexView(NamedTuple):
    """An offset index or a time index, checked against the batches.

    `entries` are those before the zeros that a broker keeps ahead, `room` the bytes of these zeros, `torn` the bytes
    after the last whole slot. `counts` tells how many entries have each fault. `last_timestamp` is that of the last
    entry of a time index, None in an offset index or without entries.
    """

    where: Location
    size: int
    entries: int
    room: int
    torn: int
    faults: tuple[FaultyEntry, ...]
    counts: Mapping[EntryFault, int]
    last_timestamp: int | None = None


class Beyond(NamedTuple):
    """Batches behind the end of valid data that are whole: the first of them, and up to which offset they go on."""

    position: int
    base_offset: Offset
    last_offset: Offset
    batches: int


class EpochRun(NamedTuple):
    """Batches of one leader epoch that follow each other: the first offset of the first, the last of the last."""

    epoch: Epoch
    first_offset: Offset
    last_offset: Offset


class Aborted(NamedTuple):
    """A transaction that an ABORT marker in this segment ended: its producer, its first offset, that of the marker.

    `first_offset` is None where no batch of it was seen: it began before the first segment, or was cleaned away.
    """

    producer_id: int
    first_offset: Offset | None
    last_offset: Offset


class Transactions(NamedTuple):
    """What the batches of a segment tell of transactions.

    `aborted` stand in the order of their markers; `ended` has the offset of the first marker of each producer, `open`
    the first offset of each transaction that no marker of the segment ends.
    """

    aborted: tuple[Aborted, ...]
    ended: Mapping[int, Offset]
    open: Mapping[int, Offset]


class Gap(NamedTuple):
    """Offsets from `start` to below `end` that are in no batch, though there are some before and behind."""

    start: Offset
    end: Offset


class Epochless(NamedTuple):
    """Batches of magic 2 without a leader epoch: how many, and where in the `.log` the first of them begins."""

    batches: int
    position: int
    base_offset: Offset


class SegmentView(NamedTuple):
    """One segment read from its start. Offsets are of records, positions and sizes are bytes in the `.log`.

    `valid_size` is where the batches end, `end` why; `zeros` tells that only zeros stand behind them. `max_timestamp`
    is of the batches with records, `epochs` are the runs of batches with one epoch. `transactions` is None where there
    are too many to follow; `stated` are those of the aborted ones that the `.txnindex` names. `producers` is None where
    there are too many, and once they have been followed. `offset_index` and `time_index` are None where the file is
    missing or could not be read: `unread` tells by its ending why. `files` are the names of the log and its indexes
    that are in the directory, empty for a log that was named alone. `active` is the last segment of the partition;
    `scanned` tells whether the next start reads it through (an unclean stop, and not all of it below the recovery
    point), None where that is not known. `records` is None where they were not looked into. `holes` counts the offsets
    for which its headers name no record: before, between or inside of its batches. `gaps` are the first two of those
    between batches. `lacks_epochs` where a batch of it has none: `epochs` then do not tell of all. `epochless` are
    those of them that should have one, None where there are none.
    """

    where: Location
    base_offset: Offset
    size: int
    valid_size: int
    end: End
    zeros: bool
    batches: int
    first_offset: Offset | None
    end_offset: Offset
    max_timestamp: int
    epochs: tuple[EpochRun, ...]
    faults: tuple[FaultyBatch, ...]
    counts: Mapping[BatchFault, int]
    beyond: Beyond | None
    offset_index: IndexView | None
    time_index: IndexView | None
    transactions: Transactions | None
    producers: Producing | None = None
    unread: Mapping[str, Unreadable] = {}
    stated: tuple[Aborted, ...] = ()
    files: frozenset[str] = frozenset()
    active: bool = True
    scanned: bool | None = None
    records: RecordsView | None = None
    holes: int = 0
    gaps: tuple[Gap, ...] = ()
    lacks_epochs: bool = False
    epochless: Epochless | None = None

    @property
    def sound(self) -> bool:
        """Whether no batch, record or index entry has a fault, and the batches end where the file does."""
        if self.end is not End.WHOLE or self.counts or (self.records is not None and self.records.counts):
            return False
        for index in (self.offset_index, self.time_index):
            if index is not None and (index.counts or index.torn):
                return False
        return True
