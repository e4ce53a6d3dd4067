"""The facts about a file, a partition directory, a log dir or a partition, for rules and JSON.

A value that kcheck has not seen is None. Offsets are record offsets, sizes and positions are bytes.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from kcheck.model.cluster import ReplicaInCluster
from kcheck.model.entries import Batch, Epoch, EpochEntries, Offset
from kcheck.model.finding import Finding, Location
from kcheck.model.names import (
    CLEAN_SHUTDOWN,
    CLUSTER_METADATA,
    COMPACTED,
    OFFSET_CHECKPOINTS,
    DirectoryState,
    PartitionDirectory,
    parse_directory,
)
from kcheck.model.parsed import BrokerReads, Parsed
from kcheck.model.producers import ProducersView
from kcheck.model.remote_index_cache import RemoteIndexCache
from kcheck.model.remote_log import RemoteLog
from kcheck.model.segments import SegmentView
from kcheck.model.source import Files
from kcheck.model.unreadable import Unreadable


class FileView(NamedTuple):
    """A small file, parsed."""

    kind: str
    """Its kind, as in `kcheck.formats`."""
    name: str
    """Its name, without the directory."""
    where: Location
    """The file."""
    size: int
    """Its size in bytes."""
    parsed: Parsed[Any]
    """Its value and defects."""
    reads: BrokerReads[Any] | None = None
    """The result of the broker's own reader; None if the broker does not read files of this kind."""

    @property
    def refusal(self) -> str | None:
        """The error of the broker's own reader; None if it accepts the file, or does not read this kind."""
        return None if self.reads is None else self.reads.error


class SegmentSummary(NamedTuple):
    """The size and extent of one segment."""

    base_offset: Offset
    """The offset in its name."""
    size: int
    """The size of its `.log` in bytes."""
    end_offset: Offset | None = None
    """The offset after its last batch; None if kcheck did not read that far."""
    batches: int | None = None
    """Number of its batches; None if kcheck did not read them all."""
    max_timestamp: int | None = None
    """Their largest timestamp, in milliseconds since 1970; None if kcheck did not read them all."""


