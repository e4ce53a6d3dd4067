"""The files of a ZooKeeper server, with the znodes that it restores, and the znodes after each transaction."""

import re
from collections.abc import Iterator

from kcheck.core.cluster.znode_tree import ObserveZnodes, TransactionLogs, ZnodeTree, holds_the_first, replay, restore
from kcheck.disk.paths import join, split
from kcheck.disk.tree import Tree, tree_of
from kcheck.model.cluster import MetadataProblem
from kcheck.model.java import LONG_MAX
from kcheck.model.parsed import Defect, Parsed
from kcheck.model.unreadable import UnreadableError
from kcheck.model.znodes import ZookeeperSnapshot, ZookeeperTransaction
from kcheck.zookeeper import snapshot as snapshot_file
from kcheck.zookeeper import transaction_log
from kcheck.zookeeper.snapshot import zxid_of

VERSION_2 = "version-2"
"""The directory that a server makes in its dataDir and its dataLogDir."""
SNAPSHOT_SIZE_MAX = 256 << 20
LOGS_SIZE_MAX = 1 << 30
"""Maximum number of log bytes that kcheck reads. A server writes a snapshot long before."""
_SNAPSHOT_COUNT_MAX = 100
"""A server tries no more (FileSnap)."""
_SNAPSHOT, _LOG = "snapshot", "log"
_TOPIC = re.compile("(?:/[^/]+)*/brokers/topics/[^/]+")
_WITH_REASSIGNMENT = re.compile(rb'"version"\s*:\s*[2-9]')
"""In the znode of a topic that has adding_replicas (TopicZNode 2.4)."""


def server_files(tree: Tree, folder: str) -> list[str]:
    """Return the names of snapshots and logs, also where they are links, which are a problem later."""
    listing = tree.listing(folder)
    names = (*listing.files, *listing.others)
    return [name for name in names if zxid_of(name, _SNAPSHOT) is not None or zxid_of(name, _LOG) is not None]


def _is_written_by_2_4(tree: ZnodeTree) -> bool:
    """Return whether a broker of Kafka 2.4 and later created a topic.

    Its ZooKeeper is 3.5, which starts with a snapshot. 3.4 starts without one, and has none at first.
    """
    topics = (znode.data or b"" for path, znode in tree.znodes.items() if _TOPIC.fullmatch(path))
    return any(_WITH_REASSIGNMENT.search(data) for data in topics)


