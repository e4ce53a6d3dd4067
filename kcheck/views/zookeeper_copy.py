"""The metadata of a cluster with ZooKeeper, from its files, an export of znodes, or kafka-topics --describe."""

from collections.abc import Callable, Iterable, Mapping
from enum import Enum, auto
from typing import NamedTuple

from kcheck.core.cluster.znode_tree import chroots
from kcheck.disk.directory import Directory
from kcheck.disk.paths import join, split
from kcheck.disk.tree import Tree, tree_of
from kcheck.errors import UsageError
from kcheck.model.cluster import ClusterImage, MetadataProblem
from kcheck.model.java import java_bytes
from kcheck.model.parsed import Defect
from kcheck.model.unreadable import UnreadableError
from kcheck.model.znodes import Znode, ZookeeperTransaction
from kcheck.model.zookeeper_metadata import ZookeeperCopy, ZookeeperMetadata
from kcheck.views.zookeeper_elections import UncleanElections
from kcheck.views.zookeeper_server import VERSION_2, ZookeeperServer, server_files
from kcheck.views.zookeeper_sessions import BrokerSessions
from kcheck.zookeeper import topics_describe, znode_export
from kcheck.zookeeper.kafka_znodes import read_cluster
from kcheck.zookeeper.snapshot import zxid_of

_OF_ENSEMBLE = ("currentEpoch", "acceptedEpoch", "myid")
"""Files that only a server of an ensemble writes, or needs (QuorumPeer)."""
EXPORT_SIZE_MAX = 32 << 20
TREE_COUNT_MAX = 1_000_000
"""kcheck reads at most so many files and directories of a tree of znodes."""
_PROBLEM_COUNT_MAX = 100
_BEGIN_SIZE = 64 << 10
_DEPTH_MAX = 16
_MAGICS = (b"ZKSN", b"ZKLG")
_MAGIC_SIZE_MAX = 8
_CODECS = {"gz": b"\x1f\x8b", "snappy": b"\x82SNAPPY"}
_FILE_COUNT_MAX = 100
"""So many files of a directory tell whether it is of a server."""
_TOPICS, _BROKERS = "topics", "brokers"
_OF_KAFKA = (
    "admin", _BROKERS, "cluster", "config", "controller", "controller_epoch", "delegation_token", "feature",
    "isr_change_notification", "latest_producer_id_block", "log_dir_event_notification", "migration",
)  # fmt: skip
"""The znodes below a cluster's root that kcheck reads."""


class _InputKind(Enum):
    """The kind of a path."""

    SERVER = auto()
    """A data directory of a server, the `version-2` in it, or one file of it."""
    TREE = auto()
    """A directory laid out like the paths of znodes."""
    EXPORT = auto()
    """An export of znodes as JSON."""
    DESCRIPTION = auto()
    """The output of kafka-topics --describe."""


def is_zookeeper(path: str) -> bool:
    """Return whether `read_zookeeper` reads a path, by the first bytes of a few files; False if the system refuses."""
    return zookeeper_kind(path) is not None


def zookeeper_kind(path: str) -> str | None:
    """Return the kind of a path, `zookeeper` for files of a server, `export` for a replacement; or None."""
    try:
        kind = _kind(tree_of(path), path)
    except UnreadableError:
        return None
    return None if kind is None else "zookeeper" if kind is _InputKind.SERVER else "export"


def zookeeper_copy(path: str, wanted: str | None = None) -> ZookeeperCopy:
    """Return the metadata in a path, and how far they go; whatever is unreadable is among their problems.

    A path of several clusters has the metadata of the chroot `wanted`.
    """
    metadata, tree = read_zookeeper(path, wanted=wanted), tree_of(path)
    of_server = zookeeper_kind(path) == "zookeeper"
    folder = path if tree.is_directory(path) else split(path)[0]
    folders = (folder, join(folder, VERSION_2))
    is_standalone = not any(tree.exists(join(place, name)) for place in folders for name in _OF_ENSEMBLE)
    return ZookeeperCopy(path, metadata, names_all=of_server, is_only=of_server and is_standalone)


