"""The nodes of a cluster that lost its controllers, with the contents of each disk, for `core.rescue`."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import takewhile

from kcheck.core.cluster.copies import MetadataCopy
from kcheck.core.cluster.metadata_replay import Fields, MetadataReplay
from kcheck.core.rescue.broker_role import VOTERS
from kcheck.core.rescue.quorum_loss import RescueNode
from kcheck.core.rescue.refusals import DiskNews, Rift
from kcheck.core.rescue.rifts import BatchMark, committed_end, first_rift
from kcheck.core.start.node_settings import ids_of_voters
from kcheck.disk.lock import locked_by
from kcheck.disk.paths import join
from kcheck.disk.tree import Tree
from kcheck.errors import UsageError
from kcheck.formats import leader_epoch_checkpoint, partition_metadata
from kcheck.model.cluster import ClusterImage
from kcheck.model.names import (
    LEADER_EPOCHS,
    METADATA_DIRECTORY,
    PARTITION_METADATA,
    DirectoryState,
    FileKind,
    is_legal_topic,
    log_name,
    metadata_snapshots,
    parse_directory,
    segment_bases,
)
from kcheck.model.unreadable import UnreadableError
from kcheck.records.batch import CONTROL
from kcheck.segments.batches import Walk
from kcheck.views.metadata_copy import read_copy
from kcheck.views.metadata_paths import identity_of
from kcheck.views.settings_files import settings_path
from kcheck.views.targets import Target, TargetKind, has_no_disk, read_properties, unusable
from kcheck.words import partition_name

_SMALL_SIZE_MAX = 1 << 20


def rescue_nodes(targets: Iterable[Target], dead: frozenset[int]) -> tuple[RescueNode, ...]:
    """Return the nodes of the targets, each with the log dir of its metadata log.

    UsageError if a target is no log dir, or has no id.
    """
    by_node: dict[int, list[Target]] = {}
    for target in targets:
        if target.kind is not TargetKind.LOG_DIR:
            words = f"{target.path}: not a log dir; name the log dirs of each node as NODE=PATH"
            raise unusable(target.path, words)
        if target.tree.is_bundle or target.tree.is_remote:
            raise UsageError(f"{target.path}: a recovery needs the log dirs themselves")
        by_node.setdefault(_node_id(target), []).append(target)
    nodes: list[RescueNode] = []
    for number, own in by_node.items():
        with_log = [target for target in own if target.tree.is_directory(join(target.path, METADATA_DIRECTORY))]
        config = settings_path(own)
        settings = {} if config is None else read_properties(config)
        listeners = tuple(_of_settings(number, settings))[:1]
        away = None if with_log else next((row.path for row in own if has_no_disk(row.tree, row.path)), None)
        for target in with_log or [_for_metadata(own, settings)]:
            nodes.append(
                _node(target, number, has_log=bool(with_log))._replace(
                    listeners=listeners,
                    dead=number in dead,
                    unread=away,
                    config=config,
                    settings=settings,
                    configured=ids_of_voters(settings.get(VOTERS, "")),
                )
            )
    return tuple(nodes)


def _node_id(target: Target) -> int:
    own = identity_of(target.tree, target.path).node_id
    number = own if target.broker_id is None else target.broker_id
    if number is None:
        raise UsageError(f"{target.path}: no node id; write NODE={target.path}")
    if own not in (None, number):
        raise UsageError(
            f"{number}={target.path}: its meta.properties says node {own}. For a disk of node {own}, write"
            f" {own}={target.path}. Otherwise put the former meta.properties of node {number} back."
        )
    return number


def _for_metadata(targets: Sequence[Target], settings: Mapping[str, str]) -> Target:
    """Return the log dir that takes a metadata log, from metadata.log.dir, or else the first of log.dirs."""
    wanted = settings.get("metadata.log.dir")
    return next((target for target in targets if target.path == wanted), targets[0])


def _node(target: Target, number: int, *, has_log: bool) -> RescueNode:
    tree, log_dir = target.tree, target.path
    own = identity_of(tree, log_dir)
    node = RescueNode(
        node_id=number,
        log_dir=log_dir,
        cluster_id=own.cluster_id,
        directory_id=own.directory_id,
        running=locked_by(log_dir) is not None,
        has_bootstrap=tree.exists(join(log_dir, FileKind.BOOTSTRAP)),
    )
    return _with_copy(tree, node) if has_log else node


def _with_copy(tree: Tree, node: RescueNode) -> RescueNode:
    """Read the metadata log of a node; one without any batch and snapshot is no copy."""
    path = join(node.log_dir, METADATA_DIRECTORY)
    try:
        before = dict(tree.directory(path).entries().sizes)
        copy = read_copy(tree, path, node.node_id)
        after = dict(tree.directory(path).entries().sizes)
    except UnreadableError as error:
        raise UsageError(f"{path}: {error}") from error
    seen = copy.elected.leader_epoch if copy.elected is not None else 0
    epoch = max(copy.epoch, seen, _last_epoch(tree, path))
    snapshots = [end for _, end, _ in metadata_snapshots(after)]
    return node._replace(
        copy=copy if copy.end or copy.problems else None,
        epoch=epoch,
        snapshot_end=max(snapshots, default=0),
        changing=before != after,
        bad_vote=FileKind.QUORUM_STATE in after and copy.elected is None,
    )


def _last_epoch(tree: Tree, path: str) -> int:
    """Return the last epoch in leader-epoch-checkpoint; 0 without one."""
    with suppress(UnreadableError):
        parsed = leader_epoch_checkpoint.parse(tree.read_whole(join(path, LEADER_EPOCHS), size_max=_SMALL_SIZE_MAX))
        return max(parsed.value.epochs, default=0)
    return 0


def _of_settings(number: int, settings: Mapping[str, str]) -> Iterator[str]:
    """Yield the listeners for controllers in the settings of a node, as NAME://HOST:PORT."""
    names = _words(settings.get("controller.listener.names", ""))
    if "controller" not in _words(settings.get("process.roles", "")) or not names:
        return
    for word in _words(settings.get("controller.quorum.voters", "")):
        who, _, place = word.partition("@")
        if who == str(number):
            yield f"{names[0]}://{place}"
    for key in ("advertised.listeners", "listeners"):
        for word in _words(settings.get(key, "")):
            name, _, place = word.partition("://")
            if name in names and place.rpartition(":")[0] not in ("", "0.0.0.0", "[::]"):  # noqa: S104 - not bound here
                yield word


