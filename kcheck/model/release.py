"""Which of Kafka's behaviours a release has. The table that fills these values is `kcheck.core.releases`."""

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple


class CheckpointReader(StrEnum):
    """How a release line reads the text checkpoints (CheckpointFile, OffsetCheckpoint up to 0.10.2)."""

    R1 = "R1"
    """0.8.2 to 0.9.0: any number that does not parse raises NumberFormatException; the count is of distinct keys."""
    R2 = "R2"
    """0.10: a number that does not parse raises IOException; the count is of distinct keys."""
    R3 = "R3"
    """0.11: the count is of lines; UTF-8, undecodable bytes replaced."""
    R4 = "R4"
    """1.0 to 2.0: as R3; a failed read takes the log dir offline."""
    R5 = "R5"
    """2.1 to 3.0: as R4, UTF-8 strict."""
    R6 = "R6"
    """3.1 and later: NumberFormatException of an entry escapes; a negative or huge count fails when it is read."""


class EpochLoad(StrEnum):
    """What a release line does to leader-epoch-checkpoint when it loads a log (LeaderEpochFileCache, LogLoader)."""

    E0 = "E0"
    """Up to 0.10.2: there is no such file."""
    E1 = "E1"
    """0.11 to 2.6: lines as they stand; cut at the log end; raised to max(log-start checkpoint, first segment)."""
    E2 = "E2"
    """2.7 and 2.8: lines replayed through `assign`; otherwise as E1."""
    E3 = "E3"
    """3.0 to 3.9: as E2, but raised to the log-start checkpoint alone."""
    E4 = "E4"
    """4.0 and later: as E3; every log has a cache, whatever its message format."""


class Assign(StrEnum):
    """How `LeaderEpochFileCache.assign` treats an entry that contradicts the cache."""

    IGNORE = "ignore"
    """Up to 2.0.0: the newcomer is ignored with a warning."""
    FILTER = "filter"
    """2.0.1 to 2.6: every contradicting entry is removed."""
    POP = "pop"
    """2.7 and later: contradicting entries are removed from the end."""


class Lookup(StrEnum):
    """The variants of `LeaderEpochFileCache.endOffsetFor`."""

    L1A = "L1a"
    """Offset only; an undefined epoch asked of an empty cache gives the log end (KAFKA-6857)."""
    L1B = "L1b"
    """Offset only."""
    L2 = "L2"
    """2.0.0: with the epoch (KIP-279); an epoch below the earliest is undefined."""
    L3 = "L3"
    """2.0.1 and later: an epoch below the earliest ends where the earliest starts (KAFKA-7415)."""


class Follower(StrEnum):
    """How a follower finds its truncation offset."""

    HIGH_WATERMARK = "high_watermark"
    KIP101 = "kip101"
    KIP279 = "kip279"
    FETCH = "fetch"


class Profile(StrEnum):
    """A named combination of lookup, follower and election behaviour."""

    P0 = "P0"
    P1A = "P1a"
    P1B = "P1b"
    P2 = "P2"
    P3 = "P3"
    P4 = "P4"
    P4V0 = "P4v0"
    P5 = "P5"
    P5_280 = "P5_280"


class HashTable(StrEnum):
    """What a release keeps producers in, whose order is that of a snapshot."""

    SCALA_2_12 = "scala-2.12"
    """scala.collection.mutable.HashMap of Scala 2.11 and 2.12."""
    SCALA_2_13 = "scala-2.13"
    """scala.collection.mutable.HashMap of Scala 2.13."""
    JAVA = "java"
    """java.util.HashMap, filled by put."""
    JAVA_COMPUTED = "java-computed"
    """java.util.HashMap, filled by computeIfAbsent."""


class ProfileRules(NamedTuple):
    """What a profile does (KIP-101, KIP-279, KAFKA-7415, KAFKA-10706, KIP-595's truncation on fetch)."""

    lookup: Lookup
    follower: Follower
    reply_carries_epoch: bool = True
    assigns_epoch_at_election: bool = False
    noop_truncation_cleans_cache: bool = False
    checks_log_start_before_divergence: bool = True


_METADATA_VERSION_MAX: Mapping[tuple[int, ...], int] = {
    (3, 3): 7, (3, 4): 8, (3, 5): 11, (3, 6): 14, (3, 7): 20, (3, 8): 21, (3, 9): 23,
}  # fmt: skip


