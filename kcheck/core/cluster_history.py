"""Every change of one partition, in the order of the metadata records: who led it, who was in sync, and when."""

from enum import StrEnum
from typing import NamedTuple

from kcheck.core.metadata_replay import MetadataReplay
from kcheck.model.cluster import FROM_SNAPSHOT, PartitionRegistration


class ChangeKind(StrEnum):
    """What a record does to the partition. The value is what an answer calls it."""

    SNAPSHOT = "snapshot"
    """Nothing: a snapshot holds the state from which the history goes on."""
    CREATED = "created"
    """It creates the partition."""
    CHANGED = "changed"
    """It changes the partition."""
    REMOVED = "removed"
    """It removes the topic; the state is the last one."""


class PartitionChange(NamedTuple):
    """A change of a partition."""

    kind: ChangeKind
    """What it is."""
    offset: int
    """The offset of the record, or FROM_SNAPSHOT."""
    timestamp: int | None
    """Its time in ms since 1970; None for a snapshot."""
    topic_id: str | None
    """The topic's id: a topic of the same name that was created again has another one."""
    after: PartitionRegistration
    """The state after it."""


class PartitionHistory:
    """Collects the changes of one partition while records are replayed: `observe` is called after each record."""

    def __init__(self, topic: str, partition: int) -> None:
        """Take the name of the topic, and the partition number."""
        self.changes: list[PartitionChange] = []
        self._topic, self._partition = topic, partition
        self._former: tuple[str | None, PartitionRegistration | None] = (None, None)

    def observe(self, replay: MetadataReplay, offset: int, timestamp: int) -> None:
        """Note what the record at this offset changed."""
        state = replay.registration(self._topic, self._partition)
        (former_id, former), (topic_id, now) = self._former, state
        if now is former:
            return
        self._former = state
        if now is None:
            assert former is not None
            self._add(ChangeKind.REMOVED, offset, timestamp, former_id, former)
        elif former is not None:
            self._add(ChangeKind.CHANGED, offset, timestamp, topic_id, now)
        else:
            kind = ChangeKind.SNAPSHOT if offset == FROM_SNAPSHOT else ChangeKind.CREATED
            self._add(kind, offset, timestamp, topic_id, now)

    def _add(
        self, kind: ChangeKind, offset: int, timestamp: int, topic_id: str | None, after: PartitionRegistration
    ) -> None:
        time = None if kind is ChangeKind.SNAPSHOT else timestamp
        self.changes.append(PartitionChange(kind, offset, time, topic_id, after))
