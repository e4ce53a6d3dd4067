"""The entries of Kafka's small files."""

from typing import NamedTuple, NewType

Epoch = NewType("Epoch", int)
"""A leader epoch, int32. An epoch of a producer is called `producer_epoch`."""

Offset = NewType("Offset", int)
"""A record's offset in its partition, int64. A place in a file is a `position`."""

RELATIVE_OFFSET_MAX = 2**31 - 1
"""The offsets of a segment lie at most so far above its base offset (AbstractIndex.toRelative)."""

UNDEFINED_EPOCH = Epoch(-1)
UNDEFINED_EPOCH_OFFSET = Offset(-1)


class EpochEntry(NamedTuple):
    """A line of leader-epoch-checkpoint: the epoch and the offset of its first record (`EpochEntry` since 0.11)."""

    epoch: Epoch
    start_offset: Offset


EpochEntries = tuple[EpochEntry, ...]


class EpochEndOffset(NamedTuple):
    """The answer to OffsetsForLeaderEpoch; `epoch` is None where the reply does not carry one (version 0)."""

    epoch: Epoch | None
    end_offset: Offset


class OffsetEntry(NamedTuple):
    """A line of one of the four offset checkpoints."""

    topic: str
    partition: int
    offset: Offset


class OffsetPosition(NamedTuple):
    """An entry of an offset index: an offset (absolute) and the position in the `.log` (bytes)."""

    offset: Offset
    position: int


class Batch(NamedTuple):
    """What the header of a batch (magic 2) or a message or wrapper (magic 0 and 1) says.

    `position` and `size` are bytes in the `.log`. `base_offset` of a compressed wrapper of magic 0 or 1 is its last
    offset too: the first one is known only after decompression. `record_count` is None there, 1 for a plain message.
    `epoch` is None below magic 2. A named tuple, because a segment has millions of them.
    """

    position: int
    size: int
    magic: int
    base_offset: Offset
    last_offset: Offset
    epoch: Epoch | None
    record_count: int | None
    max_timestamp: int | None
    attributes: int
    crc: int
