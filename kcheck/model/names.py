"""The names of partition directories, segment files and checkpoints in a log dir.

A name on disk can be any text. Kafka's rules: LocalLog.parseTopicPartitionName, LogFileUtils, LogManager.loadLogs.
"""

import re
from collections.abc import Callable, Iterable
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
METADATA_DIRECTORY = f"{CLUSTER_METADATA}-0"
"""The directory of the metadata log."""
METADATA_TOPIC_ID = "AAAAAAAAAAAAAAAAAAAAAQ"
"""The topic id of the metadata log in every cluster."""
CONSUMER_OFFSETS = "__consumer_offsets"
SHARE_GROUP_STATE = "__share_group_state"
TRANSACTION_STATE = "__transaction_state"
COMPACTED = (CONSUMER_OFFSETS, TRANSACTION_STATE)
"""The topics that brokers create as compacted topics."""
REMOTE_INDEX_CACHE = "remote-log-index-cache"
LOST_FOUND = "lost+found"
"""A directory that a file system creates at its root, not Kafka."""


def ids_differ(one: str | None, other: str | None) -> bool:
    """Return whether two ids of topics or clusters differ; None differs from no id."""
    return None not in (one, other) and one != other


class TopicPartition(NamedTuple):
    """A topic and a partition number."""

    topic: str
    """The topic."""
    partition: int
    """The partition number."""


class DirectoryState(StrEnum):
    """The state of a partition directory by its suffix."""

    CURRENT = "current"
    """No suffix: the replica that the broker serves."""
    FUTURE = "future"
    """-future: a copy that is on its way from another log dir."""
    DELETED = "deleted"
    """-delete: the broker deletes it soon."""
    STRAY = "stray"
    """-stray: the cluster does not know the replica."""


LIVE = (DirectoryState.CURRENT, DirectoryState.FUTURE)
"""The directories that a broker uses and that checkpoints name, without -delete and -stray."""


class PartitionDirectory(NamedTuple):
    """The parts of a partition directory's name."""

    topic: str
    """The topic."""
    partition: int
    """The partition number."""
    state: DirectoryState
    """The state by its suffix."""
    canonical: bool
    """False if brokers can parse the name but never write it."""


TOPIC_CHARACTERS = "A-Za-z0-9._-"
TOPIC_SIZE_MAX = 249
_TOPIC = f"[{TOPIC_CHARACTERS}]{{1,{TOPIC_SIZE_MAX}}}"
_LEGAL_TOPIC = re.compile(_TOPIC)
_CANONICAL = re.compile(rf"({_TOPIC})-(0|[1-9][0-9]{{0,9}})(?:\.([0-9a-f]{{32}})-(delete|future|stray))?")
_SUFFIXED = re.compile(r"[^ \t\n\x0b\f\r]+-[^ \t\n\x0b\f\r]+\.[^ \t\n\x0b\f\r]+-(delete|future|stray)")
_STATES = {"delete": DirectoryState.DELETED, "future": DirectoryState.FUTURE, "stray": DirectoryState.STRAY}


def is_legal_topic(topic: str) -> bool:
    """Return whether a client can create a topic of this name (Topic.validate 0.8.2 to 4.3.1)."""
    return _LEGAL_TOPIC.fullmatch(topic) is not None and topic not in (".", "..")


@lru_cache(maxsize=4096)
def parse_directory(name: str) -> PartitionDirectory | None:
    """Return how the newest broker parses a directory's name; None if it is not a partition directory."""
    match = _CANONICAL.fullmatch(name)
    if match and (len(match[2]) < 10 or int(match[2]) < 2**31):
        state = _STATES[match[4]] if match[4] else DirectoryState.CURRENT
        return PartitionDirectory(match[1], int(match[2]), state, canonical=True)
    parsed = _parse(name, tuple(_STATES))
    if parsed is None:
        return None
    suffix = name.rsplit("-", 1)[1]
    state = _STATES.get(suffix, DirectoryState.CURRENT)
    return PartitionDirectory(parsed.topic, parsed.partition, state, canonical=False)


