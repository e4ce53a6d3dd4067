"""The brokers of a cluster, by its own metadata."""

from kcheck.model.report import Column
from kcheck.tables._contract import PLACE, ScanStep, Table

TABLE = Table(
    "cluster_brokers",
    "A registered broker, as the controllers know it.",
    (
        Column("broker_id", "int64", "The broker id."),
        Column("epoch", "int64", "The broker epoch, which is the offset of its registration."),
        Column("fenced", "bool", "True if it is fenced, so that it leads nothing and is in no ISR."),
        Column("in_controlled_shutdown", "bool", "True if it hands over its leaderships to stop."),
        Column("log_dirs", "json", "The directory ids of its online log dirs."),
        Column("cordoned_log_dirs", "json", "Those that get no new replicas."),
        Column("software", "json", "The lowest and the highest release that its registration fits."),
        Column("incarnation_id", "string", "The id of its process."),
        Column("endpoints", "json", "Its listeners."),
        Column("rack", "string", "Its rack."),
        Column("migrating", "bool", "True if it runs with ZooKeeper while the cluster migrates."),
        Column("leads", "int64", "Number of partitions that it leads."),
        Column("led_last", "int64", "Number of partitions without a leader that it led last."),
        Column("replicas", "int64", "Number of its replicas."),
    ),
    in_run=PLACE,
    steps=(ScanStep.CLUSTER,),
)
