"""What a replica of a fleet loses if another one leads."""

from kcheck.model.report import Column
from kcheck.tables._contract import PLACE, Table

TABLE = Table(
    "truncation_plans",
    "What a replica loses under a leader: a row for each replica that can lead, and each other one that then follows.",
    (
        Column("broker_id", "int64", "The id of its broker."),
        Column("topic", "string", "The topic."),
        Column("partition", "int64", "The partition."),
        Column("leader", "string", "The broker that leads in this plan, as in column broker."),
        Column("leader_id", "int64", "The id of that broker."),
        Column("best", "bool", "Whether this is the leader with which the least is lost."),
        Column("leader_epoch", "int64", "The epoch of that leader: one above every epoch seen."),
        Column("leader_log_end_offset", "int64", "Where the log of the leader ends."),
        Column("status", "string", "ok, never_completes, unfinished, fetch_fails; unknown where it cannot take part."),
        Column("problem", "string", "Why it cannot take part."),
        Column("log_end_offset_before", "int64", "Where its log ends after a start."),
        Column("high_watermark", "int64", "Its high watermark after a start."),
        Column("truncate_to", "int64", "To which offset it truncates; null if it does not."),
        Column("log_end_offset_after", "int64", "Where its log ends then."),
        Column("lost_from", "int64", "The first offset that goes and does not come back."),
        Column("lost_to", "int64", "The offset behind the last of them."),
        Column("lost_records", "int64", "Records there; null where batches were not read (--depth checkpoints)."),
        Column("lost_bytes", "int64", "Bytes of their batches, likewise."),
        Column("lost_below_high_watermark", "int64", "How many of them were below its high watermark."),
        Column("lost_certain", "bool", "False: no more than these; where the logs part is not known."),
        Column("expired_from", "int64", "The first offset that goes because the leader has removed it already."),
        Column("expired_to", "int64", "The offset behind the last of them."),
        Column("refetch_from", "int64", "The first offset that it fetches from the leader."),
        Column("refetch_to", "int64", "The offset behind the last of them."),
        Column("refetch_records", "int64", "Records there; null where batches were not read (--depth checkpoints)."),
        Column("refetch_bytes", "int64", "Bytes of their batches, likewise."),
        Column("diverges_silently_at", "int64", "From where on it keeps what the leader does not have."),
    ),
    in_run=PLACE,
)