class PartitionView(NamedTuple):
    """One partition directory, as it is on disk."""

    where: Location
    """The directory."""
    topic: str
    """The topic in its name."""
    partition: int
    """The partition number in its name."""
    state: DirectoryState
    """The state by the suffix of its name."""
    topic_id: str | None = None
    """The topic id in partition.metadata; None without one."""
    log_start_checkpoint: Offset | None = None
    """Its entry in log-start-offset-checkpoint; None without an entry or a log dir."""
    log_start_offset: Offset | None = None
    """Its first offset by the broker's rule, the larger of that entry and the first segment's base offset.

    For a tiered log it is the entry. None if the directory could not be listed.
    """
    recovery_point: Offset | None = None
    """Its entry in recovery-point-offset-checkpoint; None without an entry or a log dir."""
    high_watermark: Offset | None = None
    """Its entry in replication-offset-checkpoint; None without an entry or a log dir."""
    log_end_offset: Offset | None = None
    """The offset after its last valid batch; None if it could not be found."""
    size: int = 0
    """The size of its `.log` files in bytes."""
    epochs: FileView | None = None
    """Its leader-epoch-checkpoint; None without one, or if it could not be read."""
    metadata: FileView | None = None
    """Its partition.metadata; None without one, or if it could not be read."""
    segments: tuple[SegmentSummary, ...] = ()
    """Its segments, by base offset."""
    last_batch: Batch | None = None
    """The last valid batch before the log end offset; None if kcheck saw none."""
    index_size: int | None = None
    """The size of the last segment's offset index in bytes; None if a broker cannot rely on it.

    A broker can rely on it after a clean shutdown, if no file is a link. The last entry must lead to batches with
    rising offsets up to the end of the file.
    """
    gaps: tuple[tuple[Offset, Offset], ...] | None = None
    """The offsets `[start, end)` between two segments that neither holds; None if kcheck did not look for them."""
    clean_shutdown: bool | None = None
    """True if the last shutdown was clean; None without a log dir."""
    cleaned: bool | None = None
    """True if cleaner-offset-checkpoint names it; None if that is not known."""
    files: frozenset[str] = frozenset()
    """The names of its files, and of those `directories` that a broker opens as a file."""
    strangers: int = 0
    """Number of more files that no broker knows, of which `files` names the first only."""
    directories: frozenset[str] = frozenset()
    """The names of directories in it that have the name of a Kafka file."""
    now: int | None = None
    """When kcheck read its segments, in milliseconds since 1970; None if it was to read none."""
    read: tuple[SegmentView, ...] | None = None
    """The segments that kcheck read from their start; None if it was to read none."""
    producers: ProducersView | None = None
    """The producers in their batches; None if kcheck did not follow them."""
    swaps: tuple[SegmentView, ...] = ()
    """The `.log.swap` files that kcheck read from their start."""
    in_cluster: ReplicaInCluster | None = None
    """Its facts in the metadata of its cluster; None without any, or if it is not a replica."""
    disk: Files | None = None
    """The opener of its files; None if nothing was read."""
    remote: RemoteLog | None = None
    """Its part in remote storage; None if it has none, or if kcheck did not look for it."""

    @property
    def leader_epochs(self) -> EpochEntries:
        """The readable entries of leader-epoch-checkpoint, in the order of the file."""
        return () if self.epochs is None else tuple(self.epochs.parsed.value.entries)

    @property
    def is_compacted(self) -> bool:
        """True if cleaner-offset-checkpoint names it, or its topic is compacted always or by its configuration."""
        by_configuration = self.in_cluster is not None and self.in_cluster.compacted
        return bool(self.cleaned) or self.topic in COMPACTED or by_configuration

    @property
    def is_read(self) -> bool:
        """True if kcheck read every segment from its beginning."""
        return self.read is not None and len(self.read) == len(self.segments)

    @property
    def is_replica(self) -> bool:
        """True if it can be compared with replicas on other brokers; no broker leads KRaft's metadata log."""
        return self.state is DirectoryState.CURRENT and not self.is_metadata_log

    @property
    def is_metadata_log(self) -> bool:
        """True if this is KRaft's metadata log, which a node reads from its first batch when it starts, ignoring
        checkpoints.

        KafkaMetadataLog.apply 2.8 to 4.3.1: recoveryPoint 0, lastShutdownClean false. It has no high watermark.
        """
        return self.topic == CLUSTER_METADATA


class LogDirView(NamedTuple):
    """One entry of `log.dirs`."""

    where: Location
    """The log dir."""
    cluster_id: str | None = None
    """The cluster id in meta.properties; None without one."""
    directory_id: str | None = None
    """The directory id in meta.properties; None without one."""
    clean_shutdown: bool = False
    """True if .kafka_cleanshutdown exists: the last shutdown was clean."""
    files: Mapping[str, FileView] = {}
    """The offset checkpoints, meta.properties and .kafka_cleanshutdown that were read, by name."""
    unread: Mapping[str, Unreadable] = {}
    """Those that exist and could not be read, with the reason."""
    partitions: tuple[PartitionView, ...] = ()
    """Its partition directories."""
    unparseable: tuple[str, ...] = ()
    """The directories whose names a broker cannot parse, links to directories included."""
    blocked: tuple[str, ...] = ()
    """Names of partition directories that belong to something else, for example a file."""
    locked_by: int | None = None
    """The process that holds `.lock`; None if no process does."""
    remote_index_cache: RemoteIndexCache | None = None
    """Its remote-log-index-cache; None without one, or if it could not be read."""
    is_with_all: bool = False
    """True if every log dir of the broker is given, by its settings or in the broker's folder."""
    of_kraft: bool = False
    """True if the broker runs with KRaft by the cluster's metadata, whatever meta.properties contains."""
    of_controller: bool = False
    """True for only the metadata log of a node that never registered as a broker."""

    @property
    def shutdown_epoch(self) -> int | None:
        """The broker epoch in .kafka_cleanshutdown; None without one."""
        marker = self.files.get(CLEAN_SHUTDOWN)
        return None if marker is None else marker.parsed.value.broker_epoch

    @property
    def blocked_and_needed(self) -> frozenset[str]:
        """Those of the `blocked` names whose partition a checkpoint of the log dir names."""
        directories = {name: directory for name in self.blocked if (directory := parse_directory(name)) is not None}
        topics = {directory.topic for directory in directories.values()}
        checkpoints = [self.files[name].parsed.value for name in OFFSET_CHECKPOINTS if topics and name in self.files]
        checkpointed = [offset_checkpoint.by_topic(topics) for offset_checkpoint in checkpoints]
        return frozenset(
            name
            for name, (topic, partition, *_) in directories.items()
            if any(partition in offsets.get(topic, {}) for offsets in checkpointed)
        )


