"""Replicas that a cluster does not place on their broker, in words."""

from kcheck.core.start.startup import DELETE_DELAY_MS, Outcome
from kcheck.core.start.strays import StrayDetector, becomes_of_strays
from kcheck.core.start.zookeeper_replicas import ZookeeperReplicas
from kcheck.model.cluster import Stray, StrayCause, StrayDoubt
from kcheck.model.names import PartitionDirectory
from kcheck.model.release import Release

ACCORDING_TO = ", according to "
"""Stands before the copy that says so in the reason of a prediction."""
NOT_SERVED = "no broker serves it: "
"""Stands before the reason why a replica takes no part in an election."""
KEPT = ": the broker keeps the directory and does not serve it"
SET_ASIDE = ": the broker renames the directory to -stray and does not serve it"


def removal_words(delay_ms: int | None) -> str:
    """Return when a started broker removes -delete directories; None is the default of Kafka."""
    default = " by default" if delay_ms is None else ""
    return f"{(DELETE_DELAY_MS if delay_ms is None else delay_ms) // 1000} s after its start{default}"


def copy_words(path: str, end: int | None) -> str:
    """Return a copy of the metadata, and how far it goes; ZooKeeper's has no end."""
    return path if not end else f"{path} up to offset {end - 1}"


def stray_words(stray: Stray, path: str, end: int | None = None) -> str:
    """Return why the cluster has no such replica, according to a copy of its metadata."""
    match stray.cause:
        case StrayCause.TOPIC:
            why = f"the cluster has no topic {'of this name' if stray.about is None else f'with id {stray.about}'}"
        case StrayCause.PARTITION:
            why = f"in the cluster the topic has no partition {stray.about}"
        case StrayCause.REPLICA:
            why = f"the cluster has no replica of it on broker {stray.about}"
    return f"{why}{ACCORDING_TO}{copy_words(path, end)}"


def doubt_words(stray: Stray, end: int | None) -> str | None:
    """Return why the broker may see other metadata; None if it sees these."""
    if stray.doubt is None:
        return None
    if stray.doubt is StrayDoubt.UNCOMMITTED:
        return f"offset {stray.since} of this copy of the metadata may not be committed"
    return f"{'the metadata' if end is None else 'this copy of the metadata'} may be older than the directory"


def stray_outcome(
    detector: StrayDetector, topic_id: str, partition: int, release: Release
) -> tuple[Outcome, str, str | None] | None:
    """Return the outcome of a stray, the reason, and its conditions; None if the replica is not stray."""
    stray, copy = detector.stray(topic_id, partition), detector.copy
    if stray is None:
        return None
    outcome = becomes_of_strays(release)
    effect = SET_ASIDE if outcome is Outcome.STRAY else ": the broker deletes the directory"
    return outcome, f"{stray_words(stray, copy.path, copy.end)}{effect}", doubt_words(stray, copy.end)


def unserved_outcome(
    replicas: ZookeeperReplicas, directory: PartitionDirectory, topic_id: str | None
) -> tuple[Outcome, str, str | None] | None:
    """Return the outcome of a directory that ZooKeeper's controller assigns to no broker; None of every other."""
    stray = replicas.unserved(directory.topic, directory.partition, topic_id)
    if stray is None:
        return None
    return Outcome.STRAY, f"{stray_words(stray, replicas.copy.path, None)}{KEPT}", doubt_words(stray, None)
