"""The clusters of a run of `kcheck fleet scan`, by their own metadata."""

from kcheck.model.report import Column
from kcheck.tables._contract import PLACE, ScanStep, Table

METADATA = (
    Column("cluster_id", "string", "The cluster id."),
    Column("path", "string", "The newest copy of the metadata."),
    Column("end_offset", "int64", "The offset where that copy ends."),
    Column("time", "int64", "The time of its last record, in ms since 1970."),
    Column("leader", "int64", "The controller that led last."),
    Column("epoch", "int64", "The controller epoch."),
    Column("voters", "json", "The controllers that elect."),
    Column("committed_to", "int64", "The offset below which the copies prove every record committed."),
    Column("copies", "int64", "Number of complete copies in the scan."),
    Column("copy_ends", "json", "The node, controller epoch and end of each of these copies."),
    Column("brokers", "int64", "Number of registered brokers."),
    Column("topics", "int64", "Number of topics."),
    Column("partitions", "int64", "Number of partitions."),
    Column("features", "json", "The finalized level of each feature."),
    Column("configs", "json", "The kind, name and config of each configuration that changes a decision."),
)
"""The columns that the metadata fills in."""
DECISION = (
    Column("decision", "string", "The loss if everything starts now, and the loss of the plan of kcheck recover."),
    Column(
        "safe", "bool", "True if starting everything now loses no committed record and every partition has a leader."
    ),
    Column("start_all_lost", "int64", "Records that starting everything now loses at most; null if not known."),
    Column("start_all_committed", "int64", "Committed ones among them, at most."),
    Column("start_all_offline", "int64", "Partitions that get no leader then."),
    Column("plan_lost", "int64", "Records that the plan loses at most; null if not known."),
    Column("plan_committed", "int64", "Committed ones among them, at most."),
    Column("plan_offline", "int64", "Partitions that get no leader by the plan."),
    Column("first_steps", "json", "The step, title and commands of the first steps of the plan."),
    Column("not_known", "json", "The facts that only the disks show."),
    Column("recover", "string", "The command that reads the disks and writes the plan."),
    Column(
        "decision_differs",
        "string",
        "The other end of the range of Kafka releases that the files fit, with its other decision. The row "
        "is for the end at which more is lost. Null if both ends have the same decision.",
    ),
)
"""The columns of the decision of `kcheck recover --from`, once all tables are there."""
TABLE = Table(
    "clusters",
    "A cluster whose metadata the scan has read. The broker has the newest copy.",
    (*METADATA, *DECISION),
    in_run=PLACE,
    steps=(ScanStep.CLUSTER,),
)
