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
