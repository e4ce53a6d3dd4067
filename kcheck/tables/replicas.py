"""The replicas of a run of `kcheck fleet scan`, as the next start of their brokers leaves them."""

from kcheck.model.report import Column
from kcheck.tables._contract import DIRECTORY, PLACE, ScanStep, Table

TABLE = Table(
    "replicas",
    "A partition directory as the next start of its broker leaves it, for elections and truncations.",
    (
        *DIRECTORY,
        Column("state", "string", "current, future, deleted, stray, by the suffix of the directory name."),
        Column("outcome", "string", "The outcome of its next start, as in predictions."),
        Column("problem", "string", "The reason why it cannot take part."),
        Column("topic_id", "string", "The topic id in its partition.metadata."),
        Column("high_watermark", "int64", "Its entry in replication-offset-checkpoint."),
        Column(
            "loaded_log_start", "int64", "Its log start offset after the next start, as far as the scan has read it."
        ),
        Column("loaded_log_end", "int64", "Its log end offset, likewise."),
        Column("loaded_high_watermark", "int64", "Its high watermark, likewise."),
        Column("first_segment", "int64", "The base offset of its oldest segment, likewise."),
        Column("seen_epoch", "int64", "The highest leader epoch in its file and its last batch, or -1."),
        Column(
            "cached_epochs", "json", "The epoch and start offset of each entry of its epoch cache after the next start."
        ),
        Column("batch_epochs", "json", "The epoch, first and last offset of its batches; null if not read."),
        Column("lost", "json", "The loss of the next start, as in predictions."),
        Column(
            "held",
            "json",
            "All records of a directory that no broker serves, with the fields of lost; null for others.",
        ),
        Column(
            "log_faults",
            "json",
            "The facts of its log that change the cost of its election, such as removed segments and corrupt batches. "
            "Null without any.",
        ),
    ),
    in_run=PLACE,
    steps=(ScanStep.DIRECTORY,),
)
