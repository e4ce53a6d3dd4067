"""What a start of the broker decides by names and numbers alone: LogManager, LogLoader 3.0 to 4.3.1, Log up to 2.8."""

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from kcheck.errors import UsageError
from kcheck.model.entries import Offset
from kcheck.model.java import LONG_MAX, java_int, java_long
from kcheck.model.names import CLEANED, CLEANER_OFFSET, DELETED, LOG_START, RECOVERY_POINT, REPLICATION_OFFSET, SWAP
from kcheck.model.release import Release


class Outcome(StrEnum):
    """What becomes of a log dir or of one partition in it."""

    OK = "ok"
    """It is loaded; its files may change as those of every log do."""
    REPAIRED = "repaired"
    """It is loaded, and the start mends something: no record is lost."""
    LOST = "lost"
    """It is loaded without records that stand in its files now."""
    STRAY = "stray"
    """It is loaded, and then set aside: nobody serves it."""
    DELETED = "deleted"
    """It is deleted soon after the start."""
    OFFLINE = "offline"
    """Its log dir is taken offline because of it."""
    ABORT = "abort"
    """The start of the whole broker ends because of it."""
    UNKNOWN = "unknown"
    """The start reads it through, which nobody did."""


NEXT_STARTS: Mapping[Outcome, str] = {
    Outcome.ABORT: "will not boot",
    Outcome.OFFLINE: "will go offline",
    Outcome.UNKNOWN: "not known",
    Outcome.LOST: "will boot but lose records",
    Outcome.OK: "will boot",
}
"""What is said of a log dir, or of a broker, the worst first."""


class Mode(StrEnum):
    """Who keeps the metadata of the cluster."""

    KRAFT = "kraft"
    ZOOKEEPER = "zk"


class Settings(NamedTuple):
    """The settings of a broker that change what a start does; sizes in bytes.

    `mode` is None where nothing was said: then what is in the log dir tells. `index_size_said`: segment.index.bytes
    counts for every topic, whatever the indexes of a log tell of its own. `remote_storage` is None where nothing was
    said.
    """

    mode: Mode | None = None
    segment_index_bytes: int = 10 << 20
    index_interval_bytes: int = 4096
    segment_bytes: int = 1 << 30
    preallocate: bool = False
    remote_storage: bool | None = None
    index_size_said: bool = False


_SIZES = {
    "segment.index.bytes": "segment_index_bytes",
    "log.index.size.max.bytes": "segment_index_bytes",
    "index.interval.bytes": "index_interval_bytes",
    "log.index.interval.bytes": "index_interval_bytes",
    "segment.bytes": "segment_bytes",
    "log.segment.bytes": "segment_bytes",
}
INDEX_SIZE = frozenset(name for name, field in _SIZES.items() if field == "segment_index_bytes")
"""The names of segment.index.bytes."""
_FLAGS = {
    "preallocate": "preallocate",
    "log.preallocate": "preallocate",
    "remote.log.storage.system.enable": "remote_storage",
}
"""What the settings of a topic, and those of a broker, are called."""
SETTINGS = (*_SIZES, *_FLAGS, "mode", "process.roles", "zookeeper.connect", "log.dirs", "log.dir")
"""Those that change what a start does; a broker has many others."""


def settings(config: Mapping[str, str], release: Release) -> Settings:
    """Return what server.properties says of it, names of topic settings allowed; UsageError for a bad value.

    `process.roles` tells that the broker is of KRaft, `zookeeper.connect` that it is not; `mode` (kraft, zk) says it
    outright.
    """
    flags = {_FLAGS[name]: value.strip().lower() == "true" for name, value in config.items() if name in _FLAGS}
    if "log.dirs" in config or "log.dir" in config:
        flags = {"remote_storage": False, **flags}  # The whole server.properties is here.
    sizes = {_SIZES[name]: _size(name, value) for name, value in config.items() if name in _SIZES}
    return Settings(_mode(config, release), **sizes)._replace(**flags)  # type: ignore[arg-type]  # by their tables


def _size(name: str, value: str) -> int:
    number = java_int(value.strip())
    if number is None or number < 0:
        raise UsageError(f"{name}={value} is no number of bytes")
    return number


def _mode(config: Mapping[str, str], release: Release) -> Mode | None:
    said = config.get("mode", "").strip().lower()
    if said and said not in tuple(Mode):
        raise UsageError(f"mode={said} is not known; known are {', '.join(Mode)}")
    if release.is_kraft_only or said == Mode.KRAFT or not release.has_kraft:
        return Mode.KRAFT if release.has_kraft else Mode.ZOOKEEPER
    if said:
        return Mode.ZOOKEEPER
    # A controller to which a cluster of ZooKeeper migrates has both.
    return Mode.KRAFT if "process.roles" in config else Mode.ZOOKEEPER if "zookeeper.connect" in config else None


def mode_of(said: Mode | None, meta_version: int | None, release: Release) -> Mode:
    """Return who keeps the metadata: what was said, else by the version of meta.properties, which is 1 in KRaft."""
    if said is not None:
        return said
    if meta_version is None:
        return Mode.KRAFT if release.kraft_is_production_ready else Mode.ZOOKEEPER
    return Mode.KRAFT if meta_version >= 1 else Mode.ZOOKEEPER


def nameless(*, mode: Mode, release: Release) -> Outcome:
    """Return what becomes of a log that names no topic: KRaft sets it aside (LogManager.isStrayKraftReplica)."""
    if mode is Mode.KRAFT and release.aborts_on_nameless_logs:
        return Outcome.ABORT
    return Outcome.STRAY if mode is Mode.KRAFT and release.sets_nameless_logs_aside else Outcome.OK


