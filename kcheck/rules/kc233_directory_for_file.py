"""A directory has the name of a file that the broker opens.

What is wrong: An index, a `.log`, a producer snapshot, leader-epoch-checkpoint or partition.metadata is a directory,
empty or not. No broker creates one. A script, an unpacked archive or a file system repair did.

What the broker does: It lists files only, and fails where it opens a file by its name.

- `.txnindex`: The log dir goes offline (0.11 and earlier: the broker does not start).
- `.index`, `.timeindex`: The same for the last segment, and in 2.2 and earlier for every segment. For the others the
  log dir goes offline when the broker opens the file, for recovery or a lookup.
- leader-epoch-checkpoint, partition.metadata: In 3.2.0 and earlier the broker does not start. Later the log dir goes
  offline.
- `.snapshot`: The log dir goes offline when the broker writes the snapshot of that offset. It always writes the one of
  the log end when it starts. In 4.0 and later a recovery that cannot write it EMPTIES THE SEGMENT before it, and
  deletes all later ones.
- `.log`: The broker loads the log without this segment. If it was the last one, the log ends too early. The log dir
  goes offline when the broker creates a segment of that name.
- leader-epoch-checkpoint.tmp, and partition.metadata.tmp if partition.metadata is missing: The log dir goes offline
  when the broker writes the file. It does so when it leads the partition, or fetches a record of a new leader.
- `.checkpoint.part`, `.checkpoint.deleted` and quorum-state.tmp of KRaft: The broker removes them. If the directory is
  not empty, it does not start. It also ends on a `.checkpoint` whose name has no offset and epoch.
- All other names, such as leftover files: The broker never looks at the directory.

What to do: Stop the broker, move the directory outside every log dir, and check again. `kcheck repair` then restores
what is missing.
"""

from collections.abc import Iterable

from kcheck.core.start.startup import IO_ERROR, Outcome, failed_read
from kcheck.model.finding import Finding, Severity
from kcheck.model.names import (
    LEADER_EPOCHS,
    PARTITION_METADATA,
    SNAPSHOT_ENDINGS,
    TEMPORARY,
    FileKind,
    KafkaFile,
    log_name,
    parse_file,
    parse_metadata_snapshot,
)
from kcheck.model.release import Release
from kcheck.model.views import PartitionView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._partition import served
from kcheck.rules._words import escaped, kafka

_LEFT_ALONE = (Severity.INFO, "never opens a file of this name")
_OF_ELECTION = f"{FileKind.QUORUM_STATE}{TEMPORARY}"


def check(view: PartitionView, release: Release) -> Iterable[Finding]:
    """Find the directories with names of Kafka's files."""
    for name in sorted(view.directories) if served(view) else ():
        severity, effect = _effect(view, name, release)
        yield RULE.finding(
            view.where._replace(file=name),
            f"{escaped(name)} is a directory",
            effect=f"{kafka(release)} {effect}.",
            advice="Stop the broker, move the directory outside every log dir, and check again.",
            severity=severity,
            data={"kind": str(parse_file(name).kind)},
        )


def _effect(view: PartitionView, name: str, release: Release) -> tuple[Severity, str]:
    """Return the severity of a directory, and the broker's reaction."""
    if view.is_metadata_log and (name.endswith(SNAPSHOT_ENDINGS) or name == _OF_ELECTION):
        if name.endswith(SNAPSHOT_ENDINGS) and parse_metadata_snapshot(name) is None:
            return Severity.FATAL, "does not start, because the name has no offset and epoch"
        return Severity.ERROR, "removes this name, and does not start if the directory is not empty"
    if name in (LEADER_EPOCHS, LEADER_EPOCHS + TEMPORARY):
        return _of_epochs(name, release)
    if name == PARTITION_METADATA:
        return (Severity.FATAL, _failure(release)) if release.has_partition_metadata else _LEFT_ALONE
    if name == PARTITION_METADATA + TEMPORARY and PARTITION_METADATA not in view.files:
        is_written = release.has_partition_metadata
        return (Severity.ERROR, f"{_io_failure(release)} when it writes the topic id") if is_written else _LEFT_ALONE
    file = parse_file(name)
    if file.offset is None or not file.canonical or file.suffix:
        return _LEFT_ALONE
    match file.kind:
        case FileKind.LOG:
            return Severity.ERROR, "loads the log without this segment"
        case FileKind.PRODUCER_SNAPSHOT:
            return _of_snapshot(view, file, release)
        case _:
            return _of_index(view, file, release)


def _of_epochs(name: str, release: Release) -> tuple[Severity, str]:
    if not release.epoch_cache:
        return _LEFT_ALONE
    if name == LEADER_EPOCHS:
        return Severity.FATAL, _failure(release)
    return Severity.ERROR, f"{_failure(release)} when it writes the epochs"


def _failure(release: Release) -> str:
    """Return the effect of an unreadable small file of a partition."""
    aborts = failed_read(LEADER_EPOCHS, IO_ERROR, release).outcome is Outcome.ABORT
    return "does not start" if aborts else "takes the log dir offline"


def _of_snapshot(view: PartitionView, file: KafkaFile, release: Release) -> tuple[Severity, str]:
    """Return the reaction of a broker that writes this snapshot, at the log end or before a segment."""
    failure = _io_failure(release)
    if not release.has_producer_state or not file.offset:
        return _LEFT_ALONE
    if file.offset == view.log_end_offset:
        return Severity.FATAL, f"{failure}: it cannot write the producer snapshot of the log end"
    if log_name(file.offset) in view.files:
        return Severity.ERROR, f"{failure} when it writes the producer snapshot of this offset"
    return _LEFT_ALONE


def _of_index(view: PartitionView, file: KafkaFile, release: Release) -> tuple[Severity, str]:
    bases = [segment.base_offset for segment in view.segments]
    of_transactions = file.kind is FileKind.TRANSACTION_INDEX
    if file.offset not in bases or (of_transactions and not release.has_producer_state):
        return _LEFT_ALONE
    if of_transactions or release.checks_indexes or file.offset == bases[-1]:
        return Severity.FATAL, _io_failure(release)
    return Severity.ERROR, f"{_io_failure(release)} when it opens the file for recovery, a fetch or a lookup by time"


def _io_failure(release: Release) -> str:
    return "takes the log dir offline" if release.has_offline_log_dirs else "does not start"


def has_directories(view: PartitionView) -> bool:
    """Return whether a directory has the name of one of Kafka's files."""
    return bool(view.directories)


RULE = Rule(severity=Severity.FATAL, scope=Scope.PARTITION, check=check, when=has_directories)
