"""What the next start makes of a partition directory."""

from kcheck.model.report import Column
from kcheck.tables._contract import Table

TABLE = Table(
    "predictions",
    "A partition directory that the next start of its broker loads, or fails on.",
    (
        Column("path", "string", "The log dir."),
        Column("dir", "string", "The partition directory in it."),
        Column("topic", "string", "The topic."),
        Column("partition", "int64", "The partition."),
        Column("outcome", "string", "ok, repaired, lost, stray, deleted, offline, abort: what becomes of it."),
        Column("reason", "string", "Why it is not simply loaded."),
        Column("log_start_offset", "int64", "The log start after the start, null if it is not loaded."),
        Column("log_end_offset", "int64", "The log end after the start."),
        Column("recovery_point", "int64", "The recovery point after the start."),
        Column("high_watermark", "int64", "The high watermark that it begins with."),
        Column("leader_epochs", "json", "The entries of the epoch cache."),
        Column("lost", "json", "The records that it will not have any more: offsets, records, bytes; null is none."),
        Column("scan_bytes", "int64", "So many bytes of its segments are read at the start."),
        Column("files", "json", "The files that are created, changed, removed, renamed."),
    ),
)
COLUMNS = TABLE.columns
