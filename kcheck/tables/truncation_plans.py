"""The loss of a replica if another one leads, in a run of `kcheck fleet scan`."""

from kcheck.model.report import Column
from kcheck.tables._contract import KAFKA_DIFFERS, PLACE, ScanStep, Table

TABLE = Table(
    "truncation_plans",
    "The loss of a replica under a leader. Each possible leader has a row for each of its followers.",
    (
        Column("broker_id", "int64", "The broker id of the follower."),
        Column("topic", "string", "The topic."),
        Column("partition", "int64", "The partition number."),
        Column("leader", "string", "The broker that leads in this plan, named as in the broker column."),
        Column("leader_id", "int64", "The broker id of the leader."),
        Column("best", "bool", "Whether the least is lost under this leader."),
        Column("leader_epoch", "int64", "The epoch of the leader, one above every known epoch."),
        Column("leader_log_end_offset", "int64", "Log end offset of the leader."),
        Column(
            "status",
            "string",
            "ok, never_completes, unfinished, fetch_fails or truncation_fails; unknown if it cannot take part.",
        ),
        Column("problem", "string", "Why the follower cannot take part."),
        Column("log_end_offset_before", "int64", "Its log end offset after the next start."),
        Column("high_watermark", "int64", "Its high watermark after the next start."),
        Column("truncate_to", "int64", "The offset to which it truncates; null if it does not."),
        Column("log_end_offset_after", "int64", "Its log end offset after truncation."),
        Column("lost_from", "int64", "The first offset that it loses for good."),
        Column("lost_to", "int64", "The offset after the last of them."),
        Column("lost_records", "int64", "Number of lost records; null if batches were not read (--depth checkpoints)."),
        Column("lost_bytes", "int64", "Bytes of their batches; null likewise."),
        Column("lost_below_high_watermark", "int64", "How many of the lost offsets are below its high watermark."),
        Column(
            "lost_certain",
            "bool",
            "False if these are upper bounds, because the offset where the logs diverge is unknown.",
        ),
        Column("expired_from", "int64", "The first offset that it removes because the leader has already deleted it."),
        Column("expired_to", "int64", "The offset after the last of them."),
        Column("refetch_from", "int64", "The first offset that it fetches from the leader."),
        Column("refetch_to", "int64", "The offset after the last of them."),
        Column(
            "refetch_records", "int64", "Number of these records; null if batches were not read (--depth checkpoints)."
        ),
        Column("refetch_bytes", "int64", "Bytes of their batches; null likewise."),
        Column(
            "diverges_silently_at",
            "int64",
            "The offset from which it silently keeps records that differ from the leader's.",
        ),
        KAFKA_DIFFERS,
    ),
    in_run=PLACE,
    steps=(ScanStep.PARTITION,),
)
