"""What ZooKeeper says of a replica on disk; tests/oracle/clusters/test_zookeeper_rules.py asks real brokers."""

from typing import Any

import pytest

from kcheck.core.start.zookeeper_replicas import ZookeeperReplicas, replica_in_zookeeper, zookeeper_replicas
from kcheck.model.cluster import (
    ClusterImage,
    PartitionRegistration,
    ReplicaInCluster,
    Stray,
    StrayCause,
    StrayDoubt,
    TopicImage,
)
from kcheck.model.finding import Finding
from kcheck.model.names import DirectoryState
from kcheck.model.views import PartitionView
from kcheck.model.zookeeper_metadata import ZookeeperCopy, ZookeeperMetadata, ZookeeperMigration
from kcheck.rules import Scope
from tests.rules.build import epochs, found_by_all, log_dir, partition

REGISTRATION = PartitionRegistration((1, 2), (2,), leader_epoch=3)
TOPIC = TopicImage("t", "T", {0: REGISTRATION})
SOURCE = "z"


def copied(topic: TopicImage | None = TOPIC, *, whole: bool = True, only: bool = True, **fields: Any) -> ZookeeperCopy:
    """Return metadata with one topic, or without any."""
    image = ClusterImage({} if topic is None else {topic.name: topic})
    return ZookeeperCopy(SOURCE, ZookeeperMetadata(image, **fields), names_all=whole, is_only=only)


def replica(broker_id: int = 1, number: int = 0, **fields: Any) -> PartitionView:
    """Return a replica of topic t on a broker."""
    plain = partition(clean=True, topic_id="T")._replace(partition=number, **fields)
    return plain._replace(where=plain.where._replace(broker_id=broker_id, topic="t", partition=number), topic="t")


def known(copy: ZookeeperCopy, view: PartitionView, **fields: Any) -> ReplicaInCluster | None:
    """Return what the metadata say."""
    return replica_in_zookeeper(copy, view, log_dir()._replace(**fields))


def stray(copy: ZookeeperCopy, view: PartitionView) -> Stray | None:
    """Return why the replica is none of the broker."""
    replica = known(copy, view)
    assert replica is not None
    return replica.stray


def test_a_replica_where_it_belongs() -> None:
    for view in (replica(), replica(topic_id=None), replica(2)):
        assert known(copied(), view) == ReplicaInCluster(SOURCE, "T", REGISTRATION, is_certain=True, of_zookeeper=True)


def test_another_topic_id() -> None:
    """Its registration is that of another topic."""
    other = known(copied(), replica(topic_id="U"))
    assert other is not None
    assert (other.topic_id, other.registration, other.stray) == ("T", None, None)


def test_what_says_nothing() -> None:
    """A migration, another cluster, a running broker, a directory that is no replica."""
    migration = ZookeeperMigration(100, 1, 5, 1)
    assert known(copied(migration=migration), replica()) is None
    assert known(copied(cluster_id="c"), replica(), cluster_id="d") is None
    assert known(copied(cluster_id="c"), replica(), cluster_id="c") is not None
    assert known(copied(), replica(), locked_by="pid 1") is None
    assert known(copied(), replica(state=DirectoryState.DELETED)) is None


def test_a_replica_that_the_cluster_does_not_place_here() -> None:
    """What somebody exported need not name every topic and partition."""
    assert stray(copied(), replica(3)) == Stray(StrayCause.REPLICA, 3)
    assert stray(copied(None), replica()) == Stray(StrayCause.TOPIC, None)
    assert stray(copied(), replica(number=7)) == Stray(StrayCause.PARTITION, 7)
    assert stray(copied(None, whole=False), replica()) is None
    assert stray(copied(whole=False), replica(number=7)) is None
    assert stray(copied(TOPIC._replace(deleting=True)), replica(3)) is None
    view = replica(3)
    assert stray(copied(), view._replace(where=view.where._replace(broker_id=None))) is None
    assert stray(copied(only=False), replica(3)) == Stray(StrayCause.REPLICA, 3, doubt=StrayDoubt.OLDER)


def found(copy: ZookeeperCopy, view: PartitionView, kafka: str) -> list[Finding]:
    """Return what the rules find that hold a replica against the metadata."""
    placed = view._replace(in_cluster=known(copy, view))
    return [finding for finding in found_by_all(placed, Scope.PARTITION, kafka) if "KC235" <= finding.id <= "KC239"]


@pytest.mark.parametrize(
    ("kafka", "effect"),
    [("2.8", "treats the records as the new topic's"), ("3.9", "keeps the directory and refuses the partition")],
)
def test_no_zookeeper_broker_makes_a_stray(kafka: str, effect: str) -> None:
    (other,) = found(copied(), replica(topic_id="U"), kafka)
    assert (other.id, str(other.severity), other.claims) == ("KC235", "error", ())
    assert effect in other.effect
    (unplaced,) = found(copied(), replica(3), kafka)
    assert (unplaced.id, str(unplaced.severity), unplaced.claims) == ("KC236", "info", ())
    assert "keeps the directory, and does not serve it" in unplaced.effect
    view = replica(3, topic_id="U")
    (both,) = found(copied(), view, kafka)
    assert both.id == "KC235"
    assert "does not serve it" in both.effect


def test_a_leader_epoch_that_the_controller_never_gave() -> None:
    (finding,) = found(copied(), replica(epochs=epochs(b"0\n2\n0 0\n4 5\n")), "3.9")
    assert (finding.id, str(finding.severity)) == ("KC238", "error")
    assert finding.effect == "Kafka 3.9 starts, and does not compare them."
    (finding,) = found(copied(only=False), replica(epochs=epochs(b"0\n2\n0 0\n4 5\n")), "3.9")
    assert str(finding.severity) == "info"


def unserved(copy: ZookeeperCopy, topic_id: str | None, *, compares: bool = True, broker_id: int = 1) -> Stray | None:
    """Return why nobody serves partition 0 of t."""
    return ZookeeperReplicas(copy, broker_id, compares).unserved("t", 0, topic_id)


def test_whom_nobody_serves() -> None:
    """Another topic id counts where the release compares them, a missing topic or replica always."""
    assert unserved(copied(), "T") is None
    assert unserved(copied(), None) is None
    assert unserved(copied(), "U") == Stray(StrayCause.TOPIC, "U")
    assert unserved(copied(), "U", compares=False) is None
    assert unserved(copied(), "T", broker_id=3) == Stray(StrayCause.REPLICA, 3)
    assert unserved(copied(None, only=False), "T") == Stray(StrayCause.TOPIC, None, doubt=StrayDoubt.OLDER)
    assert unserved(copied(TOPIC._replace(deleting=True)), "U") is None


def test_of_which_log_dir_the_metadata_tell() -> None:
    found = zookeeper_replicas(copied(), log_dir(), compares_topic_ids=True)
    assert found is not None
    assert found.compares_topic_ids
