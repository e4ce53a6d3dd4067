"""Every change of one partition, in order, with its leader, its ISR, and the time."""

from enum import StrEnum
from typing import NamedTuple

from kcheck.model.cluster import FROM_SNAPSHOT, PartitionRegistration


class ChangeKind(StrEnum):
    """The effect of a metadata record, or a transaction of ZooKeeper, on the partition; an answer has the value."""

    SNAPSHOT = "snapshot"
    """Nothing: a snapshot holds the state from which the history continues."""
    CREATED = "created"
    """It creates the partition."""
    CHANGED = "changed"
    """It changes the partition."""
    REMOVED = "removed"
    """It removes the topic; the state is the last one."""


class PartitionChange(NamedTuple):
    """A change of a partition."""

    kind: ChangeKind
    """Its kind."""
    offset: int
    """The offset of the record, or the id of the transaction; or FROM_SNAPSHOT."""
    timestamp: int | None
    """Its time in ms since 1970; None for a snapshot."""
    topic_id: str | None
    """The topic's id: a topic of the same name that was created again has another one."""
    after: PartitionRegistration
    """The state after it."""


TopicPartitionState = tuple[str | None, PartitionRegistration | None]
"""The id of a topic, and one of its partitions; None if it does not exist."""


class PartitionHistory:
    """Collects the changes of one partition during a replay: `observe` is called after each record."""

    def __init__(self) -> None:
        """Begin before the partition exists."""
        self.changes: list[PartitionChange] = []
        self._former: TopicPartitionState = (None, None)

    def observe(self, state: TopicPartitionState, offset: int, timestamp: int) -> None:
        """Note what the record at this offset changed; `state` is the one after it."""
        (former_id, former), (topic_id, now) = self._former, state
        if now == former:
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
