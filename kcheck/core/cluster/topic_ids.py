"""Whether a topic in ZooKeeper is the one that a directory on disk is of, although it has another id."""

from typing import NamedTuple


class TopicIdHistory(NamedTuple):
    """What the files of a ZooKeeper server show of the ids of a topic."""

    begins_empty: bool
    """Whether they begin before the cluster did: with a ZooKeeper that has no brokers and no topics."""
    ids: tuple[str, ...] = ()
    """The ids that the topic had, in their order."""
    deleted_at: int | None = None
    """The first transaction that deletes the topic, or asks for that; None if none does."""


def why_another_topic(history: TopicIdHistory | None, topic_id: str) -> str | None:
    """Return why the topic with a new id may be another one than that of `topic_id`; None if it is the same.

    It is if nobody deleted it: ZooKeeper was lost and the topic created again, or somebody edited its znode.
    """
    if history is None:
        return "the metadata at hand do not show whether the topic was deleted"
    if history.deleted_at is not None:
        return f"the topic was deleted in ZooKeeper's transaction {history.deleted_at:#x}"
    if history.begins_empty or topic_id in history.ids:
        return None
    return "ZooKeeper's files begin after its cluster: whether the topic was deleted before is not known"
