"""The metadata of a cluster with ZooKeeper: from its files, an export of znodes, or kafka-topics --describe."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum, auto
from typing import NamedTuple

from kcheck.core.znode_tree import chroots, restore
from kcheck.disk.read import FilesOf, opened, read_whole
from kcheck.disk.walk import is_directory, is_link, join, list_directory, split
from kcheck.formats import _topics_describe, _znode_export, _zookeeper_log, _zookeeper_snapshot
from kcheck.formats._kafka_znodes import read_cluster
from kcheck.formats._zookeeper_snapshot import zxid_of
from kcheck.model.cluster import ClusterImage, MetadataProblem
from kcheck.model.java import java_bytes
from kcheck.model.parsed import Defect, Parsed
from kcheck.model.unreadable import UnreadableError
from kcheck.model.znodes import Znode, ZookeeperSnapshot, ZookeeperTransaction
from kcheck.model.zookeeper_metadata import ZookeeperMetadata

VERSION_2 = "version-2"
"""The directory that a server makes in its dataDir and its dataLogDir."""
SNAPSHOT_SIZE_MAX = 256 << 20
LOGS_SIZE_MAX = 1 << 30
"""kcheck reads at most so many bytes of logs: a server writes a snapshot long before."""
EXPORT_SIZE_MAX = 32 << 20
TREE_COUNT_MAX = 1_000_000
"""kcheck reads at most so many files and directories of a tree of znodes."""
_SNAPSHOT_COUNT_MAX = 100
"""A server tries no more (FileSnap)."""
_PROBLEM_COUNT_MAX = 100
_BEGIN_SIZE = 64 << 10
_DEPTH_MAX = 16
_MAGICS = (b"ZKSN", b"ZKLG")
_MAGIC_SIZE_MAX = 8
_CODECS = {"gz": b"\x1f\x8b", "snappy": b"\x82SNAPPY"}
_SNAPSHOT, _LOG = "snapshot", "log"
_TOPICS, _BROKERS = "topics", "brokers"
_OF_KAFKA = (
    "admin", _BROKERS, "cluster", "config", "controller", "controller_epoch", "delegation_token", "feature",
    "isr_change_notification", "latest_producer_id_block", "log_dir_event_notification", "migration",
)  # fmt: skip
"""The znodes below a cluster's root that kcheck reads."""


class _InputKind(Enum):
    """What a path is."""

    SERVER = auto()
    """A data directory of a server, the `version-2` in it, or one file of it."""
    TREE = auto()
    """A directory laid out like the paths of znodes."""
    EXPORT = auto()
    """An export of znodes as JSON."""
    DESCRIPTION = auto()
    """The output of kafka-topics --describe."""


def is_zookeeper(path: str) -> bool:
    """Whether `read_zookeeper` reads a path, by the first bytes of a few files; False if the system refuses."""
    return zookeeper_kind(path) is not None


def zookeeper_kind(path: str) -> str | None:
    """Return what a path is: `zookeeper` for files of a server, `export` for what can stand in for them; or None."""
    try:
        kind = _kind(path)
    except UnreadableError:
        return None
    return None if kind is None else "zookeeper" if kind is _InputKind.SERVER else "export"


def read_zookeeper(path: str, data_log_dir: str | None = None, chroot: str | None = None) -> ZookeeperMetadata:
    """Return the metadata in a path; whatever is unreadable is among its problems.

    A server can keep its logs apart in a `data_log_dir`. `chroot` is the path that zookeeper.connect names after the
    servers; None for the only one, or the first.
    """
    problems: list[MetadataProblem] = []
    metadata = ZookeeperMetadata(ClusterImage({}))
    try:
        kind = _kind(path)
        if kind is None:
            problems.append(MetadataProblem(path, "no files of ZooKeeper, and no export of znodes"))
        elif kind is _InputKind.DESCRIPTION:
            image, defects = _topics_describe.parse(read_whole(path, follow=True, size_max=EXPORT_SIZE_MAX))
            metadata = ZookeeperMetadata(image)
            problems += _of_defects(path, defects)
        elif kind is _InputKind.EXPORT:
            znodes, defects = _znode_export.parse(read_whole(path, follow=True, size_max=EXPORT_SIZE_MAX))
            problems += _of_defects(path, defects)
            metadata = _cluster(znodes, path, chroot, problems)
        elif kind is _InputKind.TREE:
            metadata = _cluster(_Tree(path, problems).znodes, path, chroot, problems)
        else:
            metadata = _cluster(_Server(path, data_log_dir, problems).znodes(), path, chroot, problems)
    except UnreadableError as error:
        problems.append(MetadataProblem(path, str(error)))
    return metadata._replace(problems=(*problems, *metadata.problems)[:_PROBLEM_COUNT_MAX])