@lru_cache(65_536)  # Each step of a start asks anew.
def offset_of(name: str) -> Offset | None:
    """Return the number that a file's name begins with, None where a broker fails on it (offsetFromFileName)."""
    first, dot, _ = name.partition(".")
    number = java_long(first) if dot else None
    return None if number is None else Offset(number)


class Temporary(NamedTuple):
    """The leftovers in a directory: what is removed at once, which swaps go on, and whose number cannot be read."""

    removed: tuple[str, ...]
    swaps: tuple[str, ...]
    unnumbered: str | None = None


def temporary(names: Iterable[str], release: Release) -> Temporary:
    """Return what the first pass over a directory does (removeTempFilesAndCollectSwapFiles 3.0 to 4.3.1)."""
    names = sorted(names)
    snapshots = f".checkpoint{DELETED}" if release.keeps_deleted_snapshots else ()
    deleted = [name for name in names if name.endswith(DELETED) and not name.endswith(snapshots)]
    cleaned = [name for name in names if name.endswith(CLEANED)]
    swaps = [name for name in names if name.endswith(SWAP)]
    numbers = {name: offset_of(name) for name in (*cleaned, *swaps)}
    unnumbered = next((name for name, number in numbers.items() if number is None), None)
    if unnumbered is not None:
        return Temporary(tuple(deleted), (), unnumbered)
    first = min((numbers[name] or 0 for name in cleaned), default=None)
    if not release.drops_swaps_of_unfinished_splits:
        first = None
    void = [name for name in swaps if first is not None and (numbers[name] or 0) >= first]
    return Temporary((*deleted, *cleaned, *void), tuple(name for name in swaps if name not in void))


def replaced_by_swaps(names: Iterable[str], low: int, high: int) -> tuple[str, ...]:
    """Return the files whose number lies from `low` to below `high`, but for swaps: these take their place."""
    numbered = ((name, offset_of(name)) for name in sorted(names) if not name.endswith(SWAP))
    return tuple(name for name, number in numbered if number is not None and low <= number < high)


def segments_from(bases: Sequence[int], low: int, high: int = LONG_MAX, *, release: Release) -> Sequence[int]:
    """Return the segments that hold offsets from `low` to below `high` (LogSegments.values); `bases` ascend.

    ValueError where the broker throws IllegalArgumentException: `high` lies below the segment of `low`, from 2.5.1
    on below `low`.
    """
    if low == high and release.finds_nothing_in_nothing:
        return ()
    first = max(bisect_right(bases, low) - 1, 0)
    if (bases and high < bases[first] <= low) or (high < low and release.finds_nothing_in_nothing):
        raise ValueError("inconsistent range")
    return bases[first : bisect_left(bases, high)]


def stray_snapshots(offsets: Collection[int], bases: Collection[int]) -> tuple[int, ...]:
    """Return the producer snapshots that a start removes because no segment begins there (removeStraySnapshots).

    The highest of them stays unless it lies below the last segment.
    """
    stray = sorted(offset for offset in offsets if offset not in bases)
    kept = bool(stray) and (not bases or stray[-1] >= max(bases))
    return tuple(stray[:-1] if kept else stray)


def recovery_point(*, at_end: bool, checkpoint: int, end: int, start: int, release: Release) -> int:
    """Return the recovery point of a loaded log (LogLoader.recoverLog, UnifiedLog.updateLogStartOffset).

    `at_end`: the stop was clean and the log end was found. From 1.0 to 2.7 it is the log end always; up to 0.11 the
    checkpoint stays where the stop was not clean. Up to 2.4.0 the log start does not raise it.
    """
    point = end if at_end or release.recovery_moves_recovery_point else checkpoint
    return max(min(point, end), start) if release.bounds_recovery_point else point


class UnreadableOutcome(NamedTuple):
    """What follows from a checkpoint that the broker cannot read; `queued`: the log dir is offline as soon as it runs.

    From 3.0 on a log with an unstable offset that is loaded while the log dir waits to go offline aborts the start.
    """

    outcome: Outcome
    reason: str
    queued: bool = False


IO_ERRORS = ("IOException", "MalformedInputException")
"""What the broker answers by taking the log dir offline, from 1.0."""


def unreadable_checkpoint(name: str, error: str, release: Release) -> UnreadableOutcome | None:
    """Return what an unreadable checkpoint at the top of a log dir does, None where the start goes on without it."""
    reason = f"{name} cannot be read: {error}"
    at_start = name in (RECOVERY_POINT, LOG_START)
    if at_start and (error == "OutOfMemoryError" or release.aborts_on_bad_recovery_point):
        return UnreadableOutcome(Outcome.ABORT, reason)
    if name not in (RECOVERY_POINT, LOG_START, REPLICATION_OFFSET, CLEANER_OFFSET) or error not in IO_ERRORS:
        return None
    if not release.has_offline_log_dirs:
        return None
    return UnreadableOutcome(Outcome.OFFLINE, reason, queued=at_start)


def failed_read(name: str, error: str, release: Release) -> UnreadableOutcome:
    """Return what an unreadable file of a partition does: leader-epoch-checkpoint, partition.metadata.

    A KafkaStorageException takes the log dir offline from 3.2.1 (KAFKA-13773); before, it ends the start.
    """
    offline = error in IO_ERRORS and release.outlives_bad_partition_files
    outcome = Outcome.OFFLINE if offline else Outcome.ABORT
    return UnreadableOutcome(outcome, f"{name} cannot be read: {error}", queued=error in IO_ERRORS)
