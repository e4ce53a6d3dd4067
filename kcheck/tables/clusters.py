"""The clusters of a run of `kcheck fleet scan`, by their own metadata."""

from kcheck.model.report import Column
from kcheck.tables._contract import PLACE, ScanStep, Table

TABLE = Table(
    "clusters",
    "A cluster whose metadata the scan has read. The broker is the one that holds the newest copy.",
    (
        Column("cluster_id", "string", "The cluster id."),
        Column("path", "string", "The newest copy of the metadata."),
        Column("end_offset", "int64", "The offset where that copy ends."),
        Column("time", "int64", "The time of its last record, in ms since 1970."),
        Column("leader", "int64", "The controller that led last."),
        Column("epoch", "int64", "The controller epoch."),
        Column("voters", "json", "The controllers that elect."),
        Column("committed_to", "int64", "The offset below which the copies prove every record committed."),
        Column("copies", "int64", "Number of complete copies in the scan."),
        Column("brokers", "int64", "Number of registered brokers."),
        Column("topics", "int64", "Number of topics."),
        Column("partitions", "int64", "Number of partitions."),
        Column("features", "json", "The finalized level of each feature."),
        Column("configs", "json", "The configurations that change a decision: kind, name, config."),
    ),
    in_run=PLACE,
    steps=(ScanStep.CLUSTER,),
)
