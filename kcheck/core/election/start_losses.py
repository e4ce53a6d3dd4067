"""The records that brokers remove for good when they start."""

from typing import NamedTuple

from kcheck.core.replication.truncation_plans import OffsetRange
from kcheck.model.entries import Offset


class RemovedAtStart(NamedTuple):
    """Records of one log that no replica here has after its broker has started."""

    topic: str
    partition: int
    broker_id: int
    path: str
    """The partition directory."""
    end: Offset
    """The highest log end offset of a replica here after the brokers have started."""
    last: Offset | None
    """The offset after the last record that is removed; None if not known."""
    readable: tuple[OffsetRange, ...]
    """The offsets of them that intact batches have."""
