"""Whether a topic in ZooKeeper is the one that a directory on disk is of, although it has another id."""

from typing import NamedTuple


class TopicIdHistory(NamedTuple):
    """The ids of a topic in the files of a ZooKeeper server."""

    begins_empty: bool
    """True if they begin before the cluster did: with a ZooKeeper that has no brokers and no topics."""
    ids: tuple[str, ...] = ()
    """The ids that the topic had, in their order."""
    deleted_at: int | None = None
    """The first transaction that deletes the topic, or asks for that; None if none does."""
