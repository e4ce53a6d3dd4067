"""Decides steps of a starting broker from names, numbers and settings.

The classes are LogManager, LogLoader (3.0 to 4.3.1), and Log (2.8 and earlier).
"""

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
from kcheck.model.unreadable import UnreadableCause
from kcheck.model.views import LogDirView


class Outcome(StrEnum):
    """The outcome of a log dir or of one partition in it."""

    OK = "ok"
    """The broker loads it; its files may change as in every log."""
    REPAIRED = "repaired"
    """The broker loads it and repairs something; it loses no record."""
    LOST = "lost"
    """The broker loads it without some of the records in its files."""
    STRAY = "stray"
    """The broker loads it and no broker serves it; with KRaft it renames it to -stray."""
    DELETED = "deleted"
    """The broker deletes it soon after it has started."""
    OFFLINE = "offline"
    """The broker takes its log dir offline."""
    ABORT = "abort"
    """The broker does not start."""
    UNKNOWN = "unknown"
    """Not known, because the broker scans the log, and kcheck has not read it."""


NEXT_STARTS = {
    Outcome.ABORT: "will not boot",
    Outcome.OFFLINE: "will go offline",
    Outcome.UNKNOWN: "not known",
    Outcome.LOST: "will boot but lose records",
    Outcome.STRAY: "will boot but not serve partitions",
    Outcome.OK: "will boot",
}
"""The outcomes of a log dir or a broker in words, worst first."""
NOT_LOADED = (Outcome.ABORT, Outcome.OFFLINE)
"""The outcomes of a log dir of which the broker loads nothing."""
NOT_SERVED = (Outcome.STRAY, Outcome.DELETED)
"""The outcomes of a directory that the broker no longer serves."""
LOADS_ALONE = "will load if its broker starts"
"""The words for a partition directory outside of a log dir."""
NEXT_START_RANKS = {outcome: at for at, outcome in enumerate(NEXT_STARTS)}
"""Their places, 0 for the worst."""


class Mode(StrEnum):
    """The place of the cluster's metadata."""

    KRAFT = "kraft"
    """In a log of the controllers."""
    ZOOKEEPER = "zk"
    """In ZooKeeper."""


class Settings(NamedTuple):
    """The broker settings that change the next start; sizes in bytes."""

    mode: Mode | None = None
    """The place of the cluster's metadata; None if not given, and then the log dir decides."""
    segment_index_bytes: int = 10 << 20
    """segment.index.bytes: the size that a broker preallocates for an index."""
    index_interval_bytes: int = 4096
    """index.interval.bytes: a recovery adds an index entry after this many bytes of a `.log`."""
    segment_bytes: int = 1 << 30
    """segment.bytes: the size at which a broker rolls a segment."""
    preallocate: bool = False
    """preallocate: whether a broker makes new `.log` files at their full size."""
    remote_storage: bool | None = None
    """remote.log.storage.system.enable; None if not given."""
    of_topic: bool = False
    """True if `remote_storage` is the setting of the topic, not of the broker alone."""
    index_size_said: bool = False
    """True if segment.index.bytes holds for every topic, even if the indexes of a log suggest another size."""
    cleans: bool = True
    """log.cleaner.enable."""
    cleanup_policy: str = ""
    """log.cleanup.policy: how logs of topics without their own policy end; empty if not given."""
    delete_delay_ms: int | None = None
    """log.segment.delete.delay.ms, the time until a started broker deletes -delete directories; None if not given."""
    defined: frozenset[str] = frozenset()
    """The names of the settings that the user gives next to a file."""
    index_interval_said: bool = False
    """True if index.interval.bytes holds for every topic, even if the entries of an index are closer together."""


REMOTE_STORAGE = "remote.log.storage.system.enable"
"""The broker's setting that turns remote storage on."""
_SIZES = {
    "segment.index.bytes": "segment_index_bytes",
    "log.index.size.max.bytes": "segment_index_bytes",
    "index.interval.bytes": "index_interval_bytes",
    "log.index.interval.bytes": "index_interval_bytes",
    "segment.bytes": "segment_bytes",
    "log.segment.bytes": "segment_bytes",
}
_DELETE_DELAY, DELETE_DELAY_MS = "log.segment.delete.delay.ms", 60_000
"""log.segment.delete.delay.ms and its default, the age at which -delete directories go (LogManager.deleteLogs 1.0+)."""
INDEX_SIZE = frozenset(name for name, field in _SIZES.items() if field == "segment_index_bytes")
"""The names of segment.index.bytes for a topic and for a broker."""
INDEX_INTERVAL = frozenset(name for name, field in _SIZES.items() if field == "index_interval_bytes")
"""The names of index.interval.bytes for a topic and for a broker."""
_FLAGS = {
    "preallocate": "preallocate",
    "log.preallocate": "preallocate",
    "log.cleaner.enable": "cleans",
    REMOTE_STORAGE: "remote_storage",
}
"""The field of each setting, by its name for a topic and for a broker."""
SETTINGS = (*_SIZES, *_FLAGS, "mode", "process.roles", "zookeeper.connect", "log.dirs", "log.dir")
"""Every setting that changes the next start; kcheck ignores all others."""


