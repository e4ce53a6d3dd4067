"""The topic id in partition.metadata is not the id that the cluster gave the topic.

What is wrong: The cluster has a topic of this name, with another id. The topic was deleted and created again while this
broker was down. Or the directory or partition.metadata was copied from another topic or cluster. kcheck reads the
metadata in `__cluster_metadata-0`, or where `--metadata` points, also of ZooKeeper.

What a KRaft broker does with the directory when it starts:

- 3.7 and later: It renames it to `-stray`. The data stays on the disk, but the broker no longer serves it. Where the
  cluster has a replica here, the broker creates it again, empty.
- 3.3 to 3.6: it DELETES it.
- If the id belongs to another topic with this partition here: It keeps the directory and refuses the partition
  (InconsistentTopicIdException). The replica neither leads nor follows. When the replica is to lead, the error also
  ends the change of leaders. Some or all other partitions of the broker get no leader (premise P109).

A ZooKeeper broker deletes and renames nothing. 3.0 and later refuse the partition (InconsistentTopicIdException). 2.8
treats the records as records of the new topic.

What to do: If another topic has the id, the name of the directory or the id is wrong. `kcheck recover` with the log
dirs of all brokers compares the batches, and has the commands for a proven name. If only the id is wrong, `kcheck
repair --adopt --against` needs another replica as proof.

If the directory was copied here, remove it. If the topic was recreated on purpose, and the records are not
needed, let the broker rename the directory. If you may need them, copy it outside every log dir before the broker
starts. If the topic was deleted by mistake, or ZooKeeper was lost, the records can come back. Create the topic with the
same partitions. Then plan `kcheck repair --adopt` for each broker that has a copy, before any of them starts. It gives
the directory the id that the topic has now. Directories that end in `-delete` or `-stray`, and leader epochs above the
new topic's, need `kcheck recover topic`.

See: operations/deleted-topic.md
"""

from collections.abc import Iterable

from kcheck.core.start.startup import Outcome
from kcheck.core.start.strays import becomes_of_strays
from kcheck.model.cluster import ReplicaInCluster
from kcheck.model.finding import Claimed, Effect, Finding, Severity
from kcheck.model.names import PARTITION_METADATA
from kcheck.model.release import Release
from kcheck.model.views import PartitionView
from kcheck.rules._cluster import has_metadata, has_other_topic_id, source_of
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._partition import says
from kcheck.rules._words import kafka
from kcheck.words import counted

_NAME_FIRST = (
    "The name of the directory or the id is wrong. kcheck recover with the log dirs of all brokers compares the"
    " batches. Change neither before."
)


def check(view: PartitionView, release: Release) -> Iterable[Finding]:
    """Compare the id in partition.metadata with the id of the topic of this name."""
    replica = view.in_cluster
    if replica is None or not has_other_topic_id(view, replica):
        return
    yield RULE.finding(
        view.where._replace(file=PARTITION_METADATA),
        f"the topic id is {view.topic_id}, but the cluster gave {view.topic} the id {replica.topic_id}, according to "
        f"{source_of(replica)}",
        effect=becomes_stray(view, replica, release) if replica.stray else _refused(replica, release),
        advice=_NAME_FIRST
        if replica.owner is not None
        else "Copy the directory outside every log dir if you may need its records. kcheck repair --adopt or kcheck "
        "recover topic brings them back into the topic of this name.",
        severity=Severity.ERROR if replica.is_certain else Severity.WARNING,
        data={"topic_id": view.topic_id, "topic_id_of_cluster": replica.topic_id},
    )


def becomes_stray(view: PartitionView, replica: ReplicaInCluster, release: Release) -> Effect:
    """Return the effect of the next start on a directory that the cluster does not place here."""
    held = counted(view.size, "byte")
    if replica.of_zookeeper:
        return Effect(f"{kafka(release)} keeps the directory, and does not serve it ({held}).", ())
    if becomes_of_strays(release) is Outcome.DELETED:
        return says(f"{kafka(release)} will DELETE the directory ({held}).", Claimed.STRAY)
    words = f"{kafka(release)} will RENAME THE DIRECTORY to -stray and no longer serve it ({held})."
    return says(words, Claimed.STRAY)


def _refused(replica: ReplicaInCluster, release: Release) -> str:
    whose = "" if replica.of_zookeeper else "The id belongs to another topic: "
    if not release.compares_topic_ids:
        return f"{kafka(release)} treats the records as the new topic's, and truncates them as its leader says."
    words = f"{whose}{kafka(release)} keeps the directory and refuses the partition (InconsistentTopicIdException)"
    if replica.of_zookeeper:
        return f"{words}."
    return f"{words}. Once the controller makes it the leader there, some or all of its other partitions get no leader."


RULE = Rule(severity=Severity.ERROR, scope=Scope.PARTITION, check=check, when=has_metadata, cites_metadata=True)
