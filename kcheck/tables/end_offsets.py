"""What a replica answers to OffsetsForLeaderEpoch."""

from kcheck.model.report import Column
from kcheck.tables._contract import Table

TABLE = Table(
    "end_offsets",
    "What a replica answers to OffsetsForLeaderEpoch.",
    (
        Column("broker_id", "int64", "The replica."),
        Column("topic", "string", "The topic."),
        Column("partition", "int64", "The partition."),
        Column("requested_epoch", "int64", "The epoch that is asked for."),
        Column("epoch", "int64", "The epoch in the answer; -1 is none."),
        Column("end_offset", "int64", "Where it ends; -1 is not known."),
        Column("error", "string", "The error code, NONE if there is none."),
        Column("log_end_offset", "int64", "Of the replica."),
        Column("problem", "string", "Why it cannot answer."),
    ),
)
