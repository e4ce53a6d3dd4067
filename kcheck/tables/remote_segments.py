"""The segments in remote storage according to `__remote_log_metadata`, in a run of `kcheck fleet scan`."""

from kcheck.model.report import Column
from kcheck.tables._contract import Table

TABLE = Table(
    "remote_segments",
    "A segment in remote storage, according to __remote_log_metadata.",
    (
        Column("topic", "string", "The topic."),
        Column("partition", "int64", "The partition number."),
        Column("topic_id", "string", "The topic id."),
        Column("segment_id", "string", "The id of the segment."),
        Column("start_offset", "int64", "Its first offset; null if only later records of it are left."),
        Column("end_offset", "int64", "The offset after its last one."),
        Column("bytes", "int64", "The size of its .log in bytes."),
        Column("remote_bytes", "int64", "The size of its objects in bytes; null without --store."),
        Column("state", "string", "copy-started, copy-finished, delete-started or delete-finished."),
        Column("tries", "int64", "Number of times that a broker has begun to delete it."),
        Column("first_ms", "int64", "The time of its first record, in ms since 1970."),
        Column("last_ms", "int64", "The time of its last record, in ms since 1970."),
        Column("epochs", "json", "The epoch and start_offset of its leader epochs."),
        Column("lineage", "string", "current if a replica of the scan serves it, otherwise older."),
    ),
    in_run=(Column("cluster", "string", "The cluster's name in the layout or the inventory, otherwise its id."),),
)
