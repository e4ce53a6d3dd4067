"""The replicas of a partition of a fleet, and what hangs on one disk."""

from kcheck.model.report import Column
from kcheck.tables._contract import PLACE, Table

TABLE = Table(
    "replica_sets",
    "The replicas of a partition; cluster and broker are those of the best leader, the one with which least is lost.",
    (
        Column("broker_id", "int64", "The id of the best leader; null if no replica can lead."),
        Column("topic", "string", "The topic."),
        Column("partition", "int64", "The partition."),
        Column("replicas", "int64", "On how many brokers it is."),
        Column("replicas_of_topic", "int64", "The largest number of brokers that a partition of the topic is on."),
        Column("able", "int64", "How many of the replicas can take part after a start."),
        Column("log_end_offset", "int64", "Where the log of the best leader ends."),
        Column("high_watermark", "int64", "The highest high watermark of a replica after a start."),
        Column("lost", "int64", "Offsets that the others lose if the best leads, all of them together."),
        Column(
            "lost_below_high_watermark", "int64", "How many of these were below the high watermark of who loses them."
        ),
        Column("at_risk_from", "int64", "The first offset that is on the best leader alone: lost if its disk dies."),
        Column("at_risk_to", "int64", "The offset behind the last of them."),
        Column("at_risk_below_high_watermark", "int64", "How many of these are below the highest high watermark."),
    ),
    in_run=PLACE,
)
