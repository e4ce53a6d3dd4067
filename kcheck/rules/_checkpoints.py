"""The effect of a checkpoint that a broker cannot read, and the advice, by file, error and release.

Facts: CheckpointFileWithFailureHandler, LogManager.loadLogs, ReplicaManager, LogCleanerManager of 0.8.2 to 4.3.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from kcheck.core.start.startup import IO_ERRORS
from kcheck.model.finding import Finding, Severity
from kcheck.model.names import CLEANER_OFFSET, LEADER_EPOCHS, LOG_START, RECOVERY_POINT, REPLICATION_OFFSET
from kcheck.model.parsed import Defect
from kcheck.model.release import Release
from kcheck.model.views import FileView
from kcheck.rules._contract import Rule
from kcheck.rules._words import at, defect_rows, kafka

OFFSET_CHECKPOINT_KIND = "offset-checkpoint"
LEADER_EPOCH_KIND = "leader-epoch-checkpoint"
CHECKPOINT_KINDS = (OFFSET_CHECKPOINT_KIND, LEADER_EPOCH_KIND)

OUT_OF_MEMORY = "OutOfMemoryError"

LOG_DIR_OFFLINE = "takes this log dir offline, with its partitions, until a restart, and halts if it has no other"
_EMPTY_RECOVERY_POINT = (
    "treats the file as empty. After an unclean shutdown it scans every segment of this log dir, which can take "
    "hours. No data is lost"
)
_EMPTY_LOG_START = (
    "treats the file as empty. Each log starts at its first segment, and records that DeleteRecords removed become "
    "readable again"
)
OPEN_TRANSACTION = "; with an open transaction in a partition it does not start"


class CheckpointOutcome(NamedTuple):
    """The broker's reaction, as a severity and in words."""

    severity: Severity
    words: str


def outcome(name: str, error: str, release: Release) -> CheckpointOutcome:
    """Return the reaction of a broker of `release` when reading the checkpoint `name` raised `error`."""
    by_name = {
        RECOVERY_POINT: _recovery_point,
        LOG_START: _log_start,
        REPLICATION_OFFSET: _high_watermark,
        CLEANER_OFFSET: _cleaner,
        LEADER_EPOCHS: _leader_epoch,
    }
    known = by_name.get(name)
    if known is None:
        severity = Severity.FATAL if error in IO_ERRORS else Severity.ERROR
        return CheckpointOutcome(
            severity, f"{kafka(release)} cannot read it ({error}); the effect depends on its name."
        )
    severity, words = known(error, release)
    return CheckpointOutcome(severity, f"{kafka(release)} {words} ({error}).")


def _recovery_point(error: str, release: Release) -> tuple[Severity, str]:
    if release.aborts_on_bad_recovery_point:
        return Severity.FATAL, "does not start"
    if error == OUT_OF_MEMORY:
        return Severity.FATAL, "does not start, because the count in the file needs more memory than is available"
    if not release.has_offline_log_dirs or error not in IO_ERRORS:
        return Severity.WARNING, _EMPTY_RECOVERY_POINT
    return Severity.FATAL, f"{LOG_DIR_OFFLINE}{_open_transaction(release)}"


def _log_start(error: str, release: Release) -> tuple[Severity, str]:
    if error == OUT_OF_MEMORY:
        return Severity.FATAL, "does not start, because the count in the file needs more memory than is available"
    if not release.has_offline_log_dirs or error not in IO_ERRORS:
        return Severity.ERROR, _EMPTY_LOG_START
    return Severity.FATAL, f"{LOG_DIR_OFFLINE}{_open_transaction(release)}"


def _high_watermark(error: str, release: Release) -> tuple[Severity, str]:
    if release.has_offline_log_dirs and error in IO_ERRORS:
        return Severity.FATAL, f"{LOG_DIR_OFFLINE}. This happens when the first partition becomes leader or follower"
    if not release.is_kraft_only:
        request = "cannot start the partitions of this log dir, because each LeaderAndIsr request fails"
        if not release.runs_on_without_high_watermarks:
            return Severity.ERROR, request
        return (
            Severity.ERROR,
            f"{request}. In KRaft mode the broker keeps running with only some replicas started",
        )
    words = "keeps running. It does not start the leaders among its partitions, and each follower in this log dir fails"
    return Severity.ERROR, words


def _cleaner(error: str, release: Release) -> tuple[Severity, str]:
    if release.has_offline_log_dirs and error in IO_ERRORS:
        return Severity.FATAL, f"treats the file as empty and {LOG_DIR_OFFLINE}"
    words = (
        "loses every cleaner thread at the first cleaning pass. Compaction stops on all log dirs, with no other sign. "
        "Compacted topics (__consumer_offsets first) grow for ever"
    )
    return Severity.ERROR, words


def _leader_epoch(error: str, release: Release) -> tuple[Severity, str]:
    if error == OUT_OF_MEMORY:
        return Severity.FATAL, "does not start, because the count in the file needs more memory than is available"
    if error not in IO_ERRORS or not release.outlives_bad_partition_files:
        return Severity.FATAL, "does not start, because of this one file in one partition"
    return Severity.FATAL, f"{LOG_DIR_OFFLINE}{_open_transaction(release)}"


def _open_transaction(release: Release) -> str:
    return OPEN_TRANSACTION if release.aborts_on_open_transactions_offline else ""


_STOP = "Stop the broker and keep a copy of the file outside every log dir."

ADVICE = {
    RECOVERY_POINT: "Then replace it with an empty file (two lines, 0 and 0). That is always safe. After an unclean "
    "shutdown the broker then scans all segments. Never raise a value in it.",
    LOG_START: "Then rewrite it with the readable lines and the right count. Without its entry, a partition makes "
    "deleted records readable again; a topic in remote storage needs its entry. Never write a value above the log end.",
    REPLICATION_OFFSET: "Then rewrite it with the readable lines and the right count. Remove an entry only if that "
    "partition has leader epochs, or if this broker leads it. Otherwise the follower truncates to its log start. "
    "Never raise a value.",
    CLEANER_OFFSET: "Then replace it with an empty file (two lines, 0 and 0). That is always safe. The broker cleans "
    "every compacted log once from the beginning.",
    LEADER_EPOCHS: "If another replica is in sync, move this partition directory outside every log dir. The broker "
    "then re-replicates it. Otherwise rebuild the file from the batch headers of all segments. With an empty file the "
    "broker "
    "starts, but this replica truncates to its high watermark. Never invent epochs.",
}
ADVICE_OTHER = "Find out which checkpoint it was; each one is repaired differently."


def refusal_finding(
    rule: Rule, view: FileView, error: str, message: Callable[[Sequence[Defect]], str], release: Release
) -> Finding:
    """Return the finding about a checkpoint that the broker's reader refuses; `message` is given what it refuses."""
    refused = [defect for defect in view.parsed.defects if not defect.accepted]
    what = outcome(view.name, error, release)
    return rule.finding(
        at(view, refused[0] if refused else None),
        message(refused),
        effect=what.words,
        advice=advice(view.name),
        severity=what.severity,
        data={"error": error, "defect_count": len(refused), "defects": defect_rows(refused)},
    )


def advice(name: str) -> str:
    """Return the advice about an unreadable checkpoint of that name."""
    return f"{_STOP} {ADVICE.get(name, ADVICE_OTHER)}"
