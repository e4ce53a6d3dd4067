"""The names in a log dir: partition directories, segment files, checkpoints.

Names come from the disk and may be anything. Rules: LocalLog.parseTopicPartitionName, LogFileUtils,
LogManager.loadLogs.
"""

import re
from collections.abc import Iterable
from enum import StrEnum
from functools import lru_cache
from itertools import compress
from typing import NamedTuple

from kcheck.model.entries import Epoch, Offset
from kcheck.model.java import java_int, java_long
from kcheck.model.release import Release

REPLICATION_OFFSET = "replication-offset-checkpoint"
RECOVERY_POINT = "recovery-point-offset-checkpoint"
LOG_START = "log-start-offset-checkpoint"
CLEANER_OFFSET = "cleaner-offset-checkpoint"
OFFSET_CHECKPOINTS = (REPLICATION_OFFSET, RECOVERY_POINT, LOG_START, CLEANER_OFFSET)
LEADER_EPOCHS = "leader-epoch-checkpoint"
PARTITION_METADATA = "partition.metadata"
META_PROPERTIES = "meta.properties"
CLEAN_SHUTDOWN = ".kafka_cleanshutdown"
CLUSTER_METADATA = "__cluster_metadata"
METADATA_TOPIC_ID = "AAAAAAAAAAAAAAAAAAAAAQ"
"""That of the metadata of every cluster."""
COMPACTED = ("__consumer_offsets", "__transaction_state")
"""The topics that brokers make as compacted ones."""
REMOTE_INDEX_CACHE = "remote-log-index-cache"
LOST_FOUND = "lost+found"
"""What file systems put at their root; no broker's."""


def ids_differ(one: str | None, other: str | None) -> bool:
    """Whether two ids of topics or of clusters are not the same; who names none may have any."""
    return None not in (one, other) and one != other


class TopicPartition(NamedTuple):
    """A topic and a partition number."""

    topic: str
    partition: int


class DirectoryState(StrEnum):
    """What the suffix of a partition directory says."""

    CURRENT = "current"
    FUTURE = "future"
    DELETED = "deleted"
    STRAY = "stray"


LIVE = (DirectoryState.CURRENT, DirectoryState.FUTURE)
"""The directories that brokers read and checkpoints are about; the others only wait for their end."""


class PartitionDirectory(NamedTuple):
    """A partition directory's name; `canonical` is False where brokers read the name but never write it."""

    topic: str
    partition: int
    state: DirectoryState
    canonical: bool


TOPIC_CHARACTERS = "A-Za-z0-9._-"
TOPIC_SIZE_MAX = 249
_TOPIC = f"[{TOPIC_CHARACTERS}]{{1,{TOPIC_SIZE_MAX}}}"
_LEGAL_TOPIC = re.compile(_TOPIC)
_CANONICAL = re.compile(rf"({_TOPIC})-(0|[1-9][0-9]{{0,9}})(?:\.([0-9a-f]{{32}})-(delete|future|stray))?")
_SUFFIXED = re.compile(r"[^ \t\n\x0b\f\r]+-[^ \t\n\x0b\f\r]+\.[^ \t\n\x0b\f\r]+-(delete|future|stray)")
_STATES = {"delete": DirectoryState.DELETED, "future": DirectoryState.FUTURE, "stray": DirectoryState.STRAY}


def is_legal_topic(topic: str) -> bool:
    """Whether a client can make a topic of this name (Topic.validate 0.8.2 to 4.3.1)."""
    return _LEGAL_TOPIC.fullmatch(topic) is not None and topic not in (".", "..")


@lru_cache(maxsize=4096)
def parse_directory(name: str) -> PartitionDirectory | None:
    """Return what the newest broker reads in a directory's name, None where it is no partition directory."""
    match = _CANONICAL.fullmatch(name)
    if match and (len(match[2]) < 10 or int(match[2]) < 2**31):
        state = _STATES[match[4]] if match[4] else DirectoryState.CURRENT
        return PartitionDirectory(match[1], int(match[2]), state, canonical=True)
    found = _parse(name, tuple(_STATES))
    if found is None:
        return None
    suffix = name.rsplit("-", 1)[1]
    state = _STATES.get(suffix, DirectoryState.CURRENT)
    return PartitionDirectory(found.topic, found.partition, state, canonical=False)


def broker_accepts(name: str, release: Release) -> TopicPartition | None:
    """Return the partition that the broker of this release loads from a directory of this name.

    None: its start aborts (LocalLog.parseTopicPartitionName; Log up to 2.8). Suffixes newer than the release are not
    known to it.
    """
    if release.cuts_deleted_names_at_dot and name.endswith("-delete"):
        return _parse(name.partition(".")[0], ()) if "." in name else None  # A topic with a dot ends there.
    return _parse(name, _suffixes(release))