def broker_accepts(name: str, release: Release) -> TopicPartition | None:
    """Return the partition that a broker of this release loads from a directory of this name.

    None if the broker does not start with it (LocalLog.parseTopicPartitionName; 2.8 and earlier: Log). A release does
    not know newer suffixes.
    """
    if release.cuts_deleted_names_at_dot and name.endswith("-delete"):
        return _parse(name.partition(".")[0], ()) if "." in name else None  # It cuts a topic name at its first dot.
    return _parse(name, _suffixes(release))


def skipped_by_broker(name: str, release: Release) -> bool:
    """Return whether LogManager.loadLogs skips a directory without parsing its name.

    KRaft's preview in 2.8 used another name for the metadata log, so 2.8 loads __cluster_metadata like any topic.
    """
    if name == REMOTE_INDEX_CACHE:
        return release.skips_remote_index_cache
    metadata_log = CLUSTER_METADATA if release.has_kraft else "@metadata" if release.previews_kraft else None
    directory = parse_directory(name)
    return directory is not None and directory.topic == metadata_log


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
    """The kind of a file in a log dir or in a partition directory, by its name."""

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
    """The parts of a file name."""

    kind: FileKind
    """The kind of the file."""
    offset: Offset | None
    """The offset in the name; None without one, or if Long.parseLong refuses it.

    A broker that meets a refused number does not start (NumberFormatException).
    """
    suffix: str
    """The suffix after the kind's own extension, for example `.swap`; empty without one."""
    canonical: bool = True
    """False if no broker writes the name, because an offset has 20 digits."""


UNMODELLED_DIRECTORIES = (FileKind.METADATA_SNAPSHOT, FileKind.QUORUM_STATE, FileKind.REMOTE_OFFSETS)
"""File kinds for which it is unknown how a broker treats a directory of that name when it starts."""

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
"""The extensions of a segment's indexes."""
SNAPSHOT_ENDINGS = (".checkpoint", f".checkpoint{PART}", f".checkpoint{DELETED}")
"""The extensions of KRaft's snapshots."""
_PLAIN_PREFIX = re.compile(r"0[0-8][0-9]{18}\.").match
"""An offset in 20 digits that is surely below 2^63."""
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
"""Brokers write these in place, without a `.tmp` file."""


@lru_cache(65_536)  # Every rule about the files of a partition needs it again.
def parse_file(name: str) -> KafkaFile:
    """Return the kind of a file by its name (LogFileUtils.offsetFromFileName, LogLoader, Snapshots.parse 0.8 to 4.3.1).

    The offset comes before the first dot, the extension after the last. So a broker treats `5.old.log` as a segment at
    offset 5.
    """
    kind = _OF_A_SEGMENT.get(name[21:])
    if kind is not None and _PLAIN_PREFIX(name):  # The fast path: nearly every file has such a name.
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


_STORED = re.compile(r"([0-9]{20})-[A-Za-z0-9_-]{22}\.(log|index|timeindex|txnindex|leader_epoch_checkpoint)")
AIVEN_ENDINGS = (".indexes", ".rsm-manifest")
"""The names of objects of the Aiven plugin that are no files of a partition directory end so."""
_STORED_EPOCHS = "leader_epoch_checkpoint"


def local_name(name: str) -> str:
    """Return the name that an object of a remote store has in a partition directory; any other name unchanged.

    LocalTieredStorage and the Aiven plugin put the id of the segment after the offset. A producer snapshot belongs to
    the end of its segment, and its name does not have that offset.
    """
    match = _STORED.fullmatch(name)
    if match is None:
        return name
    return FileKind.LEADER_EPOCHS.value if match[2] == _STORED_EPOCHS else f"{match[1]}.{match[2]}"


