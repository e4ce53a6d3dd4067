"""What rules look at and what JSON shows: the facts of one file, one partition directory, one log dir.

A value that kcheck has not seen is None. Offsets and sizes are as Kafka counts them: offsets of records, bytes.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from kcheck.model.entries import Batch, Epoch, EpochEntries, Offset
from kcheck.model.finding import Location
from kcheck.model.names import CLUSTER_METADATA, COMPACTED, DirectoryState
from kcheck.model.parsed import BrokerReads, Parsed
from kcheck.model.producers import ProducersView
from kcheck.model.segments import SegmentView


class FileView(NamedTuple):
    """A small file that was parsed whole: `kind` and `name` as in `kcheck.formats`, `size` in bytes.

    `reads` is what the broker's own reader makes of it, None where it has none.
    """

    kind: str
    name: str
    where: Location
    size: int
    parsed: Parsed[Any]
    reads: BrokerReads[Any] | None = None

    @property
    def refusal(self) -> str | None:
        """The error of the broker's own reader; None where it takes the file, or there is no such reader."""
        return None if self.reads is None else self.reads.error


class SegmentSummary(NamedTuple):
    """One `.log`: `end_offset` is the next offset after its last batch; None in a column: not looked at."""

    base_offset: Offset
    size: int
    end_offset: Offset | None = None
    batches: int | None = None
    max_timestamp: int | None = None


class PartitionView(NamedTuple):
    """One partition directory as it lies.

    `recovery_point`, `high_watermark` and `log_start_checkpoint` are the checkpoints' values of its log dir, None where
    there is no entry or no log dir around it; `log_start_offset` is the broker's rule, the larger of checkpoint and
    first segment, the checkpoint alone of a log in remote storage. `log_end_offset` is where valid batches end, None
    where that could not be found. `last_batch` is the last batch seen on the way there. `index_size` is that of the
    last segment's offset index, if a start after a clean stop finds the log end by it: its last entry leads to batches
    that rise to the end of the file, and no file is a link; None otherwise. `clean_shutdown` is None where the
    directory stands alone, `cleaned` tells whether cleaner-offset-checkpoint names it, None where that is not known.
    `files` are the names of its files, and those of `directories` that a broker opens as a file; `directories` are
    those that have the name of a file of Kafka's. `read` are the segments that were read from their start, None where
    none was to be, `producers` what their batches tell of producers, `swaps` the `.log.swap` files, read likewise.
    """

    where: Location
    topic: str
    partition: int
    state: DirectoryState
    topic_id: str | None = None
    log_start_checkpoint: Offset | None = None
    log_start_offset: Offset | None = None
    recovery_point: Offset | None = None
    high_watermark: Offset | None = None
    log_end_offset: Offset | None = None
    size: int = 0
    epochs: FileView | None = None
    metadata: FileView | None = None
    segments: tuple[SegmentSummary, ...] = ()
    last_batch: Batch | None = None
    index_size: int | None = None
    clean_shutdown: bool | None = None
    cleaned: bool | None = None
    files: frozenset[str] = frozenset()
    directories: frozenset[str] = frozenset()
    read: tuple[SegmentView, ...] | None = None
    producers: ProducersView | None = None
    swaps: tuple[SegmentView, ...] = ()

    @property
    def leader_epochs(self) -> EpochEntries:
        """The entries of leader-epoch-checkpoint that could be read, in the order of the file."""
        return () if self.epochs is None else tuple(self.epochs.parsed.value.entries)

    @property
    def is_compacted(self) -> bool:
        """Whether cleaner-offset-checkpoint names it, or its topic is always compacted."""
        return bool(self.cleaned) or self.topic in COMPACTED

    @property
    def is_read(self) -> bool:
        """Whether every segment was read from its start."""
        return self.read is not None and len(self.read) == len(self.segments)

    @property
    def is_replica(self) -> bool:
        """Whether it is compared with those on other brokers; no broker leads the log of KRaft."""
        return self.state is DirectoryState.CURRENT and not self.is_metadata_log

    @property
    def is_metadata_log(self) -> bool:
        """Whether this is the log of KRaft: every start reads it from its first batch on, whatever checkpoints say.

        KafkaMetadataLog.apply 2.8 to 4.3.1: recoveryPoint 0, lastShutdownClean false. It follows no high watermark.
        """
        return self.topic == CLUSTER_METADATA


class LogDirView(NamedTuple):
    """One entry of `log.dirs`: its small files by name, its partitions, and the directories that are none.

    `files` holds the four offset checkpoints, meta.properties and .kafka_cleanshutdown where they exist;
    `unparseable` the names of directories that the broker cannot parse, also of those that a link leads to; `blocked`
    those of what stands where a partition directory would and is none; `locked_by` the process that holds `.lock`;
    `of_kraft`: the metadata of the cluster say that the broker runs with KRaft, whatever meta.properties looks like.
    """

    where: Location
    cluster_id: str | None = None
    directory_id: str | None = None
    clean_shutdown: bool = False
    files: Mapping[str, FileView] = {}
    partitions: tuple[PartitionView, ...] = ()
    unparseable: tuple[str, ...] = ()
    blocked: tuple[str, ...] = ()
    locked_by: int | None = None
    of_kraft: bool = False


class Different(NamedTuple):
    """Batches of the same offsets and epoch that are not the same in two replicas; the first of them, and how many."""

    one: Location
    other: Location
    base_offset: Offset
    last_offset: Offset
    epoch: Epoch
    batches: int


class ReplicasView(NamedTuple):
    """The replicas of one partition on several brokers, by broker id, and where their records differ.

    `different` is empty where batches were not compared. `replica_count_of_topic` is the largest number of replicas
    that a partition of the topic has on these brokers. `parted` tells of each replica but the first from which offset
    on its epochs are not those of the first one; None as a whole where nobody has compared them yet.
    """

    replicas: tuple[PartitionView, ...]
    different: tuple[Different, ...] = ()
    replica_count_of_topic: int = 0
    parted: tuple[Offset | None, ...] | None = None