class ZookeeperServer:
    """Reads the snapshots and logs of a server, each when a starting server would read it."""

    def __init__(self, path: str, data_log_dir: str | None, problems: list[MetadataProblem]) -> None:
        """List the files; whatever is unreadable is added to `problems`."""
        self._path, self._problems = path, problems
        self._tree = tree_of(path)
        self._follow = not self._tree.is_directory(path)
        self._snapshots: dict[int, str] = {}
        self._logs: dict[int, str] = {}
        self._size_left = 0
        self._opened = path
        self._refused = False
        for file in [path] if self._follow else self._files(path, data_log_dir):
            name = split(file)[1]
            if zxid_of(name, _LOG) is None:
                self._snapshots.setdefault(zxid_of(name, _SNAPSHOT) or 0, file)
            else:
                self._logs.setdefault(zxid_of(name, _LOG) or 0, file)

    def _files(self, *folders: str | None) -> Iterator[str]:
        for folder in folders:
            if folder is not None:
                try:
                    inner = join(folder, VERSION_2) if VERSION_2 in self._tree.listing(folder).directories else folder
                    yield from (join(inner, name) for name in server_files(self._tree, inner))
                except UnreadableError as error:
                    self._problems.append(MetadataProblem(folder, str(error)))

    def restore(self, observe: ObserveZnodes | None = None) -> ZnodeTree:
        """Return the znodes that the started server has, or would have without its corrupt files."""
        tree = restore(self._newest_first(LONG_MAX), self._read_logs(), observe)
        if tree.stopped_by is not None:
            self._problems.append(
                MetadataProblem(self._opened, f"{tree.stopped_by.message}; later transactions are left out")
            )
        if tree.gap_after is not None:
            why = f"the transactions after {tree.gap_after:x} are missing, because a log is not here"
            self._problems.append(MetadataProblem(self._path, why))
        if tree.no_snapshot:
            start = (
                "kcheck can read no snapshot"
                if self._refused
                else "ZooKeeper does not start, because no snapshot is intact"
            )
            self._problems.append(MetadataProblem(self._path, f"{start}; only the transactions of its logs are shown"))
        elif self._logs and not self._snapshots and not self._follow and _is_written_by_2_4(tree):
            why = "ZooKeeper 3.5.3 and later does not start, because no snapshot is next to its logs"
            self._problems.append(MetadataProblem(self._path, why))
        return tree

    def at(self, zxid: int) -> ZnodeTree | None:
        """Return the znodes after a transaction; None if the files do not hold every one up to it.

        A snapshot that already shows a later change, because it was written meanwhile, does not serve.
        """
        begins: list[ZookeeperSnapshot | None] = [None] if holds_the_first(self._logs) else []
        for snapshot in self._newest_first(zxid):
            if not snapshot.defects and snapshot.value.last_change <= zxid:
                begins = [snapshot.value]
                break
        for begin in begins:
            tree = replay(begin, self._read_logs(), zxid)
            if tree.stopped_by is None and tree.gap_after is None:
                return tree
        return None

    def observe(self, observe: ObserveZnodes, until: int) -> None:
        """Replay up to a transaction, from as far back as the files go without a gap.

        Each replay that the observer sees begins with a call that names no transaction; only the last one counts.
        """
        unknown_after: int | None = -1
        if holds_the_first(self._logs):
            unknown_after = self._unknown_after(None, observe, until)
        for zxid, file in sorted(self._snapshots.items()):
            if unknown_after is None or zxid > until:
                break
            snapshot = self._snapshot(zxid, file) if zxid > unknown_after else None
            if snapshot is not None and not snapshot.defects:
                unknown_after = self._unknown_after(snapshot.value, observe, until)

    def _unknown_after(self, snapshot: ZookeeperSnapshot | None, observe: ObserveZnodes, until: int) -> int | None:
        """Replay, and return the last transaction before missing or corrupt ones; None without any."""
        tree = replay(snapshot, self._read_logs(), until, observe)
        return tree.gap_after if tree.stopped_by is None else tree.zxid

    def _newest_first(self, last: int) -> Iterator[Parsed[ZookeeperSnapshot]]:
        names = sorted((zxid for zxid in self._snapshots if zxid <= last), reverse=True)
        for zxid in names[:_SNAPSHOT_COUNT_MAX]:
            yield self._snapshot(zxid, self._snapshots[zxid])

    def _read_logs(self) -> TransactionLogs:
        """Return the transactions of each log, which is read when a replay comes to it."""
        self._size_left = LOGS_SIZE_MAX
        return {zxid: self._transactions(file) for zxid, file in self._logs.items()}

    def _snapshot(self, zxid: int, file: str) -> Parsed[ZookeeperSnapshot]:
        try:
            data = self._tree.read_whole(file, follow=self._follow, size_max=SNAPSHOT_SIZE_MAX)
        except UnreadableError as error:
            self._refused = True
            self._problems.append(MetadataProblem(file, str(error)))
            return Parsed(ZookeeperSnapshot(zxid, {}), (Defect(str(error), 0),))
        parsed = snapshot_file.parse(split(file)[1], data, SNAPSHOT_SIZE_MAX)
        self._refused |= parsed.value.limited
        self._problems += [MetadataProblem(file, str(defect)) for defect in parsed.defects]
        return parsed

    def _transactions(self, file: str) -> Iterator[ZookeeperTransaction | Defect]:
        self._opened = file
        try:
            data = self._tree.read_whole(file, follow=self._follow, size_max=self._size_left)
        except UnreadableError as error:
            yield Defect(str(error), 0)
            return
        self._size_left -= len(data)
        for transaction in transaction_log.transactions(data):
            if not isinstance(transaction, Defect):
                yield transaction
            elif transaction.accepted:
                self._problems.append(MetadataProblem(file, str(transaction)))
            else:
                yield transaction._replace(message=f"{transaction}; ZooKeeper does not start")