def _words(value: str) -> list[str]:
    return [word.strip() for word in value.split(",") if word.strip()]


def rifts(tree: Tree, newest: RescueNode, nodes: Iterable[RescueNode]) -> Iterator[Rift]:
    """Yield where the newest copy lacks a record that it must share with the copy of another node."""
    best = newest.copy
    assert best is not None
    for node in nodes:
        copy = node.copy
        if node is newest or copy is None:
            continue
        committed = max(copy.snapshot, committed_end(_marks(tree, copy)))
        offset = first_rift(_marks(tree, best), _marks(tree, copy), committed)
        if offset is None and best.end < committed:
            offset = best.end
        if offset is not None:
            yield Rift(offset, newest.log_dir, node.log_dir)


def proven_end(tree: Tree, newest: RescueNode, targets: Iterable[Target]) -> int:
    """Return the offset below which logs and disks prove the records of the newest copy committed.

    A broker makes directories and leader epochs once their records are committed.
    """
    assert newest.copy is not None
    end = max(newest.copy.snapshot, committed_end(_marks(tree, newest.copy)))
    begun: dict[tuple[str | None, int], list[tuple[int, int]]] = {}

    def observe(replay: MetadataReplay, name: str, data: Fields, offset: int, timestamp: int) -> None:
        del timestamp
        if offset >= end and (name == "PartitionRecord" or data.get("leader") is not None):
            key = data["topicId"], data["partitionId"]
            begun.setdefault(key, []).append((replay.leader_epoch(*key), offset))

    read_copy(tree, newest.copy.path, newest.node_id, observe=observe)
    served = (
        offset + 1
        for target in (targets if begun else ())
        for name in _directories(target)
        if (parts := parse_directory(name)) is not None
        for path in (join(target.path, name),)
        for epoch, offset in begun.get((_topic_id(target.tree, path), parts.partition), ())
        if epoch <= _last_epoch(target.tree, path)
    )
    return max(served, default=end)


def later_on_disks(image: ClusterImage, targets: Iterable[Target]) -> DiskNews:
    """Return topics and partitions of brokers that are newer than a copy of the metadata."""
    unknown, later = set[str](), set[str]()
    for target in targets:
        for name in _directories(target):
            parts = None if name == METADATA_DIRECTORY else parse_directory(name)
            if parts is None or parts.state is not DirectoryState.CURRENT or not is_legal_topic(parts.topic):
                continue
            path = join(target.path, name)
            topic_id, known = _topic_id(target.tree, path), image.topics.get(parts.topic)
            if known is None or topic_id not in (None, known.topic_id):
                if topic_id not in image.removed:
                    unknown.add(parts.topic)
                continue
            part = known.partitions.get(parts.partition)
            if part is None or _last_epoch(target.tree, path) > (part.leader_epoch or 0):
                later.add(partition_name(parts.topic, parts.partition))
    return DiskNews(tuple(sorted(unknown)), tuple(sorted(later)))


def _directories(target: Target) -> Iterable[str]:
    with suppress(UnreadableError):
        return target.tree.directory(target.path).entries().directories
    return ()


def _topic_id(tree: Tree, path: str) -> str | None:
    with suppress(UnreadableError):
        data = tree.read_whole(join(path, PARTITION_METADATA), size_max=_SMALL_SIZE_MAX)
        return partition_metadata.parse(data).value.topic_id
    return None


def _marks(tree: Tree, copy: MetadataCopy) -> Iterator[BatchMark]:
    """Yield the batches of a copy up to its end."""
    files = tree.directory(copy.path)
    for base in segment_bases(files.entries().sizes):
        with files.open(log_name(base)) as source:
            every = (
                BatchMark(
                    batch.base_offset, batch.last_offset, batch.epoch or 0, batch.crc, bool(batch.attributes & CONTROL)
                )
                for batch in Walk(source)
            )
            yield from takewhile(lambda mark: mark.last < copy.end, every)
