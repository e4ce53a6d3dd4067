"""The prediction of a next start as JSON, with a row per log dir, and its partitions."""

from typing import TYPE_CHECKING

from kcheck.core.start.predictions import LogDirPrediction, PartitionPrediction
from kcheck.core.start.verdicts import shutdown_after_abort
from kcheck.formats.leader_epoch_checkpoint import entry_rows
from kcheck.model.loss import LostRecords
from kcheck.model.report import Row

if TYPE_CHECKING:
    from kcheck.core.replication.truncation_plans import TruncatedRecords


def log_dir_row(start: LogDirPrediction) -> Row:
    """Return the row of a log dir with its partitions."""
    return {
        "path": start.path,
        "broker_id": start.broker_id,
        "outcome": str(start.outcome),
        "verdict": start.verdict,
        "reason": start.reasons[0] if start.reasons else None,
        "reasons": start.reasons,
        "uncertain": start.uncertain,
        "clean_start": start.clean,
        "mode": str(start.mode),
        "next_start": shutdown_after_abort(start),
        "lost_records": start.lost_records,
        "scan_bytes": sum(partition.scan_bytes for partition in start.partitions),
        "partitions": tuple(
            {"broker_id": start.broker_id, "log_dir": start.path, **partition_row(partition)}
            for partition in start.partitions
        ),
    }


def partition_row(partition: PartitionPrediction) -> dict[str, object]:
    """Return the row of a partition."""
    log, changes, lost = partition.log, partition.changes, partition.lost
    return {
        "dir": partition.dir,
        "topic": partition.directory.topic,
        "partition": partition.directory.partition,
        "outcome": str(partition.outcome),
        "reason": partition.reason,
        "uncertain": partition.uncertain,
        "log_start_offset": None if log is None else log.log_start_offset,
        "log_end_offset": None if log is None else log.log_end_offset,
        "recovery_point": None if log is None else log.recovery_point,
        "high_watermark": partition.high_watermark,
        "leader_epochs": None if log is None else entry_rows(log.leader_epochs),
        "lost": None if lost is None else loss_row(lost),
        "scan_bytes": partition.scan_bytes,
        "files": {
            "created": changes.created,
            "changed": changes.changed,
            "removed": changes.removed,
            "renamed": tuple({"from": old, "to": new} for old, new in changes.renamed),
            "unknown": changes.unknown,
        },
    }


def loss_row(lost: LostRecords) -> dict[str, object]:
    """Return the row of records that a next start or a repair loses."""
    bound = {} if lost.at_most is None else {"at_most": lost.at_most}
    return {**lost_row(lost), "at_least": lost.at_least, **bound}


def lost_row(lost: "LostRecords | TruncatedRecords") -> dict[str, object]:
    """Return the row of lost records."""
    return {
        "from": lost.start,
        "to": lost.end,
        "records": lost.records,
        "bytes": lost.bytes,
        "below_high_watermark": lost.below_high_watermark,
    }
