"""The replicas with a part in remote storage, in a run of `kcheck fleet scan`."""

from kcheck.model.report import Column
from kcheck.tables._contract import PLACE, Table

TABLE = Table(
    "tiered_partitions",
    "A replica of a partition in remote storage.",
    (
        Column("broker_id", "int64", "The broker id."),
        Column("topic", "string", "The topic."),
        Column("partition", "int64", "The partition number."),
        Column("topic_id", "string", "The topic id."),
        Column("log_start", "int64", "Its log start, in remote storage or not."),
        Column("local_start", "int64", "The base offset of its first local segment."),
        Column("log_end", "int64", "Its log end."),
        Column("must_not_lead", "bool", "True if leading loses records; null if not known."),
        Column("lost_if_leads", "int64", "Number of offsets that are lost then, at most; null if not known."),
        Column("deleted_if_leads", "int64", "Number of remote segments that Kafka deletes then, at most."),
        Column("not_readable", "int64", "Number of remote offsets that it does not serve while it leads."),
        Column("gap_from", "int64", "The first offset that is neither local nor remote; null without a gap."),
        Column("gap_to", "int64", "The offset after the last of them."),
        Column("remote_end", "int64", "The offset after the last remote one."),
        Column("segments", "int64", "Number of finished remote segments."),
        Column("remote_bytes", "int64", "The size of their .log in bytes."),
        Column("backlog_bytes", "int64", "The size of closed segments that are not copied yet."),
        Column("backlog_since", "int64", "The largest timestamp in the first of them, in ms since 1970."),
        Column("duplicated_bytes", "int64", "The bytes on its disk that are in remote storage too."),
        Column("unfinished", "int64", "Number of remote segments whose copy or deletion has not ended."),
        Column(
            "metadata",
            "string",
            "The known part of its metadata, one of read, missing, short, contradictory and not-given.",
        ),
        Column("metadata_partition", "int64", "Its partition of __remote_log_metadata."),
        Column("metadata_leader", "int64", "The leader of that partition; -1 without one."),
        Column("log_start_at_least", "int64", "The new log start of a leader by retention.bytes, at least."),
        Column("log_start_at_most", "int64", "The same at most."),
        Column(
            "first_expiry_ms",
            "int64",
            "retention.ms deletes nothing before, in ms since 1970; null without a limit, or if not known.",
        ),
        Column("last_expiry_ms", "int64", "From then on retention.ms deletes every remote segment, in ms since 1970."),
        Column("segments_below_log_start", "int64", "Number of remote segments that no reader needs."),
        Column("local_start_at_most", "int64", "The new local start by local.retention.bytes, at most."),
        Column("local_first_expiry_ms", "int64", "From then on local.retention.ms deletes copied segments on disk."),
    ),
    in_run=PLACE,
)