class CheckpointOffsets(NamedTuple):
    """The offsets of one partition in the checkpoints of its log dir, None without an entry."""

    recovery_point: Offset | None = None
    """That in recovery-point-offset-checkpoint."""
    log_start: Offset | None = None
    """That in log-start-offset-checkpoint."""
    high_watermark: Offset | None = None
    """That in replication-offset-checkpoint."""
    cleaned: bool | None = None
    """True if the log cleaner has processed the partition; None if unknown."""


class Checkpoints(NamedTuple):
    """The offsets in a log dir's checkpoints by topic and partition; empty for a missing file."""

    recovery_point: dict[str, dict[int, Offset]]
    """Those in recovery-point-offset-checkpoint."""
    log_start: dict[str, dict[int, Offset]]
    """Those in log-start-offset-checkpoint."""
    high_watermark: dict[str, dict[int, Offset]]
    """Those in replication-offset-checkpoint."""
    cleaned: dict[str, dict[int, Offset]] | None = None
    """Those in cleaner-offset-checkpoint; None if it is unknown which partitions were cleaned."""

    def of(self, topic: str, partition: int) -> CheckpointOffsets:
        """Return the offsets of one partition."""
        none: dict[int, Offset] = {}
        return CheckpointOffsets(
            self.recovery_point.get(topic, none).get(partition),
            self.log_start.get(topic, none).get(partition),
            self.high_watermark.get(topic, none).get(partition),
            None if self.cleaned is None else partition in self.cleaned.get(topic, none),
        )


class LogDir(NamedTuple):
    """A log dir whose own files were read, its partitions not yet."""

    view: LogDirView
    """Its files and identity, without partitions."""
    checkpoints: Checkpoints
    """The entries of its checkpoints about the partitions."""
    findings: list[Finding]
    """The findings about files that cannot be read."""
    directories: tuple[tuple[str, PartitionDirectory], ...] = ()
    """Its partition directories by name."""
    links: tuple[tuple[str, PartitionDirectory], ...] = ()
    """Links named like partition directories that lead out of it. kcheck does not follow them."""
    unlisted: Unreadable | None = None
    """The reason why it could not be listed; None if it was."""
    alone: bool = False
    """True if the argument was one of its partition directories."""


class Different(NamedTuple):
    """Batches of the same offsets and epoch with different content in two replicas."""

    one: Location
    """The first of the two replicas."""
    other: Location
    """The second."""
    base_offset: Offset
    """The first offset of the first such batch."""
    last_offset: Offset
    """The last offset of that batch."""
    epoch: Epoch
    """The leader epoch of that batch."""
    batches: int
    """Number of batches that differ."""


class ReturningKeys(NamedTuple):
    """Keys of a compacted log that another replica has deleted."""

    where: Location
    """The replica that has a value for these keys."""
    other: Location
    """The replica without any record of them."""
    key_count: int
    """Number of keys."""
    first: Offset
    """The lowest offset of their values."""


class ReplicasView(NamedTuple):
    """The replicas of one partition on several brokers."""

    replicas: tuple[PartitionView, ...]
    """The replicas, by broker id."""
    different: tuple[Different, ...] = ()
    """The places where their batches differ; empty if kcheck did not compare them."""
    replica_count_of_topic: int = 0
    """The largest number of replicas that a partition of the topic has on these brokers."""
    returning: tuple[ReturningKeys, ...] = ()
    """The keys that only some of them have deleted; empty if kcheck did not compare their records."""