BUNDLE_SUFFIX = ".kcheck"
"""The names of bundles of `kcheck capture` end so."""
STRANGERS_MAX = 1000
"""kcheck keeps the names of at most this many strangers in a directory, and counts the others."""
_ENDINGS = (*(f".{extension}" for extension in _OF_A_SEGMENT), CLEANED, SWAP, DELETED, *SNAPSHOT_ENDINGS)


def is_stranger(name: str) -> bool:
    """Return whether every broker ignores a file of this name in a partition directory.

    `parse_file` says OTHER of the name then, but a million names take a tenth of its time.
    """
    return not name.endswith(_ENDINGS) and name.removesuffix(TEMPORARY) not in _FIXED


def is_stranger_in_log_dir(name: str) -> bool:
    """Return whether a file name in a log dir is neither a broker's own nor a partition directory's."""
    return is_stranger(name) and parse_directory(name) is None


IsStranger = Callable[[str], bool]


def further_strangers(names: Iterable[str], is_stranger: IsStranger) -> list[str]:
    """Return the strangers among the files of a directory but for the first `STRANGERS_MAX`."""
    return sorted(filter(is_stranger, names))[STRANGERS_MAX:]


def parse_metadata_snapshot(name: str) -> tuple[Offset, Epoch] | None:
    """Return the end offset and epoch of a KRaft snapshot, by their columns in its name (Snapshots.parse).

    None if these are not numbers; a broker's start fails then if the name has one of SNAPSHOT_ENDINGS.
    """
    offset, epoch = java_long(name[:20]), java_int(name[21:31])
    return None if offset is None or epoch is None else (Offset(offset), Epoch(epoch))


def metadata_snapshots(names: Iterable[str]) -> list[tuple[Epoch, Offset, str]]:
    """Return KRaft's complete snapshots among some files, by epoch, then by offset, as OffsetAndEpoch orders them."""
    parsed = ((parse_metadata_snapshot(name), name) for name in names if name.endswith(SNAPSHOT_ENDINGS[0]))
    return sorted((end_and_epoch[1], end_and_epoch[0], name) for end_and_epoch, name in parsed if end_and_epoch)


def _has_suffix(kind: FileKind, suffix: str) -> bool:
    """Return whether brokers use the suffix for files of this kind. A producer snapshot is never cleaned or swapped."""
    return kind is not FileKind.PRODUCER_SNAPSHOT or suffix in ("", DELETED)


@lru_cache(256)  # Every step of a start names the files of the segment again.
def segment_prefix(base_offset: int) -> str:
    """Return the first 20 digits of a segment's file names (LogFileUtils.filenamePrefixFromOffset)."""
    return str(base_offset).zfill(20) if base_offset >= 0 else f"-{-base_offset:020d}"


def log_name(base_offset: int) -> str:
    """Return the name of a segment's `.log`."""
    return segment_prefix(base_offset) + ".log"


def segment_bases(names: Iterable[str]) -> list[Offset]:
    """Return the base offsets of the segments that a broker loads, ascending: `.log` files with 20-digit names."""
    files = (parse_file(name) for name in names if name.endswith(".log"))
    return sorted(
        file.offset for file in files if file.kind is FileKind.LOG and file.canonical and file.offset is not None
    )


@lru_cache(4)  # Every rule about the files of a partition needs it again, and nearly all files belong to segments.
def files_beside_segments(names: frozenset[str]) -> tuple[str, ...]:
    """Return the files of a partition directory other than each `.log` with 20 digits and its two indexes, sorted.

    An offset or time index without its `.log` is in the result.
    """
    logs = [name for name in names if name.endswith(".log") and _PLAIN_PREFIX(name) and len(name) == _LOG_NAME_SIZE]
    of_segments = [name[:-3] + ending for name in logs for ending in ("log", "index", "timeindex")]
    return tuple(sorted(names.difference(of_segments)))
