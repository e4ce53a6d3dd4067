"""The effect of the next broker start on a partition directory or a log dir."""

from kcheck.model.report import Column
from kcheck.tables._contract import DIRECTORY, KAFKA_DIFFERS, PLACE, ScanStep, Table

TABLE = Table(
    "predictions",
    "A partition directory or a log dir, and what the next start of its broker does with it.",
    (
        *DIRECTORY,
        Column(
            "outcome", "string",
            "ok, repaired, lost, stray, deleted, offline or abort. It is unknown if it depends on a full read of the "
            "log, which only --depth crc or records does.",
        ),
        Column("reason", "string", "The reason if the outcome is not ok; for a log dir, where dir is null, "
        "the verdict."),
        Column("uncertain", "string", "The other facts that the outcome depends on, if the files do not decide it."),
        Column("log_start_offset", "int64", "The log start offset after the next start; null if it is not loaded."),
        Column("log_end_offset", "int64", "The log end offset after the next start."),
        Column("recovery_point", "int64", "The recovery point after the next start."),
        Column("high_watermark", "int64", "The initial high watermark after the next start."),
        Column("leader_epochs", "json", "The entries of the epoch cache after the next start."),
        Column("lost", "json", "The loss of the next start, with from, to, records, bytes, below_high_watermark, "
        "at_least."),
        Column("scan_bytes", "int64", "Bytes of segments that the broker reads when it starts."),
        Column("files", "json", "The files that the broker creates, changes, removes or renames when it starts."),
    ),
    in_run=(*PLACE, KAFKA_DIFFERS),
    steps=(ScanStep.DIRECTORY, ScanStep.BROKER),
)  # fmt: skip
