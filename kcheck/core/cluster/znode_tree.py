"""The znodes that a starting ZooKeeper server restores, from the newest snapshot, then the logs.

The class is FileTxnSnapLog (method restore). A snapshot is fuzzy, because the server wrote it while znodes changed. So
it already contains some later transactions. Replay skips a create of an existing znode, and a delete of a missing one.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from kcheck.model.parsed import Defect, Parsed
from kcheck.model.znodes import (
    ROOT,
    ZNODE_COUNT_MAX,
    CloseSession,
    CreateNode,
    DeleteNode,
    Znode,
    ZnodeChange,
    ZookeeperSnapshot,
    ZookeeperTransaction,
)

_EMPTY = {path: Znode(b"") for path in (ROOT, "/zookeeper", "/zookeeper/quota")}
"""The state of a server before its first transaction."""
_COUNTER_BITS = 32
_COUNTER_MAX = (1 << _COUNTER_BITS) - 1


TransactionLogs = Mapping[int, Iterable[ZookeeperTransaction | Defect]]
"""The logs by the ids in their names."""
ObserveZnodes = Callable[[Mapping[str, Znode], ZookeeperTransaction | None], None]
"""Takes the znodes after a transaction, and that transaction; None means what a replay begins with."""


class ZnodeTree(NamedTuple):
    """The znodes after the last transaction that was applied."""

    znodes: Mapping[str, Znode]
    """The znodes by path."""
    zxid: int
    """The last transaction that they hold."""
    stopped_by: Defect | None
    """The corruption of a log that stops every server, or a limit that leaves out later transactions. None without."""
    gap_after: int | None = None
    """The last transaction before a gap in the logs, as a file is missing. None without a gap."""
    no_snapshot: bool = False
    """True if every snapshot is corrupt. No server starts, and these are the transactions of the logs alone."""
    timestamp: int | None = None
    """Time of the last transaction, in ms since 1970; None if no log has it."""


def restore(
    snapshots: Iterable[Parsed[ZookeeperSnapshot]], logs: TransactionLogs, observe: ObserveZnodes | None = None
) -> ZnodeTree:
    """Apply the logs to the first snapshot without a defect; the newest comes first. `observe`: as of `replay`."""
    damaged = False
    for snapshot in snapshots:
        if not snapshot.defects:
            return replay(snapshot.value, logs, observe=observe)
        damaged = True
    return replay(None, logs, observe=observe)._replace(no_snapshot=damaged)


def replay(
    snapshot: ZookeeperSnapshot | None,
    logs: TransactionLogs,
    until: int | None = None,
    observe: ObserveZnodes | None = None,
) -> ZnodeTree:
    """Apply the transactions after the snapshot, up to `until`; `observe` is called after each."""
    znodes = dict(_EMPTY if snapshot is None else snapshot.znodes)
    begin = 0 if snapshot is None else snapshot.zxid
    if observe is not None:
        observe(znodes, None)
    ephemerals: dict[int, set[str]] = {}
    for path, znode in znodes.items():
        if znode.ephemeral_owner:
            ephemerals.setdefault(znode.ephemeral_owner, set()).add(path)
    names = sorted(logs)
    needed = names[max(bisect_right(names, begin) - 1, 0) :]  # a server opens no older log
    zxid = begin
    gap_after: int | None = None
    timestamp: int | None = None
    for transaction in (item for log in needed for item in logs[log]):
        if isinstance(transaction, Defect):
            if not transaction.accepted:
                return ZnodeTree(znodes, zxid, transaction, gap_after, timestamp=timestamp)
        elif transaction.zxid > begin:
            if gap_after is None and zxid != until and not _follows(transaction.zxid, zxid):
                gap_after = zxid
            if until is not None and transaction.zxid > until:
                break
            zxid, timestamp = max(zxid, transaction.zxid), transaction.timestamp
            for change in transaction.changes:
                _apply(znodes, ephemerals, change, transaction.zxid)
            if observe is not None:
                observe(znodes, transaction)
            if len(znodes) > ZNODE_COUNT_MAX:
                defect = Defect(f"there are more than {ZNODE_COUNT_MAX} znodes", transaction.position)
                return ZnodeTree(znodes, zxid, defect, gap_after, timestamp=timestamp)
    return ZnodeTree(znodes, zxid, None, gap_after, timestamp=timestamp)


def holds_the_first(logs: Iterable[int]) -> bool:
    """Return whether a log begins with the first transaction, as the first leader of an ensemble has epoch 1."""
    return any(log >> _COUNTER_BITS <= 1 and log & _COUNTER_MAX <= 1 for log in logs)


def _follows(zxid: int, last: int) -> bool:
    """Return whether a transaction can come next, as each leader of ZooKeeper counts from 1, below its epoch."""
    epoch, counter = zxid >> _COUNTER_BITS, zxid & _COUNTER_MAX
    return zxid <= last + 1 if epoch == last >> _COUNTER_BITS else counter <= 1


def _apply(znodes: dict[str, Znode], ephemerals: dict[int, set[str]], change: ZnodeChange, zxid: int) -> None:
    if isinstance(change, CloseSession):
        for path in {*change.paths, *ephemerals.get(change.session, ())}:
            _delete(znodes, ephemerals, path)
    elif isinstance(change, DeleteNode):
        _delete(znodes, ephemerals, change.path)
    elif isinstance(change, CreateNode):
        if change.path not in znodes and (change.path.rpartition("/")[0] or ROOT) in znodes:
            znodes[change.path] = Znode(change.data, zxid, zxid, 0, change.ephemeral_owner)
            if change.ephemeral_owner:
                ephemerals.setdefault(change.ephemeral_owner, set()).add(change.path)
    elif change.path in znodes:
        znodes[change.path] = znodes[change.path]._replace(data=change.data, mzxid=zxid, version=change.version)


def _delete(znodes: dict[str, Znode], ephemerals: dict[int, set[str]], path: str) -> None:
    znode = znodes.pop(path, None)
    if znode is not None and znode.ephemeral_owner:
        ephemerals[znode.ephemeral_owner].discard(path)


def chroot_of(connect: str) -> str:
    """Return the path in a zookeeper.connect; "" is the root (KafkaServer.initZkClient, ConnectStringParser)."""
    _, slash, path = connect.strip().partition("/")
    return f"{slash}{path}".rstrip("/")


def chroots(znodes: Iterable[str]) -> tuple[str, ...]:
    """Return the paths below which Kafka clusters keep their znodes (zookeeper.connect); "" is the root."""
    parts = (path.partition("/brokers/topics") for path in znodes)
    return tuple(sorted({chroot for chroot, end, rest in parts if end and rest[:1] in ("", "/")}))
