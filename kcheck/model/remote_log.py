"""The part of a log in remote storage, according to `__remote_log_metadata` (3.6 and later)."""

from collections.abc import Mapping, Sequence
from enum import IntEnum, StrEnum
from typing import NamedTuple

from kcheck.model.entries import EpochEntries, Offset

REMOTE_LOG_METADATA = "__remote_log_metadata"
"""The topic with the records of remote segments."""

Spans = tuple[tuple[Offset, Offset], ...]
"""Offsets `[start, end)`, in order, without overlaps."""


class SegmentState(IntEnum):
    """The state of a remote segment (RemoteLogSegmentState 3.6 to 4.3.1)."""

    COPY_STARTED = 0
    """The broker copies it."""
    COPY_FINISHED = 1
    """All its objects are in the store."""
    DELETE_STARTED = 2
    """The broker deletes it."""
    DELETE_FINISHED = 3
    """Its objects are deleted."""


class RemoteSegment(NamedTuple):
    """One remote segment. The fields of its first record are None if only later records are left."""

    segment_id: str
    """Its id, in Kafka's base64."""
    state: SegmentState
    """The state in its last record."""
    start_offset: Offset | None = None
    """Its first offset."""
    end_offset: Offset | None = None
    """The offset after its last one."""
    size: int | None = None
    """The size of its `.log` in bytes."""
    epochs: EpochEntries = ()
    """Its leader epochs, each with the offset where it starts."""
    broker_id: int | None = None
    """The broker that copied it."""
    first_ms: int = -1
    """The time of its first record, in ms since 1970."""
    last_ms: int = -1
    """The time of its last record, in ms since 1970."""
    deletions: int = 0
    """Number of times that a broker has begun to delete it."""
    was_finished: bool = False
    """True if it was copied completely at some time."""
    custom: bytes | None = None
    """The metadata of the store's plugin."""
    newest_ms: int | None = None
    """The time of its newest record, in ms since 1970."""
    has_aborted: bool = False
    """True for a segment with a transaction index. Records of 3.9 and earlier do not tell."""

    @property
    def is_finished(self) -> bool:
        """True if brokers can read it."""
        return self.state is SegmentState.COPY_FINISHED and self.start_offset is not None


class SegmentRun(NamedTuple):
    """Finished segments that follow each other in one epoch, or one segment of several epochs."""

    start_offset: Offset
    """The first offset."""
    end_offset: Offset
    """The offset after the last one."""
    epochs: EpochEntries
    """The leader epochs, each with the offset where it starts."""
    segments: int
    """Number of segments."""
    size: int
    """The size of their `.log` files in bytes."""


class MetadataState(StrEnum):
    """The part of a remote log's metadata in the given log dirs."""

    READ = "read"
    """The metadata partition was read to its end."""
    NOT_GIVEN = "not given"
    """It is on brokers whose log dirs are not given, or cannot be read."""
    MISSING = "missing"
    """No broker that has a replica of it has its directory, or it is empty."""
    SHORT = "short"
    """Every copy ends below a high watermark of the metadata partition."""
    CONTRADICTORY = "contradictory"
    """Two copies have different records at the same offset."""


class MetadataConflict(NamedTuple):
    """Two copies of a metadata partition that have different records at the same offset."""

    broker_ids: tuple[int | None, int | None]
    """The brokers with these copies; None for an unknown one."""
    offset: Offset
    """The first such offset."""


class Retention(NamedTuple):
    """The retention of a topic, negative for none, None if unknown."""

    ms: int | None = None
    """The time for which brokers keep records, in ms."""
    bytes: int | None = None
    """The size up to which brokers keep the log, in bytes."""
    local_bytes: int | None = None
    """The size up to which brokers keep its segments on disk that are in remote storage too, in bytes."""
    local_ms: int | None = None
    """The time for which brokers keep such segments on disk, in ms."""

    @property
    def is_known(self) -> bool:
        """True if time and size are known."""
        return self.ms is not None and self.bytes is not None


class MetadataTopic(NamedTuple):
    """The configuration of `__remote_log_metadata`."""

    retention: Retention = Retention()
    """Its retention."""
    is_compacted: bool = False
    """True if the cleaner compacts the topic."""


