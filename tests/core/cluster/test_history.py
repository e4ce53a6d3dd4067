"""The changes of one partition."""

from kcheck.core.cluster.history import PartitionHistory
from kcheck.core.cluster.metadata_replay import MetadataReplay
from kcheck.model.cluster import FROM_SNAPSHOT
from tests.core.cluster.cluster_records import GONE, TOPIC, MetadataRecord, change, partition


def history(*records: MetadataRecord, snapshot: int = 0) -> list[tuple[str, int, int | None, str | None, int]]:
    """Return the changes of t-0; the first `snapshot` records come from a snapshot."""
    collected = PartitionHistory()
    replay = MetadataReplay(
        lambda _, __, offset, timestamp: collected.observe(replay.registration("t", 0), offset, timestamp)
    )
    for offset, record in enumerate(records):
        replay.take(*record, FROM_SNAPSHOT if offset < snapshot else offset, 100 + offset)
    return [
        (change.kind, change.offset, change.timestamp, change.topic_id, change.after.leader)
        for change in collected.changes
    ]


def test_a_partition_is_created_changed_and_removed() -> None:
    """Another partition, and another topic, are not of it."""
    other = partition(1, number=1)
    assert history(TOPIC, other, partition(1, 2), change(number=1, leader=-1), change(leader=2), GONE) == [
        ("created", 2, 102, "T", 1), ("changed", 4, 104, "T", 2), ("removed", 5, 105, "T", 2),
    ]  # fmt: skip


def test_a_snapshot_is_where_the_history_goes_on() -> None:
    assert history(TOPIC, partition(1, 2), change(leader=2), snapshot=2) == [
        ("snapshot", FROM_SNAPSHOT, None, "T", 1), ("changed", 2, 102, "T", 2),
    ]  # fmt: skip


def test_a_topic_that_is_created_again_has_another_id() -> None:
    again = ("TopicRecord", {"name": "t", "topicId": "U"}), ("PartitionRecord", {**partition(3)[1], "topicId": "U"})
    assert [row[3:] for row in history(TOPIC, partition(1), GONE, *again)] == [("T", 1), ("T", 1), ("U", 3)]
