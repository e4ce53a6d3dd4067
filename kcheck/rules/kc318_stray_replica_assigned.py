"""The cluster still assigns this partition to the broker, but its records here are in a -stray directory.

What is wrong: The broker once did not find the replica in the metadata and renamed the directory. Or it was renamed by
hand. The given metadata has the topic with the id on disk, and the broker as a replica. No log dir of the broker has a
directory of the partition with records.

What the broker does (KRaft, 3.7 and later): It leaves the `-stray` directory as it is. It makes an empty replica. If no
other broker has one, clients find no records. If this broker is elected before it has caught up, the other replicas
delete theirs too.

What to do: Rename the directory to TOPIC-PARTITION while the broker is stopped. kcheck repair plans that.

See: operations/stray-replica.md
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.names import LIVE, DirectoryState
from kcheck.model.release import Release
from kcheck.model.views import LogDirView, PartitionView
from kcheck.rules._cluster import source_of
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._partition import has_data
from kcheck.rules._words import kafka
from kcheck.words import counted, partition_name


def check(views: tuple[LogDirView, ...], release: Release) -> Iterable[Finding]:
    """Find the -stray directories of replicas that have no records elsewhere on the broker."""
    partitions = [partition for view in views for partition in view.partitions]
    live = {(part.topic, part.partition): part for part in partitions if part.state in LIVE}
    for stray in partitions:
        if stray.state is not DirectoryState.STRAY or not has_data(stray) or not is_assigned(stray):
            continue
        twin = live.get((stray.topic, stray.partition))
        if twin is None or not has_data(twin):
            yield _finding(stray, twin, release)


def is_assigned(view: PartitionView) -> bool:
    """Whether the metadata assign the broker a replica of the topic with the id on disk."""
    registration = None if view.in_cluster is None else view.in_cluster.registration
    return registration is not None and view.topic_id is not None and view.where.broker_id in registration.replicas


def _finding(stray: PartitionView, twin: PartitionView | None, release: Release) -> Finding:
    replica, name = stray.in_cluster, partition_name(stray.topic, stray.partition)
    assert replica is not None
    assert replica.registration is not None
    alone = len(replica.registration.replicas) == 1
    there = f"there is no {name} here" if twin is None else f"{name} is empty"
    leads = f"{kafka(release)} leads {name} without any of these records: no other broker has a replica"
    follows = f"{kafka(release)} begins with an empty {name}. Elected before it has caught up, it loses records"
    return RULE.finding(
        stray.where,
        f"the cluster assigns {name} to broker {stray.where.broker_id}, according to {source_of(replica)}; {there}, "
        f"and this directory holds {counted(stray.size, 'byte')}",
        effect=f"{leads if alone else follows}.",
        advice=f"Rename the directory to {name} before you start the broker.",
        severity=Severity.ERROR if alone and replica.is_certain else Severity.WARNING,
        data={"log_end_offset": stray.log_end_offset, "size": stray.size, "replicas": replica.registration.replicas},
    )


RULE = Rule(severity=Severity.ERROR, scope=Scope.BROKER, check=check)
