"""The producers in the batches of a log, and where batches contradict each other or a producer snapshot."""

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from kcheck.model.entries import Offset
from kcheck.model.finding import Location


class SequenceFault(StrEnum):
    """The problems of a batch's sequence numbers, compared with its producer's previous batch."""

    REPEATED = "repeated"
    """They are not above the numbers of the previous batch."""
    GAP = "gap"
    """Some are missing, although no offset is."""


class FaultySequence(NamedTuple):
    """A batch whose sequence numbers do not continue its producer's previous batch in the same epoch."""

    fault: SequenceFault
    """The problem."""
    producer_id: int
    """The producer's id."""
    producer_epoch: int
    """Its epoch."""
    base_offset: Offset
    """The first offset of the batch."""
    first_sequence: int
    """The first sequence number of the batch."""
    offset_before: Offset
    """The last offset of the previous batch."""
    sequence_before: int
    """The last sequence number of the previous batch."""


class Seen(NamedTuple):
    """One producer in a range of batches; -1 means none.

    The log cleaner can remove the record of a control batch. A broker that reads the log again learns nothing from this
    batch. When it wrote the batch, it learned from it (ProducerAppendInfo.append). `epoch` and `ended_offset` ignore
    it.
    """

    epoch: int
    """The producer epoch of its last batch."""
    first_epoch: int
    """The producer epoch of its first batch with records."""
    first_sequence: int
    """The first sequence number of that batch."""
    first_offset: int
    """The first offset of that batch."""
    solid_from: int
    """From this offset to `first_offset` no offset is missing."""
    last_epoch: int
    """The producer epoch of its last batch with records."""
    last_sequence: int
    """The last sequence number of that batch."""
    last_offset: int
    """The last offset of that batch."""
    control_offset: int
    """The offset of its last control batch."""
    ended_offset: int
    """The offset of its last control batch that has a record."""
    open_from: int
    """The first offset of its first transactional batch after its last control batch."""


class Range(NamedTuple):
    """The producers in a range of batches."""

    first_offset: Offset
    """The first offset of the range."""
    end_offset: Offset
    """The offset after the last one."""
    solid_from: Offset
    """From this offset to the end no offset is missing."""
    producers: Mapping[int, Seen]
    """Its producers by id."""


class Producing(NamedTuple):
    """The producers of a segment, at its end and at offsets within it."""

    whole: Range | None
    """The producers of all its batches; None if it has no batch."""
    at: Mapping[Offset, Range | None]
    """The producers below some offsets; None if the segment has no batch there."""
    faults: tuple[FaultySequence, ...]
    """The first batches with a fault in their sequence numbers, at most FAULT_COUNT_MAX of each fault."""
    counts: Mapping[SequenceFault, int]
    """Number of batches that have each fault."""


class SnapshotFault(StrEnum):
    """The contradictions between a producer snapshot and the batches below its offset."""

    BEYOND = "beyond"
    """It names an offset at or above its own."""
    EPOCH = "epoch"
    """The producer's last batch has a later epoch."""
    OLDER = "older"
    """The producer has a later batch of the same epoch."""
    SEQUENCE = "sequence"
    """The batch that it names ends with another sequence number."""
    ABSENT = "absent"
    """No batch of the producer reaches the offset that it names, although no offset is missing."""
    ENDED = "ended"
    """It lists a transaction as open that a marker has ended."""
    LACKS = "lacks"
    """It lacks a transaction that is open."""


class FaultyProducer(NamedTuple):
    """A wrong or missing entry of a producer snapshot."""

    fault: SnapshotFault
    """The problem."""
    producer_id: int
    """The producer's id."""
    stated: int
    """The epoch, sequence number or offset in the snapshot; -1 if it has none."""
    seen: int
    """The value in the batches; -1 if they have none."""


class SnapshotView(NamedTuple):
    """A producer snapshot, compared with the batches."""

    where: Location
    """The file."""
    offset: Offset
    """The offset in its name. The snapshot describes the producers below it."""
    newest: bool
    """True if a broker loads this snapshot when it starts after a clean shutdown."""
    faults: tuple[FaultyProducer, ...]
    """The first wrong entries."""
    counts: Mapping[SnapshotFault, int]
    """Number of entries that have each fault."""


class ProducersView(NamedTuple):
    """The producers of a partition."""

    snapshots: tuple[SnapshotView, ...]
    """Its producer snapshots."""
    sequences: tuple[FaultySequence, ...]
    """The first batches with a fault in their sequence numbers."""
    counts: Mapping[SequenceFault, int]
    """Number of batches that have each fault."""
    known: int | None
    """Number of producers at the log end; None if they are too many, or a segment could not be read."""
    open: int | None
    """Number of transactions that are open at the log end; None like `known`."""
