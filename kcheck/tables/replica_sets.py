"""The replicas of a partition, and the records that only one of them has, in a run of `kcheck fleet scan`."""

from kcheck.model.report import Column
from kcheck.tables._contract import KAFKA_DIFFERS, PLACE, ScanStep, Table

TABLE = Table(
    "replica_sets",
    "The replicas of a partition. Cluster and broker name the best leader, under which the least is lost.",
    (
        Column("broker_id", "int64", "The broker id of the best leader; null if no replica can lead."),
        Column("topic", "string", "The topic."),
        Column("partition", "int64", "The partition number."),
        Column("replicas", "int64", "Number of brokers that have a replica."),
        Column("replicas_of_topic", "int64", "The largest number of replicas of any partition of the topic."),
        Column("able", "int64", "Number of replicas that can take part after the next start."),
        Column("log_end_offset", "int64", "Log end offset of the best leader."),
        Column("high_watermark", "int64", "The highest high watermark of a replica after the next start."),
        Column("lost", "int64", "Distinct records that are lost under the best leader, at most."),
        Column(
            "lost_below_high_watermark",
            "int64",
            "At most this number of them are committed, below a high watermark of a replica that has them.",
        ),
        Column(
            "at_risk_from",
            "int64",
            "The first offset that only the best leader has; it is lost if the disk of that leader fails.",
        ),
        Column("at_risk_to", "int64", "The offset after the last of them."),
        Column("at_risk_below_high_watermark", "int64", "Number of these below the highest high watermark."),
        KAFKA_DIFFERS,
    ),
    in_run=PLACE,
    steps=(ScanStep.PARTITION,),
)