def skipped_by_broker(name: str, release: Release) -> bool:
    """Whether LogManager.loadLogs passes over a directory without parsing or loading it.

    The preview of KRaft in 2.8 had another name for its log, and so loads the one of later releases like any other.
    """
    if name == REMOTE_INDEX_CACHE:
        return release.skips_remote_index_cache
    metadata_log = CLUSTER_METADATA if release.has_kraft else "@metadata" if release.previews_kraft else None
    found = parse_directory(name)
    return found is not None and found.topic == metadata_log


def _suffixes(release: Release) -> tuple[str, ...]:
    known = (release.renames_deleted_directories, release.has_future_logs, release.has_stray_directories)
    return tuple(compress(("delete", "future", "stray"), known))


@lru_cache(maxsize=4096)
def _parse(name: str, suffixes: tuple[str, ...]) -> TopicPartition | None:
    if "-" not in name:
        return None
    if name.endswith(tuple("-" + suffix for suffix in suffixes)):
        if not _SUFFIXED.fullmatch(name):
            return None
        name = name[: name.rfind(".")]
    topic, _, number = name.rpartition("-")
    partition = java_int(number)
    return TopicPartition(topic, partition) if topic and partition is not None else None


class FileKind(StrEnum):
    """What a file in a log dir or in a partition directory is, by its name."""

    LOG = "log"
    INDEX = "index"
    TIME_INDEX = "timeindex"
    TRANSACTION_INDEX = "txnindex"
    PRODUCER_SNAPSHOT = "snapshot"
    METADATA_SNAPSHOT = "checkpoint"
    LEADER_EPOCHS = "leader-epoch-checkpoint"
    OFFSETS = "offset-checkpoint"
    PARTITION_METADATA = "partition.metadata"
    META_PROPERTIES = "meta.properties"
    CLEAN_SHUTDOWN = ".kafka_cleanshutdown"
    LOCK = ".lock"
    QUORUM_STATE = "quorum-state"
    BOOTSTRAP = "bootstrap.checkpoint"
    REMOTE_OFFSETS = "_rlmm_committed_offsets"
    REMOTE_SNAPSHOT = "remote_log_snapshot"
    OTHER = "other"


class KafkaFile(NamedTuple):
    """A file by its name: its kind, the offset in it, and what stands behind the kind's own ending (`.swap`), or "".

    `offset` is None where the name has none, or none that Long.parseLong takes: a broker's start fails on the latter
    with NumberFormatException. `canonical` is False where no broker writes the name; it opens one with 20 digits.
    """

    kind: FileKind
    offset: Offset | None
    suffix: str
    canonical: bool = True


CLEANED, SWAP, DELETED, TEMPORARY, PART = ".cleaned", ".swap", ".deleted", ".tmp", ".part"

_OF_A_SEGMENT = {
    kind.value: kind
    for kind in (
        FileKind.LOG,
        FileKind.INDEX,
        FileKind.TIME_INDEX,
        FileKind.TRANSACTION_INDEX,
        FileKind.PRODUCER_SNAPSHOT,
    )
}
INDEX_ENDINGS = (".index", ".timeindex", ".txnindex")
"""What the names of a segment's indexes end in."""
SNAPSHOT_ENDINGS = (".checkpoint", f".checkpoint{PART}", f".checkpoint{DELETED}")
"""What the names of KRaft's snapshots end in."""
_PLAIN_PREFIX = re.compile(r"0[0-8][0-9]{18}\.").match
"""An offset far below 2^63, as a broker writes it."""
_LOG_NAME_SIZE = 24
_METADATA_SNAPSHOT = re.compile(r"([0-9]{20})-([0-9]{10})(?:\.checkpoint(\.deleted)?|-[^.]*\.checkpoint(\.part))")
_FIXED = dict.fromkeys(OFFSET_CHECKPOINTS, FileKind.OFFSETS) | {
    kind.value: kind
    for kind in (
        FileKind.LEADER_EPOCHS,
        FileKind.PARTITION_METADATA,
        FileKind.META_PROPERTIES,
        FileKind.CLEAN_SHUTDOWN,
        FileKind.LOCK,
        FileKind.QUORUM_STATE,
        FileKind.BOOTSTRAP,
        FileKind.REMOTE_OFFSETS,
        FileKind.REMOTE_SNAPSHOT,
    )
}
_NEVER_TEMPORARY = (FileKind.CLEAN_SHUTDOWN, FileKind.LOCK)
"""These are written in place."""


