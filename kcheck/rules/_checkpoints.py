"""What a broker does when its reader fails on a checkpoint, and what to do then: by file, error and release.

Facts: CheckpointFileWithFailureHandler, LogManager.loadLogs, ReplicaManager, LogCleanerManager of 0.8.2 to 4.3.
"""

from typing import NamedTuple

from kcheck.core.startup import IO_ERRORS
from kcheck.model.finding import Severity
from kcheck.model.names import CLEANER_OFFSET, LEADER_EPOCHS, LOG_START, RECOVERY_POINT, REPLICATION_OFFSET
from kcheck.model.release import Release
from kcheck.rules._words import kafka

OFFSET_CHECKPOINT_KIND = "offset-checkpoint"
LEADER_EPOCH_KIND = "leader-epoch-checkpoint"
CHECKPOINT_KINDS = (OFFSET_CHECKPOINT_KIND, LEADER_EPOCH_KIND)

OUT_OF_MEMORY = "OutOfMemoryError"

LOG_DIR_OFFLINE = (
    "takes the whole log dir offline: every partition in it is gone until a restart, and the broker halts if this was "
    "its last live log dir"
)
_EMPTY_RECOVERY_POINT = (
    "treats the file as empty: after an unclean stop every segment of every partition in this log dir is scanned, "
    "which can take hours; no data is lost"
)
_EMPTY_LOG_START = (
    "treats the file as empty: the log start of each partition falls back to its first segment, so records that "
    "DeleteRecords removed can be read again"
)
OPEN_TRANSACTION = "; where a partition has an open transaction, the whole start is aborted instead"


class Outcome(NamedTuple):
    """What the broker does, as a severity and in words."""

    severity: Severity
    words: str


def outcome(name: str, error: str, release: Release) -> Outcome:
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
        return Outcome(severity, f"{kafka(release)} cannot read it ({error}); what follows depends on the file's name.")
    severity, words = known(error, release)
    return Outcome(severity, f"{kafka(release)} {words} ({error}).")


def _recovery_point(error: str, release: Release) -> tuple[Severity, str]:
    if release.aborts_on_bad_recovery_point:
        return Severity.FATAL, "does not start"
    if error == OUT_OF_MEMORY:
        return Severity.FATAL, "does not start: the count in the file asks for more memory than there is"
    if not release.has_offline_log_dirs or error not in IO_ERRORS:
        return Severity.WARNING, _EMPTY_RECOVERY_POINT
    return Severity.FATAL, f"{LOG_DIR_OFFLINE}{_open_transaction(release)}"


def _log_start(error: str, release: Release) -> tuple[Severity, str]:
    if error == OUT_OF_MEMORY:
        return Severity.FATAL, "does not start: the count in the file asks for more memory than there is"
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
        return Severity.ERROR, f"{request}. In KRaft mode the process runs on with only some of its replicas started"
    words = (
        "starts and runs on half initialised: the leaders among its partitions are not started, and each follower in "
        "this log dir fails alone"
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
        return Severity.FATAL, "does not start: the count in the file asks for more memory than there is"
    if error not in IO_ERRORS or not release.outlives_bad_partition_files:
        return Severity.FATAL, "does not start: one such file, in one partition, aborts the start of the whole broker"
    return Severity.FATAL, f"{LOG_DIR_OFFLINE}{_open_transaction(release)}"


def _open_transaction(release: Release) -> str:
    return OPEN_TRANSACTION if release.aborts_on_open_transactions_offline else ""


_STOP = "Stop the broker and keep a copy of the file outside of every log dir."

ADVICE = {
    RECOVERY_POINT: "Then replace it by an empty set, a file of the two lines 0 and 0. That is always safe; it costs a "
    "scan of all segments if the last stop was unclean. Never raise a value in it.",
    LOG_START: "Then write it anew with the lines that can be read, and the right count. An entry that is dropped "
    "makes records below it readable again; a topic in remote storage needs its entry. Never write a value above the "
    "log end.",
    REPLICATION_OFFSET: "Then write it anew with the lines that can be read, and the right count. An entry may be "
    "dropped only if the leader-epoch-checkpoint of that partition has entries, or if this broker leads it: otherwise "
    "the follower truncates to its log start. Never raise a value.",
    CLEANER_OFFSET: "Then replace it by an empty set, a file of the two lines 0 and 0. That is always safe; every "
    "compacted log is cleaned once from its start.",
    LEADER_EPOCHS: "Best, if another replica is in sync: move this partition directory out of the log dir and let the "
    "broker fetch it anew. Otherwise rebuild the file from the batch headers of all segments. An empty file lets the "
    "broker start, but this replica then truncates to its high watermark. Never invent epochs.",
}
ADVICE_OTHER = "Find out which checkpoint it was; each one is put right in another way."


def advice(name: str) -> str:
    """Return what to do about an unreadable checkpoint of that name."""
    return f"{_STOP} {ADVICE.get(name, ADVICE_OTHER)}"