def read_zookeeper(
    path: str,
    data_log_dir: str | None = None,
    chroot: str | None = None,
    *,
    wanted: str | None = None,
    at: int | None = None,
) -> ZookeeperMetadata:
    """Return the metadata in a path; whatever is unreadable is among its problems.

    A server can keep its logs apart in a `data_log_dir`. `chroot` is the path that zookeeper.connect names after the
    servers. None means `wanted` if present, else the only one, or the first. `at` is the last transaction of a
    server that counts; None for all. UsageError if its files do not hold every transaction up to it.
    """
    problems: list[MetadataProblem] = []
    metadata = ZookeeperMetadata(ClusterImage({}))
    tree = tree_of(path)
    try:
        kind = _kind(tree, path)
        if kind is None:
            problems.append(MetadataProblem(path, "no files of ZooKeeper, and no export of znodes"))
        elif kind is _InputKind.DESCRIPTION:
            image, defects = topics_describe.parse(tree.read_whole(path, follow=True, size_max=EXPORT_SIZE_MAX))
            metadata = ZookeeperMetadata(image)
            problems += _of_defects(path, defects)
        elif kind is _InputKind.EXPORT:
            znodes, defects = znode_export.parse(tree.read_whole(path, follow=True, size_max=EXPORT_SIZE_MAX))
            problems += _of_defects(path, defects)
            metadata = _cluster(znodes, path, (chroot, wanted), problems)
        elif kind is _InputKind.TREE:
            metadata = _cluster(_ZnodeFolders(tree, path, problems).znodes, path, (chroot, wanted), problems)
        else:
            server = ZookeeperServer(path, data_log_dir, problems)
            elections, sessions = UncleanElections(), BrokerSessions()

            def observe(znodes: Mapping[str, Znode], transaction: ZookeeperTransaction | None) -> None:
                elections.observe(znodes, transaction)
                sessions.observe(znodes, transaction)

            znodes_then = server.restore(observe) if at is None else server.at(at)
            if znodes_then is None:
                raise UsageError(f"--at {at:#x}: {path} does not hold every transaction up to it")
            # An emptied server, or a new one, has no topic of Kafka: that is an answer.
            own = problems if chroot is not None or chroots(znodes_then.znodes) else []
            metadata = _cluster(znodes_then.znodes, path, (chroot, wanted), own)
            image = metadata.image._replace(unclean=elections.of(metadata.image, metadata.chroot))
            metadata = metadata._replace(
                image=image, zxid=znodes_then.zxid, timestamp=znodes_then.timestamp,
                closed=sessions.closed(metadata.chroot), registered_at=sessions.registered_at(metadata.chroot),
                endpoints=sessions.endpoints(metadata.chroot),
                asked_at=sessions.asked_at(metadata.chroot), created_at=sessions.created_at(metadata.chroot),
            )  # fmt: skip
    except UnreadableError as error:
        problems.append(MetadataProblem(path, str(error)))
    return metadata._replace(problems=(*problems, *metadata.problems)[:_PROBLEM_COUNT_MAX])


def _kind(tree: Tree, path: str) -> _InputKind | None:
    """Return the kind of a path; None without anything of ZooKeeper; UnreadableError if the system refuses."""
    if tree.is_directory(path):
        return _kind_of_directory(tree, path)
    with tree.open(path, follow=True) as source:
        begin = source.pread(_BEGIN_SIZE, 0)
    if _is_of_server(split(path)[1], begin):
        return _InputKind.SERVER
    text = begin.decode("utf-8-sig", "replace")
    if znode_export.is_export(text):
        return _InputKind.EXPORT
    return _InputKind.DESCRIPTION if topics_describe.is_description(text) else None