def _kind(path: str) -> _InputKind | None:
    """Return what a path is, None if nothing of ZooKeeper; UnreadableError if the system refuses."""
    if is_directory(path):
        return _kind_of_directory(path)
    with opened(path, follow=True) as source:
        begin = source.pread(_BEGIN_SIZE, 0)
    if _is_of_server(split(path)[1], begin):
        return _InputKind.SERVER
    text = begin.decode("utf-8-sig", "replace")
    if _znode_export.is_export(text):
        return _InputKind.EXPORT
    return _InputKind.DESCRIPTION if _topics_describe.is_description(text) else None


def _kind_of_directory(path: str) -> _InputKind | None:
    listing = list_directory(path)
    if VERSION_2 in listing.directories and _server_files(join(path, VERSION_2)):
        return _InputKind.SERVER
    names = _server_files(path)
    if names and split(path)[1] == VERSION_2:
        return _InputKind.SERVER
    files = FilesOf(path)
    if any(_is_of_server(name, _begin(files, name)) for name in names[:_SNAPSHOT_COUNT_MAX]):
        return _InputKind.SERVER  # elsewhere the names are not enough: other programs have a log.1
    if _BROKERS in listing.directories and {_TOPICS, "ids"} & {*list_directory(join(path, _BROKERS)).directories}:
        return _InputKind.TREE
    return None


def _server_files(folder: str) -> list[str]:
    """Return the names of snapshots and logs, also where they are links, which are a problem later."""
    listing = list_directory(folder)
    names = (*listing.files, *listing.others)
    return [name for name in names if zxid_of(name, _SNAPSHOT) is not None or zxid_of(name, _LOG) is not None]


def _begin(files: FilesOf, name: str) -> bytes:
    try:
        with files.open(name) as source:
            return source.pread(_MAGIC_SIZE_MAX, 0)
    except UnreadableError:
        return b""


def _is_of_server(name: str, begin: bytes) -> bool:
    codec = _CODECS.get(name.rpartition(".")[2].lower())
    packed = codec is not None and zxid_of(name, _SNAPSHOT) is not None and begin.startswith(codec)
    return packed or begin.startswith(_MAGICS)


def _of_defects(path: str, defects: Iterable[Defect]) -> list[MetadataProblem]:
    return [MetadataProblem(path, str(defect)) for defect in defects]


def _cluster(
    znodes: Mapping[str, Znode], path: str, chroot: str | None, problems: list[MetadataProblem]
) -> ZookeeperMetadata:
    """Return the metadata of one of the clusters in the znodes."""
    known = chroots(znodes)
    chosen = (known[0] if known else "") if chroot is None else chroot.rstrip("/")
    if chosen not in known:
        problems.append(MetadataProblem(path, f"no topics of Kafka below {chosen or '/'}"))
    elif chroot is None and len(known) > 1:
        others = ", ".join(other[:_PROBLEM_COUNT_MAX] for other in known[1:4])
        problems.append(MetadataProblem(path, f"{len(known)} clusters: {chosen or '/'} is shown, not {others}"))
    return read_cluster(znodes, chosen)


