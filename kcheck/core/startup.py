"""What a starting broker decides by names and numbers: LogManager, LogLoader 3.0 to 4.3.1, Log up to 2.8."""

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
    """The broker loads it; its files change only as those of every log do."""
    REPAIRED = "repaired"
    """The broker loads it and repairs something; no record is lost."""
    LOST = "lost"
    """The broker loads it without some of the records in its files."""
    STRAY = "stray"
    """The broker loads it, then renames it to -stray and does not serve it."""
    DELETED = "deleted"
    """The broker deletes it soon after the start."""
    OFFLINE = "offline"
    """The broker takes its log dir offline."""
    ABORT = "abort"
    """The whole broker fails to start."""
    UNKNOWN = "unknown"
    """Not known: the start would read it, and kcheck did not or could not."""


NEXT_STARTS: Mapping[Outcome, str] = {
    Outcome.ABORT: "will not boot",
    Outcome.OFFLINE: "will go offline",
    Outcome.UNKNOWN: "not known",
    Outcome.LOST: "will boot but lose records",
    Outcome.OK: "will boot",
}
"""The verdict on a log dir or a broker, the worst first."""


class Mode(StrEnum):
    """Who keeps the metadata of the cluster."""

    KRAFT = "kraft"
    ZOOKEEPER = "zk"


class Settings(NamedTuple):
    """The settings of a broker that change what a start does, with Kafka's defaults."""

    mode: Mode | None = None
    """Who keeps the metadata; None: the log dir tells."""
    segment_index_bytes: int = 10 << 20
    """segment.index.bytes: the full size of an index in bytes."""
    index_interval_bytes: int = 4096
    """index.interval.bytes: the bytes of batches between two index entries."""
    segment_bytes: int = 1 << 30
    """segment.bytes: the size of a preallocated segment in bytes."""
    preallocate: bool = False
    """preallocate: whether new segments get their full size at once."""
    remote_storage: bool | None = None
    """remote.log.storage.system.enable; None: not known."""
    index_size_said: bool = False
    """Whether segment_index_bytes counts for every topic, even where the indexes of a log show another size."""


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
"""The names of these settings for a topic and for a broker."""
SETTINGS = (*_SIZES, *_FLAGS, "mode", "process.roles", "zookeeper.connect", "log.dirs", "log.dir")
"""The settings that change what a start does."""


def settings(config: Mapping[str, str], release: Release) -> Settings:
    """Return the settings in server.properties or of a topic; UsageError for a bad value.

    `process.roles` means KRaft, `zookeeper.connect` ZooKeeper; `mode` (kraft, zk) overrides both.
    """
    flags = {_FLAGS[name]: value.strip().lower() == "true" for name, value in config.items() if name in _FLAGS}
    if "log.dirs" in config or "log.dir" in config:
        flags = {"remote_storage": False, **flags}  # This is a complete server.properties.
    sizes = {_SIZES[name]: _size(name, value) for name, value in config.items() if name in _SIZES}
    return Settings(_mode(config, release), **sizes)._replace(**flags)  # type: ignore[arg-type]  # by their tables


def _size(name: str, value: str) -> int:
    number = java_int(value.strip())
    if number is None or number < 0:
        raise UsageError(f"invalid {name}={value}: expected a number of bytes")
    return number


def _mode(config: Mapping[str, str], release: Release) -> Mode | None:
    mode = config.get("mode", "").strip().lower()
    if mode and mode not in tuple(Mode):
        raise UsageError(f"invalid mode={mode}: expected one of {', '.join(Mode)}")
    if release.is_kraft_only or mode == Mode.KRAFT or not release.has_kraft:
        return Mode.KRAFT if release.has_kraft else Mode.ZOOKEEPER
    if mode:
        return Mode.ZOOKEEPER
    # The controller of a migration from ZooKeeper has both.
    return Mode.KRAFT if "process.roles" in config else Mode.ZOOKEEPER if "zookeeper.connect" in config else None


def mode_of(setting: Mode | None, meta_version: int | None, release: Release) -> Mode:
    """Return who keeps the metadata: by the setting, else by the version of meta.properties, which is 1 in KRaft."""
    if setting is not None:
        return setting
    if meta_version is None:
        return Mode.KRAFT if release.kraft_is_production_ready else Mode.ZOOKEEPER
    return Mode.KRAFT if meta_version >= 1 else Mode.ZOOKEEPER