@lru_cache(65_536)  # Each rule on the files of a partition asks anew.
def parse_file(name: str) -> KafkaFile:
    """Return what a file is: LogFileUtils.offsetFromFileName, LogLoader, Snapshots.parse 0.8 to 4.3.1.

    The offset is what stands before the first dot, the kind is told by the ending: `5.old.log` is a segment to the
    broker, at offset 5.
    """
    kind = _OF_A_SEGMENT.get(name[21:])
    if kind is not None and _PLAIN_PREFIX(name):  # What nearly every file is called, told at once.
        return KafkaFile(kind, Offset(int(name[:20])), "")
    fixed = _FIXED.get(name.removesuffix(TEMPORARY))
    if fixed is not None and (name in _FIXED or fixed not in _NEVER_TEMPORARY):
        return KafkaFile(fixed, None, "" if name in _FIXED else TEMPORARY)
    suffix = next((ending for ending in (CLEANED, SWAP, DELETED) if name.endswith(ending)), "")
    stem = name.removesuffix(suffix)
    first, _, rest = stem.partition(".")
    kind = _OF_A_SEGMENT.get(rest.rpartition(".")[2])
    if kind is not None:
        number = java_long(first)
        if number is None:
            return KafkaFile(kind, None, suffix, canonical=False)
        written = number >= 0 and stem == f"{segment_prefix(Offset(number))}.{kind}"
        return KafkaFile(kind, Offset(number), suffix, canonical=written and _has_suffix(kind, suffix))
    match, snapshot = _METADATA_SNAPSHOT.fullmatch(name), parse_metadata_snapshot(name)
    if match and snapshot is not None:
        return KafkaFile(FileKind.METADATA_SNAPSHOT, snapshot[0], match[3] or match[4] or "")
    return KafkaFile(FileKind.OTHER, None, suffix, canonical=False)


def parse_metadata_snapshot(name: str) -> tuple[Offset, Epoch] | None:
    """Return the end offset and the epoch of a KRaft snapshot, by their places in its name (Snapshots.parse).

    None where these are no numbers: the start of a broker fails then, if the name has one of SNAPSHOT_ENDINGS.
    """
    offset, epoch = java_long(name[:20]), java_int(name[21:31])
    return None if offset is None or epoch is None else (Offset(offset), Epoch(epoch))


def metadata_snapshots(names: Iterable[str]) -> list[tuple[Epoch, Offset, str]]:
    """Return KRaft's finished snapshots among some files, in the order of OffsetAndEpoch: by epoch, then by end."""
    named = ((parse_metadata_snapshot(name), name) for name in names if name.endswith(SNAPSHOT_ENDINGS[0]))
    return sorted((found[1], found[0], name) for found, name in named if found is not None)


def _has_suffix(kind: FileKind, suffix: str) -> bool:
    """Whether brokers give the suffix to files of the kind: a producer snapshot is never cleaned or swapped."""
    return kind is not FileKind.PRODUCER_SNAPSHOT or suffix in ("", DELETED)


def segment_prefix(base_offset: int) -> str:
    """Return the 20 digits that a segment's files begin with (LogFileUtils.filenamePrefixFromOffset)."""
    return str(base_offset).zfill(20) if base_offset >= 0 else f"-{-base_offset:020d}"


def log_name(base_offset: int) -> str:
    """Return the name of a segment's `.log`."""
    return segment_prefix(base_offset) + ".log"


def segment_bases(names: Iterable[str]) -> list[Offset]:
    """Return the base offsets of the segments that a broker would load: `.log` files named in 20 digits, ascending."""
    files = (parse_file(name) for name in names if name.endswith(".log"))
    return sorted(
        file.offset for file in files if file.kind is FileKind.LOG and file.canonical and file.offset is not None
    )


@lru_cache(4)  # Each rule on the files of a partition asks anew, and nearly all files are those of segments.
def files_beside_segments(names: frozenset[str]) -> tuple[str, ...]:
    """Return, in order, the files of a partition directory but for each `.log` as brokers name it, and its indexes.

    An offset or time index is left out only where its `.log` is there.
    """
    logs = [name for name in names if name.endswith(".log") and _PLAIN_PREFIX(name) and len(name) == _LOG_NAME_SIZE]
    of_segments = [name[:-3] + ending for name in logs for ending in ("log", "index", "timeindex")]
    return tuple(sorted(names.difference(of_segments)))