class _Server:
    """Reads the snapshots and logs of a server, each when the start of a server comes to it."""

    def __init__(self, path: str, data_log_dir: str | None, problems: list[MetadataProblem]) -> None:
        self._path, self._problems = path, problems
        self._follow = not is_directory(path)
        self._snapshots: dict[int, str] = {}
        self._logs: dict[int, str] = {}
        self._size_left = LOGS_SIZE_MAX
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
                    inner = join(folder, VERSION_2) if VERSION_2 in list_directory(folder).directories else folder
                    yield from (join(inner, name) for name in _server_files(inner))
                except UnreadableError as error:
                    self._problems.append(MetadataProblem(folder, str(error)))

    def znodes(self) -> Mapping[str, Znode]:
        """Return the znodes that the server has after its start, or would have without its damage."""
        tree = restore(self._read_snapshots(), {zxid: self._transactions(file) for zxid, file in self._logs.items()})
        if tree.stopped_by is not None:
            self._problems.append(
                MetadataProblem(self._opened, f"{tree.stopped_by.message}; later transactions are left out")
            )
        if tree.gap_after is not None:
            why = f"the transactions after {tree.gap_after:x} are missing: a log is not here"
            self._problems.append(MetadataProblem(self._path, why))
        if tree.no_snapshot:
            start = (
                "kcheck can read no snapshot" if self._refused else "ZooKeeper does not start: no snapshot is intact"
            )
            self._problems.append(MetadataProblem(self._path, f"{start}; only the transactions of its logs are shown"))
        return tree.znodes

    def _read_snapshots(self) -> Iterator[Parsed[ZookeeperSnapshot]]:
        newest_first = sorted(self._snapshots.items(), reverse=True)
        for zxid, file in newest_first[:_SNAPSHOT_COUNT_MAX]:
            yield self._snapshot(zxid, file)

    def _snapshot(self, zxid: int, file: str) -> Parsed[ZookeeperSnapshot]:
        try:
            data = read_whole(file, follow=self._follow, size_max=SNAPSHOT_SIZE_MAX)
        except UnreadableError as error:
            self._refused = True
            self._problems.append(MetadataProblem(file, str(error)))
            return Parsed(ZookeeperSnapshot(zxid, {}), (Defect(str(error), 0),))
        parsed = _zookeeper_snapshot.parse(split(file)[1], data, SNAPSHOT_SIZE_MAX)
        self._refused |= parsed.value.limited
        self._problems += _of_defects(file, parsed.defects)
        return parsed

    def _transactions(self, file: str) -> Iterator[ZookeeperTransaction | Defect]:
        self._opened = file
        try:
            data = read_whole(file, follow=self._follow, size_max=self._size_left)
        except UnreadableError as error:
            yield Defect(str(error), 0)
            return
        self._size_left -= len(data)
        for transaction in _zookeeper_log.transactions(data):
            if not isinstance(transaction, Defect):
                yield transaction
            elif transaction.accepted:
                self._problems.append(MetadataProblem(file, str(transaction)))
            else:
                yield transaction._replace(message=f"{transaction}; ZooKeeper does not start")


class _ZnodeDirectory(NamedTuple):
    """A directory of a tree of znodes."""

    folder: str
    znode: str
    depth: int


class _Tree:
    """Reads a directory laid out like the paths of znodes; the data of one with children is in a file `data`."""

    def __init__(self, path: str, problems: list[MetadataProblem]) -> None:
        self.znodes: dict[str, Znode] = {}
        self._problems = problems
        self._size_left, self._count_left = EXPORT_SIZE_MAX, TREE_COUNT_MAX
        entries = self._children(_ZnodeDirectory(path, "", 0), _OF_KAFKA.__contains__)
        while entries and self._count_left >= 0:
            entries += self._children(entries.pop(), None)

    def _children(self, parent: _ZnodeDirectory, wanted: Callable[[str], bool] | None) -> list[_ZnodeDirectory]:
        """Read the files of a directory; return the directories in it."""
        if parent.znode:
            self.znodes.setdefault(parent.znode, Znode(None, version=None))
        try:
            listing = list_directory(parent.folder)
        except UnreadableError as error:
            self._problem(parent.folder, str(error))
            return []
        directories, folders = [], frozenset(listing.directories)
        for name in filter(wanted, (*listing.directories, *listing.files, *listing.others)):
            file, znode = join(parent.folder, name), f"{parent.znode}/{java_bytes(name).decode()}"
            self._count_left -= 1
            if self._count_left < 0 or parent.depth > _DEPTH_MAX:
                self._problem(parent.folder, "too many files or directories: the rest is left out")
                return []
            if name not in folders:
                self._read(file, parent.znode if name == "data" else znode)
            elif is_link(file):
                self._problem(file, "a symbolic link: not followed")
            else:
                directories.append(_ZnodeDirectory(file, znode, parent.depth + 1))
        return directories

    def _read(self, file: str, znode: str) -> None:
        try:
            data = read_whole(file, size_max=self._size_left)
        except UnreadableError as error:
            self._problem(file, str(error))
            return
        self._size_left -= len(data)
        self.znodes[znode] = _znode_export.of_file(data)

    def _problem(self, place: str, why: str) -> None:
        if len(self._problems) < _PROBLEM_COUNT_MAX:
            self._problems.append(MetadataProblem(place, why))
