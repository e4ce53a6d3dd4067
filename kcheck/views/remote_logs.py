"""Reads `__remote_log_metadata` in the log dirs of a command, for the remote part of each partition."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from kcheck.core.start.topic_settings import has_remote_storage, is_compacted, stated_retention, with_log_start
from kcheck.core.start.unserved import ImageOf
from kcheck.core.tiered.metadata_partition import metadata_partition
from kcheck.core.tiered.reading import remote_log
from kcheck.core.tiered.segment_records import RemoteLogKey, SegmentFold
from kcheck.errors import UsageError
from kcheck.model.cluster import ClusterImage, PartitionRegistration
from kcheck.model.entries import Offset
from kcheck.model.names import COMPACTED, REPLICATION_OFFSET, DirectoryState, TopicPartition, log_name
from kcheck.model.release import Release
from kcheck.model.remote_log import (
    REMOTE_LOG_METADATA,
    MetadataConflict,
    MetadataState,
    MetadataTopic,
    RemoteLog,
    RemoteSegment,
)
from kcheck.model.report import PartitionFilter
from kcheck.model.unreadable import UnreadableError
from kcheck.model.views import LogDir, PartitionView
from kcheck.views.log_dir import LogDirs, one_partition
from kcheck.views.settings_files import settings_beside
from kcheck.views.targets import Target, TargetKind

NEVER_REMOTE = (*COMPACTED, REMOTE_LOG_METADATA)
"""The topics that are never in remote storage."""


class MetadataPartition(NamedTuple):
    """A metadata partition, read once."""

    state: MetadataState
    logs: Mapping[RemoteLogKey, Sequence[RemoteSegment]] = {}
    names: Mapping[RemoteLogKey, str] = {}
    last_ms: int = -1
    conflict: MetadataConflict | None = None
    ids: Mapping[str, int] = {}


class ShortMetadata(NamedTuple):
    """A partition of `__remote_log_metadata` whose next leaders all lack committed records."""

    number: int
    """The partition."""
    brokers: tuple[int, ...]
    """The brokers that may lead the partition."""
    end: Offset
    """The highest log end of the copies on these brokers."""
    mark: Offset
    """The highest high watermark of any copy."""


class AbsentReplica(NamedTuple):
    """A replica without a directory. The next start of its broker makes an empty log."""

    partition: TopicPartition
    topic_id: str | None
    broker_id: int
    remote: RemoteLog


def remote_logs(targets: Iterable[Target], log_dirs: LogDirs, image_of: ImageOf) -> "RemoteLogs":
    """Return the remote logs of a command, which reads each metadata partition once."""
    remote = RemoteLogs(targets, log_dirs, image_of)
    if log_dirs.remote is None or not log_dirs.remote.has_all_of(remote):
        log_dirs.remote = remote
    return log_dirs.remote


class RemoteLogs:
    """The remote logs of the log dirs of one command. Each metadata partition is read when it is first needed."""

    def __init__(self, targets: Iterable[Target], log_dirs: LogDirs, image_of: ImageOf) -> None:
        """Take the log dirs of all brokers of the command."""
        around = {target.log_dir: target for target in targets if target.kind is not TargetKind.FILE}
        self.paths: frozenset[str] = frozenset(around)
        """The log dirs."""
        self._targets = [row._replace(kind=TargetKind.LOG_DIR, path=path) for path, row in around.items()]
        self.release: Release = log_dirs.release
        """The release that will run."""
        self._log_dirs, self._image_of = log_dirs, image_of
        self._read: dict[tuple[str | None, int], MetadataPartition] = {}
        self._said: dict[int | None, Mapping[str, str] | None] = {}

    def has_all_of(self, other: "RemoteLogs") -> bool:
        """Return whether these are the log dirs of the other too."""
        return other.paths <= self.paths

    def placed(self, view: PartitionView, cluster_id: str | None) -> PartitionView:
        """Return a partition with its remote part and the log start of a tiered log; unchanged without one."""
        if not view.is_replica:
            return view
        partition = TopicPartition(view.topic, view.partition)
        remote = self.of(partition, view.topic_id, cluster_id, is_below=_is_below(view))
        if remote is None:
            return view
        remote = self.with_settings(remote, view.topic, view.where.broker_id, cluster_id)
        return with_log_start(view._replace(remote=remote), self._log_dirs.release, remote_storage=True, of_topic=True)

    def with_settings(self, remote: RemoteLog, topic: str, own: int | None, cluster_id: str | None) -> RemoteLog:
        """Return a remote log with the settings that decide how long a broker keeps its records and their metadata."""
        image, settings = self._image_of(cluster_id), self._settings(own)
        return remote._replace(
            retention=stated_retention(image, topic, own, settings),
            metadata_topic=_metadata_topic(image, own, settings),
        )

    def of(
        self, partition: TopicPartition, topic_id: str | None, cluster_id: str | None, *, is_below: bool
    ) -> RemoteLog | None:
        """Return the remote part of a partition; None if it has none, as far as metadata and files show.

        `is_below`: whether the checkpointed log start is below the first local segment.
        """
        if partition.topic in NEVER_REMOTE:
            return None
        image = self._image_of(cluster_id)
        enabled = None if image is None else has_remote_storage(image, partition.topic)
        if enabled is False or (enabled is None and not is_below):
            return None
        remote = self.log(*partition, topic_id, cluster_id)
        is_without = remote.is_known and not remote.segments
        return None if is_without and not is_below else remote

    def log(self, topic: str, partition: int, topic_id: str | None, cluster_id: str | None) -> RemoteLog:
        """Return the remote part of a partition that is tiered."""
        image = self._image_of(cluster_id)
        known = None if image is None else image.topics.get(REMOTE_LOG_METADATA)
        if topic_id is None and image is not None and topic in image.topics:
            topic_id = image.topics[topic].topic_id
        if topic_id is None:
            return remote_log(MetadataState.NOT_GIVEN)
        if known is None:
            return self._without_count(topic_id, partition, cluster_id, is_lost=image is not None)
        number = metadata_partition(topic_id, partition, len(known.partitions)) if known.partitions else None
        if number is None:
            return remote_log(MetadataState.NOT_GIVEN)
        folded = self.metadata(number, cluster_id)
        registration = known.partitions.get(number)
        leader = None if registration is None else registration.leader
        segments = folded.logs.get((topic_id, partition), ())
        return remote_log(folded.state, segments, number, leader, folded.last_ms)._replace(conflict=folded.conflict)

    def _without_count(self, topic_id: str, partition: int, cluster_id: str | None, *, is_lost: bool) -> RemoteLog:
        """Return a remote log for an unknown number of metadata partitions; `is_lost` if the topic does not exist."""
        numbers = sorted({number for number, _, _ in self._copies(cluster_id)})
        for number in numbers:
            folded = self.metadata(number, cluster_id)
            if (topic_id, partition) in folded.logs:
                return remote_log(folded.state, folded.logs[topic_id, partition], number, None, folded.last_ms)
        return remote_log(MetadataState.MISSING if is_lost and not numbers else MetadataState.NOT_GIVEN)

    def absent(self, wanted: PartitionFilter) -> "Iterator[AbsentReplica]":
        """Yield the tiered replicas without a directory of brokers whose log dirs are given.

        A broker that has registered more log dirs than are given can have the directory in another one.
        """
        places: dict[tuple[str | None, int | None], list[LogDir]] = {}
        for log_dir in map(self._log_dirs.open, self._targets):
            view = log_dir.view
            places.setdefault((view.cluster_id, view.where.broker_id), []).append(log_dir)
        for (cluster_id, own), log_dirs in places.items():
            image = self._image_of(cluster_id)
            if image is None or own is None or self._registered(own, cluster_id) > len(log_dirs):
                continue
            rows = (row for log_dir in log_dirs for _, row in log_dir.directories)
            there = {(row.topic, row.partition) for row in rows if row.state is DirectoryState.CURRENT}
            for topic, number, registration in image.partitions():
                partition = TopicPartition(topic.name, number)
                if own in registration.replicas and partition not in there and wanted.has(*partition):
                    remote = self.of(partition, topic.topic_id, cluster_id, is_below=False)
                    if remote is not None:
                        yield AbsentReplica(partition, topic.topic_id, own, remote)

    def all_metadata(self, cluster_id: str | None) -> "tuple[MetadataPartition, ...]":
        """Return every partition of `__remote_log_metadata` that the cluster has, or that is here."""
        image = self._image_of(cluster_id)
        topic = None if image is None else image.topics.get(REMOTE_LOG_METADATA)
        numbers = {number for number, _, _ in self._copies(cluster_id)}
        return tuple(
            self.metadata(number, cluster_id) for number in sorted(numbers.union(topic.partitions if topic else ()))
        )

    def lost_metadata(self, cluster_id: str | None) -> dict[int, Offset]:
        """Return the partitions of `__remote_log_metadata` without a record, each with its highest high watermark."""
        image = self._image_of(cluster_id)
        topic = None if image is None else image.topics.get(REMOTE_LOG_METADATA)
        lost = [
            number
            for number in (() if topic is None else topic.partitions)
            if self.metadata(number, cluster_id).state is MetadataState.MISSING
        ]
        views = [self._log_dirs.open(target).view for target in self._of_cluster(cluster_id)]
        # Without a directory the topic is not among the checkpoints of the log dir.
        files = [view.files[REPLICATION_OFFSET].parsed.value for view in views if REPLICATION_OFFSET in view.files]
        marks = [file.by_topic({REMOTE_LOG_METADATA}).get(REMOTE_LOG_METADATA, {}) for file in files]
        return {number: max((row.get(number, Offset(0)) for row in marks), default=Offset(0)) for number in lost}

    def short_leaders(self, cluster_id: str | None) -> "Iterator[ShortMetadata]":
        """Yield the partitions of `__remote_log_metadata` whose next leaders all lack committed records.

        A broker without the directory makes an empty log. Brokers whose log dirs are not given decide nothing.
        """
        for number in sorted({number for number, _, _ in self._copies(cluster_id)}):
            registration = self._registration(number, cluster_id)
            leaders = frozenset[int]() if registration is None else registration.in_sync
            given = self._given(cluster_id)
            views = [self._view(target, name) for own, target, name in self._copies(cluster_id) if own == number]
            known = {view.where.broker_id: view for view in views if view is not None}
            mark = max((view.high_watermark or 0 for view in known.values()), default=0)
            ends = [known[broker].log_end_offset or 0 if broker in known else 0 for broker in leaders]
            if leaders and given >= leaders and max(ends) < mark:
                yield ShortMetadata(number, tuple(sorted(leaders)), Offset(max(ends)), Offset(mark))

    def metadata(self, number: int, cluster_id: str | None) -> MetadataPartition:
        """Return a partition of `__remote_log_metadata`, from the copy that ends last. The others must agree."""
        key = (cluster_id, number)
        if key not in self._read:
            self._read[key] = self._folded(number, cluster_id)
        return self._read[key]

    def _folded(self, number: int, cluster_id: str | None) -> MetadataPartition:
        views = [self._view(target, name) for own, target, name in self._copies(cluster_id) if own == number]
        known = [view for view in views if view is not None and view.log_end_offset is not None]
        is_whole = self._has_all_replicas(number, cluster_id) and len(known) == len(views)
        registration = self._registration(number, cluster_id)
        best, conflict = _counted(known, () if registration is None else registration.isr or registration.elr)
        if best is None or not best.log_end_offset:
            return MetadataPartition(MetadataState.MISSING if is_whole else MetadataState.NOT_GIVEN)
        mark = max((view.high_watermark for view in known if view.high_watermark is not None), default=0)
        is_short = best.log_end_offset < mark
        if is_short and not is_whole:
            return MetadataPartition(MetadataState.NOT_GIVEN)
        if conflict is not None:
            return MetadataPartition(MetadataState.CONTRADICTORY, conflict=conflict)
        fold = _fold(best)
        if fold is None or fold.unreadable:
            return MetadataPartition(MetadataState.NOT_GIVEN)
        state = MetadataState.SHORT if is_short else MetadataState.READ
        return MetadataPartition(state, fold.logs(), fold.names, fold.last_ms, ids=fold.ids)

    def _settings(self, broker_id: int | None) -> Mapping[str, str] | None:
        """Return the server.properties of a broker that lists its log dirs; None if no file is readable."""
        if broker_id not in self._said:
            own = [row for row in self._targets if self._log_dirs.open(row).view.where.broker_id == broker_id]
            self._said[broker_id] = None
            with suppress(UsageError):
                self._said[broker_id] = settings_beside(own)
        return self._said[broker_id]

    def _view(self, target: Target, name: str) -> PartitionView | None:
        log_dir = self._log_dirs.open(target)
        directory = dict(log_dir.directories)[name]
        return one_partition(target.tree, log_dir, name, directory, walk_all=False, release=self._log_dirs.release)

    def _copies(self, cluster_id: str | None) -> list[tuple[int, Target, str]]:
        """Return the directories of `__remote_log_metadata` of a cluster, by number."""
        return [
            (directory.partition, target, name)
            for target in self._of_cluster(cluster_id)
            for name, directory in self._log_dirs.open(target).directories
            if directory.topic == REMOTE_LOG_METADATA and directory.state is DirectoryState.CURRENT
        ]

    def _of_cluster(self, cluster_id: str | None) -> list[Target]:
        return [target for target in self._targets if self._log_dirs.open(target).view.cluster_id == cluster_id]

    def _registration(self, number: int, cluster_id: str | None) -> PartitionRegistration | None:
        """Return a metadata partition in the metadata of the cluster; None without one."""
        image = self._image_of(cluster_id)
        topic = None if image is None else image.topics.get(REMOTE_LOG_METADATA)
        return None if topic is None else topic.partitions.get(number)

    def _has_all_replicas(self, number: int, cluster_id: str | None) -> bool:
        """Return whether all log dirs of every broker with a replica of a metadata partition are given."""
        registration = self._registration(number, cluster_id)
        return registration is not None and self._given(cluster_id).issuperset(registration.replicas)

    def _given(self, cluster_id: str | None) -> frozenset[int | None]:
        """Return the brokers with as many given log dirs as they have registered.

        A broker makes no log of a replica in an offline log dir (ReplicaManager, KIP-858 in 4.3.1). The partition has
        no leader then, so no log start moves.
        """
        given = Counter(self._log_dirs.open(target).view.where.broker_id for target in self._of_cluster(cluster_id))
        return frozenset(number for number, count in given.items() if count >= self._registered(number, cluster_id))

    def _registered(self, broker_id: int | None, cluster_id: str | None) -> int:
        """Return the number of log dirs that a broker has registered; 0 if not known."""
        image = self._image_of(cluster_id)
        broker = None if image is None or broker_id is None else image.brokers.get(broker_id)
        return 0 if broker is None else len(broker.log_dirs)


def _metadata_topic(
    image: ClusterImage | None, broker_id: int | None, settings: Mapping[str, str] | None
) -> MetadataTopic:
    """Return the configuration of `__remote_log_metadata` on a broker."""
    topic = None if image is None else image.topics.get(REMOTE_LOG_METADATA)
    if image is None or topic is None:
        return MetadataTopic()
    return MetadataTopic(
        stated_retention(image, REMOTE_LOG_METADATA, broker_id, settings),
        is_compacted(image, REMOTE_LOG_METADATA, broker_id, settings),
    )


def _counted(
    copies: Iterable[PartitionView], in_sync: Collection[int]
) -> tuple[PartitionView | None, MetadataConflict | None]:
    """Return the copy that ends last, with its first contradiction to another one.

    A copy out of sync gives way to one in sync if the difference is above its own high watermark.
    """
    from kcheck.segments.replica_difference import first_contradiction  # numpy: only for a tiered partition

    left = list(copies)
    while True:
        best = max(left, key=lambda view: view.log_end_offset or 0, default=None)
        found = (
            (view, offset)
            for view in left
            if best is not None and view is not best and (offset := first_contradiction(best, view)) is not None
        )
        other, offset = next(found, (None, Offset(0)))
        if best is None or other is None:
            return best, None
        stale = [view for view in (best, other) if _gives_way(view, offset, in_sync)]
        if len(stale) != 1:
            return best, MetadataConflict((best.where.broker_id, other.where.broker_id), offset)
        left = [view for view in left if view is not stale[0]]


def _gives_way(copy: PartitionView, offset: Offset, in_sync: Collection[int]) -> bool:
    """Return whether the broker of a copy truncates the copy at an offset, as a follower."""
    mark = copy.high_watermark
    return bool(in_sync) and copy.where.broker_id not in in_sync and mark is not None and mark <= offset


def _fold(view: PartitionView) -> SegmentFold | None:
    """Return the records of a metadata partition; None if a segment cannot be read."""
    from kcheck.schemas.records import decoder  # numpy and the schemas: only for a tiered partition
    from kcheck.segments.record_values import record_values

    assert view.disk is not None
    fold, decode = SegmentFold(), decoder("remote-log")
    try:
        for segment in view.segments:
            with view.disk.open(log_name(segment.base_offset)) as source:
                for value in record_values(source):
                    message = None if value is None else decode(None, value).value
                    fold.take(None if message is None else message.data)
    except UnreadableError:
        return None
    return fold


def _is_below(view: PartitionView) -> bool:
    """Return whether the checkpointed log start is below the first local segment."""
    start = view.log_start_checkpoint
    return start is not None and bool(view.segments) and start < view.segments[0].base_offset
