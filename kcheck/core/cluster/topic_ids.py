"""Tells whether a topic in ZooKeeper is the topic of a directory on disk, although it has another id."""

from typing import NamedTuple


class TopicIdHistory(NamedTuple):
    """The ids of a topic in the files of a ZooKeeper server."""

    begins_empty: bool
    """True if they begin before the cluster did, with a ZooKeeper without brokers and topics."""
    ids: tuple[str, ...] = ()
    """The ids that the topic had, in their order."""
    deleted_at: int | None = None
    """The first transaction that deletes the topic, or asks for that; None if none does."""