def settings(config: Mapping[str, str], release: Release) -> Settings:
    """Return the settings in server.properties, which may also use topic setting names; UsageError for an invalid
    value.

    `process.roles` means KRaft, `zookeeper.connect` means ZooKeeper; kcheck's own `mode` (kraft, zk) overrides both.
    """
    flags = {_FLAGS[name]: value.strip().lower() == "true" for name, value in config.items() if name in _FLAGS}
    delay = java_long(config.get(_DELETE_DELAY, "").strip())
    if "log.dirs" in config or "log.dir" in config:  # A complete server.properties: what it omits has its default.
        flags, delay = {"remote_storage": False, **flags}, DELETE_DELAY_MS if delay is None else delay
    sizes = {_SIZES[name]: _size(name, value) for name, value in config.items() if name in _SIZES}
    policy = config.get("log.cleanup.policy", "").strip()
    return Settings(_mode(config, release), **sizes, delete_delay_ms=delay, cleanup_policy=policy)._replace(**flags)  # type: ignore[arg-type]  # by their tables


def of_file(config: Mapping[str, str]) -> Mapping[str, str]:
    """Return the entries of a server.properties without invalid sizes, as no broker starts with one (P502)."""
    return {name: value for name, value in config.items() if name not in _SIZES or _number(value) is not None}


def _size(name: str, value: str) -> int:
    number = _number(value)
    if number is None:
        raise UsageError(f"invalid size {name}={value}; use a number of bytes")
    return number


def _number(value: str) -> int | None:
    number = java_int(value.strip())
    return None if number is None or number < 0 else number


def _mode(config: Mapping[str, str], release: Release) -> Mode | None:
    mode = config.get("mode", "").strip().lower()
    if mode and mode not in tuple(Mode):
        raise UsageError(f"invalid mode={mode}; use {' or '.join(Mode)}")
    if release.is_kraft_only or mode == Mode.KRAFT or not release.has_kraft:
        return Mode.KRAFT if release.has_kraft else Mode.ZOOKEEPER
    if mode:
        return Mode.ZOOKEEPER
    # A KRaft controller has both while a ZooKeeper cluster migrates to it.
    return Mode.KRAFT if "process.roles" in config else Mode.ZOOKEEPER if "zookeeper.connect" in config else None


def mode_of_metadata(*, kraft: bool, zookeeper: bool) -> Mode | None:
    """Return the place of the cluster's metadata by the given copies; None without any, or with both kinds."""
    if kraft == zookeeper:
        return None
    return Mode.KRAFT if kraft else Mode.ZOOKEEPER


def mode_of(
    configured: Mode | None, meta_version: int | None, release: Release, of_cluster: Mode | None = None
) -> Mode:
    """Return the place of the cluster's metadata.

    A configured place counts first. Else version 1 of meta.properties means KRaft. Without one the rest of the cluster
    decides.
    """
    if configured is not None:
        return configured
    if meta_version is None and of_cluster is not None:
        return of_cluster
    if meta_version is None:
        return Mode.KRAFT if release.kraft_is_production_ready else Mode.ZOOKEEPER
    return Mode.KRAFT if meta_version >= 1 else Mode.ZOOKEEPER


def outcome_without_topic_id(*, mode: Mode, release: Release) -> Outcome:
    """Return the outcome of a log without a topic id: KRaft renames it to -stray (isStrayKraftReplica)."""
    if mode is Mode.KRAFT and release.aborts_without_topic_id:
        return Outcome.ABORT
    return Outcome.STRAY if mode is Mode.KRAFT and release.sets_aside_without_topic_id else Outcome.OK


@lru_cache(65_536)  # Every step of a start needs it again.
def offset_of(name: str) -> Offset | None:
    """Return the number before the first dot of a file name; None if a broker cannot parse it (offsetFromFileName)."""
    first, dot, _ = name.partition(".")
    number = java_long(first) if dot else None
    return None if number is None else Offset(number)


class FirstPass(NamedTuple):
    """The changes by the first pass over a directory because of its leftovers, by file name."""

    removed: tuple[str, ...]
    """The files that it deletes."""
    swaps: tuple[str, ...]
    """The `.swap` files that it keeps, to finish the swap."""
    unnumbered: str | None = None
    """The first file whose number a broker cannot parse, so that it does not start. None without one."""


