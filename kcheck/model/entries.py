"""The entries of Kafka's small files."""

from typing import NamedTuple, NewType

Epoch = NewType("Epoch", int)
"""A leader epoch, int32. An epoch of a producer is called `producer_epoch`."""

Offset = NewType("Offset", int)
"""A record's offset in its partition, int64. A place in a file is a `position`."""

RELATIVE_OFFSET_MAX = 2**31 - 1
"""The largest distance of an offset from the base offset of its segment (AbstractIndex.toRelative)."""

UNDEFINED_EPOCH = Epoch(-1)
"""Kafka's value for no epoch."""
UNDEFINED_EPOCH_OFFSET = Offset(-1)
"""Kafka's value for the end offset of an epoch that it does not know."""


class EpochEntry(NamedTuple):
    """A line of leader-epoch-checkpoint (Kafka's EpochEntry, in 0.11 and later)."""

    epoch: Epoch
    """The leader epoch."""
    start_offset: Offset
    """The offset of its first record."""


EpochEntries = tuple[EpochEntry, ...]


class EpochEndOffset(NamedTuple):
    """The answer to OffsetsForLeaderEpoch."""

    epoch: Epoch | None
    """The largest known epoch not above the requested one; None if the reply carries no epoch (version 0)."""
    end_offset: Offset
    """The offset after the last record of that epoch."""


class OffsetEntry(NamedTuple):
    """A line of one of the four offset checkpoints."""

    topic: str
    """The topic."""
    partition: int
    """The partition number."""
    offset: Offset
    """The offset."""


class OffsetPosition(NamedTuple):
    """An entry of an offset index (Kafka's OffsetPosition)."""

    offset: Offset
    """The offset, not relative to the base offset."""
    position: int
    """The position of its batch in the `.log`, in bytes."""


class Batch(NamedTuple):
    """The header of a batch (magic 2), or of a message or compressed wrapper (magic 0 and 1).

    A named tuple, because a segment has millions of them.
    """

    position: int
    """Its position in the `.log`, in bytes."""
    size: int
    """Its size in bytes, header included."""
    magic: int
    """The message format: 0, 1 or 2."""
    base_offset: Offset
    """Its first offset.

    For a wrapper this is its last offset, because only decompression shows the first one.
    """
    last_offset: Offset
    """Its last offset."""
    epoch: Epoch | None
    """Its leader epoch; None below magic 2."""
    record_count: int | None
    """Number of its records: 1 for an uncompressed message; None for a wrapper."""
    max_timestamp: int | None
    """Its largest timestamp, in milliseconds since 1970; None for magic 0."""
    attributes: int
    """Its attributes: compression, timestamp type, transactional, control."""
    crc: int
    """The CRC in its header."""
