"""The replica has a leader epoch that the controller has not given yet.

What is wrong: The controller gives every leader its epoch, and the metadata of the cluster keep the latest one. A
broker that has those metadata never writes a higher epoch. The leader-epoch-checkpoint or the last batch has one. The
directory was copied from another cluster, or the epochs are corrupt. Or the metadata was lost and an older copy took
its place. Or this copy of the metadata is simply older than the directory. Then the finding is an info.

What the broker does: It starts, and compares nothing. As leader it removes the higher epochs from
leader-epoch-checkpoint, and writes batches with lower ones after them. As follower it does not get back in sync. The
leader refuses its fetches as out of range until its own epoch is above the replica's.

What to do: Find out which of the two is wrong before you start the broker. Compare with another replica of the
partition (`kcheck check` with the directories of all brokers). Compare with a controller's copy of the metadata too
(`--metadata`).
"""

from collections.abc import Iterable

from kcheck.model.cluster import ReplicaInCluster
from kcheck.model.finding import Finding, Severity
from kcheck.model.names import LEADER_EPOCHS
from kcheck.model.release import Release
from kcheck.model.views import PartitionView
from kcheck.rules._cluster import has_metadata, source_of
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._words import kafka


def check(view: PartitionView, release: Release) -> Iterable[Finding]:
    """Compare the latest epoch on disk with the controller's; unassigned replicas are KC236."""
    replica = view.in_cluster
    given = None if replica is None or replica.registration is None else replica.registration.leader_epoch
    if replica is None or given is None or replica.stray is not None:
        return
    of_batch = view.last_batch.epoch if view.last_batch is not None and view.last_batch.epoch is not None else -1
    of_file = view.leader_epochs[-1].epoch if view.leader_epochs else -1
    latest = max(of_batch, of_file)
    if latest > given:
        where = view.where.of_file(LEADER_EPOCHS) if of_file > given else view.where
        yield RULE.finding(
            where,
            f"the latest leader epoch is {latest}, but the controller has given only {given}, according to "
            f"{source_of(replica)}",
            effect=_effect(replica, release),
            advice="Find out which of the two is wrong before you start the broker. Compare with the other replicas, "
            "and with a controller's copy of the metadata.",
            severity=Severity.ERROR if replica.is_certain else Severity.INFO,
            data={"latest_epoch": latest, "epoch_of_controller": given},
        )


def _effect(replica: ReplicaInCluster, release: Release) -> str:
    if replica.of_zookeeper:
        return f"{kafka(release)} starts, and does not compare them."
    return (
        f"{kafka(release)} starts. A follower stays out of sync, because its leader refuses every fetch as out of "
        "range. A leader removes the higher epochs."
    )


RULE = Rule(severity=Severity.ERROR, scope=Scope.PARTITION, check=check, when=has_metadata, cites_metadata=True)