def first_pass(names: Iterable[str], release: Release) -> FirstPass:
    """Return the changes by the first pass over a directory (removeTempFilesAndCollectSwapFiles 3.0 to 4.3.1)."""
    names = sorted(names)
    snapshots = f".checkpoint{DELETED}" if release.keeps_deleted_snapshots else ()
    deleted = [name for name in names if name.endswith(DELETED) and not name.endswith(snapshots)]
    cleaned = [name for name in names if name.endswith(CLEANED)]
    swaps = [name for name in names if name.endswith(SWAP)]
    numbers = {name: offset_of(name) for name in (*cleaned, *swaps)}
    unnumbered = next((name for name, number in numbers.items() if number is None), None)
    if unnumbered is not None:
        return FirstPass(removed=tuple(deleted), swaps=(), unnumbered=unnumbered)
    first_cleaned = min((numbers[name] or 0 for name in cleaned), default=None)
    if not release.drops_swaps_of_unfinished_splits:
        first_cleaned = None
    dropped = [name for name in swaps if first_cleaned is not None and (numbers[name] or 0) >= first_cleaned]
    return FirstPass(removed=(*deleted, *cleaned, *dropped), swaps=tuple(name for name in swaps if name not in dropped))


def replaced_by_swaps(names: Iterable[str], low: int, high: int) -> tuple[str, ...]:
    """Return the files that swaps replace, which are numbered from `low` to below `high`, without the swaps."""
    numbered = ((name, offset_of(name)) for name in sorted(names) if not name.endswith(SWAP))
    return tuple(name for name, number in numbered if number is not None and low <= number < high)


def segments_from(bases: Sequence[int], low: int, high: int = LONG_MAX, *, release: Release) -> Sequence[int]:
    """Return the base offsets of the segments with offsets from `low` to below `high` (LogSegments.values).

    `bases` ascend. ValueError if the broker throws IllegalArgumentException: `high` is below the segment of `low`,
    or, from 2.5.1, below `low`.
    """
    if low == high and release.finds_nothing_in_nothing:
        return ()
    first = max(bisect_right(bases, low) - 1, 0)
    if (bases and high < bases[first] <= low) or (high < low and release.finds_nothing_in_nothing):
        raise ValueError("inconsistent range")
    return bases[first : bisect_left(bases, high)]


def stray_snapshots(offsets: Collection[int], bases: Collection[int]) -> tuple[int, ...]:
    """Return the producer snapshots that the broker deletes because no segment starts there (removeStraySnapshots).

    The highest one stays unless it is below the last segment.
    """
    stray = sorted(offset for offset in offsets if offset not in bases)
    kept = bool(stray) and (not bases or stray[-1] >= max(bases))
    return tuple(stray[:-1] if kept else stray)


def recovery_point(*, at_end: bool, checkpoint: int, end: int, start: int, release: Release) -> int:
    """Return the recovery point of a loaded log (LogLoader.recoverLog, UnifiedLog.updateLogStartOffset).

    `at_end`: the shutdown was clean and the log end is known. From 1.0 to 2.7 the recovery point is always the log
    end. Up to 0.11 the checkpoint stays after an unclean shutdown. From 2.4.1 the log start raises it.
    """
    point = end if at_end or release.recovery_moves_recovery_point else checkpoint
    return max(min(point, end), start) if release.bounds_recovery_point else point


class UnreadableOutcome(NamedTuple):
    """The outcome of a file that a broker cannot read."""

    outcome: Outcome
    """OFFLINE or ABORT."""
    reason: str
    """The file, and Kafka's exception."""
    fails_later: bool = False
    """True if the log dir only goes offline once the broker runs.

    3.0 and later abort if they load a log with an unstable offset before that.
    """


IO_ERROR = "IOException"
IO_ERRORS = (IO_ERROR, "MalformedInputException")
"""Exceptions on which a broker takes the log dir offline, from 1.0."""


def refusal_of(name: str, log_dir: LogDirView) -> str | None:
    """Return the error of the broker's reader of a checkpoint; None if it accepts the file, or without a file."""
    unread, file = log_dir.unread.get(name), log_dir.files.get(name)
    if unread is not None and unread.cause is UnreadableCause.NOWHERE:
        return IO_ERROR
    return None if file is None else file.refusal


def unreadable_checkpoint(name: str, error: str, release: Release) -> UnreadableOutcome | None:
    """Return the outcome of an unreadable checkpoint of a log dir; None if the broker continues without the file."""
    reason = f"{name} cannot be read: {error}"
    at_start = name in (RECOVERY_POINT, LOG_START)
    if at_start and (error == "OutOfMemoryError" or release.aborts_on_bad_recovery_point):
        return UnreadableOutcome(Outcome.ABORT, reason)
    if name not in (RECOVERY_POINT, LOG_START, REPLICATION_OFFSET, CLEANER_OFFSET) or error not in IO_ERRORS:
        return None
    if not release.has_offline_log_dirs:
        return None
    return UnreadableOutcome(Outcome.OFFLINE, reason, fails_later=at_start)


def failed_read(name: str, error: str, release: Release) -> UnreadableOutcome:
    """Return the outcome of an unreadable leader-epoch-checkpoint or partition.metadata.

    In 3.2.1 and later a KafkaStorageException takes the log dir offline (KAFKA-13773). Earlier the broker aborts.
    """
    offline = error in IO_ERRORS and release.outlives_bad_partition_files
    outcome = Outcome.OFFLINE if offline else Outcome.ABORT
    return UnreadableOutcome(outcome, f"{name} cannot be read: {error}", fails_later=error in IO_ERRORS)
