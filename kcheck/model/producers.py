"""What the batches of a log tell of its producers, and where they contradict each other or a snapshot."""

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from kcheck.model.entries import Offset
from kcheck.model.finding import Location


class SequenceFault(StrEnum):
    """What can be wrong with the sequence numbers of a batch, after the batch of its producer and epoch before."""

    REPEATED = "repeated"
    """They are not above those of the batch before."""
    GAP = "gap"
    """Some are missing, though no offset is."""


class FaultySequence(NamedTuple):
    """A batch of a producer, and where the one before it ended; sequences of the same epoch."""

    fault: SequenceFault
    producer_id: int
    producer_epoch: int
    base_offset: Offset
    first_sequence: int
    offset_before: Offset
    sequence_before: int


class Seen(NamedTuple):
    """One producer in a range of batches; -1 is none.

    `epoch` is that of its last batch. `first_*` and `last_*` are of its first and last batch with data, `solid_from`
    tells from which offset up to the first one no offset is missing. `control_offset` is that of its last control
    batch, `open_from` that of its first transactional batch with records behind it.

    A control batch whose record the cleaner took tells a broker nothing when it reads the log again, though it did when
    it was written (ProducerAppendInfo.append): `epoch` and `ended_offset`, of the last control batch, leave it out.
    """

    epoch: int
    first_epoch: int
    first_sequence: int
    first_offset: int
    solid_from: int
    last_epoch: int
    last_sequence: int
    last_offset: int
    control_offset: int
    ended_offset: int
    open_from: int


class Range(NamedTuple):
    """The producers of a range of batches; `solid_from` tells from which offset up to its end no offset is missing."""

    first_offset: Offset
    end_offset: Offset
    solid_from: Offset
    producers: Mapping[int, Seen]


class Producing(NamedTuple):
    """The producers of a segment, and what they were at each offset that was asked for. None: it has no batch.

    `faults` are kept up to a number, `counts` tells all.
    """

    whole: Range | None
    at: Mapping[Offset, Range | None]
    faults: tuple[FaultySequence, ...]
    counts: Mapping[SequenceFault, int]


class SnapshotFault(StrEnum):
    """What a producer snapshot can say that the batches below its offset contradict."""

    BEYOND = "beyond"
    """It names an offset that is not below its own."""
    EPOCH = "epoch"
    """The last batch of the producer has a later epoch."""
    OLDER = "older"
    """The producer has a later batch of the same epoch."""
    SEQUENCE = "sequence"
    """The batch that it names ends with another sequence number."""
    ABSENT = "absent"
    """No batch of the producer reaches the offset that it names, though no offset is missing."""
    ENDED = "ended"
    """The transaction that it calls open was ended."""
    LACKS = "lacks"
    """It does not name a transaction that is open."""


class FaultyProducer(NamedTuple):
    """An entry of a snapshot, or one that it lacks: what it states, and what the batches show; -1 is none."""

    fault: SnapshotFault
    producer_id: int
    stated: int
    seen: int


class SnapshotView(NamedTuple):
    """A producer snapshot beside the batches; `newest` is the one that a start after a clean stop loads."""

    where: Location
    offset: Offset
    newest: bool
    faults: tuple[FaultyProducer, ...]
    counts: Mapping[SnapshotFault, int]


class ProducersView(NamedTuple):
    """The producers of a partition: `known` and `open` count them and their open transactions at the log end.

    Both are None where there are too many to follow, or a segment could not be read.
    """

    snapshots: tuple[SnapshotView, ...]
    sequences: tuple[FaultySequence, ...]
    counts: Mapping[SequenceFault, int]
    known: int | None
    open: int | None
