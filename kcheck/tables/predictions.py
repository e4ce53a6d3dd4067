"""What the next start makes of a partition directory, and of each log dir."""

from kcheck.model.report import Column
from kcheck.tables._contract import DIRECTORY, PLACE, Table

TABLE = Table(
    "predictions",
    "A partition directory, or a log dir, that the next start of its broker loads or fails on.",
    (
        *DIRECTORY,
        Column(
            "outcome", "string",
            "ok, repaired, lost, stray, deleted, offline, abort: what becomes of it; unknown where the start reads it "
            "through, which a scan does to the depth of crc or records.",
        ),
        Column("reason", "string", "Why it is not simply loaded; of a log dir, whose dir is null, the verdict."),
        Column("uncertain", "string", "On what else the answer depends, where the files cannot tell."),
        Column("log_start_offset", "int64", "The log start after the start, null if it is not loaded."),
        Column("log_end_offset", "int64", "The log end after the start."),
        Column("recovery_point", "int64", "The recovery point after the start."),
        Column("high_watermark", "int64", "The high watermark that it begins with."),
        Column("leader_epochs", "json", "The entries of the epoch cache."),
        Column("lost", "json", "What it will not have any more: from, to, records, bytes, below_high_watermark."),
        Column("scan_bytes", "int64", "So many bytes of segments are read at the start."),
        Column("files", "json", "The files that are created, changed, removed, renamed."),
    ),
    in_run=PLACE,
)  # fmt: skip