class RemoteLog(NamedTuple):
    """The remote part of one partition."""

    state: MetadataState
    """The known part of its metadata."""
    segments: Sequence[RemoteSegment] = ()
    """Its remote segments, by first offset, made when they are read; empty unless the metadata was read."""
    metadata_partition: int | None = None
    """Its partition of `__remote_log_metadata`; None if the number of these partitions is not known."""
    leader: int | None = None
    """The leader of that partition in the metadata of the cluster, -1 without one; None if that is not known."""
    last_ms: int = -1
    """The time of the last record of the metadata partition, in ms since 1970; -1 without one."""

    runs: tuple[SegmentRun, ...] = ()
    """The segments that brokers can read."""
    copied: Spans = ()
    """The offsets of all segments that were copied completely at some time."""
    unfinished: tuple[RemoteSegment, ...] = ()
    """The other segments, except segments that were copied and then deleted."""
    conflict: MetadataConflict | None = None
    """The contradiction between copies of the metadata partition; None without one."""
    retention: Retention = Retention()
    """The retention of the log."""
    metadata_topic: MetadataTopic = MetadataTopic()
    """The configuration of the topic with its metadata."""

    @property
    def metadata_name(self) -> str:
        """The name of its metadata partition, as far as known."""
        number = self.metadata_partition
        return REMOTE_LOG_METADATA if number is None else f"{REMOTE_LOG_METADATA}-{number}"

    @property
    def is_known(self) -> bool:
        """True if every segment is known that brokers find."""
        return self.state is MetadataState.READ or self.is_cut

    @property
    def is_lost(self) -> bool:
        """True if brokers find no segment of the log, because its metadata is lost."""
        return self.state in {MetadataState.MISSING, MetadataState.SHORT} and not self.is_cut

    @property
    def is_cut(self) -> bool:
        """True if the end of its metadata is lost, and brokers still find older segments."""
        return self.state is MetadataState.SHORT and bool(self.runs)

    @property
    def is_hidden(self) -> bool:
        """True if brokers may have metadata that kcheck does not see."""
        return not (self.is_known or self.is_lost)


class StoreObject(NamedTuple):
    """An object in a remote store."""

    key: str
    """Its name."""
    size: int
    """Its size in bytes."""
    modified_ms: int | None = None
    """When it was written, in ms since 1970; None if the listing does not say."""


class SegmentObjects(NamedTuple):
    """The objects of one remote segment."""

    start_offset: Offset
    """The first offset, by their names; 0 if these do not tell."""
    sizes: dict[str, int]
    """Their sizes in bytes, by suffix."""
    modified_ms: int | None = None
    """When the last of them was written; None if that is not known."""
    topic_id: str | None = None
    """The id of its topic; None if the names do not tell."""


class StoredEpochs(NamedTuple):
    """The epoch index of a remote segment in the store."""

    key: str
    """The object, or the manifest of an encrypted segment."""
    data: bytes | None
    """The bytes of a leader-epoch-checkpoint; None if encrypted."""


class StoredLog(NamedTuple):
    """The remote part of a partition, with the objects of the store."""

    topic: str
    """The topic."""
    partition: int
    """The partition."""
    remote: RemoteLog
    """Its remote part."""
    objects: Mapping[str, SegmentObjects]
    """All objects of the store, by segment id."""
    now_ms: int
    """When the store was listed, in ms since 1970."""
    suffixes: frozenset[str] | None = None
    """The suffixes that a segment needs; None if the objects of a segment show it."""
    wrong_sizes: Mapping[str, int] = {}
    """The sizes of `.log` objects by their manifests where the store has others, by segment id."""
    in_tables: bool = False
    """True if the store has segments in Iceberg tables alone."""
    is_left: bool = False
    """True if no broker uses the segments, because the topic is deleted or left remote storage."""


class Store(NamedTuple):
    """A remote store, and the segments that metadata names."""

    place: str
    """The folder, URL or listing."""
    objects: Mapping[str, SegmentObjects]
    """The objects, by segment id."""
    named: Mapping[str, int]
    """The segments in `__remote_log_metadata`, by id, each with its place among all."""
    is_complete: bool
    """True if every partition of `__remote_log_metadata` was read, or is lost."""
    topic_ids: frozenset[str]
    """The ids of all topics that the clusters have, as far as their metadata is given."""
    now_ms: int
    """When it was listed, in ms since 1970."""
    metadata_partitions: int | None = None
    """Number of partitions of `__remote_log_metadata`; None if not known."""
    metadata_topic_id: str | None = None
    """The id of that topic; None if it is not known."""
    has_tables: bool = False
    """True if segments are in Iceberg tables."""
    lost_metadata: Mapping[int, Offset] = {}
    """Those of its partitions without a record, each with its highest high watermark in a checkpoint."""
