"""Holds the predicted next start of a log dir and of each partition directory in it.

`kcheck.startup` makes the values; predict, truncation, repair and the fleet read them.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from kcheck.core.start.startup import LOADS_ALONE, NEXT_STARTS, NOT_LOADED, Mode, Outcome
from kcheck.core.sums import known_sum
from kcheck.model.entries import EpochEntries, Offset
from kcheck.model.loss import BatchFaults, LostRecords
from kcheck.model.names import CLUSTER_METADATA, DirectoryState, PartitionDirectory
from kcheck.model.unreadable import Unreadable
from kcheck.model.views import LogDirView
from kcheck.words import counted, record_count


class Content(NamedTuple):
    """The content of a file: `filled` bytes, then zeros up to `size`."""

    size: int
    """The size of the file in bytes."""
    file: str | None = None
    """The name of the file with the bytes, in the directory on disk; None if they are in `data`."""
    begin: int = 0
    """The position in `file` where the bytes begin."""
    filled: int = 0
    """Number of bytes before the zeros."""
    data: bytes = b""
    """The bytes, if `file` is None."""
    certain: bool = True
    """False if the bytes depend on the clock or on other nodes."""
    patches: tuple[tuple[int, bytes], ...] = ()
    """Changes to the bytes of `file`, as position and new bytes."""

    @property
    def is_of_disk(self) -> bool:
        """True if the bytes before the zeros are the first ones of a file on disk, as they are there."""
        return self.file is not None and not self.begin and not self.patches

    def resized(self, size: int) -> "Content":
        """Return the file truncated, or extended with zeros."""
        filled = min(self.filled, size)
        return self._replace(size=size, filled=filled, data=self.data[:filled])


def new_content(data: bytes, *, certain: bool = True) -> Content:
    """Return a file of these bytes."""
    return Content(len(data), filled=len(data), data=data, certain=certain)


class Changes(NamedTuple):
    """The changes of the files of a directory, by file name."""

    created: tuple[str, ...] = ()
    """New files."""
    changed: tuple[str, ...] = ()
    """Files with other bytes afterwards."""
    removed: tuple[str, ...] = ()
    """Files that it deletes."""
    renamed: tuple[tuple[str, str], ...] = ()
    """Files that it renames, as old and new name."""
    unknown: tuple[str, ...] = ()
    """Files whose new content depends on the clock or on other nodes."""

    @property
    def any(self) -> bool:
        """True if the broker changes any file when it starts."""
        return any(self)


class LogCut(NamedTuple):
    """The removed part of one segment, from a position to the end of the file."""

    name: str
    """The name of the `.log` file."""
    base_offset: Offset
    """The segment's base offset."""
    end_offset: Offset
    """The offset after the last batch that stays."""
    position: int
    """The size of the `.log` after the truncation, in bytes."""
    size: int
    """Its size before the truncation, in bytes."""
    why: str
    """The reason in words."""
    next_base: Offset | None = None
    """The base offset of the next segment before the truncation; None without a next segment."""


class LoadedLog(NamedTuple):
    """A log that the broker has loaded."""

    log_start_offset: Offset
    """Its first offset."""
    log_end_offset: Offset
    """The offset after its last record."""
    recovery_point: Offset
    """The offset below which a later recovery need not read it."""
    leader_epochs: EpochEntries
    """Its leader epoch cache."""
    unstable: bool
    """True if it has a first unstable offset, because a transaction is open or ended during the load."""
    bases: tuple[int, ...]
    """The base offsets of its segments, ascending."""
    cuts: tuple[LogCut, ...] = ()
    """The removed parts of its segments."""
    rescanned: int = 0
    """Number of bytes that the broker reads to recover it."""
    reasons: tuple[str, ...] = ()
    """The reasons for the changes, in words."""
    first_unstable: Offset | None = None
    """The first offset of the first transaction that is open, or that ends at the high watermark or above.

    None without one, and for a release that never looks it up in a log that it truncates.
    """


def total_loss(losses: Iterable[LostRecords]) -> LostRecords | None:
    """Return several losses as one; None if no records are lost."""
    real = [loss for loss in losses if loss.records != 0]
    if not real:
        return None
    records = known_sum(loss.records for loss in real)
    is_open = any(loss.start is not None and loss.end is None for loss in real)
    return LostRecords(
        start=min((loss.start for loss in real if loss.start is not None), default=None),
        end=None if is_open else max((loss.end for loss in real if loss.end is not None), default=None),
        records=records,
        bytes=sum(loss.bytes for loss in real),
        below_high_watermark=known_sum(loss.below_high_watermark for loss in real),
        counted=sum(loss.at_least for loss in real) if records is None else 0,
    )


def records_words(losses: Collection[LostRecords]) -> str:
    """Return how many records several losses are together."""
    at_most = known_sum(loss.at_most if loss.records is None else loss.records for loss in losses)
    return record_count(known_sum(loss.records for loss in losses), sum(loss.at_least for loss in losses), at_most)


def stops_serving(outcome: str, name: str) -> bool:
    """Return whether a broker with this outcome for a directory of that name stops serving its partition."""
    was_served = not name.endswith("-stray")
    return _is_unknown_replica(outcome, name) or (outcome == Outcome.STRAY and was_served)


def _is_unknown_replica(outcome: str, name: str) -> bool:
    """Return whether the broker deletes a directory without -delete, because the cluster does not know the replica."""
    return outcome == Outcome.DELETED and not name.endswith("-delete")


