"""The changes of one partition, by the records of the cluster's metadata or by ZooKeeper's transactions."""

from kcheck.model.report import Column
from kcheck.tables._contract import Table
from kcheck.tables.cluster_partitions import STATE

TABLE = Table(
    "cluster_history",
    "A change of a partition.",
    (
        Column(
            "offset",
            "int64",
            "The offset of the record, with ZooKeeper the zxid; null for a change that a snapshot contains.",
        ),
        Column("time", "int64", "The time of the change, in ms since 1970."),
        Column(
            "event", "string", "created, changed or removed; snapshot is the state from which the history continues."
        ),
        Column("topic", "string", "The topic."),
        Column("topic_id", "string", "The topic's id."),
        Column("partition", "int64", "The partition number."),
        *STATE,
    ),
)
