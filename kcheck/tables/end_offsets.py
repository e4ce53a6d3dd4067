"""The answers of a replica to OffsetsForLeaderEpoch requests."""

from kcheck.model.report import Column
from kcheck.tables._contract import Table

TABLE = Table(
    "end_offsets",
    "A replica's answer to an OffsetsForLeaderEpoch request.",
    (
        Column("broker_id", "int64", "The broker id of the replica."),
        Column("topic", "string", "The topic."),
        Column("partition", "int64", "The partition number."),
        Column("requested_epoch", "int64", "The epoch in the request."),
        Column("epoch", "int64", "The epoch in the answer, or -1."),
        Column("end_offset", "int64", "The end offset of that epoch; -1 is unknown."),
        Column("error", "string", "The error code in the answer; NONE is no error."),
        Column("log_end_offset", "int64", "The log end offset of the replica."),
        Column("problem", "string", "Why the replica cannot answer."),
    ),
)