class PartitionPrediction(NamedTuple):
    """The next start of one partition directory."""

    dir: str
    """The name of the directory."""
    directory: PartitionDirectory
    """The topic, partition and state in that name."""
    outcome: Outcome
    """Its outcome."""
    reason: str | None
    """The reason, in words; None if there is nothing to say."""
    log: LoadedLog | None = None
    """The loaded log; None if the broker does not load it."""
    high_watermark: Offset | None = None
    """The high watermark that the replica starts with; None if it is not known."""
    lost: LostRecords | None = None
    """The records it loses; None if it loses none."""
    scan_bytes: int = 0
    """Number of bytes that the broker reads to recover it."""
    changes: Changes = Changes()
    """The changes of its files."""
    after: Mapping[str, Content] = {}
    """Its files after the broker has started, by name; empty without a simulated start."""
    fails_later: bool = False
    """True if its log dir goes offline as soon as the broker runs."""
    uncertain: str | None = None
    """The other facts that count, if the files alone do not decide; None if they do."""
    later_use: str | None = None
    """The reason why the broker reads the log or renames the directory after loading; None if it does neither.

    This fails while the log dir waits to go offline.
    """
    unread: Unreadable | None = None
    """The reason why kcheck could not read the directory; None if it could."""
    promoted: bool = False
    """True if it is a future log that replaces the current one."""
    whole: LostRecords | None = None
    """All records of a directory that no broker serves: -future, -stray, -delete or of no topic; None without any."""
    topic_id: str | None = None
    """The topic id in its partition.metadata; None without one, or if the broker does not load it."""
    gaps: tuple[tuple[Offset, Offset], ...] | None = None
    """The offsets `[start, end)` between two segments of its log that neither holds; None if kcheck did not look."""
    batches: BatchFaults | None = None
    """The faults of its batches; None if they were not read."""
    unproven: LostRecords | None = None
    """Removed bytes that no header, segment or high watermark shows to be records."""

    @property
    def replica_log(self) -> LoadedLog | None:
        """The loaded log of a replica; None if the directory has another name or holds the metadata log."""
        is_current = self.directory.state is DirectoryState.CURRENT
        return self.log if is_current and self.directory.topic != CLUSTER_METADATA else None

    @property
    def is_unknown_replica(self) -> bool:
        """True if the broker deletes the directory, because the cluster does not know the replica."""
        return _is_unknown_replica(self.outcome, self.dir)

    @property
    def is_set_aside(self) -> bool:
        """True if the broker stops serving the partition when it starts, although it loads it."""
        return stops_serving(self.outcome, self.dir)


class LogDirVerdict(NamedTuple):
    """The next start of a log dir."""

    outcome: Outcome
    """ABORT, OFFLINE, UNKNOWN, or OK: the broker loads it."""
    lost: tuple[LostRecords, ...] = ()
    """The loss of its partitions."""
    unserved: int = 0
    """Number of partitions that the broker stops serving."""
    alone: bool = False
    """True for a partition directory outside of a log dir, which shows nothing of a broker."""

    @property
    def words(self) -> str:
        """The verdict in words, as `will boot but lose 1 record`."""
        effects = []
        start = LOADS_ALONE if self.alone and self.outcome is Outcome.OK else NEXT_STARTS[self.outcome]
        if self.lost:
            effects.append(f"lose {records_words(self.lost)}")
        if self.unserved:
            effects.append(f"not serve {counted(self.unserved, 'partition')}")
        return f"{start}{' but ' if effects else ''}{' and '.join(effects)}"


class LogDirPrediction(NamedTuple):
    """The next start of a log dir."""

    path: str
    """The log dir."""
    broker_id: int | None
    """Its broker; None if it is not known."""
    outcome: Outcome
    """Its outcome."""
    reasons: tuple[str, ...]
    """The reasons why it is not loaded; the first one counts."""
    clean: bool
    """True if the last shutdown was clean."""
    mode: Mode
    """The place of the cluster's metadata."""
    uncertain: str | None
    """Other possible outcomes, if the files do not decide; None if they do."""
    partitions: tuple[PartitionPrediction, ...]
    """Its partition directories."""
    view: LogDirView | None = None
    """The log dir as kcheck read it; None if the path has no partition to load."""
    broker: object = None
    """A key that all log dirs of one broker share, whatever their broker ids; None for an unknown broker."""
    unread: bool = False
    """True if kcheck could not read all of it."""
    alone: bool = False
    """True for a partition directory outside of a log dir."""

    @property
    def node(self) -> str:
        """Its node, as `broker 1` or `controller 100`; empty if the id is not known."""
        kind = "controller" if self.view is not None and self.view.of_controller else "broker"
        return "" if self.broker_id is None else f"{kind} {self.broker_id}"

    @property
    def shutdown_epoch(self) -> int | None:
        """The broker epoch in its .kafka_cleanshutdown; None without one."""
        return None if self.view is None else self.view.shutdown_epoch

    @property
    def lost_records(self) -> int | None:
        """Number of records that its loaded partitions lose; None if that is not known."""
        verdict = self.judged
        return None if verdict.outcome is Outcome.UNKNOWN else known_sum(lost.records for lost in verdict.lost)

    @property
    def judged(self) -> LogDirVerdict:
        """The verdict; the losses of partitions count only if the broker loads the log dir."""
        if self.outcome in NOT_LOADED:
            return LogDirVerdict(self.outcome)
        if self.unread or any(partition.outcome is Outcome.UNKNOWN for partition in self.partitions):
            return LogDirVerdict(Outcome.UNKNOWN)
        lost = tuple(partition.lost for partition in self.partitions if partition.lost is not None)
        return LogDirVerdict(Outcome.OK, lost, sum(partition.is_set_aside for partition in self.partitions), self.alone)

    @property
    def verdict(self) -> str:
        """The verdict in words, as in JSON."""
        return self.judged.words