def nameless(*, mode: Mode, release: Release) -> Outcome:
    """Return what becomes of a log without a topic id: KRaft sets it aside (LogManager.isStrayKraftReplica)."""
    if mode is Mode.KRAFT and release.aborts_on_nameless_logs:
        return Outcome.ABORT
    return Outcome.STRAY if mode is Mode.KRAFT and release.sets_nameless_logs_aside else Outcome.OK


@lru_cache(65_536)  # Each step of a start parses the names again.
def offset_of(name: str) -> Offset | None:
    """Return the number at the start of a file name, None where a broker fails on it (offsetFromFileName)."""
    first, dot, _ = name.partition(".")
    number = java_long(first) if dot else None
    return None if number is None else Offset(number)


class Temporary(NamedTuple):
    """The leftover files in a directory."""

    removed: tuple[str, ...]
    """The files that the broker removes at once."""
    swaps: tuple[str, ...]
    """The .swap files that the broker completes."""
    unnumbered: str | None = None
    """A file whose number the broker cannot parse, which aborts the start; None without one."""


def temporary(names: Iterable[str], release: Release) -> Temporary:
    """Return the leftovers of a directory (removeTempFilesAndCollectSwapFiles 3.0 to 4.3.1)."""
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
    """Return the files with a number from `low` to below `high`, except swaps: the swaps replace them."""
    numbered = ((name, offset_of(name)) for name in sorted(names) if not name.endswith(SWAP))
    return tuple(name for name, number in numbered if number is not None and low <= number < high)


def segments_from(bases: Sequence[int], low: int, high: int = LONG_MAX, *, release: Release) -> Sequence[int]:
    """Return the segments that hold offsets from `low` to below `high` (LogSegments.values); `bases` ascend.

    ValueError where the broker throws IllegalArgumentException: `high` is below the segment of `low`, from 2.5.1
    on below `low`.
    """
    if low == high and release.finds_nothing_in_nothing:
        return ()
    first = max(bisect_right(bases, low) - 1, 0)
    if (bases and high < bases[first] <= low) or (high < low and release.finds_nothing_in_nothing):
        raise ValueError("inconsistent range")
    return bases[first : bisect_left(bases, high)]


def stray_snapshots(offsets: Collection[int], bases: Collection[int]) -> tuple[int, ...]:
    """Return the producer snapshots that a start removes because they have no segment (removeStraySnapshots).

    The highest of them stays unless it is below the last segment.
    """
    stray = sorted(offset for offset in offsets if offset not in bases)
    kept = bool(stray) and (not bases or stray[-1] >= max(bases))
    return tuple(stray[:-1] if kept else stray)


def recovery_point(*, at_end: bool, checkpoint: int, end: int, start: int, release: Release) -> int:
    """Return the recovery point of a loaded log (LogLoader.recoverLog, UnifiedLog.updateLogStartOffset).

    `at_end`: the shutdown was clean, and the log end was found. From 1.0 to 2.7 the log end always counts; up to 0.11
    the checkpoint counts after an unclean shutdown. Up to 2.4.0 the log start does not raise it.
    """
    point = end if at_end or release.recovery_moves_recovery_point else checkpoint
    return max(min(point, end), start) if release.bounds_recovery_point else point


class UnreadableOutcome(NamedTuple):
    """What the start does about a file that the broker cannot read."""

    outcome: Outcome
    """ABORT or OFFLINE."""
    reason: str
    """The file, and the error of the broker's reader."""
    queued: bool = False
    """Whether the log dir goes offline only once the broker runs.

    From 3.0 on, a log with an unstable offset that is loaded in between aborts the start.
    """


IO_ERROR = "IOException"
IO_ERRORS = (IO_ERROR, "MalformedInputException")
"""The errors that take the log dir offline, from 1.0 on."""


def unreadable_checkpoint(name: str, error: str, release: Release) -> UnreadableOutcome | None:
    """Return what an unreadable checkpoint of a log dir does to the start; None where the broker ignores it."""
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
    """Return what an unreadable leader-epoch-checkpoint or partition.metadata does to the start.

    A KafkaStorageException takes the log dir offline from 3.2.1 on (KAFKA-13773); before, it aborts the start.
    """
    offline = error in IO_ERRORS and release.outlives_bad_partition_files
    outcome = Outcome.OFFLINE if offline else Outcome.ABORT
    return UnreadableOutcome(outcome, f"{name} cannot be read: {error}", queued=error in IO_ERRORS)