def _kind_of_directory(tree: Tree, path: str) -> _InputKind | None:
    listing = tree.listing(path)
    if VERSION_2 in listing.directories and _is_data(tree, join(path, VERSION_2)):
        return _InputKind.SERVER
    if split(path)[1] == VERSION_2 and _is_data(tree, path):
        return _InputKind.SERVER
    names = server_files(tree, path)
    files = tree.directory(path)
    if any(_is_of_server(name, _begin(files, name)) for name in names[:_FILE_COUNT_MAX]):
        return _InputKind.SERVER  # elsewhere the names are not enough: other programs have a log.1
    if _BROKERS in listing.directories and {_TOPICS, "ids"} & {*tree.listing(join(path, _BROKERS)).directories}:
        return _InputKind.TREE
    return None


def _is_data(tree: Tree, folder: str) -> bool:
    """Return whether a `version-2` is a server's, or was emptied, so that the server starts without a znode."""
    listing = tree.listing(folder)
    return bool(server_files(tree, folder)) or not (listing.directories or {*listing.files} - {*_OF_ENSEMBLE})


def _begin(files: Directory, name: str) -> bytes:
    try:
        with files.open(name) as source:
            return source.pread(_MAGIC_SIZE_MAX, 0)
    except UnreadableError:
        return b""


def _is_of_server(name: str, begin: bytes) -> bool:
    codec = _CODECS.get(name.rpartition(".")[2].lower())
    packed = codec is not None and zxid_of(name, "snapshot") is not None and begin.startswith(codec)
    return packed or begin.startswith(_MAGICS)


def _of_defects(path: str, defects: Iterable[Defect]) -> list[MetadataProblem]:
    return [MetadataProblem(path, str(defect)) for defect in defects]


def _cluster(
    znodes: Mapping[str, Znode], path: str, named: tuple[str | None, str | None], problems: list[MetadataProblem]
) -> ZookeeperMetadata:
    """Return the metadata of one cluster in the znodes; its chroot has to be there, or is wanted."""
    known, (chroot, wanted) = chroots(znodes), named
    if chroot is None and wanted in known:
        chroot = wanted
    chosen = (known[0] if known else "") if chroot is None else chroot.rstrip("/")
    if chosen not in known:
        problems.append(MetadataProblem(path, f"no topics of Kafka below {chosen or '/'}"))
    elif chroot is None and len(known) > 1:
        others = ", ".join(other[:_PROBLEM_COUNT_MAX] for other in known[1:4])
        problems.append(MetadataProblem(path, f"{len(known)} clusters: {chosen or '/'} is shown, not {others}"))
    return read_cluster(znodes, chosen)


class _ZnodeDirectory(NamedTuple):
    """A directory of a tree of znodes."""

    folder: str
    znode: str
    depth: int


class _ZnodeFolders:
    """Reads a directory with the layout of znode paths; a znode with children has its data in a file `data`."""

    def __init__(self, tree: Tree, path: str, problems: list[MetadataProblem]) -> None:
        self._tree = tree
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
            listing = self._tree.listing(parent.folder)
        except UnreadableError as error:
            self._problem(parent.folder, str(error))
            return []
        directories, folders = [], frozenset(listing.directories)
        for name in filter(wanted, (*listing.directories, *listing.files, *listing.others)):
            file, znode = join(parent.folder, name), f"{parent.znode}/{java_bytes(name).decode()}"
            self._count_left -= 1
            if self._count_left < 0 or parent.depth > _DEPTH_MAX:
                self._problem(parent.folder, "too many files or directories; the rest is left out")
                return []
            if name not in folders:
                self._read(file, parent.znode if name == "data" else znode)
            elif self._tree.is_link(file):
                self._problem(file, "a symbolic link: not followed")
            else:
                directories.append(_ZnodeDirectory(file, znode, parent.depth + 1))
        return directories

    def _read(self, file: str, znode: str) -> None:
        try:
            data = self._tree.read_whole(file, size_max=self._size_left)
        except UnreadableError as error:
            self._problem(file, str(error))
            return
        self._size_left -= len(data)
        self.znodes[znode] = znode_export.of_file(data)

    def _problem(self, place: str, why: str) -> None:
        if len(self._problems) < _PROBLEM_COUNT_MAX:
            self._problems.append(MetadataProblem(place, why))
