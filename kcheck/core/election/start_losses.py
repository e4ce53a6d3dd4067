"""The records that brokers remove for good when they start."""

from typing import NamedTuple

from kcheck.model.entries import Offset


class IntactRun(NamedTuple):
    """Intact batches after corrupt bytes of one segment, without anything else between them."""

    start: Offset
    """Their first offset."""
    end: Offset
    """The offset after the last one."""
    segment: str
    """The name of the `.log` file."""
    position: int
    """The position of the first batch, in bytes."""


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
    readable: tuple[IntactRun, ...]
    """The intact batches among them, in their order."""
