"""The znodes in a ZooKeeper data directory, and the transactions that change them."""

from collections.abc import Mapping
from typing import NamedTuple

ROOT = "/"
"""The path of the root; ZooKeeper's own files call it the empty string."""

ZNODE_COUNT_MAX = 2_000_000
"""kcheck reads no more znodes. The largest clusters of ZooKeeper had several times fewer."""


class Znode(NamedTuple):
    """One znode, with the part of its stat that Kafka uses."""

    data: bytes | None
    """Its data; None if it was created without any."""
    czxid: int = 0
    """The transaction that created it."""
    mzxid: int = 0
    """The transaction that last set its data."""
    version: int | None = 0
    """Number of times that its data was set; None if an export lacks it. It is the epoch of a partition state."""
    ephemeral_owner: int = 0
    """The session that it ends with; 0 if it is persistent. Containers and nodes with a TTL have special values."""


class ZookeeperSnapshot(NamedTuple):
    """A snapshot of the znodes. It is fuzzy: it also holds some later changes, and replay repeats them."""

    zxid: int
    """The last transaction that it surely holds, from its name."""
    znodes: Mapping[str, Znode]
    """The znodes by path."""
    last_change: int = 0
    """The last transaction of which it shows a change."""
    limited: bool = False
    """True if a limit of kcheck ended the reading. A server may read on."""


class CreateNode(NamedTuple):
    """Creates a znode."""

    path: str
    """Its path."""
    data: bytes | None
    """Its data."""
    ephemeral_owner: int
    """The session that it ends with; 0 if it is persistent."""


class DeleteNode(NamedTuple):
    """Deletes a znode."""

    path: str
    """Its path."""


class SetNode(NamedTuple):
    """Sets the data of a znode."""

    path: str
    """Its path."""
    data: bytes | None
    """The new data."""
    version: int
    """The new version."""


class CloseSession(NamedTuple):
    """Ends a session and deletes its ephemeral znodes."""

    session: int
    """Its id."""
    paths: tuple[str, ...]
    """The ephemeral znodes that the transaction names (3.6 and later)."""
    asked: bool = False
    """True if the client closed the session. The server closes sessions that expire."""


ZnodeChange = CreateNode | DeleteNode | SetNode | CloseSession


class ZookeeperTransaction(NamedTuple):
    """One transaction of a log."""

    position: int
    """The beginning of its record, in bytes from the beginning of the file."""
    zxid: int
    """Its id: the epoch of ZooKeeper's leader in the upper 32 bits, a counter in the lower ones."""
    timestamp: int
    """When, in ms."""
    changes: tuple[ZnodeChange, ...]
    """Its changes, in order; empty if it failed or changes no znode."""
    session: int = 0
    """The session of the client that asked; 0 for the server."""
