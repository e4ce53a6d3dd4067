"""The names in a log dir: partition directories, segment files, checkpoints.

Names come from the disk and may be anything. Rules: LocalLog.parseTopicPartitionName, LogFileUtils,
LogManager.loadLogs.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

from kcheck.model.entries import Offset
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
REMOTE_INDEX_CACHE = "remote-log-index-cache"


@dataclass(frozen=True, slots=True, order=True)
class TopicPartition:
    """A topic and a partition number."""

    topic: str
    partition: int


class DirectoryState(StrEnum):
    """What the suffix of a partition directory says."""

    CURRENT = "current"
    FUTURE = "future"
    DELETED = "deleted"
    STRAY = "stray"


@dataclass(frozen=True, slots=True)
class PartitionDirectory:
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
_SUFFIX_SINCE = {"delete": (0, 10, 2), "future": (1, 1), "stray": (3, 6, 1)}


def is_legal_topic(topic: str) -> bool:
    """Whether a client can make a topic of this name (Topic.validate 0.8.2 to 4.3.1)."""
    return _LEGAL_TOPIC.fullmatch(topic) is not None and topic not in (".", "..")


def parse_directory(name: str) -> PartitionDirectory | None:
    """Return what the newest broker reads in a directory's name, None where it is no partition directory."""
    match = _CANONICAL.fullmatch(name)
    if match and (len(match[2]) < 10 or int(match[2]) < 2**31):
        state = _STATES[match[4]] if match[4] else DirectoryState.CURRENT
        return PartitionDirectory(match[1], int(match[2]), state, canonical=True)
    found = _parse(name, tuple(_SUFFIX_SINCE))
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
    return _parse(name, tuple(suffix for suffix, since in _SUFFIX_SINCE.items() if release.version >= since))


def skipped_by_broker(name: str, release: Release) -> bool:
    """Whether LogManager.loadLogs passes over a directory without parsing or loading it."""
    if name == REMOTE_INDEX_CACHE:
        return release.version >= (3, 5)
    found = parse_directory(name)
    return found is not None and found.topic == CLUSTER_METADATA and release.version >= (2, 8)


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
    """What a file in a partition directory is, by its name."""

    LOG = "log"
    INDEX = "index"
    TIME_INDEX = "timeindex"
    TRANSACTION_INDEX = "txnindex"
    PRODUCER_SNAPSHOT = "snapshot"
    METADATA_SNAPSHOT = "checkpoint"
    LEADER_EPOCHS = "leader-epoch-checkpoint"
    PARTITION_METADATA = "partition.metadata"
    QUORUM_STATE = "quorum-state"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class PartitionFile:
    """A file in a partition directory: its kind, the offset in its name, its second suffix (`.swap`), or "".

    `canonical` is False where the offset is not written in 20 digits: the broker opens another name then.
    """

    kind: FileKind
    offset: Offset | None
    suffix: str
    canonical: bool = True


_SEGMENT_FILE = re.compile(r"([^.]+)\.(log|index|timeindex|txnindex|snapshot)(\.cleaned|\.swap|\.deleted)?")
_METADATA_SNAPSHOT = re.compile(r"([0-9]{20})-([0-9]{10})(-[^.]*)?\.checkpoint(\.part|\.deleted)?")
_FIXED = {
    LEADER_EPOCHS: FileKind.LEADER_EPOCHS,
    PARTITION_METADATA: FileKind.PARTITION_METADATA,
    "quorum-state": FileKind.QUORUM_STATE,
}


def parse_file(name: str) -> PartitionFile:
    """Return what a file in a partition directory is (LogFileUtils.offsetFromFileName, Snapshots.parse)."""
    stem = name.removesuffix(".tmp")
    if stem in _FIXED:
        return PartitionFile(_FIXED[stem], None, ".tmp" if stem != name else "")
    match = _SEGMENT_FILE.fullmatch(name)
    if match:
        offset = java_long(match[1])
        canonical = offset is not None and match[1] == segment_prefix(Offset(offset))
        return PartitionFile(FileKind(match[2]), None if offset is None else Offset(offset), match[3] or "", canonical)
    match = _METADATA_SNAPSHOT.fullmatch(name)
    if match:
        return PartitionFile(FileKind.METADATA_SNAPSHOT, Offset(int(match[1])), match[4] or "")
    return PartitionFile(FileKind.OTHER, None, "", canonical=False)


def segment_prefix(base_offset: Offset) -> str:
    """Return the 20 digits that a segment's files begin with (LogFileUtils.filenamePrefixFromOffset)."""
    return f"{base_offset:020d}"
