"""How a broker fails to read a checkpoint, and the advice: by file, error and release.

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

LOG_DIR_OFFLINE = (
    "takes this log dir offline, and halts if it has no other; the partitions in it are unavailable until a restart"
)
_EMPTY_RECOVERY_POINT = (
    "treats the file as empty: after an unclean shutdown it scans every segment of every partition in this log dir, "
    "which can take hours; no data is lost"
)
_EMPTY_LOG_START = (
    "treats the file as empty: the log start of each partition falls back to its first segment, so records that "
    "DeleteRecords removed become readable again"
)
OPEN_TRANSACTION = "; an open transaction in a partition aborts the start instead"


class CheckpointOutcome(NamedTuple):
    """What the broker does, as a severity and in words."""

    severity: Severity
    words: str


def outcome(name: str, error: str, release: Release) -> CheckpointOutcome:
    """Return what a broker of `release` does when reading the checkpoint `name` raised `error`."""
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
        return Severity.FATAL, "does not start: the count in the file needs more memory than is available"
    if not release.has_offline_log_dirs or error not in IO_ERRORS:
        return Severity.WARNING, _EMPTY_RECOVERY_POINT
    return Severity.FATAL, f"{LOG_DIR_OFFLINE}{_open_transaction(release)}"


def _log_start(error: str, release: Release) -> tuple[Severity, str]:
    if error == OUT_OF_MEMORY:
        return Severity.FATAL, "does not start: the count in the file needs more memory than is available"
    if not release.has_offline_log_dirs or error not in IO_ERRORS:
        return Severity.ERROR, _EMPTY_LOG_START
    return Severity.FATAL, f"{LOG_DIR_OFFLINE}{_open_transaction(release)}"


def _high_watermark(error: str, release: Release) -> tuple[Severity, str]:
    if release.has_offline_log_dirs and error in IO_ERRORS:
        return Severity.FATAL, f"{LOG_DIR_OFFLINE}. This happens when the first partition becomes leader or follower"
    if not release.is_kraft_only:
        request = "cannot make the partitions of this log dir leaders or followers: each LeaderAndIsr request fails"
        if not release.runs_on_without_high_watermarks:
            return Severity.ERROR, request
        return (
            Severity.ERROR,
            f"{request}. In KRaft mode the broker keeps running with only some replicas started",
        )
    words = (
        "keeps running half initialised: it does not start the leaders among its partitions, and each follower in "
        "this log dir fails separately"
    )
    return Severity.ERROR, words


def _cleaner(error: str, release: Release) -> tuple[Severity, str]:
    if release.has_offline_log_dirs and error in IO_ERRORS:
        return Severity.FATAL, f"treats the file as empty and {LOG_DIR_OFFLINE}"
    words = (
        "loses every cleaner thread at the first cleaning pass: compaction stops on all log dirs of the broker, with "
        "no other sign, and compacted topics (__consumer_offsets first) grow for ever"
    )
    return Severity.ERROR, words


def _leader_epoch(error: str, release: Release) -> tuple[Severity, str]:
    if error == OUT_OF_MEMORY:
        return Severity.FATAL, "does not start: the count in the file needs more memory than is available"
    if error not in IO_ERRORS or not release.outlives_bad_partition_files:
        return Severity.FATAL, "does not start: one such file, in one partition, aborts the start of the whole broker"
    return Severity.FATAL, f"{LOG_DIR_OFFLINE}{_open_transaction(release)}"


def _open_transaction(release: Release) -> str:
    return OPEN_TRANSACTION if release.aborts_on_open_transactions_offline else ""


_STOP = "Stop the broker and keep a copy of the file outside every log dir."

ADVICE = {
    RECOVERY_POINT: "Then replace it with an empty file: two lines, 0 and 0. That is always safe; after an unclean "
    "shutdown the broker then scans all segments. Never raise a value in it.",
    LOG_START: "Then rewrite it with the readable lines and the right count. Without its entry, a partition makes "
    "deleted records readable again; a topic in remote storage needs its entry. Never write a value above the log end.",
    REPLICATION_OFFSET: "Then rewrite it with the readable lines and the right count. Remove an entry only if the "
    "leader-epoch-checkpoint of that partition has entries, or if this broker leads it: otherwise the follower "
    "truncates to its log start. Never raise a value.",
    CLEANER_OFFSET: "Then replace it with an empty file: two lines, 0 and 0. That is always safe; the broker cleans "
    "every compacted log once from its start.",
    LEADER_EPOCHS: "If another replica is in sync, move this partition directory out of the log dir and let the broker "
    "re-replicate it. Otherwise rebuild the file from the batch headers of all segments. With an empty file the broker "
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
    """Return what to do about an unreadable checkpoint of that name."""
    return f"{_STOP} {ADVICE.get(name, ADVICE_OTHER)}"