class Release(NamedTuple):
    """One release of Kafka, as `--kafka`, `--ibp` and `--message-format` select it.

    `name` is the version as it was asked for, `version` the release that decides (the newest of its line where only a
    line was named). `epoch_cache` is False where the message format leaves a log without one.
    """

    name: str
    version: tuple[int, ...]
    profile: Profile
    rules: ProfileRules
    lookup: Lookup | None
    reader: CheckpointReader
    epoch_load: EpochLoad
    assign: Assign
    epoch_cache: bool

    @property
    def high_watermark_floor_is_log_start(self) -> bool:
        """From 2.4 a loaded high watermark is raised to the log start (Partition.createLog)."""
        return self.version >= (2, 4)

    @property
    def truncation_lowers_high_watermark(self) -> bool:
        """From 2.4 a truncation below the high watermark lowers it at once (Log.truncateTo)."""
        return self.version >= (2, 4)

    @property
    def wipes_log_start_above_log_end(self) -> bool:
        """From 2.2.1 a log whose log-start checkpoint is above its log end loses every segment (KAFKA-8306)."""
        return self.version >= (2, 2, 1)

    @property
    def searches_by_base_offset(self) -> bool:
        """From 4.1 FileRecords searches by base offset (searchForOffsetFromPosition)."""
        return self.version >= (4, 1)

    @property
    def exits_out_of_range_without_unclean_election(self) -> bool:
        """Up to 2.0.0 a follower above its leader's log end ends the process if unclean election is off."""
        return self.version <= (2, 0, 0)

    @property
    def applies_diverging_fetches(self) -> bool:
        """From 2.8.0 to 3.4.0 a follower takes the leader's log start before it truncates on fetch (KAFKA-14704)."""
        return (2, 8) <= self.version < (3, 4, 1)

    @property
    def begins_empty_log_with_batch(self) -> bool:
        """In 1.0.2 and from 1.1.1 an empty log begins where its first batch does, if below its end (KAFKA-6975)."""
        return self.version >= (1, 0, 2) and self.version != (1, 1, 0)

    @property
    def fences_by_current_leader_epoch(self) -> bool:
        """From 2.1 a request names the leader epoch it believes in (KIP-320)."""
        return self.version >= (2, 1)

    @property
    def reads_zstd(self) -> bool:
        """From 2.1 batches compressed with zstd are read (KIP-110, CompressionType.forId)."""
        return self.version >= (2, 1)

    @property
    def has_partition_metadata(self) -> bool:
        """From 2.8 a partition directory holds partition.metadata (KIP-516)."""
        return self.version >= (2, 8)

    @property
    def compares_topic_ids(self) -> bool:
        """From 3.0 a log that names another topic id is no replica; 2.8 does not look at the logs of a start.

        ReplicaManager.hasConsistentTopicId, Partition.topicId 3.0.0 to 3.9.2, LogManager.isStrayKraftReplica 3.7.1 to
        4.2.1, isStrayReplica 4.3.1; Partition.checkOrSetTopicId 2.8.2.
        """
        return self.version >= (3,)

    @property
    def takes_log_dirs_offline(self) -> bool:
        """From 1.0 an I/O error takes its log dir offline; before, it ends the broker (KIP-112)."""
        return self.version >= (1,)

    @property
    def removes_marker_first(self) -> bool:
        """From 2.8 a start removes the mark of a clean stop before it lists partitions; before, after their load."""
        return self.version >= (2, 8)

    @property
    def has_log_start_checkpoint(self) -> bool:
        """From 0.11 a log dir holds log-start-offset-checkpoint (KIP-107)."""
        return self.version >= (0, 11)

    @property
    def metadata_version_max(self) -> int | None:
        """From 3.3 to 3.9 a bootstrap.checkpoint with a metadata.version newer than it knows ends the start."""
        return _METADATA_VERSION_MAX.get(self.version[:2])

    @property
    def finishes_swaps_by_renaming(self) -> bool:
        """From 3.0 a start removes what a `.swap` replaces, and renames it; before, it reads it (KAFKA-12520)."""
        return self.version >= (3,)

    @property
    def reads_batches(self) -> bool:
        """From 0.11 a broker reads batches of version 2 (KIP-98); before, they are messages of a wrong CRC."""
        return self.version >= (0, 11)

    @property
    def has_producer_state(self) -> bool:
        """From 0.11 a start learns of producers and writes snapshots of them (KIP-98)."""
        return self.version >= (0, 11)

    @property
    def checks_indexes(self) -> bool:
        """Up to 2.2 a start opens each index and recovers the segments of those that fail a check (KAFKA-7283)."""
        return self.version < (2, 3)

    @property
    def makes_missing_indexes(self) -> bool:
        """From 1.1 to 2.2 a start makes a missing `.index` empty; before and after, it recovers the segment."""
        return (1, 1) <= self.version < (2, 3)

    @property
    def deletes_failing_indexes(self) -> bool:
        """Up to 1.0 a start deletes all indexes of a segment of which one fails a check."""
        return self.version < (1, 1)

    @property
    def empties_unwritable_segments(self) -> bool:
        """From 4.0 a segment is emptied if an I/O error ends its recovery; before, its log dir goes offline."""
        return self.version >= (4,)

    @property
    def refuses_large_logs(self) -> bool:
        """From 2.1 on a `.log` with more bytes than an int counts is not opened; before, the bytes are cast to one."""
        return self.version >= (2, 1)

    @property
    def splits_segments(self) -> bool:
        """From 2.0 a recovery indexes last offsets, and splits a segment that one does not fit into (KAFKA-6264)."""
        return self.version >= (2,)

    @property
    def splits_batch_by_batch(self) -> bool:
        """From 3.9.1, but for 4.0.0, a split is indexed batch by batch; before, by pieces of 1 MiB."""
        return self.version >= (3, 9, 1) and self.version != (4, 0, 0)

    @property
    def recovers_epoch_zero(self) -> bool:
        """From 2.1.1 to 2.6.0 a recovery does not take epoch 0 (LogSegment.recover)."""
        return not (2, 1, 1) <= self.version < (2, 6, 1)

    @property
    def finds_nothing_in_nothing(self) -> bool:
        """From 2.5.1 an empty range of offsets has no segments: none is recovered from the largest offset on."""
        return self.version >= (2, 5, 1)

    @property
    def needs_segment_to_delete(self) -> bool:
        """In 2.2.1 a directory whose name ends in -delete and that has no segment ends the start."""
        return self.version == (2, 2, 1)

    @property
    def keeps_wiped_snapshots(self) -> bool:
        """In 3.0 the snapshots of a log that loses every segment are renamed, as its segments are."""
        return (3,) <= self.version < (3, 1)

    @property
    def keeps_snapshot_per_segment(self) -> bool:
        """From 2.8 each segment keeps its snapshot of producers, and what belongs to none goes (KAFKA-9393)."""
        return self.version >= (2, 8)

    @property
    def replays_with_snapshots(self) -> bool:
        """Up to 1.1 a replay of producers at the start writes a snapshot for each segment, and none at the log end."""
        return self.version < (2,)

    @property
    def replays_below_log_end(self) -> bool:
        """Up to 2.3 a replay of producers bounds each segment by the log end, not the last one alone."""
        return self.version < (2, 4)

    @property
    def refuses_transactions_behind_log_end(self) -> bool:
        """From 2.4 to 3.7 a transaction that begins behind the log end ends the start."""
        return (2, 4) <= self.version < (3, 8)

    @property
    def forgets_producers_below_log_start(self) -> bool:
        """Up to 2.3 a producer of a snapshot whose last record lies below the log start is forgotten (KAFKA-7190)."""
        return self.version < (2, 4)

    @property
    def refuses_old_markers(self) -> bool:
        """Up to 2.4.0 a marker with an older epoch of its producer or coordinator ends the start (KAFKA-9144)."""
        return self.version < (2, 4, 1)

    @property
    def refuses_empty_control_batches(self) -> bool:
        """Up to 1.1 a control batch without a record ends the start."""
        return self.version < (2,)

    @property
    def ends_unopened_transactions(self) -> bool:
        """Up to 2.7 a marker ends a transaction, even where none is open."""
        return self.version < (2, 8)

    @property
    def marker_tells_timestamp(self) -> bool:
        """In 0.11 and from 2.4.1 on a marker gives its producer its timestamp."""
        return self.marker_is_batch or self.version >= (2, 4, 1)

    @property
    def marker_is_batch(self) -> bool:
        """In 0.11 a marker counts as the last batch of its producer."""
        return self.version < (1,)

    @property
    def producer_table(self) -> HashTable:
        """Up to 2.3 a hash table of Scala 2.12 orders the producers of a snapshot, to 3.4 one of 2.13, then Java's."""
        if self.version < (2, 4):
            return HashTable.SCALA_2_12
        return HashTable.SCALA_2_13 if self.version < (3, 5) else HashTable.JAVA

    @property
    def replay_table(self) -> HashTable:
        """Up to 3.9 a hash table of Scala orders the producers that a replay finds in a segment, then Java's."""
        if self.version < (2, 4):
            return HashTable.SCALA_2_12
        return HashTable.SCALA_2_13 if self.version < (4,) else HashTable.JAVA_COMPUTED

    @property
    def replays_recovery_anew(self) -> bool:
        """Up to 2.7 each segment that is replayed before a recovery begins as if no producer was known."""
        return self.version < (2, 8)

    @property
    def own_transactions_are_unstable(self) -> bool:
        """Up to 2.2.0 another open transaction of the same producer bounds the last stable offset too."""
        return self.version < (2, 2, 1)

    @property
    def counts_by_sequence(self) -> bool:
        """Up to 2.1.0 sequences, not offsets, tell how long a producer's batch is."""
        return self.version < (2, 1, 1)

    @property
    def drops_swaps_of_unfinished_splits(self) -> bool:
        """From 2.0 a `.swap` not below the lowest `.cleaned` is removed (KAFKA-6264)."""
        return self.version >= (2,)

    @property
    def keeps_swapped_indexes(self) -> bool:
        """From 1.1 an `.index.swap` is no more removed at the start (Log.removeTempFilesAndCollectSwapFiles)."""
        return self.version >= (1, 1)
