"""The partitions of a cluster, by its own metadata."""

from kcheck.model.report import Column
from kcheck.tables._contract import PLACE, ScanStep, Table

STATE = (
    Column("leader", "int64", "The broker that leads it; -1 if none does."),
    Column("last_leader", "int64", "The latest leader. If no record names one, the only broker that can have been it."),
    Column("last_leader_epoch", "int64", "The epoch of that leader; null if only a later snapshot is known."),
    Column("leader_epoch", "int64", "The leader epoch."),
    Column("partition_epoch", "int64", "The partition epoch; with ZooKeeper the version of the znode."),
    Column("replicas", "json", "The brokers of its replicas, the preferred leader first."),
    Column("isr", "json", "The replicas in sync."),
    Column("elr", "json", "The eligible leader replicas."),
    Column("last_known_elr", "json", "The last leader, once neither ISR nor ELR has a member."),
    Column("adding", "json", "The replicas that a reassignment adds."),
    Column("removing", "json", "The replicas that a reassignment removes."),
    Column("directories", "json", "The log dir ids of the replicas, in their order."),
    Column("recovering", "bool", "True if the leader was elected uncleanly and has not recovered yet."),
)
TABLE = Table(
    "cluster_partitions",
    "A partition, as the controllers know it. In a run the broker is its leader, or its latest one.",
    (
        Column("topic", "string", "The topic."),
        Column("topic_id", "string", "The topic's id."),
        Column("partition", "int64", "The partition number."),
        *STATE,
        Column("min_isr", "int64", "Number of replicas that must be in sync for acks=all, by the metadata."),
        Column("health", "json", "Its problems, the worst first."),
    ),
    in_run=PLACE,
    steps=(ScanStep.CLUSTER,),
)
